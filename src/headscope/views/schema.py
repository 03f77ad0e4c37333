"""What a view's page carries as JSON: of this the server's answers and the types of TypeScript are made.

web/make_schema.py writes these types into web/src/schema.ts, with the comments that stand here.
"""

from typing import Literal, NotRequired

from typing_extensions import TypedDict  # the server's pydantic takes no other before Python 3.12

# What became of a token or word from the first of two texts to the second; empty: nothing
Change = Literal["", "exchanged", "left out", "put in"]


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


class Difference(TypedDict):
    """Scores of B less those of A, which are the attention's parts."""

    form: Literal["difference"]


class VectorLevels(TypedDict):
    """Vectors (head or group, token, d_head) as signed bytes: at * steps, with a step a head."""

    form: Literal["levels"]
    at: Place
    steps: Place


Encoded = Levels | Floats | Product | Same | Difference
Vectors = VectorLevels | Floats


class Neurons(TypedDict):
    """Queries and keys of one attention: softmax(scaling * q.k) over the visible keys is the weight, where `exact`."""

    queries: Vectors
    keys: Vectors  # fewer than heads where heads share them
    scaling: float
    exact: bool
    why: str  # where it is not: what stands between


class Part(TypedDict):
    """One of the two that a difference is made of: its scores (head, query, key) between its own tokens."""

    scores: dict[str, Encoded]  # by measure
    value_norm: Place | None


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
    parts: list[Part] | None  # of a difference: A and B


class Origin(TypedDict):
    """One of two texts, token by token of what both have together; null and empty where it has none."""

    places: list[int | None]  # among the text's own tokens
    tokens: list[str]
    words: list[str]


class Joint(TypedDict):
    """Where the tokens of two texts come from that stand on one axis, and what became of each token and word."""

    a: Origin
    b: Origin
    tokens: list[Change]
    words: list[Change]


class Side(TypedDict):
    """The tokens of one text: as people read them, and `raw` as the tokenizer writes them."""

    tokens: list[str]
    raw: list[str]
    special: list[bool]
    words: list[str]
    word_of: list[int]  # which of the words each token belongs to
    segments: list[int]  # 1 for the second text of a pair
    joint: Joint | None  # where these are the tokens of two texts together


class Measure(TypedDict):
    """A measure that scores are in."""

    name: str
    title: str
    about: str
    joint: bool  # one map for all heads together
    signed: bool


class TellingHead(TypedDict):
    """What one head does in this text, by its weights."""

    layer: int
    head: int
    role: str  # by this text alone; empty where none holds
    share: float  # of what goes beyond sinks, that goes to the place of the role
    focus: float  # what its rows give to one token beyond sinks, on average: of all that they give
    query: int  # its strongest link beyond sinks
    key: int
    weight: float


class HeadStatistic(TypedDict):
    """A number for every head, out of a run; by `encoder self 3.1`."""

    name: str
    title: str
    about: str
    values: dict[str, float]


class ReadText(TypedDict):
    """One of two that are compared: the beginning of its text, and who has read it."""

    title: str
    model: str


class Compared(TypedDict):
    """What a difference is made of: B less A."""

    a: ReadText
    b: ReadText
    notes: list[str]  # what only one of the two has


class Content(TypedDict):
    """The views of one text, or of the difference of two."""

    format: int
    title: str
    model: str  # what people call the model that has read it; empty where nobody knows
    sides: dict[str, Side]
    sinks: dict[str, list[bool]]  # by `encoder self`: which tokens of the side that is attended to are sinks
    telling: dict[str, list[TellingHead]]  # by `encoder self`: the heads that say most about the text, best first
    roles: dict[str, str]  # by `encoder self 3.1`, where a run has told them
    attentions: list[Attention]
    measures: list[Measure]
    statistics: list[HeadStatistic]
    error: float  # the largest of all scores, as a part of the largest score of its head
    exact: bool
    compared: Compared | None  # where the scores are differences


class LogitSum(TypedDict):
    """What all parts of one kind bring: heads, MLPs, biases."""

    name: str
    part: float


class LogitGroup(TypedDict):
    """The heads of one kind of attention, and the part of each, by the token that it looks at."""

    name: str  # "decoder self"
    layers: list[int]
    parts: list[list[list[float]]]  # layer, head, token
    tokens: list[str]


class LogitParts(TypedDict):
    """A logit, or the difference of two, and what it is the sum of."""

    total: float
    remainder: float
    at: str  # the token whose logit it is
    position: int
    sums: list[LogitSum]
    groups: list[LogitGroup]


class ViewPage(Content):
    """What the page of a view carries."""

    kind: Literal["view"]
    state: str  # what it opens with, as the fragment of an address
    logits: NotRequired[LogitParts]  # above the views, which show its parts at every position


class LivePage(TypedDict):
    """What the live page carries: hardly more than its name. Everything else is asked of the server that it came from."""

    kind: Literal["live"]
    title: str
    version: str
    run: bool  # whether the server has a run to show
