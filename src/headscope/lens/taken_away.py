"""The proof that heads can be taken away: what remains, what takes their place, and what is there when they are back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from headscope.later import Tensor, torch
from headscope.lens.head import heads_of
from headscope.lens.head_means import HeadMeans
from headscope.lens.lens import Lens
from headscope.lens.proof import RECONSTRUCTION, Found, Returned, believed, largest_of, returned, rounding_of_output
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch
from headscope.lens.watching.linear import computed_in
from headscope.lens.watching.projection import Projection


@dataclass(frozen=True)
class Taken:
    """What was found where heads were taken away."""

    by_site: dict[Site, Found]
    restored: bool


def taken_away(lens: Lens, batch: Batch) -> Taken:
    """Heads taken away, and given back: what remains at every site is its bias; with known vectors in the heads' place, what
    these vectors make; and in the end the same as in the beginning, bit for bit.
    """
    sites = [found for found in lens.trace.sites if found.projection is not None and not found.projection.shared]
    if not sites:
        return Taken({}, restored=True)
    heads = [head for found in sites for head in heads_of(found.site)]
    planted = _planted([found.site for found in sites])
    before, again = (returned(lens, batch) for _ in range(2))
    with lens.without(*heads, how="zero"):
        gone = returned(lens, batch)
    with lens.without(*heads, means=planted):
        replaced = returned(lens, batch)
    after = returned(lens, batch)
    found = {}
    for one in sites:
        projection: Any = one.projection
        largest = max(float(_call(before, projection)[1].abs().max()), 1e-30)
        wanted = torch.from_numpy(planted.of(one.site)).float().to(lens.device)
        steps = [
            _remains(*_call(gone, projection), torch.zeros_like(wanted), projection, largest),
            _remains(*_call(replaced, projection), wanted, projection, largest),
        ]
        found[one.site] = Found(max(step.error for step in steps), largest_of(*(step.of_limit for step in steps)))
    repeats = _same(before, again)  # some models draw random numbers: then nothing can be told from a difference
    return Taken(found, not repeats or _same(before, after))


def _call(ran: Returned, projection: Projection) -> tuple[Tensor, Tensor]:
    """What a layer was given and returned: (row, feature) each."""
    given, result = ran[projection.module][projection.call]
    return given.flatten(0, -2), result.flatten(0, -2)


def _same(one: Returned, other: Returned) -> bool:
    results = ([result for calls in ran.values() for _, result in calls] for ran in (one, other))
    return all(a.equal(b) or bool(a.isnan().any()) for a, b in zip(*results, strict=True))


def _planted(sites: Iterable[Site]) -> HeadMeans:
    """Vectors that no two heads share, of the size of one."""
    generator = torch.Generator().manual_seed(0)
    drawn = {site.name: torch.randn(site.heads, site.head_size, generator=generator).double().numpy() for site in sites}
    return HeadMeans("the doctor", drawn, dict.fromkeys(drawn, 1))


def _remains(given: Tensor, result: Tensor, vectors: Tensor, projection: Projection, largest: float) -> Found:
    """What W_O returned against what `vectors` (head, d_head) in the heads' place make, with what it reads beside them."""
    matrix, bias = believed(projection)
    precision = computed_in(projection.module, result.dtype)
    known, result = given.float().clone(), result.float()
    known[:, projection.columns.flatten().to(known.device)] = vectors.flatten()
    expected = known @ matrix + bias
    scale = max(largest, float(expected.abs().max()))
    explained = rounding_of_output(projection, known, result, precision)
    apart = Found.between(result, expected, RECONSTRUCTION * scale, explained)
    return Found(apart.error / scale, apart.of_limit)
