"""The third way in: attention in windows, chunks and blocks, as rows over all of a text's tokens.

However a model cuts, pads and rolls its values, what W_O reads is linear in them: z_i = sum_j alpha_ij v_j. The functions
between the two are followed (following.py), and asked what they would make of unit vectors in the values' place: what comes
out are the weights, with zeros where nothing is attended to.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headscope.lens.watching.following import Follower, Step
from headscope.lens.watching.gating import find_columns
from headscope.lens.watching.normalisation import is_near

_CLOSE = 1e-4


@dataclass(frozen=True)
class ValuePath:
    """From the values of an attention, which a linear layer makes, to what W_O reads."""

    module: nn.Module
    call: int  # which of the layer's calls in a pass
    columns: Tensor  # head d_head: where the values' dimensions stand in what W_O reads
    rows_first: tuple[bool, bool]  # whether values, and what W_O reads, are (length, batch, feature)

    @property
    def heads(self) -> int:
        return len(self.columns)

    def begin(self, follower: Follower, output: Tensor, batch: int) -> Step:
        """Follow the values."""
        return begin(follower, output, batch, self.rows_first[0])

    def values(self, output: Tensor, batch: int) -> Tensor:
        """(batch, head, key, d_head), float32."""
        by_text = by_texts(output, batch, self.rows_first[0])
        return by_text.unflatten(-1, (self.heads, -1)).transpose(1, 2).float()

    def weights(self, read: Step, values: Step) -> Tensor:
        """(batch, head, row, key), by asking for as many keys at a time as a head has dimensions."""
        batch, keys, _, features = values.shape
        size = features // self.heads
        found: list[Tensor] = []
        for start in range(0, keys, size):
            asked = torch.arange(min(size, keys - start), device=self.columns.device)
            units = torch.zeros(batch, keys, self.heads, size, device=self.columns.device)
            units[:, start + asked, :, asked] = 1
            made = by_texts(read.again(values, units.view(values.shape)), batch, self.rows_first[1])
            found.append(made[:, :, self.columns[:, : len(asked)]].transpose(1, 2))
        return torch.cat(found, -1)


def by_texts(vectors: Tensor, batch: int, rows_first: bool) -> Tensor:
    """(batch, length, feature), however a model arranges its texts."""
    if rows_first:
        return vectors.reshape(-1, batch, vectors.shape[-1]).transpose(0, 1)
    return vectors.reshape(batch, -1, vectors.shape[-1])


def begin(follower: Follower, output: Tensor, batch: int, rows_first: bool) -> Step:
    """Follow what a linear layer returns, as one of shape (batch, length, 1, feature)."""
    return follower.begin(
        output, ((*by_texts(output, batch, rows_first).shape[:2], 1, output.shape[-1]), _arranged(output, rows_first))
    )


def _arranged(output: Tensor, rows_first: bool) -> Callable[[Tensor], Tensor]:
    shape = output.shape
    return lambda vectors: (vectors.transpose(0, 1) if rows_first else vectors).reshape(shape)


def find_value_path(
    read: Step, values: Step, output: Tensor, given: Tensor, module: nn.Module, call: int, tolerance: float
) -> ValuePath | None:
    """How what W_O read (`given`) was made of values (`output`) in a trace of one text; None if not by weights alone."""
    _, length, _, features = values.shape
    columns = find_columns(read, values, ((0,),), output.device)
    rows_first = is_rows_first(output), is_rows_first(given)
    if columns is None or given.shape[:-1].numel() != length:
        return None
    maps = torch.stack([read.again(values, _unit(values, key, output.device)).reshape(length, -1) for key in range(length)])
    maps = maps[:, :, columns[0]]  # key row feature
    for heads in (heads for heads in range(1, features) if features % heads == 0):
        by_head = maps.unflatten(-1, (heads, -1))
        if is_near(by_head, by_head[..., :1].expand_as(by_head), _CLOSE):
            path = ValuePath(module, call, columns.view(heads, -1), rows_first)
            return path if _explains(path, read, values, output, given, tolerance) else None
    return None


def is_rows_first(vectors: Tensor) -> bool:
    """Of a single text: whether it is (length, 1, feature)."""
    return vectors.dim() == 3 and vectors.shape[0] > 1 == vectors.shape[1]


def _unit(values: Step, key: int, device: torch.device) -> Tensor:
    unit = torch.zeros(values.shape, device=device)
    unit[:, key] = 1
    return unit


def _explains(path: ValuePath, read: Step, values: Step, output: Tensor, given: Tensor, tolerance: float) -> bool:
    """Whether the weights are shares of the keys, and the weighted sums of values are what W_O read."""
    weights = path.weights(read, values)
    sums = weights.sum(-1)
    if bool((weights < 0).any()) or bool((sums > 1 + 10 * tolerance).any()):
        return False
    if not bool((sums - weights.diagonal(dim1=2, dim2=3) > 0).any()):
        return False  # tokens that see themselves alone: a gate, or the shares of experts
    weighed = (weights @ path.values(output, 1)).transpose(1, 2)
    return is_near(weighed, by_texts(given, 1, path.rows_first[1])[:, :, path.columns], tolerance)
