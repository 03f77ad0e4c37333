"""What a model predicts from a text: the next token, the masked ones, or a text that it writes itself.

The model runs its own attention, unwatched: the numbers are the plain model's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from math import isfinite
from threading import get_ident
from typing import Any, Literal, TypeVar

from headscope.errors import ModelError
from headscope.later import Tensor, nn, torch
from headscope.lens.head import heads_named
from headscope.lens.lens import Lens
from headscope.lens.loading import first_sentence
from headscope.lens.predicted import Gap, Guess, Predicted, Without
from headscope.lens.quiet import quiet
from headscope.lens.task import has_head, task_of, why_no_task, word_logits
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence, token_names
from headscope.lens.tokens.labels import readable
from headscope.lens.without import without_here

GUESSES = 5  # for each gap, the likeliest first
GAPS = 8  # masks of a text that are guessed
_BROKEN = "\ufffd"  # what a part of a character is decoded as

Check = Callable[[], None]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Out:
    """Heads that are taken out, as people name them, and what takes their place: `zero`, or their `mean`."""

    heads: tuple[str, ...]
    how: str = "zero"

    def names(self, lens: Lens) -> list[str]:
        """`decoder self 17.3`, each once; a layer is all of its heads."""
        return [head.name for head in heads_named(self.heads, lens.sites)]

    def of(self, lens: Lens) -> AbstractContextManager[None]:
        """A context in which the model runs without them in this thread; others read the whole model meanwhile."""
        return without_here(lens, self.heads, self.how)


@dataclass(frozen=True)
class Bounds:
    """How long a model may write."""

    tokens: int = 512
    seconds: float = 20.0

    def tokens_for(self, length: int) -> int:
        """Twice a text's own length and some more: what runs on beyond that goes round in circles."""
        return max(1, min(self.tokens, 2 * length + 16))


@dataclass
class Whole:
    """What the whole model gave for a text, so that it need not run again for every head that is taken out."""

    found: Any = None  # of the task's own kind; nothing yet


def predict(
    lens: Lens,
    batch: Batch,
    *,
    out: Out | None = None,
    whole: Whole | None = None,
    bounds: Bounds | None = None,
    check: Check = lambda: None,
) -> Predicted:
    """What the model predicts from the only text of `batch`, and what without the heads that are `out`.

    `whole` is filled, or used where it is filled: it must be of the same text and bounds. `check` is called at every
    attention, and may raise.
    """
    task = task_of(lens)
    runs = _Runs(lens, out, whole or Whole())
    with _alone(lens, check):
        if task is None:
            return _moved(lens, batch, runs)
        if task == "target":
            return _written(lens, batch, runs, bounds or Bounds())
        return _next(lens, batch, runs) if task == "next" else _masked(lens, batch, runs)


def similarity(lens: Lens, one: Batch, other: Batch, *, out: Out | None = None, check: Check = lambda: None) -> float:
    """The cosine of two texts' mean vectors, each read by itself, as sentence encoders are compared."""
    with _alone(lens, check), ExitStack() as stack:
        if out is not None:
            stack.enter_context(out.of(lens))
        return _cosine(lens, *(_mean_vector_of(lens, text) for text in (one, other)))


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
    largest = logits.double().softmax(-1).topk(min(count, len(logits)))
    return list(zip(largest.indices.tolist(), largest.values.tolist(), strict=True))


def mean_vector(states: Tensor) -> Tensor:
    """(token, d) -> (d,): special tokens are counted as any others, as sentence-transformers does."""
    return states.float().mean(0)


def nats_per_token(logits: Tensor, ids: Tensor) -> float:
    """(token, vocabulary), (token,) -> the mean of -log p of each token from those before it.

    A few rows at a time: in float32 and all at once, a large vocabulary's would be larger than the model.

    >>> round(nats_per_token(torch.zeros(3, 4), torch.tensor([0, 1, 2])), 4)  # log 4
    1.3863
    """
    parts = zip(logits[:-1].split(64), ids[1:].split(64), strict=True)
    total = sum(float(nn.functional.cross_entropy(some.float(), right, reduction="sum")) for some, right in parts)
    return total / (len(ids) - 1)


def divergence(logits: Tensor, other: Tensor) -> float:
    """(vocabulary,) twice -> KL(p || q) in nats.

    >>> round(divergence(torch.tensor([0.0, 0.0]), torch.tensor([0.0, 1.0])), 4)  # log((1 + e) / 2) - 1/2
    0.1201
    """
    p, q = (some.double().log_softmax(-1) for some in (logits, other))
    seen = p > -torch.inf  # some models rule tokens out
    return max(0.0, float((p.exp() * (p - q))[seen].sum()))


@dataclass(frozen=True)
class _Runs:
    """Runs of the model as it is, and without the heads that are out."""

    lens: Lens
    out: Out | None
    whole: Whole

    def both(self, run: Callable[[], Found]) -> tuple[Found, Found | None]:
        if self.whole.found is None:
            self.whole.found = run()
        if self.out is None:
            return self.whole.found, None
        with self.out.of(self.lens):
            return self.whole.found, run()

    def without(self, **changed: Any) -> Without | None:
        """What is said of the heads that are out; nothing where none are."""
        return None if self.out is None else Without(self.out.names(self.lens), self.out.how, **changed)


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


