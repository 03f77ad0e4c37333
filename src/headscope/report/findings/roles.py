"""Findings out of the roles of heads: which heads look at a fixed place, at their sinks, broadly, at what came before."""

from collections.abc import Callable, Iterator

from headscope.heads.patterns import HALF
from headscope.heads.role_table import FAMILIES, NO_ROLE, role_named
from headscope.heads.roles import sink_share
from headscope.lens.head import Head
from headscope.report.findings.evidence import Evidence, percent
from headscope.report.findings.finding import Finding, heads, listed
from headscope.report.heads.sentence import SinkNames
from headscope.study.run import Run

TABLE = "roles"  # what numbers that count roles are counted in: `run.roles`
REPEATED = "On repeated random tokens"
SHOWN = 6  # heads that a sentence names


def overview(run: Run) -> Iterator[Finding]:
    """How many heads have a role, and of which kind."""
    numbers = Evidence()
    whole = numbers.count(run.roles, TABLE)
    parts = []
    for family in FAMILIES:
        some = run.roles[run.roles["family"] == family.name]
        if len(some) and family.name != "none":
            verb, rest = family.does.split(" ", 1)
            does = f"{verb if len(some) > 1 else verb + 's'} {rest}"
            parts.append(f"{numbers.count(some, TABLE, family=family.name)} {does}")
    none = numbers.count(run.roles[run.roles["role"] == NO_ROLE], TABLE, role=NO_ROLE)
    text = f"No role was found for any of {whole} heads."
    if parts:
        text = f"Of {whole} heads, {listed(parts, len(parts))}; for {none} no role was found in what was counted."
    yield Finding(text, TABLE, [], numbers.cited)


def placed(run: Run) -> Iterator[Finding]:
    """Which heads look at a fixed place, one finding a place; or that none does."""
    if not any(name.startswith(("beyond_sinks", "offsets")) for name in run.by_head.tables):
        return
    of_place = run.roles[run.roles["family"] == "position"]
    if of_place.empty:
        yield _none(run, "None of {whole} heads gives over half of what goes beyond its sinks to a place beside the token.")
    for role in of_place["role"].unique():
        at = role_named(role, "position").looks_at
        yield from _of_role(run, role, f"{{heads}} look{{s}} at {at}, by share of {{whole}}: {{listed}}.")


def repeated(run: Run) -> Iterator[Finding]:
    """Induction and duplicate-token heads, where random tokens were repeated."""
    if "repeats" not in run.by_head.tables:
        return
    for role in ("induction", "duplicate token"):
        name, at = role.replace(" ", "-"), role_named(role, "repetition").looks_at
        found = f"{{count}} {name} head{{plural}} look{{s}} at {at}, by share of {{whole}}: {{listed}}."
        none = f"no {name} head was found among {{whole}}: none gives most of what goes beyond its sinks to "
        none += f"{at.format(their='its')}."
        yield next(_of_role(run, role, f"{REPEATED}, {found}"), _none(run, f"{REPEATED}, {none}", "repeats"))


def sinks(run: Run) -> Iterator[Finding]:
    """How much goes to sinks on average, in which heads most, and which heads do little else."""
    found, names = run.by_head, SinkNames(run)
    for place in ("first", "separator"):
        cells = {head: sink_share(found, head, place) for head in found.heads}
        known = {head: cell for head, cell in cells.items() if cell.is_known}
        if not any(cell.value for cell in known.values()):
            continue
        numbers = Evidence()
        (_, table, column), by_norm = next((cell, cell.by_norm) for cell in known.values())
        mean = sum(cell.value for cell in known.values()) / len(known)
        average = numbers.percent(mean, table, column, of="mean")
        what = "norm" if by_norm else "attention"
        most = sorted(known, key=lambda head: -known[head].value)[:3]
        parts = [f"{found.label(head)} ({numbers.percent(known[head].value, table, column, head)})" for head in most]
        text = f"On average a head gives {average} of its {what} to {names.name(place)}; most in {listed(parts)}."
        yield Finding(text, table, [found.label(head) for head in most], numbers.cited, mean)
    if any(sink_share(found, head, "separator").value > 0 for head in found.heads):
        little = f"does little but attend to {names.separator}"
        none = _none(run, f"None of {{whole}} heads {little}.")
        yield next(_of_role(run, "separator", f"{{heads}} {little.replace('does', '{does}')}: {{listed}}.", 1), none)
    second = "one token of each text, which seems to be a second sink"
    text = f"{{heads}} give{{s}} over half of what goes beyond {{their}} sinks to {second}: {{listed}}."
    yield from _of_role(run, "second sink", text, HALF)


def broad(run: Run) -> Iterator[Finding]:
    """Which heads look at everything a little."""
    text = "{heads} spread{s} attention almost evenly, 1 being all alike: {listed}."
    yield from _of_role(run, "broad", text, shown="{:.2f}".format)


def _of_role(
    run: Run, role: str, text: str, salience: float | None = None, shown: Callable[[float], str] = percent
) -> Iterator[Finding]:
    """A sentence about the heads of one role, the best first, as salient as its score; nothing where there are none."""
    some = run.roles[run.roles["role"] == role].sort_values("score", ascending=False, kind="stable")
    if some.empty:
        return
    numbers, parts, labels = Evidence(), [], []
    count = numbers.count(some, TABLE, role=role)
    for row in some.head(SHOWN).to_dict("records"):
        head = Head.of(row)
        labels.append(run.by_head.label(head))
        parts.append(f"{labels[-1]} ({shown(numbers.cite(row['score'], row['table'], row['column'], head))})")
    parts += [""] * (len(some) - len(parts))  # stands for the others
    best = some.iloc[0]
    whole = "all attention" if best["table"].startswith("offsets") else "what goes beyond sinks"
    plural, s, does, their = ("", "s", "does", "its") if len(some) == 1 else ("s", "", "do", "their")
    text = text.format(
        heads=heads(count), count=count, listed=listed(parts), whole=whole, plural=plural, s=s, does=does, their=their
    )
    yield Finding(text, best["table"], labels, numbers.cited, float(best["score"]) if salience is None else salience)


def _none(run: Run, text: str, table: str = TABLE) -> Finding:
    """That no head has a role, of all that there are: said after what was found."""
    numbers = Evidence()
    return Finding(text.format(whole=numbers.count(run.roles, TABLE)), table, [], numbers.cited, -1)
