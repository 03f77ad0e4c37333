"""A GPT-2 with weights set by hand: heads of which everything is known, in a model whose every number can be worked out.

A feature is a pair of dimensions, (+1, -1): so every vector has mean 0, and LayerNorm divides k features of size 1 by
sqrt(2 k / 64). There is a feature for every token, for every position, for the token before (`previous`), and for every
token that may come next (`next`), which is all that the unembedding reads.

    0.0  previous-token head   looks at the token before, writes its `previous` feature (<s> looks at itself)
    1.0  induction head        looks where `previous` is this token (all such places alike, or all places if there is none),
                               writes INDUCTION x `next` of what stands there
    1.1  copying head          looks at all tokens alike, writes COPYING x `next` of each
    1.2  negative copier       looks at itself, writes -NEGATIVE x `next` of its own token
    all others are idle: they look at all tokens alike and write nothing.

    The first MLP is idle; the second adds MLP x `next` of "a". Layer 1's b_O adds OUTPUT_BIAS x `next` of "b", and the last
    norm's bias NORM_BIAS x `next` of "e".

An attention of SHARP is 1 but for e^-40. `written` and `logits` say in plain numbers what comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

TOKENS = ("<s>", "a", "b", "c", "d", "e")
POSITIONS, SIZE, HEAD_SIZE = 12, 64, 16
INDUCTION, COPYING, NEGATIVE = 3.0, 2.0, 1.0
MLP, OUTPUT_BIAS, NORM_BIAS = 0.5, 0.25, 0.125
SHARP = 40.0

_VOCABULARY = len(TOKENS)
_TOKEN, _POSITION = 0, _VOCABULARY
_PREVIOUS = _VOCABULARY + POSITIONS
_NEXT = _PREVIOUS + _VOCABULARY


def scale(features: float) -> float:
    """What LayerNorm divides by: `features` is the sum of the squares of their sizes.

    >>> scale(2)
    0.25
    """
    return float(np.sqrt(2 * features / SIZE))


@dataclass(frozen=True)
class Written:
    """What each part of layer 1 adds to the `next` features at every position, before the last norm, of one text."""

    heads: dict[str, np.ndarray]  # by "1.0": query key token
    constant: np.ndarray  # token: of the MLP and b_O

    @property
    def total(self) -> np.ndarray:
        """(query, token)"""
        return sum(head.sum(1) for head in self.heads.values()) + self.constant

    @property
    def scales(self) -> np.ndarray:
        """What the last norm divides by at every position: token, position and `previous`, and what was written. (query,)"""
        return np.array([scale(3 + float(np.square(row).sum())) for row in self.total])


def written(ids: list[int]) -> Written:
    """By hand, head by head and token by token: what the docstring of this file says."""
    length = len(ids)
    heads = {name: np.zeros((length, length, _VOCABULARY)) for name in ("1.0", "1.1", "1.2")}
    before = [ids[max(place - 1, 0)] for place in range(length)]
    for query in range(length):
        matches = [key for key in range(query + 1) if before[key] == ids[query]]
        looked_at = matches or list(range(query + 1))  # nothing matches: all tokens alike
        for key in looked_at:
            heads["1.0"][query, key, ids[key]] += INDUCTION / len(looked_at)
        for key in range(query + 1):
            heads["1.1"][query, key, ids[key]] += COPYING / (query + 1)
        heads["1.2"][query, query, ids[query]] -= NEGATIVE
    constant = np.zeros(_VOCABULARY)
    constant[TOKENS.index("a")] += MLP
    constant[TOKENS.index("b")] += OUTPUT_BIAS
    return Written(heads, constant)


def logits(ids: list[int]) -> np.ndarray:
    """(query, token), by hand."""
    found = written(ids)
    result = found.total / found.scales[:, None]
    result[:, TOKENS.index("e")] += NORM_BIAS
    return result


@torch.no_grad()
def planted_model() -> GPT2LMHeadModel:
    config = GPT2Config(
        n_embd=SIZE,
        n_layer=2,
        n_head=SIZE // HEAD_SIZE,
        n_positions=POSITIONS,
        vocab_size=_VOCABULARY,
        n_inner=4,
        layer_norm_epsilon=1e-12,
        tie_word_embeddings=False,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(config).eval()
    for parameter in model.parameters():
        parameter.zero_()
    for name, module in model.named_modules():
        if "ln_" in name:
            module.weight.fill_(1)
    for token in range(_VOCABULARY):
        model.transformer.wte.weight[token] = _writes(_TOKEN + token)
        model.lm_head.weight[token] = _reads(_NEXT + token)
    for place in range(POSITIONS):
        model.transformer.wpe.weight[place] = _writes(_POSITION + place)

    first, second = (block.attn for block in model.transformer.h)
    places, tokens = range(POSITIONS), range(_VOCABULARY)
    _looks(first, 0, [(_POSITION + place, _POSITION + max(place - 1, 0)) for place in places], scale(2))
    _copies(first, 0, _PREVIOUS, 1, scale(2))
    _looks(second, 0, [(_TOKEN + token, _PREVIOUS + token) for token in tokens], scale(3))
    _copies(second, 0, _NEXT, INDUCTION, scale(3))
    _copies(second, 1, _NEXT, COPYING, scale(3))
    _looks(second, 2, [(_POSITION + place, _POSITION + place) for place in places], scale(3))
    _copies(second, 2, _NEXT, -NEGATIVE, scale(3))
    model.transformer.h[1].mlp.c_proj.bias += MLP * _writes(_NEXT + TOKENS.index("a"))
    second.c_proj.bias += OUTPUT_BIAS * _writes(_NEXT + TOKENS.index("b"))
    model.transformer.ln_f.bias += NORM_BIAS * _writes(_NEXT + TOKENS.index("e"))
    return model


def planted_tokenizer() -> PreTrainedTokenizerFast:
    """Letters between spaces; every text begins with <s>."""
    tokenizer = Tokenizer(models.WordLevel({token: index for index, token in enumerate(TOKENS)}, unk_token="<s>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A $B", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", pad_token="<s>", model_max_length=POSITIONS)


def _writes(feature: int) -> Tensor:
    vector = torch.zeros(SIZE)
    vector[2 * feature], vector[2 * feature + 1] = 1, -1
    return vector


def _reads(feature: int) -> Tensor:
    return _writes(feature) / 2


def _looks(attention: torch.nn.Module, head: int, pairs: list[tuple[int, int]], scaled: float) -> None:
    """The head looks from where the first feature of a pair is to where the second is."""
    keys = sorted({key for _, key in pairs})
    for query, key in pairs:
        channel = head * HEAD_SIZE + keys.index(key)
        attention.c_attn.weight[:, channel] += SHARP * HEAD_SIZE**0.5 * scaled * _reads(query)
    for place, key in enumerate(keys):
        attention.c_attn.weight[:, SIZE + head * HEAD_SIZE + place] += scaled * _reads(key)


def _copies(attention: torch.nn.Module, head: int, to: int, size: float, scaled: float) -> None:
    """The head takes the tokens it looks at, and writes the feature `to` of each, so large."""
    for token in range(_VOCABULARY):
        channel = head * HEAD_SIZE + token
        attention.c_attn.weight[:, 2 * SIZE + channel] += scaled * _reads(_TOKEN + token)
        attention.c_proj.weight[channel] += size * _writes(to + token)
