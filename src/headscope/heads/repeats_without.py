"""What repeated random tokens cost a language model without a head: whether heads that are named by where they look on them
are those by which they are predicted.

In the second half of a random sequence that comes twice, each token but the first can be known from the one before it, by
its earlier copy, and from nothing else (Olsson et al. 2022). The loss there says how well the model does that; without a
head, with its mean over these sequences in its place, it says what the head does for it. The other heads of its layer
say what losing any head would cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.later import Tensor, nn, pd, stats, torch
from headscope.lens.head import HEAD, Head, heads_of
from headscope.lens.head_means import HeadMeans, MeanSums
from headscope.lens.lens import Lens
from headscope.lens.task import task_of, word_logits
from headscope.statistics.columns import NATS, Column, declare
from headscope.study.repeats import BATCH, Frame
from headscope.study.run import Run

NAME = "repeats_without"  # of the table in a run directory
FAMILY = "repetition"  # of the roles that are asked whether they hold
LAYERS = 3  # at most, those of the heads that score highest: each head of a layer takes a pass
PARAMETERS = 2_000_000_000  # of a model for which this is counted without being asked for

COLUMNS = {
    "loss": Column(
        "Loss on repeated tokens without it",
        NATS,
        "By how many nats a token random tokens that come twice are predicted worse with its mean in its place.",
        "matters more for copying",
    ),
    "others": Column(
        "The same for the other heads of its layer", NATS, "The mean over them.", "is a layer that matters", of_heads=False
    ),
    "others_deviation": Column(
        "Deviation of the other heads of its layer", NATS, "How far apart they are.", "has heads that differ", of_heads=False
    ),
}
declare(NAME, COLUMNS, card_place=185)


def add_repeats_without(lens: Lens, run: Run, *, sequences: int = 4, length: int = 25, seed: int = 0) -> None:
    """Keep the table in a run, for the layers of the heads that it names by what they look at on repeated tokens.

    Nothing is added where no head has such a name, or the model does not predict the next token.
    """
    named = run.roles[run.roles["family"] == FAMILY].sort_values("score", ascending=False, kind="stable")
    layers = list(dict.fromkeys(int(layer) for layer in named["layer"]))[:LAYERS]
    if layers and task_of(lens) == "next" and lens.model.num_parameters() <= PARAMETERS:
        run.add(NAME, repeats_without(lens, layers, sequences=sequences, length=length, seed=seed))


def repeats_without(
    lens: Lens, layers: Sequence[int], *, sequences: int = 4, length: int = 25, seed: int = 0
) -> pd.DataFrame:
    """One row a head of these layers: `loss`, what its absence adds to the loss in the second half, in nats a token.

    `loss_low` and `loss_high` are its 95 % interval over the sequences, `others` and `others_deviation` the mean and the
    deviation of the other heads of the layer.
    """
    frame = Frame.of(lens)
    frame.check(lens, sequences, length)
    random = np.random.default_rng(seed)
    half = np.stack([random.choice(frame.ordinary, length, replace=False) for _ in range(sequences)])
    twice = np.concatenate([half, half], axis=1)
    sums = MeanSums(lens)
    with sums.watch():
        whole = _losses(lens, frame, twice, length)
    means, rows = sums.means(), []
    for site in lens.sites:
        if site.layer in layers and site.projection:
            heads = heads_of(site)
            effects = np.stack([_without(lens, head, means, frame, twice, length) for head in heads]) - whole
            rows += _rows(heads, effects)
    return pd.DataFrame(rows, columns=[*HEAD, "loss", "loss_low", "loss_high", "others", "others_deviation"])


def is_confirmed(loss_low: float, others: float) -> bool:
    """Whether repeated tokens suffer without a head, and more than without the other heads of its layer."""
    return loss_low > max(0.0, others)


def interval(effects: NDArray[np.float64]) -> tuple[float, float]:
    """(sequence,) -> the ends of the mean's 95 % interval, by Student's t.

    >>> [round(end, 3) for end in interval(np.array([1.0, 2.0, 3.0]))]  # 2 +- 4.303 / sqrt(3)
    [-0.484, 4.484]
    """
    mean = float(effects.mean())
    if len(effects) < 2:
        return mean, mean
    wide = float(stats.t.ppf(0.975, len(effects) - 1) * effects.std(ddof=1) / np.sqrt(len(effects)))
    return mean - wide, mean + wide


def _rows(heads: Sequence[Head], effects: NDArray[np.float64]) -> list[list[Any]]:
    """`effects` is (head, sequence)."""
    losses = effects.mean(1)
    made = []
    for place, head in enumerate(heads):
        others = np.delete(losses, place)
        about = (float(others.mean()), float(others.std())) if len(others) else (np.nan, np.nan)
        made.append([*head, float(losses[place]), *interval(effects[place]), *about])
    return made


def _without(
    lens: Lens, head: Head, means: HeadMeans, frame: Frame, tokens: NDArray[np.int64], length: int
) -> NDArray[np.float64]:
    with lens.without(head, how="mean", means=means):
        return _losses(lens, frame, tokens, length)


def _losses(lens: Lens, frame: Frame, tokens: NDArray[np.int64], length: int) -> NDArray[np.float64]:
    """(sequence,): nats a token, of every token of the second half but the first, which nothing tells."""
    keep: dict[str, Any] = {"logits_to_keep": length} if "logits_to_keep" in signature(lens.model.forward).parameters else {}
    found = []
    for start in range(0, len(tokens), BATCH):
        batch = frame.batch(lens, tokens[start : start + BATCH])
        with torch.no_grad():
            logits = word_logits(lens.model(**batch.inputs, **keep))[:, -length:-1]
        right = batch.inputs["input_ids"][:, 1 - length :]
        found.append(_mean_loss(logits, right))
    return np.concatenate(found)


def _mean_loss(logits: Tensor, right: Tensor) -> NDArray[np.float64]:
    each = nn.functional.cross_entropy(logits.float().flatten(0, 1), right.flatten(), reduction="none")
    loss: NDArray[np.float64] = each.view(right.shape).double().mean(1).cpu().numpy()
    return loss
