"""Appendices D and G of kobayashi2020 as they stand: loops over texts, layers, heads and tokens, on full tensors. Slow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.textbook import Textbook


@dataclass
class Text:
    """s_p: its tokens, their categories A to D by name, and every layer's weights and f(x)."""

    ids: list[int]
    categories: list[str]
    layers: list[Textbook]

    def alpha(self, layer: int, head: int) -> np.ndarray:
        """(query, key)"""
        return self.layers[layer].weights[head].double().numpy()

    def transformed(self, layer: int, head: int) -> np.ndarray:
        """f(x): (key, d_model)"""
        return self.layers[layer].transformed[head].double().numpy()

    @property
    def shape(self) -> tuple[int, int]:
        """Layers and heads."""
        return len(self.layers), self.layers[0].weights.shape[0]


def bert_category(token: str) -> str:
    """Equation 14."""
    return {"[CLS]": "first", "[SEP]": "separator", ".": "punctuation", ",": "punctuation"}.get(token, "other")


def weight(text: Text, q: int, layer: int, head: int) -> float:
    alpha = text.alpha(layer, head)
    return sum(alpha[i, q] for i in range(len(alpha))) / len(alpha)


def norm(text: Text, q: int, layer: int, head: int) -> float:
    return float(np.sqrt((text.transformed(layer, head)[q] ** 2).sum()))


def weighted_norm(text: Text, q: int, layer: int, head: int) -> float:
    alpha, transformed = text.alpha(layer, head), text.transformed(layer, head)
    return sum(float(np.linalg.norm(alpha[i, q] * transformed[q])) for i in range(len(alpha))) / len(alpha)


def joint_norm(text: Text, q: int, layer: int) -> float:
    """The same for the sum over heads (appendix A)."""
    heads = range(text.shape[1])
    n = len(text.alpha(layer, 0))
    vectors = [sum(text.alpha(layer, h)[i, q] * text.transformed(layer, h)[q] for h in heads) for i in range(n)]
    return sum(float(np.linalg.norm(vector)) for vector in vectors) / n


def heads_of(texts: Sequence[Text], category: str, layer: int, head: int) -> dict[str, float]:
    """HeadW, HeadN and HeadWN of one category."""
    sum_w, sum_wn, mean_n = 0.0, 0.0, []
    for text in texts:
        members = [q for q in range(len(text.ids)) if text.categories[q] == category]
        sum_w += sum(weight(text, q, layer, head) for q in members)
        sum_wn += sum(weighted_norm(text, q, layer, head) for q in members)
        if members:
            mean_n.append(sum(norm(text, q, layer, head) for q in members) / len(members))
    return {
        "weight": sum_w / len(texts),
        "norm": sum_wn / len(texts),
        "value_norm": sum(mean_n) / len(mean_n) if mean_n else float("nan"),
        "texts": len(mean_n),
    }


def joint_of(texts: Sequence[Text], category: str, layer: int) -> float:
    found = [joint_norm(text, q, layer) for text in texts for q in range(len(text.ids)) if text.categories[q] == category]
    return sum(found) / len(texts)


def averages(text: Text) -> tuple[list[float], list[float]]:
    """AvgW and AvgN of every token (appendix D.4)."""
    layers, heads = text.shape
    every = [(layer, head) for layer in range(layers) for head in range(heads)]
    avg_w = [sum(weight(text, q, *place) for place in every) / len(every) for q in range(len(text.ids))]
    avg_n = [sum(norm(text, q, *place) for place in every) / len(every) for q in range(len(text.ids))]
    return avg_w, avg_n


def dispersion(texts: Sequence[Text], layer: int, head: int) -> dict[str, float]:
    return spread([norm(text, q, layer, head) for text in texts for q in range(len(text.ids))])


def spread(lengths: Sequence[float]) -> dict[str, float]:
    """Table 1's columns."""
    mean, deviation = float(np.mean(lengths)), float(np.std(lengths))
    extremes = {"largest": max(lengths), "smallest": min(lengths), "vectors": len(lengths)}
    return {"mean": mean, "deviation": deviation, "cv": deviation / mean, **extremes}


def by_length(texts: Sequence[Text], causal: bool) -> dict[int, dict[str, float]]:
    """Figure 25: Pearson's r of every map, by the length of its text."""
    found: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for text in texts:
        n = len(text.ids)
        visible = np.tri(n, dtype=bool) if causal else np.ones((n, n), dtype=bool)
        for layer in text.layers:
            for alpha, effective, norms in zip(layer.weights, layer.effective, layer.norm, strict=True):
                x, y, z = (scores.double().numpy()[visible] for scores in (alpha, effective, norms))
                found[n].append((np.corrcoef(x, y)[0, 1], np.corrcoef(x, z)[0, 1]))
    columns = ("effective_mean", "norm_mean", "effective_deviation", "norm_deviation")
    return {
        n: dict(zip(columns, [*np.mean(pairs, 0), *np.std(pairs, 0)], strict=True)) | {"maps": len(pairs)}
        for n, pairs in found.items()
    }
