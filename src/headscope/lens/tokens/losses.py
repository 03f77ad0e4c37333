"""What a language model is trained to predict, as a loss to take gradients of (clark2019, section 3.2, figure 3).

A text's loss is the mean over its predicted tokens, and a batch's is the sum over its texts: so each text's gradients
are those of its own loss, whatever batch it is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from headscope.errors import InputError, ModelError
from headscope.later import Tensor, nn, torch
from headscope.lens.task import has_head, task_of, why_no_task
from headscope.lens.tokens.batch import Batch, pad

if TYPE_CHECKING:
    from headscope.lens.lens import Lens

NOTHING = -100  # the target of a position at which nothing is predicted

SHARE = 0.15  # of the ordinary tokens are to be predicted (BERT's recipe)
BY_MASK, BY_RANDOM = 0.8, 0.1  # of those, so many are replaced by the mask token, by a random one; the rest stay


@dataclass(frozen=True)
class Prediction:
    """What the model reads, and what it is to predict from it."""

    inputs: dict[str, Tensor]
    targets: Tensor  # batch position: the id to predict there, or NOTHING
    masked: Tensor | None = None  # batch position: True where the model is to guess a token of its own input


class Loss(Protocol):
    """Sets a batch as a task."""

    def prepare(self, batch: Batch) -> Prediction: ...


def text_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """(batch, position, vocabulary), (batch, position) -> (batch,): mean cross entropy of each text's predicted tokens.

    0 for a text in which nothing is predicted.
    """
    predicted = targets != NOTHING
    each = nn.functional.cross_entropy(logits[predicted].float(), targets[predicted], reduction="none")
    count = predicted.sum(1)
    text = torch.arange(len(targets), device=targets.device).repeat_interleave(count)
    return each.new_zeros(len(targets)).index_add(0, text, each) / count.clamp(min=1)


@dataclass(frozen=True)
class NextToken:
    """Every token from those before it: a decoder's text, or the target of an encoder-decoder.

    The decoder's input does not hold the target's end token, so that one is not among the predicted.
    """

    of_target: bool = False

    def prepare(self, batch: Batch) -> Prediction:
        if self.of_target and not batch.has_target:
            raise InputError("An encoder-decoder predicts its target: give one with every document (target=...).")
        side = "decoder_" if self.of_target else ""
        ids = batch.inputs[f"{side}input_ids"]
        mask = batch.inputs.get(f"{side}attention_mask", torch.ones_like(ids)).bool()
        following = ids[:, 1:].where(mask[:, 1:], NOTHING)
        return Prediction(batch.inputs, nn.functional.pad(following, (0, 1), value=NOTHING))


@dataclass(frozen=True)
class MaskedTokens:
    """BERT's masked-LM task. Which tokens are masked depends on the text and the seed alone, not on batch or order."""

    mask_id: int
    random_ids: Sequence[int]
    seed: int = 0

    def prepare(self, batch: Batch) -> Prediction:
        if not batch.sources:
            raise InputError("Masking needs to know which tokens are special: use lens.encoder.batch(documents).")
        device = batch.inputs["input_ids"].device
        masked = [mask_tokens(source.ids, source.special, self) for source in batch.sources]
        ids = batch.inputs["input_ids"].clone()
        for text, (replaced, _) in enumerate(masked):
            ids[text, : len(replaced)] = torch.tensor(replaced, device=device)
        chosen = pad([chosen for _, chosen in masked], False, device)
        targets = batch.inputs["input_ids"].where(chosen, NOTHING)
        return Prediction({**batch.inputs, "input_ids": ids}, targets, chosen)


def mask_tokens(ids: Sequence[int], special: Sequence[bool], by: MaskedTokens) -> tuple[list[int], list[bool]]:
    """The text with some tokens replaced, and which ones are to be predicted: 15 % of the ordinary ones, at least one.

    Of those, 80 % become the mask token, 10 % a random ordinary token, 10 % stay as they are.
    """
    dice = np.random.default_rng([by.seed, *ids])
    order, way, pick = dice.random((3, len(ids)))
    ordinary = [index for index in np.argsort(order) if not special[index]]
    replaced, chosen = list(ids), [False] * len(ids)
    for index in ordinary[: max(1, round(SHARE * len(ordinary)))]:
        chosen[index] = True
        if way[index] < BY_MASK:
            replaced[index] = by.mask_id
        elif way[index] < BY_MASK + BY_RANDOM:
            replaced[index] = by.random_ids[int(pick[index] * len(by.random_ids))]
    return replaced, chosen


def own_loss(lens: Lens, seed: int = 0) -> Loss:
    """The loss that the model's head was trained for: next-token where attention is causal, else masked-LM."""
    task = task_of(lens)
    if task is None:
        way_out = (
            "open it as a decoder, or with a masked-LM head" if has_head(lens) else "open a model that was saved with one"
        )
        raise ModelError(f"{why_no_task(lens)}, so there is no loss to take gradients of: {way_out}.")
    return _masked_tokens(lens, seed) if task == "masked" else NextToken(of_target=task == "target")


def _masked_tokens(lens: Lens, seed: int) -> MaskedTokens:
    mask_id = getattr(lens.tokenizer, "mask_token_id", None)
    if mask_id is None:
        raise ModelError(f"The masked-LM loss of {lens.name} needs a tokenizer with a mask token, and there is none.")
    embeddings: Any = lens.model.get_input_embeddings()
    special = set(lens.tokenizer.all_special_ids)
    known = min(len(lens.tokenizer), embeddings.num_embeddings)
    return MaskedTokens(mask_id, [index for index in range(known) if index not in special], seed)
