"""Tiny random models with a language-model head, and their gradients by the model's own eager path."""

from __future__ import annotations

import copy
from functools import cache

import torch
from torch import Tensor
from transformers import BertConfig, BertForMaskedLM, PreTrainedModel, PreTrainedTokenizerFast

import headscope
from headscope.lens.site import Site
from headscope.lens.tokens.losses import Loss, Prediction, text_losses
from headscope.lens.watching.gradients import GradientBlock
from headscope.text import Document
from tests.architectures.tiny_models import randomise
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

TEXTS = ["the unbelievable cats sat on the mat .", "a dog , two dogs", "the end", "one cat", "unbelievable , unbelievable ."]
FAMILIES = ("bert", "gpt2", "llama", "marian")


def language_model(family: str) -> PreTrainedModel:
    if family != "bert":
        return tiny(family)
    torch.manual_seed(0)
    config = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40, "vocab_size": 90}
    model = BertForMaskedLM(BertConfig(**config, max_position_embeddings=64)).eval()
    randomise(model)
    return model


@cache
def tokenizer_for(family: str) -> PreTrainedTokenizerFast:
    if family != "bert":
        return tiny_tokenizer("bpe")
    tokenizer = copy.deepcopy(tiny_tokenizer("wordpiece"))
    tokenizer.add_special_tokens({"mask_token": "[MASK]"})
    return tokenizer


@cache
def lens_for(family: str) -> headscope.Lens:
    return headscope.open(language_model(family), tokenizer_for(family))


def documents(family: str) -> list[Document]:
    return [Document(text, target=text[::-1]) if family == "marian" else Document(text) for text in TEXTS]


def gradients_of(
    lens: headscope.Lens, batch, loss: Loss | None = None, rows: int | None = None
) -> dict[Site, GradientBlock]:
    """All rows of every site in one block."""
    parts: dict[Site, list[GradientBlock]] = {}
    lens.run_gradients(batch, lambda block: parts.setdefault(block.site, []).append(block), loss=loss, rows=rows)
    whole = {}
    for site, blocks in parts.items():
        blocks.sort(key=lambda block: block.rows.start)
        assert [block.rows.start for block in blocks[1:]] == [block.rows.stop for block in blocks[:-1]]
        weights, gradients = (torch.cat([getattr(block, name) for block in blocks], 2) for name in ("weights", "gradients"))
        first = blocks[0]
        whole[site] = GradientBlock(
            site, range(weights.shape[2]), weights, None, first.key_side, batch, gradients=gradients, masked=first.masked
        )
    return whole


def own_gradients(model: PreTrainedModel, task: Prediction) -> dict[tuple[str, str] | None, list[tuple[Tensor, Tensor]]]:
    """(weights, dL / d weights) of each layer by transformers and autograd alone; by (stack, kind) for encoder-decoders."""
    model.set_attn_implementation("eager")
    output = model(**task.inputs, output_attentions=True)
    names = {
        "attentions": None,
        "encoder_attentions": ("encoder", "self"),
        "decoder_attentions": ("decoder", "self"),
        "cross_attentions": ("decoder", "cross"),
    }
    maps = {place: list(output[name]) for name, place in names.items() if output.get(name) is not None}
    for weights in (weights for layers in maps.values() for weights in layers):
        weights.retain_grad()
    text_losses(output.logits, task.targets).sum().backward()
    return {place: [(weights.detach(), weights.grad) for weights in layers] for place, layers in maps.items()}
