"""Section 4 and appendix G of kobayashi2020 on 20 real sequences of MiniLM: every quantity equals that of full tensors."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr
from torch import Tensor
from transformers import AutoModel

import headscope
from headscope.statistics import CategoryWeights, Dispersion, EffectiveByLength, Frequency, FrequencyCurve, InputDispersion
from headscope.statistics.base import Statistic
from headscope.statistics.kit.categories import USUAL
from headscope.statistics.norms.category_weights import layer_means
from headscope.text import Document
from tests.conftest import SHARED
from tests.statistics.norms.appendix_d import bert_category, spread
from tests.textbook import Textbook, textbook

pytestmark = [pytest.mark.real, pytest.mark.slow]

DATA = Path(os.environ.get("HEADSCOPE_DATA", SHARED / "data"))
TEXTS = 20


@dataclass
class Text:
    """One sequence: its tokens, and every layer's input vectors (layer, key, d_model) and full tensors."""

    ids: list[int]
    categories: np.ndarray
    inputs: Tensor
    layers: list[Textbook]
    _received: dict[str, Tensor] = field(default_factory=dict)

    def members(self, category: str) -> Tensor:
        return torch.from_numpy(self.categories == category)

    def received(self, measure: str) -> Tensor:
        """Weight(p, q), WNorm(p, q) or that of all heads together: the mean over rows of full maps, (layer, head, key)."""
        if measure not in self._received:
            self._received[measure] = torch.stack([getattr(layer, measure).double().mean(1) for layer in self.layers])
        return self._received[measure]


@dataclass
class Measured:
    tables: dict[str, pd.DataFrame]
    texts: list[Text]
    counts: dict[int, tuple[int, int]]  # rank and count, by id


def needed(*parts: str) -> Path:
    path = DATA.joinpath(*parts)
    if not path.is_file():
        pytest.skip(f"../shared/data/{'/'.join(parts)} is not here")
    return path


@pytest.fixture(scope="module")
def measured(minilm: Path) -> Measured:
    """All statistics in one pass with padding and blocks of 7 rows; texts of 17 to 55 tokens, around the 32 of a head.

    None has exactly 32: there T is square and some heads' T is nearly singular, so that the effective attention of the
    direction in question is a matter of the threshold alone.
    """
    frequency = needed("frequency", "bert-uncased-rank-count-id.txt")
    lines = needed("text", "wikitext2-raw-test.txt").read_text(encoding="utf-8").splitlines()
    documents = [Document(line.strip()) for line in lines if len(line) > 400][:TEXTS]
    statistics: list[Statistic] = [
        *(
            Dispersion(),
            InputDispersion(),
            CategoryWeights(),
            CategoryWeights(measure="joint_norm"),
            EffectiveByLength(every=1),
        ),
        *(Frequency(path=str(frequency)), FrequencyCurve(path=str(frequency))),
    ]
    with headscope.open(minilm) as lens:
        made = [one.start(lens.sites) for one in statistics]
        encoded = [
            lens.encoder.encode(text, max_tokens=17 + 2 * place, truncate=True) for place, text in enumerate(documents)
        ]
        for start in range(0, TEXTS, 6):
            batch = lens.encoder.collate(encoded[start : start + 6])
            lens.run(batch, lambda block: [one.update(block) for one in made], rows=7)
    model = AutoModel.from_pretrained(minilm).eval()
    texts = []
    for sequence in (item.source for item in encoded):
        ids = torch.tensor(sequence.ids)
        layers = textbook("bert", model, ids)
        with torch.no_grad():
            states = model(ids[None], output_hidden_states=True).hidden_states[:-1]
        categories = np.array([bert_category(token) for token in sequence.tokens])
        texts.append(Text(sequence.ids, categories, torch.cat(states), layers))
    rows = (map(int, line.split()) for line in frequency.read_text().splitlines())
    counts = {id: (rank, count) for rank, count, id in rows}
    assert {category for text in texts for category in text.categories} == set(USUAL)
    return Measured({one.table_name: one.table() for one in made}, texts, counts)


def close(found: object, expected: object, rtol: float = 1e-4) -> None:
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-6)


def test_dispersion(measured: Measured) -> None:
    for row in measured.tables["dispersion"].to_dict("records"):
        norms = [text.layers[row["layer"]].transformed[row["head"]].norm(dim=-1) for text in measured.texts]
        expected = spread(torch.cat(norms).double().tolist())
        close([row[name] for name in expected], list(expected.values()))


def test_input_dispersion(measured: Measured) -> None:
    table = measured.tables["input_dispersion"]
    assert len(table) == 6
    for layer, row in enumerate(table.to_dict("records")):
        expected = spread(torch.cat([text.inputs[layer].norm(dim=-1) for text in measured.texts]).double().tolist())
        close([row[name] for name in expected], list(expected.values()))


