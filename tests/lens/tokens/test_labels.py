"""Labels: whatever a token is, there is something to see, and it turns nothing around it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.lens.tokens.labels import visible


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("\u200b", "<U+200B>"),  # a space without width
        ("\ufeff", "<U+FEFF>"),
        ("soft\u00adhyphen", "soft<U+00AD>hyphen"),
        ("a\u2028b", "a<U+2028>b"),  # a new line
        ("\U000e0041", "<U+E0041>"),  # letters that no screen shows: texts are smuggled in them
        ("\u3164", "<U+3164>"),
        ("\ufe0f", "<U+FE0F>"),
        ("\u200f12", "<U+200F>12"),
        ("1\u202f000", "1␣000"),
        ("\u2003", "␣"),
    ],
)
def test_what_cannot_be_seen_has_a_sign(token: str, shown: str) -> None:
    assert visible(token) == shown


@pytest.mark.parametrize("token", ["👨\u200d👩\u200d👧", "❤\ufe0f", "نمی\u200cخواهم", "\u0600", "e\u0301", "a b"])
def test_what_shapes_its_neighbours_stays(token: str) -> None:
    assert visible(token) == token


@given(st.text(max_size=6))
def test_no_label_is_empty_or_invisible(text: str) -> None:
    seen = [one for one in visible(text) if unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp")]
    assert seen
