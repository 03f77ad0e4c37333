"""Repeated random sequences: on maps made by hand, against loops over a tiny model's own maps, and on a real decoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import headscope
from headscope.errors import InputError
from headscope.study import repeats as module
from headscope.study.repeats import Frame, add_repeats, given_to, offsets, repeats
from tests.statistics.tester import lens_for
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

LENGTH = 3


def perfect(offset: int, size: int = 7) -> torch.Tensor:
    """(1, 1, row, key): each row gives everything to the key `offset` places from its own, if there is one."""
    return torch.diag_embed(torch.ones(size - abs(offset)), offset)[None, None]


@pytest.mark.parametrize("looks_at", offsets(LENGTH))
def test_a_head_made_by_hand_is_found_at_its_own_place_alone(looks_at: str) -> None:
    """A begin token, three tokens, the same three again: rows 4, 5 and 6 are asked."""
    scores = perfect(offsets(LENGTH)[looks_at])
    for place, offset in offsets(LENGTH).items():
        found = given_to(scores, range(7), range(4, 7), offset)
        assert found.tolist() == [3.0 if place == looks_at else 0.0]


def test_places_of_the_second_half_by_hand() -> None:
    """The fifth of seven tokens is the second one again: its duplicate is 1, what came after that is 2."""
    scores = torch.zeros(1, 1, 7, 7)
    scores[0, 0, 4, 1], scores[0, 0, 4, 2], scores[0, 0, 4, 3] = 0.5, 0.3, 0.2
    found = {place: float(given_to(scores, range(7), range(4, 7), offset)) for place, offset in offsets(LENGTH).items()}
    assert found == pytest.approx({"duplicate": 0.5, "induction": 0.3, "previous": 0.2})


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_blocks_of_rows_add_up(rows: int) -> None:
    scores = torch.rand(2, 3, 7, 7)
    for offset in offsets(LENGTH).values():
        whole = given_to(scores, range(7), range(4, 7), offset)
        parts = [
            given_to(scores[:, :, start : start + rows], range(start, min(start + rows, 7)), range(4, 7), offset)
            for start in range(0, 7, rows)
        ]
        torch.testing.assert_close(sum(parts), whole)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "marian"])
def test_against_loops_over_the_models_own_maps(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lens = lens_for(family)
    monkeypatch.setattr(module, "BATCH", 2)
    table = (
        repeats(lens, sequences=3, length=8, seed=4) if family != "bert" else repeats(lens, sequences=3, length=7, seed=4)
    )
    length = 7 if family == "bert" else 8
    frame = Frame.of(lens)
    random = np.random.default_rng(4)
    drawn = np.stack([random.choice(frame.ordinary, 2 * length, replace=False) for _ in range(3)])
    twice = np.concatenate([drawn[:, :length]] * 2, axis=1)
    blocks: list = []
    lens.run(frame.batch(lens, twice), blocks.append, rows=99)
    expected = []
    for block in [block for block in blocks if block.site.kind == "self"]:
        target = family == "marian" and block.site.stack == "decoder"
        first = len(frame.target_before if target else frame.before)
        norms = block.scores("norm")
        for head in range(block.site.heads):
            found = dict.fromkeys(("previous", "duplicate", "induction", "induction_norm", "all_norm", "chance"), 0.0)
            for text in range(3):
                for row in range(first + length, first + 2 * length):
                    weights = block.weights[text, head, row]
                    found["previous"] += float(weights[row - 1])
                    found["duplicate"] += float(weights[row - length])
                    found["induction"] += float(weights[row - length + 1])
                    found["induction_norm"] += float(norms[text, head, row, row - length + 1])
                    found["all_norm"] += float(norms[text, head, row].sum())
                    found["chance"] += 1 / (row + 1 if block.site.stack == "decoder" else len(weights))
            rows = 3 * length
            shares = {name: found[name] / rows for name in ("previous", "duplicate", "induction", "chance")}
            expected.append({**shares, "induction_norm": found["induction_norm"] / found["all_norm"]})
    assert len(table) == len(expected)
    for name in expected[0]:
        np.testing.assert_allclose(table[name], [row[name] for row in expected], rtol=1e-4, err_msg=name)


def test_sinks_are_a_decoders_first_token_or_an_encoders_special_ones() -> None:
    llama, bert = Frame.of(lens_for("llama")), Frame.of(lens_for("bert"))
    assert (bert.before, bert.after) == ([2], [3])
    assert not {0, 1, 2, 3} & set(bert.ordinary.tolist())
    assert llama.after == [], "what ends a text is behind everything that is asked"
    table = repeats(lens_for("bert"), sequences=2, length=7)
    assert (table["sinks"] > 0).all()
    assert (table["sinks"] + table["duplicate"] < 1).all()


def test_the_same_seed_gives_the_same_table_and_another_one_does_not() -> None:
    lens = lens_for("llama")
    one, same, other = (repeats(lens, sequences=2, length=8, seed=seed) for seed in (0, 0, 1))
    assert one.equals(same)
    assert not one.equals(other)


def test_what_cannot_be_made_is_said() -> None:
    lens = lens_for("llama")
    with pytest.raises(InputError, match="ordinary tokens, too few for 200 different ones"):
        repeats(lens, length=100)
    with pytest.raises(InputError, match="at least two tokens"):
        repeats(lens, length=1)
    with (
        headscope.open(tiny("gpt2", n_positions=20), tiny_tokenizer("bpe")) as short,
        pytest.raises(InputError, match="reads 20: ask for fewer"),
    ):
        repeats(short, length=12)


def test_a_run_keeps_it_among_its_tables(tmp_path: Path) -> None:
    lens = lens_for("bert")
    run = headscope.study(lens, ["the cat sat", "a dog"], ["entropy"], out=tmp_path / "run")
    table = add_repeats(lens, run.folder, sequences=2, length=7)
    assert run.tables == ["entropy", "repeats"]
    np.testing.assert_allclose(run["repeats"]["induction"], table["induction"])
    with pytest.raises(InputError, match="is another model: open that one"):
        add_repeats(lens_for("llama"), run.folder, sequences=2, length=7)


@pytest.mark.slow
@pytest.mark.real
def test_smollm_has_induction_heads(smollm: Path) -> None:
    with headscope.open(smollm) as lens:
        table = repeats(lens, sequences=2, length=40)
    found = table[table["induction"] > 0.5].sort_values("induction", ascending=False)
    print(found[["layer", "head", "induction", "induction_norm", "induction_unrepeated"]].round(2).to_string(index=False))
    labels = [f"{layer}.{head}" for layer, head in zip(found["layer"], found["head"], strict=True)]
    assert "18.6" in labels[:3]
    assert (found["layer"] > 10).all(), "they need a previous-token head below them"
    assert (found["induction_unrepeated"] < 0.1).all()
    assert table["previous"].max() > 0.8
    assert table["duplicate"].max() > 0.5
