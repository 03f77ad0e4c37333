"""What a model predicts from a text, as plain data."""

from dataclasses import dataclass, field
from typing import Literal

from headscope.lens.task import Task


@dataclass(frozen=True)
class Guess:
    """A token that may fill a gap."""

    token: str  # as people read it
    probability: float
    reads: str  # the text (or pair) with this token in it, to be read next; empty where the token is no text


@dataclass(frozen=True)
class Gap:
    """A gap that the model fills: behind a text, or where a token is masked."""

    segment: Literal["text", "pair"]
    position: int  # among the tokens that the model reads; behind the last, for the next one
    guesses: list[Guess]  # the likeliest first


@dataclass(frozen=True)
class Predicted:
    """What a model makes of a text beside its attention."""

    task: Task | None  # what its head was trained for; None where it predicts no words
    gaps: list[Gap] = field(default_factory=list)
    left_out: int = 0  # masks that were not looked at: there are too many
    written: str = ""  # the text that it makes of this one (a translation), for encoder-decoders
    complete: bool = True  # whether it came to an end of its own, within the time and length that it has
    similarity: float | None = None  # of two texts: the cosine of their mean vectors
    says: str = ""  # a sentence, where there is nothing to predict
