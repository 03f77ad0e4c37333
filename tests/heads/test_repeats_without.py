"""What repeated tokens cost without a head: by hand-edited weights, and in a model whose induction head is planted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import headscope
from headscope.heads.repeats_without import NAME, add_repeats_without, is_confirmed, repeats_without
from headscope.lens import Lens
from headscope.lens.head import Head
from headscope.study.run import Run
from tests.heads.samples import repeats
from tests.lens.language_models import lens_for, tokenizer_for
from tests.planted_heads import planted_model, planted_tokenizer
from tests.report.samples import made_run
from tests.tiny import tiny

SETTINGS: dict[str, Any] = {"sequences": 3, "length": 7, "seed": 5}


def test_an_effect_is_that_of_a_model_with_the_heads_mean_in_its_bias() -> None:
    """W_O's rows of the head are zero, and its bias has the head's mean times them: no hook changes anything."""
    found = repeats_without(lens_for("gpt2"), [1], **SETTINGS).set_index("head")
    seen: list[torch.Tensor] = []
    with headscope.open(tiny("gpt2"), tokenizer_for("gpt2")) as lens:
        assert list(found.index) == list(range(lens.sites[1].heads))
        ids = sequences_read(lens)
    model: Any = tiny("gpt2")
    projection = model.transformer.h[1].attn.c_proj
    handle = projection.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    whole = second_half(model, ids)
    handle.remove()
    size = projection.weight.shape[0] // len(found)
    for head, row in found.iterrows():
        model = tiny("gpt2")
        projection = model.transformer.h[1].attn.c_proj
        part = slice(int(str(head)) * size, (int(str(head)) + 1) * size)
        with torch.no_grad():
            mean = seen[0].double().mean((0, 1))[part].float()
            projection.bias += mean @ projection.weight[part]
            projection.weight[part] = 0
        effects = second_half(model, ids) - whole
        assert row["loss"] == pytest.approx(effects.mean(), abs=2e-5)
        wide = 4.30265 * effects.std(ddof=1) / np.sqrt(3)  # Student's t of two degrees of freedom
        assert (row["loss_low"], row["loss_high"]) == pytest.approx((effects.mean() - wide, effects.mean() + wide), abs=1e-4)
        others = found["loss"].drop(head)
        assert (row["others"], row["others_deviation"]) == pytest.approx((others.mean(), others.std(ddof=0)))
    assert found["loss"].abs().max() > 1e-3


def sequences_read(lens: Lens) -> torch.Tensor:
    """The ids that the model is given, seen from outside."""
    seen: list[torch.Tensor] = []
    handle = lens.model.register_forward_pre_hook(lambda _, given, named: seen.append(named["input_ids"]), with_kwargs=True)
    repeats_without(lens, [], **SETTINGS)
    handle.remove()
    (ids,) = seen
    first, length = ids.shape[1] - 2 * SETTINGS["length"], SETTINGS["length"]
    assert torch.equal(ids[:, first : first + length], ids[:, first + length :])
    assert all(len(set(row)) == length for row in ids[:, first + length :].tolist())
    return ids


def second_half(model: Any, ids: torch.Tensor) -> np.ndarray:
    """(sequence,): -log p of all tokens of the second half but its first, one after another."""
    with torch.no_grad():
        shares = model(ids).logits.double().log_softmax(-1)
    places = range(ids.shape[1] - SETTINGS["length"] + 1, ids.shape[1])
    return np.array([-np.mean([float(shares[text, at - 1, ids[text, at]]) for at in places]) for text in range(len(ids))])


def test_the_planted_induction_head_is_confirmed_and_an_idle_one_changes_nothing() -> None:
    with headscope.open(planted_model(), planted_tokenizer()) as lens:
        table = repeats_without(lens, [0, 1], sequences=6, length=2)
    found = {Head.of(row).label: row for row in table.to_dict("records")}
    assert [label for label in found if is_confirmed(found[label]["loss_low"], found[label]["others"])] == ["0.0", "1.0"]
    for idle in ("0.1", "0.2", "0.3", "1.3"):
        assert found[idle]["loss"] == pytest.approx(0, abs=1e-6)
    assert found["1.0"]["loss"] > 0.1
    assert found["1.0"]["others"] < found["1.0"]["loss"]


def test_what_confirms() -> None:
    assert is_confirmed(0.1, 0.05)
    assert not is_confirmed(0.1, 0.2)
    assert not is_confirmed(-0.1, -0.2), "the loss must rise"


def test_only_layers_of_heads_that_are_named_for_it(tmp_path: Path) -> None:
    lens = lens_for("gpt2")
    heads = pd.concat([repeats(induction=0.5).assign(layer=1), repeats().assign(layer=0)], ignore_index=True)
    run = Run.open(made_run(tmp_path / "named", repeats=heads))
    add_repeats_without(lens, run, **SETTINGS)
    assert set(run[NAME]["layer"]) == {1}
    nobody = Run.open(made_run(tmp_path / "nobody", repeats=repeats()))
    add_repeats_without(lens, nobody, **SETTINGS)
    assert NAME not in nobody
    masked = Run.open(made_run(tmp_path / "masked", repeats=heads))
    add_repeats_without(lens_for("bert"), masked, **SETTINGS)
    assert NAME not in masked
