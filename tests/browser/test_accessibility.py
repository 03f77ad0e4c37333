"""axe-core over every page, as it is, dark, and as wide as a phone: no rule is broken, best practices among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import headscope
from headscope.heads.exemplars import add_exemplars
from headscope.lens import Lens
from headscope.report import write_report
from headscope.text import Corpus
from tests.browser.live_page import write
from tests.browser.live_server import Server, serving
from tests.browser.waiting import until
from tests.lens.language_models import documents, language_model, lens_for, tokenizer_for
from tests.report.samples import SampleRun
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]

Open = Callable[..., Any]
Check = Callable[[Any], None]
TEXT = "the cats sat on the unbelievable mat"
OTHER = "two dogs and a cat"
VIEWS = ("head", "model", "neuron", "matrix")


@pytest.fixture(scope="module")
def axe(modules: Path) -> str:
    return (modules / "axe-core" / "axe.min.js").read_text("utf-8")


@pytest.fixture
def check(axe: str) -> Check:
    """check(page): no violation in the page as it is, dark, light again, and as wide as a phone."""

    def no_violation(page: Any) -> None:
        wide = page.viewport_size
        for dark, size in ((False, wide), (True, wide), (True, PHONE), (False, PHONE)):
            page.emulate_media(color_scheme="dark" if dark else "light")
            page.set_viewport_size(size)
            page.wait_for_timeout(60)
            broken = violations(page, axe)
            assert broken == [], f"{'dark' if dark else 'light'}, {size['width']} wide: {broken}"
        page.set_viewport_size(wide)

    return no_violation


PHONE = {"width": 390, "height": 844}


def violations(page: Any, axe: str) -> list[str]:
    """What axe finds, with every rule that it has, experimental ones too, but those of level AAA."""
    page.evaluate(f"() => {{ {axe} }}")
    found = page.evaluate(
        """async () => {
            const known = axe.getRules().map(({ ruleId, tags }) => [ruleId, { enabled: !tags.includes("wcag2aaa") }]);
            const rules = Object.fromEntries(known);
            const { violations } = await axe.run(document, { rules, resultTypes: ["violations"] });
            return violations.map(({ id, nodes }) => [id, nodes.map((node) => [node.html, node.any[0]?.message])]);
        }"""
    )
    return [f"{rule}: {len(nodes)} of {nodes[0][0][:200]} ({nodes[0][1]})" for rule, nodes in found]


@pytest.fixture(scope="module")
def lenses() -> Iterator[dict[str, Lens]]:
    with (
        headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"), name="bert") as bert,
        headscope.open(tiny("marian"), tiny_tokenizer("bpe"), name="fr-en") as marian,
    ):
        yield {"bert": bert, "fr-en": marian}


@pytest.fixture(scope="module")
def run(lenses: dict[str, Lens], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with everything that a card can have, and its corpus in a file."""
    folder = tmp_path_factory.mktemp("live")
    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join(["the cat sat on the mat", OTHER, "one unbelievable end , the end ."]))
    counted = headscope.study(
        lenses["bert"], Corpus.of(corpus), ["entropy", "distance", "jensen_shannon", "exemplars"], out=folder / "run"
    )
    add_exemplars(lenses["bert"], counted, Corpus.of(corpus))
    return folder / "run"


@pytest.fixture(scope="module")
def server(lenses: dict[str, Lens], run: Path) -> Iterator[Server]:
    with serving(lenses, run) as started:
        yield started


