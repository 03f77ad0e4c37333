"""A model without some of its heads: what takes their place in what W_O reads, and at which tokens.

z_h(i) = sum_j alpha_ij v_j becomes 0 (`zero`), its mean over a corpus (`mean`), or that of another text (`resample`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, Literal

from headscope.errors import InputError, ModelError
from headscope.later import Tensor, torch
from headscope.lens import watching
from headscope.lens.head import Head, heads_named
from headscope.lens.head_means import HeadMeans
from headscope.lens.site import Site

if TYPE_CHECKING:
    from headscope.lens.lens import Lens

How = Literal["zero", "mean", "resample"]
HOW: tuple[How, ...] = ("zero", "mean", "resample")
At = int | Sequence[int] | slice | None  # places in a text, from its first token or (negative) from its last; None: all

# What takes the place of z (row..., head, d_head) of a site, for all its heads; it may be smaller, and is broadcast.
Replacement = Callable[["Tensor", "watching.Where"], "Tensor"]


def without(
    lens: Lens, heads: Iterable[Head], replacements: Mapping[Site, Replacement], at: At = None, *, thread: int | None = None
) -> AbstractContextManager[None]:
    """A context in which the model runs without `heads`: those of each site have what is given for the site instead.

    With a `thread`, only what that one runs does without them.
    """
    if lens.closed:
        raise ModelError("This lens is closed: open the model again.")
    chosen: dict[Site, list[int]] = {}
    for head in heads:
        site = next(site for site in lens.sites if (site.stack, site.kind, site.layer) == head[:3])
        chosen.setdefault(site, []).append(head.head)
    _check_calls(lens, chosen)
    changes = {site: partial(_replaced, some, replacements[site], at) for site, some in chosen.items()}
    return lens.changed_heads(changes, thread=thread)


def without_here(lens: Lens, names: Iterable[str | Head], how: str) -> AbstractContextManager[None]:
    """What `lens.without` does, but in this thread alone: others may read the whole model meanwhile."""
    heads = heads_named(names, lens.sites)
    sites = [site for site in lens.sites if any(head[:3] == (site.stack, site.kind, site.layer) for head in heads)]
    return without(lens, heads, replacements(lens, sites, how, lens.means, None), thread=get_ident())


def _replaced(heads: list[int], replacement: Replacement, at: At, z: Tensor, where: watching.Where) -> Tensor:
    there = torch.zeros(z.shape[-2], dtype=torch.bool, device=z.device)
    there[heads] = True
    there = there[:, None]  # head 1
    if at is not None:
        there = there & is_at(at, *where())[..., None, None]
    return torch.where(there, replacement(z, where).to(z.dtype), z)


def is_at(at: At, places: Tensor, lengths: Tensor) -> Tensor:
    """(row...,): whether each row stands at one of these places of its text; never at padding.

    >>> places, lengths = torch.tensor([[0, 1, 2], [0, 1, -1]]), torch.tensor([[3], [2]])
    >>> is_at(-1, places, lengths).tolist(), is_at(slice(1, None), places, lengths).tolist()
    ([[False, False, True], [False, True, False]], [[False, True, True], [False, True, False]])
    """
    real = places >= 0
    if at is None:
        return real
    if isinstance(at, slice):
        start, stop = (0 if at.start is None else at.start), at.stop
        first = lengths + start if start < 0 else torch.full_like(lengths, start)
        last = lengths if stop is None else lengths + stop if stop < 0 else torch.full_like(lengths, stop)
        return real & (places >= first) & (places < last) & ((places - first) % (at.step or 1) == 0)
    found = torch.zeros_like(real)
    for place in [at] if isinstance(at, int) else at:
        found |= places == (lengths + place if place < 0 else place)
    return real & found


def zeros(z: Tensor, _: watching.Where) -> Tensor:
    """`zero`."""
    return z.new_zeros(())


def mean_of(means: HeadMeans, site: Site) -> Replacement:
    """`mean`: one vector a head, whatever the text."""
    own = torch.from_numpy(means.of(site)).float()
    return lambda z, _: own.to(z.device)


def of_other_texts(others: Tensor, lengths: Tensor) -> Replacement:
    """`resample`: text b has what stands at the same place of the other text b, which begin anew when there are more.

    `others` is (text, place, head, d_head). Where the other text is shorter, it goes on from its second token: the first
    is a sink like no other.
    """

    def replacement(z: Tensor, where: watching.Where) -> Tensor:
        places, _ = where()
        if places.dim() != 2:
            raise ModelError("resample cannot tell this model's texts apart: use mean or zero.")
        text = torch.arange(len(places), device=z.device)[:, None] % len(others)
        return others.to(z.device)[text, same_place(places, lengths.to(z.device)[text])]

    return replacement


def same_place(places: Tensor, lengths: Tensor) -> Tensor:
    """The place in another text of a given length for each place in a text.

    >>> same_place(torch.arange(7), torch.tensor(4)).tolist()
    [0, 1, 2, 3, 1, 2, 3]
    """
    beyond = 1 + (places - 1).clamp(min=0) % (lengths - 1).clamp(min=1)
    return torch.where(places < lengths, places, beyond).clamp(min=0).minimum(lengths - 1)


def read_heads(lens: Lens, sites: Iterable[Site], inputs: Mapping[str, Tensor]) -> dict[Site, tuple[Tensor, Tensor]]:
    """z (text, place, head, d_head) of some sites in one pass over a batch, and the length of each text."""
    found: dict[Site, tuple[Tensor, Tensor]] = {}

    def keep(site: Site, z: Tensor, where: watching.Where) -> None:
        places, lengths = where()
        if places.dim() != 2:
            raise ModelError(f"{site.name}: this model's texts cannot be told apart: use mean or zero.")
        found[site] = z.detach().clone(), lengths[:, 0]

    with torch.no_grad(), lens.changed_heads({site: partial(keep, site) for site in sites}):
        lens.forward(dict(inputs))
    return found


def replacements(
    lens: Lens, sites: Sequence[Site], how: str, means: HeadMeans | None, others: Sequence[Any] | None
) -> dict[Site, Replacement]:
    """What takes the heads' place at each site."""
    if how not in HOW:
        raise InputError(f"Heads are replaced by zero, mean or resample, not by {how!r}.")
    if how == "zero":
        return dict.fromkeys(sites, zeros)
    if how == "mean":
        if means is None:
            raise InputError(
                "A head's mean has to be known before it can take its place: call lens.head_means(corpus) first, "
                'or give how="zero".'
            )
        return {site: mean_of(means, site) for site in sites}
    if not others:
        raise InputError("resample takes what the head does in other texts: give them with others=[...].")
    read = read_heads(lens, sites, lens.encoder.batch(others).inputs)
    missing = next((site for site in sites if site not in read), None)
    if missing is not None:
        raise InputError(f"{missing.name} does not run on these other texts: give Documents with a target.")
    return {site: of_other_texts(*read[site]) for site in sites}


def _check_calls(lens: Lens, sites: Iterable[Site]) -> None:
    """A layer that serves several sites is told by its calls, which gradient checkpointing mixes up."""
    model: Any = lens.model
    served = [site.projection for site in lens.sites]
    if getattr(model, "is_gradient_checkpointing", False) and any(served.count(site.projection) > 1 for site in sites):
        raise ModelError(
            f"{lens.name} uses one layer for several attentions, and gradient checkpointing runs them in any order: "
            "call model.gradient_checkpointing_disable() first."
        )
