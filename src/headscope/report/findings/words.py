"""Findings about words: which relation each best head finds, and antecedents, beside what simple rules find."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from headscope.heads.relations import best_relation_heads, frequent
from headscope.heads.roles import ABOVE, rule_of_thumb
from headscope.lens.head import Head
from headscope.report.findings.evidence import Evidence
from headscope.report.findings.finding import Finding
from headscope.report.heads.sentence import gloss_of
from headscope.study.run import Run
from headscope.study.run_by_head import RunByHead

SHOWN = 6  # relations of which each has a sentence


def relations(run: Run) -> Iterator[Finding]:
    """For the relations that a head knows best, by how much it beats the best fixed offset; or that none does."""
    found = run.by_head
    name = found.table_name("relations")
    if name is None:
        return
    best = frequent(best_relation_heads(found.tables[name]))
    best = best[best["better"]]
    best = best.assign(above=best["accuracy"] - best["baseline"]).sort_values("above", ascending=False, kind="stable")
    clear = best[best["above"] >= ABOVE]
    for row in clear.head(SHOWN).to_dict("records"):
        yield _relation(found, name, row)
    if clear.empty and len(best):
        nearest = _relation(found, name, best.iloc[0].to_dict())
        text = "No head is far above the best fixed distance at any relation that is frequent enough. Nearest: "
        yield replace(nearest, text=text + nearest.text)


def _relation(found: RunByHead, table: str, row: dict[str, Any]) -> Finding:
    head = Head.of(row)
    numbers, label = Evidence(), found.label(head)
    where = {"relation": row["relation"], "direction": row["direction"]}
    gloss = gloss_of(row["relation"])
    link = f"{row['relation']} (from {gloss})" if gloss else row["relation"]
    if row["direction"] == "head to dependent":
        link += " from its end"
    text = (
        f"{label} follows {link}: right in {numbers.percent(row['accuracy'], table, 'accuracy', head, **where)} of "
        f"{numbers.cite(row['cases'], table, 'cases', head, **where):,} cases, the best fixed distance in "
        f"{numbers.percent(row['baseline'], table, 'baseline', head, **where)}."
    )
    return Finding(text, table, [label], numbers.cited, float(row["accuracy"] - row["baseline"]))


def antecedents(run: Run) -> Iterator[Finding]:
    """The head that finds antecedents best, beside a simple rule where one was tried."""
    found = run.by_head
    cells = {head: found.lookup(head, ("antecedents", "all")) for head in found.heads}
    known = {head: cell for head, cell in cells.items() if cell.is_known}
    if not known:
        return
    head = max(known, key=lambda one: known[one].value)
    cell, numbers, label = known[head], Evidence(), found.label(head)
    cases = found.cell(head, cell.table, "cases_all")
    text = (
        f"{label} finds antecedents best: for {numbers.percent(cell.value, cell.table, cell.column, head)} of "
        f"{numbers.cite(cases.value, cell.table, 'cases_all', head):,.0f} mentions it looks most at the right word"
    )
    rule = rule_of_thumb(found)
    if rule.is_known:
        system = rule.column
        table = run[rule.table]
        tried = table[table["system"].notna() & (table[system] == rule.value)]["system"].iloc[0]
        by_rule = numbers.percent(rule.value, rule.table, system, system=tried)
        verdict = "more than" if cell.value > rule.value else "no more than"
        text += f", {verdict} the rule `{tried}`, which finds {by_rule}"
    yield Finding(f"{text}.", cell.table, [label], numbers.cited)
