"""The texts that excite a head most: the strongest attention from one token to another in each (vig2019, section 5.4)."""

from __future__ import annotations

import hashlib
from typing import Self

import numpy as np

from headscope.later import Tensor, pd, torch
from headscope.lens.score_block import ScoreBlock
from headscope.lens.side import Side
from headscope.lens.tokens.batch import Batch
from headscope.statistics.base import Array, Columns, Sums
from headscope.statistics.kit.key_masks import where
from headscope.statistics.kit.site_rows import SiteRows
from headscope.statistics.registry import setting, statistic
from headscope.statistics.surface.null_attention import NullFiltered
from headscope.text.document import Document

KEPT = 20  # texts a head, before near-duplicates are removed
NOTHING = -1.0  # the score of an empty place
_SUMS = ("score", "document", "row", "key")


Strongest = tuple[Tensor, Tensor, Tensor]  # a score, its row and its key: (batch, head) each


def strongest(scores: Tensor, allowed: Tensor) -> Strongest:
    """(batch, head, row, key), (batch, row, key) -> the largest allowed score of each text and head, its row and its key.

    (batch, head) each; the first of several alike.
    """
    batch, heads, _, keys = scores.shape
    flat = scores.masked_fill(~allowed[:, None], NOTHING).reshape(batch, heads, -1)
    largest, place = flat.max(-1)
    return largest, place // keys, place % keys


def stronger(before: Strongest, found: Strongest) -> Strongest:
    """Of two blocks of rows; of two alike, the first."""
    larger = found[0] > before[0]
    score, row, key = (torch.where(larger, *pair) for pair in zip(found, before, strict=True))
    return score, row, key


@statistic("exemplars")
class Exemplars(NullFiltered):
    """For every head the texts with the strongest attention from one token to another (vig2019, section 5.4).

    A text counts once a head, by its strongest pair. Special tokens are no ends of a pair, nor is a token itself the other
    end (`itself=True` allows it). The state knows a text by its hash; `headscope.heads.exemplars` finds it again.
    """

    kept: int = setting(KEPT, least=1, help="Texts that are kept for every head.")
    itself: bool = setting(False, help="Whether a token may be both ends of a pair.")

    usual = False
    resampled = False
    levels = ("token",)

    def begin(self) -> None:
        self._strongest = SiteRows(stronger)
        places = (self.heads.count, self.kept)
        self.state = {name: np.full(places, NOTHING) if name == "score" else np.zeros(places, np.int64) for name in _SUMS}

    def update(self, block: ScoreBlock) -> None:
        found = self._strongest.complete(block, self._strongest_of(block))
        if found is None:
            return
        score, row, key = (part.double().cpu().numpy().T for part in found)  # head text
        documents = np.array(block.batch.cached(document_numbers), dtype=np.int64)
        here = self.heads.where(block.site)
        new = {"score": score, "document": np.broadcast_to(documents, score.shape), "row": row, "key": key}
        kept = best({name: self.state[name][here] for name in _SUMS}, new, self.kept)
        for name in _SUMS:
            self.state[name][here] = kept[name]

    def _strongest_of(self, block: ScoreBlock) -> Strongest:
        words = block.attended.cached(ordinary)
        rows = block.attending.cached(ordinary)[:, block.rows.start : block.rows.stop]
        allowed = rows[:, :, None] & words[:, None, :]
        allowed[:, :, : self.first_key] = False
        if not self.itself and block.site.kind == "self":
            allowed &= (block.row_positions[:, None] != block.key_positions)[None]
        largest, row, key = strongest(block.scores(self.measure), allowed)
        return largest, row + block.rows.start, key

    def absorb(self, other: Self) -> None:
        if other.state:
            self.state = best(self.state, other.state, self.kept)

    def labels(self) -> pd.DataFrame:
        """A row for each head and rank, the strongest first."""
        heads = self.heads.labels()
        ranked = heads.loc[np.repeat(np.arange(len(heads)), self.kept)].reset_index(drop=True)
        return ranked.assign(rank=np.tile(np.arange(1, self.kept + 1), len(heads)))

    def columns(self, sums: Sums) -> Columns:
        return {name: sums[name].reshape(-1) for name in _SUMS}

    def table(self) -> pd.DataFrame:
        table = super().table()
        return table[table["score"] > 0].reset_index(drop=True)


def best(one: Sums, other: Sums, count: int) -> dict[str, Array]:
    """The `count` best of two lists a head, each text once; ties are broken by text and place, so in any order alike."""
    joined = {name: np.concatenate([one[name], np.asarray(other[name], dtype=one[name].dtype)], axis=1) for name in _SUMS}
    order = np.lexsort((joined["key"], joined["row"], joined["document"], -joined["score"]))
    ranked = {name: np.take_along_axis(joined[name], order, 1) for name in _SUMS}
    twice = _met_before(ranked["document"], ranked["score"])
    keep = np.argsort(twice, axis=1, kind="stable")[:, :count]
    ranked["score"] = np.where(twice, NOTHING, ranked["score"])
    return {name: np.take_along_axis(ranked[name], keep, 1) for name in _SUMS}


def _met_before(documents: Array, scores: Array) -> Array:
    """Where a head's list has the same text further up, or nothing."""
    same = documents[:, :, None] == documents[:, None, :]
    earlier = np.tril(np.ones(same.shape[1:], dtype=bool), -1)
    return (same & earlier & (scores[:, None, :] > NOTHING)).any(2) | (scores == NOTHING)


def document_number(document: Document) -> int:
    """A number that a text is found again by: 63 bits of its hash.

    >>> document_number(Document("One text.")) == document_number(Document("One text.", name="elsewhere"))
    True
    """
    parts = (document.text, document.words, document.pair, document.pair_words, document.target, document.target_words)
    plain = [part if part is None or isinstance(part, str) else list(part) for part in parts]
    digest = hashlib.blake2b(repr(plain).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def document_numbers(batch: Batch) -> list[int]:
    return [document_number(document) for document in batch.documents]


def ordinary(side: Side) -> Tensor:
    """(batch, position): True where a token is there and is not special."""
    return where(side, side.longest, lambda _, special: not special).bool()
