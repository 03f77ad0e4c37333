"""The effects of removals on one batch, exactly: from the layer of their first head on, several side by side.

What stands before is computed once. Only sums over the tokens of each text are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from headscope.ablation.effects import CleanReadWords, CleanStates, CleanWords
from headscope.ablation.predicted import has_words, predicts, task
from headscope.later import Tensor, nn, torch
from headscope.lens import watching
from headscope.lens.head import Head
from headscope.lens.lens import Lens
from headscope.lens.site import Site
from headscope.lens.task import word_logits
from headscope.lens.tokens.batch import Batch
from headscope.lens.without import At, Replacement, is_at
from headscope.statistics.base import Array

NUMBERS = 32_000_000  # of logits or states at a time: 128 MB
WIDER = 16  # times a state: what a layer keeps of a token while it runs, at most
ROWS = 256  # tokens of all copies, from which on a processor multiplies as fast as it can

Removal = tuple[Head, ...]


@dataclass
class TextSums:
    """For each text of a batch, the sums of what was found: what is predicted, and by way the effects of each removal."""

    clean: dict[str, Array]  # (text,)
    effects: dict[str, Array] = field(default_factory=dict)  # (text, removal)


class Ablation:
    """One batch of one model, of which heads are taken away again and again."""

    def __init__(self, lens: Lens, batch: Batch, layers: watching.Layers, check: bool = False) -> None:
        self.lens, self.batch, self.layers = lens, batch, layers
        self.words = has_words(lens)
        asked = task(lens, batch) if self.words else None
        self.inputs = batch.inputs if asked is None else asked.inputs
        self.reader = reader_of(lens) if self.words else None
        read: Tensor | None = None
        with layers.keep(batch.size):
            if self.reader is None:
                output = self._run(self.inputs)
            else:
                output, read = watching.seen_by(self.reader, lambda: self._run(self.inputs))
        self.clean: CleanWords | CleanStates
        if asked is not None:
            self.real = predicts(asked.targets)
            self.clean = self._clean_words(output[self.real], asked.targets[self.real], read)
        else:
            mask = self.inputs.get("decoder_attention_mask" if batch.has_target else "attention_mask")
            self.real = torch.ones(output.shape[:2], device=output.device).bool() if mask is None else mask.bool()
            self.clean = CleanStates(output, self.real)
        if check and layers.order:
            there = self.real if self.real.any() else torch.ones_like(self.real)  # a text of one token predicts nothing
            layers.resumes(lambda: self._run(self.inputs)[there], output[there])
        width = output.shape[-1] if self.reader is None else WIDER * self.reader.in_features
        self.wide = width * output.shape[1]

    def _clean_words(self, logits: Tensor, targets: Tensor, read: Tensor | None) -> CleanWords:
        """By what W_U reads, if the logits are what it makes of that and a constant (a bias): it is tried on every batch."""
        if self.reader is not None and read is not None and read.shape[:2] == self.real.shape:
            states = read[self.real]
            if _differ_by_a_constant(logits, nn.functional.linear(states, self.reader.weight)):
                return CleanReadWords(logits, targets, states, self.reader.weight.detach())
        self.reader = None
        return CleanWords(logits, targets)

    def sums(self, removals: Sequence[Removal], replacements: Mapping[Site, Replacement], at: At) -> TextSums:
        """The effects of each removal on each text."""
        found: dict[str, Array] = {}
        for start, some in self._by_start(removals).items():
            copies = self.side_by_side
            for first in range(0, len(some), copies):
                chosen = some[first : first + copies]
                effects = self._side_by_side([removals[place] for place in chosen], start, replacements, at)
                for name, sums in effects.items():
                    found.setdefault(name, np.zeros((self.batch.size, len(removals))))[:, chosen] = sums
        return TextSums(self._clean_sums(), found)

    def _by_start(self, removals: Sequence[Removal]) -> dict[int, list[int]]:
        """Removals by the layer of their first head."""
        starts: dict[int, list[int]] = {}
        sites = {(site.stack, site.kind, site.layer): site.index for site in self.lens.sites}
        for place, heads in enumerate(removals):
            start = min(self.layers.start_of(sites[head[:3]]) for head in heads)
            starts.setdefault(start, []).append(place)
        return starts

    def _side_by_side(
        self, removals: Sequence[Removal], start: int, replacements: Mapping[Site, Replacement], at: At
    ) -> dict[str, Array]:
        """(text, removal) each."""
        gone: dict[Site, Tensor] = {}
        by_place = {(site.stack, site.kind, site.layer): site for site in self.lens.sites}
        device = self.lens.device  # once: it is looked for among the model's weights
        for copy, heads in enumerate(removals):
            for head in heads:
                site = by_place[head[:3]]
                if site not in gone:
                    gone[site] = torch.zeros(len(removals), site.heads, dtype=torch.bool, device=device)
                gone[site][copy, head.head] = True
        changes = {site: partial(_replaced, mask, replacements[site], at) for site, mask in gone.items()}
        return self.changed(changes, start, len(removals))

    @property
    def side_by_side(self) -> int:
        """How many copies of the batch fit beside each other."""
        return max(1, NUMBERS // (self.wide * self.batch.size))

    def changed(self, changes: Mapping[Site, watching.Change], start: int, copies: int) -> dict[str, Array]:
        """(text, copy) each: what happens to `copies` of the batch, run from layer `start` on, that `changes` tell apart."""
        with self.lens.changed_heads(changes), self.layers.resumed(start, copies):
            inputs = watching.repeated_inputs(self.inputs, copies)
            output = self._run(inputs) if self.reader is None else watching.read_by(self.reader, lambda: self._run(inputs))
        output = output.unflatten(0, (copies, -1))
        if isinstance(self.clean, CleanWords):
            loss, kl = self.clean.effects(output[:, self.real])
            return {"loss": self._by_text(loss), "kl": self._by_text(kl)}
        states, pooled = self.clean.effects(output)
        return {"states": self._by_text(states[:, self.real]), "pooled": pooled.T.double().cpu().numpy()}

    def _by_text(self, of_tokens: Tensor) -> Array:
        """(copy, token) -> (text, copy)"""
        text = self.real.nonzero()[:, 0]
        sums = of_tokens.new_zeros(of_tokens.shape[0], self.batch.size, dtype=torch.float64)
        return sums.index_add_(1, text, of_tokens.double()).T.cpu().numpy()

    def _clean_sums(self) -> dict[str, Array]:
        counts = {"tokens": self.real.sum(1).double().cpu().numpy(), "texts": np.ones(self.batch.size)}
        if isinstance(self.clean, CleanWords):
            counts["loss"] = self._by_text(self.clean.losses[None])[:, 0]
        return counts

    def _run(self, inputs: dict[str, Tensor]) -> Tensor:
        return run(self.lens, inputs, self.words)


def run(lens: Lens, inputs: dict[str, Tensor], words: bool) -> Tensor:
    """Logits, or final states, by the model's own attention; nobody watches."""
    with lens.unwatched():
        if not words:
            states: Tensor = lens.forward(inputs).last_hidden_state
            return states
        return word_logits(lens.model(**inputs, **no_cache(lens)))


