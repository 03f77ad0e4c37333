"""Training a probe: cross-entropy, Adam, mini-batches of similar length, and a stop when held-out sentences say so."""

import copy
from dataclasses import dataclass, field

import torch

from headscope.probes.base import NO_HEAD, Probe, cross_entropy
from headscope.probes.batches import Examples
from headscope.probes.treebank import Indices
from headscope.progress import Progress, Silent


@dataclass(frozen=True)
class Training:
    """How a probe is trained. Chosen on held-out sentences of EWT's training part, never on an evaluation part."""

    batch_words: int = 512
    most_epochs: int = 100
    learning_rate: float | None = None  # None: the probe's own
    slower: float = 0.3  # the rate times this, from the best parameters, after an epoch that brought nothing
    times_slower: int = 2  # then stop
    least: float = 1e-4  # what an epoch must bring, in held-out loss


@dataclass
class Fitted:
    """A trained probe: its parameters are those of the epoch with the lowest held-out loss."""

    probe: Probe
    epochs: int  # the number of that epoch
    losses: list[float] = field(default_factory=list)  # on held-out words, before training and after each epoch


def fit(
    probe: Probe,
    examples: Examples,
    learned: Indices,
    held_out: Indices,
    generator: torch.Generator,
    training: Training | None = None,
    progress: Progress | None = None,
    name: str = "",
) -> Fitted:
    """Train on the sentences `learned`, stop by those `held_out`. The same generator gives the same numbers.

    `name` is what progress calls the probe, where it is not its own.
    """
    training, progress = training or Training(), progress or Silent()
    optimiser = torch.optim.Adam(probe.parameters(), lr=training.learning_rate or probe.learning_rate)
    losses = [mean_loss(probe, examples, held_out)]
    best, best_epoch, slowed = copy.deepcopy(probe.state_dict()), 0, 0
    for epoch in range(1, training.most_epochs + 1):
        progress.part(f"training {name or probe.name}, epoch {epoch}").begin(len(learned), 0)
        for batch in examples.batches(learned, training.batch_words, generator):
            _step(probe, optimiser, examples, batch)
        losses.append(mean_loss(probe, examples, held_out))
        progress.advance(len(learned))
        if losses[-1] < losses[best_epoch] - training.least:
            best, best_epoch = copy.deepcopy(probe.state_dict()), epoch
            continue
        probe.load_state_dict(best)
        slowed += 1
        if slowed > training.times_slower:
            break
        for group in optimiser.param_groups:
            group["lr"] *= training.slower
    probe.load_state_dict(best)
    return Fitted(probe, best_epoch, losses)


def _step(probe: Probe, optimiser: torch.optim.Optimizer, examples: Examples, batch: list[int]) -> None:
    sentences = examples.collate(batch, probe.needs)
    if bool((sentences.heads != NO_HEAD).any()):
        optimiser.zero_grad()
        cross_entropy(probe(sentences), sentences).backward()
        optimiser.step()


@torch.no_grad()
def mean_loss(probe: Probe, examples: Examples, chosen: Indices) -> float:
    """Mean cross-entropy over all words with a head of the chosen sentences."""
    total, words = 0.0, 0
    for batch in examples.batches(chosen):
        sentences = examples.collate(batch, probe.needs)
        count = int((sentences.heads != NO_HEAD).sum())
        if count:
            total += float(cross_entropy(probe(sentences), sentences)) * count
            words += count
    return total / words
