"""What a model predicts from a text: the next token, the masked ones, or a text that it writes itself.

The model runs its own attention, unwatched: the numbers are the plain model's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from inspect import signature
from math import isfinite
from threading import get_ident
from typing import Any, Literal

from headscope.errors import ModelError
from headscope.later import Tensor, nn, torch
from headscope.lens.lens import Lens
from headscope.lens.loading import first_sentence
from headscope.lens.predicted import Gap, Guess, Predicted
from headscope.lens.quiet import quiet
from headscope.lens.task import has_head, task_of, why_no_task, word_logits
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence, token_names
from headscope.lens.tokens.labels import readable

GUESSES = 5  # for each gap, the likeliest first
GAPS = 8  # masks of a text that are guessed
_BROKEN = "\ufffd"  # what a part of a character is decoded as

Check = Callable[[], None]


@dataclass(frozen=True)
class Bounds:
    """How long a model may write."""

    tokens: int = 512
    seconds: float = 20.0

    def tokens_for(self, length: int) -> int:
        """Twice a text's own length and some more: what runs on beyond that goes round in circles."""
        return max(1, min(self.tokens, 2 * length + 16))


def predict(lens: Lens, batch: Batch, *, bounds: Bounds | None = None, check: Check = lambda: None) -> Predicted:
    """What the model predicts from the only text of `batch`. `check` is called at every attention, and may raise."""
    task = task_of(lens)
    if task is None:
        return Predicted(None, says=nothing_said(lens))
    with _alone(lens, check):
        if task == "target":
            return _written(lens, batch, bounds or Bounds())
        return _next(lens, batch) if task == "next" else _masked(lens, batch)


def similarity(lens: Lens, one: Batch, other: Batch, *, check: Check = lambda: None) -> float:
    """The cosine of two texts' mean vectors, each read by itself, as sentence encoders are compared."""
    with _alone(lens, check):
        first, second = (mean_vector(lens.forward(text.inputs).last_hidden_state[0]) for text in (one, other))
    cosine = float(nn.functional.cosine_similarity(first, second, dim=0))
    if not isfinite(cosine):
        raise _not_finite(lens)
    return cosine


def compares_texts(lens: Lens) -> bool:
    """Whether texts can be compared by their vectors: with an encoder that was saved without a language-model head."""
    return not has_head(lens) and not lens.is_encoder_decoder and all(site.stack == "encoder" for site in lens.sites)


def nothing_said(lens: Lens) -> str:
    """The sentence about a model that predicts no words."""
    return f"{why_no_task(lens)}, so it predicts no words."


def likeliest(logits: Tensor, count: int = GUESSES) -> list[tuple[int, float]]:
    """(vocabulary,) -> ids and their probabilities, the largest first.

    >>> [(token, round(share, 2)) for token, share in likeliest(torch.tensor([0.0, 2.0, 1.0]), 2)]
    [(1, 0.67), (2, 0.24)]
    """
    largest = logits.float().softmax(-1).topk(min(count, len(logits)))
    return list(zip(largest.indices.tolist(), largest.values.tolist(), strict=True))


def mean_vector(states: Tensor) -> Tensor:
    """(token, d) -> (d,): special tokens are counted as any others, as sentence-transformers does."""
    return states.float().mean(0)


@contextmanager
def _alone(lens: Lens, check: Check) -> Iterator[None]:
    """Nobody watches: the model runs its own eager attention. At every one it is asked whether to go on.

    Nothing of the lens is switched over, so that other threads may read with it meanwhile.
    """
    if lens.closed:
        raise ModelError("This lens is closed: open the model again.")
    here = get_ident()

    def ask(*_: object) -> None:
        if get_ident() == here:
            check()

    with ExitStack() as stack:
        for module in {traced.module for traced in lens.trace.sites}:
            stack.callback(module.register_forward_pre_hook(ask).remove)
        stack.enter_context(torch.no_grad())
        yield


def _next(lens: Lens, batch: Batch) -> Predicted:
    source = batch.sources[0]
    end = 1 + max(place for place, special in enumerate(source.special) if not special)  # an end token says: no more
    inputs = {name: tensor[:, :end] for name, tensor in batch.inputs.items()}
    options: dict[str, Any] = {"logits_to_keep": 1} if "logits_to_keep" in signature(lens.model.forward).parameters else {}
    likely = likeliest(word_logits(lens.model(**inputs, **options))[0, -1])
    segment, text = _segment(batch, end - 1)
    ids = [token for token, special in zip(source.ids[:end], source.special, strict=False) if not special]
    reads = [""] * len(likely)
    if text is not None and not text[source.spans[end - 1][1] :].strip():  # else it was cut off
        added = [_continued(lens.tokenizer, ids, token) for token, _ in likely]
        reads = [text + more if more else "" for more in added]
    return Predicted("next", [Gap(segment, end, _guesses(lens, source, likely, reads))])


