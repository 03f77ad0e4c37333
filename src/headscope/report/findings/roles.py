"""Findings out of the roles of heads: rare and named ones first, a sentence a role; all about sinks in one."""

from collections.abc import Callable, Iterator

from headscope.heads.role_table import FAMILIES, NO_ROLE, role_named
from headscope.heads.roles import sink_share
from headscope.lens.head import Head
from headscope.report.findings.evidence import Evidence, percent
from headscope.report.findings.extremes import caution
from headscope.report.findings.finding import Finding, heads, listed
from headscope.report.heads.sentence import SinkNames
from headscope.study.run import Run

TABLE = "roles"  # what numbers that count roles are counted in: `run.roles`
SHOWN = 6  # heads that a sentence names
MOST = 3  # heads that the sentence about sinks names for each of them
OF_SINKS = ("separator", "sink")  # families that have a sentence of their own,
OF_WORDS = ("syntax", "coreference")  # and those that have findings of their own (words.py)
REPEATED = "On repeated random tokens"
COPIES = ("induction", "duplicate token")
LOOKS = "{heads} look{s} at {at}, by share of {whole}: {listed}."
LOOKS_BACK = REPEATED + ", {count} {name} head{plural} look{s} at {at}, by share of {whole}: {listed}."
SENTENCES = {  # by role, of its heads, where they do not just look at something
    **dict.fromkeys(COPIES, LOOKS_BACK),
    "broad": "{heads} spread{s} attention almost evenly, 1 being all alike: {listed}.",
}


def overview(run: Run) -> Iterator[Finding]:
    """How many heads have a role, and of which kind, rare ones first; and how little was read, where it is little."""
    numbers = Evidence()
    whole = numbers.count(run.roles, TABLE)
    found = [(family, run.roles[run.roles["family"] == family.name]) for family in FAMILIES if family.name != "none"]
    parts = []
    for family, some in sorted(found, key=lambda one: (one[0].name in OF_SINKS, len(one[1]))):
        if len(some):
            verb, rest = family.does.split(" ", 1)
            does = f"{verb if len(some) > 1 else verb + 's'} {rest}"
            parts.append(f"{numbers.count(some, TABLE, family=family.name)} {does}")
    none = numbers.count(run.roles[run.roles["role"] == NO_ROLE], TABLE, role=NO_ROLE)
    text = f"No role was found for any of {whole} heads."
    if parts:
        text = f"Of {whole} heads, {listed(parts, len(parts))}; for {none} no role was found in what was counted."
    little = list(caution(run))
    cited = [*numbers.cited, *(number for one in little for number in one.numbers)]
    yield Finding(" ".join([text, *(one.text for one in little)]), TABLE, [], cited)


def named(run: Run) -> Iterator[Finding]:
    """The heads of every role that is neither a sink nor found among words, a sentence a role: the rarest first."""
    others = run.roles[~run.roles["family"].isin([*OF_SINKS, *OF_WORDS, "none"])]
    for (role, family), some in others.groupby(["role", "family"], sort=False):
        numbers, parts, labels = Evidence(), [], []
        count = numbers.count(some, TABLE, role=role)
        shown: Callable[[float], str] = "{:.2f}".format if role == "broad" else percent
        ranked = some.sort_values("score", ascending=False, kind="stable")
        for row in ranked.head(SHOWN).to_dict("records"):
            head = Head.of(row)
            labels.append(run.by_head.label(head))
            parts.append(f"{labels[-1]} ({shown(numbers.cite(row['score'], row['table'], row['column'], head))})")
        parts += [""] * (len(some) - len(parts))  # stands for the others
        best = ranked.iloc[0]
        plural, s, their = ("", "s", "its") if len(some) == 1 else ("s", "", "their")
        text = SENTENCES.get(role, LOOKS).format(
            heads=heads(count), count=count, name=role.replace(" ", "-"), plural=plural, s=s, listed=listed(parts),
            at=role_named(role, family).looks_at.format(their=their),
            whole="all attention" if best["table"].startswith("offsets") else "what goes beyond sinks",
        )  # fmt: skip
        yield Finding(text, best["table"], labels, numbers.cited, -len(some))


def sinks(run: Run) -> Iterator[Finding]:
    """In one sentence: how much goes to sinks on average, where most, and how many heads do little else."""
    found, names = run.by_head, SinkNames(run)
    numbers = Evidence()
    averages: list[str] = []
    means: dict[str, float] = {}
    shares = {place: {head: sink_share(found, head, place) for head in found.heads} for place in ("first", "separator")}
    for place, cells in shares.items():
        known = [cell for cell in cells.values() if cell.is_known]
        if not any(cell.value for cell in known):
            continue
        means[place] = sum(cell.value for cell in known) / len(known)
        what = "" if averages else f" of its {'norm' if known[0].by_norm else 'attention'}"
        average = numbers.percent(means[place], known[0].table, known[0].column, of="mean")
        averages.append(f"{average}{what} to {names.name(place)}")
    if not averages:
        return
    larger = max(means, key=lambda place: means[place])
    most = sorted(found.heads, key=lambda head: -shares[larger][head].value if shares[larger][head].is_known else 1)[:MOST]
    tops = [
        (found.label(head), numbers.percent(*shares[larger][head], head)) for head in most if shares[larger][head].is_known
    ]
    there = f" to {names.name(larger)}" if len(averages) > 1 else ""
    text = (
        f"On average a head gives {listed(averages)}, most in {listed([f'{one} ({share})' for one, share in tops])}{there}"
    )
    text += _little_else(run, names, numbers)
    yield Finding(f"{text}.", shares[larger][most[0]].table, [one for one, _ in tops], numbers.cited)


def _little_else(run: Run, names: SinkNames, numbers: Evidence) -> str:
    """How many heads have no other role, and how many one more sink."""
    text = ""
    for role, does, do in (
        ("sink", *(f"{do} little but look at {names.first}" for do in ("does", "do"))),
        ("separator", *(f"{do} little but look at {names.separator}" for do in ("does", "do"))),
        ("second sink", *(f"{have} a second sink, one token of each text" for have in ("has", "have"))),
    ):
        some = run.roles[run.roles["role"] == role]
        if len(some):
            text += f"; {heads(numbers.count(some, TABLE, role=role))} {does if len(some) == 1 else do}"
    return text


def missing(run: Run) -> Iterator[Finding]:
    """What was looked for and not found: a fixed place, an earlier copy of a token."""
    counted = any(name.startswith(("beyond_sinks", "offsets")) for name in run.by_head.tables)
    if counted and not (run.roles["family"] == "position").any():
        yield _none(run, "None of {whole} heads gives over half of what goes beyond its sinks to a place beside the token.")
    for role in COPIES if "repeats" in run.by_head.tables else ():
        if not (run.roles["role"] == role).any():
            at = role_named(role, "repetition").looks_at.format(their="its")
            none = (
                f"no {role.replace(' ', '-')} head was found among {{whole}}: none gives most of what goes beyond its sinks"
            )
            yield _none(run, f"{REPEATED}, {none} to {at}.", "repeats")


def _none(run: Run, text: str, table: str = TABLE) -> Finding:
    """That no head has a role, of all that there are."""
    numbers = Evidence()
    return Finding(text.format(whole=numbers.count(run.roles, TABLE)), table, [], numbers.cited)
