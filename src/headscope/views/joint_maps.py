"""Scores of two texts between the tokens that they have together: of the first (a), of the second (b), and b less a.

A token that one text does not have gets nothing from the others there: what it gets in the other text is a difference. What
it gives has nothing to be compared with, and its row of the difference is empty.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from headscope.lens.reading import Level
from headscope.views.content import Array, Attention, Content, Joint, Side
from headscope.views.merging import merge_pieces

End = Literal["a", "b"]
Of = Literal["", "a", "b"]  # what of a difference is shown: B less A, or one of the two alone
Mask = NDArray[np.bool_]


def in_both(joint: Joint, level: Level) -> Mask:
    """Which tokens or words both texts have, exchanged ones too."""
    return np.isin(joint.words if level == "word" else joint.tokens, ("", "exchanged"))


def on_axes(scores: Array, rows: Side, columns: Side, end: End, level: Level) -> Array:
    """(head, query, key) of one text's own tokens -> (head, row, column) of the tokens, or words, of both."""
    (row_of, row_count), (column_of, column_count) = _spots(rows, end, level), _spots(columns, end, level)
    row_spots, row_inverse = np.unique(row_of, return_inverse=True)
    column_spots, column_inverse = np.unique(column_of, return_inverse=True)
    placed = np.zeros((len(scores), row_count, column_count), dtype=np.float32)
    placed[:, row_spots[:, None], column_spots] = merge_pieces(scores, row_inverse.tolist(), column_inverse.tolist())
    return placed


def apart(first: Array, second: Array, rows: Joint, level: Level) -> Array:
    """(head, row, column) of both -> the second less the first, where both have the row."""
    return np.where(in_both(rows, level)[:, None], second - first, np.float32(0))


def maps_of(content: Content, attention: Attention, measure: str, maps: list[int], level: Level, of: Of = "") -> Array:
    """(map, row, column): some of the maps of an attention, in pieces or in words; of a difference, what `of` says."""
    rows, columns = content.sides[attention.query], content.sides[attention.key]
    if content.compared is None or rows.joint is None:
        scores = attention.scores[measure][maps]
        return scores if level == "token" else merge_pieces(scores, rows.word_of, columns.word_of)

    def part(end: End, one: Content) -> Array:
        own = one.at(attention.group, attention.layer).scores[measure][maps]
        return on_axes(own, rows, columns, end, level)

    if of:
        return part(of, content.compared.a if of == "a" else content.compared.b)
    return apart(part("a", content.compared.a), part("b", content.compared.b), rows.joint, level)


def _spots(side: Side, end: End, level: Level) -> tuple[NDArray[np.int64], int]:
    """The number of each of a text's own tokens among the tokens, or words, of both; and how many there are."""
    assert side.joint is not None
    places = (side.joint.a if end == "a" else side.joint.b).places
    spots = side.word_of if level == "word" else range(len(side))
    own = {place: spot for place, spot in zip(places, spots, strict=True) if place is not None}
    return np.array([own[place] for place in range(len(own))], dtype=np.int64), len(
        side.words if level == "word" else side.tokens
    )
