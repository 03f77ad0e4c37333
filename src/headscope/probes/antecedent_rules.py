"""Rules that choose a mention's antecedent without a model: the three baselines of clark2019, section 4.3, table 2.

Candidates are the earlier mentions of the same document (or window) in reading order, and the nearest is the last of them.
One that holds the mention, or lies in it, is no candidate: `his` in `his father` is never his father, which makes the rules
stronger. Words are compared without case. Without a candidate a rule chooses nothing, which is wrong.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from headscope.statistics.base import ratio
from headscope.statistics.words.antecedents import COLUMNS
from headscope.text.coreference.agreement import agree, features_of
from headscope.text.coreference.cases import Case, cases
from headscope.text.coreference.english import Features
from headscope.text.coreference.head_words import head_word
from headscope.text.coreference.mention_kinds import kinds_of
from headscope.text.document import Document
from headscope.text.mention import Kind, Mention


class Described(NamedTuple):
    """What the rules see of a mention."""

    words: tuple[str, ...]
    head_word: str
    features: Features


Rule = Callable[[Described, Sequence[Described]], int | None]


def nearest(mention: Described, candidates: Sequence[Described]) -> int | None:
    """The nearest mention; candidates come nearest first."""
    return 0 if candidates else None


def same_head_word(mention: Described, candidates: Sequence[Described]) -> int | None:
    """The nearest mention with the same head word."""
    return _first(candidates, lambda other: other.head_word == mention.head_word)


def sieves(mention: Described, candidates: Sequence[Described]) -> int | None:
    """The nearest mention in the same words; else with the same head word; else that agrees; else the nearest."""
    tried: tuple[Callable[[Described], bool], ...] = (
        lambda other: other.words == mention.words,
        lambda other: other.head_word == mention.head_word,
        lambda other: agree(other.features, mention.features),
        lambda other: True,
    )
    found = (_first(candidates, passes) for passes in tried)
    return next((place for place in found if place is not None), None)


RULES: dict[str, Rule] = {"nearest": nearest, "head word match": same_head_word, "rule-based": sieves}


def antecedent_rules(documents: Iterable[Document]) -> pd.DataFrame:
    """Accuracy of every rule by kind of mention, on the cases that the statistic `antecedents` finds in these documents.

    Give both the same windows, so that a rule sees as much of a text as the model.
    """
    correct: Counter[tuple[str, Kind]] = Counter()
    counts: Counter[Kind] = Counter()
    for document in documents:
        described = describe(document)
        for case in cases(document):
            candidates = candidates_of(case)
            seen = [described[candidate] for candidate in candidates]
            counts[case.kind] += 1
            for name, rule in RULES.items():
                chosen = rule(described[case.mention], seen)
                correct[name, case.kind] += chosen is not None and candidates[chosen].cluster == case.mention.cluster
    table = pd.DataFrame({"rule": list(RULES)})
    whole = {column: sum(counts[kind] for kind in kinds) for column, kinds in COLUMNS.items()}
    for column, kinds in COLUMNS.items():
        right = np.array([sum(correct[name, kind] for kind in kinds) for name in RULES], dtype=float)
        table[column] = ratio(right, np.full(len(RULES), float(whole[column])))
    return table.assign(**{f"cases_{column}": count for column, count in whole.items()})


def describe(document: Document) -> dict[Mention, Described]:
    """Each of a document's mentions as the rules see it."""
    words = [word.lower() for word in document.words or ()]
    described = {}
    for mention, kind in zip(document.mentions or (), kinds_of(document), strict=True):
        own, head = tuple(words[mention.start : mention.stop]), words[head_word(document, mention)]
        described[mention] = Described(own, head, features_of(document, mention, kind))
    return described


def candidates_of(case: Case) -> list[Mention]:
    """The earlier mentions, the nearest first, without those that overlap with the case's own."""
    return [mention for mention in reversed(case.earlier) if mention.stop <= case.mention.start]


def _first(candidates: Sequence[Described], passes: Callable[[Described], bool]) -> int | None:
    return next((place for place, other in enumerate(candidates) if passes(other)), None)
