"""Batch: token sequences side by side, padded on the right, ready for the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor

from headscope.lens.site import Site
from headscope.lens.tokens.encoding import TokenSequence
from headscope.text.document import Document

Derived = TypeVar("Derived")


@dataclass
class Batch:
    """What one forward pass reads. `sources` and `targets` are empty for a batch made of bare tensors."""

    inputs: dict[str, Tensor]
    sources: Sequence[TokenSequence] = ()
    targets: Sequence[TokenSequence] = ()
    documents: Sequence[Document] = ()
    _source_mask: Tensor | None = field(init=False, default=None)
    _target_mask: Tensor | None = field(init=False, default=None)
    _derived: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._source_mask = _padding(self.inputs.get("attention_mask"))
        self._target_mask = _padding(self.inputs.get("decoder_attention_mask"))

    @property
    def size(self) -> int:
        return self.inputs["input_ids"].shape[0]

    def once(self, name: str, compute: Callable[[], Derived]) -> Derived:
        """The derived quantity `name`, computed at the first call for this batch."""
        if name not in self._derived:
            self._derived[name] = compute()
        return self._derived[name]

    @property
    def has_target(self) -> bool:
        return "decoder_input_ids" in self.inputs

    def _is_target(self, site: Site) -> bool:
        return site.stack == "decoder" and self.has_target

    def query_mask(self, site: Site) -> Tensor | None:
        """(batch, query), False at padding; None where nothing is padded."""
        return self._target_mask if self._is_target(site) else self._source_mask

    def key_mask(self, site: Site) -> Tensor | None:
        """(batch, key), False at padding; None where nothing is padded."""
        return self._target_mask if self._is_target(site) and site.kind == "self" else self._source_mask

    def query_length(self, site: Site) -> int:
        """The site's rows, padding included."""
        return self.inputs["decoder_input_ids" if self._is_target(site) else "input_ids"].shape[1]

    def query_sequences(self, site: Site) -> Sequence[TokenSequence]:
        """The sequences whose tokens are the site's rows."""
        return self.targets if self._is_target(site) else self.sources

    def key_sequences(self, site: Site) -> Sequence[TokenSequence]:
        """The sequences whose tokens are the site's keys."""
        return self.targets if self._is_target(site) and site.kind == "self" else self.sources


def _padding(mask: Tensor | None) -> Tensor | None:
    return None if mask is None or bool(mask.all()) else mask.bool()


def pad(sequences: Sequence[Sequence[int]], value: int, device: torch.device | str = "cpu") -> Tensor:
    """(batch, longest), filled with `value` on the right."""
    longest = max(len(sequence) for sequence in sequences)
    rows = [list(sequence) + [value] * (longest - len(sequence)) for sequence in sequences]
    return torch.tensor(rows, device=device)
