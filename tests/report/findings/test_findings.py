"""Findings: every number is computed again from the tables, every number of a text is kept, and nothing found is said."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

import pandas as pd
import pytest

from headscope.report.findings.evidence import percent
from headscope.report.findings.finding import Finding
from headscope.report.findings.findings import compare_findings, findings
from headscope.study.run import Run
from tests.heads.samples import beyond_sinks, one, relations, repeats
from tests.report.samples import SampleRun, every_run, recomputed

# Numbers of a text that are no numbers of the run: what a scale's end is called.
CONSTANTS = ("1 being all alike", "below 0")


def check(finding: Finding, run: Run) -> None:
    for number in finding.numbers:
        assert number["value"] == pytest.approx(recomputed(number, run), rel=1e-6, abs=1e-9), finding.text


def numbers_in(finding: Finding) -> list[str]:
    """What looks like a number in the text, without heads' labels and names that have digits in them."""
    text = re.sub(r"<token \d+>", "", finding.text)  # one that a tokenizer has no name for
    for constant in CONSTANTS:
        text = text.replace(constant, "")
    for label in sorted(finding.heads, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.]){re.escape(label)}(?!\d)", "", text)
    return re.findall(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?%?(?!\w)", text)


def written(value: float) -> set[str]:
    """All ways in which a text may write a number."""
    return {percent(value), f"{value:,.0f}", f"{value:.1f}", f"{value:.2f}", f"{value:.3f}"}


@every_run
def test_every_number_is_that_of_the_tables(name: str, sample_run: SampleRun) -> None:
    run = sample_run(name)
    found = findings(run)
    assert len(found) >= 3
    for finding in found:
        check(finding, run)


@every_run
def test_every_number_of_a_text_is_kept(name: str, sample_run: SampleRun) -> None:
    for finding in findings(sample_run(name)):
        known = set().union(*(written(number["value"]) for number in finding.numbers))
        assert set(numbers_in(finding)) <= known, finding.text


@every_run
def test_findings_are_sentences_for_json_the_most_telling_first(name: str, sample_run: SampleRun) -> None:
    found = findings(sample_run(name))
    json.dumps([asdict(finding) for finding in found], allow_nan=False)
    assert found[0].text.startswith(("Of ", "No role was found"))
    assert all(finding.text.endswith(".") and "nan" not in finding.text for finding in found)
    assert len({finding.text for finding in found}) == len(found)


def test_a_number_that_is_not_in_the_tables_is_noticed(sample_run: SampleRun) -> None:
    """The check itself can fail: one share is changed after the findings were made."""
    run = sample_run("bert")
    found = findings(run)
    table = run["beyond_sinks"]
    changed = Run.of({**{name: run[name] for name in run}, "beyond_sinks": table.assign(first=table["first"] + 0.1)})
    speaking = next(finding for finding in found if finding.text.startswith("On average"))
    with pytest.raises(AssertionError):
        check(speaking, changed)


def texts(**tables: pd.DataFrame) -> str:
    return "\n".join(finding.text for finding in findings(Run.of(tables)))


def test_norms_that_contradict_weights() -> None:
    weights, norms = beyond_sinks(separator=0.88, first=0.02, rest=0.1), beyond_sinks(separator=0.06)
    said = "0.0 puts 88% of its weight on separators, but 6.0% of its norm: it looks there and takes little."
    assert said in texts(beyond_sinks=weights, beyond_sinks_norm=norms)
    more = texts(beyond_sinks=beyond_sinks(separator=0.1), beyond_sinks_norm=beyond_sinks(separator=0.8))
    assert "it takes more there than it looks" in more
    agree = texts(beyond_sinks=weights, beyond_sinks_norm=beyond_sinks(separator=0.8, first=0.02))
    assert "Weights and norms agree about sinks: they differ most in 0.0, 88% and 80% on separators." in agree
    assert "norm" not in texts(beyond_sinks=weights), "nothing is said of norms that were not counted"


def test_relations_and_none() -> None:
    said = "0.0 follows det (from an article or determiner to its noun): right in 91% of 400 cases"
    assert f"{said}, the best fixed distance in 52%." in texts(relations=relations())
    none = texts(relations=relations(accuracy=0.53))
    assert "No head is far above the best fixed distance" in none
    assert "relation" not in texts(beyond_sinks=beyond_sinks())


def many(role_shares: list[dict[str, float]]) -> pd.DataFrame:
    """`beyond_sinks` of as many heads as there are changes."""
    rows = [beyond_sinks(**changes).assign(head=place) for place, changes in enumerate(role_shares)]
    return pd.concat(rows, ignore_index=True)


def test_rare_and_named_roles_come_first_and_sinks_are_one_line() -> None:
    """Two previous-token heads, one of punctuation, three broad ones, four sinks of which one has a second one."""
    parked = {"first": 0.9, "separator": 0.0, "rest": 0.1, "breadth": 0.4}
    table = many(
        [
            *[{"breadth": 0.95, "previous": 0.1}] * 3,
            *[{"previous": 0.8}] * 2,
            {"punctuation": 0.7},
            *[parked] * 3,
            {**parked, "one_token": 0.8},
        ]
    )
    said = [finding.text for finding in findings(Run.of({"beyond_sinks": table, "beyond_sinks_norm": table}))]
    assert said[0] == (
        "Of 10 heads, 1 looks at periods and commas, 2 look at a fixed place or nearby, 3 look broadly and 4 look mostly at "
        "the first token or another sink; for 0 no role was found in what was counted."
    )
    assert [text.split(",")[0].split(":")[0] for text in said[1:4]] == [
        "1 head looks at periods and commas",
        "2 heads look at the previous token",
        "3 heads spread attention almost evenly",
    ]
    mean = sum([0.2] * 6 + [0.9] * 4) / 10
    assert said[4] == (
        f"On average a head gives {mean:.0%} of its attention to the first token and 6.0% to separators, most in 0.6 (90%), "
        "0.7 (90%) and 0.8 (90%) to the first token; 3 heads do little but look at the first token; 1 head has a second "
        "sink, one token of each text."
    )
    assert sum("sink" in text for text in said[5:]) == 1  # weights and norms agree about them


def test_heads_that_contradict_alike_share_a_sentence() -> None:
    weights = many([{"separator": 0.88}, {"separator": 0.7}, {"separator": 0.8}, {"first": 0.1}])
    norms = many([{"separator": 0.06}, {"separator": 0.05}, {"separator": 0.65}, {"first": 0.4}])
    said = texts(beyond_sinks=weights, beyond_sinks_norm=norms)
    end = "it looks there and takes little; so does 0.1 (70% and 5.0%)."
    assert f"0.0 puts 88% of its weight on separators, but 6.0% of its norm: {end}" in said
    assert said.count("of its norm") == 1


def test_positions_and_none() -> None:
    assert "1 head looks at the previous token, by share of what goes beyond sinks: 0.0 (93%)." in texts(
        beyond_sinks=beyond_sinks(previous=0.93)
    )
    assert "None of 1 heads gives over half of what goes beyond its sinks to a place" in texts(beyond_sinks=beyond_sinks())


def test_repeated_tokens_and_none() -> None:
    found = texts(repeats=repeats(induction=0.54))
    assert "1 induction head looks at the token that followed an earlier copy of its own" in found
    assert "no duplicate-token head was found among 1" in found


def test_antecedents_beside_a_rule() -> None:
    rules = pd.DataFrame({"system": ["nearest", "head word match"], "all": [0.27, 0.52]})
    heads = one(all=0.45, cases_all=1234)
    said = texts(antecedents=heads, clark2019_table2=rules)
    assert "for 45% of 1,234 mentions" in said
    assert "no more than the rule `head word match`, which finds 52%." in said
    assert "rule" not in texts(antecedents=heads).split("\n")[-1]


def test_few_tokens_are_a_caution_and_many_are_not() -> None:
    tables = {"beyond_sinks": beyond_sinks()}
    few = findings(Run.of(tables, {"counts": {"tokens": 1614, "documents": 14}}))
    assert any("1,614 tokens of 14 documents" in finding.text for finding in few)
    many = findings(Run.of(tables, {"counts": {"tokens": 10**6, "documents": 999}}))
    assert not any("tokens of" in finding.text for finding in many)


def test_nothing_to_say() -> None:
    assert findings(Run.of({})) == []


# Two runs


def test_the_largest_differences_with_numbers_of_both(sample_run: SampleRun) -> None:
    one_run = sample_run("bert")
    first = one_run["beyond_sinks"]
    changed = first.assign(previous=first["previous"].where(first.index != 5, 0.99))
    two_run = Run.of({**{name: one_run[name] for name in one_run}, "beyond_sinks": changed})
    found = compare_findings(one_run, two_run)
    assert found[0].text.startswith("1 of 12 heads have another role in the second run: 1.1 (")
    (difference,) = found[1:]
    assert difference.heads == ["1.1"]
    before = percent(float(first["previous"].iloc[5]))
    assert difference.text == f"1.1, previous token, share beyond sinks: {before} in the first run, 99% in the second."
    for number in difference.numbers:
        check(Finding("", "", [], [number]), {"a": one_run, "b": two_run}[number["run"]])


def test_a_run_and_itself(sample_run: SampleRun) -> None:
    run = sample_run("bert")
    assert [finding.text for finding in compare_findings(run, run)] == [
        "All 12 heads of both runs have the same role in both.",
        "The two runs have the same numbers for every head.",
    ]


def test_runs_that_have_nothing_in_common(sample_run: SampleRun) -> None:
    (finding,) = compare_findings(sample_run("bert"), Run.of({"relations": relations()}))
    assert finding.text == "The two runs have no number of any head in common, so nothing can be compared."
