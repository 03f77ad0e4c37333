"""The three baselines of clark2019, table 2: each by hand on a small document, and together on LitBank."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.probes.antecedent_rules import RULES, antecedent_rules, candidates_of, describe
from headscope.text import Corpus, Document, Mention
from headscope.text.coreference.cases import Case, cases
from headscope.text.coreference.windows import windows
from tests import places

DATA = places.DATA

TEXT = """Mr. Bennet met his wife . She saw the two dogs . Mr. Bennet and the old dogs ran .
They barked , and the lady called them . The Bennet house was hers ."""
DOCUMENT = Document(
    words=TEXT.split(),
    mentions=[
        Mention(0, 2, "bennet", "PROP"),  # Mr. Bennet
        Mention(3, 4, "bennet", "PRON"),  # his
        Mention(3, 5, "wife", "NOM"),  # his wife
        Mention(6, 7, "wife", "PRON"),  # She
        Mention(8, 11, "dogs", "NOM"),  # the two dogs
        Mention(12, 14, "bennet", "PROP"),  # Mr. Bennet
        Mention(15, 18, "dogs", "NOM"),  # the old dogs
        Mention(20, 21, "dogs", "PRON"),  # They
        Mention(24, 26, "wife", "NOM"),  # the lady
        Mention(27, 28, "dogs", "PRON"),  # them
        Mention(33, 34, "wife", "PRON"),  # hers
    ],
)
# What each rule chooses, by the first word of the chosen mention; None for nothing.
EXPECTED = {
    # case: nearest, head word match, rule-based
    3: (0, None, 0),  # his -> Mr. Bennet, the only mention before it
    6: (3, None, 3),  # She -> his wife (the last in reading order), which agrees; `his` does not
    12: (8, 0, 0),  # Mr. Bennet -> the same string
    15: (12, 8, 8),  # the old dogs -> the same head word
    20: (15, None, 15),  # They -> the nearest plural
    24: (20, None, 6),  # the lady -> They; the nearest that agrees is She: a feminine singular
    27: (24, None, 20),  # them -> They: the nearest plural
    33: (27, None, 24),  # hers -> the lady, past them
}


def chosen_by(rule: str, case: Case, document: Document) -> Mention | None:
    described, candidates = describe(document), candidates_of(case)
    place = RULES[rule](described[case.mention], [described[candidate] for candidate in candidates])
    return None if place is None else candidates[place]


def test_every_rule_by_hand() -> None:
    found = {}
    for case in cases(DOCUMENT):
        chosen = [chosen_by(rule, case, DOCUMENT) for rule in ("nearest", "head word match", "rule-based")]
        found[case.mention.start] = tuple(mention and mention.start for mention in chosen)
    assert found == EXPECTED


def test_accuracies_by_hand() -> None:
    """Of 8 cases: 5 pronouns (his, She, They, them, hers), 1 name (Mr. Bennet), 2 nominals (the old dogs, the lady)."""
    table = antecedent_rules([DOCUMENT]).set_index("rule")
    assert table["cases_all"].unique().tolist() == [8]
    assert (table["cases_pronoun"].iloc[0], table["cases_proper"].iloc[0], table["cases_nominal"].iloc[0]) == (5, 1, 2)
    # Nearest: his, She and They are right, and none of the others.
    assert table.loc["nearest", ["all", "pronoun", "proper", "nominal"]].tolist() == [3 / 8, 3 / 5, 0, 0]
    assert table.loc["head word match", ["all", "pronoun", "proper", "nominal"]].tolist() == [2 / 8, 0, 1, 1 / 2]
    assert table.loc["rule-based", ["all", "pronoun", "proper", "nominal"]].tolist() == [1, 1, 1, 1]


def test_the_last_sieve_takes_the_nearest_though_nothing_agrees() -> None:
    document = Document(words=["we", "saw", "him"], mentions=[Mention(0, 1, "x", "PRON"), Mention(2, 3, "x", "PRON")])
    (case,) = cases(document)
    assert chosen_by("rule-based", case, document) == Mention(0, 1, "x", "PRON")


def test_the_full_string_comes_before_a_nearer_head_word() -> None:
    text = "The old king met a young king . the OLD king left"
    mentions = [Mention(0, 3, "old", "NOM"), Mention(4, 7, "young", "NOM"), Mention(8, 11, "old", "NOM")]
    document = Document(words=text.split(), mentions=mentions)
    (case,) = cases(document)
    assert chosen_by("head word match", case, document) == mentions[1]
    assert chosen_by("rule-based", case, document) == mentions[0], "without case"


def test_mentions_that_overlap_are_no_candidates() -> None:
    """`the man who lost his hat` holds `his`, and is its antecedent all the same: the rules cannot find it."""
    text = "Ann saw the man who lost his hat"
    mentions = [Mention(0, 1, "Ann", "PROP"), Mention(2, 8, "man", "NOM"), Mention(6, 7, "man", "PRON")]
    document = Document(words=text.split(), mentions=mentions)
    (case,) = cases(document)
    assert candidates_of(case) == [mentions[0]]
    assert antecedent_rules([document])["all"].tolist() == [0, 0, 0]


def test_only_judged_mentions_are_cases() -> None:
    whole = antecedent_rules([DOCUMENT])
    assert antecedent_rules([replace(DOCUMENT, context=21)])["cases_all"].tolist() == [3, 3, 3]
    assert antecedent_rules([DOCUMENT, DOCUMENT])["cases_all"].tolist() == [16, 16, 16]
    assert antecedent_rules([DOCUMENT, DOCUMENT])["all"].tolist() == whole["all"].tolist()


def test_without_cases_there_is_no_accuracy() -> None:
    table = antecedent_rules([Document(words=["a"], mentions=[])])
    assert table["cases_all"].tolist() == [0, 0, 0]
    assert np.isnan(table["all"]).all()


mentions = st.builds(
    lambda start, length, cluster, kind: Mention(start, min(start + length, 30), cluster, kind),
    st.integers(0, 29),
    st.integers(1, 4),
    st.sampled_from("xy"),
    st.sampled_from(["PRON", "NOM", "PROP"]),
)


@given(
    words=st.lists(st.sampled_from(["he", "she", "Ann", "king", "the", "dogs", "of"]), min_size=30, max_size=30),
    found=st.lists(mentions, max_size=10, unique_by=lambda mention: mention[:2]),
    context=st.integers(0, 30),
)
def test_rules_choose_earlier_mentions_and_agree_with_their_definition(
    words: list[str], found: list[Mention], context: int
) -> None:
    document = Document(words=words, mentions=found, context=context)
    described = describe(document)
    for case in cases(document):
        before = [one for one in found if (one.start, one.stop) < (case.mention.start, case.mention.stop)]
        apart = [one for one in sorted(before) if one.stop <= case.mention.start]
        assert chosen_by("nearest", case, document) == (apart[-1] if apart else None)
        own = described[case.mention]
        same = [one for one in apart if described[one].head_word == own.head_word]
        assert chosen_by("head word match", case, document) == (same[-1] if same else None)
        strings = [one for one in apart if described[one].words == own.words]
        by_sieves = chosen_by("rule-based", case, document)
        if strings or same:
            assert by_sieves == (strings or same)[-1]
        assert (by_sieves is None) == (not apart)


@pytest.mark.real
def test_the_sieves_beat_the_others_on_litbank() -> None:
    folder = DATA / "coreference" / "litbank" / "tsv"
    if not folder.is_dir():
        pytest.skip(f"LitBank is not in {DATA}: name the data folder with HEADSCOPE_DATA")
    novels = list(Corpus.of(folder))[::10]
    parts = [part for novel in novels for part in windows(novel, lambda part: len(part.words or ()), 100)]
    table = antecedent_rules(parts).set_index("rule")
    assert table["cases_all"].iloc[0] > 1500
    assert table.loc["rule-based", "all"] > 0.75
    assert (table.loc["rule-based"] >= table.loc["head word match"]).all()
    assert table.loc["rule-based", "all"] > table.loc["nearest", "all"] + 0.1
