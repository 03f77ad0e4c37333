"""One sentence that tells a newcomer what a head does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from headscope.heads.roles import LITTLE, NO_ROLE, parked_share
from headscope.heads.run_by_head import RunByHead
from headscope.lens.head import HEAD, Head
from headscope.report.findings.evidence import percent

PLACES = {
    "previous token": "the token before it",
    "next token": "the token after it",
    "same token": "the token itself",
    "two tokens before": "the token two places before",
    "two tokens after": "the token two places after",
    "nearby tokens": "the token itself and its nearest neighbours",
    "punctuation": "periods and commas",
}
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
SOME = 0.1  # less than this is not worth a word
_KNOWN_SHARES = {
    "previous": "the token before",
    "next": "the token after",
    "same": "the token itself",
    "punctuation": "periods and commas",
}


class SinkNames:
    """What this run's heads park on, by name: [CLS] and [SEP], or the first token where it is an ordinary one."""

    def __init__(self, tables: Mapping[str, pd.DataFrame]) -> None:
        self.first, self.separator = "the first token", "separators"
        first = _column(tables, ("beyond_sinks", "first"), ("first_token", "first_token"))
        separator = _column(tables, ("beyond_sinks", "separator"), ("separators", "share"))
        self.has_separators = separator is None or bool((separator > 0).any())
        special = tables.get("special_tokens")
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
        if not self.has_separators:
            return self.first
        return f"{self.first} or {self.separator}"

    def name(self, place: str) -> str:
        """`first` or `separator` as this run has it."""
        return self.first if place == "first" else self.separator


def _column(tables: Mapping[str, pd.DataFrame], *places: tuple[str, str]) -> pd.Series | None:
    return next((tables[table][column] for table, column in places if table in tables), None)


def says(found: RunByHead, head: Head, role: Mapping[str, Any], places: SinkNames) -> str:
    """A sentence or two, out of a row of `roles` and the tables behind it."""
    parked = places.both
    name, family = role["role"], role["family"]
    if name == NO_ROLE:
        return f"No rule fits what this run has counted of it.{_parks(found, head, places)}{_largest_known(found, head)}"
    if family == "separator" or name == "sink":
        return _parking(found, head, name, places) + _largest_known(found, head)
    parks = _parks(found, head, places)
    return _does(role, parked) + (
        parks.replace(" Of its attention it", " On ordinary text it") if role["table"] == "repeats" else parks
    )


def _does(role: Mapping[str, Any], parked: str) -> str:
    """What a head does with what it does not park."""
    name, family = role["role"], role["family"]
    if family == "syntax":
        return _relation(role)
    if family == "coreference":
        return _coreference(role)
    if family == "repetition":
        return _repetition(role)
    if name in PLACES:
        return f"Looks at {PLACES[name]}: {percent(role['score'])} of {_whole(role['table'], parked)}."
    if name == "second sink":
        return (
            f"Looks at one token of each text, from wherever it is: {percent(role['score'])} of what it does not park on "
            f"{parked}. It seems to be a second place to park."
        )
    return f"Looks at everything a little, almost evenly: its breadth is {role['score']:.2f} of 1."


def _whole(table: str, parked: str) -> str:
    if table.startswith("offsets"):
        return "all its attention"
    return f"what it does not park on {parked}" + (", on random tokens" if table == "repeats" else "")


def _relation(role: Mapping[str, Any]) -> str:
    relation = str(role["role"])
    gloss = RELATIONS.get(relation) or RELATIONS.get(relation.split(":")[0])
    link = f"the link from {gloss} ({relation})" if gloss else f"the relation {relation}"
    reverse = ", read from its end to its start" if ", head to dependent" in role["rule"] else ""
    return (
        f"Follows {link}{reverse}: right in {percent(role['score'])} of cases, where the best fixed distance is right in "
        f"{percent(role['baseline'])}."
    )


def _coreference(role: Mapping[str, Any]) -> str:
    rule = f", where a simple rule finds {percent(role['baseline'])}" if role["baseline"] == role["baseline"] else ""
    return f"Looks from a pronoun or name back to who is meant: right in {percent(role['score'])} of cases{rule}."


def _repetition(role: Mapping[str, Any]) -> str:
    share = f"{percent(role['score'])} of what it does not park, on random tokens that come twice"
    if role["role"] == "induction":
        return f"Looks at the token that followed an earlier copy of this one, as if to say it again: {share}."
    return f"Looks at an earlier copy of the same token: {share}."


def _parks(found: RunByHead, head: Head, places: SinkNames) -> str:
    """What it parks, where that is worth a word."""
    shares = {place: parked_share(found, head, place) for place in ("first", "separator")}
    parts = [f"{percent(cell.value)} on {places.name(place)}" for place, cell in shares.items() if cell.value >= SOME]
    return f" Of its attention it parks {' and '.join(parts)}." if parts else ""


def _parking(found: RunByHead, head: Head, name: str, places: SinkNames) -> str:
    place = "separator" if name == "separator" else "first"
    weight, norm = parked_share(found, head, place), parked_share(found, head, place, norm=True)
    text = f"Parks {percent(weight.value)} of its attention on {places.name(place)}"
    if norm.there:
        little = "only " if norm.value < weight.value / 2 else ""
        text += f", from where {little}{percent(norm.value)} of what it adds comes"
    return f"{text}."


def _largest_known(found: RunByHead, head: Head) -> str:
    """The largest share that is known of what a head does not park: no role, but something to go by."""
    rest = found.first(head, ("beyond_sinks", "rest"))
    cells = {name: found.first(head, ("beyond_sinks", name)) for name in _KNOWN_SHARES}
    there = {name: cell.value for name, cell in cells.items() if cell.there}
    if not there or not rest.value >= LITTLE or head.kind != "self":
        return ""
    most = max(there, key=lambda name: there[name])
    share, where = percent(there[most]), _KNOWN_SHARES[most]
    return f" Of the {percent(rest.value)} that it does not park, the largest share we can name, {share}, goes to {where}."