def test_a_violation_is_found(axe: str, open_file: Open, tmp_path: Path) -> None:
    page = open_file(headscope.head_view(tokens=["a", "b"], scores=[[1, 0], [0.5, 0.5]]).save(tmp_path / "x.html"))
    planted = {
        "button-name": "<button></button>",
        "color-contrast": "<p>too faint to read</p>",
        "landmark-no-duplicate-main": "<main></main>",
        "label-content-name-mismatch": "<button aria-label='one'>another thing</button>",
    }
    for rule, html in planted.items():
        page.evaluate("(html) => document.querySelector('#app').insertAdjacentHTML('beforeend', html)", html)
        page.evaluate("document.querySelector('#app').lastElementChild.style.color = 'var(--line)'")
        found = violations(page, axe)
        assert any(one.startswith(rule) for one in found), (rule, found)
        page.evaluate("document.querySelector('#app').lastElementChild.remove()")


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_of_a_view(view: str, lenses: dict[str, Lens], open_file: Open, tmp_path: Path, check: Check) -> None:
    path = headscope.head_view(lenses["bert"].read(TEXT, pair=OTHER)).save(tmp_path / "view.html")
    page = open_file(path, f"view={view}")
    page.wait_for_selector(f"[data-view={view}] [data-drawn]")
    check(page)
    page.click("button[name=keys]")
    check(page)
    chosen = open_file(path, f"view={view}&layer=1&heads=2&keep=q2,k3&sinks=hidden&compare=norm")
    chosen.wait_for_selector(f"[data-view={view}] [data-drawn]")
    check(chosen)


def test_numbers_of_many_heads(open_file: Open, tmp_path: Path, check: Check) -> None:
    """A table that is wider than its room can be scrolled with keys."""
    scores = np.random.default_rng(0).dirichlet(np.ones(6), size=(1, 20, 6))
    path = headscope.head_view(tokens=list("abcdef"), scores=scores).save(tmp_path / "view.html")
    page = open_file(path, f"keep=q2,k3&heads={','.join(map(str, range(20)))}")
    page.wait_for_selector("[data-drawn]")
    wide = page.locator(".targets-scroll").first.evaluate("(one) => one.scrollWidth - one.clientWidth")
    assert wide > 0
    check(page)


def test_pages_with_nothing_to_show(open_file: Open, tmp_path: Path, check: Check) -> None:
    path = headscope.head_view(tokens=["[A]"], scores=[[1.0]], special=[True]).save(tmp_path / "view.html")
    for view in VIEWS:
        check(open_file(path, f"view={view}&sinks=hidden"))


def test_a_translation(lenses: dict[str, Lens], open_file: Open, tmp_path: Path, check: Check) -> None:
    path = headscope.head_view(lenses["fr-en"].read(TEXT, target=OTHER)).save(tmp_path / "view.html")
    for view in VIEWS:
        page = open_file(path, f"view={view}&attention=decoder%20cross")
        page.wait_for_selector(f"[data-view={view}] [data-drawn]")
        check(page)


def check_report(page: Any, parts: tuple[str, ...], check: Check) -> None:
    for part in parts:
        page.click(f"#tab-{part}")
        page.wait_for_selector(f'.part[data-part="{part}"]')
        check(page)


def test_a_report_and_its_cards(sample_run: SampleRun, open_file: Open, tmp_path: Path, check: Check) -> None:
    page = open_file(write_report(sample_run("bert").folder, out=tmp_path / "report.html"))
    check_report(page, ("heads", "tables", "run"), check)
    page = open_file(tmp_path / "report.html", "head=1.2&by=entropy.entropy&order=value")
    page.wait_for_selector(".card-panel")
    check(page)
    for summary in page.locator(".card-panel summary").all():
        summary.click()
    page.click(".explained >> nth=0")
    check(page)


def test_a_report_of_odd_texts_and_one_of_two_runs(plain: Path, two: Path, open_file: Open, check: Check) -> None:
    check_report(open_file(plain / "report.html", "head=0.1"), ("tables", "figures"), check)
    check_report(open_file(two, "head=0.1"), ("tables", "run", "heads"), check)
    check(open_file(two, "by=entropy.entropy&run=difference&head=1.1"))


@pytest.mark.real
def test_the_demos_report(demo: Path, open_file: Open, check: Check) -> None:
    """Six layers of twelve real heads: roles of every family, with their marks."""
    check_report(open_file(demo / "report.html"), ("heads", "tables"), check)
    check(open_file(demo / "report.html", "head=2.8"))


