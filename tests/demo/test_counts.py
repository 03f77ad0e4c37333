"""The counts against numbers worked out by hand, and against a plain loop over full maps of a real model."""

from math import log

import pytest
import torch
from torch import Tensor

from headscope.demo.counts import KINDS, MEASURES, OFFSETS, Counts, entropy, kind_of, memberships, on_kinds, on_offset
from headscope.demo.observation import Observation
from headscope.demo.text import paragraph_pairs, text
from headscope.lens import Lens

# One document of three tokens, `[CLS] , [SEP]`, and one head.
WEIGHTS = torch.tensor([[[[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]]]])


def test_offsets_by_hand() -> None:
    assert on_offset(WEIGHTS, 0, -1).tolist() == pytest.approx([0.1 + 0.25])
    assert on_offset(WEIGHTS, 0, 0).tolist() == pytest.approx([0.5 + 0.6 + 0.5])
    assert on_offset(WEIGHTS, 0, 1).tolist() == pytest.approx([0.3 + 0.3])


def test_offsets_of_a_block_that_starts_at_the_second_row() -> None:
    assert on_offset(WEIGHTS[:, :, 1:], 1, -1).tolist() == pytest.approx([0.1 + 0.25])
    assert on_offset(WEIGHTS[:, :, 2:], 2, 1).tolist() == [0]


def test_kinds_by_hand() -> None:
    member = memberships([["cls", "punctuation", "sep"]])
    assert on_kinds(WEIGHTS, member)[:, 0].tolist() == pytest.approx([0.85, 1.0, 1.15, 0.0])
    norms = WEIGHTS * torch.tensor([0.1, 2.0, 1.0])  # ||f(x)|| of the three tokens
    assert on_kinds(norms, member)[:, 0].tolist() == pytest.approx([0.085, 1.0, 2.3, 0.0])


def test_padding_is_of_no_kind() -> None:
    assert memberships([["cls"], ["cls", "sep"]])[0, 1].tolist() == [0, 0, 0, 0]


def test_entropy_by_hand() -> None:
    weights = torch.tensor([[[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.25, 0.25]]]])
    assert entropy(weights).tolist() == pytest.approx([(0 + 1 + 1.5) * log(2)])


def test_only_the_period_and_the_comma_are_punctuation() -> None:
    assert [kind_of(token, False) for token in (".", ",", "!", "...", '"')] == ["punctuation"] * 2 + ["other"] * 3


def test_a_separator_written_in_the_text_is_not_the_special_token() -> None:
    assert kind_of("[SEP]", False) == "other"


@pytest.fixture(scope="module")
def counted(lens: Lens) -> Counts:
    """Three documents of different lengths in one padded batch."""
    counts = Counts(layers=6, heads=12)
    lens.run(lens.batch(paragraph_pairs(text())[:3]), counts.update)
    return counts


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
def test_blocks_of_seven_rows_give_the_same_counts(lens: Lens, counted: Counts) -> None:
    by_rows = Counts(layers=6, heads=12)
    lens.run(lens.batch(paragraph_pairs(text())[:3]), by_rows.update, rows=7)
    for measure in MEASURES:
        for target, share in by_rows.shares(measure).items():
            torch.testing.assert_close(share, counted.shares(measure)[target], rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(by_rows.breadth(), counted.breadth(), rtol=1e-4, atol=1e-6)


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
    torch.testing.assert_close(total, torch.full_like(total, observation.tokens), rtol=1e-5, atol=0)
