"""Following a softmax's argument back to its queries and keys, through whatever models do in between; nothing is held."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import headscope
from headscope.lens.tokens.batch import Batch
from headscope.lens.watching.functions import FunctionTracer, SeenAttention
from tests.architectures.tiny_models import build

B, H, Q, K, D = 2, 3, 5, 7, 4
SCORES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "matmul": lambda q, k: torch.matmul(q, k.transpose(-1, -2)),
    "operator": lambda q, k: q @ k.mT,
    "scaled, masked and cast": lambda q, k: (
        ((q @ k.mT) / 2 + torch.zeros(Q, K)).to(torch.float64).masked_fill(_mask(), -1e9)
    ),
    "in place": lambda q, k: (q @ k.mT).mul_(0.5).add_(1).clamp_(-9, 9),
    "named arguments": lambda q, k: torch.where(_mask(), torch.tensor(-1e9), other=q.matmul(other=k.mT)),
    "bmm": lambda q, k: torch.bmm(q.flatten(0, 1), k.flatten(0, 1).mT).view(B, H, Q, K),
    "baddbmm": lambda q, k: (
        torch.ones(B * H, 1, K).baddbmm(batch1=q.flatten(0, 1), batch2=k.flatten(0, 1).mT, beta=0.5).view(B, H, Q, K)
    ),
    "einsum": lambda q, k: torch.einsum("bhid, bhjd -> bhij", q, k),
    "einsum, texts in the middle": lambda q, k: torch.einsum("ibnd,jbnd->bnij", [t.permute(2, 0, 1, 3) for t in (q, k)]),
    "einsum, keys first": lambda q, k: torch.einsum("bhkd,bhqd->bhqk", k, q),
    "keys times queries": lambda q, k: (k @ q.mT).mT,
    "groups": lambda q, k: (q[:, :, None] @ k[:, :, None].mT).squeeze(2),
    "with a sink": lambda q, k: torch.cat([torch.zeros(B, H, Q, 1), q @ k.mT], -1)[..., 1:],
    "a term for positions": lambda q, k: q @ k.mT + (q @ torch.ones(B, H, D, 2 * K))[..., :K],
    "a term for positions, named first": lambda q, k: _added(of_content=q @ k.mT, of_positions=q @ torch.ones(B, H, D, K)),
    "split and joined": lambda q, k: torch.stack((q @ k.mT).unbind(1), 1),
}


def _mask() -> Tensor:
    return torch.arange(K) >= torch.arange(Q)[:, None] + 2


def _added(of_content: Tensor, of_positions: Tensor) -> Tensor:
    return of_positions + of_content


def attend(scores: Callable[[Tensor, Tensor], Tensor], q: Tensor, k: Tensor) -> list[SeenAttention]:
    found: list[SeenAttention] = []
    watch = FunctionTracer(B, lambda module, attended: found.append(attended))

    class Attention(nn.Module):
        def forward(self) -> Tensor:
            return torch.softmax(scores(q, k), -1).float() @ torch.ones(B, H, K, D)

    module = Attention()
    with watch.inside([module]):
        module()
    assert [softmax.products for softmax in watch.softmaxes] == [()] * len(watch.softmaxes)
    return found


@pytest.mark.parametrize("name", SCORES)
def test_queries_and_keys_are_found(name: str) -> None:
    q, k = torch.randn(B, H, Q, D), torch.randn(B, H, K, D)
    (attended,) = attend(SCORES[name], q.clone(), k.clone())
    assert attended.query is not None
    torch.testing.assert_close(attended.query, q)
    torch.testing.assert_close(attended.key, k)


def test_one_key_for_all_heads_stays_one() -> None:
    q, k = torch.randn(B, H, Q, D), torch.randn(B, 1, K, D)
    (attended,) = attend(SCORES["matmul"], q, k)
    torch.testing.assert_close(attended.key, k)


def test_weights_without_a_product_have_neither_queries_nor_keys() -> None:
    """As in a Synthesizer, whose scores are parameters."""
    q, k = torch.randn(B, H, Q, D), torch.randn(B, H, K, D)
    (attended,) = attend(lambda q, k: torch.randn(B, H, Q, K), q, k)
    assert attended.query is None
    assert attended.key is None


def test_maps_live_no_longer_than_in_the_model() -> None:
    watch = FunctionTracer(B, lambda module, attended: None)

    class Attention(nn.Module):
        def forward(self) -> bool:
            scores = torch.randn(B, H, Q, D) @ torch.randn(B, H, D, K)
            map_of_products = weakref.ref(scores)
            scores = scores / 2
            return map_of_products() is None

    module = Attention()
    with watch.inside([module]):
        assert module()


def test_queries_of_a_site_are_let_go_with_its_block() -> None:
    made = build("gptj")
    held: list[weakref.ref[Tensor]] = []

    def receive(block: headscope.AttentionBlock) -> None:
        if block.rows.start == 0:
            assert [reference for reference in held if reference() is not None] == []
            held.extend(weakref.ref(tensor) for tensor in (block.key_side.keys, block.queries))

    with headscope.open(made.model) as lens:
        lens.run(Batch(made.inputs), receive)
    assert len(held) == 4
