"""Heads clicked out of the model and in again on the live page: what is predicted before and after, at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import headscope
from headscope.lens import Lens
from headscope.lens.predictions import Out, predict, similarity
from tests.browser.live_page import FIRST, answered, predicted
from tests.browser.live_server import Server, serving
from tests.browser.waiting import fragment, until
from tests.lens.language_models import language_model, tokenizer_for
from tests.report.samples import SampleRun
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

pytestmark = pytest.mark.xdist_group("browser")

Open = Callable[..., Any]
Shot = Callable[..., Path]
TEXT = "the cats sat on the unbelievable mat"
OTHER = "two dogs and a cat"
SCREENS = {"wide": (1920, 1080), "laptop": (1366, 768), "phone": (390, 844)}


@pytest.fixture(scope="module")
def lenses() -> Iterator[dict[str, Lens]]:
    heads = {"masked": "bert", "next": "gpt2", "fr-en": "marian"}
    opened = {"bert": headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name="bert")}
    opened |= {name: headscope.open(language_model(family), tokenizer_for(family)) for name, family in heads.items()}
    opened["next"].head_means([TEXT, OTHER])
    yield opened
    for lens in opened.values():
        lens.close()


@pytest.fixture(scope="module")
def server(lenses: dict[str, Lens], sample_run: SampleRun) -> Iterator[Server]:
    with serving(lenses, sample_run("bert").folder) as started:
        yield started


def changed(page: Any, heads: str, column: str = FIRST, seconds: float = 30) -> str:
    """What stands in the line without these heads (whole names, commas between them), once it is there."""
    page.wait_for_selector(f"{column} .live-changed[data-changed='{heads}']", timeout=1000 * seconds)
    return str(page.inner_text(f"{column} .live-changed"))


def out(page: Any) -> list[str]:
    return [str(one.get_attribute("data-out")) for one in page.locator(".live-out-head").all()]


def test_a_head_is_taken_out_and_put_back(server: Server, lenses: dict[str, Lens], open_live: Open) -> None:
    page = open_live(server, f"model=next&text={quote(TEXT)}&layer=1&heads=2")
    answered(page)
    predicted(page)
    assert page.locator(".live-out, .live-changed").count() == 0
    page.click("button[name=take-out]:has-text('take 1.2 out')")
    said = changed(page, "decoder self 1.2")
    lens = lenses["next"]
    right = predict(lens, lens.encoder.batch([TEXT]), out=Out(("1.2",)))
    assert right.loss is not None
    assert right.without is not None
    assert right.without.loss is not None
    assert f"loss {right.loss:.2f} → {right.without.loss:.2f}" in " ".join(said.split())
    gap = right.gaps[0]
    likely = sorted(gap.guesses, key=lambda guess: -(guess.without or 0))[:5]
    shown = page.locator(".live-changed .live-guess").all()
    assert [one.locator("bdi").inner_text() for one in shown] == [guess.token for guess in likely]
    for one, guess in zip(shown, likely, strict=True):
        way = one.locator(".from-to").get_attribute("data-way")
        assert way in (("more", "same") if (guess.without or 0) > guess.probability else ("less", "same"))
        assert (one.locator(".way").inner_text() if way != "same" else "") == {"more": "▲", "less": "▼", "same": ""}[way]
    assert float(page.get_attribute(".live-changed .live-guesses", "data-kl")) == pytest.approx(gap.kl)
    assert out(page) == ["decoder self 1.2"]
    assert page.locator(".chip.out").get_attribute("aria-label").endswith("1.2, taken out")
    assert "out=decoder-self-1.2" in fragment(page)
    page.click("button[name=take-out]:has-text('put 1.2 back')")
    until(page, lambda: page.locator(".live-out, .live-changed, .chip.out").count() == 0)
    assert "out=" not in fragment(page)
    page.go_back()
    changed(page, "decoder self 1.2")
    page.reload()
    changed(page, "decoder self 1.2")
    page.click("[data-out]")
    until(page, lambda: page.locator(".live-out").count() == 0)


def test_keys_and_clicks_take_out_what_is_meant(server: Server, open_live: Open) -> None:
    page = open_live(server, f"model=next&text={quote(TEXT)}&layer=0&heads=0,3")
    answered(page)
    page.keyboard.press("x")
    changed(page, "decoder self 0.0,decoder self 0.3")
    page.hover(".chip[data-head='3']")
    page.keyboard.press("x")
    changed(page, "decoder self 0.0")
    page.click(".chip[data-head='2']", modifiers=["Alt"])
    changed(page, "decoder self 0.0,decoder self 0.2")
    assert page.locator(".chip[data-head='2']").get_attribute("aria-pressed") == "false"  # shown or hidden is another matter
    page.click("#tab-model")
    page.click("[data-cell='1.1']", modifiers=["Alt"])
    changed(page, "decoder self 0.0,decoder self 0.2,decoder self 1.1")
    assert page.locator(".model-cell.out").count() == 3
    assert page.locator(".enlarged").count() == 0
    page.hover("[data-cell='0.2']")
    page.keyboard.press("x")
    changed(page, "decoder self 0.0,decoder self 1.1")
    page.click("[data-cell='1.3']")
    page.click(".enlarged button[name=take-out]")
    changed(page, "decoder self 0.0,decoder self 1.1,decoder self 1.3")
    page.click("#tab-matrix")
    page.keyboard.press("x")  # the head that is shown
    changed(page, "decoder self 0.0,decoder self 1.1")
    page.click("button[name=put-back]")
    until(page, lambda: page.locator(".live-out").count() == 0)
    page.click("button[name=keys]")
    assert "out of the model" in page.inner_text(".keys")


def test_means_and_pictures_without_them(server: Server, lenses: dict[str, Lens], open_live: Open) -> None:
    page = open_live(server, f"model=next&text={quote(TEXT)}&layer=1&heads=2&out=decoder-self-0.1")
    answered(page)
    zero = changed(page, "decoder self 0.1")
    assert page.input_value(".live-out select[name=pictures]") == "whole"
    with page.expect_request("**/api/predict") as asked:
        page.select_option(".live-out select[name='in its place']", "mean")
    assert asked.value.post_data_json["how"] == "mean"
    until(page, lambda: changed(page, "decoder self 0.1") != zero)
    with page.expect_request("**/api/read") as read:
        page.select_option(".live-out select[name=pictures]", "without")
    assert read.value.post_data_json["without"] == ["decoder self 0.1"]
    answered(page, 2)
    assert "outDrawn=1" in fragment(page)
    page.select_option("select[name=model]", "bert")
    until(page, lambda: page.locator(".live-out").count() == 0)


def test_two_texts_are_less_alike(server: Server, lenses: dict[str, Lens], open_live: Open) -> None:
    page = open_live(server, f"model=bert&text={quote(TEXT)}&layer=1&out=encoder-self-0.1")
    answered(page)
    assert "vector moves by" in changed(page, "encoder self 0.1")
    page = open_live(
        server, f"model=bert&text={quote(TEXT)}&beside=1&besideText={quote(OTHER)}&layer=0&out=encoder-self-0.1"
    )
    answered(page)
    lens = lenses["bert"]
    said = [changed(page, "encoder self 0.1", column) for column in (FIRST, ".live-column.second")]
    batches = [lens.encoder.batch([text]) for text in (TEXT, OTHER)]
    right = similarity(lens, *batches), similarity(lens, *batches, out=Out(("0.1",)))
    for one in said:
        assert f"{right[0]:.3f} → {right[1]:.3f}" in " ".join(one.split())
    page.keyboard.press("x")  # one key, one answer: the whole layer, though two texts are there
    changed(page, "encoder self 0.0,encoder self 0.1,encoder self 0.2,encoder self 0.3")


def test_a_translation_is_compared_word_by_word(server: Server, lenses: dict[str, Lens], open_live: Open) -> None:
    head = "decoder cross 1.2"
    page = open_live(server, f"model=fr-en&text={quote('a cat')}&out={head.replace(' ', '-')}")
    answered(page)
    changed(page, head)
    lens = lenses["fr-en"]
    found = predict(lens, lens.encoder.batch(["a cat"]), out=Out((head,)))
    assert found.without is not None
    kept = page.evaluate(
        """() => [...document.querySelectorAll(".live-changed bdi > span")].filter((one) => !one.querySelector("del"))
            .map((one) => one.textContent.trim()).join(" ")"""
    )
    assert kept == " ".join(found.without.written.split())


def test_the_card_of_a_head(server: Server, open_live: Open) -> None:
    page = open_live(server, f"model=bert&text={quote(TEXT)}&head=1.2")
    answered(page)
    page.click("button[name=take-out-head]:has-text('Take 1.2 out')")
    changed(page, "encoder self 1.2")
    page.click("button[name=take-out-head]:has-text('Put 1.2 back')")
    until(page, lambda: page.locator(".live-out").count() == 0)


def test_what_cannot_be_predicted_without_them_is_said(server: Server, open_live: Open) -> None:
    page = open_live(server, f"model=masked&text={quote(TEXT)}&out=encoder-self-0.1,encoder-self-7.1,cat")
    answered(page)
    assert "Nothing is predicted that could change" in changed(page, "encoder self 0.1")
    assert out(page) == ["encoder self 0.1"]


# Real models


@pytest.mark.real
@pytest.mark.slow
def test_smollm_without_the_head_that_moves_the_name(smollm: Path, open_live: Open, screenshot: Shot) -> None:
    """Head 23.3 copies the name that comes once; without it, Mary is hardly likelier than John."""
    text = "When John and Mary went to the shops, John gave the bag to"
    with headscope.open(smollm, name="smollm2") as lens, serving({"smollm2": lens}) as server:
        page = open_live(server, f"text={quote(text)}&layer=23&heads=3", width=1366, height=768)
        answered(page, seconds=90)
        assert "Mary" in predicted(page, seconds=60)
        begun = time.perf_counter()
        page.click("button[name=take-out]")
        said = changed(page, "decoder self 23.3", seconds=60)
        seconds = time.perf_counter() - begun
        print(f"\nSmolLM2-135M: from the click to what is predicted without 23.3: {seconds:.2f} s")
        first = page.locator(".live-changed .live-guess").first
        assert first.locator(".from-to").get_attribute("data-way") == "less"
        assert "loss" in said
        batch = lens.encoder.batch([text])
        found = predict(lens, batch, out=Out(("23.3",)))
        (mary,) = [guess for guess in found.gaps[0].guesses if guess.token == "Mary"]
        assert mary.without is not None
        assert mary.probability - mary.without > 0.1
        for name, (width, height) in SCREENS.items():
            for dark in (False, True):
                shown = open_live(server, fragment(page), width=width, height=height, dark=dark, phone=name == "phone")
                answered(shown, seconds=60)
                changed(shown, "decoder self 23.3", seconds=60)
                screenshot(shown, f"without-{name}-{'dark' if dark else 'light'}")
        page.click("#tab-model")
        page.wait_for_selector("[data-view=model] [data-drawn]")
        screenshot(page, "without-model")
        page.keyboard.press("l")
        page.wait_for_selector(".lecture [data-drawn]")
        page.click("body")
        page.keyboard.press("1")
        page.wait_for_selector("[data-view=head] [data-drawn]")
        screenshot(page, "without-lecture")


@pytest.mark.real
def test_minilm_without_a_layer(minilm: Path, open_live: Open, screenshot: Shot) -> None:
    texts = ("A man plays the guitar.", "Someone is playing a guitar.")
    with headscope.open(minilm, name="minilm") as lens, serving({"minilm": lens}) as server:
        page = open_live(server, f"text={quote(texts[0])}&beside=1&besideText={quote(texts[1])}&layer=5")
        answered(page)
        predicted(page)
        begun = time.perf_counter()
        page.click(f"{FIRST} button[name=take-out]:has-text('take layer 5 out')")
        said = changed(page, ",".join(f"encoder self 5.{head}" for head in range(12)))
        print(f"\nMiniLM: from the click to the cosine without layer 5: {time.perf_counter() - begun:.2f} s")
        batches = [lens.encoder.batch([text]) for text in texts]
        right = similarity(lens, *batches), similarity(lens, *batches, out=Out(("5",)))
        assert f"{right[0]:.3f} → {right[1]:.3f}" in " ".join(said.split())
        screenshot(page, "without-alike")
