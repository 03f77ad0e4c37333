"""The neuron view for print: how one token's weights come about, neuron by neuron (vig2019, section 4.3).

For each key: its vector, its product with the query element by element, their sum, the weight that the softmax makes of
it, and the norm of the value vector that the weight multiplies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from headscope.colours import BLUE, FAINT, GREEN, ORANGE
from headscope.errors import InputError
from headscope.later import Figure, Rectangle
from headscope.views.content import Array, Attention, Content, Neurons
from headscope.views.print.columns import ROW, TYPE, row_height
from headscope.views.print.header import HEAD, measure_name, notes_height, notes_of, where, write_head, write_notes
from headscope.views.print.sheet import FULL, MARGIN, Sheet, fitted, width_of
from headscope.views.print.shown import (
    Mask,
    attention_of,
    choose,
    hidden_said,
    is_joint,
    left_of,
    nothing_left,
    sinks_hidden,
    sinks_said,
    tokens_left,
)
from headscope.views.state import State

GAP = 0.12  # inches between columns
NUMBER, BAR = 0.36, 0.62  # inches of a column of numbers, of one of bars with numbers
WRITTEN = 0.3  # inches of the number behind a bar
LONGEST = 0.95  # inches of a label


@dataclass(frozen=True)
class Steps:
    """From one query to its weights, over the keys that it sees."""

    query: Array  # d_head
    keys: Array  # key d_head
    products: Array  # key d_head
    dots: Array  # key
    weights: Array  # key
    value_norms: Array | None  # key


@dataclass(frozen=True)
class Strips:
    """Where vectors stand on the sheet, in inches: the left edges of keys and products, and their rows."""

    keys: float
    products: float
    top: float
    width: float
    line: float

    @property
    def type(self) -> float:
        """Points of a label."""
        return TYPE * self.line / ROW

    def heights(self, count: int) -> list[float]:
        return [self.top + self.line * (place + 0.5) for place in range(count)]


def steps(attention: Attention, neurons: Neurons, head: int, row: int) -> Steps:
    """Of one head, as the model's own number, and one row. Keys that the row does not see have no weight."""
    place = attention.heads.index(head)
    query = neurons.queries[place, row]
    keys = neurons.keys[place * len(neurons.keys) // len(neurons.queries)]
    products = query * keys
    dots = products.sum(-1)
    weights = attention.scores["weight"][place, row] if "weight" in attention.scores else softmax(neurons.scaling * dots)
    norms = None if attention.value_norm is None else attention.value_norm[place]
    return Steps(query, keys, products, dots, weights, norms)


def softmax(logits: Array) -> Array:
    """(key,) -> (key,)

    >>> softmax(np.zeros(4, dtype=np.float32)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    powers = np.exp(logits - logits.max())
    return np.asarray(powers / powers.sum(), dtype=np.float32)


def figure(content: Content, state: State) -> Figure:
    """As wide as a page, always in pieces; of a kept word, the first. The query is the first that is kept and shown, else
    the last that is not special. Renormalised weights are the softmax over the keys that are no sinks."""
    attention = attention_of(content, state)
    if attention.neurons is None:
        raise InputError(
            f"There are no queries and keys of {where(content, attention)} here: the model does not show them, "
            "or the content was made without (neurons=True)."
        )
    head = state.heads[0] if state.heads else attention.heads[0]
    rows, left = tokens_left(content, state, attention, "token")
    row = _query(content, state, attention, rows)
    side = content.sides[attention.key]
    found = steps(attention, attention.neurons, head, row)
    place = 0 if is_joint(attention, state.measure) else attention.heads.index(head)
    scores = np.where(found.weights > 0, attention.scores[state.measure][place, row], 0)
    chosen = _rows(state, scores, left)
    labels = [side.tokens[key] for key in chosen]
    sinks, renormalised = sinks_hidden(content, state, attention, "token"), state.sinks == "renormalised"
    hidden = float(np.abs(scores)[sinks].sum() / (np.abs(scores).sum() or 1))
    of_measure = f"of the {measure_name(state.measure)}"
    said = [hidden_said(of_measure, hidden, sinks_said(content, attention, "token"))] if hidden > 0 else []
    notes = notes_of(content, [*_notes(attention.neurons, found, renormalised), *said], FULL)
    if renormalised:
        found = replace(found, weights=found.weights / left_of(found.weights, sinks))
    line = row_height(len(labels))
    bars = 1 if found.value_norms is None else 3
    beside = min(LONGEST, max(width_of(label, TYPE) for label in labels)) + 0.06
    wide = (FULL - 2 * MARGIN - beside - NUMBER - BAR * bars - GAP * (2 + bars)) / 2
    strips = Strips(MARGIN + beside, MARGIN + beside + wide + GAP, HEAD + 0.5, wide, line)
    sheet = Sheet(FULL, strips.top + line * len(labels) + 0.06 + notes_height(notes), content.title)
    write_head(sheet, f"{where(content, attention)}, head {head}")
    _vectors(sheet, found, chosen, content.sides[attention.query].tokens[row], strips)
    x = strips.products + wide + GAP + NUMBER
    sheet.text(x, strips.top - 0.08, "q·k", 6.5, ha="right", color=FAINT)
    for label, dot, y in zip(labels, found.dots[chosen].tolist(), strips.heights(len(labels)), strict=True):
        sheet.text(strips.keys - 0.05, y, fitted(label, strips.type, LONGEST), strips.type, ha="right")
        sheet.text(x, y, f"{dot:+.1f}".replace("-", "−"), strips.type - 0.6, ha="right")
    columns = [("weight", found.weights, BLUE)]
    if found.value_norms is not None:
        columns += [("‖f(x)‖", found.value_norms, ORANGE), ("weight × ‖f(x)‖", found.weights * found.value_norms, GREEN)]
    for place, (title, numbers, colour) in enumerate(columns):
        _bars(sheet, title, numbers[chosen], colour, x + GAP + place * (BAR + GAP), strips)
    write_notes(sheet, notes)
    return sheet.figure


def _query(content: Content, state: State, attention: Attention, rows: Mask) -> int:
    side = content.sides[attention.query]
    left = np.flatnonzero(rows).tolist()
    if not left:
        raise InputError(nothing_left(state))
    kept, _ = state.kept()
    pieces = [side.word_of.index(word) for word in kept] if state.level == "word" else kept
    ordinary = [place for place in left if not side.special[place]]
    return next((place for place in pieces if place in left), (ordinary or left)[-1])


def _rows(state: State, scores: Array, left: Mask) -> list[int]:
    """The keys that are shown."""
    drawn = choose(np.where(left, scores, 0)[None, None], state.top, state.least)[0, 0]
    if not drawn.any():
        raise InputError("This token gives nothing to the tokens that are shown: show the sinks, or choose other pairs.")
    return np.flatnonzero(drawn).tolist()


def _vectors(sheet: Sheet, found: Steps, chosen: Sequence[int], token: str, strips: Strips) -> None:
    """The query above the keys, and the products; blue above zero, orange below, each to its own largest."""
    room = strips.width - width_of("query q of ", 6.5)
    sheet.text(strips.keys, HEAD + 0.07, f"query q of {fitted(token, 6.5, room)}", 6.5, color=FAINT)
    sheet.text(strips.keys, strips.top - 0.08, "keys k", 6.5, color=FAINT)
    sheet.text(strips.products, strips.top - 0.08, "products q × k, neuron by neuron", 6.5, color=FAINT)
    tall = strips.line * len(chosen)
    parts = (
        ("query", found.query[None], (strips.keys, HEAD + 0.15, strips.width, 0.12)),
        ("keys", found.keys[list(chosen)], (strips.keys, strips.top, strips.width, tall)),
        ("products", found.products[list(chosen)], (strips.products, strips.top, strips.width, tall)),
    )
    for name, numbers, box in parts:
        sheet.image(numbers, box, float(np.abs(numbers).max(initial=0)) or 1.0, signed=True).set_gid(name)
        sheet.frame(box, FAINT, 0.4)


def _bars(sheet: Sheet, title: str, numbers: Array, colour: str, left: float, strips: Strips) -> None:
    """A number for every key, and a bar as long as its part of the largest."""
    most = float(numbers.max(initial=0)) or 1.0
    sheet.text(left + BAR, strips.top - 0.08, title, 6.5, ha="right", color=FAINT)
    for number, y in zip(numbers.tolist(), strips.heights(len(numbers)), strict=True):
        long = (BAR - WRITTEN) * number / most
        bar = Rectangle((left, y - 0.32 * strips.line), long, 0.64 * strips.line, facecolor=colour, edgecolor="none")
        bar.set_gid(title)
        sheet.axes.add_patch(bar)
        sheet.text(left + BAR, y, _short(number), strips.type - 0.6, ha="right")


def _short(number: float) -> str:
    """Three digits.

    >>> _short(0.0312), _short(4.2), _short(12.345), _short(0.0), _short(1234.5)
    ('.031', '4.20', '12.3', '0', '1234')
    """
    if number == 0:
        return "0"
    if number < 0.9995:
        return f"{number:.3f}".removeprefix("0")
    return f"{number:.{max(0, 3 - len(str(int(number))))}f}"


def _notes(neurons: Neurons, found: Steps, renormalised: bool) -> list[str]:
    said = [f"Blue is above zero, orange below; {found.query.shape[-1]} neurons, each strip to its own largest."]
    inexact = f"not the softmax of q·k alone: {neurons.why or 'something else stands between'}"
    over = ", over the keys that are no sinks" if renormalised else ""
    said.append(f"The weights are {f'the softmax of {neurons.scaling:.3g} q·k' if neurons.exact else inexact}{over}.")
    if unseen := int((found.weights <= 0).sum()):
        said.append(f"{unseen} tokens that this one does not see are left out.")
    return said
