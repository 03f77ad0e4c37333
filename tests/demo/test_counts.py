"""The counts against a plain loop over full maps of a real model."""

from math import log
from pathlib import Path

import pytest
import torch
from torch import Tensor

from headscope.demo.counts import KINDS, MEASURES, OFFSETS, Counts
from headscope.demo.observation import Observation, observe
from headscope.demo.text import paragraph_pairs, text
from headscope.lens import Lens


@pytest.fixture(scope="module")
def counted(lens: Lens, tmp_path_factory: pytest.TempPathFactory) -> Counts:
    """Three documents of different lengths."""
    run: Path = tmp_path_factory.mktemp("three") / "run"
    return observe(lens, run, paragraph_pairs(text())[:3]).counts


@pytest.mark.real
@pytest.mark.parametrize("measure", MEASURES)
def test_shares_are_those_of_a_plain_loop_over_full_maps(lens: Lens, counted: Counts, measure: str) -> None:
    sums: dict[str, Tensor] = {target: torch.zeros(6, 12, dtype=torch.float64) for target in (*OFFSETS, *KINDS, "all")}
    for document in paragraph_pairs(text())[:3]:
        reading = lens.read(document.text, pair=document.pair)
        maps = reading.scores(measure).double()
        kinds = {"[CLS]": "cls", "[SEP]": "sep", ".": "punctuation", ",": "punctuation"}
        for query in range(len(reading.tokens)):
            for key, token in enumerate(reading.tokens):
                score = maps[:, :, query, key]
                sums["all"] += score
                sums[kinds.get(token, "other")] += score
                if key - query in (-1, 0, 1):
                    sums[{-1: "previous", 0: "same", 1: "next"}[key - query]] += score
    for target, share in counted.shares(measure).items():
        torch.testing.assert_close(share, sums[target] / sums["all"], rtol=1e-4, atol=1e-6)
    for target, share in counted.layer_shares(measure).items():
        torch.testing.assert_close(share, sums[target].sum(1) / sums["all"].sum(1), rtol=1e-4, atol=1e-6)


@pytest.mark.real
def test_breadth_is_entropy_against_uniform(lens: Lens, counted: Counts) -> None:
    found, most = torch.zeros(6, 12, dtype=torch.float64), 0.0
    for document in paragraph_pairs(text())[:3]:
        weights = lens.read(document.text, pair=document.pair).scores("weight").double()
        length = weights.shape[-1]
        found -= (weights * weights.clamp(min=1e-300).log()).sum((2, 3))
        most += length * log(length)
    torch.testing.assert_close(counted.breadth(), found / most, rtol=1e-4, atol=1e-6)


@pytest.mark.real
@pytest.mark.parametrize("measure", MEASURES)
def test_the_four_kinds_share_everything(observation: Observation, measure: str) -> None:
    for shares in (observation.counts.shares(measure), observation.counts.layer_shares(measure)):
        everything = torch.stack([shares[kind] for kind in KINDS]).sum(0)
        torch.testing.assert_close(everything, torch.ones_like(everything), rtol=0, atol=1e-5)


@pytest.mark.real
def test_every_query_counts_once(observation: Observation) -> None:
    """So a first token, which has no previous one, is in the denominator."""
    total = observation.counts.totals["weight"]
    torch.testing.assert_close(total, torch.ones_like(total), rtol=1e-5, atol=0)