def by_category(texts: list[Text], category: str) -> dict[str, np.ndarray]:
    """HeadW, HeadWN, HeadN (layer, head), and the same as HeadWN for the heads together (layer, 1)."""
    weights, norms, joint, value_norms = [], [], [], []
    for text in texts:
        members = text.members(category)
        weights.append(text.received("weight")[..., members].sum(-1))
        norms.append(text.received("norm")[..., members].sum(-1))
        joint.append(text.received("joint_norm")[..., members].sum(-1))
        if members.any():
            value_norms.append(torch.stack([layer.value_norm[:, members].mean(-1) for layer in text.layers]))
    found = {"weight": weights, "norm": norms, "joint": joint, "value_norm": value_norms}
    return {name: torch.stack(each).double().mean(0).numpy() for name, each in found.items()}


def test_category_weights(measured: Measured) -> None:
    expected = {name: by_category(measured.texts, name) for name in USUAL}
    table, joint = measured.tables["category_weights"], measured.tables["category_weights_joint_norm"]
    layers = layer_means(table)
    for name, of_category in expected.items():
        for part in ("weight", "norm", "value_norm"):
            close(table[f"{part}_{name}"].to_numpy().reshape(6, 12), of_category[part])
            close(layers[f"{part}_{name}"], of_category[part].mean(1))  # LayerW, LayerWN
        close(joint[f"norm_{name}"], of_category["joint"][:, 0])
        for found, part in ((table, "norm"), (joint, "joint")):
            whole = sum(other[part] for other in expected.values())
            close(found[f"share_norm_{name}"], (of_category[part] / whole).ravel())
        assert (table[f"texts_{name}"] == sum(bool(text.members(name).any()) for text in measured.texts)).all()
    assert (table["texts"] == TEXTS).all()


def tokens_of(measured: Measured) -> pd.DataFrame:
    """Every token that has a rank, with AvgW and AvgN."""
    rows = []
    for text in measured.texts:
        weights = text.received("weight").mean((0, 1))
        norms = torch.stack([layer.value_norm for layer in text.layers]).double().mean((0, 1))
        for place, id in enumerate(text.ids):
            if id in measured.counts:
                rows.append((*measured.counts[id], text.categories[place], float(weights[place]), float(norms[place])))
    return pd.DataFrame(rows, columns=["rank", "count", "category", "weight", "norm"])


def test_frequency(measured: Measured) -> None:
    tokens = tokens_of(measured)
    table = measured.tables["frequency"].set_index("which")
    for which, chosen in (("all", tokens), ("without_special", tokens[tokens["category"] == "other"])):
        row = table.loc[which]
        assert row["tokens"] == len(chosen)
        for average in ("weight", "norm"):
            exact = spearmanr(chosen["rank"], chosen[average]).statistic
            assert row[f"spearman_rank_{average}"] == pytest.approx(exact, abs=1e-4)


def test_frequency_curve(measured: Measured) -> None:
    tokens, table = tokens_of(measured), measured.tables["frequency_curve"]
    assert table["tokens"].sum() == len(tokens)
    for row in table.to_dict("records"):
        some = tokens[tokens["rank"].between(row["rank_low"], row["rank_high"])]
        close([row["tokens"], row["count_mean"]], [len(some), some["count"].mean()])
        close([row["weight_mean"], row["norm_mean"]], [some["weight"].mean(), some["norm"].mean()])
        close([row["weight_deviation"], row["norm_deviation"]], [some["weight"].std(ddof=0), some["norm"].std(ddof=0)], 1e-3)


def test_by_length(measured: Measured) -> None:
    found = defaultdict(list)
    for text in measured.texts:
        for layer in text.layers:
            for alpha, effective, norm in zip(layer.weight, layer.effective, layer.norm, strict=True):
                x, y, z = (scores.double().flatten().numpy() for scores in (alpha, effective, norm))
                found[len(text.ids)].append((np.corrcoef(x, y)[0, 1], np.corrcoef(x, z)[0, 1]))
    table = measured.tables["effective_by_length"].set_index("length")
    assert sorted(found) == table.index.tolist()
    for length, correlations in found.items():
        row = table.loc[length]
        assert row["maps"] == len(correlations)
        np.testing.assert_allclose(row[["effective_mean", "norm_mean"]].astype(float), np.mean(correlations, 0), atol=1e-5)
        deviations = row[["effective_deviation", "norm_deviation"]].astype(float)
        np.testing.assert_allclose(deviations, np.std(correlations, 0), atol=1e-5)
    # Heads of 32 dimensions: nothing is lost of texts that are no longer (figure 25a).
    assert table.loc[:32, "effective_mean"].min() > 0.99999
    assert table.loc[41:, "effective_mean"].max() < 0.999
