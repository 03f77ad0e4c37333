"""Pieces and words: any tokenizer, sums over keys, means over rows."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headscope.lens.tokens.words import merge_keys, merge_rows, piece_spans, word_spans, words_of_pieces
from headscope.text.natural_text import natural_text


def test_merging_by_hand() -> None:
    # Three pieces, the last two one word: to it 0.3 + 0.5, from it the mean of two rows.
    scores = torch.tensor([[0.2, 0.3, 0.5], [0.4, 0.4, 0.2], [0.8, 0.1, 0.1]])
    groups = [[0], [1, 2]]
    merged = merge_keys(merge_rows(scores, groups), groups)
    torch.testing.assert_close(merged, torch.tensor([[0.2, 0.8], [0.6, 0.4]]))


@given(st.data())
def test_merged_rows_still_sum_to_one(data: st.DataObject) -> None:
    length = data.draw(st.integers(1, 8))
    cuts = sorted(data.draw(st.sets(st.integers(1, length - 1) if length > 1 else st.nothing(), max_size=length - 1)))
    groups = [list(range(a, b)) for a, b in zip([0, *cuts], [*cuts, length], strict=True)]
    scores = torch.rand(length, length).softmax(-1)
    torch.testing.assert_close(merge_keys(merge_rows(scores, groups), groups).sum(-1), torch.ones(len(groups)))


def test_piece_belongs_to_the_word_of_its_first_letter() -> None:
    text = "a new-york day"
    spans = [(0, 1), (1, 5), (5, 10), (10, 11), (11, 14)]  # pieces with and without a leading space
    assert words_of_pieces(spans, word_spans(text), text) == [0, 1, 1, None, 2]


@pytest.mark.parametrize(
    ("text", "pieces", "spans"),
    [
        ("Les chats", ["▁Les", "▁ch", "ats"], [(0, 3), (4, 6), (6, 9)]),
        ("ÉTÉ", ["▁ete"], [(0, 3)]),
        ("a ☃ b", ["▁a", "<unk>", "▁b"], [(0, 1), (2, 3), (4, 5)]),
        ("a ☃☃", ["▁a", "<unk>"], [(0, 1), (2, 4)]),
        ("unknown", ["un@@", "known</w>"], [(0, 2), (2, 7)]),
        ("ﬁn", ["▁fi", "n"], [(0, 1), (1, 2)]),
    ],
)
def test_alignment_of_slow_tokenizers(text: str, pieces: list[str], spans: list[tuple[int, int]]) -> None:
    assert piece_spans(text, pieces) == spans


@given(st.lists(st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=6), min_size=1, max_size=6))
def test_letters_as_pieces_find_their_words(words: list[str]) -> None:
    text, spans = natural_text(words)
    pieces = [character for word in words for character in word]
    found = piece_spans(text, pieces)
    expected = [index for index, word in enumerate(words) for _ in word]
    got = words_of_pieces(found, spans, text)
    assert all(span[0] <= span[1] <= len(text) for span in found)
    exact = all(len(character.casefold()) == 1 and character.isascii() for character in pieces)
    if exact:
        assert got == expected
