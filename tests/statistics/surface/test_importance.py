"""Importance: by hand, against loops over the model's own gradients, and in a study that is interrupted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import headscope
from headscope.errors import HeadscopeError, InputError
from headscope.lens.tokens.losses import own_loss
from headscope.lens.watching.gradients import GradientBlock
from headscope.statistics import Entropy, Importance
from headscope.study.study import Run
from tests.lens.language_models import TEXTS, documents, language_model, lens_for, own_gradients, tokenizer_for
from tests.statistics.tester import block_by_hand, columns_by_hand, counted
from tests.test_docs import blocks as blocks_of_page
from tests.tiny import tiny

# By hand

TOKENS = ["[CLS]", "cat", ".", "##s", ",", "[SEP]"]
SPECIAL = [True, False, False, False, False, True]


def gradient_block(gradients: list[list[float]], weights: list[list[float]], masked: list[bool] | None) -> GradientBlock:
    plain = block_by_hand(weights, TOKENS, SPECIAL)
    return GradientBlock(
        plain.site,
        plain.rows,
        plain.weights,
        None,
        plain.key_side,
        plain.batch,
        gradients=torch.tensor(gradients)[None, None],
        masked=None if masked is None else torch.tensor([masked]),
    )


def test_by_hand() -> None:
    """Two rows; the second does not see [SEP]; the period is masked, and so is none of its kind any more."""
    weights = [[0.1, 0.2, 0.3, 0.2, 0.1, 0.1], [0.2, 0.2, 0.2, 0.2, 0.2, 0.0]]
    gradients = [[1.0, -2.0, 3.0, -4.0, 5.0, -6.0], [-1.0, 4.0, 7.0, 2.0, -9.0, 100.0]]
    block = gradient_block(gradients, weights, masked=[False, False, True, False, False, False])
    sums = {
        "[CLS]": (2.0, 2),
        "[SEP]": (6.0, 1),
        "punctuation": (14.0, 2),  # the comma
        "other": (12.0, 4),  # cat, ##s
        "unmasked": (34.0, 9),
        "masked": (10.0, 2),
        "first_token": (2.0, 2),
    }
    by_pair = {name: pytest.approx(size / pairs) for name, (size, pairs) in sums.items()}
    by_row = {f"{name}_per_row": pytest.approx(size / 2) for name, (size, _) in sums.items()}
    assert columns_by_hand(Importance(), block) == by_pair | by_row


def test_without_masks_there_is_no_such_column() -> None:
    block = gradient_block([[1.0] * 6], [[1 / 6] * 6], masked=None)
    columns = columns_by_hand(Importance(), block)
    assert "masked" not in columns
    assert columns["punctuation"] == columns["unmasked"] == 1
    assert (columns["unmasked_per_row"], columns["punctuation_per_row"]) == (6, 2)


# Against loops


def kinds_of(token: str, special: bool, position: int, masked: bool) -> list[str]:
    if masked:
        return ["masked"]
    mark = token.removeprefix("Ġ").removeprefix("##")
    kind = token if special else "punctuation" if mark == "." or mark == "," else "other"
    return [kind, "unmasked", *(["first_token"] if position == 0 else [])]


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_against_loops_over_the_models_own_gradients(family: str) -> None:
    """One text at a time, pair by pair, from transformers and autograd alone."""
    lens, model = lens_for(family), language_model(family)
    sizes: dict[tuple[int, int, str], float] = {}
    pairs: dict[tuple[int, int, str], int] = {}
    rows = 0
    for document in documents(family):
        batch = lens.encoder.batch([document])
        task = own_loss(lens).prepare(batch)
        (source,) = batch.sources
        rows += len(source)
        for layer, (_, gradients) in enumerate(own_gradients(model, task)[None]):
            for head in range(4):
                for query in range(len(source)):
                    for key in range(len(source) if family == "bert" else query + 1):
                        masked = task.masked is not None and bool(task.masked[0, key])
                        for kind in kinds_of(source.tokens[key], source.special[key], key, masked):
                            at = (layer, head, kind)
                            sizes[at] = sizes.get(at, 0.0) + abs(float(gradients[0, head, query, key]))
                            pairs[at] = pairs.get(at, 0) + 1
    table = counted(Importance(), family, documents(family), batch_size=3, rows=4).table().set_index(["layer", "head"])
    assert {kind for _, _, kind in sizes} == {name for name in table if f"{name}_per_row" in table}
    assert {"punctuation", "other"} < {kind for _, _, kind in sizes}
    for (layer, head, kind), size in sizes.items():
        assert table.loc[(layer, head), kind] == pytest.approx(size / pairs[layer, head, kind], rel=1e-3)
        assert table.loc[(layer, head), f"{kind}_per_row"] == pytest.approx(size / rows, rel=1e-3)


# What its columns come to


@pytest.mark.parametrize("family", ["bert", "gpt2", "marian"])
def test_every_pair_is_of_one_kind(family: str) -> None:
    """`unmasked` is the special tokens, punctuation and the others; with `masked` it is all that is seen."""
    state = counted(Importance(), family, documents(family)).state
    for field in ("size", "pairs"):
        apart = [
            name for name in state if name.startswith(field) and name.split()[1] not in ("unmasked", "masked", "first_token")
        ]
        np.testing.assert_allclose(sum(state[name] for name in apart), state[f"{field} unmasked"], rtol=1e-6)
    if family == "bert":
        lengths = [len(source) for source in lens_for("bert").encoder.batch(documents("bert")).sources]
        np.testing.assert_array_equal(state["pairs unmasked"] + state["pairs masked"], sum(n * n for n in lengths))
    if family == "gpt2":
        lengths = [len(source) for source in lens_for("gpt2").encoder.batch(documents("gpt2")).sources]
        np.testing.assert_array_equal(state["pairs unmasked"], sum(n * (n + 1) // 2 for n in lengths))


def test_another_seed_is_another_statistic() -> None:
    one, other = counted(Importance(), "bert", documents("bert")), counted(Importance(seed=1), "bert", documents("bert"))
    assert not np.allclose(one.state["size masked"], other.state["size masked"])
    with pytest.raises(InputError, match="cannot be merged"):
        one.merge(other)


# In a study


def test_a_study_in_shards_and_one_that_goes_on(tmp_path: Path) -> None:
    """Beside statistics of the forward pass; a shard that is lost is counted again, to the same bytes."""
    lens = lens_for("bert")
    chosen = ["importance", Entropy()]

    def study(folder: str, **options: int) -> Run:
        return headscope.study(lens, TEXTS * 2, chosen, out=tmp_path / folder, **options)

    run = study("run", shard_size=3, batch_size=2)
    table = (run.folder / "tables" / "importance.parquet").read_bytes()
    shards = sorted((run.folder / "shards").iterdir())
    assert len(shards) == 4
    shards[1].unlink()
    again = study("run", shard_size=3, batch_size=2)
    assert (again.folder / "tables" / "importance.parquet").read_bytes() == table
    other = study("other", shard_size=100, batch_size=7)
    names = [name for name in other["importance"] if not name.endswith(("_low", "_high"))]
    np.testing.assert_allclose(
        again["importance"][names[4:]].to_numpy(float), other["importance"][names[4:]].to_numpy(float), rtol=1e-4
    )
    assert again["importance"]["other_low"].le(again["importance"]["other"]).all()
    assert list(run["entropy"].columns) == list(headscope.study(lens, TEXTS, ["entropy"])["entropy"].columns)
    assert run.manifest["settings"]["statistics"]["importance"]["seed"] == 0


def test_a_study_of_a_model_without_a_head_says_so() -> None:
    with (
        headscope.open(tiny("bert"), tokenizer_for("bert")) as lens,
        pytest.raises(HeadscopeError, match="no language-model head"),
    ):
        headscope.study(lens, TEXTS, ["importance"])


# What it cannot do


def test_it_has_no_other_measure_or_level() -> None:
    with pytest.raises(InputError, match="takes no measure 'norm'"):
        Importance(measure="norm")
    with pytest.raises(InputError, match="counts in tokens, not in words"):
        Importance(level="word")
    with pytest.raises(InputError, match="seed=0 or more"):
        Importance(seed=-1)


def test_blocks_without_gradients_are_refused() -> None:
    lens = lens_for("gpt2")
    fresh = Importance().start(lens.sites)
    with pytest.raises(InputError, match="needs gradients"):
        lens.run(lens.encoder.batch(["the cat"]), fresh.update)


# The page in the docs


def test_what_the_page_says_to_paste(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wiki.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(headscope, "open", lambda name: headscope.lens.open(language_model("bert"), tokenizer_for("bert")))
    for code in blocks_of_page("docs/how-to/gradient-importance.md", "python"):
        exec(code, {})
    printed = capsys.readouterr().out
    assert printed.split()[:3] == ["[SEP]", "punctuation", "unmasked"]
    sites = [line for line in printed.splitlines() if line.startswith("encoder self layer")]
    assert [line.split()[3] for line in sites] == ["2", "1", "0"]
