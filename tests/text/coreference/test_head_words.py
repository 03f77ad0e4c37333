"""Head words and kinds of mentions: by hand, and against treebanks, a parser and LitBank's own kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import InputError
from headscope.text import Corpus, Document, Mention
from headscope.text.coreference.head_words import head_by_rule, head_word
from headscope.text.coreference.mention_kinds import kind_of, kinds_of, names_in

# The head word is in brackets.
PHRASES = """
[Ann]
the tall , thin [man] who left
a wise and good [man]
a thin , pale , hungry [boy] of ten
the [dogs] and cats in the yard
the [king] , a cruel man
Ann 's [hat] on a chair
Mr. Pocket 's [sister]
Mr. [Pocket] 's
Mr. and Mrs. [Smith]
John [Smith] Jr.
even in the [house]
[one] of the men
[those] in the room
[people] invited by the king
a [crowd] surrounding a gallows
the long-expected [wedding]
the [man] she loved
the [surgeon] herself
[anyone] else
" the [Savoy] "
the [lord] of the manor
the [house] ( and garden )
"""


def bracketed(phrase: str) -> tuple[list[str], int]:
    words = phrase.split()
    (head,) = [place for place, word in enumerate(words) if word.startswith("[")]
    return [word.strip("[]") for word in words], head


@pytest.mark.parametrize("phrase", PHRASES.strip().split("\n"))
def test_the_rule(phrase: str) -> None:
    words, head = bracketed(phrase)
    before = ["he", "saw"]
    document = Document(words=[*before, *words, "."])
    assert head_word(document, Mention(2, 2 + len(words), "x")) == 2 + head


@pytest.mark.parametrize(
    ("phrase", "tags"),
    [
        ("innocent , beautiful [cats]", "ADJ PUNCT ADJ NOUN"),
        ("the [experience] necessary to lead", "DET NOUN ADJ PART VERB"),
        ("her [parlour]", "PRON ADJ"),  # a wrong tag: a possessive is no head all the same
        ("[two] of them", "NUM ADP PRON"),
    ],
)
def test_tags_help_the_rule(phrase: str, tags: str) -> None:
    words, head = bracketed(phrase)
    assert head_word(Document(words=words, tags=tags.split()), Mention(0, len(words), "x")) == head


def test_dependencies_come_first() -> None:
    words = ["the", "experience", "necessary", "today"]
    document = Document(words=[*words, "counts"], parents=[1, 4, 1, 2, -1])
    assert head_word(document, Mention(0, 4, "x")) == 1
    assert head_word(document, Mention(0, 1, "x")) == 0, "an only word needs no rule"


def test_of_several_words_with_heads_outside_the_first_noun_counts() -> None:
    document = Document(words=["very", "old", "men", "sat"], parents=[3, 3, 3, -1])
    assert head_word(document, Mention(0, 3, "x")) == 0
    assert head_word(replace(document, tags=["ADV", "ADJ", "NOUN", "VERB"]), Mention(0, 3, "x")) == 2
    assert head_word(replace(document, fine_tags=["RB", "JJ", "NNS", "VBD"]), Mention(0, 3, "x")) == 2


def test_the_last_part_of_a_flat_name_counts() -> None:
    document = Document(
        words=["Mary", "Ann", "Smith", "sat"], parents=[3, 0, 0, -1], relations=["nsubj", "flat", "flat:name", "root"]
    )
    assert head_word(document, Mention(0, 3, "x")) == 2
    assert head_word(replace(document, relations=None), Mention(0, 3, "x")) == 0


def test_heads_in_a_circle() -> None:
    assert head_word(Document(words=["a", "b"], parents=[1, 0]), Mention(0, 2, "x")) == 0


def test_a_text_has_no_head_words() -> None:
    with pytest.raises(InputError, match="this document has none"):
        head_word(Document("a b"), Mention(0, 2, "x"))


tokens = st.sampled_from(
    ["the", "man", ",", "and", "of", "'s", "who", "sent", "tall", "Mr.", "-", "(", "jr.", "his", "ended"]
)


@given(words=st.lists(tokens, min_size=1, max_size=8), data=st.data())
def test_the_head_lies_in_the_mention_and_is_no_mark_if_there_is_a_word(words: list[str], data: st.DataObject) -> None:
    nominal = data.draw(st.none() | st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    head = head_by_rule([word.lower() for word in words], nominal)
    assert 0 <= head < len(words)
    spoken = [word for word in words if any(character.isalnum() for character in word) and word != "'s"]
    if spoken and not any(nominal or ()):
        assert words[head] in spoken


def noun_phrases(document: Document) -> Iterator[Mention]:
    """Nouns, names and pronouns with all that depends on them, but for what joins them to the rest of their sentence."""
    outside = {"case", "cc", "punct", "mark", "cop", "aux", "nsubj", "csubj", "expl", "discourse", "parataxis"}
    outside |= {"advcl", "orphan", "dislocated", "vocative", "reparandum"}
    children: dict[int, list[int]] = {}
    for word, head in enumerate(document.parents or ()):
        children.setdefault(head, []).append(word)

    def below(word: int) -> list[int]:
        return [word, *(one for child in children.get(word, ()) for one in below(child))]

    for word, tag in enumerate(document.tags or ()):
        relations = [document.relations[child].split(":")[0] for child in children.get(word, ())]
        if tag not in ("NOUN", "PROPN", "PRON") or {"nsubj", "csubj", "cop"} & set(relations):
            continue
        if document.relations[word].split(":")[0] in ("flat", "fixed", "compound", "goeswith", "reparandum"):
            continue
        kept = [child for child, name in zip(children.get(word, ()), relations, strict=True) if name not in outside]
        words = [word, *(one for child in kept for one in below(child))]
        span = range(min(words), max(words) + 1)
        if set(span) <= set(below(word)):
            yield Mention(span.start, span.stop, "x")


@pytest.mark.real
def test_the_rule_agrees_with_a_treebank(data: Path) -> None:
    """EWT dev, noun phrases of two words and more. docs/how-to/coreference.md states these numbers."""
    documents = list(Corpus.of(data / "treebank" / "en_ewt-ud-dev.conllu"))
    right: Counter[str] = Counter()
    total = 0
    for document in documents:
        bare = replace(document, parents=None, relations=None, tags=None, fine_tags=None)
        tagged = replace(bare, tags=document.tags)
        for mention in noun_phrases(document):
            if mention.stop - mention.start > 1:
                total += 1
                head = head_word(document, mention)
                right["words"] += head_word(bare, mention) == head
                right["tags"] += head_word(tagged, mention) == head
    assert total > 3000
    assert right["words"] / total > 0.92
    assert right["tags"] / total > 0.95


# Kinds


@pytest.mark.parametrize(
    ("phrase", "kind"),
    [
        ("she", "PRON"),
        ("He himself", "PRON"),
        ("those who came", "PRON"),
        ("somebody", "NOM"),
        ("the company 's first mine", "NOM"),
        ("the house", "NOM"),
        ("Mr. Bennet", "PROP"),
        ("the Tyrol", "PROP"),
        ("a Miss Bennet", "NOM"),
        ("my Lord", "NOM"),
    ],
)
def test_kinds_by_words(phrase: str, kind: str) -> None:
    words = phrase.split()
    document = Document(words=["then", *words, "left"])
    mention = Mention(1, 1 + len(words), "x")
    assert kind_of(document, mention) == kind
    assert kinds_of(replace(document, mentions=[mention])) == [kind]


def test_the_annotation_knows_best() -> None:
    assert kind_of(Document(words=["she"]), Mention(0, 1, "x", "NOM")) == "NOM"


def test_tags_tell_names_at_the_beginning_of_a_sentence() -> None:
    document = Document(words=["Boys", "left", ".", "Ann", "left"])
    ann = Mention(3, 4, "x")
    assert kind_of(document, ann) == "NOM", "nothing shows that it is a name"
    assert kind_of(replace(document, fine_tags=["NNS", "VBD", ".", "NNP", "VBD"]), ann) == "PROP"
    assert kind_of(replace(document, tags=["NOUN", "VERB", "PUNCT", "PROPN", "VERB"]), ann) == "PROP"


def test_names_are_capitalised_inside_of_sentences_more_often_than_not() -> None:
    text = 'I saw Rose . " Boys , said Rose , see the rose . THE END came : Then Rose left'
    assert names_in(Document(words=text.split())) == {"Rose"}
    assert names_in(Document(words=["Yes", "Ann", "came"], sentences=[(0, 1), (1, 3)])) == set()


@pytest.mark.real
def test_kinds_agree_with_those_of_litbank(data: Path) -> None:
    """docs/how-to/coreference.md states the number."""
    agreed: Counter[bool] = Counter()
    for document in Corpus.of(data / "coreference" / "litbank" / "tsv"):
        mentions = document.mentions or ()
        bare = replace(document, mentions=[mention._replace(kind=None) for mention in mentions])
        agreed.update(kind == mention.kind for kind, mention in zip(kinds_of(bare), mentions, strict=True))
    assert agreed.total() == 29_103
    assert agreed[True] / agreed.total() > 0.974
