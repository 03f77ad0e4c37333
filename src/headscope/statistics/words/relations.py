"""Heads as classifiers: is the word that a word looks at most its syntactic head, or its dependent? (clark2019, section 4.2)

Each is asked of every relation, apart: `dependent to head` reads the dependent's row, `head to dependent` the head's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from headscope.later import Tensor, pd, torch
from headscope.lens import ScoreBlock, Site
from headscope.lens.side import Side
from headscope.lens.tokens.batch import Batch
from headscope.statistics.base import Array, Columns, Sums, ratio
from headscope.statistics.columns import ACCURACY, COUNT, Column
from headscope.statistics.kit.site_rows import SiteRows
from headscope.statistics.registry import setting, statistic
from headscope.statistics.words.annotated_sites import OfAnnotatedWords
from headscope.statistics.words.relation_cases import (
    BINS,
    FURTHEST,
    best_offsets,
    cases_of,
    held_out_offset_accuracies,
    offset_accuracies,
    offset_bin,
)
from headscope.text.cut import half_of

DIRECTIONS = ("dependent to head", "head to dependent")
ALL, ALL_BUT_PUNCTUATION = "all", "all but punct"


def among_others(scores: Tensor, rows: Tensor, words: Tensor) -> Tensor:
    """(batch, head, row, key), (row,), (batch, key) -> the scores with 0 at keys that are no words, and at a row's own."""
    others = words[:, None, :] & (rows[:, None] != torch.arange(scores.shape[-1], device=scores.device))
    return scores.masked_fill(~others[:, None], 0)


def most_attended(scores: Tensor) -> Tensor:
    """(batch, head, row, key) -> (batch, head, row): the key with the largest score, the first of several; -1 for none."""
    most, key = scores.max(-1)
    return torch.where(most > 0, key, -1)


Largest = tuple[Tensor, Tensor]  # a score, and its row: (batch, head, key) each


def most_attending(scores: Tensor, rows: range) -> Largest:
    """(batch, head, row, key) -> the largest score that each key gets, and from which row; -1 for none."""
    most, row = scores.max(2)
    return most, torch.where(most > 0, row + rows.start, -1)


def larger(before: Largest, found: Largest) -> Largest:
    """Of two blocks of rows; of two alike, the first."""
    return torch.maximum(found[0], before[0]), torch.where(found[0] > before[0], found[1], before[1])


def with_all(relations: Sequence[str], arrays: Array) -> Iterator[tuple[str, Array]]:
    """Each relation with its array; then all of them together, and all but punctuation."""
    yield from zip(relations, arrays, strict=True)
    yield ALL, arrays.sum(0)
    yield ALL_BUT_PUNCTUATION, arrays[[relation.split(":")[0] != "punct" for relation in relations]].sum(0)


class Questions(NamedTuple):
    """Where the largest score must be; one entry a case and direction."""

    text: Tensor  # the place in the batch
    asked: Tensor  # the row, or the column
    wanted: Tensor  # the key, or the row
    group: Tensor  # the place among (relation, direction, half)


class BatchCases(NamedTuple):
    """The cases of a batch, as indices into its blocks."""

    relations: list[str]
    words: Tensor  # batch key: the keys that are words of the document
    rows: Questions
    columns: Questions | None
    offsets: Array  # relation half bin: head less dependent


