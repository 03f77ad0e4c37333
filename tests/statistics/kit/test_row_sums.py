"""Sums of s and s log s against full tensors in float64, whatever the parts that a map is read in."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from headscope.lens.block import AttentionBlock
from headscope.lens.score_block import ScoreBlock
from headscope.lens.side import Side
from headscope.lens.site import Site
from headscope.statistics.kit import sweeps
from headscope.statistics.kit.categories import beyond_sinks
from headscope.statistics.kit.row_sums import given, row_sums
from headscope.statistics.kit.totals import on_diagonal, reach, received
from tests.statistics.tester import documents, lens_for


def test_by_hand() -> None:
    """Three tokens, of which the last is a separator, as a word's block has them: the first row looks at nothing else."""
    rows = torch.tensor([[0.0, 0.0, 1.0], [0.3, 0.1, 0.6], [0.0, 0.0, 0.0]])[None, None]
    words = Side("source", [["a", "b", "[SEP]"]], [[False, False, True]], [[0, 1, None]], rows.device)
    block = ByHand(rows, words)
    found = row_sums(block, "weight")
    torch.testing.assert_close(found.beyond_sinks[0, 0], torch.tensor([0.0, 0.4, 0.0]))
    of_kept = 0.3 * math.log(0.3) + 0.1 * math.log(0.1)
    torch.testing.assert_close(found.informed_beyond_sinks[0, 0], torch.tensor([0.0, of_kept, 0.0]))
    torch.testing.assert_close(found.informed_of_first[0, 0], torch.tensor([0.0, 0.3 * math.log(0.3), 0.0]))
    beyond_first = 0.1 * math.log(0.1) + 0.6 * math.log(0.6)
    torch.testing.assert_close(found.informed_beyond_first[0, 0], torch.tensor([0.0, beyond_first, 0.0]))
    torch.testing.assert_close(found.of_first[0, 0], torch.tensor([0.0, 0.3, 0.0]))
    torch.testing.assert_close(found.beyond_first[0, 0], torch.tensor([1.0, 0.7, 0.0]))
    torch.testing.assert_close(reach(block, "weight").spanned, torch.tensor([[1.0 * 2 + 0.1 * 0 + 0.6 * 1]]))


class ByHand(ScoreBlock):
    """A map of one text, whose rows and keys are the same words."""

    level = "word"
    site = Site(0, "encoder", "self", 0, 1)

    def __init__(self, weights: torch.Tensor, words: Side) -> None:
        self.weights, self.attending, self.attended, self.rows = weights, words, words, range(weights.shape[2])
        self.query_mask = self.key_mask = torch.ones(1, weights.shape[2], dtype=torch.bool)

    def scores(self, measure: str = "weight") -> torch.Tensor:
        return self.weights


@pytest.mark.parametrize("part", [1, 100, 250_000])  # a head at a time, a text or two, all at once
@pytest.mark.parametrize("asked", [(), ("weight", "norm")])  # one by one, or both in one sweep
@pytest.mark.parametrize("measure", ["weight", "norm", "effective", "joint_norm"])
@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_sums_are_those_of_the_whole_map(
    family: str, measure: str, asked: tuple[str, ...], part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "PART", part)
    blocks: list[AttentionBlock] = []
    lens = lens_for(family)
    lens.run(lens.encoder.batch(documents(family)), blocks.append, rows=5)
    for block in blocks:
        block.asked = frozenset(asked)
        scores = block.scores(measure).double()
        positive = scores.clamp(min=0)
        informed = torch.xlogy(positive, positive)
        kept = beyond_sinks(block)[:, None, None]
        found = row_sums(block, measure)
        expected = {
            "informed_of_first": informed[..., 0],
            "informed_beyond_first": informed[..., 1:].sum(-1),
            "informed_beyond_sinks": (informed * kept).sum(-1),
            "beyond_sinks": (positive * kept).sum(-1),
        }
        apart = (block.row_positions[:, None] - block.key_positions).abs()
        far = reach(block, measure)
        sums = {
            "received": (block.cached(received, measure), scores.sum(2)),
            "given": (block.cached(given, measure), scores.sum(3)),
            "first": (found.of_first, scores[..., 0]),
            "beyond first": (found.beyond_first, scores[..., 1:].sum(3)),
            "largest": (far.largest, scores.amax(3)),
            "spanned": (far.spanned, (scores * apart)[..., 1:].sum((2, 3))),
            **{name: (getattr(found, name), amounts) for name, amounts in expected.items()},
        }
        for offset in (-2, 0, 1):
            diagonal = scores.diagonal(block.rows.start + offset, dim1=2, dim2=3)
            sums[f"offset {offset}"] = block.cached(on_diagonal, measure, offset), diagonal
        for name, (ours, theirs) in sums.items():
            torch.testing.assert_close(
                ours.double(), theirs, rtol=1e-5, atol=3e-6, msg=lambda said, name=name: f"{name}: {said}"
            )


def test_norms_and_weights_share_their_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked for together is made together: the second measure finds its sums made."""
    blocks: list[AttentionBlock] = []
    lens = lens_for("bert")
    lens.run(lens.encoder.batch(documents("bert")), blocks.append)
    block = blocks[0]
    block.asked = frozenset({"weight", "norm"})
    row_sums(block, "weight")
    reach(block, "weight")

    def refuse(*_: Any) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(torch.Tensor, "log_", refuse)
    monkeypatch.setattr(torch.Tensor, "amax", refuse)
    row_sums(block, "norm")
    reach(block, "norm")
    with pytest.raises(AssertionError, match="made again"):
        row_sums(block, "joint_norm")
