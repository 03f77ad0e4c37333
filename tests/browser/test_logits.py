"""The page of a logit: heads in two colours, the chosen head over the tokens, and the views below at the same head."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import headscope
from tests.browser.waiting import until
from tests.planted_heads import planted_model, planted_tokenizer

pytestmark = pytest.mark.xdist_group("browser")


@pytest.mark.parametrize("dark", [False, True])
def test_a_head_is_chosen_in_the_atlas(open_file: Callable[..., Any], tmp_path: Path, dark: bool) -> None:
    with headscope.open(planted_model(), planted_tokenizer()) as lens:
        found = lens.read("a b c a").logits("b", against="a")
        page = open_file(found.save(tmp_path / "logits.html", head="1.0"), dark=dark)
        parts = {f"{row['layer']}.{row['head']}": row["part"] for row in found.by_head().to_dict("records")}
        by_token = found.by_token("1.2")["part"].tolist()
    assert page.evaluate("window.scrollY") == 0, "the atlas is seen first"
    squares = page.locator(".logits .square").all()
    assert {one.get_attribute("data-head") for one in squares} == set(parts)
    for one in squares:
        assert float(one.get_attribute("data-part")) == pytest.approx(parts[str(one.get_attribute("data-head"))], abs=1e-4)
    assert page.get_attribute(".logits .square[aria-selected=true]", "data-head") == "1.0"
    page.click(".logits .square[data-head='1.2']")
    until(page, lambda: page.get_attribute(".logit-tokens", "data-shown") == "1.2")
    shown = [float(one.get_attribute("data-part")) for one in page.locator(".logit-tokens li").all()]
    assert shown == pytest.approx(by_token, abs=1e-4)
    assert "heads=2" in page.url, "the address, and the views below, are at this head"
    page.go_back()
    until(page, lambda: page.get_attribute(".logit-tokens", "data-shown") == "1.0")
    page.focus(".logits .square[data-head='1.0']")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    until(page, lambda: page.get_attribute(".logit-tokens", "data-shown") == "1.1")
