"""Heads taken out, in sentences: whose name is confirmed, whose is by its pattern only, and what ablation found."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from headscope.lens.head import HEAD
from headscope.report.findings.findings import findings
from headscope.report.heads.cards import cards
from headscope.study.run import Run
from tests.heads.samples import one, repeats
from tests.report.findings.test_findings import check, numbers_in, written

AT = [["decoder", "self", 0, head] for head in range(3)]


def looking() -> pd.DataFrame:
    """Two induction heads, and one that is none."""
    rows = [repeats(induction=0.5), repeats(induction=0.4), repeats()]
    return pd.concat([row.assign(head=head) for head, row in enumerate(rows)], ignore_index=True)


def without(*losses: float) -> pd.DataFrame:
    """Effects of the three heads, each known to 0.01."""
    rows = [[*at, loss, loss - 0.01, loss + 0.01, *others(losses, at[3])] for at, loss in zip(AT, losses, strict=True)]
    return pd.DataFrame(rows, columns=[*HEAD, "loss", "loss_low", "loss_high", "others", "others_deviation"])


def others(values: Sequence[float], head: int) -> tuple[float, float]:
    """Mean and deviation of the two other heads."""
    one, other = (value for place, value in enumerate(values) if place != head)
    return (one + other) / 2, abs(one - other) / 2


def ablation(**columns: list[float]) -> pd.DataFrame:
    rows = pd.concat([one(at, **{name: values[head] for name, values in columns.items()}) for head, at in enumerate(AT)])
    for name, values in columns.items():
        rows[f"{name}_others"], rows[f"{name}_others_deviation"] = zip(
            *(others(values, head) for head in range(3)), strict=True
        )
    both = [rows.assign(how="zero", **dict.fromkeys(columns, 9.0)), rows.assign(how="mean")]
    return pd.concat(both, ignore_index=True)


def said(run: Run, table: str) -> str:
    (finding,) = [finding for finding in findings(run) if finding.table == table]
    check(finding, run)
    known = set().union(*(written(number["value"]) for number in finding.numbers))
    assert set(numbers_in(finding)) <= known
    assert finding.numbers
    return finding.text


def test_one_is_confirmed_and_one_is_so_by_its_pattern_only() -> None:
    run = Run.of({"repeats": looking(), "repeats_without": without(0.42, 0.003, 0.001)})
    text = said(run, "repeats_without")
    assert "without these heads than without others of their layers: 0.0 (0.420 nats a token, the others 0.002)." in text
    assert "by their pattern only: 0.1" in text
    assert "0.1 (0.003 nats a token, the others 0.210)" in text
    first, second, third = cards(run)
    assert first["without"] == {
        "says": [
            "Without it random tokens that come twice cost 0.42 nats more each (other heads of its layer 0.002 ± 0.001): "
            "it does what its name says."
        ],
        "confirmed": True,
    }
    assert second["without"] is not None
    assert second["without"]["confirmed"] is False
    assert second["without"]["says"][0].endswith("so it has its name by its pattern only.")
    assert third["without"] is not None
    assert third["without"]["confirmed"] is None, "it has no such name"


def test_all_or_none_are_confirmed() -> None:
    text = said(Run.of({"repeats": looking(), "repeats_without": without(0.42, 0.5, 0.001)}), "repeats_without")
    assert "by their pattern only" not in text
    text = said(Run.of({"repeats": looking(), "repeats_without": without(0.0, -0.2, 0.1)}), "repeats_without")
    assert text.startswith("That random tokens suffer could not be shown for these")
    nobody = Run.of({"repeats": repeats(), "repeats_without": without(0.4, 0.1, 0.1)})
    assert all(finding.table != "repeats_without" for finding in findings(nobody))


def test_ablation_ranks_by_kl_and_says_where_the_loss_falls() -> None:
    run = Run.of({"repeats": looking(), "ablation": ablation(loss=[0.1, -0.2, 0.3], kl=[0.3, 0.5, 0.4])})
    text = said(run, "ablation")
    assert "without 0.1 (0.500, loss -0.200), 0.2 (0.400, loss +0.300) and 0.0 (0.300, loss +0.100)" in text
    assert "; without 33% of heads the loss falls." in text
    card = cards(run)[1]["without"]
    assert card is not None
    assert card["says"] == [
        "On text, without it (its mean in its place) the loss falls by 0.20 nats a token "
        "(other heads of its layer 0.20 ± 0.10); what it predicts diverges by 0.50 nats (KL)."
    ]


def test_encoders_have_vectors_that_move() -> None:
    run = Run.of({"repeats": looking(), "ablation": ablation(states=[0.1, 0.2, 0.3], pooled=[0.3, 0.1, 0.2])})
    assert "vectors move most, by one less their cosine, without 0.0 (0.300)" in said(run, "ablation")
    card = cards(run)[0]["without"]
    assert card is not None
    assert "the texts' vectors move by 0.30 (1 - cosine) (other heads of its layer 0.15 ± 0.05)" in card["says"][0]


def test_nothing_is_said_of_what_was_not_tried() -> None:
    run = Run.of({"repeats": looking()})
    assert all(card["without"] is None for card in cards(run))
    assert all("ithout" not in finding.text for finding in findings(run))