def test_the_live_page(server: Server, open_live: Open, check: Check) -> None:
    page = open_live(server)
    check(page)
    for view in VIEWS:
        page = open_live(server, f"text={quote(TEXT)}&view={view}")
        page.wait_for_selector(f"[data-view={view}] [data-drawn]")
        check(page)
    page = open_live(server, f"text={quote(TEXT)}&beside=1&besideText={quote(OTHER)}&keep=q1&besideKeep=q2&sinks=hidden")
    page.wait_for_selector(".second [data-drawn]")
    check(page)
    page = open_live(server, f"model=fr-en&text={quote(TEXT)}&target={quote(OTHER)}&attention=decoder%20cross")
    page.wait_for_selector("[data-drawn]")
    page.wait_for_selector("[data-predicted=true]")
    check(page)
    page.click("button[name=edit]")
    check(page)


@pytest.mark.parametrize("model", ["bert", "fr-en", "masked", "next"])
def test_what_models_predict(model: str, lenses: dict[str, Lens], open_live: Open, check: Check) -> None:
    """And lectures, also without some heads."""
    more = {name: headscope.open(language_model(family), tokenizer_for(family)) for name, family in HEADS.items()}
    with serving({**lenses, **more}) as server:
        for text in (TEXT, "the [MASK] sat"):
            page = open_live(server, f"model={model}&text={quote(text)}")
            page.wait_for_selector("[data-drawn]")
            page.wait_for_selector("[data-predicted=true]")
            check(page)
        out = f"{OUT[model]}-0.1,{OUT[model]}-1.2"
        page = open_live(
            server,
            f"model={model}&text={quote('the [MASK] sat')}&layer=0&attention={OUT[model].replace('-', '%20')}&out={out}",
        )
        page.wait_for_selector("[data-drawn]")
        page.wait_for_selector(".live-changed[data-changed*='1.2']")
        check(page)
        page.keyboard.press("l")
        page.wait_for_selector(".lecture [data-drawn]")
        check(page)
        page = open_live(server, f"model={model}&text={quote('the [MASK] sat')}&view=model&out={out}")
        page.wait_for_selector(".model-cell.out, [data-drawn]")
        check(page)
    for lens in more.values():
        lens.close()


HEADS = {"masked": "bert", "next": "gpt2"}
OUT = {"bert": "encoder-self", "masked": "encoder-self", "next": "decoder-self", "fr-en": "encoder-self"}


def test_the_live_pages_of_a_run(server: Server, open_live: Open, check: Check) -> None:
    for part in ("heads", "tables", "run"):
        page = open_live(server, f"part={part}&head=1.2")
        page.wait_for_selector(f".report[data-part={part}]", timeout=30_000)
        page.wait_for_selector(".exemplars li", timeout=30_000)
        check(page)
    page = open_live(server, f"text={quote(TEXT)}&head=1.2&layer=1")
    page.wait_for_selector(".live-heads", timeout=30_000)
    check(page)


def test_pages_of_what_goes_wrong(lenses: dict[str, Lens], open_live: Open, check: Check) -> None:
    server = Server(lenses, max_tokens=8)
    page = open_live(server, f"text={quote(' '.join([TEXT] * 9))}", refused=("status of 422", "ERR_CONNECTION_REFUSED"))
    page.wait_for_selector(".live-notice.problem")
    check(page)
    page.click("button[name=truncate]")
    page.wait_for_selector("[data-drawn]")
    check(page)
    server.stop()
    write(page, OTHER)
    until(page, lambda: "does not answer" in page.inner_text(".live-notice"))
    check(page)


def test_a_server_that_wants_a_token(lenses: dict[str, Lens], browser: Any, axe: str) -> None:
    with serving(lenses, token="a-token-for-the-tests") as server:
        page = browser.new_page()
        page.goto(server.address)
        assert "token" in page.inner_text("body")
        assert violations(page, axe) == []
        page.close()


@pytest.mark.parametrize("several", [False, True])
def test_the_league(several: bool, open_file: Open, check: Check, tmp_path: Path) -> None:
    """Its standings, scatter and curves, tokens and idle heads; or two models side by side."""
    lenses = [lens_for("gpt2"), lens_for("llama")] if several else lens_for("gpt2")
    run = headscope.league(lenses, documents("gpt2"), how="zero", orders=2, tokens=1, curve_texts=2, out=tmp_path / "run")
    page = open_file(run.report(), width=1400, height=1000)
    page.wait_for_selector(".models" if several else ".curves .band")
    check(page)
