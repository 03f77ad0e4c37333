"""Tiny fast tokenizers of the three families, made on the spot: word pieces, byte-level BPE, unigram."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from tokenizers.trainers import BpeTrainer, UnigramTrainer
from transformers import PreTrainedTokenizerFast

from tests.tiny import tiny

CORPUS = ["the cat sat on the mat", "a dog and two dogs", "pre split words", "the unbelievable end", "café, naïve 猫 🙂!"]
WORD_PIECES = "[PAD] [UNK] [CLS] [SEP] the cat sat on mat a dog dogs one two pre split words end un ##believ ##able ##s , ."


@cache
def tiny_tokenizer(kind: str) -> PreTrainedTokenizerFast:
    """A tokenizer of at most 89 tokens, to fit the tiny models."""
    return {"wordpiece": _wordpiece, "bpe": _bpe, "unigram": _unigram}[kind]()


def _wordpiece() -> PreTrainedTokenizerFast:
    vocabulary = {token: index for index, token in enumerate(WORD_PIECES.split())}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


def _bpe() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(CORPUS, BpeTrainer(vocab_size=80, special_tokens=["</s>"]))
    end = [("</s>", 0)]
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", special_tokens=end)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, eos_token="</s>", pad_token="</s>")


def _unigram() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(CORPUS, UnigramTrainer(vocab_size=70, special_tokens=["<unk>"], unk_token="<unk>"))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, unk_token="<unk>", pad_token="<unk>")


def save_tiny(family: str, tokenizer: str, folder: Path) -> Path:
    """A tiny model and its tokenizer in a folder, as a user has them."""
    tiny(family).save_pretrained(folder)
    tiny_tokenizer(tokenizer).save_pretrained(folder)
    return folder