def batch_cases(batch: Batch, side: Side, variant: str, clitics: bool, subtypes: bool) -> BatchCases:
    """What is asked of a batch's words; those that are no key (cut off) are left out."""
    words = torch.zeros(len(batch.documents), side.longest, dtype=torch.bool)
    found: list[tuple[int, int, int, str, int, int]] = []
    for text, (document, here) in enumerate(zip(batch.documents, side.words, strict=True)):
        annotated = len(document.words or ())  # what follows is a second segment's
        place = {word: key for key, word in enumerate(here) if word is not None and word < annotated}
        words[text, list(place.values())] = True
        half = half_of(document)
        for dependent, head, relation in cases_of(document, clitics, subtypes):
            if dependent in place and head in place:
                found.append((text, place[dependent], place[head], relation, half, offset_bin(head - dependent)))
    relations = sorted({case[3] for case in found})
    number = {relation: index for index, relation in enumerate(relations)}
    offsets = np.zeros((len(relations), 2, BINS))
    for *_, relation, half, place_of_offset in found:
        offsets[number[relation], half, place_of_offset] += 1
    indices = torch.tensor([(*at, 4 * number[relation] + half) for *at, relation, half, _ in found]).reshape(-1, 4)
    texts, dependents, heads, groups = indices.long().to(side.device).unbind(1)
    rows, columns = Questions(texts, dependents, heads, groups), None
    if variant == "code":
        columns = Questions(texts, dependents, heads, groups + 2)
    else:
        other = Questions(texts, heads, dependents, groups + 2)
        rows = Questions(*(torch.cat(both) for both in zip(rows, other, strict=True)))
    return BatchCases(relations, words.to(side.device), rows, columns, offsets)


