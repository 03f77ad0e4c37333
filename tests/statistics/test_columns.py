"""Every column that a run's tables have for a head has a title and an explanation."""

from __future__ import annotations

import pandas as pd
import pytest

from headscope.lens.head import HEAD
from headscope.statistics import STATISTICS
from headscope.statistics.columns import (
    SHARE,
    Column,
    card_place,
    column_about,
    column_title,
    describe,
    table_about,
    table_title,
)
from headscope.statistics.table_names import TableName, parse
from headscope.study import repeats
from tests.report.samples import SampleRun, every_run

# Sums and counts that stand beside the numbers, and whose names say enough.
COUNTS = ("total", "texts", "cases", "visible", "offset", "half", "document", "row", "key", "corpus")


@every_run
def test_every_number_of_a_head_is_explained(name: str, sample_run: SampleRun) -> None:
    run = sample_run(name)
    for table in run.by_head.one_row_a_head:
        if parse(table) is None:
            continue
        for column in run[table].columns:
            is_number = pd.api.types.is_numeric_dtype(run[table][column]) and column not in HEAD
            if is_number and not any(count in str(column) for count in COUNTS):
                assert describe(table, str(column)) is not None, (table, column)


@pytest.mark.parametrize(
    ("table", "parts"),
    [
        ("entropy", TableName("entropy")),
        ("entropy_ends_norm", TableName("entropy_ends", {"measure": "norm"})),
        ("offsets_joint_norm_words", TableName("offsets", {"measure": "joint_norm", "level": "word"})),
        ("distance_norm_without_first", TableName("distance", {"measure": "norm", "without_first": True})),
        ("relations_code", TableName("relations", {"variant": "code"})),
        ("category_weights_joint_norm", TableName("category_weights", {"measure": "joint_norm"})),
        ("repeats", TableName("repeats")),
        ("relations_norm_without_clitics", TableName("relations", {"measure": "norm", "clitics": False})),
        ("exemplars_readable", TableName("exemplars", rest="readable")),
        ("alignment_errors_norm_AWO", TableName("alignment_errors", {"measure": "norm", "setting": "AWO"})),
    ],
)
def test_names_of_tables(table: str, parts: TableName) -> None:
    assert parse(table) == parts


def test_titles_say_the_measure_and_the_level() -> None:
    assert column_title("beyond_sinks_norm_words", "previous") == "Previous token, share beyond sinks, by norm, in words"
    assert column_title("special_tokens", "[SEP]") == "[SEP], share of all attention"
    assert column_title("category_weights", "share_norm_separator") == "Norm from separators, share of all that it adds"
    assert column_title("offsets", "offset_-2") == "Offset -2, share of all attention"
    assert column_title("entropy", "entropy_low") == "Breadth of attention (entropy), lower end"
    assert column_title("repeats", "induction").startswith("Induction, share of all attention")
    assert column_title("clark2019_fig1", "first token") == "first token"
    assert table_title("entropy_norm") == "Entropy, by norm"
    assert table_title("clark2019_fig1") == "clark2019_fig1"


def test_a_share_says_of_what() -> None:
    """No title leaves a reader to guess the whole: a share is 'of' something or 'beyond' sinks."""
    statistics = [(name, {**vars(cls)}) for name, cls in STATISTICS.items()] + [(repeats.NAME, repeats.COLUMNS)]
    titles = {
        (name, key): column.title
        for name, columns in statistics
        for key, column in columns.items()
        if isinstance(column, Column) and column.unit == SHARE and column.of_heads
    }
    # A variability is a deviation, and the strongest link of a token a mean.
    others = {("variability", "variability"), ("maximum", "maximum")}
    assert others < set(titles)
    assert len(titles) > 25
    for place, title in titles.items():
        assert place in others or ", share of " in title or ", share beyond " in title, title


def test_what_is_not_known_has_no_explanation_and_labels_have_one() -> None:
    assert column_about("entropy", "nonsense") == ""
    assert column_about("clark2019_fig1", "layer") == "Layer, from 0."
    assert describe("special_tokens", "layer") is None
    assert table_about("entropy") == STATISTICS["entropy"].about
    assert table_about("clark2019_fig1") == ""


def test_units_follow_the_measure() -> None:
    weight, norm = describe("maximum", "maximum"), describe("maximum_norm", "maximum")
    assert weight is not None
    assert norm is not None
    assert (weight.unit, norm.unit) == ("share", "length")


def test_every_explanation_is_a_sentence() -> None:
    declared = {name: vars(cls) for name, cls in STATISTICS.items()} | {"repeats": repeats.COLUMNS}
    columns = [column for of_table in declared.values() for column in of_table.values() if isinstance(column, Column)]
    assert len(columns) > 60
    for column in columns:
        assert column.says.endswith(".")
        assert column.title[0].isupper()
        assert column.more


def test_the_order_of_a_card() -> None:
    tables = [
        "alignment_errors_AWI",
        "special_tokens",
        "entropy_norm",
        "repeats",
        "beyond_sinks",
        "clark2019_fig1",
        "distance",
    ]
    ordered = ["beyond_sinks", "entropy_norm", "distance", "repeats", "alignment_errors_AWI"]
    assert sorted(tables, key=card_place)[: len(ordered)] == ordered
