"""The league of tokens: one source token's vector is taken away from one row, and what that changes is compared with scores.

z_h(i) = sum_j alpha_ij v_j loses alpha_ij v_j, of one head or of all heads of a layer; nothing is renormalised. The effect
is the KL of the predictions of the whole text, or for an encoder that predicts no words 1 - cos of its final states, summed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from headscope.ablation.exact import Ablation
from headscope.ablation.removals import removable
from headscope.errors import NormsUnavailable
from headscope.later import Tensor, pd, torch
from headscope.league.correlations import FEWEST, Ranked, spearman
from headscope.lens import watching
from headscope.lens.block import AttentionBlock
from headscope.lens.lens import Lens
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch
from headscope.progress import Progress, Silent
from headscope.statistics.base import Array, ratio
from headscope.statistics.kit.resampling import resampled, small_sample_tail
from headscope.study.tables import read_table, save_table, table_names
from headscope.text import Document

OF_HEAD = ("weight", "norm", "projection", "effective")
OF_LAYER = ("joint_weight", "norm", "joint_norm", "block_norm", "projection")  # `norm`: the heads' sum
PLACE = ["stack", "kind", "layer", "of"]


@dataclass
class Sampled:
    """One row of one attention in one text: its scores, and what each token brings to it."""

    site: Site
    text: int
    row: int
    head: int  # by lot: from which one token's vector is taken away
    scores: dict[str, dict[str, Array]] = field(default_factory=dict)  # by "head" and "layer", then by measure: (key,)
    brought: Tensor | None = None  # key head d_head


def sample(lens: Lens, lengths: Sequence[Mapping[int, tuple[int, int]]], rows: int) -> list[Sampled]:
    """So many rows of each attention, by lot, that see three tokens or more. `lengths`: by text and site, rows and keys."""
    found = []
    for site in removable(lens):
        random = np.random.default_rng(site.index)
        causal = site.stack == "decoder" and site.kind == "self"
        there = [
            (text, row)
            for text, of_text in enumerate(lengths)
            for row in range(of_text[site.index][0])
            if (row + 1 if causal else of_text[site.index][1]) >= FEWEST
        ]
        for place in random.permutation(len(there))[:rows]:
            text, row = there[place]
            found.append(Sampled(site, text, row, head=int(random.integers(site.heads))))
    return found


def token_pairs(
    lens: Lens,
    documents: Sequence[Document],
    rows: int,
    *,
    truncate: bool = False,
    progress: Progress | None = None,
    kept: Path | None = None,
) -> pd.DataFrame:
    """A row for each token that a sampled row sees: every score, and the effect of taking its vector away.

    A text that is done is kept in the folder `kept`, and not counted again.
    """
    bar = progress or Silent()
    batches = [lens.encoder.batch([document], truncate=truncate) for document in documents]
    layers = watching.Layers(lens.model, lens.trace.sites)
    lengths = [{site.index: _lengths(batch, site) for site in lens.sites} for batch in batches]
    chosen = sample(lens, lengths, rows)
    frames = []
    bar.begin(len(documents), 0)
    with torch.no_grad():
        for text, batch in enumerate(batches):
            here, name = [one for one in chosen if one.text == text], f"text_{text:05}"
            if here and kept is not None and name in table_names(kept):
                frames.append(read_table(kept, name))
            elif here:
                ablation = Ablation(lens, batch, layers, check=text == 0)
                lens.run(replace(batch, inputs=ablation.inputs), _Reader(here).receive, rows=None)
                found = pd.concat([frame for one in here for frame in _frames(one, ablation)], ignore_index=True)
                frames.append(found.astype({"head": "Int64"}))
                if kept is not None:
                    save_table(kept, name, frames[-1])
            bar.advance(1)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=PLACE)


def _lengths(batch: Batch, site: Site) -> tuple[int, int]:
    """How many rows and keys a text has there, with no padding beside it."""
    rows, keys = (len(batch.sequences(side)[0]) for side in (batch.query_side(site), batch.key_side(site)))
    return rows, keys


class _Reader:
    """Takes what sampled rows need from the blocks of one text."""

    def __init__(self, sampled: Sequence[Sampled]) -> None:
        self.sampled = sampled

    def receive(self, block: AttentionBlock) -> None:
        for one in self.sampled:
            if one.site != block.site:
                continue
            causal = block.is_causal
            keys = slice(0, one.row + 1 if causal else block.weights.shape[-1])
            of_head = {name: _scores(block, name, one.row, keys) for name in OF_HEAD}
            one.scores["head"] = {
                name: np.abs(some[one.head].double().cpu().numpy()) for name, some in of_head.items() if some is not None
            }
            of_layer = {name: _scores(block, name, one.row, keys) for name in OF_LAYER}
            one.scores["layer"] = {
                name: np.abs(some.sum(0).double().cpu().numpy()) for name, some in of_layer.items() if some is not None
            }
            brought = (block.weights[0, :, one.row, keys, None] * block.values[0, :, keys]).transpose(0, 1)
            if block.gates is not None:
                gate = block.gates[:, one.row : one.row + 1]
                brought = watching.behind(gate.expand(-1, len(brought), *gate.shape[2:]), brought[None])[0]
            one.brought = brought.clone()


def _scores(block: AttentionBlock, measure: str, row: int, keys: slice) -> Tensor | None:
    """(head, key), or None where this attention has no such measure."""
    try:
        return block.scores(measure)[0, :, row, keys]
    except NormsUnavailable:
        return None


def _frames(one: Sampled, ablation: Ablation) -> list[pd.DataFrame]:
    """Of the head that was drawn, and of all heads of its layer."""
    assert one.brought is not None
    alone = torch.zeros_like(one.brought)
    alone[:, one.head] = one.brought[:, one.head]
    frames = []
    for of, taken in (("head", alone), ("layer", one.brought)):
        head = one.head if of == "head" else pd.NA
        labels = {"stack": one.site.stack, "kind": one.site.kind, "layer": one.site.layer, "of": of, "head": head}
        found = {"text": one.text, "row": one.row, "key": np.arange(len(taken)), "effect": effects(one, ablation, taken)}
        frames.append(pd.DataFrame({**labels, **found, **one.scores[of]}))
    return frames


def effects(one: Sampled, ablation: Ablation, taken: Tensor) -> Array:
    """What happens without each of some vectors, (key, head, d_head), in one row of an attention: (key,)"""
    start, parts = ablation.layers.start_of(one.site.index), []
    for some in taken.split(ablation.side_by_side):

        def change(z: Tensor, where: watching.Where, some: Tensor = some) -> Tensor:
            changed = z.reshape(len(some), -1, *z.shape[-2:]).clone()  # copy row head d_head
            changed[:, one.row] -= some.to(z.dtype)
            return changed.reshape(z.shape)

        found = ablation.changed({one.site: change}, start, len(some))
        parts.append(found["kl" if "kl" in found else "states"][0])
    return np.concatenate(parts)


def tokens_table(pairs: pd.DataFrame) -> pd.DataFrame:
    """A row an attention and measure: the mean of rho over its sampled rows; and one for all layers of a kind together.

    Intervals draw texts again. A row in which all tokens are alike, by score or effect, is not counted.
    """
    rows = []
    measures = [name for name in dict.fromkeys((*OF_HEAD, *OF_LAYER)) if name in pairs]
    for (*place, _, text, _), some in pairs.groupby([*PLACE, "head", "text", "row"], sort=False, dropna=False):
        effect = Ranked(some["effect"].to_numpy())
        rhos = {name: float(spearman(Ranked(some[name].to_numpy(dtype=float)), effect)) for name in measures}
        rows.append((*place, text, rhos))
    found = []
    for layer in (True, False):  # each layer, then all together
        cells: dict[tuple[object, ...], dict[int, list[float]]] = {}
        for stack, kind, number, of, text, rhos in rows:
            for name, rho in rhos.items():
                if np.isfinite(rho):
                    key = (stack, kind, number if layer else pd.NA, of, name)
                    cells.setdefault(key, {}).setdefault(text, []).append(rho)
        found += [(*key, *_mean_of(by_text)) for key, by_text in cells.items()]
    columns = [*PLACE, "measure", "rho", "rho_low", "rho_high", "rows", "texts"]
    return pd.DataFrame(found, columns=columns).astype({"layer": "Int64"})


def _mean_of(by_text: Mapping[int, Sequence[float]]) -> tuple[float, float, float, int, int]:
    """The mean, its interval when texts are drawn again, and how many rows and texts there are."""
    parts = {
        "sum": np.array([sum(some) for some in by_text.values()]),
        "count": np.array([float(len(some)) for some in by_text.values()]),
    }
    mean, rows = float(parts["sum"].sum() / parts["count"].sum()), int(parts["count"].sum())
    if len(by_text) < 2:
        return mean, np.nan, np.nan, rows, len(by_text)
    drawn = resampled(parts, lambda of: {"rho": ratio(of["sum"], of["count"])}, tail=small_sample_tail(len(by_text)))
    return mean, float(drawn["rho"][0]), float(drawn["rho"][1]), rows, len(by_text)
