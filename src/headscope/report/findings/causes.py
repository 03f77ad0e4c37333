"""Findings about the model without a head: which of those that are named by their pattern do what their name says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headscope.heads.repeats_without import FAMILY, is_confirmed
from headscope.heads.repeats_without import NAME as REPEATS
from headscope.lens.head import HEAD, Head
from headscope.report.findings.evidence import Evidence
from headscope.report.findings.finding import Finding, listed
from headscope.report.heads.effects import ablation_table, chosen_ablation
from headscope.study.run import Run

SHOWN = 4  # heads that a sentence names
MOST = {  # by the column that heads are ranked by: loss alone ranks them badly, so it comes last
    "kl": "What is predicted changes most, by KL in nats a token, without {heads}",
    "pooled": "The texts' vectors move most, by one less their cosine, without {heads}",
    "states": "The final states move most, by one less their cosine, without {heads}",
    "kl_estimate": "By an estimate, what is predicted changes most, by KL in nats a token, without {heads}",
    "loss": "The loss rises most, in nats a token, without {heads}",
}


def confirmed(run: Run) -> Iterator[Finding]:
    """Whether random tokens that come twice suffer without the heads that look for earlier copies."""
    table = run.get(REPEATS)
    if table is None:
        return
    named = run.roles.loc[run.roles["family"] == FAMILY, HEAD]
    tried = table.merge(named, on=HEAD).sort_values("loss", ascending=False, kind="stable").to_dict("records")
    does = [row for row in tried if is_confirmed(row["loss_low"], row["others"])]
    only = [row for row in tried if row not in does]
    numbers, labels, parts = Evidence(), [], []
    for some, begins in (
        (does, "Random tokens that come twice are predicted worse without these heads than without others of their layers"),
        (only, "That random tokens suffer could not be shown for these, which have their names by their pattern only"),
    ):
        shown = [_said(run, row, numbers) for row in some[:SHOWN]]
        labels += [run.by_head.label(Head.of(row)) for row in some[:SHOWN]]
        if some:
            parts.append(f"{begins}: {listed([*shown, *[''] * (len(some) - len(shown))], SHOWN)}.")
    if parts:
        yield Finding(" ".join(parts), REPEATS, labels, numbers.cited)


def _said(run: Run, row: Mapping[str, Any], numbers: Evidence) -> str:
    head = Head.of(row)
    loss, others = (numbers.cite(row[name], REPEATS, name, head) for name in ("loss", "others"))
    return f"{run.by_head.label(head)} ({loss:.3f} nats a token, the others {others:.3f})"


def strongest(run: Run) -> Iterator[Finding]:
    """The heads without which the model is most unlike itself, where `headscope ablate` has tried."""
    table = chosen_ablation(run)
    if table is None:
        return
    column = next((one for one in MOST if one in table and table[one].notna().any()), None)
    if column is None:
        return
    numbers, parts, labels, name = Evidence(), [], [], ablation_table(run)
    how = {"how": table["how"].iloc[0]} if "how" in table else {}
    for row in table.sort_values(column, ascending=False, kind="stable").head(SHOWN).to_dict("records"):
        head = Head.of(row)
        labels.append(run.by_head.label(head))
        said = f"{numbers.cite(row[column], name, column, head, **how):.3f}"
        if column != "loss" and "loss" in row and row["loss"] == row["loss"]:
            said += f", loss {numbers.cite(row['loss'], name, 'loss', head, **how):+.3f}"
        parts.append(f"{labels[-1]} ({said})")
    text = MOST[column].format(heads=listed(parts))
    if "loss" in table and (table["loss"] < 0).any():
        share = numbers.percent((table["loss"] < 0).mean(), name, "loss < 0", of="mean", **how)
        text += f"; without {share} of heads the loss falls"
    yield Finding(f"{text}. Heads repair each other: what single ones do is no sum.", name, labels, numbers.cited)