def _masked(lens: Lens, batch: Batch) -> Predicted:
    source, tokenizer = batch.sources[0], lens.tokenizer
    mask = tokenizer.mask_token_id
    if mask is None:
        return Predicted("masked", says="The tokenizer of this model has no mask token, so there is nothing to be guessed.")
    masks = [place for place, token in enumerate(source.ids) if token == mask and not source.special[place]]
    if not masks:
        return Predicted("masked", says=f"Write {tokenizer.mask_token} in the place of a word, and the model guesses it.")
    logits = word_logits(lens.model(**batch.inputs))[0]
    gaps = []
    for place in masks[:GAPS]:
        likely = likeliest(logits[place])
        reads = [_filled(batch, place, tokenizer, token) for token, _ in likely]
        gaps.append(Gap(_segment(batch, place)[0], place, _guesses(lens, source, likely, reads)))
    return Predicted("masked", gaps, left_out=len(masks) - len(gaps))


def _written(lens: Lens, batch: Batch, bounds: Bounds) -> Predicted:
    if not lens.model.can_generate():
        return Predicted("target", says=f"{type(lens.model).__name__} writes no text by itself in transformers.")
    inputs = {name: tensor for name, tensor in batch.inputs.items() if not name.startswith("decoder_")}
    most = bounds.tokens_for(inputs["input_ids"].shape[1])
    if lens.max_tokens is not None:
        most = min(most, lens.max_tokens - 1)  # the start token has a place too
    model: Any = lens.model
    try:
        with quiet():
            ids = model.generate(**inputs, do_sample=False, max_new_tokens=most, max_time=bounds.seconds)[0].tolist()
    except (ValueError, TypeError, AttributeError, NotImplementedError) as error:  # of a stranger's configuration
        raise ModelError(f"{lens.name} cannot write a text by itself: {first_sentence(error)}") from error
    end = model.generation_config.eos_token_id
    complete = len(ids) - 1 < most and ids[-1] in (end if isinstance(end, list) else [end])
    written = lens.tokenizer.decode(ids, skip_special_tokens=True).strip()
    return Predicted("target", written=written, complete=complete)


def _guesses(lens: Lens, source: TokenSequence, likely: Sequence[tuple[int, float]], reads: Sequence[str]) -> list[Guess]:
    if not all(isfinite(share) for _, share in likely):
        raise _not_finite(lens)
    names = token_names(lens.tokenizer, [token for token, _ in likely])
    shown = readable([*source.tokens, *names])[len(source) :]  # beside the text's tokens, which tell the tokenizer's marks
    return [Guess(name, share, read) for name, (_, share), read in zip(shown, likely, reads, strict=True)]


def _not_finite(lens: Lens) -> ModelError:
    return ModelError(f"{lens.name} predicts numbers that are not finite in {lens.source.dtype}: open it in float32.")


def _segment(batch: Batch, place: int) -> tuple[Literal["text", "pair"], str | None]:
    document = batch.documents[0]
    return ("pair", document.pair) if batch.sources[0].segments[place] else ("text", document.text)


def _continued(tokenizer: Any, ids: Sequence[int], token: int) -> str:
    """What a token adds to the text of those before it; empty for special ones and parts of characters."""
    before, after = (
        tokenizer.decode(some, skip_special_tokens=True, clean_up_tokenization_spaces=False) for some in (ids, [*ids, token])
    )
    added = after[len(before) :]
    return added if after.startswith(before) and _BROKEN not in added else ""


def _filled(batch: Batch, place: int, tokenizer: Any, token: int) -> str:
    """The text with a word in the place of a mask; empty where the token is none."""
    _, text = _segment(batch, place)
    start, stop = batch.sources[0].spans[place]
    mask, word = tokenizer.mask_token, tokenizer.decode([token], skip_special_tokens=True).strip()
    is_word = bool(word) and _BROKEN not in word and not word.startswith("##")
    if text is None or text[start:stop].strip() != mask or not is_word:
        return ""
    start = text.index(mask, start)  # some tokenizers count the space before it in
    return f"{text[:start]}{word}{text[start + len(mask) :]}"
