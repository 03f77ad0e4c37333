"""A page is one file that can load nothing, and no token gets out of its place."""

from __future__ import annotations

import base64
import hashlib
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope import head_view
from tests.views import decoding

NASTY = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "&amp;",
    "\"'`",
    "<!--",
    "🙂",
    "שלום",
    "\x00\x1b",
    "\ud83d",
]


def _page(tokens: list[str]) -> str:
    return head_view(tokens=tokens, scores=np.eye(len(tokens))).html()


@given(st.lists(st.one_of(st.text(max_size=8), st.sampled_from(NASTY)), min_size=1, max_size=6))
def test_any_token_is_data_and_comes_back_as_it_was(tokens: list[str]) -> None:
    page = _page(tokens)
    description, _ = decoding.parts(page)
    assert description["sides"]["source"]["raw"] == tokens
    assert len(re.findall(r"<script\b", page)) == 3  # the description, one chunk, the bundle
    assert page.count("</script>") == 3


def test_the_policy_lets_only_this_bundle_run() -> None:
    page = _page(["a"])
    said = decoding.policy(page)
    script = re.findall(r"<script>(.*?)</script>", page, re.S)
    style = re.findall(r"<style>(.*?)</style>", page, re.S)
    assert len(script) == len(style) == 1
    for kind, text in (("script-src", script[0]), ("style-src", style[0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in said
    assert "default-src 'none'" in said
    assert "connect-src 'none'" in said
    assert "unsafe" not in said


def test_nothing_in_the_page_points_outside() -> None:
    page = _page(["a", "b"])
    outside = set(re.findall(r"https?://[^\s\"'`)<>]+", page))
    assert {address for address in outside if not address.startswith("http://www.w3.org/")} == set()  # names, not places


@pytest.mark.parametrize("title", ["</title><script>alert(1)</script>", "a & b"])
def test_the_title_is_text(title: str) -> None:
    page = head_view(tokens=["a"], scores=[[1.0]], title=title).html()
    assert len(re.findall(r"<script\b", page)) == 3
