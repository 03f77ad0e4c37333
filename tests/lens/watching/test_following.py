"""Outputs are followed through linear functions, and through nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from headscope.lens.watching.following import Follower, Step
from headscope.lens.watching.gating import Gating, behind, find_gating

SHAPE = (2, 5, 3, 4)  # batch row head d_head
GATE = torch.rand(2, 5, 12, generator=torch.Generator().manual_seed(1))


def followed(make: Callable[[Tensor], Tensor]) -> tuple[Step | None, Step, Tensor, Tensor]:
    """How something was made of an output: its step, the output's, the output, and what came out."""
    output = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0))
    follower = Follower()
    with follower:
        start = follower.begin(output)
        made = make(output)
        return follower.step_of(made), start, output, made


def gate(output: Tensor) -> Tensor:
    return output.reshape(2, 5, 12).contiguous() * GATE


def gate_in_place(output: Tensor) -> Tensor:
    flat = output.clone().flatten(2)
    flat *= GATE
    return flat


def norm(output: Tensor) -> Tensor:
    flat = output.flatten(2)
    return 0.5 * (flat * torch.rsqrt(flat.pow(2).mean(-1, keepdim=True) + 1e-6)) / 3


def torch_norm(output: Tensor) -> Tensor:
    return nn.functional.rms_norm(output.flatten(2), (12,), GATE[0, 0], 1e-6)


def mixed(output: Tensor) -> Tensor:
    return (output - 0.3 * output.sum(-1, keepdim=True)).flatten(2)


def reordered(output: Tensor) -> Tensor:
    return torch.cat([output[:, :, 1:], output[:, :, :1]], 2).flatten(2)


def subtracted(output: Tensor) -> Tensor:
    one, other, _ = output.unbind(2)
    return torch.cat([one - 0.3 * other, output[:, :, 2]], -1)


@pytest.mark.parametrize("make", [gate, gate_in_place, norm, torch_norm, mixed, reordered, subtracted])
def test_what_is_found_gives_the_model_s_own_numbers(make: Callable[[Tensor], Tensor]) -> None:
    step, start, output, made = followed(make)
    assert step is not None
    torch.testing.assert_close(step.again(start, output), made)
    found = find_gating(step, start, output.device)
    assert found is not None
    assert found.mixes == (make is mixed)
    assert again(found, step, start, output, made.shape[-1]).allclose(made, atol=1e-5)


def again(found: Gating, step: Step, start: Step, output: Tensor, features: int) -> Tensor:
    gated = behind(found.gates(step, start), output).flatten(2)
    return torch.zeros(*SHAPE[:2], features).index_add_(2, found.columns.flatten(), gated)


@pytest.mark.parametrize(
    "make",
    [
        lambda output: output.flatten(2).tanh(),
        lambda output: output.flatten(2) * output.flatten(2),
        lambda output: output.flatten(2) + 1.0,
        lambda output: output.flatten(2).relu_(),
        lambda output: 1 / output.flatten(2),
    ],
)
def test_what_is_not_linear_is_not_followed(make: Callable[[Tensor], Tensor]) -> None:
    assert followed(make)[0] is None


@pytest.mark.parametrize(
    "mix",
    [
        lambda output: (output - output.flip(0) * 0 - output.sum(2, keepdim=True)).flatten(2),
        lambda output: (output - output.sum(1, keepdim=True)).flatten(2),
    ],
    ids=["texts and heads", "rows"],
)
def test_what_mixes_is_no_gate(mix: Callable[[Tensor], Tensor]) -> None:
    step, start, output, _ = followed(mix)
    assert step is None or find_gating(step, start, output.device) is None