@statistic("relations")
class Relations(OfAnnotatedWords):
    """How often a word looks most at its head, or a head at its dependent, by relation (clark2019, section 4.2).

    Special tokens are no candidates, nor is the word itself; who gives nothing to any candidate is wrong. With
    variant="code" the second direction is the released code's: the dependent's column instead of the head's row.
    Its other difference, a split word's first piece instead of the mean over its pieces, cannot be had in words.
    """

    variant: str = setting(
        "paper", one_of=("paper", "code"), said="{}", help="code asks a dependent's column for its head's row, as released."
    )
    clitics: bool = setting(True, said="without_clitics", help="In `Ann 's hat`, 's stands for Ann, as the paper counts.")
    subtypes: bool = setting(True, said="without_subtypes", help="Whether nmod:poss is a relation of its own, not nmod.")

    needs = ("parents", "relations")
    card_place = 160
    accuracy = Column("Accuracy", ACCURACY, "How often the most-attended word is the right one.", "is right more often")
    baseline = Column("Baseline", ACCURACY, "How often the word at the best fixed offset is.", "is easier", of_heads=False)
    cases = Column("Cases", COUNT, "How many pairs of words have the relation.", "is more frequent", of_heads=False)

    def begin(self) -> None:
        self._columns = SiteRows(larger)
        for relation in (ALL, ALL_BUT_PUNCTUATION):
            self.state[f"correct {relation}"] = np.zeros((2, 2, self.heads.count))  # direction half head
            self.state[f"offsets {relation}"] = np.zeros((2, BINS))  # half bin

    # Counting

    def update(self, block: ScoreBlock) -> None:
        if block.site not in self.heads.sites:
            return
        cases = block.batch.cached(batch_cases, block.attended, self.variant, self.clitics, self.subtypes)
        if self.starts_batch(block):
            offsets = with_all(cases.relations, cases.offsets)
            self.add_arrays(**{f"offsets {relation}": of_relation for relation, of_relation in offsets})
        scores = among_others(block.scores(self.measure), block.row_positions, cases.words)
        self._ask_rows(block, most_attended(scores), cases)
        if cases.columns is not None:
            from_words = scores * cases.words[:, None, block.rows.start : block.rows.stop, None]
            columns = self._columns.complete(block, most_attending(from_words, block.rows))
            if columns is not None:  # who attends most to each word is known when the last rows have come
                text, column, wanted, group = cases.columns
                self._add_correct(block.site, columns[1][text, :, column] == wanted[:, None], group, cases.relations)

    def _ask_rows(self, block: ScoreBlock, chosen: Tensor, cases: BatchCases) -> None:
        """Those of the rows of this block: `chosen` is (batch, head, row)."""
        inside = (cases.rows.asked >= block.rows.start) & (cases.rows.asked < block.rows.stop)
        text, row, wanted, group = (part[inside] for part in cases.rows)
        correct = chosen[text, :, row - block.rows.start] == wanted[:, None]
        self._add_correct(block.site, correct, group, cases.relations)

    def _add_correct(self, site: Site, correct: Tensor, group: Tensor, relations: Sequence[str]) -> None:
        """Add `correct` (question, head) to its relation, direction and half."""
        here = self.heads.where(site)
        right = torch.zeros(4 * len(relations), correct.shape[1], device=correct.device)
        right.index_add_(0, group, correct.float())
        by_relation = right.double().cpu().numpy().reshape(len(relations), 2, 2, correct.shape[1])
        for relation, of_relation in with_all(relations, by_relation):
            name = f"correct {relation}"
            if name not in self.state:
                self.state[name] = np.zeros((2, 2, self.heads.count))
            self.state[name][..., here] += of_relation

    # The table

    @property
    def relations(self) -> list[str]:
        """The two that hold several first, then by name."""
        met = {name.removeprefix("offsets ") for name in self.state if name.startswith("offsets ")}
        return [ALL, ALL_BUT_PUNCTUATION, *sorted(met - {ALL, ALL_BUT_PUNCTUATION})]

    def labels(self) -> pd.DataFrame:
        """A row for each relation, direction and head."""
        heads = self.heads.labels()
        pairs = [(relation, direction) for relation in self.relations for direction in DIRECTIONS]
        labels = pd.concat([heads] * len(pairs), ignore_index=True)
        for column, names in zip(("relation", "direction"), zip(*pairs, strict=True), strict=True):
            labels[column] = np.repeat(names, len(heads))
        return labels

    def columns(self, sums: Sums) -> Columns:
        """Accuracy alone gets intervals: a row for each relation and head makes large tables."""
        correct, offsets = self._stacked(sums)
        accuracies = ratio(correct.sum(-2), offsets.sum((-1, -2))[..., None, None])  # ... relation direction head
        return {"accuracy": accuracies.reshape(*accuracies.shape[:-3], -1)}

    def table(self) -> pd.DataFrame:
        """Accuracy, cases, and both for either half; the best fixed offset (head less dependent) and its accuracy."""
        correct, offsets = self._stacked(self.state)
        best = best_offsets(offsets.sum(1))
        cases = offsets.sum(-1)  # relation half
        of_half = ratio(correct, cases[:, None, :, None])
        rows = correct[:, :, 0].shape  # relation direction head
        columns = {"cases": cases.sum(-1)[:, None, None], "visible": self._visible(offsets.sum(1))}
        for half in (0, 1):
            columns[f"accuracy_half{half}"] = of_half[:, :, half]
            columns[f"cases_half{half}"] = cases[:, half, None, None]
        columns["baseline"] = offset_accuracies(offsets.sum(1), best)[:, None, None]
        columns["baseline_held_out"] = held_out_offset_accuracies(offsets)[:, None, None]
        columns["offset"] = np.where(cases.sum(-1) > 0, best, np.nan)[:, None, None]
        table = super().table().assign(**{name: np.broadcast_to(some, rows).ravel() for name, some in columns.items()})
        return table.astype(dict.fromkeys(("cases", "visible", "cases_half0", "cases_half1", "offset"), "Int64"))

    def _visible(self, offsets: Array) -> Array:
        """(relation, BINS) -> (relation, direction, head): cases whose target a head can see: what is left, in a decoder."""
        left, right = offsets[:, : FURTHEST + 1].sum(-1), offsets[:, FURTHEST + 2 :].sum(-1)
        causal = (self.heads.labels()["stack"] == "decoder").to_numpy()
        before = np.stack([left, right], axis=1)[..., None]  # the head left of its dependent, the dependent left of its head
        return np.where(causal, before, offsets.sum(-1)[:, None, None])

    def _stacked(self, sums: Sums) -> tuple[Array, Array]:
        """Of all relations: correct (..., relation, direction, half, head) and offsets (..., relation, half, BINS)."""
        correct = np.stack([sums[f"correct {relation}"] for relation in self.relations], axis=-4)
        return correct, np.stack([sums[f"offsets {relation}"] for relation in self.relations], axis=-3)
