"""What a view's page carries as JSON: of this the server's answers and the types of TypeScript are made.

web/make_schema.py writes these types into web/src/schema.ts, with the comments that stand here.
"""

from typing import Literal

from typing_extensions import TypedDict  # the server's pydantic takes no other before Python 3.12


class Place(TypedDict):
    """Where an array is: in which chunk, from which byte on (little-endian), of which type and shape."""

    chunk: int
    offset: int
    type: Literal["f4", "u1", "i1"]
    shape: list[int]


class Levels(TypedDict):
    """Scores (head, query, key) as bytes: (at - zeros) * steps, with a zero a head and a step a head, or a head and key."""

    form: Literal["levels"]
    at: Place
    steps: Place
    zeros: Place


class Floats(TypedDict):
    """Scores, or vectors, as floats."""

    form: Literal["floats"]
    at: Place


class Product(TypedDict):
    """Scores that are those of another measure, times a number for each head and key."""

    form: Literal["product"]
    of: str
    factor: Place


class Same(TypedDict):
    """Scores that are those of another measure."""

    form: Literal["same"]
    of: str


class VectorLevels(TypedDict):
    """Vectors (head or group, token, d_head) as signed bytes: at * steps, with a step a head."""

    form: Literal["levels"]
    at: Place
    steps: Place


Encoded = Levels | Floats | Product | Same
Vectors = VectorLevels | Floats


class Neurons(TypedDict):
    """Queries and keys of one attention: softmax(scaling * q.k) over the visible keys is the weight, where `exact`."""

    queries: Vectors
    keys: Vectors  # fewer than heads where heads share them
    scaling: float
    exact: bool
    why: str  # where it is not: what stands between


class Attention(TypedDict):
    """One attention: where its scores (head, query, key) and norms (head, key) are."""

    stack: str  # "encoder" | "decoder"
    kind: str  # "self" | "cross"
    layer: int
    heads: list[int]  # the model's own numbers
    query: str  # which of the sides attends
    key: str  # which of the sides is attended to
    scores: dict[str, Encoded]  # by measure
    value_norm: Place | None
    neurons: Neurons | None


class Side(TypedDict):
    """The tokens of one text: as people read them, and `raw` as the tokenizer writes them."""

    tokens: list[str]
    raw: list[str]
    special: list[bool]
    words: list[str]
    word_of: list[int]  # which of the words each token belongs to
    segments: list[int]  # 1 for the second text of a pair


class Measure(TypedDict):
    """A measure that scores are in."""

    name: str
    title: str
    about: str
    joint: bool  # one map for all heads together
    signed: bool


class HeadStatistic(TypedDict):
    """A number for every head, out of a run; by `encoder self 3.1`."""

    name: str
    title: str
    about: str
    values: dict[str, float]


class Content(TypedDict):
    """The views of one text."""

    format: int
    title: str
    model: str  # what people call the model that has read it; empty where nobody knows
    sides: dict[str, Side]
    sinks: dict[str, list[bool]]  # by `encoder self`: which tokens of the side that is attended to are sinks
    attentions: list[Attention]
    measures: list[Measure]
    statistics: list[HeadStatistic]
    error: float  # the largest of all scores, as a part of the largest score of its head
    exact: bool


class ViewPage(Content):
    """What the page of a view carries."""

    kind: Literal["view"]
    state: str  # what it opens with, as the fragment of an address


class LivePage(TypedDict):
    """What the live page carries: hardly more than its name. Everything else is asked of the server that it came from."""

    kind: Literal["live"]
    title: str
    version: str
    run: bool  # whether the server has a run to show
