"""Word alignments out of cross attention: a target word's source word is the one with the highest score (kobayashi2020, 5.1).

AWO reads the row that predicts a word, AWI the row in which it is the decoder's input (eq. 5 and 6). Scores of pieces are
averaged over a target word's pieces and summed over a source word's. A special token, such as </s>, is a candidate and means
'no link'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headscope.lens.batch import Batch
from headscope.lens.block import AttentionBlock
from headscope.lens.encoding import TokenSequence
from headscope.lens.site import Site

SETTINGS = ("AWI", "AWO")
MEASURES = ("weight", "norm")
NO_LINK = -1


@dataclass(frozen=True)
class Chosen:
    """For every target word of a batch the source word that a site's heads choose, NO_LINK where they choose none.

    `heads` and `joint` are by (setting, measure): (batch, head, target word) and (batch, target word), int64.
    """

    site: Site
    heads: dict[tuple[str, str], Tensor]
    joint: dict[tuple[str, str], Tensor]


class Sides:
    """The words of a batch's pairs, as matrices that merge pieces: sums over keys, means over rows."""

    def __init__(self, sources: Sequence[TokenSequence], targets: Sequence[TokenSequence], device: torch.device) -> None:
        self.source_words = [len(sequence.words) for sequence in sources]
        self.target_words = [len(sequence.words) for sequence in targets]
        keys, rows = max(map(len, sources)), max(map(len, targets))
        self.words = max(self.source_words)
        specials = max(sum(sequence.special) for sequence in sources)
        self.columns = torch.zeros(len(sources), keys, self.words + specials, device=device)  # batch key word-or-special
        for text, sequence in enumerate(sources):
            others = iter(range(self.words, self.words + specials))
            for key, word in enumerate(sequence.word_of):
                if word is not None or sequence.special[key]:
                    self.columns[text, key, next(others) if word is None else word] = 1
        counts = max(self.target_words)
        self.rows = {setting: torch.zeros(len(targets), counts, rows, device=device) for setting in SETTINGS}
        for text, sequence in enumerate(targets):
            for row, word in enumerate(sequence.word_of):
                if word is not None:
                    share = 1 / sequence.word_of.count(word)
                    self.rows["AWI"][text, word, row] = share
                    self.rows["AWO"][text, word, row - 1] = share  # a word is predicted in the row before it is read
        self.spoken = {setting: matrix.sum(2) > 0 for setting, matrix in self.rows.items()}  # words that have a piece

    def merged(self, scores: Tensor, setting: str, rows: range) -> Tensor:
        """(batch, head, row, key) -> this block's share of (batch, head, target word, source word or special token)"""
        of_rows = self.rows[setting][:, None, :, rows.start : rows.stop]
        return of_rows @ (scores @ self.columns[:, None])

    def choose(self, scores: Tensor, setting: str) -> Tensor:
        """(batch, head, target word, source word or special) -> the source word of each: (batch, head, target word)"""
        best = scores.argmax(-1)
        linked = (best < self.words) & self.spoken[setting][:, None]
        return torch.where(linked, best, NO_LINK)


def sides_of(batch: Batch) -> Sides:
    return batch.once("alignment sides", lambda: Sides(batch.sources, batch.targets, batch.inputs["input_ids"].device))


class Extraction:
    """Takes the blocks of forced decoding; `finished` has what every cross attention of the batch chose, in order."""

    def __init__(self, settings: Sequence[str] = SETTINGS, measures: Sequence[str] = MEASURES, heads: bool = True) -> None:
        self.settings, self.measures = tuple(settings), tuple(measures)
        self.by_head = heads
        self.finished: list[Chosen] = []
        self._sums: dict[tuple[str, str, str], Tensor] = {}  # by setting, measure, and "heads" or "joint"

    def __call__(self, block: AttentionBlock) -> None:
        if block.site.kind != "cross":
            return
        sides = sides_of(block.batch)
        if block.rows.start == 0:
            self._sums.clear()
        for measure in self.measures:
            for kind, scores in self._scores(block, measure).items():
                for setting in self.settings:
                    part = sides.merged(scores, setting, block.rows)
                    before = self._sums.get((setting, measure, kind))
                    self._sums[setting, measure, kind] = part if before is None else before + part
        if block.rows.stop == block.batch.query_length(block.site):
            self._finish(block.site, sides)

    def _scores(self, block: AttentionBlock, measure: str) -> dict[str, Tensor]:
        joint = block.weights.sum(1, keepdim=True) if measure == "weight" else block.scores("joint_norm")
        return {"joint": joint, "heads": block.scores(measure)} if self.by_head else {"joint": joint}

    def _finish(self, site: Site, sides: Sides) -> None:
        found: dict[str, dict[tuple[str, str], Tensor]] = {"heads": {}, "joint": {}}
        for (setting, measure, kind), scores in self._sums.items():
            chosen = sides.choose(scores, setting)
            found[kind][setting, measure] = chosen[:, 0] if kind == "joint" else chosen
        self.finished.append(Chosen(site, found["heads"], found["joint"]))
        self._sums.clear()
