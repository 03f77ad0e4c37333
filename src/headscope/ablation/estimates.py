"""All heads at once, estimated from backward passes over one batch.

With g = d / dz_h(i) and c_h(i) = what takes the head's place less z_h(i): the loss changes by sum_i <g L, c>, in the first
order; and KL is 1/2 E_y [(sum_i <g -log p(y), c>)^2], in the second, over labels y drawn from the model's own p.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from headscope.ablation.exact import no_cache
from headscope.ablation.predicted import predicts, task
from headscope.later import Tensor, torch
from headscope.lens import watching
from headscope.lens.lens import Lens
from headscope.lens.site import Site
from headscope.lens.task import word_logits
from headscope.lens.tokens.batch import Batch
from headscope.lens.without import At, Replacement, is_at
from headscope.statistics.base import Array


def estimates(
    lens: Lens,
    batch: Batch,
    ways: Mapping[str, Mapping[Site, Replacement]],
    sites: Sequence[Site],
    *,
    at: At,
    draws: int,
    seeds: Sequence[int],
) -> dict[str, dict[str, Array]]:
    """By way, `loss_estimate` and `kl_estimate` (text, head), summed over each text's predicted tokens.

    `seeds` has one number a text: what is drawn for it does not depend on its batch.
    """
    read = task(lens, batch)
    real = predicts(read.targets)
    seen = _Seen(sites, ways, at)
    with torch.inference_mode(False), torch.enable_grad(), watching.frozen(lens.model), lens.unwatched():
        with lens.changed_heads({site: seen.look(site) for site in sites}):
            logits = word_logits(lens.model(**read.inputs, **no_cache(lens)))[real].float()
        kept = logits.log_softmax(-1)
        loss = -kept.gather(1, read.targets[real][:, None]).sum()
        first = seen.products(loss, batch.size)
        squares = {way: np.zeros_like(sums) for way, sums in first.items()}
        text = real.nonzero()[:, 0]
        for draw in range(draws):
            labels = _drawn(kept.detach(), text, [(seed, draw) for seed in seeds])
            for way, sums in seen.products(-kept.gather(1, labels[:, None]).sum(), batch.size).items():
                squares[way] += sums**2 / (2 * draws)
    found = {way: {"loss_estimate": sums} for way, sums in first.items()}
    return {way: some | ({"kl_estimate": squares[way]} if draws else {}) for way, some in found.items()}


def _drawn(log_shares: Tensor, text: Tensor, seeds: Sequence[tuple[int, int]]) -> Tensor:
    """(token,): a label for each token of each text, from the model's own p."""
    labels = torch.empty_like(text)
    for index, seed in enumerate(seeds):
        own = text == index
        points = torch.from_numpy(np.random.default_rng(list(seed)).random(int(own.sum()))).to(log_shares)
        shares = log_shares[own].exp().cumsum(-1)
        labels[own] = torch.searchsorted(shares, points[:, None] * shares[:, -1:]).clamp(max=shares.shape[-1] - 1)[:, 0]
    return labels


class _Seen:
    """z of every site in a pass that is differentiated, and what each way would change in it."""

    def __init__(self, sites: Sequence[Site], ways: Mapping[str, Mapping[Site, Replacement]], at: At) -> None:
        self.sites, self.ways, self.at = sites, ways, at
        self.z: dict[Site, Tensor] = {}
        self.changes: dict[str, dict[Site, Tensor]] = {way: {} for way in ways}

    def look(self, site: Site) -> watching.Change:
        def seen(z: Tensor, where: watching.Where) -> Tensor:
            z = z if z.requires_grad else z.detach().requires_grad_()
            z = z * 1  # a tensor of its own, which what W_O reads is made of
            self.z[site] = z
            places, lengths = where()
            there = is_at(self.at, places, lengths)[..., None, None]
            for way, replacements in self.ways.items():
                change = replacements[site](z.detach(), where).to(z.dtype) - z.detach()
                self.changes[way][site] = torch.where(there, change, 0)
            return z

        return seen

    def products(self, loss: Tensor, texts: int) -> dict[str, Array]:
        """By way, (text, head): sum_i <d loss / dz_h(i), c_h(i)>, for all heads of all sites."""
        every = [self.z[site] for site in self.sites if site in self.z]
        gradients = torch.autograd.grad(loss, every, retain_graph=True, allow_unused=True)
        found: dict[str, Array] = {}
        for way, changes in self.changes.items():
            parts = [
                _by_text(torch.zeros_like(z) if gradient is None else gradient, changes[site], texts)
                for site, z, gradient in zip(self.sites, every, gradients, strict=True)
            ]
            found[way] = torch.cat(parts, 1).double().cpu().numpy()
        return found


def _by_text(gradient: Tensor, change: Tensor, texts: int) -> Tensor:
    """(text, ..., head, d_head) twice -> (text, head)"""
    return (gradient * change).sum(-1).reshape(texts, -1, gradient.shape[-2]).sum(1)
