"""The sentences on made-up numbers: norms below the weights, above them, and the same."""

import pytest
import torch

from headscope.demo.counts import KINDS, Counts
from headscope.demo.findings import disagreement, headline, strongest, widest_gap


def made_up(weight: dict[str, list[float]], norm: dict[str, list[float]]) -> Counts:
    """Two layers of two heads; the shares of each kind in layer 0 and layer 1, the same for both heads."""
    counts = Counts(layers=2, heads=2)
    for measure, shares in (("weight", weight), ("norm", norm)):
        for kind in KINDS:
            counts.sums[measure][kind][:] = torch.tensor(shares[kind])[:, None]
        counts.totals[measure][:] = 1
    return counts


EVEN = {"cls": [0.1, 0.1], "sep": [0.1, 0.1], "punctuation": [0.1, 0.1], "other": [0.7, 0.7]}
TO_SEP = {"cls": [0.1, 0.1], "sep": [0.6, 0.4], "punctuation": [0.1, 0.1], "other": [0.2, 0.4]}


def test_norms_below_the_weights() -> None:
    said = disagreement(made_up(weight=TO_SEP, norm=EVEN))
    assert "disagree most about [SEP]: averaged over the layers, 50% of the weight goes there, but 10% of the norm" in said
    assert "bring less than their weights suggest" in said
    assert "widest in layer 0 (60% by weight, 10% by norm)" in said
    assert "The norm is the smaller of the two in 4 of 4 heads." in said


def test_norms_above_the_weights() -> None:
    said = disagreement(made_up(weight=EVEN, norm=TO_SEP))
    assert "10% of the weight goes there, but 50% of the norm" in said
    assert "bring more than their weights suggest" in said
    assert "The norm is the larger of the two in 4 of 4 heads." in said


def test_heads_that_go_the_other_way_are_not_counted() -> None:
    counts = made_up(weight=TO_SEP, norm=EVEN)
    counts.sums["weight"]["sep"][1, 0] = 0.05
    assert "in 3 of 4 heads" in disagreement(counts)


def test_agreement_is_said() -> None:
    nearly = {**EVEN, "cls": [0.11, 0.11], "other": [0.69, 0.69]}
    said = disagreement(made_up(weight=EVEN, norm=nearly))
    assert "agree here" in said
    assert "at most 1.0 points" in said
    assert "disagree" not in said


@pytest.mark.parametrize(
    ("weight", "norm", "title"),
    [
        (TO_SEP, EVEN, "[SEP] gets 50% of the attention weight, but only 10% of the norm"),
        (EVEN, TO_SEP, "[SEP] gets 10% of the attention weight, but 50% of the norm"),
        (EVEN, EVEN, "Weights and norms agree about special tokens and punctuation"),
    ],
)
def test_the_headline_follows_the_numbers(weight: dict[str, list[float]], norm: dict[str, list[float]], title: str) -> None:
    assert headline(widest_gap(made_up(weight, norm))) == title


def test_the_headline_about_punctuation_is_in_the_plural() -> None:
    many = {**EVEN, "punctuation": [0.4, 0.4], "other": [0.4, 0.4]}
    assert headline(widest_gap(made_up(many, EVEN))).startswith("Periods and commas get 40%")


def test_strongest_heads_are_labelled_layer_dot_head() -> None:
    shares = torch.tensor([[0.1, 0.9, 0.2], [0.3, 0.0, 0.8]])
    found = strongest(shares, 2)
    assert [label for label, _ in found] == ["0.1", "1.2"]
    assert [share for _, share in found] == pytest.approx([0.9, 0.8])
