"""Names of syntactic relations: Stanford Dependencies, spaCy's labels (ClearNLP) and Universal Dependencies v2.

The papers use Stanford's, today's treebanks UD's. Most relations have another name and the same two words; some link
the same two words the other way round; some link other words, and then only the names can be put side by side.
"""

from collections.abc import Collection
from dataclasses import dataclass

SAME, REVERSED, OTHER = "same", "reversed", "other"

_NOUN = "UD makes the noun the dependent and hangs the preposition on it; Stanford makes the preposition the dependent"
_COPULA = "in UD the predicate is the head of its copula, in spaCy the copula is the head of the predicate"


@dataclass(frozen=True)
class Correspondence:
    """A relation of Stanford's or spaCy's and its nearest in UD.

    `ends`: "same", dependent and head are the same words; "reversed", they have changed places; "other", they are
    other words, and `note` says which.
    """

    stanford: str
    ud: str
    ends: str = SAME
    note: str = ""


def _same(pairs: str) -> list[Correspondence]:
    return [Correspondence(*pair.split("/")) for pair in pairs.split()]


# The nearest first, where a name has several.
CORRESPONDENCES: tuple[Correspondence, ...] = (
    *_same("dobj/obj dative/iobj nsubjpass/nsubj:pass csubjpass/csubj:pass auxpass/aux:pass poss/nmod:poss"),
    *_same("nn/compound num/nummod predet/det:predet preconj/cc:preconj prt/compound:prt"),
    *_same("rcmod/acl:relcl relcl/acl:relcl vmod/acl partmod/acl infmod/acl purpcl/advcl complm/mark mwe/fixed"),
    *_same("acomp/xcomp oprd/xcomp abbrev/appos intj/discourse foreign/flat:foreign"),
    *_same("tmod/obl:tmod tmod/obl:unmarked tmod/nmod:tmod tmod/nmod:unmarked"),
    *_same("npadvmod/obl:npmod npadvmod/obl:unmarked npadvmod/nmod:npmod npadvmod/nmod:unmarked"),
    Correspondence("possessive", "case", SAME, "UD's case has all prepositions too"),
    Correspondence("number", "compound", SAME, "UD's compound has nouns too"),
    Correspondence("quantmod", "advmod", SAME, "UD's advmod has all other adverbs too"),
    Correspondence("neg", "advmod", SAME, "UD's advmod has all other adverbs too, and its no is a det"),
    Correspondence(
        "pobj", "case", REVERSED, "in UD the preposition is the dependent of its noun; so is a possessive's clitic"
    ),
    Correspondence("prep", "obl", OTHER, f"{_NOUN}; of nouns it is nmod"),
    Correspondence("prep", "nmod", OTHER, f"{_NOUN}; of other words it is obl"),
    Correspondence("agent", "obl:agent", OTHER, _NOUN),
    Correspondence("pcomp", "mark", REVERSED, "in UD the preposition is the dependent of its clause; so are conjunctions"),
    Correspondence("attr", "cop", REVERSED, _COPULA),
    Correspondence("acomp", "cop", REVERSED, _COPULA),
)


@dataclass(frozen=True)
class Found:
    """A relation under the name that some data have for it; `ends` and `note` as in `Correspondence`."""

    name: str
    ends: str = SAME
    note: str = ""


def find_relation(name: str, among: Collection[str]) -> Found | None:
    """A relation among the names of some data: by its own name, else by its nearest there; None where it has none.

    >>> find_relation("auxpass", {"aux", "aux:pass"})
    Found(name='aux:pass', ends='same', note='')
    >>> find_relation("pobj", {"case", "obl"}).ends
    'reversed'
    """
    if name in among:
        return Found(name)
    having = [found for found in CORRESPONDENCES if name in (found.stanford, found.ud)]
    for found in sorted(having, key=lambda found: (SAME, REVERSED, OTHER).index(found.ends)):
        other = found.ud if name == found.stanford else found.stanford
        if other in among:
            return Found(other, found.ends, found.note)
    return None
