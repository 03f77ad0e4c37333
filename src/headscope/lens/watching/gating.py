"""Gates: z_i = g_i * sum_j alpha_ij v_j is what W_O reads, with a factor for every row, head and dimension.

A norm over the heads' output is one too, once its scale is known. Where a row mixes a head's dimensions (NeoMME takes out
the direction of its own value), it has a matrix in the factors' place. Which features of W_O's input a head's dimensions
are is found in the trace, by asking what numbered outputs would have become; a gate's factors, in every pass, by asking for
ones.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from headscope.lens.watching.following import Step
from headscope.lens.watching.normalisation import is_near

_CLOSE = 1e-4


@dataclass(frozen=True)
class Gating:
    """Where each head's dimensions stand in what W_O reads, and which heads can be asked for their factors together."""

    columns: Tensor  # head d_head
    together: tuple[tuple[int, ...], ...]  # no two heads of one of these share a column
    mixes: bool = False  # whether each row has a matrix

    def gates(self, read: Step, output: Step) -> Tensor:
        """The factors of one pass: (batch, row, head, d_head), or matrices (batch, row, head, d_head, d_head); float32."""
        if self.mixes:
            return self._matrices(read, output)
        gates = torch.empty(output.shape, device=self.columns.device)
        for heads in map(list, self.together):
            ones = torch.zeros_like(gates)
            ones[:, :, heads] = 1
            made = read.again(output, ones)
            gates[:, :, heads] = made.reshape(*output.shape[:2], -1)[:, :, self.columns[heads]]
        return gates

    def _matrices(self, read: Step, output: Step) -> Tensor:
        *_, size = output.shape
        matrices = torch.empty((*output.shape, size), device=self.columns.device)
        for dimension in range(size):
            unit = torch.zeros(output.shape, device=self.columns.device)
            unit[..., dimension] = 1
            made = read.again(output, unit).reshape(*output.shape[:2], -1)
            matrices[..., dimension, :] = made[:, :, self.columns]
        return matrices


def behind(gates: Tensor, vectors: Tensor) -> Tensor:
    """What is left of the heads' vectors (batch, row, head, d_head) behind gates."""
    if gates.dim() == 4:
        return vectors * gates
    return torch.einsum("bihd,bihdc->bihc", vectors, gates)


def find_gating(read: Step, output: Step, device: torch.device) -> Gating | None:
    """How what W_O read was made of an attention's output (batch, row, head, d_head); None if not by factors alone."""
    heads = output.shape[2]
    everyone = (tuple(range(heads)),)
    alone = tuple((head,) for head in range(heads))
    for together in (everyone, alone):
        columns = find_columns(read, output, together, device)
        if columns is not None:
            found = Gating(columns, together)
            if _explains(found, read, output):
                return Gating(columns, _rounds(columns))
    heads, size = output.shape[2:]
    mixing = Gating(torch.arange(heads * size, device=device).view(heads, size), everyone, mixes=True)
    return mixing if _explains(mixing, read, output) else None


def find_columns(read: Step, output: Step, together: tuple[tuple[int, ...], ...], device: torch.device) -> Tensor | None:
    """(head, d_head): numbered outputs, divided by what ones become, say which number arrived where."""
    _, _, heads, size = output.shape
    columns = torch.full((heads, size), -1, device=device)
    for some in map(list, together):
        ones, numbers = (torch.zeros(output.shape, device=device) for _ in range(2))
        ones[:, :, some] = 1
        numbers[:, :, some] = torch.arange(1.0, len(some) * size + 1, device=device).view(len(some), size)
        of_ones, of_numbers = (read.again(output, asked) for asked in (ones, numbers))
        of_ones, of_numbers = (made.reshape(-1, made.shape[-1]) for made in (of_ones, of_numbers))
        clearest = of_ones.abs().argmax(0, keepdim=True)
        factors, arrived = (made.gather(0, clearest)[0] for made in (of_ones, of_numbers))
        felt = factors != 0
        number = (arrived / factors.where(felt, 1)).round().long().where(felt, 0)
        for column, one in enumerate(number.tolist()):
            if 0 < one <= len(some) * size:
                columns[some[(one - 1) // size], (one - 1) % size] = column
    return None if bool((columns < 0).any()) else columns


def _explains(found: Gating, read: Step, output: Step) -> bool:
    """Whether random outputs become what the factors say: that they mix no rows, heads or dimensions."""
    random = torch.randn(output.shape, generator=torch.Generator().manual_seed(0)).to(found.columns.device)
    made = read.again(output, random)
    if made.shape[:-1].numel() != output.shape[0] * output.shape[1] or made.shape[-1] <= int(found.columns.max()):
        return False
    gated = behind(found.gates(read, output), random).flatten(2).flatten(0, 1)  # row head-and-d_head
    again = torch.zeros_like(made.reshape(-1, made.shape[-1])).index_add_(1, found.columns.flatten(), gated)
    return is_near(again, made.reshape(again.shape), _CLOSE)


def _rounds(columns: Tensor) -> tuple[tuple[int, ...], ...]:
    """As few groups of heads as it takes for no two of a group to share a column."""
    groups: list[tuple[list[int], set[int]]] = []
    for head, own in enumerate(columns.tolist()):
        for members, taken in groups:
            if taken.isdisjoint(own):
                members.append(head)
                taken.update(own)
                break
        else:
            groups.append(([head], set(own)))
    return tuple(tuple(members) for members, _ in groups)
