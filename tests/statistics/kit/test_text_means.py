"""Means of texts are the means of what each text has by itself, whatever the batches and rows of a study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import headscope
from headscope.errors import InputError
from headscope.statistics import Distance, Entropy, FirstToken, Maximum, Offsets, Separators, SpecialTokens, Statistic
from headscope.statistics.kit.text_means import Averaged
from headscope.statistics.table_names import parse
from tests.statistics.tester import counted, documents, lens_for

KINDS = [Distance, Entropy, FirstToken, Maximum, Offsets, Separators, SpecialTokens]


@pytest.mark.parametrize("family", ["bert", "llama"])
@pytest.mark.parametrize("cls", KINDS)
def test_means_of_texts_are_means_of_single_texts(cls: type[Averaged], family: str) -> None:
    texts = documents(family)
    alone = [counted(cls(), family, [text]).table().set_index(["stack", "kind", "layer", "head"]) for text in texts]
    found = counted(cls(means="texts"), family, texts, batch_size=1, rows=3)
    assert found.table_name == f"{cls.name}_of_texts"
    table = found.table().set_index(["stack", "kind", "layer", "head"])
    for column in table:
        expected = np.nanmean([one[column].to_numpy(dtype=float) for one in alone if column in one], axis=0)
        np.testing.assert_allclose(table[column].to_numpy(dtype=float), expected, rtol=1e-5, atol=1e-7, err_msg=column)


def test_long_texts_weigh_no_more_than_short_ones() -> None:
    texts = documents("bert")
    by_row, by_text = (counted(FirstToken(means=means), "bert", texts, batch_size=1) for means in ("rows", "texts"))
    assert np.abs(by_row.table()["first_token"] - by_text.table()["first_token"]).max() > 1e-4


def test_a_study_feeds_them_one_by_one_and_resamples_them(tmp_path: Path) -> None:
    chosen: list[Statistic] = [Entropy(means="texts"), Entropy()]
    run = headscope.study(lens_for("bert"), documents("bert"), chosen, out=tmp_path / "run", shard_size=1)
    expected = counted(Entropy(means="texts"), "bert", documents("bert"), batch_size=1).table()["entropy"]
    np.testing.assert_allclose(run["entropy_of_texts"]["entropy"], expected, rtol=1e-5)
    assert (run["entropy_of_texts"]["entropy_low"] < run["entropy_of_texts"]["entropy_high"]).all()
    plain = headscope.study(lens_for("bert"), documents("bert"), [Entropy()], out=tmp_path / "plain")
    np.testing.assert_allclose(run["entropy"]["entropy"], plain["entropy"]["entropy"], rtol=1e-5)


def test_several_texts_at_once_are_refused() -> None:
    with pytest.raises(InputError, match="one text at a time"):
        counted(Entropy(means="texts"), "bert", documents("bert"), batch_size=2)


def test_their_tables_are_known_by_name() -> None:
    name = parse("entropy_norm_without_first_of_texts")
    assert name is not None
    assert (name.settings["means"], name.rest) == ("texts", "")
    assert name.qualified.endswith("as means of texts")
