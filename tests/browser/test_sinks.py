"""Sinks in and out, in a real browser: all four views draw what figures for print draw, and say the share that is hidden."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from headscope.views.content import Attention, Content, Neurons, Side
from headscope.views.print.shown import Shown, shown
from headscope.views.state import Sinks, State
from headscope.views.view import View
from tests.browser import waiting
from tests.browser.map_colours import sequential
from tests.browser.pixels import cell_pixels
from tests.browser.waiting import fragment, until

pytestmark = pytest.mark.xdist_group("browser")

Open = Callable[..., Any]
TOKENS = ["The", "cat", ",", "the", "dog", "and", "it", "sat"]
SINKS = [True, False, True, *[False] * 5]
SCALING = 0.25
CHOICES = [choice for choice in get_args(Sinks) if choice]


@pytest.fixture(scope="module")
def content() -> Content:
    """A decoder of two layers and three heads, which give most to the first token and to the comma."""
    rng, count = np.random.default_rng(5), len(TOKENS)
    queries, keys = (rng.normal(size=(2, 3, count, 16)).astype(np.float32) for _ in range(2))
    keys[:, :, [0, 2]] += 2.5 * queries.mean(2, keepdims=True)
    queries += 2.5 * queries.mean(2, keepdims=True)
    logits = SCALING * np.einsum("lhqd,lhkd->lhqk", queries, keys).astype(np.float64)
    powers = np.exp(logits + 3 * np.array(SINKS)) * np.tri(count)
    weights = (powers / powers.sum(-1, keepdims=True)).astype(np.float32)
    norms = rng.uniform(0.5, 2, size=(2, 3, count)).astype(np.float32)
    attentions = [
        Attention(
            "decoder", "self", layer, [0, 1, 2], "source", "source",
            {"weight": weights[layer], "norm": weights[layer] * norms[layer][:, None]}, norms[layer],
            Neurons(queries[layer], keys[layer], SCALING, False, "sinks have a bias"),
        )
        for layer in range(2)
    ]  # fmt: skip
    return Content("a cat", {"source": Side.plain(TOKENS)}, attentions, sinks={"decoder self": SINKS})


@pytest.fixture(scope="module")
def saved(content: Content, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return View(content, State(), exact=True).save(tmp_path_factory.mktemp("sinks") / "x.html")


def printed(content: Content, **choices: Any) -> Shown:
    """What a figure for print shows."""
    state = State(**choices).fitted(content)
    return shown(content, state, content.attentions[state.layer or 0], list(state.heads) if state.heads else None)


def percent(share: float) -> str:
    return f"{100 * share:.1f}%" if 0 < share < 0.0995 else f"{100 * share:.0f}%"


def labels(page: Any, side: str) -> list[str]:
    return list(page.locator(f"[data-token^={side}]").all_inner_texts())


def test_a_decoder_opens_without_sinks_and_an_encoder_with_them(content: Content, saved: Path, open_file: Open) -> None:
    page = open_file(saved)
    page.wait_for_selector(".head-view[data-drawn]")
    assert labels(page, "q") == TOKENS[1:]
    assert labels(page, "k") == [token for token, sink in zip(TOKENS, SINKS, strict=True) if not sink]
    assert "sinks" not in fragment(page)
    assert page.input_value("select[name=sinks]") == "hidden"
    assert "The (0), , (2)" in page.inner_text(".footer")


@pytest.mark.parametrize("choice", CHOICES)
def test_head_view(content: Content, saved: Path, open_file: Open, choice: Sinks) -> None:
    found = printed(content, layer=1, sinks=choice)
    page = open_file(saved, f"view=head&layer=1&sinks={choice}")
    page.wait_for_selector(".head-view[data-drawn]")
    assert (labels(page, "q"), labels(page, "k")) == (found.queries.labels, found.keys.labels)
    caption = page.locator(".head-caption")
    assert float(caption.get_attribute("data-most")) == pytest.approx(found.largest, rel=1e-5)
    assert int(caption.get_attribute("data-lines")) == (found.scores >= found.largest / 255).sum()
    shares = page.eval_on_selector_all("[data-token^=q]", "tokens => tokens.map((token) => token.dataset.hidden)")
    said = page.locator(".hidden-share")
    if choice == "shown":
        assert shares == [None] * len(TOKENS)
        assert said.count() == 0
    else:
        assert shares == [percent(share) for share in found.hidden_of_rows]
        until(page, lambda: said.inner_text() == f"{percent(found.hidden)} hidden")
    waiting.redrawn(page, ".head-view", lambda: page.click("[data-token=q6]"))
    row = found.queries.places.index(6)
    cells = page.eval_on_selector_all(
        ".targets tr[data-target]:not([data-target='-1']) td[data-head='1.2']",
        "cells => cells.map((cell) => [Number(cell.parentElement.dataset.target), Number(cell.dataset.score)])",
    )
    in_sight = [(key, score) for key, score in zip(found.keys.places, found.scores[2, row], strict=True) if score > 0]
    assert dict(cells) == {key: pytest.approx(float(score), rel=1e-5) for key, score in in_sight}


@pytest.mark.parametrize("choice", CHOICES)
def test_matrix(content: Content, saved: Path, open_file: Open, choice: Sinks) -> None:
    found = printed(content, layer=1, heads=(2,), sinks=choice)
    page = open_file(saved, f"view=matrix&layer=1&heads=2&compare=norm&sinks={choice}")
    page.wait_for_selector(".matrix-maps[data-drawn]")
    scores = found.scores[0].astype(np.float64)
    assert np.abs(_cells(page, "weight", scores) - sequential(scores / scores.max())).max() <= 4
    norm = printed(content, layer=1, heads=(2,), sinks=choice, measure="norm")
    of_norm = norm.scores[0].astype(np.float64)
    assert np.abs(_cells(page, "norm", of_norm) - sequential(of_norm / of_norm.max())).max() <= 4
    ends = page.eval_on_selector_all(
        ".heatmap[data-panel=weight] .row-shares span", "all => all.map((one) => Number(one.dataset.share))"
    )
    assert ends == ([] if choice == "shown" else pytest.approx(found.hidden_of_rows.tolist(), rel=1e-5))
    page.focus(".heatmap[data-panel=weight] .matrix-map")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    reading = page.wait_for_selector(f".matrix-reading[data-query='{found.queries.places[2]}']")
    assert f'"weight":{scores[2, 0]:.4f}'[:14] in reading.get_attribute("data-scores")
    apart = norm.of_rows[0, 2, 0] - found.of_rows[0, 2, 0]
    assert page.evaluate("JSON.parse(document.querySelector('.matrix-reading').dataset.scores).difference") == pytest.approx(
        float(apart), abs=1e-5
    )


def _cells(page: Any, panel: str, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The colour in the middle of every cell."""
    return cell_pixels(page, f".heatmap[data-panel='{panel}'] .matrix-scores", *scores.shape)


