"""Number, gender and person: by hand, and on LitBank, where mentions of one person agree and others often do not."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.text import Corpus, Document, Mention
from headscope.text.coreference.agreement import agree, features_of, number_of
from headscope.text.coreference.english import GIVEN_NAMES, NOUNS, PRONOUNS, Features, Gender, Number

MASCULINE, FEMININE, NEUTER = "masculine", "feminine", "neuter"


@pytest.mark.parametrize(
    ("phrase", "features"),
    [
        ("I", Features("singular", None, 1)),
        ("us", Features("plural", None, 1)),
        ("thou", Features("singular", None, 2)),
        ("you", Features(None, None, 2)),
        ("Himself", Features("singular", MASCULINE)),
        ("her", Features("singular", FEMININE)),
        ("it", Features("singular", NEUTER)),
        ("them", Features("plural")),
        ("who", Features()),
        ("Mr. Bennet", Features("singular", MASCULINE)),
        ("Miss Jane Bennet", Features("singular", FEMININE)),
        ("Jane Austen", Features("singular", FEMININE)),
        ("Bennet", Features("singular")),
        ("James", Features("singular", MASCULINE)),
        ("the Bennets", Features("plural")),
        ("Mr. and Mrs. Smith", Features("plural")),
        ("Tom and Ann", Features("plural")),
        ("a wise and good king", Features("singular", MASCULINE)),
        ("Mr. Bennet 's daughters", Features("plural", FEMININE)),
        ("the old queen of Spain", Features("singular", FEMININE)),
        ("his sister-in-law", Features("singular", FEMININE)),
        ("two fishermen", Features("plural", MASCULINE)),
        ("the ladies", Features("plural", FEMININE)),
        ("the children", Features("plural")),
        ("the house", Features("singular", NEUTER)),
        ("the crowd", Features()),
        ("a German", Features("singular")),
        ("the friend of his wife", Features("singular")),
    ],
)
def test_features_by_hand(phrase: str, features: Features) -> None:
    words = phrase.split()
    document = Document(words=["then", *words, "left"])
    assert features_of(document, Mention(1, 1 + len(words), "x")) == features


def test_tags_tell_number() -> None:
    assert number_of(["sheep", "dogs"], "NOM", "NN") == "singular"
    assert number_of(["the", "data"], "NOM", "NNS") == "plural"
    assert number_of(["cowboys"], "PROP", "NNPS") == "plural"
    document = Document(words=["the", "gentry"], fine_tags=["DT", "NNS"])
    assert features_of(document, Mention(0, 2, "x", "NOM")) == Features("plural")


def test_a_pronoun_that_is_on_no_list_is_third_person() -> None:
    assert features_of(Document(words=["oneself's"]), Mention(0, 1, "x", "PRON")) == Features()


features = st.builds(
    Features,
    st.sampled_from([None, *get_args(Number)]),
    st.sampled_from([None, *get_args(Gender)]),
    st.sampled_from([1, 2, 3]),
)


@given(features, features)
def test_agreeing_is_mutual_and_not_knowing_never_conflicts(one: Features, other: Features) -> None:
    assert agree(one, one)
    assert agree(one, other) == agree(other, one)
    known = {name for name in Features._fields if None not in (getattr(one, name), getattr(other, name))}
    conflict = any(getattr(one, name) != getattr(other, name) for name in known)
    assert agree(one, other) != conflict
    if agree(one, other):
        assert agree(one._replace(gender=None), other)


def test_the_lists_do_not_contradict_each_other() -> None:
    assert not set(PRONOUNS) & set(NOUNS)
    for word in set(NOUNS) & set(GIVEN_NAMES):
        assert NOUNS[word] == GIVEN_NAMES[word]


@pytest.mark.real
def test_mentions_of_one_thing_agree_in_litbank(data: Path) -> None:
    """Consecutive mentions of one cluster, without dialogue's changes of person; and neighbours of different clusters."""
    same: Counter[bool] = Counter()
    different: Counter[bool] = Counter()
    for document in list(Corpus.of(data / "coreference" / "litbank" / "tsv"))[::4]:
        described = [(mention, features_of(document, mention)) for mention in document.mentions or ()]
        clusters: dict[str, list[Features]] = {}
        for mention, of_mention in described:
            clusters.setdefault(mention.cluster, []).append(of_mention)
        for found in clusters.values():
            same.update(agree(one, other) for one, other in pairwise(found) if one.person == other.person)
        for (mention, one), (following, other) in pairwise(described):
            if mention.cluster != following.cluster:
                different[agree(one, other)] += 1
    assert same[True] / same.total() > 0.98
    assert different[False] / different.total() > 0.5
