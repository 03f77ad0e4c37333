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
    without: float | None = None  # its probability without the heads that are taken out


@dataclass(frozen=True)
class Gap:
    """A gap that the model fills: behind a text, or where a token is masked."""

    segment: Literal["text", "pair"]
    position: int  # among the tokens that the model reads; behind the last, for the next one
    guesses: list[Guess]  # the likeliest first; with heads taken out, behind them those that are likely only then
    kl: float | None = None  # KL(p || p without the heads that are taken out), in nats


@dataclass(frozen=True)
class Without:
    """What becomes of it all where some heads are taken out; the guesses have their own probabilities without them."""

    heads: list[str]  # `decoder self 17.3`
    how: str  # what takes their place
    loss: float | None = None
    written: str = ""
    complete: bool = True
    similarity: float | None = None
    moved: float | None = None  # of an encoder that compares texts: 1 - cosine of the text's vector and what it was


@dataclass(frozen=True)
class Predicted:
    """What a model makes of a text beside its attention."""

    task: Task | None  # what its head was trained for; None where it predicts no words
    gaps: list[Gap] = field(default_factory=list)
    left_out: int = 0  # masks that were not looked at: there are too many
    written: str = ""  # the text that it makes of this one (a translation), for encoder-decoders
    complete: bool = True  # whether it came to an end of its own, within the time and length that it has
    similarity: float | None = None  # of two texts: the cosine of their mean vectors
    loss: float | None = None  # nats a token, of each token of the text from those before it, for decoders
    without: Without | None = None  # the same without some heads, where they are taken out
    says: str = ""  # a sentence, where there is nothing to predict
