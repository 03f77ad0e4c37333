"""One sentence that tells a newcomer what a head does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from headscope.heads.role_table import NO_ROLE, role_named
from headscope.heads.roles import LITTLE, RoleMatch, nearest_miss, sink_share
from headscope.later import pd
from headscope.lens.head import HEAD, Head
from headscope.report.findings.evidence import percent
from headscope.study.run import Run
from headscope.study.run_by_head import RunByHead

RELATIONS = {
    "acl": "a clause to the noun it describes",
    "advcl": "an adverbial clause to its verb",
    "advmod": "an adverb to the word it modifies",
    "amod": "an adjective to its noun",
    "appos": "an apposition to its noun",
    "aux": "an auxiliary to its verb",
    "case": "a preposition to its noun",
    "cc": "a conjunction (and, or) to the word it adds",
    "ccomp": "a clause to its verb",
    "compound": "a noun to the noun it forms a compound with",
    "conj": "a coordinated word to the first one",
    "cop": "a form of `be` to the predicate",
    "det": "an article or determiner to its noun",
    "dobj": "an object to its verb",
    "iobj": "an indirect object to its verb",
    "mark": "a word like `that` or `to` to its clause",
    "nmod": "a noun to the noun it describes",
    "nmod:poss": "a possessor to what is possessed",
    "nsubj": "a subject to its verb",
    "nummod": "a number to its noun",
    "obj": "an object to its verb",
    "obl": "an oblique noun to its verb",
    "poss": "a possessor to what is possessed",
    "prt": "a particle to its verb",
    "xcomp": "an open clause to its verb",
}
SINKS = {"separator": "separator", "sink": "first"}  # roles whose place is a sink, and which
SOME = 0.1  # less than this is not worth a word
_KNOWN_SHARES = {
    "previous": "the token before",
    "next": "the token after",
    "same": "the token itself",
    "punctuation": "periods and commas",
}


class SinkNames:
    """What this run's sinks are called: [CLS] and [SEP], or the first token where it is an ordinary one."""

    def __init__(self, run: Run) -> None:
        self.first, self.separator = "the first token", "separators"
        first = _column(run, ("beyond_sinks", "first"), ("first_token", "first_token"))
        separator = _column(run, ("beyond_sinks", "separator"), ("separators", "share"))
        self.has_separators = separator is None or bool((separator > 0).any())
        special = run.get("special_tokens")
        if first is None or separator is None or special is None or not len(first) == len(separator) == len(special):
            return
        names = [column for column in special if not column.endswith(("_low", "_high")) and column not in HEAD]
        own = [name for name in names if np.allclose(special[name], first)]  # the token that starts every text
        others = [name for name in names if name not in own]
        self.first = own[0] if own else self.first
        if others and np.allclose(special[others].sum(axis=1), separator):
            self.separator = " and ".join(others)

    @property
    def both(self) -> str:
        return f"{self.first} or {self.separator}" if self.has_separators else self.first

    def name(self, place: str) -> str:
        """`first` or `separator` as this run has it."""
        return self.first if place == "first" else self.separator


def _column(run: Run, *places: tuple[str, str]) -> pd.Series | None:
    return next((run[table][column] for table, column in places if table in run), None)


def sentence_about(found: RunByHead, head: Head, role: Mapping[str, Any], sinks: SinkNames) -> str:
    """A sentence or two, out of a row of `roles` and the tables behind it."""
    name, family = role["role"], role["family"]
    is_sink = name in SINKS
    more = _sink(found, head, SINKS[name], sinks) if is_sink else _relation(role) if family == "syntax" else _rule(role)
    text = role_named(name, family).sentence.format(
        share=percent(role["score"]), score=role["score"], whole=_whole(role["table"], sinks), more=more
    )
    if is_sink:
        return text + _largest_known(found, head)
    text += _its_sinks(found, head, sinks, " on ordinary text" if role["table"] == "repeats" else "")
    miss = nearest_miss(found, head) if name == NO_ROLE else None
    return text if miss is None else f"{text} Nearest: {miss_said(miss)}."


def miss_said(miss: RoleMatch) -> str:
    """
    >>> miss_said(RoleMatch("previous token", "position", 0.336, "", "", "", needed=0.5, holds=False))
    '34% previous token; 50% would name it'
    """
    return f"{percent(miss.score)} {miss.role}; {percent(miss.needed)} would name it"


def _whole(table: str, sinks: SinkNames) -> str:
    """What a share is of."""
    if table.startswith("offsets"):
        return "all its attention"
    if table == "repeats":
        return "what goes beyond its sinks, on random tokens that come twice"
    return f"what goes beyond its sinks ({sinks.both})"


def _relation(role: Mapping[str, Any]) -> str:
    relation = str(role["role"])
    gloss = gloss_of(relation)
    link = f"the link from {gloss} ({relation})" if gloss else f"the relation {relation}"
    reverse = ", read from its end to its start" if ", head to dependent" in role["rule"] else ""
    return (
        f"{link}{reverse}: right in {percent(role['score'])} of cases, where the best fixed distance is right in "
        f"{percent(role['baseline'])}"
    )


def gloss_of(relation: str) -> str | None:
    """A relation in plain words; None for one that we have no words for."""
    return RELATIONS.get(relation) or RELATIONS.get(relation.split(":")[0])


def _rule(role: Mapping[str, Any]) -> str:
    """What a simple rule comes to, where one was tried."""
    return f", where a simple rule finds {percent(role['baseline'])}" if role["baseline"] == role["baseline"] else ""


def _sink(found: RunByHead, head: Head, place: str, sinks: SinkNames) -> str:
    """The sink by its name, and how much comes from there."""
    weight, norm = sink_share(found, head, place), sink_share(found, head, place, norm=True)
    text = f"its sink, {sinks.name(place)}"
    if norm.is_known:
        little = "only " if norm.value < weight.value / 2 else ""
        text += f", from where {little}{percent(norm.value)} of what it adds comes"
    return text


def _its_sinks(found: RunByHead, head: Head, sinks: SinkNames, where: str) -> str:
    """What goes to sinks, where that is worth a word."""
    shares = {place: sink_share(found, head, place) for place in ("first", "separator")}
    parts = [f"{percent(cell.value)} ({sinks.name(place)})" for place, cell in shares.items() if cell.value >= SOME]
    return f" Its sinks take {' and '.join(parts)} of its attention{where}." if parts else ""


def _largest_known(found: RunByHead, head: Head) -> str:
    """The largest share that is known of what goes beyond a head's sinks: no role, but something to go by."""
    rest = found.lookup(head, ("beyond_sinks", "rest"))
    cells = {name: found.lookup(head, ("beyond_sinks", name)) for name in _KNOWN_SHARES}
    known = {name: cell.value for name, cell in cells.items() if cell.is_known}
    if not known or not rest.value >= LITTLE or head.kind != "self":
        return ""
    most = max(known, key=lambda name: known[name])
    share, where = percent(known[most]), _KNOWN_SHARES[most]
    return f" Of the {percent(rest.value)} beyond its sinks, the largest share we can name, {share}, goes to {where}."
