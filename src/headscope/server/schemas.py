"""What goes in and comes out, as types: the OpenAPI description is made of these."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

from headscope.lens.task import Task
from headscope.report.schema import Exemplar
from headscope.views.schema import Content, HeadStatistic, Measure

Stack = Literal["encoder", "decoder"]
Kind = Literal["self", "cross"]
Instead = Literal["zero", "mean"]  # what takes the place of a head that is taken out


class Failure(BaseModel):
    """What is wrong, where, and what to do."""

    error: str = Field(description="One sentence for the person who asked.")


class MeasureInfo(Measure):
    """A measure that this model can be read by."""

    usual: bool  # comes with every answer that is not asked for others


class AttentionInfo(BaseModel):
    """The attentions of one stack and kind: `encoder self`, `decoder self`, `decoder cross`."""

    stack: Stack
    kind: Kind
    layers: list[int] = Field(description="The layers that have this attention, by the model's own numbers from 0.")
    heads: list[int] = Field(description="How many heads each of these layers has.")


class ModelInfo(BaseModel):
    """A model that was named when the server was started. No other can be asked for."""

    name: str
    architecture: str
    layers: int = Field(description="How many layers with attention it has, in all stacks: one, where it has both kinds.")
    heads: int = Field(description="How many heads it has in all of them.")
    attentions: list[AttentionInfo] = Field(description="In the order in which the model runs them.")
    encoder_decoder: bool = Field(description="Whether it takes a target; without one, only its encoder runs.")
    max_tokens: int = Field(description="How many tokens a text of a request may have: the model's limit, or the server's.")
    measures: list[MeasureInfo]
    predicts: Task | None = Field(
        description="The next token, masked ones, or a target: a text of its own (a translation); null for no words at all."
    )
    mask: str | None = Field(description="What is written in the place of a word that is to be guessed.")
    compares: bool = Field(description="Whether it says how alike two texts are.")
    means: bool = Field(description="Whether the means of its heads are known, to take their places.")


class TextRequest(BaseModel):
    """A text for one model."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str = Field(description="A name from /api/models.", max_length=1000)
    text: str = Field(description="The text; the source, for an encoder-decoder.", min_length=1)
    pair: str | None = Field(None, description="A second text, for models that read pairs.", min_length=1)
    target: str | None = Field(None, description="A translation, for encoder-decoders.", min_length=1)
    truncate: bool = Field(False, description="Cut a text off at the limit instead of refusing it.")
    without: Annotated[list[Annotated[str, Field(max_length=60)]], Field(max_length=1000)] = Field(
        [], description="Heads that are taken out: `17.3`, `decoder cross 5.3`, or `17` for a whole layer."
    )
    how: Instead = Field("zero", description="What takes their place: nothing, or their means, where these are known.")


class ReadRequest(TextRequest):
    """A text whose attention is to be read."""

    measures: Annotated[list[str], Field(min_length=1, max_length=20)] | None = Field(
        None, description="Measures of /api/models that are wanted; without this: weight, norm and joint_norm."
    )
    neurons: bool = Field(False, description="Also queries and keys, for the neuron view.")
    layers: Annotated[list[int], Field(min_length=1, max_length=1000)] | None = Field(
        None, description="Only these layers, of every stack and kind."
    )
    exact: bool = Field(False, description="Floats of four bytes instead of bytes.")


class PredictRequest(TextRequest):
    """A text from which the model is to predict."""

    beside: str | None = Field(
        None, description="Another text: a model that compares texts says how alike the two are.", min_length=1
    )


class DifferenceRequest(BaseModel):
    """Two readings of which one is taken from the other: B less A, for every head that both have."""

    model_config = ConfigDict(extra="forbid", strict=True)

    a: ReadRequest
    b: ReadRequest


class ReadAnswer(BaseModel):
    """What the views draw."""

    description: Content
    chunks: list[str] = Field(description="Bytes: compressed by zlib, in base64.")


class RunModel(BaseModel):
    """The model that was studied."""

    name: str
    architecture: str
    served: str | None = Field(description="The name of the same model among /api/models, where it is served.")


class RunCorpus(BaseModel):
    """The corpus that was counted: names of files, never where they are."""

    files: list[str]
    format: str | None
    documents: int


class RunAnswer(BaseModel):
    """What the run is, and its numbers for every head."""

    name: str
    paper: str | None
    finished: bool
    model: RunModel
    corpora: list[RunCorpus]
    counts: dict[str, int]
    versions: dict[str, str]
    tables: list[str]
    statistics: list[HeadStatistic]


class ExcitedText(TypedDict):
    """What to read to see an exemplar's pair, and the tokens to keep: `q7` attends, `k2` is attended to."""

    text: str
    target: str  # empty where there is none
    keep: list[str]


class ServedExemplar(Exemplar):
    """An exemplar that can be opened, where the run's model is served, and the text is not too long for it."""

    opens: ExcitedText | None


class ExemplarsAnswer(BaseModel):
    """The texts of the run's corpus that excite one head most, the strongest first, without near-duplicates."""

    stack: Stack
    kind: Kind
    layer: int
    head: int
    measure: str
    computed: bool = Field(description="Found now, among some of the corpus's texts; else the run counted them over all.")
    documents: int = Field(description="How many texts were looked at.")
    exemplars: list[ServedExemplar]
