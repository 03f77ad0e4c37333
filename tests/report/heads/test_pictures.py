"""What cards draw, against the tables of the run and against the model's own reading; and how it stands in the page."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import headscope
from headscope.heads.exemplar_scores import NAME as SCORES
from headscope.lens.head import Head
from headscope.report import add_model_tables, description, report_page, report_statistics
from headscope.report.heads.pictures import is_drawn, pictures_of
from headscope.study.run import Run
from tests.report.samples import SampleRun
from tests.statistics.tester import documents, lens_for
from tests.views.decoding import parts, scores

FAMILIES = ("bert", "llama", "marian")


@pytest.fixture(scope="module", params=FAMILIES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    lens, texts = lens_for(request.param), documents(request.param)
    found = headscope.study(lens, texts, report_statistics(lens), out=tmp_path_factory.mktemp("pictures") / "run")
    add_model_tables(lens, found, texts)
    return found


def is_causal(head: Head) -> bool:
    return (head.stack, head.kind) == ("decoder", "self")


def test_every_head_is_drawn_from_its_tables(run: Run) -> None:
    pictures = pictures_of(run)
    assert set(pictures) == set(run.heads)
    maps, profiles = run["position_map"], run["distance_profile"]
    for head, picture in pictures.items():
        mine = maps[(maps[list(head._fields)] == list(head)).all(axis=1)]
        drawn, first = picture["map"], int(is_causal(head))
        assert drawn is not None
        assert drawn["first"] == first
        for row in mine[(mine["query"] >= first) & (mine["key"] >= first)].itertuples():
            assert drawn["rows"][row.query - first][row.key - first] == pytest.approx(row.score, abs=1e-4)
        rows = mine[mine["query"] >= first]
        hidden = rows[rows["key"] == 0]["score"].sum() / rows["score"].sum() if first else None
        assert drawn["hidden"] == (pytest.approx(hidden) if first else None)
        shown = picture["profile"]
        assert (shown is None) == (head.kind == "cross")
        if shown is not None:
            mine = profiles[(profiles[list(head._fields)] == list(head)).all(axis=1)].set_index("nearest")["share"]
            near = [bin[0] for bin in shown["bins"]]
            np.testing.assert_allclose(shown["shares"], mine.loc[near], atol=1e-4)
            assert sum(shown["shares"]) == pytest.approx(1, abs=1e-3)
            assert (max(near) == 0) == is_causal(head)


def test_an_exemplar_is_a_view_of_its_head(run: Run) -> None:
    table = run[SCORES]
    for head, picture in pictures_of(run).items():
        drawn = picture["exemplar"]
        assert drawn is not None
        (attention,) = drawn["content"]["attentions"]
        assert (attention["stack"], attention["kind"], attention["layer"], attention["heads"]) == (*head[:3], [head.head])
        found = scores(attention, drawn["chunks"], "weight")[0]
        mine = table[(table[list(head._fields)] == list(head)).all(axis=1)]
        expected = np.zeros_like(found)
        expected[mine["row"], mine["key"]] = mine["score"]
        np.testing.assert_allclose(found, expected, atol=0.6 * expected.max() / 255)
        row, key = (int(name[1:]) for name in drawn["keep"])
        pair = mine[mine["pair"]].iloc[0]
        sides = drawn["content"]["sides"]
        tokens = sides[attention["query"]]["tokens"][row], sides[attention["key"]]["tokens"][key]
        assert tokens == (pair["attending"], pair["attended"])
        sinks = drawn["content"]["sinks"][f"{head.stack} {head.kind}"]
        assert sinks == [bool(one) for one in mine.groupby("key")["sink"].first()]
        assert (attention["query"] == attention["key"]) == (head.kind == "self")


def test_pictures_lie_in_the_page_by_layers_and_their_tables_do_not(run: Run) -> None:
    described = description(run)
    carried, chunks = parts(report_page(run))
    by_name = {head["name"]: head["picture"] for head in described["heads"]}
    layers = {(head["group"], head["layer"]) for head in described["heads"]}
    for head in carried["heads"]:
        assert head["picture"] is None
        of_layer = json.loads(zlib.decompress(base64.b64decode(chunks[head["picture_chunk"]])))
        assert of_layer[head["name"]] == by_name[head["name"]]
    assert len({head["picture_chunk"] for head in carried["heads"]}) == len(layers)
    names = {table["name"] for table in described["tables"]}
    assert not names & {"position_map", "distance_profile", SCORES}
    assert names | {"position_map", "distance_profile", SCORES} == {"roles", *run.tables}


def test_a_run_that_has_counted_nothing_to_draw(sample_run: SampleRun, tmp_path: Path) -> None:
    run = sample_run("bert")
    plain = Run.of({name: run[name] for name in run if name != SCORES})
    assert pictures_of(plain) == {}
    assert all(head["picture"] is None for head in description(run)["heads"]) == (SCORES not in run)
    assert is_drawn("position_map_norm_words")
    assert not is_drawn("distance")
