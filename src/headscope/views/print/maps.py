"""attention_map: one head on one sentence, attention from or to some words in colour (clark2019, figures 1 and 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headscope.colours import BLUE, COLUMN
from headscope.errors import InputError
from headscope.later import Figure
from headscope.lens.reading import Level, Reading
from headscope.views.content import Array, Content
from headscope.views.from_reading import content_of
from headscope.views.print.columns import Box, column_height, draw_lines, write_columns
from headscope.views.print.header import HEAD, measure_name, notes_height, notes_of, where, write_head, write_notes
from headscope.views.print.sheet import MARGIN, Sheet
from headscope.views.print.shown import Mask, Shown, Tokens, attention_of, shown
from headscope.views.state import State, sinks_chosen

DIRECTIONS = ("from", "to", "both")
OTHERS = "#6E7780"  # lines of all other words


def attention_map(
    source: Content | Reading,
    layer: int,
    head: int,
    *,
    words: Sequence[str | int] = (),
    direction: str = "from",
    measure: str = "weight",
    level: Level = "word",
    without_sinks: bool | None = None,
    renormalise: bool = False,
    attention: str = "",
    colour: str = BLUE,
    width: float = COLUMN,
    title: str | None = None,
) -> Figure:
    """One head on one sentence, with attention "from" some words, "to" them, or "both", in colour.

    `words` are labels, each of which stands for all that read so, or numbers from 0 that count every word of the text. The
    darkest line is the largest score. `without_sinks`, special tokens and what else nearly every head looks at are not
    shown, and the share that is hidden is said; by default a decoder's. `renormalise` makes what is left shares of it.

    >>> from headscope.views.from_arrays import content_of_arrays
    >>> content = content_of_arrays(["she", "saw", "him"], [[0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.1, 0.9, 0.0]])
    >>> figure = attention_map(content, 0, 0, words=["him"])
    """
    content = _content(source, layer, head, measure)
    found = map_of(
        content, layer, head, measure=measure, level=level, without_sinks=without_sinks, renormalise=renormalise,
        attention=attention,
    )  # fmt: skip
    marked = marked_words(found, words, direction)
    heading = title if title is not None else f"{where(content, found.attention)}, head {head} · {measure_name(measure)}"
    notes = notes_of(content, found.notes(), width)
    top = HEAD if heading else MARGIN
    height = top + column_height(len(found.queries), len(found.keys)) + 0.04 + notes_height(notes)
    sheet = Sheet(width, height, content.title)
    if heading:
        write_head(sheet, heading)
    coloured = marked[0][:, None] | marked[1]
    draw_map(sheet, Box(MARGIN, top, width - 2 * MARGIN), found, marked, coloured, colour)
    write_notes(sheet, notes)
    return sheet.figure


def map_of(
    source: Content | Reading,
    layer: int,
    head: int,
    *,
    measure: str = "weight",
    level: Level = "word",
    without_sinks: bool | None = None,
    renormalise: bool = False,
    attention: str = "",
) -> Shown:
    """The scores that `attention_map` draws."""
    content = _content(source, layer, head, measure)
    sinks = sinks_chosen(without_sinks, renormalise)
    state = State("head", attention, layer, (head,), measure, level, sinks=sinks).fitted(content)
    return shown(content, state, attention_of(content, state), [head])


def marked_words(found: Shown, words: Sequence[str | int], direction: str = "from") -> tuple[Mask, Mask]:
    """Which of the tokens shown are meant, among those that attend and those attended to."""
    if direction not in DIRECTIONS:
        raise InputError(f"Attention goes {', '.join(DIRECTIONS)} the given words, not {direction!r}.")
    looked = [tokens for tokens, side in ((found.queries, "from"), (found.keys, "to")) if direction in (side, "both")]
    for word in words:
        if not any(_named(tokens, [word]).any() for tokens in looked):
            there = ", ".join(looked[0].labels)
            raise InputError(f"There is no word {word!r} to draw attention {direction}: there are {there}.")
    return _named(found.queries, () if direction == "to" else words), _named(
        found.keys, () if direction == "from" else words
    )


def draw_map(
    sheet: Sheet,
    box: Box,
    found: Shown,
    bold: tuple[Mask, Mask],
    coloured: Mask,
    colour: str = BLUE,
    shares: Array | None = None,
    scale: float = 1,
) -> None:
    """Both columns and all lines in a part of a sheet; bold words and coloured lines (query, key) above the others.

    `shares` say how dark lines are, where they are not what `found` says: parts of the largest. `scale` makes them thinner.
    """
    ends = write_columns(sheet, box, (found.queries, found.keys), bold, colour)
    others = OTHERS if coloured.any() else colour
    negative = found.scores < 0 if found.signed else None
    dark = found.shares if shares is None else shares
    for name, lines, ink in (("others", ~coloured, others), ("marked", coloured, colour)):
        draw_lines(sheet, ends, np.where(lines, dark, 0), [ink], negative=negative, scale=scale).set_gid(name)


def _named(tokens: Tokens, words: Sequence[str | int]) -> Mask:
    return np.array([label in words or place in words for place, label in zip(tokens.places, tokens.labels, strict=True)])


def _content(source: Content | Reading, layer: int, head: int, measure: str) -> Content:
    return source if isinstance(source, Content) else content_of(source, [measure], only={layer: [head]})
