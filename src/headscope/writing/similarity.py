"""How alike two texts are for a sentence encoder, as a sum over tokens and heads of one of them.

cos(a, b) = <a, b> / (||a|| ||b||), with a the mean (or the first) of a text's final states. The states are sums along the
residual stream, with the scales of the norms held fixed (lens/direct.py); so <part of a, b> / (||a|| ||b||) is a part of the
cosine, and the parts of either text sum to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from headscope.errors import InputError, ModelError
from headscope.later import Tensor, huggingface_hub, nn, pd, torch
from headscope.lens.direct import DirectPass
from headscope.writing.parts import Parts, parts_along

if TYPE_CHECKING:
    from headscope.lens.lens import Lens
    from headscope.lens.reading import Reading

Pooling = Literal["mean", "cls"]
_FILE = "1_Pooling/config.json"  # of sentence-transformers
_FLAGS: dict[Pooling, str] = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token"}


@dataclass(frozen=True, eq=False)
class Similarity:
    """The cosine of two texts' vectors and its parts, once by the tokens and heads of each text."""

    cosine: float
    pooling: Pooling
    one: Parts
    other: Parts
    pairs: pd.DataFrame  # token by token: <state of one, state of the other> / (||a|| ||b||), which sum to the cosine too

    def by_head(self) -> pd.DataFrame:
        """One row a head: its part in the cosine by what it brings to the one text, `one`, and to the other, `other`."""
        columns = ["stack", "kind", "layer", "head"]
        tables = [side.by_head().set_index(columns)["part"].sort_index() for side in (self.one, self.other)]
        return pd.DataFrame({"one": tables[0], "other": tables[1]}).reset_index()


def similarity(lens: Lens, one: str, other: str, *, pooling: Pooling | None = None) -> Similarity:
    """How alike a sentence encoder finds two texts, and the part that each token and each head has in it.

    `pooling` is "mean" (over all tokens, special ones too) or "cls" (the first token); without it, what the model's own
    folder says, and else the mean.
    """
    if lens.is_encoder_decoder:
        raise InputError(f"{lens.name} is an encoder-decoder, and no sentence encoder: open one, such as all-MiniLM-L6-v2.")
    how = pooling or own_pooling(lens)
    readings = [lens.read(text) for text in (one, other)]
    runs = [DirectPass(lens, reading.batch, states=True) for reading in readings]
    states = [run.output[0].detach().float() for run in runs]
    vectors = [pooled(text, how) for text in states]
    size = float(vectors[0].norm() * vectors[1].norm())
    cosine = float(nn.functional.cosine_similarity(vectors[0].double(), vectors[1].double(), dim=0))
    if not size or cosine != cosine:
        raise ModelError(f"{lens.name} makes no vector of one of these texts whose direction could be compared.")
    parts = [
        _parts(reading, run, vectors[1 - side] / size, how, cosine)
        for side, (reading, run) in enumerate(zip(readings, runs, strict=True))
    ]
    return Similarity(cosine, how, parts[0], parts[1], _pairs(states, parts, size, how))


def pooled(states: Tensor, how: Pooling) -> Tensor:
    """(token, d) -> (d,)"""
    return (states * pooling_weights(len(states), how).to(states)).sum(0)


def pooling_weights(length: int, how: Pooling) -> Tensor:
    """How much each token counts: (token, 1)

    >>> pooling_weights(2, "mean").tolist(), pooling_weights(2, "cls").tolist()
    ([[0.5], [0.5]], [[1.0], [0.0]])
    """
    if how == "mean":
        return torch.full((length, 1), 1 / length)
    first = torch.zeros(length, 1)
    first[0] = 1
    return first


def own_pooling(lens: Lens) -> Pooling:
    """What the folder that the model was opened from says; the mean, where it says nothing."""
    model = lens.source.model
    found = Path(model) / _FILE
    if not found.is_file():
        kept: Any = None if Path(model).exists() else huggingface_hub.try_to_load_from_cache(model, _FILE)
        if not isinstance(kept, str):
            return "mean"
        found = Path(kept)
    settings = json.loads(found.read_text(encoding="utf-8"))
    chosen = [how for how, flag in _FLAGS.items() if settings.get(flag)]
    others = [name for name, value in settings.items() if name.startswith("pooling_mode_") and value is True]
    if len(chosen) != 1 or len(others) != 1:
        raise ModelError(
            f"{lens.name} pools its tokens by {', '.join(others)}: say pooling= (--pooling) mean or cls instead."
        )
    return chosen[0]


def _parts(reading: Reading, run: DirectPass, direction: Tensor, how: Pooling, cosine: float) -> Parts:
    weights = pooling_weights(run.output.shape[1], how).to(direction) * direction
    return parts_along(reading, run.directions(weights[None]), cosine, slice(None), run)


def _pairs(states: list[Tensor], parts: list[Parts], size: float, how: Pooling) -> pd.DataFrame:
    weighted = [text * pooling_weights(len(text), how).to(text) for text in states]
    products = (weighted[0].double() @ weighted[1].double().T / size).cpu().numpy()
    return pd.DataFrame(products, index=parts[0].texts, columns=parts[1].texts)
