"""A name for what each head does, and the rule that gave it: "previous token 0.93", "det 0.91 (baseline 0.52)".

Heads are judged on the attention that goes beyond their sinks, the first token and separators; else nine heads in ten of a
decoder would be 'first token'. Rules stand in the order in which they name a head, what says most about it first;
others that hold too are kept beside. A head for which none holds has no role, is called that, and says which came nearest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from headscope.heads.patterns import BROAD, HALF  # of all attention there, of what goes beyond sinks here
from headscope.heads.relations import ENOUGH, frequent
from headscope.heads.role_table import NO_ROLE
from headscope.later import pd
from headscope.lens.head import HEAD, Head
from headscope.study.run import Run
from headscope.study.run_by_head import MISSING, Cell, RunByHead

LITTLE = 0.05  # a head that leaves less than this beyond its sinks is not judged on it
NO_OP = 0.5  # who takes, by norm, less than this part of what its weight there suggests, looks and takes little
ABOVE = 0.1  # by how much a relation must beat its baseline, in both halves of the corpus

COLUMNS = [*HEAD, "role", "family", "score", "baseline", "rule", "also", "table", "column", "nearest"]

POSITIONS = {
    "previous": "previous token",
    "next": "next token",
    "same": "same token",
    "two_before": "two tokens before",
    "two_after": "two tokens after",
}
REPEATED = {"induction": "induction", "duplicate": "duplicate token", "previous": "previous token"}
RULES_OF_THUMB = ("nearest", "head word match")  # what coreference must beat (clark2019, table 2)


class RoleMatch(NamedTuple):
    """A rule that holds for a head; or that does not, and what its score would have to be."""

    role: str
    family: str
    score: float
    rule: str
    table: str
    column: str
    baseline: float = math.nan
    needed: float = math.nan
    holds: bool = True

    @property
    def nearness(self) -> float:
        """How much of what is needed is there: what misses of different rules are compared by."""
        return self.score / self.needed

    @property
    def miss(self) -> str:
        """
        >>> RoleMatch("previous token", "position", 0.336, "", "", "", needed=0.5, holds=False).miss
        'previous token 0.34 (0.50 would name it)'
        """
        return f"{self.role} {self.score:.2f} ({self.needed:.2f} would name it)"


Rule = Callable[[RunByHead, Head], Iterator[RoleMatch]]  # also of what does not hold, where its score alone is too small


def roles(run: Run) -> pd.DataFrame:
    """One row a head: role, family, score, baseline, rule, also, and the table and column that the score is from.

    `also` holds the other rules that hold, with semicolons between them; `nearest`, for a head without a role, the one that
    was missed by least. Any table may be missing. `run.roles` keeps it.
    """
    rows = [_row(run.by_head, head) for head in run.heads]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"layer": "Int64", "head": "Int64", "score": float, "baseline": float})


def rules_that_hold(found: RunByHead, head: Head) -> list[RoleMatch]:
    """All that can be said of a head, in the order of precedence; the first names it."""
    return [match for rule in RULES for match in rule(found, head) if match.holds]


def nearest_miss(found: RunByHead, head: Head) -> RoleMatch | None:
    """The rule that a head is nearest to, of those that do not hold; of several alike, the one that would say most."""
    missed = [match for rule in RULES for match in rule(found, head) if not match.holds and match.score > 0]
    return max(missed, key=lambda match: match.nearness, default=None)


def _row(found: RunByHead, head: Head) -> list[object]:
    holding = rules_that_hold(found, head)
    if not holding:
        miss = nearest_miss(found, head)
        return [*head, NO_ROLE, "none", math.nan, math.nan, NO_ROLE, "", "", "", "" if miss is None else miss.miss]
    first, also = holding[0], "; ".join(match.rule for match in holding[1:])
    return [*head, first.role, first.family, first.score, first.baseline, first.rule, also, first.table, first.column, ""]


# The rules


def relation(found: RunByHead, head: Head) -> Iterator[RoleMatch]:
    """A word looks most at its syntactic head or dependent, more often than not, and far more than by a fixed offset."""
    name = found.table_name("relations")
    mine = found.rows(name, head)
    if name is None or mine.empty:
        return
    mine = frequent(mine).dropna(subset=["accuracy", "baseline"])
    for half in ("accuracy_half0", "accuracy_half1"):  # the best of many heads and relations is partly luck
        mine = mine[mine[half].isna() | (mine[half] >= mine["baseline_held_out"].fillna(mine["baseline"]) + ABOVE)]
    ranked = mine.assign(above=mine["accuracy"] - mine["baseline"]).sort_values("above", ascending=False, kind="stable")
    for row in ranked.to_dict("records"):
        reverse = ", head to dependent" if row["direction"] == "head to dependent" else ""
        text = f"{row['relation']}{reverse} {row['accuracy']:.2f} (baseline {row['baseline']:.2f})"
        needed = max(HALF, row["baseline"] + ABOVE)
        holds = row["accuracy"] >= needed
        yield RoleMatch(row["relation"], "syntax", row["accuracy"], text, name, "accuracy", row["baseline"], needed, holds)


def coreference(found: RunByHead, head: Head) -> Iterator[RoleMatch]:
    """A mention looks most at its antecedent: more often than simple rules find it, or more often than not without these."""
    accuracy, cases = (found.lookup(head, ("antecedents", column)) for column in ("all", "cases_all"))
    baseline = rule_of_thumb(found)
    if accuracy.is_known and cases.is_known and cases.value >= ENOUGH:
        needed = baseline.value + ABOVE if baseline.is_known else HALF
        text = f"antecedent {accuracy.value:.2f}" + (f" (baseline {baseline.value:.2f})" if baseline.is_known else "")
        of, holds = (accuracy.value, text, accuracy.table, "all", baseline.value), accuracy.value >= needed
        yield RoleMatch("coreference", "coreference", *of, needed, holds)


def repetition(found: RunByHead, head: Head) -> Iterator[RoleMatch]:
    """On random tokens that come twice, more than half of what goes beyond sinks is for the copy, or what followed it."""
    for place in ("induction", "duplicate"):
        cell, left = _on_random_tokens(found, head, place)
        unrepeated = found.cell(head, "repeats", f"{place}_unrepeated").value
        by_position = cell.value < unrepeated + ABOVE
        if cell.is_known and not by_position:
            yield _repeated(place, "repetition", cell, left, unrepeated)


def fixed_place(found: RunByHead, head: Head) -> Iterator[RoleMatch]:
    """More than half of what goes beyond sinks goes to one fixed place beside the token."""
    for place, cell in sorted(_places(found, head).items(), key=lambda pair: -pair[1].value):
        text = f"{POSITIONS[place]} {cell.value:.2f}{_of_what(cell)}"
        yield _by_half(POSITIONS[place], "position", cell, text)


def previous_random_token(found: RunByHead, head: Head) -> Iterator[RoleMatch]:
    """The previous token, where the text says nothing: on random tokens."""
    cell, left = _on_random_tokens(found, head, "previous")
    if cell.is_known:
        yield _repeated("previous", "position", cell, left, found.cell(head, "repeats", "chance").value)


def neighbourhood(found: RunByHead, head: Head) -> Iterator[RoleMatch]:
    """No one place has it, but the token itself and the two on either side have more than half together.

    In short texts they are most of what there is to look at: a head that looks at all of it alike does not hold.
    """
    cells = list(_places(found, head).values())
    around = sum(cell.value for cell in cells)
    if cells and not _is_even(found, head) and max(cell.value for cell in cells) <= HALF:
        text = f"within {_FAR.get(len(cells), 'two tokens')} {around:.2f}{_of_what(cells[0])}"
        columns = " + ".join(cell.column for cell in cells)
        yield _by_half("nearby tokens", "position", Cell(around, cells[0].table, columns), text)


def punctuation(found: RunByHead, head: Head) -> Iterator[RoleMatch]:
    """More than half of what goes beyond sinks goes to periods and commas."""
    cell = found.lookup(head, ("beyond_sinks", "punctuation"))
    if cell.is_known and not _leaves_little(found, head):
        yield _by_half("punctuation", "punctuation", cell, f"periods and commas {cell.value:.2f}{_of_what(cell)}")


def second_sink(found: RunByHead, head: Head) -> Iterator[RoleMatch]:
    """More than half of what goes beyond sinks goes to one token of each text: a sink too, but one not known before."""
    cell = found.lookup(head, ("beyond_sinks", "one_token"))
    if cell.is_known and not _leaves_little(found, head) and not _is_even(found, head):
        yield _by_half("second sink", "sink", cell, f"one token of each text {cell.value:.2f}")


def broad(found: RunByHead, head: Head) -> Iterator[RoleMatch]:
    """What goes beyond sinks, at least half of all attention, goes almost evenly to all tokens."""
    breadth, rest = found.lookup(head, ("beyond_sinks", "breadth")), found.lookup(head, ("beyond_sinks", "rest"))
    if not breadth.is_known:
        entropy, uniform = (found.lookup(head, ("entropy", column)) for column in ("entropy", "uniform"))
        if entropy.is_known and uniform.value > 0:
            breadth = Cell(entropy.value / uniform.value, entropy.table, "entropy / uniform")
    if breadth.is_known and not rest.value < HALF:
        of, holds = (*breadth[:1], f"broad {breadth.value:.2f}", *breadth[1:]), breadth.value >= BROAD
        yield RoleMatch("broad", "broad", *of, needed=BROAD, holds=holds)


def sink(found: RunByHead, head: Head) -> Iterator[RoleMatch]:
    """More than half of all attention goes to sinks; where less than half of that comes by norm, it is a no-op."""
    cells = {place: sink_share(found, head, place) for place in ("separator", "first")}
    shares = {place: cell for place, cell in cells.items() if cell.is_known}
    if not shares:
        return
    place = max(shares, key=lambda name: shares[name].value)
    role, together = "separator" if place == "separator" else "sink", sum(cell.value for cell in shares.values())
    cell, norm = shares[place], sink_share(found, head, place, norm=True)
    if together <= HALF:
        yield _by_half(role, role, cell._replace(value=together), f"sinks {together:.2f}{_of_what(cell)}")
        return
    text = f"{SINKS[place]} {cell.value:.2f}{_of_what(cell)}"
    if cell.value <= HALF:
        other = "first" if place == "separator" else "separator"
        text += f" and {SINKS[other]} {shares[other].value:.2f}"
    if norm.is_known and not cell.by_norm:
        text += f", norm {norm.value:.2f}" + (": a no-op" if norm.value < NO_OP * cell.value else "")
    yield RoleMatch(role, role, cell.value, text, cell.table, cell.column)


RULES: tuple[Rule, ...] = (
    relation,
    coreference,
    repetition,
    fixed_place,
    previous_random_token,
    neighbourhood,
    punctuation,
    second_sink,
    broad,
    sink,
)


# What the rules read

SINKS = {"separator": "separator", "first": "first token"}
_SHARES = {
    "separator": (("beyond_sinks", "separator"), ("separators", "share"), ("category_weights", "weight_separator")),
    "first": (("beyond_sinks", "first"), ("category_weights", "weight_first"), ("first_token", "first_token")),
}


def sink_share(found: RunByHead, head: Head, place: str, *, norm: bool = False) -> Cell:
    """The share of all attention on the `first` token or on a `separator`, by weight or by norm."""
    cell = found.lookup(head, *_SHARES[place], norm=norm)
    if norm and not cell.is_known:
        return found.cell(head, "category_weights", f"share_norm_{place}")
    return cell


def rule_of_thumb(found: RunByHead) -> Cell:
    """The better of two simple rules for antecedents, where a run of clark2019 has tried them."""
    table = found.all_tables.get("clark2019_table2")
    if table is None or "system" not in table:
        return MISSING
    tried = table[table["system"].isin(RULES_OF_THUMB)]["all"].dropna()
    return Cell(float(tried.max()), "clark2019_table2", "all") if len(tried) else MISSING


_FAR = {5: "two tokens", 3: "one token"}  # by how many places are known


def _places(found: RunByHead, head: Head) -> dict[str, Cell]:
    """By place, shares of what goes beyond sinks; of all attention in a run that has not counted that. None for little."""
    if head.kind != "self" or _leaves_little(found, head):
        return {}
    cells = {place: found.lookup(head, ("beyond_sinks", place), ("offsets", place)) for place in POSITIONS}
    return {place: cell for place, cell in cells.items() if cell.is_known}


def _on_random_tokens(found: RunByHead, head: Head, place: str) -> tuple[Cell, float]:
    """What a head gives to a place on repeated random tokens, and all that goes beyond its sinks there."""
    left = 1 - found.cell(head, "repeats", "sinks").value
    return (found.cell(head, "repeats", place), left) if left >= LITTLE else (MISSING, left)


def _repeated(place: str, family: str, cell: Cell, left: float, baseline: float) -> RoleMatch:
    share = cell.value / left
    text = f"{REPEATED[place]} {share:.2f} on repeated random tokens"
    of = share, text, "repeats", f"{place} / (1 - sinks)", baseline
    return RoleMatch(REPEATED[place], family, *of, needed=HALF, holds=cell.value > HALF * left)


def _by_half(role: str, family: str, cell: Cell, rule: str) -> RoleMatch:
    """A role that a head has when a share is more than half."""
    return RoleMatch(role, family, cell.value, rule, cell.table, cell.column, needed=HALF, holds=cell.value > HALF)


def _of_what(cell: Cell) -> str:
    """Nothing for the usual case: by weight, of what goes beyond sinks."""
    by_norm = " by norm" if cell.by_norm else ""
    return (" of all attention" if cell.table.startswith("offsets") else "") + by_norm


def _is_even(found: RunByHead, head: Head) -> bool:
    return found.lookup(head, ("beyond_sinks", "breadth")).value >= BROAD


def _leaves_little(found: RunByHead, head: Head) -> bool:
    return found.lookup(head, ("beyond_sinks", "rest")).value < LITTLE
