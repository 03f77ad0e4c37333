"""Number, gender and person of a mention from closed lists of English, and whether two of them agree (clark2019, 4.3)."""

from collections.abc import Sequence

from headscope.text.coreference import english
from headscope.text.coreference.english import PRONOUNS, Features, Gender, Number
from headscope.text.coreference.head_words import head_word
from headscope.text.coreference.mention_kinds import kind_of
from headscope.text.document import Document
from headscope.text.mention import Kind, Mention

_AND = frozenset({"and", "&"})


def agree(one: Features, other: Features) -> bool:
    """No attribute that is known of both is different.

    >>> agree(PRONOUNS["she"], Features("singular")), agree(PRONOUNS["she"], PRONOUNS["they"])
    (True, False)
    """
    return all(mine is None or its is None or mine == its for mine, its in zip(one, other, strict=True))


def features_of(document: Document, mention: Mention, kind: Kind | None = None) -> Features:
    """A pronoun's are on the list; all others are third person, and their words tell number and gender, where they do.

    `kind` saves finding out whether the mention is a pronoun or a name, where that is known.
    """
    kind = kind or kind_of(document, mention)
    head = head_word(document, mention)
    assert document.words is not None
    words = [word.lower() for word in document.words[mention.start : mention.stop]]
    at = head - mention.start
    if kind == "PRON":
        return PRONOUNS.get(words[at], Features())
    possessors = [place for place, word in enumerate(words[:at]) if word in english.POSSESSION]
    core = words[possessors[-1] + 1 if possessors else 0 : at + 1]
    within = core[:-1] if kind == "PROP" else []
    if core[0] not in english.ONE and _AND & {*within, *words[at + 1 : at + 2]}:  # `Mr. and Mrs. Smith`, `Tom and Ann`
        return Features("plural")
    tag = None if document.fine_tags is None else document.fine_tags[head]
    return Features(number_of(core, kind, tag), gender_of(core, kind))


def number_of(words: Sequence[str], kind: Kind, tag: str | None = None) -> Number | None:
    """The number of a noun phrase that ends with its head word, in lower case: by its first word, tag (Penn) or form.

    >>> number_of(["two", "sheep"], "NOM"), number_of(["a", "lens"], "NOM"), number_of(["the", "bennets"], "PROP")
    ('plural', 'singular', 'plural')
    """
    first, head = words[0], words[-1]
    if head in english.ONE_OR_MANY and first not in english.MANY:
        return None
    if first in english.ONE or first in english.MANY:
        return "singular" if first in english.ONE else "plural"
    if tag in ("NN", "NNP", "NNS", "NNPS"):
        return "plural" if tag.endswith("S") else "singular"
    # James is one, the Bennets are several.
    return "plural" if _is_plural(head) and (kind != "PROP" or first == "the") else "singular"


def gender_of(words: Sequence[str], kind: Kind) -> Gender | None:
    """By the head word, the last; a name's by its first word, if that is a title or a given name.

    >>> gender_of(["the", "queens"], "NOM"), gender_of(["mr.", "smith"], "PROP"), gender_of(["my", "friend"], "NOM")
    ('feminine', 'masculine', None)
    """
    if kind == "PROP":
        first = words[1] if words[0] == "the" and len(words) > 1 else words[0]
        found = english.NOUNS.get(first) if len(words) > 1 else None
        return found or english.GIVEN_NAMES.get(first) or gender_of_noun(words[-1])
    return gender_of_noun(_singular(words[-1]))


def gender_of_noun(word: str) -> Gender | None:
    """A lower-case singular's gender: listed, or made of a word that is.

    >>> gender_of_noun("sister-in-law"), gender_of_noun("fisherman"), gender_of_noun("friend")
    ('feminine', 'masculine', None)
    """
    found = english.NOUNS.get(word) or english.NOUNS.get(word.split("-")[0])
    if found is None and word.endswith("woman"):
        return "feminine"
    return "masculine" if found is None and word.endswith("man") and word not in english.NOT_MEN else found


def _is_plural(word: str) -> bool:
    return word in english.SINGULAR_OF or (word not in english.SINGULARS_IN_S and _singular(word) != word)


def _singular(word: str) -> str:
    """The singular of a lower-case noun, by its form; of a singular, itself.

    >>> [_singular(word) for word in ("ladies", "women", "boys", "churches", "mistress", "wives")]
    ['lady', 'woman', 'boy', 'church', 'mistress', 'wife']
    """
    if word in english.SINGULAR_OF:
        return english.SINGULAR_OF[word]
    if word.endswith("men"):
        return f"{word[:-2]}an"
    for plural, singular in (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x")):
        if word.endswith(plural) and len(word) > len(plural) + 1:
            return word.removesuffix(plural) + singular
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is", "'s", "’s")) and len(word) > 2 else word
