"""Parts of speech that a head looks at: by hand."""

from __future__ import annotations

import numpy as np
import pytest

from headscope.lens import BY_WORD
from headscope.statistics import Dependencies, RelationTypes, Tags
from headscope.text import Document
from tests.statistics.tester import counted, lens_for, null_block


def test_tags_by_hand() -> None:
    fresh = Tags(without_first=True).start([null_block().site])
    fresh.update(null_block())
    table = fresh.table().set_index("tag")
    # Without the first key 0.5 + 0.5 + 0.25 are left; b gets 1.0 and c 0.25; b gives 0.5 and c 0.75.
    assert table["to"].to_dict() == pytest.approx({"DET": 0, "NOUN": 0.8, "VERB": 0.2})
    assert table["from"].to_dict() == pytest.approx({"DET": 0, "NOUN": 0.4, "VERB": 0.6})
    assert table["corpus"].to_dict() == pytest.approx(dict.fromkeys(("DET", "NOUN", "VERB"), 1 / 3))


TRANSLATED = [
    Document(
        words=["the", "cats", "sat"],
        target_words=target,
        tags=["DET", "NOUN", "VERB"],
        parents=[1, 2, -1],
        relations=["det", "nsubj", "root"],
    )
    for target in (["two", "dogs", "and", "a", "cat"], ["one"])
]


@pytest.mark.parametrize("level", ["token", "word"])
def test_labels_are_the_sources_in_a_translation(level: str) -> None:
    """What attends from a target has no part of speech; the source that it attends to has."""
    table = counted(Tags(level=level), "marian", TRANSLATED).table()
    of_site = dict(list(table.groupby(["stack", "kind"])))
    assert of_site["encoder", "self"][["to", "from"]].notna().all(axis=None)
    assert of_site["decoder", "cross"]["to"].notna().all()
    assert of_site["decoder", "cross"]["from"].isna().all()
    assert of_site["decoder", "self"][["to", "from"]].isna().all(axis=None)
    assert set(table["tag"]) == {"DET", "NOUN", "VERB"}
    relations = counted(RelationTypes(level=level), "marian", TRANSLATED).table()
    assert relations["to"].tolist() == pytest.approx(table["to"].tolist(), nan_ok=True)


def test_shares_of_cross_attention_against_the_maps() -> None:
    lens = lens_for("marian")
    table = counted(Tags(), "marian", TRANSLATED).table()
    cross = table[(table["kind"] == "cross") & (table["layer"] == 1) & (table["head"] == 2)].set_index("tag")["to"]
    given, everything = dict.fromkeys(cross.index, 0.0), 0.0
    for document in TRANSLATED:
        reading = lens.read(document)
        (block,) = (one for one in reading.blocks.values() if one.site.kind == "cross" and one.site.layer == 1)
        weights = block.weights[0, 2].numpy()
        everything += weights.sum()
        for key, word in enumerate(reading.batch.sources[0].word_of):
            if word is not None:
                given[document.tags[word]] += weights[:, key].sum()
    assert cross.to_dict() == pytest.approx({tag: amount / everything for tag, amount in given.items()}, rel=1e-5)


def test_dependencies_are_the_sources_too() -> None:
    table = counted(Dependencies(), "marian", TRANSLATED).table()
    decoder = (table["stack"] == "decoder").to_numpy()
    assert np.isnan(table["either"].to_numpy()[decoder]).all()
    assert (table["either"].to_numpy()[~decoder] > 0).all()
    assert lens_for("marian").read(TRANSLATED[0], encoding=BY_WORD).batch.sources[0].words == ["the", "cats", "sat"]
