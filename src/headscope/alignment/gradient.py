"""Word alignments out of gradients: how much a source word speaks for a target piece, smoothed (Ding et al., 2019).

With x_j the embedding of source token j and p(y_i) the probability of target piece y_i in forced decoding,

    saliency(i, j) = x_j . d log p(y_i) / d x_j

That is the derivative by the 1 of j's one-hot vector, as if the lookup of x_j were a product. It has a sign: a word that
speaks against y_i is no translation of it. `absolute` takes each copy's absolute value instead: with smoothing the sign
aligned better on Hansards, without smoothing the absolute value did.
SmoothGrad (Smilkov et al., 2017) is the mean over noisy copies: the gradient is taken at x + N(0, s^2), with
s = noise * (max x - min x) of the text, and x_j stays as it is. One copy without noise is the plain gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from headscope.alignment.linking import encode_pair, link_encoded
from headscope.errors import InputError, ModelError
from headscope.later import Tensor, nn, torch
from headscope.lens import watching
from headscope.lens.lens import Lens
from headscope.lens.tokens.batch import Batch
from headscope.statistics.alignment.sides import AWO, Sides
from headscope.text import Document
from headscope.text.links import Pair

SAMPLES, NOISE = 30, 0.15  # as SmoothGrad has them


def word_saliency(gradients: Tensor, embeddings: Tensor) -> Tensor:
    """x . d log p / dx: (batch, key, d) and the same -> (batch, key)"""
    return torch.einsum("bkd,bkd->bk", gradients, embeddings)


def gradient_links(
    lens: Lens,
    documents: Sequence[Document],
    *,
    samples: int = SAMPLES,
    noise: float = NOISE,
    seed: int = 0,
    batch_size: int = 16,
    absolute: bool = False,
    no_link: bool = True,
) -> list[frozenset[Pair]]:
    """The links (source word, target word) of each document: a target word gets the source word of highest saliency.

    Summed over a source word's pieces, the mean over a target word's. Special tokens of the source are candidates too and
    mean 'no link', unless `no_link` is False. This takes a backward pass for every target position of every noisy copy:
    hundreds of times as long as reading attention. Fewer copies are faster and worse.
    """
    encoded = [encode_pair(lens, document) for document in documents]

    def of_batch(batch: Batch) -> Tensor:
        scores = saliency(lens, batch, samples=samples, noise=noise, seed=seed, absolute=absolute)
        return choose(scores, batch, no_link=no_link)

    return link_encoded(lens, encoded, of_batch, batch_size)


def saliency(
    lens: Lens, batch: Batch, *, samples: int = SAMPLES, noise: float = NOISE, seed: int = 0, absolute: bool = False
) -> Tensor:
    """Of every source token for the target piece that each row predicts: (batch, row, key). The last row predicts none.

    The noise of a text depends on the seed and on its own tokens, not on what stands beside it in the batch.
    """
    _check(lens, batch, samples, noise)
    dice = [np.random.default_rng([seed, *sequence.ids]) for sequence in batch.sources]
    with torch.inference_mode(False), torch.enable_grad(), watching.frozen(lens.model), lens.unwatched():
        clean = _embeddings(lens, batch)
        shape = (batch.size, batch.inputs["decoder_input_ids"].shape[1], batch.inputs["input_ids"].shape[1])
        total = torch.zeros(shape, device=clean.device)
        for _ in range(samples):
            found = _one_copy(lens, batch, clean, clean + _noise(clean, batch, noise, dice) if noise else clean)
            total += found.abs() if absolute else found
    return total / samples


def choose(scores: Tensor, batch: Batch, *, no_link: bool = True) -> Tensor:
    """The source word of each target word, or NO_LINK: (batch, row, key) -> (batch, target word)"""
    special = [sequence.special if no_link else [False] * len(sequence) for sequence in batch.sources]
    source_of, target_of = ([sequence.word_of for sequence in side] for side in (batch.sources, batch.targets))
    sides = Sides(source_of, target_of, special, scores.device)
    rows = range(scores.shape[1])
    merged = sides.merged(scores[:, None], AWO, rows)
    # A column that a shorter text does not have is 0 everywhere, and must not win where all saliency is negative.
    exists = sides.merged(torch.ones_like(scores)[:, None], AWO, rows) > 0
    return sides.choose(merged.masked_fill(~exists, -torch.inf))[:, 0]


def _one_copy(lens: Lens, batch: Batch, clean: Tensor, copy: Tensor) -> Tensor:
    """Saliency of the embeddings `clean`, by gradients at `copy`: (batch, key, d) and the same -> (batch, row, key)"""
    copy = copy.detach().requires_grad_()
    model: Any = lens.model
    encoder = model.get_encoder()
    with _replaced(encoder.get_input_embeddings(), copy):
        encoded = encoder(input_ids=batch.inputs["input_ids"], attention_mask=batch.inputs["attention_mask"])
    with _cut(model.get_output_embeddings()) as cut:
        inputs = {name: tensor for name, tensor in batch.inputs.items() if name != "input_ids"}
        logits = model(encoder_outputs=encoded, use_cache=False, **inputs).logits
    # A row's logits depend on its own state alone: the head is differentiated once for all rows, the rest row by row.
    predicted = batch.inputs["decoder_input_ids"][:, 1:, None]
    log_p = logits[:, :-1].float().log_softmax(-1).gather(2, predicted)
    (of_states,) = torch.autograd.grad(log_p.sum(), cut["below"])
    result = torch.zeros(*logits.shape[:2], clean.shape[1], device=clean.device)
    for row in range(logits.shape[1] - 1):
        only = torch.zeros_like(of_states)
        only[:, row] = of_states[:, row]
        (gradients,) = torch.autograd.grad(cut["above"], copy, only, retain_graph=True)
        result[:, row] = word_saliency(gradients.float(), clean.float())
    return result


def _embeddings(lens: Lens, batch: Batch) -> Tensor:
    """(batch, key, d), as the embedding layer returns them."""
    with torch.no_grad():
        model: Any = lens.model
        found: Tensor = model.get_encoder().get_input_embeddings()(batch.inputs["input_ids"])
        return found


def _noise(clean: Tensor, batch: Batch, noise: float, dice: Sequence[np.random.Generator]) -> Tensor:
    """noise * (max x - min x) * N(0, 1) of each text, from its own dice; nothing at padding: (batch, key, d)"""
    drawn = torch.zeros_like(clean)
    for text, (sequence, generator) in enumerate(zip(batch.sources, dice, strict=True)):
        own = clean[text, : len(sequence)]
        normal = torch.from_numpy(generator.standard_normal(own.shape, dtype=np.float32)).to(own)
        drawn[text, : len(sequence)] = noise * (own.max() - own.min()) * normal
    return drawn


@contextmanager
def _replaced(module: nn.Module, output: Tensor) -> Iterator[None]:
    """A module that returns `output`, whatever it reads."""
    handle = module.register_forward_hook(lambda *_: output)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def _cut(head: nn.Module) -> Iterator[dict[str, Tensor]]:
    """The graph cut in two where the head reads its states: `above` is what the model made, `below` what the head reads."""
    cut: dict[str, Tensor] = {}

    def read(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        cut["above"], cut["below"] = inputs[0], inputs[0].detach().requires_grad_()
        return (cut["below"], *inputs[1:])

    handle = head.register_forward_pre_hook(read)
    try:
        yield cut
    finally:
        handle.remove()


def _check(lens: Lens, batch: Batch, samples: int, noise: float) -> None:
    if lens.closed:
        raise ModelError("This lens is closed: open the model again.")
    if not lens.is_encoder_decoder or lens.model.get_output_embeddings() is None:
        raise ModelError(
            f"Gradient alignment needs an encoder-decoder with a language-model head, and {lens.name} is a "
            f"{type(lens.model).__name__}."
        )
    if not batch.has_target:
        raise InputError("Gradient alignment needs a target for every text: give both sides of each pair.")
    if samples < 1 or noise < 0:
        raise InputError(f"samples must be at least 1 and noise at least 0, not {samples} and {noise}.")
