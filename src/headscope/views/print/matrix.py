"""The matrix for print: a heat map with tokens on both axes; two measures, or two texts, and their difference beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from headscope.colours import COLUMN, FAINT, INK
from headscope.later import Figure
from headscope.views.content import Array, Content
from headscope.views.joint_maps import End
from headscope.views.print.columns import CHANGED, SHARES, share_said
from headscope.views.print.header import HEAD, compared, measure_name, notes_height, notes_of, where, write_head, write_notes
from headscope.views.print.sheet import FULL, MARGIN, Sheet, fitted, width_of
from headscope.views.print.shown import Shown, Tokens, attention_of, choose, shown
from headscope.views.print.thinning import thinned
from headscope.views.state import Scale, State

DOTS = 512  # along each side: more tokens than this are thinned
TYPE, PITCH = 6.2, 0.1  # points of a label, inches that it needs
COLUMN_TOKENS = 22  # up to here one map fits a column
LONGEST = 0.8  # inches of a label
GAP, SCALE = 0.12, 0.22  # inches between maps, and below them for what the colours mean
DECADES = 3  # powers of ten that a logarithmic scale has: what is smaller is drawn as nothing
ENDS = 0.24  # inches behind a row


@dataclass(frozen=True)
class Panel:
    """One heat map."""

    title: str
    numbers: Array  # query key
    signed: bool
    least: float = 0.0  # what the scale reaches at least
    scale: Scale = "linear"
    on_sinks: Array | None = None  # query: the share of each row on sinks that are not shown; None for a difference

    @property
    def most(self) -> float:
        return max(float(np.abs(self.numbers).max(initial=0)), self.least) or 1.0

    @property
    def drawn(self) -> tuple[Array, float]:
        """(query, key) on the scale of its colours, and what the darkest of them stands for there."""
        if self.scale == "linear":
            return self.numbers, self.most
        return on_scale(self.numbers, self.scale, self.most), 1.0


def on_scale(scores: Array, scale: Scale, most: float) -> Array:
    """(query, key) -> from -1 to 1: parts of each row's own largest; or by powers of ten, from a thousandth of `most` on.

    >>> on_scale(np.float32([[1, 0.5], [0.01, 0]]), "row", 1.0).tolist()
    [[1.0, 0.5], [1.0, 0.0]]
    >>> on_scale(np.float32([[1, 0.1, 0.001]]), "log", 1.0).round(2).tolist()
    [[1.0, 0.6700000166893005, 0.0]]
    """
    sizes = np.abs(scores)
    largest = sizes.max(axis=1, keepdims=True, initial=0) if scale == "row" else np.full((len(sizes), 1), most)
    parts = np.divide(sizes, largest, out=np.zeros_like(sizes), where=largest > 0)
    if scale == "log":
        parts = np.clip(1 + np.log10(np.maximum(parts, 1e-30)) / DECADES, 0, 1)
    return np.copysign(parts, scores).astype(np.float32)


def figure(content: Content, state: State) -> Figure:
    """One row of maps for each chosen head: the measure, and with `compare` the other one and their difference; of two that
    are compared, both and their difference."""
    attention = attention_of(content, state)
    heads = list(state.heads) if state.heads else attention.heads[:1]
    found = shown(content, state, attention, heads)
    other = shown(content, state, attention, heads, state.compare) if state.compare else None
    count = max(len(found.heads), len(other.heads) if other else 0)
    if found.difference:
        both = [shown(content, replace(state, of=end), attention, heads) for end in get_args(End)]
        rows = [_panels_of_two(found, both, place, state.scale) for place in range(count)]
    else:
        rows = [_panels(state, found, other, place) for place in range(count)]
    tokens = max(len(found.queries), len(found.keys))
    width = COLUMN if len(rows[0]) == 1 and tokens <= COLUMN_TOKENS else FULL
    beside, above = _label_room(found.queries.labels), _label_room(found.keys.labels)
    across = len(rows[0])
    ends = ENDS if found.hidden > 0 else 0.0  # what each row gives to sinks stands behind it
    room = (width - 2 * MARGIN - beside - GAP * (across - 1)) / across - ends
    cell = min(room / len(found.keys), 0.32)
    side, tall = cell * len(found.keys), max(cell * len(found.queries), 0.1)
    notes = notes_of(content, [*_notes(found, other), *compared(content, found)], width)
    step = 0.15 + above + tall + SCALE
    sheet = Sheet(width, HEAD + step * len(rows) + notes_height(notes), content.title)
    write_head(sheet, where(content, attention))
    for line, panels in enumerate(rows):
        top = HEAD + step * line + 0.15 + above
        _write_labels(sheet, found.queries, MARGIN + beside, top, cell)
        for place, panel in enumerate(panels):
            left = MARGIN + beside + place * (side + ends + GAP)
            sheet.text(left, HEAD + step * line + 0.06, fitted(panel.title, 6.8, side + GAP, "bold"), 6.8, weight="bold")
            _write_labels(sheet, found.keys, left, top, cell, above=True)
            box = (left, top, side, tall)
            drawn, full = panel.drawn
            sheet.image(thinned(drawn, DOTS), box, full, panel.signed).set_gid(f"map {line} {place}")
            sheet.frame(box, FAINT, 0.5)
            if ends and panel.on_sinks is not None:
                _write_shares(sheet, panel.on_sinks, left + side, top, cell)
            _draw_scale(sheet, panel, left, top + tall + 0.07, side)
    write_notes(sheet, notes)
    return sheet.figure


def _panels(state: State, found: Shown, other: Shown | None, place: int) -> list[Panel]:
    panels = [_panel(found, place, state.scale)]
    if other is not None:
        first, second = found.of_rows[min(place, len(found.heads) - 1)], other.of_rows[min(place, len(other.heads) - 1)]
        title = f"{measure_name(other.measure)} − {measure_name(found.measure)}, shares of the row"
        apart = second - first
        drawn = choose(apart[None], state.top, state.least)[0]  # as in a page: the largest differences
        panels += [_panel(other, place, state.scale), Panel(title, np.where(drawn, apart, 0), True, scale=state.scale)]
    return panels


def _panels_of_two(found: Shown, both: list[Shown], place: int, scale: Scale) -> list[Panel]:
    """A and B on one scale, and B less A."""
    panels = [_panel(one, place, scale) for one in both]
    most = max(panel.most for panel in panels)
    return [*(replace(panel, least=most) for panel in panels), _panel(found, place, scale)]


def _panel(found: Shown, place: int, scale: Scale) -> Panel:
    at = min(place, len(found.heads) - 1)  # all heads together stand beside each head
    numbers = np.where(found.drawn[at], found.scores[at], 0)
    label = found.labels[at] if found.joint else f"head {found.labels[at]}"
    on_sinks = replace(found, totals=found.totals[[at]], on_sinks=found.on_sinks[[at]]).hidden_of_rows
    hidden = None if found.difference else on_sinks
    return Panel(f"{label}, {found.name}", numbers, found.signed, scale=scale, on_sinks=hidden)


def _label_room(labels: Sequence[str]) -> float:
    return min(LONGEST, max(width_of(label, TYPE, "bold") for label in labels)) + 0.05


def _write_labels(sheet: Sheet, tokens: Tokens, left: float, top: float, cell: float, *, above: bool = False) -> None:
    """Beside the rows of a map, or upright above its columns; only every so many-th label has room."""
    options: Any = {"rotation": 90, "rotation_mode": "anchor", "ha": "left", "va": "center"} if above else {"ha": "right"}
    for place in range(0, len(tokens), max(1, math.ceil(PITCH / cell - 1e-9))):
        weight = "bold" if tokens.kept[place] else "normal"
        label, along = fitted(tokens.labels[place], TYPE, LONGEST, weight), (place + 0.5) * cell
        x, y = (left + along, top - 0.04) if above else (left - 0.04, top + along)
        sheet.text(x, y, label, TYPE, weight=weight, color=CHANGED.get(tokens.changes[place], INK), **options)


def _write_shares(sheet: Sheet, shares: Array, left: float, top: float, cell: float) -> None:
    """Behind every so many-th row, as its label stands before it."""
    for place in range(0, len(shares), max(1, math.ceil(PITCH / cell - 1e-9))):
        said = share_said(float(shares[place]))
        sheet.text(left + 0.03, top + (place + 0.5) * cell, said, SHARES, color=FAINT).set_gid("on sinks")


def _draw_scale(sheet: Sheet, panel: Panel, left: float, top: float, side: float) -> None:
    """What the colours mean, as a strip with both ends named."""
    ends = {
        "linear": (f"{-panel.most if panel.signed else 0:.2g}", f"{panel.most:.2g}"),
        "row": ("−1" if panel.signed else "0", "largest of its row"),
        "log": (
            f"−{panel.most:.2g}" if panel.signed else f"{panel.most / 10**DECADES:.2g}",
            f"{panel.most:.2g}, by powers of ten",
        ),
    }
    low, high = ends[panel.scale]
    wide = min(0.9, 0.5 * side)
    start = left + width_of(low, 5.8) + 0.04
    sheet.image(np.linspace(-1 if panel.signed else 0, 1, 64)[None], (start, top, wide, 0.06), 1.0, panel.signed)
    sheet.text(left, top + 0.03, low, 5.8, color=FAINT)
    sheet.text(start + wide + 0.04, top + 0.03, high, 5.8, color=FAINT)


def _notes(found: Shown, other: Shown | None) -> list[str]:
    behind = " Behind each row stands what it gives to sinks." if found.hidden > 0 else ""
    said = [f"Rows attend, columns are attended to.{behind}", *found.notes()]
    if other is not None and found.hidden > 0:
        said += other.notes()
    if other is not None:
        signs = " without signs" if found.signed or other.signed else ""
        said.append(f"The difference is of shares: each row divided by its sum{signs}, since norms do not add up to 1.")
    size = math.ceil(max(len(found.queries), len(found.keys)) / DOTS)
    if size > 1:
        said.append(f"Each dot is the largest of {size} × {size} pairs of tokens.")
    return said
