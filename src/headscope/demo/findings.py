"""What the counts say in words. Every sentence is made from the numbers and holds whatever they are."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from headscope.demo.counts import Counts

AGREE = 0.02  # shares that differ by at most two points are called the same
NAMES = {"cls": "[CLS]", "sep": "[SEP]", "punctuation": "periods and commas", "other": "other tokens"}


@dataclass(frozen=True)
class Gap:
    """The shares of one kind of token by weight and by norm, each the mean of the layers' shares."""

    kind: str
    weight: float
    norm: float

    @property
    def size(self) -> float:
        return abs(self.weight - self.norm)

    @property
    def agree(self) -> bool:
        return self.size <= AGREE


def widest_gap(counts: Counts) -> Gap:
    """The kind of token about which weights and norms differ most; 'other' is what remains, and no finding."""
    weight, norm = counts.layer_shares("weight"), counts.layer_shares("norm")
    gaps = [Gap(kind, float(weight[kind].mean()), float(norm[kind].mean())) for kind in ("cls", "sep", "punctuation")]
    return max(gaps, key=lambda gap: gap.size)


def headline(gap: Gap) -> str:
    """One line, for a picture's title."""
    if gap.agree:
        return "Weights and norms agree about special tokens and punctuation"
    less_or_more = "but only" if gap.norm < gap.weight else "but"
    verb = "get" if gap.kind == "punctuation" else "gets"
    name = NAMES[gap.kind]
    return (
        f"{name[0].upper()}{name[1:]} {verb} {percent(gap.weight)} of the attention weight, "
        f"{less_or_more} {percent(gap.norm)} of the norm"
    )


def disagreement(counts: Counts) -> str:
    """How weights and norms disagree, or that they agree, in plain words."""
    gap = widest_gap(counts)
    if gap.agree:
        return (
            "Weights and norms agree here: averaged over the layers, the shares of [CLS], [SEP], periods and commas "
            f"differ by at most {100 * gap.size:.1f} points."
        )
    weight, norm = counts.layer_shares("weight")[gap.kind], counts.layer_shares("norm")[gap.kind]
    widest = int((weight - norm).abs().argmax())
    return (
        f"Weights and norms disagree most about {NAMES[gap.kind]}: averaged over the layers, "
        f"{percent(gap.weight)} of the weight goes there, but {percent(gap.norm)} of the norm. So these tokens bring "
        f"{'less' if gap.norm < gap.weight else 'more'} than their weights suggest. The gap is widest in layer {widest} "
        f"({percent(weight[widest])} by weight, {percent(norm[widest])} by norm). {_heads_that_follow(counts, gap)}"
    )


def _heads_that_follow(counts: Counts, gap: Gap) -> str:
    weight, norm = counts.shares("weight")[gap.kind], counts.shares("norm")[gap.kind]
    less = gap.norm < gap.weight
    following = int(((norm < weight) if less else (norm > weight)).sum())
    return f"The norm is the {'smaller' if less else 'larger'} of the two in {following} of {weight.numel()} heads."


def strongest(shares: Tensor, count: int = 3) -> list[tuple[str, float]]:
    """The heads with the largest shares, as `layer.head`: (layer, head) -> [(label, share), ...]"""
    values, places = shares.flatten().sort(descending=True, stable=True)
    heads = shares.shape[1]
    labels = [f"{place // heads}.{place % heads}" for place in places[:count].tolist()]
    return list(zip(labels, values[:count].tolist(), strict=True))


def percent(share: float | Tensor) -> str:
    """
    >>> percent(0.987), percent(0.0151)
    ('99%', '1.5%')
    """
    return f"{float(share):.0%}" if share >= 0.0995 else f"{float(share):.1%}"
