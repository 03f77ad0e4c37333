"""Batch: token sequences side by side, padded on the right, ready for the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headscope.later import Tensor, torch
from headscope.lens.cached import Cached
from headscope.lens.site import Site
from headscope.lens.tokens.encoding import TokenSequence
from headscope.text.document import Document


@dataclass
class Batch(Cached):
    """What one forward pass reads. `sources` and `targets` are empty for a batch made of bare tensors."""

    inputs: dict[str, Tensor]
    sources: Sequence[TokenSequence] = ()
    targets: Sequence[TokenSequence] = ()
    documents: Sequence[Document] = ()

    @property
    def size(self) -> int:
        return self.inputs["input_ids"].shape[0]

    @property
    def device(self) -> torch.device:
        return self.inputs["input_ids"].device

    @property
    def has_target(self) -> bool:
        return "decoder_input_ids" in self.inputs

    def on(self, device: torch.device) -> Batch:
        """The same batch there: of a model that is spread over several devices, each site has it on its own."""
        return self if device == self.device else self.cached(_moved, device)

    def query_side(self, site: Site) -> str:
        """`source` or `target`: whose tokens are the site's rows."""
        return "target" if site.stack == "decoder" and self.has_target else "source"

    def key_side(self, site: Site) -> str:
        """`source` or `target`: whose tokens are the site's keys."""
        return self.query_side(site) if site.kind == "self" else "source"

    def sequences(self, side: str) -> Sequence[TokenSequence]:
        """The texts of the `source` or the `target`."""
        return self.targets if side == "target" else self.sources

    def query_mask(self, site: Site) -> Tensor | None:
        """(batch, query), False at padding; None where nothing is padded."""
        return self.cached(_mask, self.query_side(site))

    def padding_rows(self, site: Site) -> tuple[Tensor, Tensor]:
        """Which rows are padding, where there are any: their texts and their places. A device is waited for to know them."""
        return self.cached(_padding, self.query_side(site))

    def key_mask(self, site: Site) -> Tensor | None:
        """(batch, key), False at padding; None where nothing is padded."""
        return self.cached(_mask, self.key_side(site))

    def query_length(self, site: Site) -> int:
        """The site's rows, padding included."""
        return self.inputs["decoder_input_ids" if self.query_side(site) == "target" else "input_ids"].shape[1]

    def query_sequences(self, site: Site) -> Sequence[TokenSequence]:
        """The sequences whose tokens are the site's rows."""
        return self.sequences(self.query_side(site))

    def key_sequences(self, site: Site) -> Sequence[TokenSequence]:
        """The sequences whose tokens are the site's keys."""
        return self.sequences(self.key_side(site))


def _moved(batch: Batch, device: torch.device) -> Batch:
    return replace(batch, inputs={name: tensor.to(device) for name, tensor in batch.inputs.items()})


def _mask(batch: Batch, side: str) -> Tensor | None:
    mask = batch.inputs.get("decoder_attention_mask" if side == "target" else "attention_mask")
    return None if mask is None or not _is_padded(batch.sequences(side), mask) else mask.bool()


def _is_padded(sequences: Sequence[TokenSequence], mask: Tensor) -> bool:
    """By the lengths of the texts, where they are known: to ask the mask would be to wait for its device."""
    return len({len(one) for one in sequences}) > 1 if sequences else not bool(mask.all())


def _padding(batch: Batch, side: str) -> tuple[Tensor, Tensor]:
    mask = _mask(batch, side)
    assert mask is not None
    texts, places = (~mask).nonzero(as_tuple=True)
    return texts, places


def pad(sequences: Sequence[Sequence[int]], value: int, device: torch.device | str = "cpu") -> Tensor:
    """(batch, longest), filled with `value` on the right."""
    longest = max(len(sequence) for sequence in sequences)
    rows = [list(sequence) + [value] * (longest - len(sequence)) for sequence in sequences]
    return torch.tensor(rows, device=device)
