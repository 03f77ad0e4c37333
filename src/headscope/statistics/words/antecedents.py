"""How often a mention most attends to its antecedent: heads as coreference systems (clark2019, section 4.3, table 2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from headscope.later import Tensor, pd, torch
from headscope.lens import ScoreBlock
from headscope.lens.side import Side
from headscope.lens.tokens.batch import Batch
from headscope.statistics.base import Array, Columns, Sums, ratio
from headscope.statistics.columns import ACCURACY, Column
from headscope.statistics.registry import setting, statistic
from headscope.statistics.words.annotated_sites import OfAnnotatedWords
from headscope.text.coreference.cases import cases
from headscope.text.cut import half_of
from headscope.text.mention import KINDS, Kind

COLUMNS: dict[str, tuple[Kind, ...]] = {"all": KINDS, "pronoun": ("PRON",), "proper": ("PROP",), "nominal": ("NOM",)}
HALVES = (0, 1)
WORD, MENTION, ANTECEDENT = 1, 2, 3  # what a key may be to a case, each also what is before it


def finds_antecedent(scores: Tensor, candidates: Tensor, antecedents: Tensor) -> Tensor:
    """(case, head, key), (case, key), (case, key) -> (case, head): is the most-attended candidate an antecedent?

    The first of several alike counts; a row that gives nothing to any candidate finds none.
    """
    most, chosen = scores.masked_fill(~candidates[:, None], 0).max(-1)
    return antecedents.gather(1, chosen) & (most > 0)


class BatchCases(NamedTuple):
    """The cases of a batch, as indices into its blocks."""

    text: Tensor  # case: its place in the batch
    row: Tensor  # case: its mention's head word
    group: Tensor  # case: twice its kind's index, and one more in the second half
    keys: Tensor  # case key: WORD, MENTION, ANTECEDENT, or 0 for what is no candidate


@statistic("antecedents")
class Antecedents(OfAnnotatedWords):
    """How often a mention's head word looks most at that of an antecedent, by kind of mention (clark2019, 4.3).

    Candidates are all other words (section 4.1), special tokens cut; with candidates="mentions" the head words of earlier
    mentions. A case is a mention that ends behind its document's context and has an antecedent in the document.
    """

    candidates: str = setting(
        "words",
        one_of=("words", "mentions"),
        said="{}",
        help="What may be an antecedent: any other word, or earlier mentions.",
    )

    needs = ("mentions",)
    sums = tuple(f"{what} {kind} {half}" for what, kind, half in product(("correct", "cases"), KINDS, HALVES))
    card_place = 150
    all = Column(
        "Antecedents found, share of mentions", ACCURACY, "How often a mention looks most at its antecedent.", "finds more"
    )
    pronoun = Column("Antecedents of pronouns found, share of them", ACCURACY, "The same for pronouns.", "finds more")
    proper = Column("Antecedents of names found, share of them", ACCURACY, "The same for names.", "finds more")
    nominal = Column("Antecedents of other nouns found, share of them", ACCURACY, "The same for other nouns.", "finds more")

    def update(self, block: ScoreBlock) -> None:
        if block.site not in self.heads.sites:
            return
        found = block.batch.cached(batch_cases, block.attended)
        here = (found.row >= block.rows.start) & (found.row < block.rows.stop)
        scores = block.scores(self.measure)[found.text[here], :, found.row[here] - block.rows.start]  # case head key
        keys = found.keys[here]
        correct = finds_antecedent(scores, keys >= (WORD if self.candidates == "words" else MENTION), keys == ANTECEDENT)
        right = torch.zeros(len(KINDS) * len(HALVES), correct.shape[1], device=correct.device)
        right.index_add_(0, found.group[here], correct.float())
        counts = torch.bincount(found.group[here], minlength=len(right))
        for index, (kind, half) in enumerate(product(KINDS, HALVES)):
            self.add(block.site, **{f"correct {kind} {half}": right[index], f"cases {kind} {half}": counts[index]})

    def columns(self, sums: Sums) -> Columns:
        return {column: _accuracy(sums, column, HALVES) for column in COLUMNS}

    def table(self) -> pd.DataFrame:
        """Accuracy of each head, the number of cases, and both for either half of the corpus."""
        columns = {f"cases_{column}": _sum(self.state, "cases", column, HALVES).astype(int) for column in COLUMNS}
        for half, column in product(HALVES, COLUMNS):
            columns[f"{column}_half{half}"] = _accuracy(self.state, column, (half,))
            columns[f"cases_{column}_half{half}"] = _sum(self.state, "cases", column, (half,)).astype(int)
        return super().table().assign(**columns)


def _sum(sums: Sums, what: str, column: str, halves: Sequence[int]) -> Array:
    return np.sum([sums[f"{what} {kind} {half}"] for kind in COLUMNS[column] for half in halves], axis=0)


def _accuracy(sums: Sums, column: str, halves: Sequence[int]) -> Array:
    return ratio(_sum(sums, "correct", column, halves), _sum(sums, "cases", column, halves))


def batch_cases(batch: Batch, side: Side) -> BatchCases:
    """Words that are no key (cut off, or written as one with the next) are left out."""
    places, rows = [], []
    for text, (document, words) in enumerate(zip(batch.documents, side.words, strict=True)):
        annotated = len(document.words or ())  # what follows is a second segment's
        key_of = {word: key for key, word in enumerate(words) if word is not None and word < annotated}
        candidates = np.zeros(side.longest, np.int64)
        candidates[list(key_of.values())] = WORD
        for case in cases(document):
            keys = candidates.copy()
            keys[[key_of[head] for head in case.earlier_heads if head in key_of]] = MENTION
            keys[[key_of[head] for head in case.antecedents if head in key_of]] = ANTECEDENT
            if case.head in key_of and ANTECEDENT in keys:
                keys[key_of[case.head]] = 0
                places.append((text, key_of[case.head], 2 * KINDS.index(case.kind) + half_of(document)))
                rows.append(keys)
    text_of, row, group = torch.tensor(places, dtype=torch.long, device=side.device).reshape(-1, 3).unbind(1)
    stacked = torch.from_numpy(np.array(rows, np.int64).reshape(-1, side.longest)).to(side.device)
    return BatchCases(text_of, row, group, stacked)
