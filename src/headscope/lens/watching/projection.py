"""W_O, cut into heads: what turns a head's value vectors into its part of the attention's output."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from headscope.lens.watching.gating import Gating
from headscope.lens.watching.linear import bias_of, matrix_of, state_of

LOST = 1e-6  # of the largest singular value of a head's W_O: smaller ones count as none
ROOM = 256_000_000  # bytes


@dataclass
class Kept:
    """What is derived from the W_O of all layers of a model and kept from batch to batch, as long as there is room.

    Layers are met in turn, batch after batch: the first ones stay, and of the others one at a time is there.
    """

    room: int = ROOM

    def take(self, size: int) -> bool:
        fits = size <= self.room
        self.room -= size if fits else 0
        return fits


@dataclass
class Projection:
    """The rows of a linear layer that belong to one attention, in float32, with what is derived from them.

    Derived matrices are made again if the layer's weights are changed in place.
    """

    module: nn.Module
    heads: int
    head_size: int
    offset: int = 0  # ConvBERT's layer reads other features beside the heads'
    call: int = 0  # which of the layer's calls in a pass,
    calls: int = 1  # of how many: ALBERT runs one layer again and again
    rows_first: bool = False  # whether what it reads is (query, batch, ...), as fairseq's models have it
    gating: Gating | None = None  # what stands between the heads' output and the layer
    kept: Kept = field(default_factory=Kept)
    joint: bool = False  # whether two attentions bring their vectors to the same features (T5Gemma 2)
    _derived: dict[str, Tensor] = field(default_factory=dict, init=False, repr=False)
    _state: Hashable = field(default=None, init=False, repr=False)

    @property
    def columns(self) -> Tensor:
        """Which features of what the layer reads are each head's: (head, d_head)."""
        if self.gating is not None:
            return self.gating.columns
        features = torch.arange(self.heads * self.head_size) + self.offset
        return features.view(self.heads, self.head_size)

    @property
    def shared(self) -> bool:
        """Whether heads stand in the same features, one less another (differential attention): they cannot be told apart."""
        return self.joint or self.columns.unique().numel() < self.columns.numel()

    @property
    def matrices(self) -> Tensor:
        """W_O^h for every head: (head, d_head, d_model). Made anew each time, where it is no view of the layer's weights."""
        rows = matrix_of(self.module)[self._features]
        return rows.detach().float().reshape(self.heads, self.head_size, -1)

    @property
    def bias(self) -> Tensor | None:
        """b_O: (d_model,)"""
        return bias_of(self.module)

    @property
    def _features(self) -> slice | Tensor:
        size = self.heads * self.head_size
        return slice(self.offset, self.offset + size) if self.gating is None else self.columns.flatten()

    @property
    def roots(self) -> Tensor:
        """R_h with R_h R_h^T = W_O^h W_O^h^T, (head, d_head, rank): ||v W_O^h|| = ||v R_h||."""
        return self.derived("roots", roots_of)

    @property
    def low_rank_roots(self) -> Tensor:
        """Roots without the directions that no head feels: (head, d_head, rank).

        What is left out changes ||v W_O^h|| by at most LOST of the largest that a vector as long as v can have.
        """
        return self.derived("low_rank_roots", lambda matrices: low_rank(roots_of(matrices)))

    @property
    def inner(self) -> Tensor:
        """W_O^h W_O^g^T for every two heads: (head, head, d_head, d_head)."""
        return self.derived("inner", inner_of)

    def derived(self, name: str, make: Callable[[Tensor], Tensor]) -> Tensor:
        """What `make` makes of the heads' matrices."""
        state = state_of(self.module)
        if state != self._state:
            self.kept.room += sum(one.nbytes for one in self._derived.values())
            self._derived.clear()
            self._state = state
        if name in self._derived:
            return self._derived[name]
        made = make(self.matrices)
        if self.kept.take(made.nbytes):
            self._derived[name] = made
        return made


def roots_of(matrices: Tensor) -> Tensor:
    """(head, d_head, d_model) -> (head, d_head, rank). By QR and not by Cholesky: no squared condition number, and W_O^h may
    lack full rank.
    """
    on_cpu = matrices.cpu().double()  # MPS has neither QR nor float64
    return torch.linalg.qr(on_cpu.mT).R.mT.to(matrices).contiguous()


def low_rank(roots: Tensor) -> Tensor:
    """(head, d_head, d_head) -> (head, d_head, rank), without singular values below LOST of the largest."""
    left, singular, _ = torch.linalg.svd(roots.cpu().double(), full_matrices=False)
    rank = int((singular > LOST * singular[:, :1]).sum(-1).max())
    return (left * singular[:, None])[:, :, :rank].to(roots).contiguous()


def inner_of(matrices: Tensor) -> Tensor:
    """(head, d_head, d_model) -> (head, head, d_head, d_head): the products of every two heads."""
    heads, size, _ = matrices.shape
    flat = matrices.flatten(0, 1)
    return (flat @ flat.T).view(heads, size, heads, size).transpose(1, 2).contiguous()
