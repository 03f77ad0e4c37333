"""Examples of every registered statistic, by name: the laws of test_laws.py try each on documents that have every layer."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from headscope.statistics import (
    AlignmentErrors,
    Antecedents,
    BeyondSinks,
    CategoryWeights,
    Dependencies,
    DependencyLengths,
    Dispersion,
    Distance,
    DistanceProfile,
    EffectiveByLength,
    Entropy,
    EntropyEnds,
    Exemplars,
    FirstToken,
    Frequencies,
    Frequency,
    FrequencyCurve,
    HeadAgreement,
    Importance,
    InputDispersion,
    JensenShannon,
    Maximum,
    MeanMap,
    MeanScore,
    Mixing,
    NormCorrelation,
    NormScatter,
    Offsets,
    OutputNorm,
    PositionMap,
    Punctuation,
    Relations,
    RelationTypes,
    Separators,
    SpecialTokens,
    Statistic,
    Strength,
    Tags,
    Variability,
)
from headscope.text import Document, Mention
from headscope.text.links import Links
from tests.statistics.tester import TEXTS, counted, lens_for

FAMILIES = ("bert", "llama", "marian")


def _document(
    words: str,
    parents: list[int],
    relations: str,
    tags: str,
    mentions: list[Mention],
    target: str,
    links: list[tuple[int, int]],
) -> Document:
    return Document(
        words=words.split(),
        parents=parents,
        relations=relations.split(),
        tags=tags.split(),
        mentions=mentions,
        target_words=target.split(),
        alignment=Links.of(links),
    )


# None starts like another: a decoder's first keys would be equal then, but for rounding, which decides on their ranks.
_DOCUMENTS = [
    _document(
        "the unbelievable cats sat on the mat .",
        [2, 2, 3, -1, 6, 6, 3, 3],
        "det amod nsubj root case det obl punct",
        "DET ADJ NOUN VERB ADP DET NOUN PUNCT",
        [Mention(0, 3, "it", "NOM"), Mention(5, 7, "it", "NOM")],
        "two unbelievable dogs sat",
        [(1, 1), (3, 3), (2, 2)],
    ),
    _document(
        "a dog 's mat , one dog",
        [1, 3, 1, -1, 6, 6, 3],
        "det nmod:poss case root punct nummod appos",
        "DET NOUN PART NOUN PUNCT NUM NOUN",
        [Mention(0, 2, "dog", "NOM"), Mention(5, 6, "dog", "PRON"), Mention(6, 7, "dog", "PROP")],
        "words split pre the end .",
        [(1, 4), (0, 0)],
    ),
    _document("sat on", [-1, 0], "root advmod", "VERB ADP", [], "the end", [(0, 0)]),
    _document("one cat", [1, -1], "nummod root", "NUM NOUN", [], "unbelievable", [(0, 0)]),
    _document(
        "unbelievable , unbelievable .",
        [-1, 2, 0, 0],
        "root punct conj punct",
        "ADJ PUNCT ADJ PUNCT",
        [Mention(0, 1, "x", "NOM"), Mention(2, 3, "x", "NOM")],
        "a , a .",
        [(0, 0), (2, 2)],
    ),
]


def documents_for(family: str) -> list[Document]:
    """With every layer that a document can have; targets for those that translate."""
    if family == "marian":
        return _DOCUMENTS
    return [replace(document, target_words=None, alignment=None) for document in _DOCUMENTS]


@cache
def frequency_file(family: str) -> str:
    """The counts of the tests' own texts, one file a tokenizer; one piece in five is not in it."""
    counts = {id: count for _, count, id in Frequencies.count(lens_for(family).tokenizer, TEXTS) if id % 5 != 4}
    path = Path(tempfile.mkdtemp(prefix="headscope-frequencies-")) / f"{family}.txt"
    Frequencies(counts).write(path)
    return str(path)


