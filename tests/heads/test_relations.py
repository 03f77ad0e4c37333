"""The best head for every relation: by hand, on noise, and on a real model beside its random twin."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import headscope
from headscope.heads.relations import best_relation_heads, held_out_accuracy
from headscope.statistics import Relations
from headscope.statistics.words.relations import DIRECTIONS
from headscope.text import Corpus
from tests import places
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

PAGE = places.DOCS / "how-to" / "heads-as-classifiers.md"
DATA = places.DATA


def table_of(correct: dict[tuple[str, str], list[list[int]]], cases: dict[str, tuple[int, int]]) -> pd.DataFrame:
    """A `relations` table from counts: by relation and direction, for each head how many are right in either half."""
    rows = []
    for (relation, direction), heads in correct.items():
        first, second = cases[relation]
        for head, (one, other) in enumerate(heads):
            rows.append(
                {
                    "stack": "encoder",
                    "kind": "self",
                    "layer": 0,
                    "head": head,
                    "relation": relation,
                    "direction": direction,
                    "accuracy": (one + other) / (first + second),
                    "cases": first + second,
                    "visible": first + second,
                    "accuracy_half0": one / first if first else np.nan,
                    "accuracy_half1": other / second if second else np.nan,
                    "cases_half0": first,
                    "cases_half1": second,
                    "baseline": 0.25,
                    "baseline_held_out": 0.2,
                    "offset": -1,
                }
            )
    return pd.DataFrame(rows)


UP, DOWN = DIRECTIONS
SMALL = table_of(
    {
        ("det", UP): [[6, 1], [4, 8], [0, 5]],
        ("det", DOWN): [[9, 1], [2, 2], [0, 0]],
        ("obj", UP): [[20, 60], [1, 1], [1, 1]],
        ("obj", DOWN): [[1, 2], [15, 61], [1, 1]],
        ("rare", UP): [[0, 0], [3, 0], [0, 0]],
        ("rare", DOWN): [[0, 0], [0, 0], [0, 0]],
    },
    {"det": (10, 10), "obj": (20, 80), "rare": (3, 0)},
)


def test_best_heads_by_hand() -> None:
    best = best_relation_heads(SMALL).set_index(["relation", "direction"])
    assert list(best.index) == [("obj", UP), ("obj", DOWN), ("det", UP), ("det", DOWN), ("rare", UP), ("rare", DOWN)]
    det = best.loc[("det", UP)]
    assert (det["head"], det["accuracy"]) == (1, 0.6)
    # The first half chooses head 0, right in 1 of the second; the second chooses head 1, right in 4 of the first.
    assert det["held_out"] == pytest.approx(5 / 20)
    assert (det["baseline"], det["offset"], det["cases"]) == (0.25, -1, 20)
    assert best.loc[("obj", UP), "held_out"] == best.loc[("obj", UP), "accuracy"] == 0.8
    assert np.isnan(best.loc[("rare", UP), "held_out"]), "no half chooses for an empty one"
    assert best["better"].to_dict() == {
        ("obj", UP): True,
        ("obj", DOWN): False,
        ("det", UP): True,
        ("det", DOWN): False,
        ("rare", UP): True,
        ("rare", DOWN): False,
    }


def test_the_direction_is_chosen_with_the_head() -> None:
    best = best_relation_heads(SMALL, either_direction=True).set_index("relation")
    assert list(best["direction"]) == [UP, UP, UP]
    assert list(best["head"]) == [0, 1, 1]
    # The first half chooses head 0 downwards (9 of 10; 1 of the second), the second head 1 upwards (4 of the first).
    assert best.loc["det", "held_out"] == pytest.approx(5 / 20)
    # Likewise up by the first half of obj (60 of the second), down by the second (15 of the first).
    assert best.loc["obj", "held_out"] == pytest.approx(75 / 100)
    assert "better" not in best


def test_luck_does_not_survive_the_other_half() -> None:
    """144 heads that guess right with probability 0.2 on 40 cases: the best of them looks good, and is not."""
    random = np.random.default_rng(0)
    chosen, held_out = [], []
    for _ in range(200):
        right = random.binomial(20, 0.2, size=(2, 144)) / 20
        chosen.append(right.mean(0).max())
        held_out.append(held_out_accuracy(right, np.array([20, 20])))
    assert np.mean(chosen) > 0.34
    assert np.mean(held_out) == pytest.approx(0.2, abs=0.01)


def test_intervals_are_kept_and_empty_relations_left_out() -> None:
    with_intervals = SMALL.assign(accuracy_low=SMALL["accuracy"] - 0.1, accuracy_high=SMALL["accuracy"] + 0.1)
    best = best_relation_heads(with_intervals)
    np.testing.assert_allclose(best["accuracy_low"], best["accuracy"] - 0.1)
    empty = table_of({("det", UP): [[0, 0]]}, {"det": (1, 0)}).assign(cases=0, accuracy=np.nan)
    assert best_relation_heads(empty).empty


def test_the_page_works_when_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["the\t2\tdet", "cat\t3\tnsubj", "sat\t0\troot", "on\t6\tcase", "the\t6\tdet", "mat\t3\tobl"]
    sentence = [row.split("\t") for row in rows]
    lines = [f"{i}\t{w}\t_\t_\t_\t_\t{h}\t{r}\t_\t_" for i, (w, h, r) in enumerate(sentence, 1)]
    (tmp_path / "treebank.conllu").write_text("\n".join(lines) + "\n\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(headscope, "open", lambda *_: headscope.lens.open(tiny("bert"), tiny_tokenizer("wordpiece")))
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    printed = capsys.readouterr().out
    assert "all but punct" in printed
    assert "paper: dobj -> None" in printed
    assert "paper: pobj -> Found(name='case', ends='reversed'" in printed


@pytest.mark.real
@pytest.mark.slow
def test_a_trained_model_beats_its_random_twin(minilm: Path) -> None:
    file = DATA / "treebank" / "en_ewt-ud-dev.conllu"
    if not file.is_file():
        pytest.skip(f"the treebank {file} is not here: name its folder with HEADSCOPE_DATA")
    documents = [document for document in Corpus.of(file) if len(document.words) > 8][:150]
    best = {}
    for name, seed in (("trained", None), ("random", 0)):
        with headscope.open(minilm, random_init=seed) as lens:
            table = headscope.study(lens, documents, [Relations()], batch_size=32)["relations"]
        best[name] = best_relation_heads(table, either_direction=True).set_index("relation")
    for relation in ("det", "obj", "case", "nsubj"):
        trained, untrained = best["trained"].loc[relation], best["random"].loc[relation]
        assert trained["held_out"] > trained["baseline"] + 0.1, relation
        assert trained["held_out"] > untrained["accuracy"] + 0.15, relation
        assert trained["cases"] == untrained["cases"]
        assert trained["baseline"] == untrained["baseline"]
