"""W_O, cut into heads: what turns a head's value vectors into its part of the attention's output."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from headscope.lens.watching.gating import Gating

LOST = 1e-6  # of the largest singular value of a head's W_O: smaller ones count as none

LINEAR = (nn.Linear, Conv1D, nn.Conv1d)


def dequantised(weight: Tensor) -> Tensor:
    """The numbers that a quantised weight (torchao's) stands for; any other weight as it is."""
    return weight if type(weight).dequantize is Tensor.dequantize else weight.dequantize()


def matrix_of(module: nn.Module) -> Tensor:
    """The (in, out) matrix of a linear layer: x @ matrix + bias is what the layer computes."""
    weight = module.weight
    assert isinstance(weight, Tensor)
    weight = dequantised(weight)
    if isinstance(module, Conv1D):
        return weight
    if isinstance(module, nn.Conv1d):  # kernel size 1: a linear layer on (batch, in, length)
        return weight[:, :, 0].T
    return weight.T


@dataclass
class Projection:
    """The rows of a linear layer that belong to one attention, in float32, with what is derived from them.

    Derived matrices are made once, and again if the layer's weights are changed in place.
    """

    module: nn.Module
    heads: int
    head_size: int
    offset: int = 0  # ConvBERT's layer reads other features beside the heads'
    call: int = 0  # which of the layer's calls in a pass,
    calls: int = 1  # of how many: ALBERT runs one layer again and again
    rows_first: bool = False  # whether what it reads is (query, batch, ...), as fairseq's models have it
    gating: Gating | None = None  # what stands between the heads' output and the layer
    _version: int = field(default=-1, init=False)

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
        return self.columns.unique().numel() < self.columns.numel()

    @property
    def matrices(self) -> Tensor:
        """W_O^h for every head: (head, d_head, d_model)."""
        weight = self.module.weight
        assert isinstance(weight, Tensor)
        version = 0 if weight.is_inference() else weight._version
        if version != self._version:
            rows = matrix_of(self.module)[self._features]
            self._matrices = rows.detach().float().reshape(self.heads, self.head_size, -1)
            self._version = version
            self._roots: Tensor | None = None
            self._inner: Tensor | None = None
            self._low_rank_roots: Tensor | None = None
        return self._matrices

    @property
    def _features(self) -> slice | Tensor:
        size = self.heads * self.head_size
        return slice(self.offset, self.offset + size) if self.gating is None else self.columns.flatten()

    @property
    def roots(self) -> Tensor:
        """R_h with R_h R_h^T = W_O^h W_O^h^T, (head, d_head, rank): ||v W_O^h|| = ||v R_h||.

        By QR and not by Cholesky: no squared condition number, and W_O^h may lack full rank.
        """
        matrices = self.matrices
        if self._roots is None:
            on_cpu = matrices.cpu().double()  # once per model; MPS has neither QR nor float64
            self._roots = torch.linalg.qr(on_cpu.mT).R.mT.to(matrices).contiguous()
        return self._roots

    @property
    def low_rank_roots(self) -> Tensor:
        """Roots without the directions that no head feels: (head, d_head, rank).

        What is left out changes ||v W_O^h|| by at most LOST of the largest that a vector as long as v can have.
        """
        roots = self.roots
        if self._low_rank_roots is None:
            left, singular, _ = torch.linalg.svd(roots.cpu().double(), full_matrices=False)
            rank = int((singular > LOST * singular[:, :1]).sum(-1).max())
            self._low_rank_roots = (left * singular[:, None])[:, :, :rank].to(roots).contiguous()
        return self._low_rank_roots

    @property
    def inner(self) -> Tensor:
        """W_O^h W_O^g^T for every two heads: (head, head, d_head, d_head)."""
        matrices = self.matrices
        if self._inner is None:
            flat = matrices.flatten(0, 1)
            products = (flat @ flat.T).view(self.heads, self.head_size, self.heads, self.head_size)
            self._inner = products.transpose(1, 2).contiguous()
        return self._inner