@cache
def second_pass(family: str, level: str) -> Variability:
    return Variability.of(counted(MeanMap(level=level), family, documents_for(family)))


@dataclass(frozen=True)
class Example:
    """A statistic with some settings: of a model, because a frequency file belongs to a tokenizer."""

    make: Callable[[str], Statistic]
    families: tuple[str, ...] = FAMILIES
    ranks: bool = False  # whether rounding may move ranks, so that only the table is nearly the same


def of(*statistics: Statistic, **more: Any) -> list[Example]:
    return [Example(lambda _, one=one: one, **more) for one in statistics]  # type: ignore[misc]


def each(cls: type[Statistic]) -> list[Example]:
    return of(cls(), cls(measure="norm", level="word"), cls(measure="joint_norm"))


OWN = {"animals": "cat cats dog dogs", "short": "/../"}

EXAMPLES: dict[str, list[Example]] = {
    "alignment_errors": of(AlignmentErrors("norm"), AlignmentErrors("joint_weight", setting="AWO"), families=("marian",)),
    "antecedents": of(Antecedents(), Antecedents("norm", candidates="mentions")),
    "beyond_sinks": each(BeyondSinks),
    "category_weights": of(CategoryWeights(), CategoryWeights("joint_norm"), CategoryWeights(categories=OWN)),
    "dependencies": of(Dependencies(without_first=True), Dependencies("norm", "word", baseline="others")),
    "dependency_lengths": of(DependencyLengths(), DependencyLengths(level="word")),
    "dispersion": of(Dispersion()),
    "distance": [*each(Distance), *of(Distance(without_first=True))],
    "distance_profile": each(DistanceProfile),
    "effective_by_length": of(EffectiveByLength(every=1), EffectiveByLength(every=2)),
    "entropy": [*each(Entropy), *of(Entropy(without_first=True))],
    "entropy_ends": each(EntropyEnds),
    "exemplars": of(Exemplars(kept=3), Exemplars("norm", without_first=True)),
    "first_token": each(FirstToken),
    "frequency": [Example(lambda family: Frequency(path=frequency_file(family)), ranks=True)],
    "frequency_curve": [Example(lambda family: FrequencyCurve(path=frequency_file(family)))],
    "importance": of(Importance(), Importance(seed=1)),
    "head_agreement": of(HeadAgreement(), HeadAgreement("norm"), families=("marian",)),
    "input_dispersion": of(InputDispersion()),
    "jensen_shannon": of(
        JensenShannon(rows=4),
        JensenShannon(level="word", variant="code"),
        JensenShannon("norm", "word"),
        JensenShannon("joint_norm", variant="code"),
    ),
    "maximum": each(Maximum),
    "mean_map": of(MeanMap(positions=4), MeanMap("norm", "word", without_first=True)),
    "mean_score": of(MeanScore(), MeanScore("norm")),
    "mixing": of(Mixing(), Mixing(every=2)),
    "norm_correlation": of(NormCorrelation(), NormCorrelation(categories=OWN), ranks=True),
    "norm_scatter": of(NormScatter(size=40), ranks=True),
    "offsets": [*each(Offsets), *of(Offsets(offsets=[-2, 3]))],
    "output_norm": of(OutputNorm()),
    "position_map": of(PositionMap(positions=4), PositionMap("norm", "word"), PositionMap("joint_norm")),
    "punctuation": each(Punctuation),
    "relation_types": of(RelationTypes(without_first=True), families=("bert", "llama")),
    "relations": of(Relations(), Relations("norm", variant="code", clitics=False), Relations("joint_norm", subtypes=False)),
    "separators": each(Separators),
    "special_tokens": each(SpecialTokens),
    "strength": each(Strength),
    "tags": of(Tags(without_first=True), Tags("norm", "word"), families=("bert", "llama")),
    "variability": [
        Example(lambda family: second_pass(family, "token")),
        Example(lambda family: second_pass(family, "word")),
    ],
}
