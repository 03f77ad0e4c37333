"""Head cards: ready for JSON for every kind of run, ranks by hand, marks in texts, sentences for newcomers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from headscope.errors import InputError
from headscope.heads.exemplars import SPANS, add_exemplars
from headscope.heads.role_table import NO_ROLE
from headscope.heads.roles import RoleMatch
from headscope.lens.head import Head
from headscope.report.findings.findings import findings
from headscope.report.heads.atlas import statistics_of
from headscope.report.heads.cards import best_relation, card_numbers, cards
from headscope.report.heads.exemplars import SPACE, exemplar
from headscope.report.heads.sentence import SinkNames
from headscope.study.run import Run
from headscope.study.run_by_head import RunByHead
from tests.heads.samples import beyond_sinks, one, relations, repeats
from tests.report.samples import SampleRun, every_run, per_head
from tests.statistics.tester import documents, lens_for


@every_run
def test_every_head_has_a_card_that_json_can_hold(name: str, sample_run: SampleRun) -> None:
    run = sample_run(name)
    made = cards(run)
    assert len(made) == len(run.roles) > 0
    assert len({card["label"] for card in made}) == len(made)
    json.dumps(made, allow_nan=False)
    for card in made:
        assert card["says"].endswith(".")
        assert "nan" not in card["says"]


def test_what_is_the_same_for_all_heads_is_on_no_card() -> None:
    strength, distance = per_head([1.0, 1.0 + 1e-7], "strength"), per_head([1.0, 2.0], "distance")
    assert card_numbers(Run.of({"strength": strength, "distance": distance})) == ["distance.distance"]


@pytest.mark.slow
def test_places_in_two_texts_are_not_compared(sample_run: SampleRun) -> None:
    """A target's third token is not beside its source's second: cross heads have no such number and no finding."""
    run = sample_run("marian")
    made = cards(run)
    places = {"beyond_sinks.previous", "beyond_sinks_norm.two_after", "distance.distance", "offsets.next"}
    others = {"beyond_sinks.rest", "beyond_sinks.one_token", "entropy.entropy"}
    statistics = {statistic["name"]: statistic["values"] for statistic in statistics_of(run, made, {})}
    for name in places | others:
        kinds = {card["kind"] for card, value in zip(made, statistics[name], strict=True) if value is not None}
        assert kinds == ({"self"} if name in places else {"self", "cross"})
    (far,) = [finding for finding in findings(run) if finding.text.startswith("Mean distance")]
    assert not any(label.startswith("cross") for label in far.heads)


def test_what_is_said_beyond_sinks_is_not_said_again(sample_run: SampleRun) -> None:
    run = sample_run("bert")
    names = {name.split(".")[0] for name in card_numbers(run)}
    assert {"beyond_sinks", "beyond_sinks_norm", "entropy", "distance"} <= names
    assert not {"offsets", "first_token", "special_tokens_norm", "category_weights"} & names
    without = Run.of({name: run[name] for name in run if not name.startswith("beyond_sinks")})
    assert "offsets" in {name.split(".")[0] for name in card_numbers(without)}


def test_special_tokens_by_weight_and_by_norm(sample_run: SampleRun) -> None:
    run = sample_run("bert")
    (card,) = [card for card in cards(run) if card["label"] == "1.2"]
    for measure, suffix in (("weight", ""), ("norm", "_norm")):
        row = run[f"special_tokens{suffix}"].iloc[6]
        assert card["special"][measure] == pytest.approx(row["[CLS]"] + row["[SEP]"])
    assert cards(Run.of({"distance": per_head([1.0, 2.0], "distance", heads=9)}))[0]["special"] == {
        "weight": None,
        "norm": None,
    }


def test_the_best_relation_is_furthest_above_its_baseline_and_not_rare() -> None:
    rare = relations(relation="vocative", accuracy=1.0, baseline=0.1, cases=9)
    table = pd.concat([relations(), relations(relation="aux", accuracy=0.95, baseline=0.9), rare])
    found = RunByHead({"relations": table})
    best = best_relation(found, found.heads[0])
    assert best is not None
    assert (best["name"], best["accuracy"], best["baseline"], best["cases"]) == ("det", 0.91, 0.52, 400)
    few = RunByHead({"relations": rare})
    assert best_relation(few, few.heads[0]) is None


def test_a_head_without_a_role_says_its_nearest_miss() -> None:
    """34 % of one place and nothing beside it: nearer to half than its breadth of 0.5 is to 0.8."""
    nowhere = {"two_before": 0.0, "same": 0.0, "next": 0.0, "two_after": 0.0}
    (card,) = cards(Run.of({"beyond_sinks": beyond_sinks(previous=0.34, **nowhere)}))
    assert card["role"] == NO_ROLE
    assert card["nearest"] == {
        "role": "previous token", "score": 0.34, "needed": 0.5, "says": "34% previous token; 50% would name it",
    }  # fmt: skip
    (named,) = cards(Run.of({"beyond_sinks": beyond_sinks(previous=0.51)}))
    assert named["nearest"] is None
    (unknown,) = cards(Run.of({"distance": one(distance=3.0)}))
    assert (unknown["role"], unknown["nearest"]) == (NO_ROLE, None)


# Exemplars


@pytest.mark.parametrize(
    ("text", "attending", "attended", "marks"),
    [
        ("it saw her", (0, 2), (7, 10), [("it", "attending"), (" saw ", None), ("her", "attended")]),
        ("her it", (4, 6), (0, 3), [("her", "attended"), (" ", None), ("it", "attending")]),
        ("a b c", (2, 3), (2, 3), [("a ", None), ("b", "both"), (" c", None)]),
        ("**go** *", (2, 4), (7, 8), [("**", None), ("go", "attending"), ("** ", None), ("*", "attended")]),
        ("abc", (0, 2), (2, 3), [("ab", "attending"), ("c", "attended")]),
        ("were here.", (9, 10), (5, 5), [("were ", None), (SPACE, "attended"), ("here", None), (".", "attending")]),
        ("<b> <i> x", (4, 7), (8, 9), [("<b> ", None), ("<i>", "attending"), (" ", None), ("x", "attended")]),
    ],
)  # fmt: skip
def test_runs_of_a_text(
    text: str, attending: tuple[int, int], attended: tuple[int, int], marks: list[tuple[str, str | None]]
) -> None:
    spans = dict(zip(SPANS, [*attending, *attended], strict=True))
    words = {"attending": text[slice(*attending)], "attended": text[slice(*attended)]}
    made = exemplar({"text": text, "attended_text": "", "score": 0.5, "source": "a/b.txt", **words, **spans})
    assert [(run["text"], run["mark"]) for run in made["runs"]] == marks
    assert (made["attending"], made["attended"]) == (words["attending"] or SPACE, words["attended"] or SPACE)
    assert made["source"] == "b.txt"


def test_a_target_and_its_source_are_runs_apart_and_long_texts_are_cut() -> None:
    spans = dict(zip(SPANS, [0, 4, 7, 10], strict=True))
    row = {"text": "elle", "attended_text": "it saw her again", "score": 0.5, "source": "", "attending": "elle", **spans}
    made = exemplar({**row, "attended": "her"}, around=4)
    assert [run["text"] for run in made["runs"]] == ["elle"]
    assert [run["text"] for run in made["attended_runs"]] == ["… ", "saw ", "her", " aga", " …"]
    assert [run.get("sign", False) for run in made["attended_runs"]] == [True, False, False, False, True]


def test_exemplars_of_a_run_are_its_texts(sample_run: SampleRun) -> None:
    plain = {"".join(document.text.split()) for document in documents("bert") if document.text}
    for card in cards(sample_run("bert")):
        assert card["exemplars"]
        for shown in card["exemplars"]:
            text = "".join(str(run["text"]) for run in shown["runs"])
            assert "".join(text.split()) in plain
            assert {run["mark"] for run in shown["runs"]} >= {"attending", "attended"}


def test_a_run_without_exemplars_is_told_how_to_get_them(tmp_path: Path) -> None:
    import headscope

    run = headscope.study(lens_for("bert"), documents("bert"), ["entropy"], out=tmp_path / "run")
    with pytest.raises(InputError, match="run the study with -s exemplars"):
        add_exemplars(lens_for("bert"), run, documents("bert"))


# Sentences


def sentence(**tables: pd.DataFrame) -> str:
    (card,) = cards(Run.of(tables))
    return str(card["says"])


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            {"beyond_sinks": beyond_sinks(previous=0.93, first=0.05, separator=0.02)},
            "Looks at the token before it: 93% of what goes beyond its sinks (the first token or separators).",
        ),
        (
            {
                "beyond_sinks": beyond_sinks(separator=0.88, first=0.02, rest=0.1),
                "beyond_sinks_norm": beyond_sinks(separator=0.06),
            },
            "Gives 88% of its attention to its sink, separators, from where only 6.0% of what it adds comes. Of the 10% "
            "beyond its sinks, the largest share we can name, 10%, goes to periods and commas.",
        ),
        (
            {"relations": relations()},
            "Follows the link from an article or determiner to its noun (det): right in 91% of cases, where the best fixed "
            "distance is right in 52%.",
        ),
        (
            {"repeats": repeats(induction=0.54), "beyond_sinks": beyond_sinks(first=0.6, separator=0.0, rest=0.4)},
            "Looks at the token that followed an earlier copy of this one, as if to say it again: 90% of what goes "
            "beyond its sinks, on random tokens that come twice. Its sinks take 60% (the first token) of "
            "its attention on ordinary text.",
        ),
        (
            {"antecedents": one(all=0.65, cases_all=500)},
            "Looks from a pronoun or name back to who is meant: right in 65% of cases.",
        ),
        (
            {"beyond_sinks": beyond_sinks(breadth=0.93, first=0.05, separator=0.0)},
            "Looks at everything a little, almost evenly: its breadth is 0.93 of 1.",
        ),
        (
            {"beyond_sinks": beyond_sinks(first=0.03, separator=0.0, rest=0.97, previous=0.3)},
            "No rule fits what this run has counted of it. Nearest: 38% nearby tokens; 50% would name it.",
        ),
        (
            {"beyond_sinks": beyond_sinks(first=0.99, separator=0.0, rest=0.01, previous=0.9)},  # too little to speak of
            "Gives 99% of its attention to its sink, the first token.",
        ),
        ({"distance": one(distance=3.0)}, "No rule fits what this run has counted of it."),
    ],
)
def test_sentences(tables: dict[str, pd.DataFrame], said: str) -> None:
    assert sentence(**tables) == said


def test_sinks_have_their_own_names(sample_run: SampleRun) -> None:
    run = sample_run("bert")
    places = SinkNames(run)
    assert (places.first, places.separator, places.both) == ("[CLS]", "[SEP]", "[CLS] or [SEP]")
    swapped = run["special_tokens"].rename(columns={"[CLS]": "<s>", "[SEP]": "</s>"})
    assert SinkNames(Run.of({**{name: run[name] for name in run}, "special_tokens": swapped})).both == "<s> or </s>"
    assert SinkNames(Run.of({})).both == "the first token or separators"
    none = {"beyond_sinks": run["beyond_sinks"].assign(separator=np.zeros(12))}
    assert SinkNames(Run.of(none)).both == "the first token"


def test_a_role_that_nobody_has_written_about_is_called_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def to_the_moon(found: RunByHead, head: Head) -> Iterator[RoleMatch]:
        yield RoleMatch("the moon", "position", 0.93, "the moon 0.93", "beyond_sinks", "previous")

    monkeypatch.setattr(sys.modules["headscope.heads.roles"], "RULES", (to_the_moon,))
    run = Run.of({"beyond_sinks": beyond_sinks(previous=0.93, first=0.05, separator=0.02)})
    (card,) = cards(run)
    assert card["says"] == "Looks at the moon: 93% of what goes beyond its sinks (the first token or separators)."
    assert "1 head looks at the moon, by share of what goes beyond sinks: 0.0 (93%)." in [one.text for one in findings(run)]
