"""Two columns of tokens with lines between them: those that attend on the left, those attended to on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.colours import BLUE, FAINT, INK, VERMILION
from headscope.later import matplotlib
from headscope.views.content import Array
from headscope.views.print.sheet import TALLEST, Sheet, fitted, width_of
from headscope.views.print.shown import Mask, Tokens

ROW, TYPE = 0.135, 6.8  # inches from one token to the next, points of their letters
GAP = 0.05  # inches between a token and its lines
SHARES, SHARE = 5.4, 0.24  # points of a percentage, inches that it needs
FAINTEST = 1 / 255  # below this part of the largest, a line leaves no trace on paper
THINNEST, THICKEST = 0.25, 1.5  # points
DOTTED: Any = (0, (1, 1.2))
CHANGED = {"put in": BLUE, "left out": VERMILION}


@dataclass(frozen=True)
class Box:
    """A part of a sheet, in inches."""

    left: float
    top: float
    width: float


@dataclass(frozen=True)
class Ends:
    """Where lines begin and end."""

    left: float
    right: float
    queries: NDArray[np.float64]  # the height of each token that attends
    keys: NDArray[np.float64]


def row_height(tokens: int) -> float:
    """Inches from one token to the next; less than usual where a PDF would be too tall."""
    return min(ROW, TALLEST / max(tokens, 1))


def column_height(queries: int, keys: int) -> float:
    """Inches that both columns take."""
    return max(queries, keys) * row_height(max(queries, keys))


def write_columns(sheet: Sheet, box: Box, tokens: tuple[Tokens, Tokens], bold: tuple[Mask, Mask], colour: str) -> Ends:
    """The labels of those that attend and those attended to, some bold in a colour, and what only one of two texts has in
    that of its sign; long ones are cut, so that lines keep a quarter of the width."""
    sides = tokens[0].labels, tokens[1].labels
    row = row_height(max(map(len, sides)))
    size = TYPE * row / ROW
    room = 0.36 * box.width
    widths = [min(room, max(width_of(label, size, "bold") for label in labels)) for labels in sides]
    left, right = box.left + widths[0], box.left + box.width - widths[1]
    queries, keys = (np.asarray(box.top + row * (np.arange(len(labels)) + 0.5), dtype=np.float64) for labels in sides)
    for x, aligned, side, heights, marked in zip(
        (left, right), ("right", "left"), tokens, (queries, keys), bold, strict=True
    ):
        for label, change, y, stands_out in zip(side.labels, side.changes, heights, marked, strict=True):
            weight, ink = ("bold", colour) if stands_out else ("normal", CHANGED.get(change, INK))
            sheet.text(x, y, fitted(label, size, room, weight), size, weight=weight, ha=aligned, color=ink)
    return Ends(left + GAP, right - GAP, queries, keys)


def write_shares(sheet: Sheet, left: float, ends: Ends, shares: Array) -> None:
    """Beside the tokens that attend: what each gives to sinks, which are not shown."""
    size = SHARES * row_height(max(len(ends.queries), len(ends.keys))) / ROW
    for share, y in zip(shares.tolist(), ends.queries, strict=True):
        sheet.text(left, y, share_said(share), size, color=FAINT).set_gid("on sinks")


def share_said(share: float) -> str:
    """A share as it stands beside a row.

    >>> share_said(0.744), share_said(0.0961), share_said(0.0)
    ('74%', '9.6%', '0%')
    """
    return f"{100 * share:.1f}%" if 0 < share < 0.0995 else f"{100 * share:.0f}%"


def write_directions(sheet: Sheet, box: Box, ends: Ends) -> None:
    """Which side is which, above the columns."""
    sheet.text(ends.left - GAP, box.top - 0.06, "from", 6, ha="right", color=FAINT, style="italic")
    sheet.text(ends.right + GAP, box.top - 0.06, "to", 6, color=FAINT, style="italic")


def draw_lines(
    sheet: Sheet,
    ends: Ends,
    shares: Array,
    colours: Sequence[str],
    *,
    negative: Mask | None = None,
    below: str | None = None,
    scale: float = 1,
    spread: float = 0,
) -> matplotlib.collections.LineCollection:
    """A line for every pair: (head, query, key) parts of the largest become opacity and width; one colour a head.

    The strongest are drawn last, over all others. Negative scores are dotted, in the colour `below` if there is one. Lines
    of several heads between the same two tokens are spread over `spread` inches, so that none hides the others.
    """
    which, rows, columns = np.nonzero(shares >= FAINTEST)
    order = np.argsort(shares[which, rows, columns], kind="stable")
    which, rows, columns = which[order], rows[order], columns[order]
    parts = shares[which, rows, columns].astype(np.float64)
    aside = spread * ((which + 0.5) / len(colours) - 0.5)
    points = np.empty((len(parts), 2, 2))
    points[:, 0, 0], points[:, 1, 0] = ends.left, ends.right
    points[:, 0, 1], points[:, 1, 1] = ends.queries[rows] + aside, ends.keys[columns] + aside
    ink = np.array([matplotlib.colors.to_rgb(colour) for colour in colours]).reshape(-1, 3)[which]
    is_below = np.zeros(len(parts), dtype=bool) if negative is None else negative[which, rows, columns]
    if below is not None:
        ink[is_below] = matplotlib.colors.to_rgb(below)
    lines = matplotlib.collections.LineCollection(
        list(points),
        colors=np.column_stack([ink, parts]),
        linewidths=scale * (THINNEST + (THICKEST - THINNEST) * parts),
        linestyles=[DOTTED if one else "solid" for one in is_below] or "solid",
        capstyle="butt",
    )
    sheet.axes.add_collection(lines, autolim=False)
    return lines
