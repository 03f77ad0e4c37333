"""Four tiny random models that between them have everything: an encoder, Conv1D, rotary grouped heads, cross attention."""

from __future__ import annotations

import torch
from transformers import (
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MarianConfig,
    MarianMTModel,
    PreTrainedModel,
)

from tests.architectures.tiny_models import randomise

FAMILIES = ("bert", "gpt2", "llama", "marian")


def tiny(family: str, **changes: int | float | str) -> PreTrainedModel:
    """A tiny random model, the same at every call."""
    torch.manual_seed(0)
    small = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40, "vocab_size": 90}
    configs = {
        "bert": lambda: BertModel(BertConfig(**{**small, "max_position_embeddings": 64, **changes})),
        "gpt2": lambda: GPT2LMHeadModel(
            GPT2Config(**{"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64, "vocab_size": 90, **changes})
        ),
        "llama": lambda: LlamaForCausalLM(
            LlamaConfig(**{**small, "num_key_value_heads": 2, "max_position_embeddings": 64, **changes})
        ),
        "marian": lambda: MarianMTModel(
            MarianConfig(
                **{
                    "d_model": 32,
                    "encoder_layers": 2,
                    "decoder_layers": 2,
                    "encoder_attention_heads": 4,
                    "decoder_attention_heads": 4,
                    "encoder_ffn_dim": 40,
                    "decoder_ffn_dim": 40,
                    "vocab_size": 90,
                    "max_position_embeddings": 64,
                    "pad_token_id": 89,
                    "decoder_start_token_id": 89,
                    "eos_token_id": 0,
                    "forced_eos_token_id": 0,
                    **changes,
                }
            )
        ),
    }
    model = configs[family]().eval()
    randomise(model)
    return model


def tiny_inputs(
    family: str, lengths: tuple[int, ...] = (9, 6), targets: tuple[int, ...] = (7, 4)
) -> dict[str, torch.Tensor]:
    """A padded batch of ordinary tokens; the padding carries ordinary ids, so that a leak would show."""
    generator = torch.Generator().manual_seed(1)

    def side(lengths: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        ids = torch.randint(3, 80, (len(lengths), max(lengths)), generator=generator)
        return ids, (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()

    inputs = dict(zip(("input_ids", "attention_mask"), side(lengths), strict=True))
    if family == "marian":
        inputs |= dict(zip(("decoder_input_ids", "decoder_attention_mask"), side(targets), strict=True))
    return inputs
