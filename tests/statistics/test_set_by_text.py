"""Settings of statistics as text: all that say what they are about, and errors of one sentence."""

from __future__ import annotations

from dataclasses import fields

import pytest

from headscope.errors import InputError
from headscope.statistics import STATISTICS, Statistic
from headscope.statistics.registry import rules_of
from headscope.statistics.set_by_text import FLAGS, all_said, said, statistic_settings


@pytest.mark.parametrize("name", sorted(STATISTICS))
def test_what_is_said_can_be_set(name: str) -> None:
    """NAME=USUAL of every setting, read again, is the usual value."""
    usual = {one.name: one.default for one in fields(STATISTICS[name])}
    for written, about in said(STATISTICS[name], FLAGS):
        assert about
        setting = written.partition("=")[0]
        assert statistic_settings([f"{name}.{written}"]) == {name: {setting: usual[setting]}}


def test_every_setting_with_rules_says_what_it_is_about() -> None:
    told = dict(all_said())
    for name, cls in STATISTICS.items():
        for one in fields(cls):
            if "rules" in one.metadata and one.name not in FLAGS:
                assert rules_of(one).help, f"{name}.{one.name}"
                assert any(line.startswith(f"{name}.{one.name}=") for line in told)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (
            "relations.clitic=no",
            "relations has no setting 'clitic': did you mean clitics? It has variant, clitics, subtypes.",
        ),
        ("relations.variant=mine", "relations takes variant='paper' or 'code', not 'mine'."),
        ("relations.measure=norm", "--set relations.measure has a flag of its own: give -m."),
        ("mixing.every=often", "--set mixing.every is a whole number, not 'often'."),
        ("mixing.every=0", "mixing takes every=1 or more, not 0."),
        ("clitics=no", "--set 'clitics=no' does not say of which statistic: write STATISTIC.clitics=no."),
        ("dispersion.every=2", "dispersion has no setting 'every': it has none that can be set."),
    ],
)
def test_errors_are_one_sentence(given: str, error: str) -> None:
    with pytest.raises(InputError) as raised:
        statistic_settings([given])
    assert str(raised.value) == error


def test_settings_make_the_statistic() -> None:
    made: Statistic = STATISTICS["relations"](**statistic_settings(["relations.subtypes=off"])["relations"])
    assert made.table_name == "relations_without_subtypes"
