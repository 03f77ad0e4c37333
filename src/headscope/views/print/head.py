"""The head view for print: tokens on both sides, a line for every score, one colour a head (vig2019, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

from headscope.colours import BLUE, COLUMN, INK, VERMILION, head_colour
from headscope.later import Figure, Rectangle
from headscope.views.content import Content
from headscope.views.print.columns import (
    SHARE,
    Box,
    column_height,
    draw_lines,
    row_height,
    write_columns,
    write_directions,
    write_shares,
)
from headscope.views.print.header import HEAD, LINE, compared, notes_height, notes_of, where, write_head, write_notes
from headscope.views.print.sheet import MARGIN, Sheet, width_of
from headscope.views.print.shown import attention_of, shown
from headscope.views.state import State

KEY = 6.5  # points


def figure(content: Content, state: State) -> Figure:
    """One column wide, as tall as the text is long. Kept tokens are bold, and only their lines are drawn."""
    attention = attention_of(content, state)
    found = shown(content, state, attention, list(state.heads) if state.heads else None).isolated()
    colours = [BLUE if found.difference else head_colour(place) for place in found.heads]
    dotted = "; dotted lines are below zero" if found.signed and not found.difference else ""
    darkest = f"The darkest line is a {found.name} of {found.largest:.2g}{dotted}."
    percents = ["Percentages are what each token gives to them."] if found.hidden > 0 else []
    notes = notes_of(content, [*found.notes(), *percents, darkest, *compared(content, found)], COLUMN)
    keys = _key_rows(found.labels)
    top = HEAD + LINE * len(keys) + 0.14
    height = top + column_height(len(found.queries), len(found.keys)) + 0.04 + notes_height(notes)
    sheet = Sheet(COLUMN, height, content.title)
    write_head(sheet, f"{where(content, attention)} · {found.name}")
    inks = [INK] * len(colours) if found.difference else colours  # lines of a difference are coloured by their sign
    _draw_keys(sheet, keys, dict(zip(found.labels, inks, strict=True)))
    aside = SHARE if found.hidden > 0 else 0.0
    box = Box(MARGIN + aside, top, COLUMN - 2 * MARGIN - aside)
    ends = write_columns(sheet, box, (found.queries, found.keys), (found.queries.kept, found.keys.kept), INK)
    write_directions(sheet, box, ends)
    if aside:
        write_shares(sheet, MARGIN, ends, found.hidden_of_rows)
    spread = row_height(max(len(found.queries), len(found.keys))) / 2 if len(colours) > 1 else 0
    negative, below = found.scores < 0 if found.signed else None, VERMILION if found.difference else None
    draw_lines(sheet, ends, found.shares, colours, negative=negative, below=below, spread=spread)
    write_notes(sheet, notes)
    return sheet.figure


def _key_rows(labels: Sequence[str]) -> list[list[str]]:
    """The heads' labels in lines that fit the column."""
    rows: list[list[str]] = [[]]
    used = MARGIN
    for label in labels:
        wide = _key_width(label)
        if rows[-1] and used + wide > COLUMN - MARGIN:
            rows.append([])
            used = MARGIN
        rows[-1].append(label)
        used += wide
    return rows


def _draw_keys(sheet: Sheet, rows: Sequence[Sequence[str]], colours: dict[str, str]) -> None:
    for line, row in enumerate(rows):
        x, y = MARGIN, HEAD + LINE * (line + 0.5)
        for label in row:
            sheet.axes.add_patch(Rectangle((x, y - 0.04), 0.08, 0.08, facecolor=colours[label], edgecolor="none"))
            sheet.text(x + 0.11, y, label, KEY)
            x += _key_width(label)


def _key_width(label: str) -> float:
    return 0.11 + width_of(label, KEY) + 0.1
