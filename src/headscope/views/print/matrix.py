"""The matrix for print: a heat map with tokens on both axes; two measures, or two texts, and their difference beside it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from matplotlib.figure import Figure

from headscope.colours import COLUMN, FAINT, INK
from headscope.views.content import Array, Content
from headscope.views.joint_maps import End
from headscope.views.print.columns import CHANGED
from headscope.views.print.header import HEAD, compared, measure_name, notes_height, notes_of, where, write_head, write_notes
from headscope.views.print.sheet import FULL, MARGIN, Sheet, fitted, width_of
from headscope.views.print.shown import Shown, Tokens, attention_of, choose, shown
from headscope.views.print.thinning import thinned
from headscope.views.state import State

DOTS = 512  # along each side: more tokens than this are thinned
TYPE, PITCH = 6.2, 0.1  # points of a label, inches that it needs
COLUMN_TOKENS = 22  # up to here one map fits a column
LONGEST = 0.8  # inches of a label
GAP, SCALE = 0.12, 0.22  # inches between maps, and below them for what the colours mean


@dataclass(frozen=True)
class Panel:
    """One heat map."""

    title: str
    numbers: Array  # query key
    signed: bool
    least: float = 0.0  # what the scale reaches at least

    @property
    def most(self) -> float:
        return max(float(np.abs(self.numbers).max(initial=0)), self.least) or 1.0


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
        rows = [_panels_of_two(found, both, place) for place in range(count)]
    else:
        rows = [_panels(state, found, other, place) for place in range(count)]
    tokens = max(len(found.queries), len(found.keys))
    width = COLUMN if len(rows[0]) == 1 and tokens <= COLUMN_TOKENS else FULL
    beside, above = _label_room(found.queries.labels), _label_room(found.keys.labels)
    across = len(rows[0])
    room = (width - 2 * MARGIN - beside - GAP * (across - 1)) / across
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
            left = MARGIN + beside + place * (side + GAP)
            sheet.text(left, HEAD + step * line + 0.06, fitted(panel.title, 6.8, side + GAP, "bold"), 6.8, weight="bold")
            _write_labels(sheet, found.keys, left, top, cell, above=True)
            box = (left, top, side, tall)
            sheet.image(thinned(panel.numbers, DOTS), box, panel.most, panel.signed).set_gid(f"map {line} {place}")
            sheet.frame(box, FAINT, 0.5)
            _draw_scale(sheet, panel, left, top + tall + 0.07, side)
    write_notes(sheet, notes)
    return sheet.figure


def _panels(state: State, found: Shown, other: Shown | None, place: int) -> list[Panel]:
    panels = [_panel(found, place)]
    if other is not None:
        first, second = found.of_rows[min(place, len(found.heads) - 1)], other.of_rows[min(place, len(other.heads) - 1)]
        title = f"{measure_name(other.measure)} − {measure_name(found.measure)}, shares of the row"
        apart = second - first
        drawn = choose(apart[None], state.top, state.least)[0]  # as in a page: the largest differences
        panels += [_panel(other, place), Panel(title, np.where(drawn, apart, 0), True)]
    return panels


def _panels_of_two(found: Shown, both: list[Shown], place: int) -> list[Panel]:
    """A and B on one scale, and B less A."""
    panels = [_panel(one, place) for one in both]
    most = max(panel.most for panel in panels)
    return [*(replace(panel, least=most) for panel in panels), _panel(found, place)]


def _panel(found: Shown, place: int) -> Panel:
    at = min(place, len(found.heads) - 1)  # all heads together stand beside each head
    numbers = np.where(found.drawn[at], found.scores[at], 0)
    label = found.labels[at] if found.joint else f"head {found.labels[at]}"
    return Panel(f"{label}, {found.name}", numbers, found.signed)


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


def _draw_scale(sheet: Sheet, panel: Panel, left: float, top: float, side: float) -> None:
    """What the colours mean, as a strip with both ends named."""
    low, high = -panel.most if panel.signed else 0.0, panel.most
    wide = min(0.9, 0.5 * side)
    start = left + width_of(f"{low:.2g}", 5.8) + 0.04
    sheet.image(np.linspace(low, high, 64)[None], (start, top, wide, 0.06), panel.most, panel.signed)
    sheet.text(left, top + 0.03, f"{low:.2g}", 5.8, color=FAINT)
    sheet.text(start + wide + 0.04, top + 0.03, f"{high:.2g}", 5.8, color=FAINT)


def _notes(found: Shown, other: Shown | None) -> list[str]:
    said = ["Rows attend, columns are attended to.", *found.notes()]
    if other is not None and found.hidden > 0:
        said += other.notes()
    if other is not None:
        signs = " without signs" if found.signed or other.signed else ""
        said.append(f"The difference is of shares: each row divided by its sum{signs}, since norms do not add up to 1.")
    size = math.ceil(max(len(found.queries), len(found.keys)) / DOTS)
    if size > 1:
        said.append(f"Each dot is the largest of {size} × {size} pairs of tokens.")
    return said
