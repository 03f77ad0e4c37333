"""What is kept of an exemplar: the scores of a whole reading, every token, and the pair that it is about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import headscope
from headscope.heads.exemplar_scores import COLUMNS, FAINTEST, NAME, around, exemplar_scores
from headscope.heads.exemplars import add_exemplars
from headscope.lens import Head
from headscope.statistics import Exemplars
from headscope.text import Document
from tests.statistics.tester import documents, lens_for

LONG = " ".join(["the cat sat on the mat , a dog"] * 4)


def drawn(family: str, folder: Path, texts: list[Document]) -> tuple[headscope.Run, pd.DataFrame]:
    lens = lens_for(family)
    run = headscope.study(lens, texts, [Exemplars(without_first=family == "llama")], out=folder / "run")
    add_exemplars(lens, run, texts)
    return run, run[NAME]


def text_of(run: headscope.Run, head: Head, rank: int, texts: list[Document]) -> Document:
    table = run["exemplars_readable"]
    row = next(row for row in table.to_dict("records") if Head.of(row) == head and row["rank"] == rank)
    return next(one for one in texts if one.name == row["source"])


@pytest.mark.parametrize("family", ["bert", "llama", "marian"])
def test_scores_are_those_of_the_whole_reading(family: str, tmp_path: Path) -> None:
    texts = [replace(document, name=f"text {place}") for place, document in enumerate(documents(family))]
    run, table = drawn(family, tmp_path, texts)
    assert list(table.columns) == COLUMNS
    assert {Head.of(row) for row in table.to_dict("records")} == set(run.heads)
    for _, rows in table.groupby(["stack", "kind", "layer", "head"], sort=False):
        head, rank = Head.of(rows.iloc[0]), int(rows["rank"].iloc[0])
        reading = lens_for(family).read(text_of(run, head, rank, texts))
        at = {"kind": head.kind, "stack": head.stack}
        whole = reading.scores("weight", layer=head.layer, **at)[head.head].numpy()
        found = np.zeros_like(whole)
        found[rows["row"], rows["key"]] = rows["score"]
        np.testing.assert_allclose(found, np.where(whole >= FAINTEST * whole.max(), whole, found), atol=1e-4)
        assert (set(rows["row"]), set(rows["key"])) == (set(range(len(whole))), set(range(whole.shape[1])))
        queries, keys, sinks = reading.query_texts(**at), reading.key_texts(**at), reading.sinks(**at)
        for row in rows.itertuples():
            assert (row.attending, row.attended, row.sink) == (queries[row.row], keys[row.key], sinks[row.key])
        (pair,) = rows[rows["pair"]].to_dict("records")
        best = run["exemplars_readable"]
        mine = next(one for one in best.to_dict("records") if Head.of(one) == head and one["rank"] == rank)
        assert pair["score"] == pytest.approx(mine["score"], abs=1e-4)


def test_of_a_long_text_what_is_around_the_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.heads.exemplar_scores.LONGEST", 10)
    _, table = drawn("llama", tmp_path, [Document(LONG)])
    for _, rows in table.groupby(["layer", "head"]):
        (pair,) = rows[rows["pair"]].to_dict("records")
        assert rows["tokens"].iloc[0] > 10
        assert len(set(rows["row"])) == len(set(rows["key"])) == 10
        nearest = rows["row"].map(lambda place, pair=pair: min(abs(place - pair["row"]), abs(place - pair["key"])))
        nearest = nearest[~rows["attending_special"]]
        left_out = set(range(rows["tokens"].iloc[0])) - set(rows["row"])
        assert nearest.max() <= min(min(abs(place - pair[end]) for end in ("row", "key")) for place in left_out)


def test_a_text_is_read_as_it_was_counted(tmp_path: Path) -> None:
    """Cut where the study cut it: an encoder's scores depend on all that it reads."""
    lens = lens_for("bert")
    run = headscope.study(lens, [Document(LONG)], [Exemplars()], out=tmp_path / "run", max_tokens=12, truncate=True)
    add_exemplars(lens, run, [Document(LONG)])
    assert set(run[NAME]["tokens"]) == {12}
    pairs = run[NAME][run[NAME]["pair"]].set_index(["layer", "head"])["score"]
    counted = run["exemplars"].set_index(["layer", "head"])["score"]
    np.testing.assert_allclose(pairs.sort_index().to_numpy(float), counted.sort_index().to_numpy(float), atol=1e-4)


def test_the_first_that_is_not_about_a_sink() -> None:
    """A decoder's first token is one: head 0 has another pair in its second text, head 1 in neither."""
    lens = lens_for("llama")
    texts = dict(enumerate(lens.encoder.encode(Document(text)) for text in ("one cat and two dogs", "the end of the cat")))
    other = lens.read("the end of the cat").sinks().index(False)
    place = {"stack": "decoder", "kind": "self", "layer": 0, "row": 5}
    asked = [
        {**place, "head": head, "rank": rank, "document": rank - 1, "key": key}
        for head, rank, key in ((0, 1, 0), (0, 2, other), (1, 1, 0), (1, 2, 0))
    ]
    table = exemplar_scores(lens, asked, texts)
    assert table.groupby("head")["rank"].unique().map(list).to_dict() == {0: [2], 1: [1]}
    assert exemplar_scores(lens, [], texts).empty


def test_special_tokens_are_always_kept() -> None:
    special = [True, *[False] * 100, True]
    assert around([50], special, most=5) == [0, 49, 50, 51, 101]
    assert around([3], special[:5], most=5) == [0, 1, 2, 3, 4]
