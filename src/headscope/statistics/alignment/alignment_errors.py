"""How well a head aligns words: alignment error rate, precision, recall against gold links (kobayashi2020, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from headscope.errors import InputError
from headscope.later import Tensor, torch
from headscope.lens import ScoreBlock, Site
from headscope.lens.tokens.batch import Batch
from headscope.statistics.alignment.picking import Picker
from headscope.statistics.alignment.scores import scores
from headscope.statistics.alignment.sides import NO_LINK, SETTINGS
from headscope.statistics.base import Columns, Statistic, Sums
from headscope.statistics.columns import ACCURACY, RATIO, Column
from headscope.statistics.registry import setting as a_setting
from headscope.statistics.registry import statistic
from headscope.text.cut import half_of

HALVES = (0, 1)
COUNTS = ("found", "in_sure", "in_possible", "sure")


@statistic("alignment_errors")
class AlignmentErrors(Statistic):
    """Alignment error rate, precision and recall of every cross-attention head, for documents with gold links.

    Of a decoder-only model, the self attention of prompts that hold both sides (`headscope.lens.tokens.prompts`).
    `setting` is AWI (alignment with the input word) or AWO (with the output word). Both halves of the corpus are counted
    apart, so that a head can be chosen on one and judged on the other.
    """

    setting: str = a_setting(
        "AWI",
        one_of=SETTINGS,
        said="{}",
        always=True,
        help="Read a word's own row (AWI), or the one that predicts it (AWO).",
    )

    usual = False
    levels = ("token",)
    needs = ("alignment",)
    sums = tuple(f"{count} {half}" for count, half in product(COUNTS, HALVES))
    card_place = 190
    aer = Column("Alignment error rate", RATIO, "How far word links by this head are from gold links.", "is worse")
    precision = Column("Precision of links", ACCURACY, "How many of its links are right.", "is right more often")
    recall = Column("Recall of links", ACCURACY, "How many sure gold links it finds.", "finds more")

    def counted_sites(self, sites: Sequence[Site]) -> list[Site]:
        return aligning_sites(sites)

    def begin(self) -> None:
        if not self.heads.sites:
            raise InputError(f"{self.name} needs an encoder-decoder, or a decoder and a prompt.")
        self._picker = Picker(self.setting, self.measure)

    def update(self, block: ScoreBlock) -> None:
        if block.site not in self.heads.sites:
            return
        chosen = self._picker(block)
        if chosen is not None:
            gold = block.batch.cached(Gold)
            for half in HALVES:
                counts = zip(COUNTS, gold.counts(chosen, half), strict=True)
                self.add(block.site, **{f"{name} {half}": count for name, count in counts})

    def columns(self, sums: Sums) -> Columns:
        by_half = [np.stack([sums[f"{name} {half}"] for name in COUNTS], axis=-1) for half in HALVES]
        columns = scores(by_half[0] + by_half[1])._asdict()
        for half, counts in zip(HALVES, by_half, strict=True):
            columns |= {f"{name}_half_{half}": column for name, column in scores(counts)._asdict().items()}
        return columns


def aligning_sites(sites: Sequence[Site]) -> list[Site]:
    """Cross attention; in a decoder-only model, its self attention."""
    cross = [site for site in sites if site.kind == "cross"]
    return cross or [site for site in sites if site.stack == "decoder"]


class Gold:
    """The gold links of a batch as (text, target word, source word) matrices."""

    def __init__(self, batch: Batch) -> None:
        shape = (
            len(batch.documents),
            max(len(document.target_words or ()) for document in batch.documents),
            max(len(document.words or ()) for document in batch.documents),
        )
        self.sure, self.possible = (torch.zeros(shape, dtype=torch.bool) for _ in range(2))
        for text, document in enumerate(batch.documents):
            assert document.alignment is not None
            for matrix, links in ((self.sure, document.alignment.sure), (self.possible, document.alignment.possible)):
                for source, target in links:
                    matrix[text, target, source] = True
        self.half = torch.tensor([half_of(document) for document in batch.documents])
        self.sure, self.possible, self.half = (part.to(batch.device) for part in (self.sure, self.possible, self.half))

    def counts(self, chosen: Tensor, half: int) -> tuple[Tensor, ...]:
        """COUNTS of one half's texts, for (batch, head, target word): (head,) each."""
        some = (self.half == half)[:, None, None] & (chosen != NO_LINK)
        heads, width = chosen.shape[1], chosen.shape[2]
        where = chosen.clamp(min=0)[..., None]

        def hits(links: Tensor) -> Tensor:
            by_head = links[:, None, :width].expand(-1, heads, -1, -1)
            return (by_head.gather(3, where)[..., 0] & some).sum((0, 2))

        sure = self.sure[self.half == half].sum().expand(heads)
        return some.sum((0, 2)), hits(self.sure), hits(self.possible), sure
