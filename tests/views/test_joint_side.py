"""The tokens of two texts on one axis, in pieces and in words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headscope.views.content import Side
from headscope.views.joint_side import joint_side

SPECIAL = ("[CLS]", "[SEP]", "[MASK]", "<s>", "</s>")


def side(words: list[list[str]], second: int | None = None) -> Side:
    """Of words in pieces; `second` is the first word of the second text of a pair."""
    pieces = [piece for word in words for piece in word]
    word_of = [number for number, word in enumerate(words) for _ in word]
    return Side(
        pieces,
        pieces,
        [piece in SPECIAL for piece in pieces],
        ["".join(word).replace("##", "") for word in words],
        word_of,
        [int(second is not None and word >= second) for word in word_of],
    )


WORDS = st.lists(st.sampled_from([["a"], ["b"], ["b", "##s"], ["c", "##s"], ["[SEP]"]]), min_size=1, max_size=8)


@given(WORDS, WORDS)
def test_every_token_of_both_is_there_once_in_order_and_in_its_word(first: list[list[str]], second: list[list[str]]) -> None:
    one, other = side(first), side(second)
    both = joint_side(one, other)
    assert both.joint is not None
    for origin, own in ((both.joint.a, one), (both.joint.b, other)):
        assert [place for place in origin.places if place is not None] == list(range(len(own)))
        for number, place in enumerate(origin.places):
            if place is not None:
                assert origin.tokens[number] == own.tokens[place]
                assert origin.words[both.word_of[number]] == own.words[own.word_of[place]]
                assert both.segments[number] == own.segments[place]
    assert sorted(set(both.word_of)) == list(range(len(both.words)))


@given(WORDS, WORDS)
def test_exchanging_the_texts_exchanges_what_is_said(first: list[list[str]], second: list[list[str]]) -> None:
    said, turned = joint_side(side(first), side(second)), joint_side(side(second), side(first))
    other = {"": "", "exchanged": "exchanged", "left out": "put in", "put in": "left out"}
    assert said.joint is not None
    assert turned.joint is not None
    assert sorted(said.joint.tokens) == sorted(other[one] for one in turned.joint.tokens)
    pairs = {(a, b) for a, b in zip(said.joint.a.places, said.joint.b.places, strict=True)}
    assert pairs == {(b, a) for a, b in zip(turned.joint.a.places, turned.joint.b.places, strict=True)}


def test_words_that_stand_for_each_other_share_their_pieces() -> None:
    both = joint_side(side([["the"], ["play", "##ing"], ["cat"]]), side([["the"], ["play", "##s"], ["old"], ["cat"]]))
    assert both.joint is not None
    assert both.tokens == ["the", "play", "##ing", "play", "##s", "old", "cat"]  # one word in the place of two
    assert both.joint.words == ["", "left out", "put in", "put in", ""]
    both = joint_side(side([["the"], ["play", "##ing"]]), side([["the"], ["play", "##s"]]))
    assert (both.tokens, both.words) == (["the", "play", "##ing/##s"], ["the", "playing/plays"])
    assert both.word_of == [0, 1, 1]


def test_a_mask_and_the_word_in_its_place() -> None:
    both = joint_side(side([["[CLS]"], ["[MASK]"], ["[SEP]"]]), side([["[CLS]"], ["cat"], ["[SEP]"]]))
    assert both.tokens == ["[CLS]", "[MASK]/cat", "[SEP]"]
    assert both.special == [True, False, True]


def test_texts_of_a_pair_are_not_exchanged_with_each_other() -> None:
    one = side([["a"], ["[SEP]"], ["b"]], second=2)
    other = side([["a"], ["[SEP]"], ["c"], ["b"]], second=3)
    both = joint_side(one, other)
    assert both.joint is not None
    assert list(zip(both.tokens, both.segments, both.joint.tokens, strict=True)) == [
        ("a", 0, ""), ("[SEP]", 0, ""), ("c", 0, "put in"), ("b", 1, ""),
    ]  # fmt: skip


def test_two_tokenizers_share_words_and_the_pieces_that_read_the_same() -> None:
    one = side([["[CLS]"], ["un", "##real"], ["cat"], ["[SEP]"]])
    other = side([["<s>"], ["un", "re", "al"], ["Cat"], ["</s>"]])
    both = joint_side(one, other, one_tokenizer=False)
    assert both.joint is not None
    assert both.joint.words == ["", "", "", ""]
    assert both.words == ["[CLS]", "unreal", "cat", "[SEP]"]
    assert both.tokens == ["[CLS]", "un", "##real", "re", "al", "cat", "[SEP]"]
