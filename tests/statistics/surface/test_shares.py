"""Shares on the first token, special tokens and punctuation: on three tokens by hand."""

from __future__ import annotations

from headscope.statistics import FirstToken, Punctuation, SpecialTokens
from tests.statistics.tester import BLOCK, approx, columns_by_hand


def test_first_token() -> None:
    assert columns_by_hand(FirstToken(), BLOCK) == approx(first_token=1.75 / 3)


def test_special_tokens() -> None:
    assert columns_by_hand(SpecialTokens(), BLOCK) == approx(**{"[CLS]": 1.75 / 3})


def test_punctuation() -> None:
    assert columns_by_hand(Punctuation(), BLOCK) == approx(comma=0.75 / 3, period=0.5 / 3)
