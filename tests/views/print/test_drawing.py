"""Figures as files: the same bytes every time, text that stays text whatever it is, sizes that fit a paper."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from headscope.colours import COLUMN
from headscope.errors import InputError
from headscope.views.print import attention_map, draw, figure_bytes
from headscope.views.print.sheet import FULL, fitted, printable, width_of
from headscope.views.state import VIEWS, State
from tests.views.print.contents import plain_content, random_content

STRANGE = ["$x_1$", "a_b^c", "\\frac", "<script>", "&amp;", "\"'", "🙂", "猫", "مرحبا", "שלום", "$", "%", "#{}"]
CONTROLS = {"a\x00b": "a␀b", "\x1b[0m": "␛[0m", "\n": "⏎", "\uffff": "<U+FFFF>", "\u202eabc": "<U+202E>abc", " ": "␣"}


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """Nothing is printed, also where no font has a letter."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def texts(svg: bytes) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_same_bytes_every_time(view: str, kind: str) -> None:
    state = State(view=view, least=0.1)
    first, second = (figure_bytes(draw(random_content(), state), kind) for _ in range(2))
    assert first == second
    assert first.startswith({"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[kind])


@pytest.mark.slow
def test_same_bytes_in_another_process() -> None:
    code = (
        "import sys; from headscope.views.print import draw, figure_bytes; from headscope.views.state import State;"
        "from tests.views.print.contents import plain_content;"
        "figure = draw(plain_content(['猫', 'a', '<b>']), State());"
        "sys.stdout.buffer.write(b''.join(figure_bytes(figure, kind) for kind in ('svg', 'pdf', 'png')))"
    )
    command = [sys.executable, "-c", code]
    made = [
        subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    ]
    assert made[0] == made[1] != b""


@pytest.mark.parametrize("view", ["head", "neuron", "matrix"])
def test_tokens_are_text(view: str) -> None:
    tokens = [*STRANGE, *CONTROLS]
    svg = figure_bytes(draw(plain_content(tokens), State(view=view)), "svg")
    written = texts(svg)
    for token in [*STRANGE, *CONTROLS.values()]:
        assert token in written
    assert b"<script" not in svg
    for kind in ("pdf", "png"):
        assert figure_bytes(draw(plain_content(tokens), State(view=view)), kind)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_which_model_has_read_which_text(view: str) -> None:
    content = replace(random_content(), title="The unreal cat …", model="a-model")
    assert "a-model · The unreal cat …" in texts(figure_bytes(draw(content, State(view=view)), "svg"))
    long = draw(replace(content, title="word " * 90), State(view=view))  # one line, however long the text is
    assert long.get_size_inches().tolist() == draw(content, State(view=view)).get_size_inches().tolist()


def test_an_attention_map_says_it_too() -> None:
    content = replace(random_content(), title="The unreal cat …", model="a-model")
    assert "a-model · The unreal cat …" in texts(figure_bytes(attention_map(content, 0, 1), "svg"))


def test_titles_are_text() -> None:
    content = replace(random_content(), title="$\\bad</title><script>\x00")
    svg = figure_bytes(draw(content, State()), "svg")
    ElementTree.fromstring(svg)
    assert b"<script" not in svg
    assert figure_bytes(draw(content, State()), "pdf")


def test_pdf_has_its_fonts() -> None:
    pdf = figure_bytes(draw(random_content(), State()), "pdf")
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert b"/CreationDate" not in pdf


@pytest.mark.parametrize("count", [2, 9, 30, 60])
@pytest.mark.parametrize("view", VIEWS)
def test_everything_is_on_the_sheet(view: str, count: int) -> None:
    """No label sticks out."""
    content = plain_content([f"token{place}" for place in range(count)], heads=tuple(range(8)), size=64)
    figure = draw(content, State(view=view, compare="norm" if view == "matrix" else ""))
    width, height = figure.get_size_inches()
    assert width in (COLUMN, FULL)
    renderer = FigureCanvasAgg(figure).get_renderer()
    for text in figure.axes[0].texts:
        box = text.get_window_extent(renderer)
        inches = [edge / figure.dpi for edge in (box.x0, box.x1, box.y0, box.y1)]
        assert -0.01 <= inches[0] < inches[1] <= width + 0.01, text.get_text()
        assert -0.02 <= inches[2] < inches[3] <= height + 0.02, text.get_text()


def test_figures_grow_with_the_text() -> None:
    heights = [draw(plain_content(["a"] * count), State()).get_size_inches()[1] for count in (10, 20, 40)]
    assert heights[2] - heights[1] == pytest.approx(2 * (heights[1] - heights[0]))
    assert draw(plain_content(["a"] * 1600, layers=1, heads=(0,)), State(top=1)).get_size_inches()[1] <= 200


def test_labels_are_cut_to_their_room() -> None:
    assert fitted("short", 7, 2) == "short"
    cut = fitted("W" * 100, 7, 0.5)
    assert cut.endswith("…")
    assert width_of(cut, 7) <= 0.5
    assert len(cut) > 3
    assert printable("") == ""


def test_unknown_kind_and_choices() -> None:
    figure = draw(random_content(), State())
    with pytest.raises(InputError, match="svg, pdf, png"):
        figure_bytes(figure, "gif")
    with pytest.raises(InputError, match="There is no layer"):
        draw(random_content(), State(layer=9))
