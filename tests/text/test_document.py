"""Documents: layers that fit their words or a clear error, and natural text from words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import InputError
from headscope.text import Document, Mention
from headscope.text.natural_text import Multiword, natural_text

WORDS = ["Ann", "did", "n't", "see", "her", "."]
LAYERS: dict[str, Any] = {
    "spaces": [True, False, True, True, False, False],
    "tags": ["PROPN", "AUX", "PART", "VERB", "PRON", "PUNCT"],
    "fine_tags": ["NNP", "VBD", "RB", "VB", "PRP", "."],
    "parents": [3, 3, 3, -1, 3, 3],
    "relations": ["nsubj", "aux", "advmod", "root", "obj", "punct"],
    "sentences": [(0, 6)],
    "mentions": [Mention(0, 1, "Ann", "PROP"), Mention(4, 5, "someone")],
    "multiwords": [Multiword(1, 3, "didn't")],
}


def test_all_layers_fit() -> None:
    document = Document(words=WORDS, **LAYERS)
    assert document.text_and_spans() == ("Ann didn't see her.", [(0, 3), (4, 7), (7, 10), (11, 14), (15, 18), (18, 19)])


def test_words_without_spaces_are_joined_by_one() -> None:
    assert Document(words=["a", "b"]).text_and_spans() == ("a b", [(0, 1), (2, 3)])


def test_a_text_has_no_words_to_join() -> None:
    with pytest.raises(InputError, match="has no words"):
        Document("plain").text_and_spans()


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_needs_words(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} have no words to stand on"):
        Document("A text.", **{name: LAYERS[name]})


@pytest.mark.parametrize("name", ["spaces", "tags", "fine_tags", "parents", "relations"])
def test_one_value_for_each_word(name: str) -> None:
    with pytest.raises(InputError, match=f"5 {name} for 6 words"):
        Document(words=WORDS, **{name: LAYERS[name][:5]})
    with pytest.raises(InputError, match="must be a list of"):
        Document(words=WORDS, **{name: [None] * 6})


@pytest.mark.parametrize("head", [-2, 6, 0])
def test_a_head_is_another_word_or_the_root(head: int) -> None:
    with pytest.raises(InputError, match=f"Word 0 of 6 cannot have the head {head}"):
        Document(words=WORDS, parents=[head, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ({"sentences": [(0, 7)]}, "the words are 0 to 6"),
        ({"sentences": [(2, 2)]}, "the words are 0 to 6"),
        ({"sentences": [(0, 3), (2, 6)]}, "in order and apart"),
        ({"mentions": [Mention(-1, 1, "a")]}, "the words are 0 to 6"),
        ({"mentions": [Mention(0, 1, "")]}, "has no cluster"),
        ({"mentions": [Mention(0, 1, "a", "NOUN")]}, "PRON, NOM, PROP or None, not 'NOUN'"),  # type: ignore[arg-type]
        ({"multiwords": [Multiword(0, 2, " ")]}, "has no form"),
        ({"multiwords": [Multiword(0, 2, "ab"), Multiword(1, 3, "bc")]}, "in order and apart"),
    ],
)
def test_spans_lie_within_the_words(layer: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Document(words=WORDS, **layer)


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(InputError, match="half a character"):
        Document("a\ud800b")
    with pytest.raises(InputError, match="half a character"):
        Document(words=["a", "\udfff"])


def test_text_must_be_a_string() -> None:
    with pytest.raises(InputError, match="must be a string, not int"):
        Document(3)  # type: ignore[arg-type]


words = st.lists(st.text(st.characters(categories=["L", "P"]), min_size=1, max_size=4), min_size=1, max_size=8)


@given(words=words, data=st.data())
def test_every_word_stands_where_its_span_says(words: list[str], data: st.DataObject) -> None:
    spaces = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    text, spans = natural_text(words, spaces)
    assert [text[start:stop] for start, stop in spans] == words
    assert text.replace(" ", "") == "".join(words)
    assert text.count(" ") == sum(spaces[:-1])
