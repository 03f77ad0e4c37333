"""What tokens are called: an id beyond the tokenizer's vocabulary by its number, and words as people read them."""

from __future__ import annotations

import headscope
from headscope.statistics import BeyondSinks
from headscope.study import Run
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer


def test_a_sink_without_a_name_is_called_by_its_number() -> None:
    """Tiny Marian starts its targets with id 89, which its tokenizer does not have: sentences spoke of a sink named None."""
    texts = [headscope.Document("the cat sat", target="the dog sat"), headscope.Document("a dog", target="a cat")]
    with headscope.open(tiny("marian"), tiny_tokenizer("bpe")) as lens:
        reading = lens.read("the cat sat", target="the dog sat")
        assert reading.target_tokens[0] == "<token 89>"
        assert reading.to_words().key_texts("self", "decoder")[0] == "<token 89>"
        run = headscope.study(lens, texts, [BeyondSinks(), "special_tokens"])
    assert isinstance(run, Run)
    assert "<token 89>" in run["special_tokens"]
    assert "None" not in run["special_tokens"]


def test_words_are_readable() -> None:
    with headscope.open(tiny("gpt2"), tiny_tokenizer("bpe")) as lens:
        reading = lens.read("the cats sat on")
    assert any("Ġ" in token for token in reading.key_tokens())
    assert not any("Ġ" in text for text in reading.key_texts())
    assert reading.to_words().key_texts() == ["the", "cats", "sat", "on", "</s>"]
