"""Every role that a head can have, with all that is said and shown of it: a new one needs a row here and a rule in roles.py.

Pages get colours and marks from here too, in the report's JSON, so that nothing is told by colour alone, or twice.
"""

from typing import NamedTuple

from headscope.colours import HEADS, HEADS_DARK

NO_ROLE = "no role found"
ABOUT = (
    "A head that has nothing to do looks at a sink: the first token or a separator. "
    "A role says what it does beyond its sinks."
)


class Family(NamedTuple):
    """Roles of one kind."""

    name: str
    does: str  # of heads in the plural, the verb first
    light: str  # its colour on a light page
    dark: str
    about: str
    title: str = ""  # where it is not its name


class Role(NamedTuple):
    """A name for what a head does.

    A card fills in {share}, its score in percent, {score}, {whole}, what the share is of, and {more}, for what only a few
    roles have. A finding fills in {their}.
    """

    name: str
    family: str
    mark: str  # in a few characters
    sentence: str  # on a card
    looks_at: str = ""  # in a finding: what such heads look at


# fmt: off
FAMILIES = (
    Family("syntax", "follow a syntactic relation", HEADS[1], HEADS_DARK[1],
           "A word looks most at the word that it belongs to in the grammar."),
    Family("coreference", "look for antecedents", HEADS[4], HEADS_DARK[4],
           "A mention looks most at who or what was meant before."),
    Family("repetition", "look for earlier copies of a token", HEADS[2], HEADS_DARK[2],
           "On random tokens that come twice, it looks for the earlier copy, or for what followed it."),
    Family("position", "look at a fixed place or nearby", HEADS[0], HEADS_DARK[0],
           "Most of it goes to one place beside the token, or to its nearest neighbours."),
    Family("punctuation", "look at periods and commas", HEADS[7], HEADS_DARK[7], "Most of it goes to periods and commas."),
    Family("broad", "look broadly", HEADS[5], HEADS_DARK[5], "It goes almost evenly to all tokens."),
    Family("separator", "look mostly at separators", HEADS[6], HEADS_DARK[6],
           "Most attention goes to separators, such as [SEP]."),
    Family("sink", "look mostly at the first token or another sink", HEADS[3], HEADS_DARK[3],
           "Most attention goes to the first token, or to one other token of each text."),
    Family("none", "have no role", "#C9D0D6", "#3B444E", "No rule holds in what this run has counted.", NO_ROLE),
)

_AT = "Looks at {0}: {{share}} of {{whole}}."
ROLES = (
    Role("coreference", "coreference", "coref",
         "Looks from a pronoun or name back to who is meant: right in {share} of cases{more}."),
    Role("induction", "repetition", "ind",
         _AT.format("the token that followed an earlier copy of this one, as if to say it again"),
         "the token that followed an earlier copy of {their} own"),
    Role("duplicate token", "repetition", "dup", _AT.format("an earlier copy of the same token"),
         "an earlier copy of {their} own token"),
    Role("previous token", "position", "←", _AT.format("the token before it"), "the previous token"),
    Role("next token", "position", "→", _AT.format("the token after it"), "the next token"),
    Role("same token", "position", "●", _AT.format("the token itself"), "the very token that looks"),
    Role("two tokens before", "position", "⇇", _AT.format("the token two places before"), "the token two places before"),
    Role("two tokens after", "position", "⇉", _AT.format("the token two places after"), "the token two places after"),
    Role("nearby tokens", "position", "↔", _AT.format("the token itself and its nearest neighbours"),
         "the tokens nearby, at most two away"),
    Role("punctuation", "punctuation", ". ,", _AT.format("periods and commas"), "periods and commas"),
    Role("second sink", "sink", "2nd",
         _AT.format("one token of each text, from wherever it is") + " It seems to be one more sink."),
    Role("broad", "broad", "≋", "Looks at everything a little, almost evenly: its breadth is {score:.2f} of 1."),
    Role("separator", "separator", "sep", "Gives {share} of its attention to {more}."),
    Role("sink", "sink", "1st", "Gives {share} of its attention to {more}."),
    Role(NO_ROLE, "none", "–", "No rule fits what this run has counted of it."),
)
# fmt: on
_BY_NAME = {role.name: role for role in ROLES}


def role_named(name: str, family: str) -> Role:
    """The role of this name. A relation is its own name; so is a role for which nobody has written anything.

    >>> role_named("previous token", "position").mark, role_named("nsubj", "syntax").mark
    ('←', 'nsubj')
    >>> role_named("the moon", "position").looks_at
    'the moon'
    """
    if family == "syntax":
        return Role(name, family, name, "Follows {more}.", name)
    return _BY_NAME.get(name) or Role(name, family, name, _AT.format(name), name)