def reader_of(lens: Lens) -> nn.Linear | None:
    """W_U, where it is a plain layer in float32; not where accelerate keeps its weights elsewhere, or moves its input."""
    found = lens.model.get_output_embeddings()
    is_plain = type(found) is nn.Linear and "forward" not in vars(found) and found.weight.dtype == torch.float32
    return found if is_plain and not found.weight.is_meta else None


def _differ_by_a_constant(one: Tensor, other: Tensor) -> bool:
    """(token, vocabulary) each: whether all tokens have the same difference."""
    apart = one.float() - other
    return apart.numel() > 0 and bool((apart - apart[:1]).abs().max() <= 1e-5 * one.abs().max())


def no_cache(lens: Lens) -> dict[str, Any]:
    return {"use_cache": False} if "use_cache" in signature(lens.model.forward).parameters else {}


def _replaced(gone: Tensor, replacement: Replacement, at: At, z: Tensor, where: watching.Where) -> Tensor:
    """z of several copies of a batch, one after the other, each without the heads of its row of `gone` (copy, head)."""
    rows = z.shape[0] // len(gone)  # of a copy, with all rows in one line or not
    there = gone.repeat_interleave(rows, 0)[(slice(None), *(None,) * (z.dim() - 3))][..., None]
    if at is not None:
        there = there & is_at(at, *where())[..., None, None]
    return torch.where(there, replacement(z, where).to(z.dtype), z)


def chunks(lengths: Sequence[int], wide: int, batch_size: int) -> int:
    """How many texts fit side by side."""
    return max(1, min(batch_size, NUMBERS // (wide * max(lengths, default=1))))


def few(lengths: Sequence[int], removals: Sequence[Removal]) -> int:
    """How many texts are enough beside each other, where the removals of a layer are: others would only be padded."""
    copies = max(Counter(min(head[:3] for head in heads) for heads in removals).values(), default=1)
    return max(1, ROWS // (copies * max(1, round(np.mean(lengths or [1])))))


def width_of(lens: Lens) -> int:
    """How many numbers a model returns for a token."""
    if has_words(lens):
        head: Any = lens.model.get_output_embeddings()
        return int(head.weight.shape[0])
    embeddings: Any = lens.model.get_input_embeddings()
    return int(embeddings.weight.shape[-1])
