"""Direct logit attribution: the part of every head and source token in a logit, or in the difference of two.

u = W_U[token] - W_U[against], through the final norm with its scale held fixed; p_ij = alpha_ij <v_j, W_O^h u> is the part
of a head and source token, and embedding, MLPs and biases are the other parts (lens/direct.py follows all of them).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headscope.later import Later, pd, torch
from headscope.lens.direct import DirectPass
from headscope.lens.head import Head
from headscope.writing.parts import Parts, parts_along
from headscope.writing.places import position_of
from headscope.writing.vocabulary import Token, named, token_of
from headscope.writing.writes import written_by

if TYPE_CHECKING:
    from headscope.lens.reading import Reading


@dataclass(frozen=True, eq=False, repr=False)
class Logits(Parts):
    """A logit, or the difference of two, at one position of a text, and its parts. Made by `reading.logits`.

    `table()` has every part, `by_head()` the heads, `by_token("23.3")` one head's parts by token, `writes("23.3")` the
    tokens that it makes more and less likely. `reading` is the reading, with this logit, at every row, for the direction of
    its measure `projection`.
    """

    token: Token
    against: Token | None
    position: int  # whose logit it is: for a decoder, the token before the predicted one
    reading: Reading
    _pass: DirectPass

    def writes(self, head: str | Head, count: int = 10) -> pd.DataFrame:
        """The tokens that a head's output makes most and least likely here: see `reading.writes`."""
        return written_by(self._pass, self.reading, head, self.position, count)

    def save(self, path: str | Path, *, head: str | Head | None = None) -> Path:
        """Draw all heads as an atlas in two colours, and one (the largest, if none is named) over the tokens: .svg, .pdf or
        .png; or as a page, .html, with the parts of every head at every position.
        """
        return UPSTAIRS.draw(self, path, head)

    def __repr__(self) -> str:
        return f"<Logits: {self.said}, at token {self.position}>"

    @property
    def said(self) -> str:
        """`' Mary' less ' John': 3.1214`"""
        return f"{self.token}{f' less {self.against}' if self.against else ''}: {self.total:.4f}"


def logits_of(
    reading: Reading, token: str | int | None = None, *, against: str | int | None = None, at: int | None = None
) -> Logits:
    """The parts of a token's logit at a position of a reading, or of what it has more than the token `against`.

    `token` is its text (" Mary": mind the space), its name in the vocabulary or its number; without one, the likeliest. `at`
    is a position among the tokens read (of the target, for an encoder-decoder), counted from the end where negative; without
    one, the last token of a text, the masked token, the last token of a target.
    """
    lens = reading.lens
    position = position_of(reading, at)
    run = DirectPass(lens, reading.batch)
    row = run.output[0, position].detach()
    chosen = named(lens, int(row.argmax())) if token is None else token_of(lens, token, len(row))
    other = None if against is None else token_of(lens, against, len(row))
    wanted = torch.zeros_like(row)
    wanted[chosen.id] = 1
    if other is not None:
        wanted[other.id] -= 1
    directions = run.directions(wanted)
    total = float(row.double() @ wanted.double())
    found = parts_along(reading, directions, total, slice(position, position + 1), run)
    along = reading.toward(directions.by_site)
    return Logits(**vars(found), token=chosen, against=other, position=position, reading=along, _pass=run)


class Upstairs:
    """What rooms above this one make of logits: known by name alone, and fetched when someone asks."""

    draw: Callable[[Logits, str | Path, str | Head | None], Path] = Later("headscope.views.logits", "save_logits")


UPSTAIRS = Upstairs()
