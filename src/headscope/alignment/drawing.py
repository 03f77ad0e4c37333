"""A drawing of a sentence pair's links: two rows of words with lines between them, and how they differ from gold links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from headscope import colours
from headscope.errors import InputError
from headscope.later import Figure, matplotlib, pd
from headscope.study.results import figures
from headscope.study.results.result import Result
from headscope.text import Document
from headscope.text.links import Links, Pair

SIZE = 8.5  # points of a word
GAP, WIDEST = 8.0, 26.0  # points between words, and at most: the shorter row is spread, so that lines are steep
BETWEEN = 0.95  # inches from the source's words to the target's
ABOVE, BELOW, MARGIN = 0.36, 0.34, 0.12  # inches for the title, for the legend, and at both sides


class Kind(NamedTuple):
    """A kind of line, and what it means."""

    label: str
    colour: str
    dashes: str
    width: float = 1.4


FOUND = Kind("found", colours.BLUE, "-")
RIGHT = Kind("found, as in the gold links", colours.BLUE, "-")
WRONG = Kind("found, not in the gold links", colours.VERMILION, "-")
MISSED = Kind("sure gold link that was not found", colours.FAINT, "--", 0.9)


def check_lines(lines: Sequence[int], corpus: Iterable[Document]) -> None:
    """Lines that there are, from 1."""
    if lines and (count := sum(1 for _ in islice(corpus, max(lines)))) < max(lines):
        raise InputError(f"There is no line {max(lines)} to draw: the texts have {count}.")


def draw_pairs(lines: Sequence[int], corpus: Iterable[Document], links: Iterable[Mapping[Pair, float]]) -> Iterator[Result]:
    """A figure for each of these lines, from 1, with the links that it shows as its table."""
    pairs = islice(zip(corpus, links, strict=True), max(lines, default=0))
    for line, (document, scored) in enumerate(pairs, 1):
        if line in lines:
            title = f"Links of line {line}"
            yield Result(f"links_{line}", title, _table(document, scored), figure=draw_links(document, scored, title))


def draw_links(document: Document, links: Mapping[Pair, float], title: str = "") -> Figure:
    """The source's words above, the target's below, and a line for each link: the paler, the lower its score.

    Where the document has gold links (`alignment`), lines say which were found, and which sure ones were not.
    """
    rows = _rows(document.words or (), document.target_words or ())
    wide = max(right for row in rows for _, right in row) / 72
    lines = list(_lines(links, document.alignment))
    kinds = [kind for kind in (FOUND, RIGHT, WRONG, MISSED) if any(kind is one for _, one, _ in lines)]
    width = max(wide + 2 * MARGIN, 0.3 + sum(0.45 + 0.062 * len(kind.label) for kind in kinds), colours.COLUMN)
    tall = BETWEEN + 2 * SIZE / 72
    height = ABOVE * bool(title) + tall + BELOW
    made, axes = figures.figure(width=width, height=height)
    panel = axes[0, 0]
    made.set_layout_engine(None)  # words stand where they are put, and their row is as wide as it is
    panel.set_position((MARGIN / width, BELOW / height, 1 - 2 * MARGIN / width, tall / height))
    panel.set_xlim(0, 72 * (width - 2 * MARGIN))
    panel.set_ylim(0, 72 * tall)
    panel.set_axis_off()
    heights = (72 * tall - SIZE / 2, SIZE / 2)
    for words, row, y in zip((document.words or (), document.target_words or ()), rows, heights, strict=True):
        for word, (left, right) in zip(words, row, strict=True):
            panel.text((left + right) / 2, y, word, ha="center", va="center", fontsize=SIZE, parse_math=False)
    ends = (heights[0] - 0.8 * SIZE, heights[1] + 0.8 * SIZE)
    for (source, target), kind, alpha in lines:
        xs = [sum(rows[0][source]) / 2, sum(rows[1][target]) / 2]
        drawn: Any = {"color": kind.colour, "linestyle": kind.dashes, "linewidth": kind.width}
        panel.plot(xs, ends, alpha=alpha, solid_capstyle="round", **drawn)
    if title:
        panel.set_title(title, fontsize=SIZE, fontweight="bold", loc="left", pad=10)
    if kinds:
        _legend(panel, kinds)
    return made


def _lines(links: Mapping[Pair, float], gold: Links | None) -> Iterator[tuple[Pair, Kind, float]]:
    """Each line with its kind and how dark it is; what was missed first, so that it lies below."""
    for pair in sorted(gold.sure - links.keys() if gold is not None else ()):
        yield pair, MISSED, 1.0
    for pair, score in sorted(links.items(), key=lambda one: one[1]):
        kind = FOUND if gold is None else RIGHT if pair in gold.possible else WRONG
        yield pair, kind, 0.45 + 0.55 * min(max(score, 0.0), 1.0)


def _rows(*sides: Sequence[str]) -> list[list[tuple[float, float]]]:
    """Where each word of both rows begins and ends, in points; the shorter row is spread, and then put in the middle."""
    widths = [[max(_width(word), 3.0) for word in words] for words in sides]
    longest = max(sum(row) + GAP * (len(row) - 1) for row in widths)
    rows = []
    for row in widths:
        gap = min((longest - sum(row)) / max(len(row) - 1, 1), WIDEST)
        left = (longest - sum(row) - gap * (len(row) - 1)) / 2
        places = []
        for width in row:
            places.append((left, left + width))
            left += width + gap
        rows.append(places)
    return rows


def _width(word: str) -> float:
    """Of a word as it is written, in points."""
    font = matplotlib.font_manager.FontProperties(size=SIZE)
    extents: Any = matplotlib.textpath.TextPath((0, 0), word.replace("$", "S"), prop=font).get_extents()
    return float(extents.width)


def _legend(panel: Any, kinds: Sequence[Kind]) -> None:
    for kind in kinds:
        panel.plot([], [], color=kind.colour, linestyle=kind.dashes, linewidth=kind.width, label=kind.label)
    panel.legend(
        loc="upper left", bbox_to_anchor=(0, -0.07), borderaxespad=0, borderpad=0, ncols=len(kinds), fontsize=7,
        frameon=False, handlelength=1.8, columnspacing=1.4,
    )  # fmt: skip


def _table(document: Document, links: Mapping[Pair, float]) -> pd.DataFrame:
    words, target_words = document.words or (), document.target_words or ()
    rows = [
        {"source": source, "target": target, "score": score, "words": f"{words[source]} - {target_words[target]}"}
        for (source, target), score in sorted(links.items())
    ]
    return pd.DataFrame(rows, columns=["source", "target", "score", "words"])