def _next(lens: Lens, batch: Batch, runs: _Runs) -> Predicted:
    source = batch.sources[0]
    end = 1 + max(place for place, special in enumerate(source.special) if not special)  # an end token says: no more
    inputs = {name: tensor[:, :end] for name, tensor in batch.inputs.items()}

    def run() -> tuple[Tensor, float | None]:
        logits = word_logits(lens.model(**inputs))[0]
        return logits[-1].clone(), nats_per_token(logits, inputs["input_ids"][0]) if end > 1 else None

    (logits, loss), changed = runs.both(run)
    likely = _likely(logits, changed and changed[0])
    segment, text = _segment(batch, end - 1)
    ids = [token for token, special in zip(source.ids[:end], source.special, strict=False) if not special]
    reads = [""] * len(likely.tokens)
    if text is not None and not text[source.spans[end - 1][1] :].strip():  # else it was cut off
        added = [_continued(lens.tokenizer, ids, token) for token in likely.tokens]
        reads = [text + more if more else "" for more in added]
    gap = Gap(segment, end, _guesses(lens, source, likely, reads), likely.kl)
    return Predicted("next", [gap], loss=loss, without=runs.without(loss=changed and changed[1]))


def _masked(lens: Lens, batch: Batch, runs: _Runs) -> Predicted:
    source, tokenizer = batch.sources[0], lens.tokenizer
    mask = tokenizer.mask_token_id
    if mask is None:
        says = "The tokenizer of this model has no mask token, so there is nothing to be guessed."
        return Predicted("masked", without=runs.without(), says=says)
    masks = [place for place, token in enumerate(source.ids) if token == mask and not source.special[place]]
    if not masks:
        says = f"Write {tokenizer.mask_token} in the place of a word, and the model guesses it."
        return Predicted("masked", without=runs.without(), says=says)
    logits, changed = runs.both(lambda: word_logits(lens.model(**batch.inputs))[0, masks[:GAPS]])
    gaps = []
    for number, place in enumerate(masks[:GAPS]):
        likely = _likely(logits[number], None if changed is None else changed[number])
        reads = [_filled(batch, place, tokenizer, token) for token in likely.tokens]
        gaps.append(Gap(_segment(batch, place)[0], place, _guesses(lens, source, likely, reads), likely.kl))
    return Predicted("masked", gaps, left_out=len(masks) - len(gaps), without=runs.without())


def _written(lens: Lens, batch: Batch, runs: _Runs, bounds: Bounds) -> Predicted:
    if not lens.model.can_generate():
        says = f"{type(lens.model).__name__} writes no text by itself in transformers."
        return Predicted("target", without=runs.without(), says=says)
    (written, complete), changed = runs.both(lambda: _generated(lens, batch, bounds))
    other = {"written": changed[0], "complete": changed[1]} if changed else {}
    return Predicted("target", written=written, complete=complete, without=runs.without(**other))


def _generated(lens: Lens, batch: Batch, bounds: Bounds) -> tuple[str, bool]:
    """What the model writes, and whether it came to an end of its own."""
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
    return lens.tokenizer.decode(ids, skip_special_tokens=True).strip(), complete


def _moved(lens: Lens, batch: Batch, runs: _Runs) -> Predicted:
    """Of a model that predicts no words: how far a text's vector moves, where texts are compared by theirs."""
    moved = None
    if runs.out is not None and compares_texts(lens):
        whole, changed = runs.both(lambda: _mean_vector_of(lens, batch))
        moved = None if changed is None else max(0.0, 1 - _cosine(lens, whole, changed))
    return Predicted(None, without=runs.without(moved=moved), says=nothing_said(lens))


def _mean_vector_of(lens: Lens, batch: Batch) -> Tensor:
    return mean_vector(lens.forward(batch.inputs).last_hidden_state[0])


def _cosine(lens: Lens, one: Tensor, other: Tensor) -> float:
    cosine = float(nn.functional.cosine_similarity(one, other, dim=0))
    if not isfinite(cosine):
        raise _not_finite(lens)
    return cosine


@dataclass(frozen=True)
class _Likely:
    """The likeliest tokens of a gap, and behind them those that are among the likeliest only without some heads."""

    tokens: list[int]
    probabilities: list[float]
    without: list[float | None]
    kl: float | None


def _likely(logits: Tensor, changed: Tensor | None) -> _Likely:
    tokens = [token for token, _ in likeliest(logits)]
    if changed is None:
        return _Likely(tokens, [share for _, share in likeliest(logits)], [None] * len(tokens), None)
    tokens = list(dict.fromkeys([*tokens, *(token for token, _ in likeliest(changed))]))
    shares, others = (some.double().softmax(-1)[tokens].tolist() for some in (logits, changed))
    return _Likely(tokens, shares, others, divergence(logits, changed))


def _guesses(lens: Lens, source: TokenSequence, likely: _Likely, reads: Sequence[str]) -> list[Guess]:
    if not all(isfinite(share) for share in (*likely.probabilities, *(one for one in likely.without if one is not None))):
        raise _not_finite(lens)
    names = token_names(lens.tokenizer, likely.tokens)
    shown = readable([*source.tokens, *names])[len(source) :]  # beside the text's tokens, which tell the tokenizer's marks
    return [Guess(*one) for one in zip(shown, likely.probabilities, reads, likely.without, strict=True)]


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
