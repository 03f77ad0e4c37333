"""A text of so many tokens, and a tokenizer for models whose weights are random: letters and a few words."""

from __future__ import annotations

from itertools import cycle, islice

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from headscope.demo.text import text


def long_text(length: int) -> tuple[PreTrainedTokenizerFast, str]:
    """The words of the demo's text again and again: each is a token, of which there are fewer than 1,000."""
    words = [word for word in text().lower().split() if word.isalpha()]
    known = list(dict.fromkeys(["a", "b", "c", *words]))[:998]
    vocabulary = {word: number for number, word in enumerate(["[UNK]", *known])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", model_max_length=10**6)
    return made, " ".join(islice(cycle(words), length))