@pytest.mark.parametrize("choice", CHOICES)
def test_model_view(content: Content, saved: Path, open_file: Open, choice: Sinks) -> None:
    page = open_file(saved, f"view=model&sinks={choice}")
    page.wait_for_selector(".model-view[data-drawn]")
    every = [printed(content, layer=layer, sinks=choice) for layer in range(2)]
    for layer, head in ((0, 1), (1, 2)):
        found = printed(content, layer=layer, heads=(head,), sinks=choice)
        page.hover(f"[data-cell='{layer}.{head}']")
        page.wait_for_selector(f".reading[data-pointed='{layer}.{head}']")
        score = float(page.get_attribute(".reading [data-score]", "data-score"))
        assert score == pytest.approx(found.largest, rel=1e-5)
        share = page.locator(".reading [data-hidden]")
        if choice == "shown":
            assert share.count() == 0
        else:
            assert float(share.get_attribute("data-hidden")) == pytest.approx(found.hidden, rel=1e-5)
            assert f"{percent(found.hidden)} on sinks" in share.inner_text()
    if choice != "shown":
        hidden = sum(one.on_sinks.sum() for one in every) / sum(one.totals.sum() for one in every)
        until(page, lambda: page.inner_text(".hidden-share") == f"{percent(float(hidden))} hidden")


@pytest.mark.parametrize("choice", CHOICES)
def test_neuron_view(content: Content, saved: Path, open_file: Open, choice: Sinks) -> None:
    found = printed(content, layer=0, heads=(1,), sinks=choice)
    page = open_file(saved, f"view=neuron&layer=0&heads=1&keep=q6&sinks={choice}")
    page.wait_for_selector(".key-rows[data-drawn]")
    rows = page.eval_on_selector_all(
        ".key-row[data-key]",
        "rows => rows.map(({dataset: {key, weight, norm}}) => [Number(key), Number(weight), Number(norm)])",
    )
    assert [row[0] for row in rows] == found.keys.places
    row = found.queries.places.index(6)
    assert [row[1] for row in rows] == pytest.approx(found.scores[0, row].tolist(), rel=1e-5)
    norms = content.attentions[0].value_norm
    assert norms is not None
    assert [row[2] for row in rows] == pytest.approx((found.scores[0, row] * norms[1, found.keys.places]).tolist(), rel=1e-5)
    if choice != "shown":
        until(page, lambda: page.inner_text(".hidden-share") == f"{percent(float(found.hidden_of_rows[row]))} hidden")


def test_keys_and_the_toolbar_choose(saved: Path, open_file: Open) -> None:
    page = open_file(saved, "view=head")
    page.wait_for_selector(".head-view[data-drawn]")
    for press, chosen, tokens in (("s", "shown", 8), ("s", "hidden", 7), ("r", "renormalised", 7), ("r", "hidden", 7)):
        page.keyboard.press(press)
        until(page, lambda chosen=chosen: f"sinks={chosen}" in fragment(page))
        until(page, lambda tokens=tokens: page.locator("[data-token^=q]").count() == tokens)
    page.select_option("select[name=sinks]", "shown")
    until(page, lambda: page.locator("[data-token^=k]").count() == 8)


def test_what_is_kept_is_shown(saved: Path, open_file: Open) -> None:
    """A page that opens at a pair with a sink shows the pair: the default gives way, a choice does not."""
    page = open_file(saved, "view=head&keep=q4,k2")
    page.wait_for_selector(".head-view[data-drawn]")
    assert page.get_attribute("[data-token=k2]", "aria-selected") == "true"
    assert page.input_value("select[name=sinks]") == "shown"
    chosen = open_file(saved, "view=head&keep=q4,k2&sinks=hidden")
    chosen.wait_for_selector(".head-view[data-drawn]")
    assert chosen.locator("[data-token=k2]").count() == 0


def test_a_text_of_nothing_but_sinks_is_shown(open_file: Open, tmp_path: Path) -> None:
    one = Attention("decoder", "self", 0, [0], "source", "source", {"weight": np.ones((1, 1, 1), dtype=np.float32)})
    path = View(Content("Hello", {"source": Side.plain(["Hello"])}, [one]), State()).save(tmp_path / "x.html")
    page = open_file(path)
    page.wait_for_selector(".head-view[data-drawn]")
    assert labels(page, "k") == ["Hello"]
    page.select_option("select[name=sinks]", "hidden")
    page.wait_for_selector("text=No token is left: show sinks")
