"""The model view for print: every head of every layer, small (vig2019, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headscope.colours import BLUE, COLUMN, FAINT, PALE, VERMILION
from headscope.errors import InputError
from headscope.later import Figure
from headscope.views.content import Attention, Content
from headscope.views.print.columns import Ends, draw_lines
from headscope.views.print.header import HEAD, compared, notes_height, notes_of, write_head, write_notes
from headscope.views.print.sheet import FULL, MARGIN, Sheet
from headscope.views.print.shown import Shown, hidden_said, is_joint, shown
from headscope.views.print.thinning import thinned
from headscope.views.state import State

FEW = 20  # tokens: up to here a head is drawn as lines, above as a heat map
DOTS = 300  # per inch, of a small heat map
LARGEST, SMALLEST = 0.75, 0.16  # inches of one head
LABELS = 0.2  # inches for the numbers of layers and heads


@dataclass(frozen=True)
class Cell:
    """One head and where it stands: row and column of the grid, and a label of its own where it is sorted by something."""

    attention: Attention
    head: int | None  # the model's number; None for all heads together
    row: int
    column: int
    label: str = ""


def figure(content: Content, state: State) -> Figure:
    """Layers down and heads across, both from 0; or all heads by a statistic, the largest first."""
    here = [attention for attention in content.of_group(state.attention) if state.measure in attention.scores]
    joint = any(is_joint(attention, state.measure) for attention in here)
    if joint:
        state = replace(state, sort="")  # a run has no numbers of all heads together
    cells = _sorted_cells(content, state, here) if state.sort else _cells(here, joint)
    columns, rows = (1 + max(getattr(cell, name) for cell in cells) for name in ("column", "row"))
    width = COLUMN if columns <= 6 else FULL
    left = MARGIN if state.sort else MARGIN + LABELS
    above = 0.12 if state.sort else 0.0
    size = max(SMALLEST, min(LARGEST, (width - left - MARGIN) / columns))
    width = max(width, left + MARGIN + columns * size)
    first = [shown(content, state, cell.attention, None if cell.head is None else [cell.head]) for cell in cells]
    notes = notes_of(content, [*_notes(first, _as_lines(first[0], state)), *compared(content, first[0])], width)
    top = HEAD + (0.02 if state.sort else LABELS)
    sheet = Sheet(width, top + rows * (size + above) + notes_height(notes), content.title)
    several = f"{state.attention} · " if len(content.groups) > 1 else ""
    write_head(sheet, f"{several}{first[0].name} of {_what(content, state, joint)}")
    if not state.sort:
        _number(sheet, cells, left, top, size)
    for cell, found in zip(cells, first, strict=True):
        x, y = left + cell.column * size, top + cell.row * (size + above) + above
        if cell.label:
            sheet.text(x + 0.02, y - above / 2, cell.label, min(6.0, 11 * size), color=FAINT)
        _draw(sheet, found, x, y, size, _as_lines(found, state))
    write_notes(sheet, notes)
    return sheet.figure


def _what(content: Content, state: State, joint: bool) -> str:
    """What stands where, for the line at the top."""
    if joint:
        return "all heads together · layers down"
    if not state.sort:
        return "every head · layers down, heads across"
    title = content.statistic(state.sort).title
    return f"every head · by {title}" if state.above is None else f"heads · by {title}, at least {state.above:g}"


def _cells(here: list[Attention], joint: bool) -> list[Cell]:
    """Heads of one number stand below each other, also where some layers lack it."""
    if joint:
        return [Cell(attention, None, row, 0) for row, attention in enumerate(here)]
    heads = sorted({head for attention in here for head in attention.heads})
    return [Cell(attention, head, row, heads.index(head)) for row, attention in enumerate(here) for head in attention.heads]


def _sorted_cells(content: Content, state: State, here: list[Attention]) -> list[Cell]:
    """Only the heads that the statistic has a number for, and none below `above`, in lines of at most twelve."""
    values = content.statistic(state.sort).values
    heads = [(attention, head) for attention in here for head in attention.heads]
    numbers = [values.get(f"{attention.group} {attention.layer}.{head}") for attention, head in heads]
    known = [(number, *head) for number, head in zip(numbers, heads, strict=True) if number is not None]
    if not known:
        raise InputError(f"The statistic {state.sort!r} has no number for any head of the {state.attention} attention.")
    known = [entry for entry in known if state.above is None or entry[0] >= state.above]
    if not known:
        raise InputError(f"No head has {state.sort} of at least {state.above:g}: choose a smaller number.")
    columns = min(12, len(known))
    return [
        Cell(attention, head, place // columns, place % columns, f"{attention.layer}.{head}  {number:.2g}")
        for place, (number, attention, head) in enumerate(sorted(known, key=lambda entry: -entry[0]))
    ]


def _number(sheet: Sheet, cells: list[Cell], left: float, top: float, size: float) -> None:
    """Layers and heads, each once."""
    for row, layer in {cell.row: cell.attention.layer for cell in cells}.items():
        sheet.text(left - 0.05, top + (row + 0.5) * size, str(layer), 6.5, ha="right", color=FAINT)
    for column, head in {cell.column: cell.head for cell in cells}.items():
        label = "all heads" if head is None else str(head)
        sheet.text(left + (column + 0.5) * size, top - 0.07, label, 6.5, ha="center", color=FAINT)


def _as_lines(found: Shown, state: State) -> bool:
    """Whether heads are drawn as lines, and not as maps: as asked, else where the text is short."""
    return state.small == "lines" or (not state.small and max(len(found.queries), len(found.keys)) <= FEW)


def _draw(sheet: Sheet, found: Shown, x: float, y: float, size: float, as_lines: bool) -> None:
    """One head in its square, each from nothing to its own largest."""
    pad = 0.04 * size
    inner = size - 2 * pad
    box = (x + pad, y + pad, inner, inner)
    sheet.frame(box, PALE, 0.4)
    longest = max(len(found.queries), len(found.keys))
    if as_lines:
        places = y + pad + inner * (np.arange(longest) + 0.5) / longest
        ends = Ends(x + 2 * pad, x + size - 2 * pad, places[: len(found.queries)], places[: len(found.keys)])
        negative, below = found.scores < 0 if found.signed else None, VERMILION if found.difference else None
        draw_lines(sheet, ends, found.shares, [BLUE], negative=negative, below=below, scale=0.6)
        return
    scores = thinned(np.where(found.drawn, found.scores, 0)[0], max(16, round(DOTS * inner)))
    sheet.image(scores, box, found.largest or 1.0, found.signed)


def _notes(found: list[Shown], as_lines: bool) -> list[str]:
    """What holds for all heads: the share that is hidden is one of them all."""
    first = found[0]
    name = first.name
    if as_lines:
        what = "Lines go from the attending tokens on the left to the attended on the right"
    else:
        what = "Rows attend, columns are attended to"
    said = [f"{what}; the darkest is the largest {name} of its {'layer' if first.joint else 'head'}."]
    totals = sum(float(one.totals.sum()) for one in found)
    hidden = sum(float(one.on_sinks.sum()) for one in found)
    if hidden > 0:
        said.append(hidden_said(f"of the {name} of all heads", hidden / totals, first.sinks, first.renormalised))
    return said
