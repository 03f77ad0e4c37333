"""What a report is as JSON: the one description of what Python writes and pages read (their TypeScript is made of it)."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # the server's pydantic takes no other before Python 3.12

from headscope.views.schema import Content

Cell = str | int | float | bool | None
Mark = Literal["attending", "attended", "both"]


class Fact(TypedDict):
    """One line about what was run."""

    name: str
    value: str


class DescribedRun(TypedDict):
    """A run by its folder's name."""

    name: str
    facts: list[Fact]


class Number(TypedDict):
    """A number of a sentence, and where it stands."""

    value: float
    table: str
    column: str  # or an expression of columns
    of: str  # the one "cell", or the "mean", "median" or "count" of the rows
    where: dict[str, Any]  # picks the rows
    run: NotRequired[str]  # "a" or "b", where two runs are compared


class Finding(TypedDict):
    """Something that a run's tables say, as a sentence."""

    text: str
    heads: list[str]  # labels
    table: str
    numbers: list[Number]


class Marked(TypedDict):
    """Some words of a text, and what is marked in them."""

    text: str
    mark: Mark | None
    sign: NotRequired[bool]  # it is no part of the text: it says that something is left out, or that there is a space


class Exemplar(TypedDict):
    """A text that excites a head, by its strongest pair of tokens: who looks, and at what. Plain text, never HTML."""

    score: float
    attending: str
    attended: str
    runs: list[Marked]
    attended_runs: list[Marked]  # of the source, where that is another text; the target is in `runs` then
    source: str  # where the text comes from: a name of its own, or a file and line


class GivenRole(TypedDict):
    """What a head does."""

    role: str
    family: str
    rule: str


class NearestMiss(TypedDict):
    """The role that a head without one comes nearest to."""

    role: str
    score: float
    needed: float
    says: str  # "34% previous token; 50% would name it"


class Special(TypedDict):
    """Shares on the first token and separators together."""

    weight: float | None
    norm: float | None


class Relation(TypedDict):
    """The relation that a head knows best."""

    name: str
    direction: str
    accuracy: float
    baseline: float | None
    cases: int


class Antecedents(TypedDict):
    """How often a mention looks most at its antecedent."""

    accuracy: float
    cases: int
    baseline: float | None


class HeadEffect(TypedDict):
    """What becomes of the model without a head."""

    says: list[str]  # sentences
    confirmed: bool | None  # whether it does what its role says; None where that was not tried


class Written(TypedDict):
    """A token, and what a head adds to its logit beyond what it adds to all tokens."""

    token: str
    logit: float


class HeadWrites(TypedDict):
    """What a head writes at the token that looks, in the exemplar that is drawn."""

    at: str
    more: list[Written]  # the likeliest first
    less: list[Written]  # the least likely first


class MeanMap(TypedDict):
    """What a head gives from each of the first positions to each, on average over all texts."""

    first: int  # the position that the first row and column stand for: those before it are sinks
    rows: list[list[float]]  # of a position that attends, to each that is attended to
    hidden: float | None  # the part of these rows' attention that is on positions before the first


class Profile(TypedDict):
    """How far a head looks: shares of what goes beyond its sinks, by distance."""

    bins: list[list[int | None]]  # nearest and furthest, negative before the token; no furthest: all that is further
    shares: list[float]


class DrawnExemplar(TypedDict):
    """A text that excites a head, as a view of this head alone."""

    content: Content
    chunks: list[str]  # of the content
    rank: int  # among the head's exemplars, from 1: those before it are about sinks
    keep: list[str]  # the two tokens of the pair, as a view keeps them
    left_out: int  # tokens of a long text, far from the pair


class Picture(TypedDict):
    """What a card draws; None for what the run has not counted."""

    map: MeanMap | None
    profile: Profile | None
    exemplar: DrawnExemplar | None


class Head(GivenRole):
    """A head, with all that its card says; its numbers are in the statistics."""

    name: str  # "encoder self 3.1"
    label: str  # "3.1", or "cross 3.1" where there are several kinds
    stack: str
    kind: str
    layer: int
    head: int
    group: str  # "encoder self"
    score: float | None
    baseline: float | None
    also: list[str]
    nearest: NearestMiss | None  # of a head without a role
    says: str
    special: Special
    relation: Relation | None
    antecedents: Antecedents | None
    without: HeadEffect | None  # where it was taken out
    writes: HeadWrites | None  # of a model that predicts words
    exemplars: list[Exemplar]
    picture: Picture | None  # None: there is none, or it is in a chunk of the page
    picture_chunk: NotRequired[int]  # which has those of a layer's heads by name
    other: NotRequired[GivenRole | None]  # in the second run


class Family(TypedDict):
    """Roles of one kind, and their colour on light and dark pages."""

    name: str
    title: str
    about: str
    light: str
    dark: str


class Roles(TypedDict):
    """What a page must know to show roles."""

    about: str
    families: list[Family]  # in the order in which they are listed
    marks: dict[str, str]  # a role in a few characters; one that has none is its own name


class Statistic(TypedDict):
    """A number of every head."""

    name: str  # "entropy.entropy": table and column
    table: str
    title: str
    about: str
    more: str  # what a larger number means
    unit: str
    card: bool  # whether it stands on the cards
    values: list[float | None]  # by head
    other: NotRequired[list[float | None]]  # of the second run


class Near(TypedDict):
    """Another head, and how far it is."""

    head: int
    distance: float


class Scatter(TypedDict):
    """Heads of one kind as points in a plane."""

    group: str
    heads: list[int]
    x: list[float]
    y: list[float]
    stress: float
    nearest: list[list[Near]]


class Column(TypedDict):
    """A column of a table, explained."""

    name: str
    title: str
    about: str
    numeric: bool


class Table(TypedDict):
    """A table, or the first rows of a long one."""

    name: str
    title: str
    about: str
    columns: list[Column]
    rows: list[list[Cell]] | None  # None: in a chunk of the page
    chunk: NotRequired[int]
    total: int
    compared: bool


class Figure(TypedDict):
    """A figure as text."""

    name: str
    title: str
    svg: str | None  # None: in a chunk of the page
    chunk: NotRequired[int]


class LeagueOption(TypedDict):
    """What can be chosen in the league's part: an effect, or what takes a head's place."""

    name: str
    title: str


class LeagueNumber(LeagueOption):
    """A number that is said of heads."""

    idle: str  # "low" or "high": the end at which heads should be idle


class LeagueSaid(TypedDict):
    """What was found in one model."""

    model: str
    sentences: list[str]


class League(TypedDict):
    """Which number of a head predicts what happens without it: the tables `league...` of the run have all else."""

    ways: list[LeagueOption]
    effects: list[LeagueOption]
    numbers: list[LeagueNumber]
    way: str  # of the curves, and what the part opens with
    effect: str
    said: list[LeagueSaid]


class Report(TypedDict):
    """All that a report shows."""

    format: int
    title: str
    runs: list[DescribedRun]
    findings: list[Finding]
    compared: list[Finding]  # what differs between two runs
    heads: list[Head]
    roles: Roles
    statistics: list[Statistic]
    scatters: list[Scatter]
    tables: list[Table]
    figures: list[Figure]
    league: League | None
    left_out: list[str]  # each a sentence: what, and why
    state: str  # what the page opens with, as the fragment of an address


class ReportPage(Report):
    """What the page of a report carries."""

    kind: Literal["report"]
