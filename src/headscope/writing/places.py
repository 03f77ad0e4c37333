"""At which position of a text a model predicts what people ask about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.errors import InputError, ModelError
from headscope.lens.task import task_of, why_no_task

if TYPE_CHECKING:
    from headscope.lens.lens import Lens
    from headscope.lens.reading import Reading


def position_of(reading: Reading, at: int | None) -> int:
    """The position `at`, counted from the end where negative; without one, the one whose prediction is the text's own.

    For a decoder the last token that is not special, for a masked model the masked token, for a translator the last token of
    the target.
    """
    lens, batch = reading.lens, reading.batch
    task = task_of(lens)
    if task is None:
        raise ModelError(
            f"{why_no_task(lens)}, so it has no logits of words; for sentence encoders, see headscope similarity."
        )
    if task == "target" and not batch.has_target:
        raise InputError(f"{lens.name} predicts the tokens of a translation: give one with target= (--target).")
    if not (batch.sources or batch.targets):
        raise InputError("This reading is of bare tensors: read a text, to have positions by name.")
    sequence = batch.query_sequences(lens.sites[-1])[0]
    if at is not None:
        if not -len(sequence) <= at < len(sequence):
            raise InputError(
                f"There is no position {at}: the text has {len(sequence)} tokens, from 0 to {len(sequence) - 1}."
            )
        return at % len(sequence)
    if task == "masked":
        return _masked(lens, sequence.ids)
    ordinary = [place for place, special in enumerate(sequence.special) if not special]
    return ordinary[-1] if task == "next" and ordinary else len(sequence) - 1


def _masked(lens: Lens, ids: list[int]) -> int:
    mask = getattr(lens.tokenizer, "mask_token_id", None)
    places = [place for place, token in enumerate(ids) if token == mask]
    if mask is None or not places:
        written = getattr(lens.tokenizer, "mask_token", None) or "a mask token"
        raise InputError(f"{lens.name} guesses masked words: write {written} for one of them, or say where with at= (--at).")
    if len(places) > 1:
        raise InputError(f"The text has masks at positions {', '.join(map(str, places))}: say which with at= (--at).")
    return places[0]
