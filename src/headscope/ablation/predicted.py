"""What a model is to predict while its heads are taken away: the task that its head was trained for, or nothing."""

from __future__ import annotations

from dataclasses import replace

from headscope.later import torch
from headscope.lens.lens import Lens
from headscope.lens.task import task_of
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.losses import NOTHING, NextToken, Prediction, own_loss


def has_words(lens: Lens) -> bool:
    """Whether the model predicts words; else its states are compared."""
    return task_of(lens) is not None


def task(lens: Lens, batch: Batch) -> Prediction:
    """What is read and predicted; a translator is led through its target, the end of it too."""
    if task_of(lens) != "target":
        return own_loss(lens).prepare(batch)
    forced = NextToken(of_target=True).prepare(batch)
    end = end_of_target(lens)
    if end is None:
        return forced
    ids = batch.inputs["decoder_input_ids"]
    mask = batch.inputs.get("decoder_attention_mask", torch.ones_like(ids))
    targets = forced.targets.clone()
    targets[torch.arange(len(ids), device=ids.device), mask.sum(1) - 1] = end
    return replace(forced, targets=targets)


def end_of_target(lens: Lens) -> int | None:
    """The token that the tokenizer puts behind every target; None without one."""
    end = getattr(lens.tokenizer, "eos_token_id", None)
    ids = lens.tokenizer(text_target="a")["input_ids"]
    return end if end is not None and ids and ids[-1] == end else None


def predicts(targets: torch.Tensor) -> torch.Tensor:
    """(batch, position): whether something is predicted there."""
    return targets != NOTHING
