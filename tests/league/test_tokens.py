"""Taking one token's vector away is what a hand-written model does with one weight set to 0, one at a time."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr

import headscope
from headscope.cli.league import league as command
from headscope.league import tokens
from headscope.league.tokens import OF_HEAD, OF_LAYER, token_pairs, tokens_table
from headscope.progress import Silent
from tests.lens import textbook_forward
from tests.lens.language_models import documents, lens_for
from tests.statistics.tester import lens_for as lens_without_words

ROWS = 50


def by_loop(lens: headscope.Lens, family: str, row: dict, inputs: dict, monkeypatch: pytest.MonkeyPatch) -> torch.Tensor:
    """The output with one weight of a layer's head, or of all its heads, set to 0; whatever else the softmax made stays."""
    calls = []

    def weigh(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        key, value = (some.repeat_interleave(query.shape[1] // some.shape[1], 1) for some in (key, value))
        scores = query @ key.mT * query.shape[-1] ** -0.5
        weights = scores.masked_fill(~mask[:, None], -1e9).softmax(-1)
        if len(calls) == row["layer"]:
            heads = slice(None) if row["of"] == "layer" else row["head"]
            weights[0, heads, row["row"], row["key"]] = 0
        calls.append(1)
        return (weights @ value).transpose(1, 2)

    with monkeypatch.context() as patched, torch.no_grad():
        patched.setattr(textbook_forward, "weigh", weigh)
        return textbook_forward.FORWARD[family](lens.model, inputs, lambda *given: given[-1])[0].double()


@pytest.mark.parametrize("family", ["gpt2", "llama", "bert"])
def test_fifty_rows_a_layer_are_those_of_a_plain_loop(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lens = lens_without_words("bert") if family == "bert" else lens_for(family)
    some = [*documents(family)] * 3  # drawn without replacement: enough rows that see three tokens
    pairs = token_pairs(lens, some, ROWS)
    rows = pairs.drop_duplicates(["layer", "of", "text", "row"]).groupby(["layer", "of"]).size()
    seen = {"bert": 3, "gpt2": 3, "llama": 3}[family]
    assert len(rows) == 2 * seen
    assert (rows == rows.iloc[0]).all()
    assert rows.iloc[0] == ROWS
    clean = {}
    for place, document in enumerate(some):
        inputs = lens.encoder.batch([document]).inputs
        with torch.no_grad():
            clean[place] = inputs, textbook_forward.FORWARD[family](lens.model, inputs, lambda *given: given[-1])[0].double()
    for row in pairs.sample(min(len(pairs), 400), random_state=0).to_dict("records"):
        inputs, whole = clean[row["text"]]
        other = by_loop(lens, family, row, inputs, monkeypatch)
        if family == "bert":
            expected = float((1 - torch.nn.functional.cosine_similarity(whole, other, dim=-1)).sum())
        else:
            before, after = whole.log_softmax(-1)[:-1], other.log_softmax(-1)[:-1]
            expected = float((before.exp() * (before - after)).sum())
        assert row["effect"] == pytest.approx(expected, abs=2e-5, rel=2e-3)
    assert pairs["effect"].max() > 1e-3


@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
def test_the_table_is_scipys_of_the_pairs() -> None:
    pairs = token_pairs(lens_for("gpt2"), documents("gpt2"), 6)
    table = tokens_table(pairs)
    for row in table[table["layer"].notna()].to_dict("records"):
        here = pairs[(pairs["layer"] == row["layer"]) & (pairs["of"] == row["of"])]
        rhos = [spearmanr(some[row["measure"]], some["effect"]).statistic for _, some in here.groupby(["text", "row"])]
        assert 4 <= row["rows"] == np.isfinite(rhos).sum() <= 6, "in the last layer, the last row changes no prediction"
        assert row["rho"] == pytest.approx(np.nanmean(rhos), abs=1e-9)
        assert row["rho_low"] <= row["rho"] <= row["rho_high"] or row["texts"] < 4
    together = table[table["layer"].isna()]
    assert set(together.loc[together["of"] == "head", "measure"]) == set(OF_HEAD)
    assert set(together.loc[together["of"] == "layer", "measure"]) == set(OF_LAYER)
    layers = table[table["layer"].notna()]
    for row in together.to_dict("records"):
        some = layers[(layers["of"] == row["of"]) & (layers["measure"] == row["measure"])]
        assert row["rho"] == pytest.approx(np.average(some["rho"], weights=some["rows"]))


def test_a_translator_has_its_cross_attention() -> None:
    pairs = token_pairs(lens_for("marian"), documents("marian"), 3)
    assert set(pairs["stack"] + " " + pairs["kind"]) == {"encoder self", "decoder self", "decoder cross"}
    own = pairs[(pairs["stack"] == "decoder") & (pairs["kind"] == "self")]
    assert (own["key"] <= own["row"]).all()


def test_a_run_keeps_them(tmp_path: Path) -> None:
    run = headscope.league(
        lens_for("gpt2"), documents("gpt2"), how="zero", curves=False, tokens=2, curve_texts=3, out=tmp_path / "run"
    )
    assert set(run["league_token_pairs"]["text"]) <= {0, 1, 2}
    pd.testing.assert_frame_equal(run["league_tokens"], tokens_table(run["league_token_pairs"]))


def test_one_that_was_killed_goes_on_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"how": "zero", "curves": False, "tokens": 4}
    lens, some = lens_for("gpt2"), [*documents("gpt2")] * 2
    headscope.league(lens, some, out=tmp_path / "whole", **settings)
    begun: list[int] = []
    count = tokens._frames

    def killed(one: tokens.Sampled, ablation: Any) -> Any:
        begun.append(one.text)
        if len(set(begun)) == 3:
            raise KeyboardInterrupt
        return count(one, ablation)

    monkeypatch.setattr(tokens, "_frames", killed)
    with pytest.raises(KeyboardInterrupt):
        headscope.league(lens, some, out=tmp_path / "killed", **settings)
    done = {*begun} - {begun[-1]}
    assert len(done) == 2
    monkeypatch.setattr(tokens, "_frames", lambda one, ablation: begun.append(one.text) or count(one, ablation))
    begun.clear()
    headscope.league(lens, some, out=tmp_path / "killed", **settings)
    assert begun
    assert not done & {*begun}, "texts that are done are not counted again"
    for name in ("league_tokens", "league_token_pairs"):
        whole, again = (tmp_path / run / "tables" / f"{name}.parquet" for run in ("whole", "killed"))
        assert again.read_bytes() == whole.read_bytes(), name


def test_its_cost_is_said_first(tmp_path: Path) -> None:
    said: list[str] = []

    class Said(Silent):
        def say(self, text: str) -> None:
            said.append(text)

    given: dict[str, Any] = {"how": "zero", "curves": False, "tokens": 2}
    headscope.league(lens_for("gpt2"), documents("gpt2"), out=tmp_path / "run", progress=Said(), **given)
    assert "for single tokens" in said[0]


def test_the_command_and_python_have_one_shard_size() -> None:
    by_command = inspect.signature(command).parameters["shard_size"].default
    assert by_command == inspect.signature(headscope.league).parameters["shard_size"].default
