"""Attention as an attribution: what each written token looked at, by headscope and by inseq's method "attention"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from benchmarks.alignment_speed import MODEL as OPUS
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.timing import alternate, as_ratios
from torch import Tensor

import headscope
from comparisons.models import SMOLLM2, batch_of
from comparisons.table import OURS, Line, Table, difference, named
from headscope.lens.loading import load
from headscope.text import Document

INSEQ = "inseq"
SOURCE = "Les clés de la vieille armoire sont sur la table de la cuisine , a-t-elle dit ."
TARGET = "The keys to the old cabinet are on the table in the kitchen , she said ."
ABOUT = """A text of {tokens} tokens that SmolLM2-135M is made to write after its first word, and a sentence that
opus-mt-fr-en is made to translate so: for every token that is written, the attention of all heads to the tokens before
it, or to the source. Both read all rows in one pass; headscope's time has the norms in it. Agreement is the largest
difference of any weight from what the model itself returns. inseq 0.7.1 is off in the translation after its first
token: it gives the decoder embeddings that are scaled already, and Marian's decoder in transformers 5.22.2 scales them
once more (a model that is given such embeddings has inseq's weights exactly). Gradients, occlusion and contrastive
attributions are inseq's field: headscope has none of tokens."""


def attribution(settings: Settings) -> Table:
    """Attention attribution of a text by SmolLM2-135M and of a translation by opus-mt-fr-en, beside inseq."""
    tokens = 12 if settings.quick else 64
    cases = {f"a text of {tokens} tokens": _decoder(tokens)} | ({"a translation": _translation()} if OPUS.is_dir() else {})
    columns: dict[str, Mapping[str, Row | str]] = {"gives": {OURS: "weights, norms", INSEQ: "weights"}}
    for name, (ways, own) in cases.items():
        columns[name] = {row.what: row for row in as_ratios(alternate(ways, settings.repeats), OURS, {})}
        columns[f"{name}: weights"] = {tool: difference(float((way() - own).abs().max())) for tool, way in ways.items()}
    tools = dict.fromkeys(tool for ways, _ in cases.values() for tool in ways)
    lines = [Line(named(tool), {name: found[tool] for name, found in columns.items() if tool in found}) for tool in tools]
    return Table("Attention as an attribution", ABOUT.format(tokens=tokens), lines)


Ways = dict[str, Callable[[], Tensor]]


def _decoder(tokens: int) -> tuple[Ways, Tensor]:
    """Weights (layer, head, step, key) of the steps that write a text after its first word, and the model's own."""
    model, tokenizer = SMOLLM2.load()
    ids = batch_of(model, tokenizer, tokens).inputs["input_ids"]
    first, text = tokenizer.decode(ids[0, :1]), tokenizer.decode(ids[0])
    own = _own(SMOLLM2.load()[0], "attentions", input_ids=ids)[:, :, :-1, :-1]  # the last row would write what is not there
    lens = headscope.open(model, tokenizer, name=SMOLLM2.name)

    def ours() -> Tensor:
        reading = lens.read(text)
        reading.scores("norm")
        return reading.scores("weight")[:, :, :-1, :-1]

    ways: Ways = {OURS: ours}
    if (attributed := _inseq(*SMOLLM2.load())) is not None:  # key step layer head; nan above the diagonal
        ways[INSEQ] = lambda: attributed(first, text).target_attributions[:-1].nan_to_num().permute(2, 3, 1, 0)
    return ways, own


def _translation() -> tuple[Ways, Tensor]:
    """Cross attention (layer, head, step, source) of the steps that write a translation, and the model's own."""
    lens = headscope.open(OPUS)
    batch = lens.encoder.batch([Document(SOURCE, target=TARGET)])
    own = _own(load(OPUS)[0], "cross_attentions", **batch.inputs)

    def ours() -> Tensor:
        reading = lens.read(SOURCE, target=TARGET)
        reading.scores("norm", kind="cross")
        return reading.scores("weight", kind="cross")

    ways: Ways = {OURS: ours}
    if (attributed := _inseq(*load(OPUS))) is not None:
        ways[INSEQ] = lambda: attributed(SOURCE, TARGET).source_attributions.nan_to_num().permute(2, 3, 1, 0)
    return ways, own


def _own(model: Any, name: str, **inputs: Tensor) -> Tensor:
    """What the model itself returns of the first text: (layer, head, query, key)."""
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        return torch.stack(getattr(model.eval()(**inputs, output_attentions=True), name))[:, 0]


def _inseq(model: Any, tokenizer: Any) -> Callable[[str, str], Any] | None:
    """inseq's attributions of a given output; None where it is not installed."""
    try:
        import inseq
    except ImportError:
        return None
    model.set_attn_implementation("eager")
    loaded: Any = inseq.load_model(model, "attention", tokenizer=tokenizer)

    def attributed(given: str, written: str) -> Any:
        with torch.inference_mode():
            return loaded.attribute(given, written, show_progress=False).sequence_attributions[0]

    return attributed
