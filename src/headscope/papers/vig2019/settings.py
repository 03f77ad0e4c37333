"""What vig2019 reads, what changes its numbers, and the statistics that follow from it."""

from dataclasses import dataclass
from typing import Any

from headscope import statistics
from headscope.errors import InputError
from headscope.lens import ModelSource
from headscope.lens.tokens.encoder import AS_WRITTEN, BY_WORD, Encoding
from headscope.papers.options import BY_WORD_HELP, KEEP_MARKS, UNIT, option, plain_text, setting_of, trees
from headscope.text import Annotator, Corpus


def _annotated(
    source: ModelSource, given: list[str] | None, annotate: str | None = None, keep_marks: bool = False
) -> Corpus | None:
    if not given:
        return None
    if annotate is None:
        raise InputError("The text has no parts of speech: give --annotate spacy:PIPELINE, such as spacy:en_core_web_sm.")
    text = plain_text(given, "paragraphs", keep_marks, ", or a treebank with --treebank")
    return text.annotated(Annotator.of(annotate, unit="sentence"))


def _measures(source: ModelSource, given: list[str] | None) -> tuple[str, ...]:
    return tuple(given or ["weight"])


@dataclass(frozen=True)
class Data:
    """A treebank, or a text with annotations, or both; the second's results have `_text` after their names then."""

    treebank: Corpus | None = option(None, "A treebank (CoNLL-U), with tags and dependencies.", made=trees, unit=UNIT)
    text: Corpus | None = option(
        None,
        "Plain text, each sentence by itself.",
        made=_annotated,
        annotate="What annotates the text: spacy:PIPELINE (extra: spacy).",
        keep_marks=KEEP_MARKS,
    )


@dataclass(frozen=True)
class Settings:
    """What changes the numbers. `without_first` is on for decoders where it is not said."""

    measures: tuple[str, ...] = option(("weight",), "weight, norm, ...; may be repeated.", "-m", "--measure", made=_measures)
    without_first: bool | None = option(
        None, "Attention to the first token. Default: left out for decoders.", "--leave-out-first/--keep-first"
    )
    level: str = option("token", "What is counted: token, the tokenizer's pieces, or word.")
    by_word: bool = option(False, BY_WORD_HELP, "--by-word")
    positions: int = option(10, "First positions that variability looks at.", least=2)
    sentences: int | None = option(None, "At most so many sentences of each.", least=1)
    exemplars: int = option(5, "Exemplars a head.", least=1)
    baseline: str = setting_of(statistics.Dependencies, "baseline")

    @property
    def encoding(self) -> Encoding:
        return BY_WORD if self.by_word else AS_WRITTEN

    def filtered(self, measure: str) -> dict[str, Any]:
        """What the statistics of a measure have in common, all but null attention."""
        return {"measure": measure, "level": self.level, "without_first": bool(self.without_first)}

    def dependencies(self, measure: str) -> statistics.Dependencies:
        return statistics.Dependencies(**self.filtered(measure), baseline=self.baseline)

    def mean_map(self, measure: str) -> statistics.MeanMap:
        return statistics.MeanMap(**self.filtered(measure), positions=self.positions)

    def exemplars_of(self, measure: str) -> statistics.Exemplars:
        """More than are shown: near-duplicates are removed from them."""
        return statistics.Exemplars(measure=measure, without_first=bool(self.without_first), kept=4 * self.exemplars)


def first_pass(settings: Settings) -> list[statistics.Statistic]:
    """All that is counted in one pass: everything but variability, which needs the mean map of this one.

    `BeyondSinks` is not the paper's: a report on the run names the heads by it.
    """
    level = settings.level
    chosen: list[statistics.Statistic] = [statistics.DependencyLengths(level=level)]
    for measure in settings.measures:
        chosen += [statistics.FirstToken(measure=measure, level=level), statistics.BeyondSinks(measure=measure, level=level)]
        chosen += [
            cls(**settings.filtered(measure))
            for cls in (
                statistics.Tags,
                statistics.RelationTypes,
                statistics.Distance,
                statistics.Entropy,
            )
        ]
        chosen += [settings.dependencies(measure), settings.mean_map(measure), settings.exemplars_of(measure)]
    return chosen
