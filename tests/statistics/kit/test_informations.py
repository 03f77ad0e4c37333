"""Sums of s log s against full tensors in float64, whatever the parts that a map is read in."""

from __future__ import annotations

import math

import pytest
import torch

from headscope.lens.block import AttentionBlock
from headscope.statistics.kit import sweeps
from headscope.statistics.kit.categories import beyond_sinks
from headscope.statistics.kit.informations import informations, row_informations
from headscope.statistics.kit.totals import given, given_beyond_first, largest, on_diagonal, received
from headscope.statistics.surface.distance import spans
from tests.statistics.tester import documents, lens_for


def test_by_hand() -> None:
    rows = torch.tensor([[0.0, 0.0, 1.0], [0.3, 0.1, 0.6]])[None, None]
    found = row_informations(rows, torch.tensor([[True, True, False]]))
    torch.testing.assert_close(found.given_beyond_sinks[0, 0], torch.tensor([0.0, 0.4]))
    of_kept = 0.3 * math.log(0.3) + 0.1 * math.log(0.1)
    torch.testing.assert_close(found.beyond_sinks[0, 0], torch.tensor([0.0, of_kept]))
    torch.testing.assert_close(found.of_first[0, 0], torch.tensor([0.0, 0.3 * math.log(0.3)]))
    torch.testing.assert_close(found.beyond_first[0, 0], torch.tensor([0.0, 0.1 * math.log(0.1) + 0.6 * math.log(0.6)]))


@pytest.mark.parametrize("part", [1, 100, 250_000])  # a head at a time, a text or two, all at once
@pytest.mark.parametrize("measure", ["weight", "norm", "effective", "joint_norm"])
@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_sums_are_those_of_the_whole_map(family: str, measure: str, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "PART", part)
    blocks: list[AttentionBlock] = []
    lens = lens_for(family)
    lens.run(lens.encoder.batch(documents(family)), blocks.append, rows=5)
    for block in blocks:
        scores = block.scores(measure).double()
        positive = scores.clamp(min=0)
        informed = torch.xlogy(positive, positive)
        kept = beyond_sinks(block)[:, None, None]
        found = informations(block, measure)
        expected = {
            "of_first": informed[..., 0],
            "beyond_first": informed[..., 1:].sum(-1),
            "beyond_sinks": (informed * kept).sum(-1),
            "given_beyond_sinks": (positive * kept).sum(-1),
        }
        apart = torch.rand(scores.shape[2:])
        (spanned,) = sweeps.sweep(block, measure, lambda part, _, apart=apart: (spans(part, apart),))
        sums = {
            "received": (block.cached(received, measure), scores.sum(2)),
            "given": (block.cached(given, measure), scores.sum(3)),
            "beyond first": (block.cached(given_beyond_first, measure), scores[..., 1:].sum(3)),
            "largest": (block.cached(largest, measure), scores.amax(3)),
            "spanned": (spanned, (scores * apart).sum((2, 3))),
            **{name: (getattr(found, name), amounts) for name, amounts in expected.items()},
        }
        for offset in (-2, 0, 1):
            diagonal = scores.diagonal(block.rows.start + offset, dim1=2, dim2=3)
            sums[f"offset {offset}"] = block.cached(on_diagonal, measure, offset), diagonal
        for name, (ours, theirs) in sums.items():
            torch.testing.assert_close(
                ours.double(), theirs, rtol=1e-5, atol=1e-6, msg=lambda said, name=name: f"{name}: {said}"
            )
