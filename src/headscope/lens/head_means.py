"""HeadMeans: what each head brings on average, which takes the head's place where a model runs without it (`mean`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from headscope.errors import InputError
from headscope.files import write_bytes
from headscope.later import Tensor, torch
from headscope.lens import watching
from headscope.lens.site import Site
from headscope.text import Corpus, Document

if TYPE_CHECKING:
    from headscope.lens.lens import Lens

FILE = "head_means.safetensors"  # in a run directory


@dataclass(frozen=True)
class HeadMeans:
    """The mean of z_h, the head's slice of what W_O reads, over every token of a corpus: one vector a head.

    `save` and `load` keep them in a safetensors file; a run of `headscope ablate` has one.
    """

    model: str
    by_site: Mapping[str, NDArray[np.float64]]  # by Site.name: head d_head
    tokens: Mapping[str, int]  # by Site.name: over how many tokens

    def of(self, site: Site) -> NDArray[np.float64]:
        """(head, d_head) of an attention."""
        found = self.by_site.get(site.name)
        if found is None or found.shape != (site.heads, site.head_size):
            has = "nothing" if found is None else f"{found.shape[0]} heads of {found.shape[1]} dimensions"
            raise InputError(
                f"These means are of {self.model}: they have {has} for {site.name}, which has {site.heads} heads of "
                f"{site.head_size}; take the means of this model, with lens.head_means(corpus)."
            )
        return found

    def save(self, path: str | Path) -> None:
        about = json.dumps({"model": self.model, "tokens": dict(self.tokens)}, sort_keys=True)
        arrays = {name: np.ascontiguousarray(some) for name, some in self.by_site.items()}
        write_bytes(Path(path), save(arrays, {"headscope": about}))

    @classmethod
    def load(cls, path: str | Path) -> HeadMeans:
        """From a file, or from the run directory that has one."""
        path = Path(path) / FILE if Path(path).is_dir() else Path(path)
        try:
            with safe_open(path, framework="numpy") as file:
                about: dict[str, Any] = json.loads((file.metadata() or {})["headscope"])
                by_site = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError, ValueError, KeyError) as error:
            raise InputError(f"{path} has no means of heads: make them with lens.head_means(corpus).save(path).") from error
        return cls(about["model"], by_site, about["tokens"])


class MeanSums:
    """Sums of z over every token, padding left out, of the passes that run inside `watch`."""

    def __init__(self, lens: Lens) -> None:
        self.lens = lens
        self.sums = {site.name: np.zeros((site.heads, site.head_size)) for site in lens.sites if site.projection}
        self.tokens = dict.fromkeys(self.sums, 0)

    def watch(self) -> AbstractContextManager[None]:
        changes = {site: partial(self._add, site) for site in self.lens.sites if site.projection}
        return self.lens.changed_heads(changes)

    def _add(self, site: Site, z: Tensor, where: watching.Where) -> None:
        real = z.detach()[where()[0] >= 0]  # token head d_head
        self.sums[site.name] += real.double().sum(0).cpu().numpy()
        self.tokens[site.name] += len(real)

    def means(self) -> HeadMeans:
        seen = {name: count for name, count in self.tokens.items() if count}
        return HeadMeans(self.lens.name, {name: self.sums[name] / count for name, count in seen.items()}, seen)


def head_means(
    lens: Lens, corpus: Corpus | str | Path | Iterable[Any], *, batch_size: int = 16, truncate: bool = False
) -> HeadMeans:
    """Over a corpus: a path, texts, Documents (with targets, for the decoder of an encoder-decoder)."""
    sums = MeanSums(lens)
    documents = iter(Corpus.of(corpus))
    with torch.no_grad(), sums.watch():
        while some := list[Document](islice(documents, batch_size)):
            lens.forward(lens.encoder.batch(some, truncate=truncate).inputs)
    if not any(sums.tokens.values()):
        raise InputError("The corpus has no documents: there is nothing to take the mean of.")
    return sums.means()
