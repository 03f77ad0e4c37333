"""What heads write in their exemplars is what a reading of the text says; only heads that reach words have some."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import headscope
from headscope.heads.exemplar_scores import NAME as SCORES
from headscope.heads.exemplar_writes import COUNT, NAME
from headscope.heads.exemplars import add_exemplars
from headscope.lens import Head
from headscope.lens.head import HEAD
from headscope.report.heads.cards import cards
from headscope.statistics import Exemplars
from tests.lens.language_models import documents, lens_for
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer


def counted(family: str, folder: Path) -> tuple[headscope.Run, list[headscope.Document]]:
    texts = [replace(document, name=f"text {place}") for place, document in enumerate(documents(family))]
    run = headscope.study(
        lens_for(family), texts, [Exemplars(without_first=family == "llama"), "entropy"], out=folder / "run"
    )
    add_exemplars(lens_for(family), run, texts)
    return run, texts


@pytest.mark.parametrize("family", ["bert", "llama", "marian"])
def test_they_are_those_of_a_reading(family: str, tmp_path: Path) -> None:
    run, texts = counted(family, tmp_path)
    table, scores, readable = run[NAME], run[SCORES], run["exemplars_readable"]
    groups = {Head.of(rows.iloc[0].to_dict()): rows for _, rows in table.groupby(HEAD, sort=False)}
    assert set(groups) == {head for head in run.heads if family != "marian" or head.stack == "decoder"}
    for head, rows in groups.items():
        mine = [row for row in scores[scores["pair"]].to_dict("records") if Head.of(row) == head]
        rank, place = int(rows["rank"].iloc[0]), int(rows["row"].iloc[0])
        assert (rank, place) == (mine[0]["rank"], mine[0]["row"]), "in the text that is drawn, at the token that looks"
        text = next(row for row in readable.to_dict("records") if Head.of(row) == head and row["rank"] == rank)
        document = next(one for one in texts if one.name == text["source"])
        wanted = lens_for(family).read(document).writes(head, at=place, count=COUNT)
        assert rows["logit"].tolist() == pytest.approx(wanted["logit"].tolist(), abs=1e-5)
        assert rows["id"].tolist() == wanted["id"].tolist()


def test_they_stand_on_the_cards(tmp_path: Path) -> None:
    run, _ = counted("llama", tmp_path)
    card = next(card for card in cards(run) if card["label"] == "1.1")
    rows = run[NAME][(run[NAME]["layer"] == 1) & (run[NAME]["head"] == 1)]
    assert [one["token"] for one in card["writes"]["more"]] == rows["token"].tolist()[:COUNT]
    assert [one["token"] for one in card["writes"]["less"]] == rows["token"].tolist()[: -COUNT - 1 : -1]
    assert card["writes"]["less"][0]["logit"] == rows["logit"].min() < 0
    assert card["writes"]["at"] == card["exemplars"][int(rows["rank"].iloc[0]) - 1]["attending"]


def test_a_model_without_words_has_none(tmp_path: Path) -> None:
    texts = documents("bert")
    with headscope.open(tiny("bert"), tiny_tokenizer("wordpiece")) as lens:
        run = headscope.study(lens, texts, [Exemplars()], out=tmp_path / "run")
        add_exemplars(lens, run, texts)
    assert SCORES in run
    assert NAME not in run
    assert all(card["writes"] is None for card in cards(run))
