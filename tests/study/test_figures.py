"""Figures of papers are the same bytes every time, whatever the last bits of what the layout's solver finds."""

from __future__ import annotations

import io
import random
import re
import zlib
from pathlib import Path

import matplotlib as mpl
import pytest
from fontTools.subset import Options
from fontTools.ttLib import TTFont
from matplotlib import layout_engine

from headscope.study.results import figures
from headscope.study.results.fonts import FOR_SETTING
from headscope.study.results.layout import SteadyLayout


def drawn(folder: Path) -> list[bytes]:
    made, axes = figures.figure(2, sharex=True)
    for panel in axes.flat:
        figures.heads_by_layer(panel, [0, 0, 1, 1], [0.1, 0.7, 0.4, 0.2], "heads", "black")
        figures.layer_axis(panel, 2)
        figures.legend(panel)
    figures.say(made, "Two layers of two heads")
    return [path.read_bytes() for path in figures.save(made, folder / "figure")]


def test_the_last_bits_of_a_layout_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver goes through what it solves in the order of memory addresses: its rounding is not the same twice."""
    once = drawn(tmp_path)
    really, chance = layout_engine.do_constrained_layout, random.Random(5)

    def shaken(figure, **settings):
        found = really(figure, **settings)
        for axes in figure.axes:
            places = [part * (1 + chance.uniform(-1, 1) * 1e-13) for part in axes.get_position(original=True).bounds]
            axes._set_position(places)
        return found

    monkeypatch.setattr(layout_engine, "do_constrained_layout", shaken)
    for _ in range(3):
        assert drawn(tmp_path) == once


def test_a_figure_is_laid_out_once_for_both_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out, execute = [], SteadyLayout.execute
    monkeypatch.setattr(SteadyLayout, "execute", lambda self, fig: laid_out.append(fig) or execute(self, fig))
    made, axes = figures.figure(1, 2)
    axes[0, 0].plot([0, 1], [0, 10_000])
    engine = made.get_layout_engine()
    assert [path.suffix for path in figures.save(made, tmp_path / "it")] == [".svg", ".pdf"]
    assert laid_out == [made]
    assert made.get_layout_engine() is engine, "whoever changes the figure after can draw it anew"


def labelled():
    """A figure whose places depend on how wide its letters are; `fi` is a ligature where a font has one."""
    made, axes = figures.figure(1, 2)
    axes[0, 0].plot([0, 1], [0, 10_000])
    axes[0, 0].set_ylabel("fiddles, of 10_000")
    figures.heatmap(axes[0, 1], axes[0, 1].transData.get_matrix(), "fine")
    made.set_dpi(200)
    return made


def test_a_figure_is_laid_out_as_matplotlib_would(tmp_path: Path) -> None:
    svg, _ = figures.save(labelled(), tmp_path / "ours")
    made = labelled()
    with mpl.rc_context(figures._STYLE):
        assert figures.write(made, tmp_path / "theirs.svg").read_bytes() == svg.read_bytes()


def test_saving_leaves_a_figure_and_matplotlib_as_they_were(tmp_path: Path) -> None:
    made, dropped = labelled(), Options().drop_tables
    before = made.dpi, made.canvas, made.get_layout_engine(), mpl.rcParams.copy()
    figures.save(made, tmp_path / "it")
    assert (made.dpi, made.canvas, made.get_layout_engine(), mpl.rcParams.copy()) == before
    assert Options().drop_tables == dropped


def test_what_a_users_own_matplotlib_lays_out_by_itself_changes_nothing(tmp_path: Path) -> None:
    once = [path.read_bytes() for path in figures.save(labelled(), tmp_path / "once")]
    made = labelled()
    with mpl.rc_context({"figure.autolayout": True}):
        assert [path.read_bytes() for path in figures.save(made, tmp_path / "again")] == once


def test_the_fonts_of_a_pdf_have_shapes_and_nothing_for_setting_letters(tmp_path: Path) -> None:
    _, pdf = figures.save(labelled(), tmp_path / "it")
    streams = re.findall(rb"/Length1 \d+.*?stream\r?\n(.*?)\r?\nendstream", pdf.read_bytes(), re.DOTALL)
    fonts = [TTFont(io.BytesIO(zlib.decompress(stream))) for stream in streams]
    assert fonts
    for font in fonts:
        assert "glyf" in font
        assert not set(FOR_SETTING) & set(font.keys())
