"""What kobayashi2020 reads, what changes its numbers, and the statistics that follow from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headscope import statistics
from headscope.alignment.gold import OPTIONS, read_pairs
from headscope.errors import InputError
from headscope.lens import ModelSource
from headscope.papers.options import KEEP_MARKS, TEXT_FORMAT, option, segments
from headscope.text import Corpus

NO_PAIRS = "Alignments need sentence pairs: give --parallel FILE too."


def _pairs(
    source: ModelSource,
    given: Path | None,
    parallel_target: Path | None = None,
    parallel_first: str = "source",
    gold: Path | None = None,
    gold_format: str = "auto",
    gold_base: int | None = None,
    gold_first: str = "source",
) -> Corpus | None:
    if given is None and (parallel_target or gold):
        raise InputError(NO_PAIRS)
    if given is None:
        return None
    if gold is None:
        raise InputError("--parallel needs gold links to compare alignments with: give --gold FILE too.")
    links = gold, gold_format, gold_base, gold_first
    return read_pairs(given, parallel_target, parallel_first, *links, first_flag="--parallel-first")


def _opened_alike(source: ModelSource, given: list[str] | None) -> list[ModelSource]:
    return [replace(source, model=model, revision=None, name="") for model in given or []]


def _line_numbers(source: ModelSource, given: str | None) -> list[int]:
    try:
        return [int(number) for number in (given or "").split(",") if number.strip()]
    except ValueError:
        raise InputError(f"--sentences {given!r} are no numbers with commas between, such as 3,17.") from None


def _categories(source: ModelSource, given: list[str] | None) -> dict[str, str]:
    """`NAME=RULE`, in the order given."""
    found: dict[str, str] = {}
    for one in given or []:
        name, equals, rule = (part.strip() for part in one.partition("="))
        if not (name and equals and rule):
            raise InputError(f'--category {one!r} is not NAME=RULE, for example "articles=a an the" or "numbers=/[0-9]+/".')
        if name in found:
            raise InputError(f"The category {name!r} is given twice: put all its tokens into one --category.")
        found[name] = rule
    return found


@dataclass(frozen=True)
class Data:
    """A text, sentence pairs with gold links (`headscope.alignment.with_gold`) of a translation model, or both.

    `also` are further models, seeds or checkpoints for the pairs, opened one after another: means and deviations.
    """

    text: Corpus | None = option(
        None, "Plain text; may be repeated.", made=segments, text_format=TEXT_FORMAT, keep_marks=KEEP_MARKS
    )
    frequency: Path | None = option(None, "Lines of `rank count id`, one a piece. Default: the text is counted.")
    parallel: Corpus | None = option(
        None,
        "Sentence pairs for a translation model (section 5): `src ||| tgt`, or the source.",
        made=_pairs,
        parallel_target="The target, where --parallel has the source only.",
        parallel_first="Which side stands before |||: source or target.",
        **OPTIONS,  # type: ignore[arg-type]
    )
    also: Sequence[ModelSource] = option((), "A further seed or checkpoint for section 5.", made=_opened_alike)
    sentences: Sequence[int] = option((), "Pairs to draw, such as 3,17. Default: one of 8 to 14 words.", made=_line_numbers)
    gradient: int = option(0, "Also align by gradients over so many noisy copies, such as 30; slow.", least=0)
    eflomal: bool = option(False, "Also align by eflomal, if it is installed.", "--eflomal")

    def __post_init__(self) -> None:
        if self.parallel is None and any((self.also, self.sentences, self.gradient, self.eflomal)):
            raise InputError(NO_PAIRS)


@dataclass(frozen=True)
class Settings:
    """What changes the numbers. Categories are by name: tokens with spaces between, or /a regular expression/."""

    categories: Mapping[str, str] | None = option(
        None, "Your own, NAME=RULE: tokens with spaces between, or /a regular expression/.", "--category", made=_categories
    )
    segments: int = option(992, "Segments of the text to read.", least=1)
    max_tokens: int = option(128, "Tokens of a segment.", least=8)
    sample: int = statistics.setting(2000, least=1, help="Pairs of each category in figures 5 and 13.")
    mixed: int = statistics.setting(1, least=1, help="The mixing ratio is that of one text in so many.")
    every: int = statistics.setting(1, least=1, help="Figure 25 reads one text in so many, each cut at a length of its own.")
    seed: int = option(0, "For the pairs and heads that are drawn by lot.")


def one_pass(settings: Settings, frequency: Path) -> list[statistics.Statistic]:
    """All that is counted in the pass over a text."""
    own = settings.categories or {}
    return [
        statistics.Dispersion(),
        statistics.InputDispersion(),
        statistics.CategoryWeights(categories=own),
        statistics.CategoryWeights(measure="joint_norm", categories=own),
        statistics.NormCorrelation(categories=own),
        statistics.NormScatter(size=settings.sample, seed=settings.seed, categories=own),
        statistics.Frequency(path=str(frequency)),
        statistics.FrequencyCurve(path=str(frequency)),
        statistics.Mixing(every=settings.mixed),
        *(statistics.BeyondSinks(measure=measure) for measure in ("weight", "norm")),  # by which a report names the heads
    ]
