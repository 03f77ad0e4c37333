"""From texts to tokens and words: pairs, pre-split words, special tokens, fast and slow tokenizers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import ByT5Tokenizer

from headscope.errors import InputError
from headscope.lens.tokens.encoding import Segment, TokenSequence, encode, length_limit
from headscope.lens.tokens.word_encoding import encode_words
from tests.lens.language_models import tokenizer_for
from tests.tiny_tokenizers import tiny_tokenizer

FAST = ("wordpiece", "bpe", "unigram")
WORDS = ("the", "cats", "unbelievable", "café", "naïve", "猫", "dog", "🙂", "a")


def words_of(sequence: TokenSequence) -> list[str | None]:
    """For each token, the word that it belongs to."""
    return [None if word is None else sequence.words[word] for word in sequence.word_of]


def test_a_pair_by_hand() -> None:
    sequence = encode(tiny_tokenizer("wordpiece"), [Segment.of("the cats", None), Segment.of(None, ["dogs", "sat"])])
    assert sequence.tokens == ["[CLS]", "the", "cat", "##s", "[SEP]", "dogs", "sat", "[SEP]"]
    assert words_of(sequence) == [None, "the", "cats", "cats", None, "dogs", "sat", None]
    assert sequence.special == [True, False, False, False, True, False, False, True]
    assert sequence.segments == [0, 0, 0, 0, 0, 1, 1, 1]
    assert sequence.groups() == (
        ["[CLS]", "the", "cats", "[SEP]", "dogs", "sat", "[SEP]"],
        [[0], [1], [2, 3], [4], [5], [6], [7]],
    )


def test_a_mask_is_a_word() -> None:
    sequence = encode(tokenizer_for("bert"), [Segment.of("the [MASK], unbelievable.", None)])
    assert sequence.groups()[0] == ["[CLS]", "the", "[MASK]", ",", "unbelievable", ".", "[SEP]"]


@pytest.mark.parametrize("kind", FAST)
@given(
    words=st.lists(
        st.sampled_from(["the", "cats", "unbelievable", "café", "naïve", "猫", "dog", "🙂", "a"]), min_size=1, max_size=8
    )
)
def test_every_piece_finds_its_own_word(kind: str, words: list[str]) -> None:
    sequence = encode(tiny_tokenizer(kind), [Segment.of(None, words)], max_tokens=200)
    inside = [word for word in sequence.word_of if word is not None]
    assert inside == sorted(inside), "words come in order"
    assert set(inside) == set(range(len(words))), "and none is lost"
    assert [s for s, word in zip(sequence.special, sequence.word_of, strict=True) if word is not None] == [False] * len(
        inside
    )


@pytest.mark.parametrize("kind", FAST)
@given(text=st.text(min_size=1, max_size=30))
def test_any_text_is_a_sequence_or_a_clear_error(kind: str, text: str) -> None:
    try:
        sequence = encode(tiny_tokenizer(kind), [Segment.of(text, None)], max_tokens=None)
    except InputError:
        return
    assert (
        len(sequence.ids) == len(sequence.tokens) == len(sequence.word_of) == len(sequence.special) == len(sequence.segments)
    )


def test_slow_tokenizer_without_offsets() -> None:
    tokenizer = ByT5Tokenizer()
    assert not tokenizer.is_fast
    sequence = encode(tokenizer, [Segment.of("ab, c", None), Segment.of("de", None)])
    assert words_of(sequence) == ["ab", "ab", ",", None, "c", None, "de", "de", None]
    assert sequence.special == [False] * 5 + [True, False, False, True]
    assert sequence.segments == [0] * 6 + [1] * 3


def test_slow_tokenizer_truncated() -> None:
    sequence = encode(ByT5Tokenizer(), [Segment.of("abcdef ghi", None)], max_tokens=5, truncate=True)
    assert len(sequence) == 5
    assert words_of(sequence) == ["abcdef"] * 4 + [None]


@pytest.mark.parametrize("kind", FAST)
def test_words_one_by_one_are_cut_where_it_is_asked_for(kind: str) -> None:
    tokenizer = tiny_tokenizer(kind)
    whole = encode_words(tokenizer, ["the", "cats", "unbelievable", "dog"])
    after = sum(whole.special[1:])
    for most in range(1 + len(whole) - sum(not special for special in whole.special), len(whole) + 1):
        part = encode_words(tokenizer, ["the", "cats", "unbelievable", "dog"], max_tokens=most, truncate=True)
        kept = most - after
        assert part.ids == whole.ids[:kept] + whole.ids[len(whole) - after :]
        assert part.word_of == whole.word_of[:kept] + whole.word_of[len(whole) - after :]
    with pytest.raises(InputError, match="tokens"):
        encode_words(tokenizer, ["the", "cats", "unbelievable", "dog"], max_tokens=len(whole) - 1)


def test_limit_is_the_smaller_of_model_and_tokenizer() -> None:
    class Config:
        max_position_embeddings = 514

    class Tokenizer:
        model_max_length = 512

    class Endless:
        model_max_length = int(1e30)

    assert length_limit(Config(), Tokenizer()) == 512
    assert length_limit(Config(), Endless()) == 514
    assert length_limit(Config(), None) == 514
    assert length_limit(object(), Tokenizer()) is None  # relative positions: the tokenizer's number is no limit
