"""Roles on tables made by hand: each rule just above and just below its threshold, precedence, and missing tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import headscope
from headscope.heads.patterns import BROAD, HALF
from headscope.heads.relations import ENOUGH
from headscope.heads.role_table import FAMILIES, NO_ROLE, ROLES
from headscope.heads.roles import ABOVE, COLUMNS, LITTLE, NO_OP, roles
from headscope.lens.head import HEAD
from headscope.statistics import BeyondSinks
from headscope.study.repeats import add_repeats
from headscope.study.run import Run
from headscope.study.run_by_head import RunByHead
from tests.heads.samples import NOWHERE, REST, beyond_sinks, one, relations, repeats

JUST = 0.001


def named(**tables: pd.DataFrame) -> dict[str, Any]:
    table = roles(Run.of(tables))
    assert list(table.columns) == COLUMNS
    assert len(table) == 1
    return table.iloc[0].to_dict()


def test_no_rule_holds() -> None:
    found = named(beyond_sinks=beyond_sinks())
    assert (found["role"], found["rule"], found["also"], found["family"]) == (NO_ROLE, NO_ROLE, "", "none")
    assert math.isnan(found["score"])


@pytest.mark.parametrize(
    ("column", "role"), [("previous", "previous token"), ("next", "next token"), ("same", "same token")]
)
def test_a_fixed_place_has_more_than_half_of_what_goes_beyond_sinks(column: str, role: str) -> None:
    found = named(beyond_sinks=beyond_sinks(**{column: 0.93}))
    assert (found["role"], found["rule"], found["score"]) == (role, f"{role} 0.93", 0.93)
    assert (found["table"], found["column"]) == ("beyond_sinks", column)
    assert named(beyond_sinks=beyond_sinks(**{column: HALF - 0.09}))["role"] == NO_ROLE


def test_a_head_that_leaves_little_is_not_judged_on_it() -> None:
    found = named(beyond_sinks=beyond_sinks(previous=0.9, first=0.97, separator=0.0, rest=LITTLE - JUST))
    assert (found["role"], found["rule"]) == ("sink", "first token 0.97")
    assert (
        named(beyond_sinks=beyond_sinks(previous=0.9, first=0.9, separator=0.0, rest=LITTLE + JUST))["role"]
        == "previous token"
    )


def test_sinks_do_not_hide_what_the_rest_does() -> None:
    found = named(beyond_sinks=beyond_sinks(previous=0.8, first=0.85, separator=0.0, rest=0.15))
    assert (found["role"], found["also"]) == ("previous token", "first token 0.85")


def test_no_one_place_but_all_around() -> None:
    found = named(beyond_sinks=beyond_sinks(previous=0.3, two_before=0.2, same=0.1))
    assert (found["role"], found["rule"]) == ("nearby tokens", "within two tokens 0.64")
    assert found["column"] == "previous + next + same + two_before + two_after"


def test_in_a_short_text_all_places_are_near_and_that_is_no_role() -> None:
    places = {"previous": 0.3, "two_before": 0.3, "same": 0.3}
    assert named(beyond_sinks=beyond_sinks(**places, breadth=BROAD - JUST))["role"] == "nearby tokens"
    assert named(beyond_sinks=beyond_sinks(**places, breadth=BROAD))["role"] == "broad"
    assert named(beyond_sinks=beyond_sinks(one_token=0.6, breadth=BROAD))["role"] == "broad"


def test_offsets_stand_in_where_the_rest_was_not_counted_and_it_is_said() -> None:
    found = named(offsets=one(previous=0.93, same=0.0, next=0.0))
    assert (found["role"], found["rule"]) == ("previous token", "previous token 0.93 of all attention")
    assert named(offsets=one(previous=0.3, same=0.2, next=0.1))["rule"] == "within one token 0.60 of all attention"


def test_a_run_that_has_only_norms_is_read_by_them_and_it_is_said() -> None:
    assert named(beyond_sinks_norm=beyond_sinks(previous=0.93))["rule"] == "previous token 0.93 by norm"
    sinks = beyond_sinks(separator=0.88, first=0.02, rest=0.1)
    assert named(beyond_sinks_norm=sinks)["rule"] == "separator 0.88 by norm"
    both = named(beyond_sinks=beyond_sinks(next=0.7), beyond_sinks_norm=beyond_sinks(previous=0.93))
    assert both["rule"] == "next token 0.70", "weights, where there are some"


def test_cross_attention_has_no_previous_token() -> None:
    table = one(["decoder", "cross", 0, 0], **{**REST, **NOWHERE, "previous": 0.9})
    assert named(beyond_sinks=table)["role"] == NO_ROLE


@pytest.mark.parametrize(
    ("separator", "norm", "rule"),
    [
        (0.88, 0.06, "separator 0.88, norm 0.06: a no-op"),
        (0.88, NO_OP * 0.88 - JUST, "separator 0.88, norm 0.44: a no-op"),
        (0.88, NO_OP * 0.88 + JUST, "separator 0.88, norm 0.44"),
    ],
)
def test_separators_and_no_ops(separator: float, norm: float, rule: str) -> None:
    by_weight = beyond_sinks(separator=separator, first=0.02, rest=0.1)
    found = named(beyond_sinks=by_weight, beyond_sinks_norm=beyond_sinks(separator=norm))
    assert (found["role"], found["rule"]) == ("separator", rule)
    assert named(beyond_sinks=by_weight)["rule"] == "separator 0.88"


def test_norms_of_a_run_of_kobayashi2020() -> None:
    table = one(weight_separator=0.7, weight_first=0.1, share_norm_separator=0.2, share_norm_first=0.01)
    assert named(category_weights=table)["rule"] == "separator 0.70, norm 0.20: a no-op"


def test_two_places_may_be_sinks_together() -> None:
    found = named(beyond_sinks=beyond_sinks(separator=0.4, first=0.3, rest=0.3))
    assert (found["role"], found["rule"]) == ("separator", "separator 0.40 and first token 0.30")
    assert named(beyond_sinks=beyond_sinks(separator=0.3, first=HALF - 0.3, rest=0.5))["role"] == NO_ROLE


def test_broad_is_what_is_left_to_a_head_whose_sinks_have_less_than_half() -> None:
    assert named(beyond_sinks=beyond_sinks(breadth=BROAD))["rule"] == "broad 0.80"
    assert named(beyond_sinks=beyond_sinks(breadth=BROAD - JUST))["role"] == NO_ROLE
    assert named(beyond_sinks=beyond_sinks(breadth=0.95, rest=0.3, first=0.7, separator=0.0))["role"] == "sink"
    assert named(entropy=one(entropy=1.8, uniform=2.0))["rule"] == "broad 0.90"


def test_punctuation_and_a_second_sink() -> None:
    assert named(beyond_sinks=beyond_sinks(punctuation=HALF + JUST))["role"] == "punctuation"
    found = named(beyond_sinks=beyond_sinks(one_token=0.71))
    assert (found["role"], found["family"], found["rule"]) == ("second sink", "sink", "one token of each text 0.71")


def test_a_relation_and_its_baseline() -> None:
    found = named(relations=relations(), beyond_sinks=beyond_sinks(next=0.8))
    assert (found["role"], found["rule"]) == ("det", "det 0.91 (baseline 0.52)")
    assert (found["score"], found["baseline"], found["also"]) == (0.91, 0.52, "next token 0.80")
    reverse = named(relations=relations(direction="head to dependent"))
    assert reverse["rule"] == "det, head to dependent 0.91 (baseline 0.52)"


@pytest.mark.parametrize(
    "changes",
    [
        {"accuracy": HALF - JUST, "baseline": 0.1},
        {"baseline": 0.91 - ABOVE + JUST},
        {"cases": ENOUGH - 1},
        {"accuracy_half0": 0.52 + ABOVE - JUST},
        {"relation": "punct"},
        {"relation": "all"},
    ],
    ids=str,
)
def test_what_is_no_relation(changes: dict[str, Any]) -> None:
    assert named(relations=relations(**changes))["role"] == NO_ROLE


def test_of_several_relations_the_one_furthest_above_its_baseline() -> None:
    table = pd.concat([relations(), relations(relation="aux", accuracy=0.8, baseline=0.2)])
    found = named(relations=table)
    assert (found["rule"], found["also"]) == ("aux 0.80 (baseline 0.20)", "det 0.91 (baseline 0.52)")


def test_coreference_must_beat_the_simple_rules_where_they_were_tried() -> None:
    heads = one(all=0.65, cases_all=500)
    assert named(antecedents=heads)["rule"] == "antecedent 0.65"
    rules = pd.DataFrame({"system": ["nearest", "head word match", "rule-based"], "all": [0.27, 0.52, 0.69]})
    found = named(antecedents=heads, clark2019_table2=rules)
    assert (found["role"], found["rule"]) == ("coreference", "antecedent 0.65 (baseline 0.52)")
    assert named(antecedents=one(all=0.6, cases_all=500), clark2019_table2=rules)["role"] == NO_ROLE
    assert named(antecedents=one(all=0.65, cases_all=ENOUGH - 1))["role"] == NO_ROLE


def test_heads_on_repeated_random_tokens() -> None:
    """Scores are of what goes beyond sinks: 0.54 of 0.6."""
    found = named(repeats=repeats(induction=0.54), beyond_sinks=beyond_sinks(first=0.97, separator=0, rest=0.03))
    assert found["rule"] == "induction 0.90 on repeated random tokens"
    assert found["also"] == "first token 0.97"
    assert found["score"] == pytest.approx(0.9)
    assert named(repeats=repeats(duplicate=0.54))["role"] == "duplicate token"
    assert named(repeats=repeats(previous=0.54))["role"] == "previous token"
    assert named(repeats=repeats(induction=HALF * 0.6 - JUST))["role"] == NO_ROLE
    assert named(repeats=repeats(induction=0.54, sinks=1.0))["role"] == NO_ROLE
    assert named(repeats=repeats(induction=0.54, induction_unrepeated=0.5))["role"] == NO_ROLE, "that is position alone"


@pytest.mark.parametrize(
    ("tables", "nearest"),
    [
        (
            {"beyond_sinks": beyond_sinks(**dict.fromkeys(NOWHERE, 0.0) | {"previous": 0.45})},
            "previous token 0.45 (0.50 would name it)",
        ),
        ({"beyond_sinks": beyond_sinks(previous=0.2, same=0.2)}, "nearby tokens 0.46 (0.50 would name it)"),
        ({"beyond_sinks": beyond_sinks(punctuation=0.47)}, "punctuation 0.47 (0.50 would name it)"),
        ({"beyond_sinks": beyond_sinks(one_token=0.47)}, "second sink 0.47 (0.50 would name it)"),
        ({"beyond_sinks": beyond_sinks(breadth=0.7)}, "broad 0.70 (0.80 would name it)"),
        ({"beyond_sinks": beyond_sinks(first=0.25, separator=0.23)}, "sink 0.48 (0.50 would name it)"),
        ({"repeats": repeats(induction=0.27)}, "induction 0.45 (0.50 would name it)"),
        ({"repeats": repeats(induction=0.27, induction_unrepeated=0.2)}, ""),  # by its place alone: no miss
        ({"relations": relations(accuracy=0.6, accuracy_half0=0.62, accuracy_half1=0.62)}, "det 0.60 (0.62 would name it)"),
        ({"relations": relations(accuracy=0.6, accuracy_half0=0.58)}, ""),  # in one half it does not hold at all
        ({"antecedents": one(all=0.4, cases_all=500)}, "coreference 0.40 (0.50 would name it)"),
        ({"beyond_sinks": beyond_sinks(previous=0.51)}, ""),
        ({"distance": one(distance=3.0)}, ""),
    ],
)
def test_the_nearest_miss_of_a_head_without_a_role(tables: dict[str, pd.DataFrame], nearest: str) -> None:
    assert named(**tables)["nearest"] == nearest


def test_nothing_to_judge() -> None:
    assert roles(Run.of({})).empty
    assert roles(Run.of({"norm_correlation": pd.DataFrame({"stack": ["encoder"], "rho": [0.1]})})).empty
    joint = pd.DataFrame([["encoder", "self", 0, pd.NA, 0.5]], columns=[*HEAD, "mean"])
    assert roles(Run.of({"input_dispersion": joint})).empty


def test_labels_of_an_encoder_decoder_are_not_the_same() -> None:
    heads = [["encoder", "self", 0, 0], ["decoder", "self", 0, 0], ["decoder", "cross", 0, 0]]
    found = RunByHead({"beyond_sinks": pd.concat([one(head, first=0.1) for head in heads])})
    assert [found.label(head) for head in found.heads] == ["encoder 0.0", "decoder 0.0", "cross 0.0"]


def test_every_family_can_be_met_and_is_known() -> None:
    tables = [
        {"beyond_sinks": beyond_sinks(**changes)}
        for changes in ({"previous": 0.9}, {"punctuation": 0.9}, {"breadth": 0.9}, {"separator": 0.9}, {"first": 0.9}, {})
    ]
    tables += [{"relations": relations()}, {"antecedents": one(all=0.9, cases_all=500)}, {"repeats": repeats(induction=0.6)}]
    assert {named(**some)["family"] for some in tables} == {family.name for family in FAMILIES}
    assert {role.family for role in ROLES} | {"syntax"} == {family.name for family in FAMILIES}


@pytest.mark.slow
@pytest.mark.real
def test_roles_of_a_real_encoder(minilm: Path, tmp_path: Path) -> None:
    from headscope.demo.text import corpus_in

    with headscope.open(minilm) as lens:
        statistics = [BeyondSinks(), BeyondSinks(measure="norm")]
        run = headscope.study(lens, corpus_in(tmp_path), statistics, out=tmp_path / "run", truncate=True, batch_size=2)
        add_repeats(lens, run, sequences=2, length=30)
    found = run.roles
    role = {(row.layer, row.head): row.role for row in found.itertuples()}
    assert role[0, 2] == "previous token"
    assert role[1, 8] == "next token"
    assert role[0, 7] == "broad"
    assert role[2, 9] == "duplicate token"
    assert 0.2 < (found["role"] == NO_ROLE).mean() < 0.6, "neither everything nor nothing has a name"
