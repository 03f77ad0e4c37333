"""A tiny input that any text model takes, for the trace that finds its attentions."""

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from headscope.lens.placement import device_of

SOURCE, TARGET = 11, 7  # different, so that self and cross attention can be told apart


def dummy_inputs(model: PreTrainedModel) -> dict[str, Tensor]:
    """Random tokens, without any that the configuration names as special."""
    embeddings: Any = model.get_input_embeddings()
    vocabulary = getattr(embeddings, "num_embeddings", None) or model.config.get_text_config().vocab_size
    special = set(_special_ids(model.config))
    ordinary = [index for index in range(min(vocabulary, 4096)) if index not in special] or [0]
    generator = torch.Generator().manual_seed(0)
    picks = torch.randint(len(ordinary), (SOURCE + TARGET,), generator=generator)
    ids = torch.tensor(ordinary)[picks].to(device_of(model))
    inputs = {"input_ids": ids[None, :SOURCE], "attention_mask": torch.ones_like(ids[None, :SOURCE])}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids[None, SOURCE:]
    return inputs


def _special_ids(config: Any) -> list[int]:
    """Every `..._token_id` and `..._token_index` of a configuration and those inside it."""
    found: list[int] = []
    for name, value in vars(config).items():
        if name.endswith(("token_id", "token_index", "token_ids")):
            found += value if isinstance(value, list) else [value]
        elif hasattr(value, "sub_configs"):
            found += _special_ids(value)
    return [index for index in found if isinstance(index, int)]
