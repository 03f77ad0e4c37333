"""What each tool does, as far as it was checked: by running it here, or in the two papers' repositories by reading them."""

from __future__ import annotations

TOOLS = (
    "headscope",
    "bertviz 1.4.1",
    "TransformerLens 4.3.0",
    "nnsight 0.8.1",
    "inseq 0.7.1",
    "clark2019's code",
    "kobayashi2020's code",
)
YES, NO, LINES = "yes", "", "in a few lines"
FEATURES: dict[str, tuple[str, ...]] = {
    "weights of every head": (YES, "given to it", YES, YES, "of a generation", YES, YES),
    "norms ‖αf(x)‖": (YES, NO, LINES, LINES, NO, NO, YES),
    "models": (
        "220 of transformers' 240 text architectures, proven",
        "any that returns its attentions",
        "162 classes of models have an adapter",
        "any PyTorch module",
        "decoders, encoder-decoders",
        "BERT (TensorFlow)",
        "BERT, fairseq's Transformer (copies of both libraries)",
    ),
    "a model checked against itself": ("`headscope doctor`", NO, "its benchmark suite", NO, NO, NO, NO),
    "a page in a browser": (
        "one file, no network",
        "its scripts from a server",
        NO,
        NO,
        "a table of one attribution",
        NO,
        NO,
    ),
    "counted over a corpus": ("with intervals, on a cluster", NO, NO, NO, NO, "notebooks", "scripts for its experiments"),
    "a model without some heads": (YES, NO, YES, YES, NO, NO, NO),
    "any other activation, read or changed": (NO, NO, YES, YES, NO, NO, NO),
    "gradients to tokens, occlusion": (NO, NO, LINES, LINES, "14 methods", NO, NO),
    "word alignments": (YES, NO, NO, NO, NO, NO, "of its own translators"),
}
SHORT = tuple(name for name in FEATURES if name not in ("models", "a model checked against itself", "word alignments"))
ABOUT = """Only what was checked: headscope and the four packages by running them here or in their code, in these
versions; clark2019's code (clarkkev/attention-analysis, 198ee22) and kobayashi2020's
(gorokoba560/norm-analysis-of-transformer, 7f9e1c9) by reading them. "In a few lines" is what the tool's user writes, as
comparisons/readers does it. An empty field is what was not found. Who wants to read or change any activation takes
TransformerLens or nnsight, who wants to attribute a prediction to its input by gradients takes inseq; headscope reads
attention, and measures what is in it."""


def feature_table(features: dict[str, tuple[str, ...]] | None = None) -> str:
    """A row a feature, a column a tool."""
    rows = [f"| | {' | '.join(TOOLS)} |", f"| --- |{' --- |' * len(TOOLS)}"]
    rows += [f"| {name} | {' | '.join(cells)} |" for name, cells in (features or FEATURES).items()]
    return "\n".join(rows)


def short_table() -> str:
    """What stands in the README."""
    return feature_table({name: FEATURES[name] for name in SHORT})
