"""AvgW and AvgN: the weight that a token gets and the norm it has, over all heads (kobayashi2020, appendix D.4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.errors import InputError
from headscope.files import sha256_of
from headscope.later import Tensor, torch
from headscope.lens.block import AttentionBlock
from headscope.measures.value_norm import value_norms_of
from headscope.statistics.base import Array
from headscope.statistics.kit.categories import category_names, key_categories
from headscope.statistics.kit.totals import received
from headscope.statistics.norms.frequencies import Frequencies
from headscope.statistics.norms.norm_statistic import NormStatistic
from headscope.statistics.registry import setting


@dataclass
class Averages:
    """The tokens of a batch, one entry each: id, AvgW, AvgN (appendix D.4), and whether footnote 12 leaves it in."""

    ids: NDArray[np.int64]
    weight: Array
    norm: Array
    ordinary: NDArray[np.bool_]


@lru_cache(maxsize=4)
def frequencies_in(path: str, sha256: str) -> Frequencies:
    """A frequency file, read once, if it is still the one with this hash."""
    if sha256_of(Path(path)) != sha256:
        raise InputError(f"The frequency file {path} has changed since the run began: put it back, or begin another run.")
    return Frequencies.read(path)


@dataclass
class TokenAverages(NormStatistic):
    """A statistic of AvgW and AvgN: Weight and ||f(x)|| of every token, averaged over all heads of all layers.

    The layers are those of the encoder, or of the decoder where there is no encoder, and their self attention. Tokens that
    the frequency file does not have are left out. `path` is a file of `rank count id` lines.
    """

    path: str | None = setting(None, help="Lines of `rank count id`, one a piece of the tokenizer.")
    sha256: str = ""  # of the file, as the run remembers it

    resampled = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.path is None:
            raise InputError(f"{self.name} needs a frequency file with `rank count id` lines: give its path.")
        if not Path(self.path).is_file():
            raise InputError(f"There is no frequency file {self.path}: give one with `rank count id` in every line.")
        self.path = str(self.path)
        self.sha256 = self.sha256 or sha256_of(Path(self.path))

    @property
    def frequencies(self) -> Frequencies:
        assert self.path is not None
        return frequencies_in(self.path, self.sha256)

    def begin(self) -> None:
        own = [site for site in self.heads.sites if site.kind == "self"]
        stack = "encoder" if any(site.stack == "encoder" for site in own) else "decoder"
        self.own = [site for site in own if site.stack == stack]  # the sites that are averaged over
        self._weight = self._norm = torch.zeros(0)  # (batch, key): sums over the heads so far of this batch

    def update(self, block: AttentionBlock) -> None:
        if block.site not in self.own:
            return
        if block.is_first:
            if block.site == self.own[0]:
                self._weight = torch.zeros(block.key_mask.shape, dtype=torch.float64, device=block.weights.device)
                self._norm = torch.zeros_like(self._weight)
            # One site without such norms, and the mean over all heads is not known.
            self._norm += block.key_side.cached(value_norms_of).sum(1) if block.site.has_value_norms else torch.nan
        self._weight += block.cached(received, "weight").sum(1) / block.query_lengths[:, None]
        if block.site == self.own[-1] and block.is_last:
            self.add_tokens(self._averages(block))

    def _averages(self, block: AttentionBlock) -> Averages:
        there = block.key_mask
        ids = np.concatenate([np.asarray(sequence.ids, dtype=np.int64) for sequence in block.key_sequences])
        ordinary = key_categories(block, {}) == category_names({}).index("other")
        heads = sum(site.heads for site in self.own)

        def of_tokens(of_keys: Tensor) -> NDArray[Any]:
            return of_keys[there].cpu().numpy()

        return Averages(ids, of_tokens(self._weight / heads), of_tokens(self._norm / heads), of_tokens(ordinary))

    def add_tokens(self, found: Averages) -> None:
        """Add the tokens of a batch."""
        raise NotImplementedError
