"""Garbage is looked for as before, once a command has loaded what it needs, and when it has ended."""

from __future__ import annotations

import gc

import pytest

from headscope.garbage import all_is_loaded, command_that_loads


def test_nothing_is_looked_for_until_all_is_loaded() -> None:
    usual, kept = gc.get_threshold(), gc.get_freeze_count()
    with command_that_loads():
        assert gc.get_threshold()[0] == 0
        all_is_loaded()
        assert gc.get_threshold() == usual
        assert gc.get_freeze_count() > kept
    assert (gc.get_threshold(), gc.get_freeze_count()) == (usual, 0)


def test_a_command_that_fails_leaves_everything_as_it_was() -> None:
    usual = gc.get_threshold()
    with pytest.raises(ValueError, match="no model"), command_that_loads():
        raise ValueError("no model")
    assert (gc.get_threshold(), gc.get_freeze_count()) == (usual, 0)


def test_what_loads_without_a_command_changes_nothing() -> None:
    usual, kept = gc.get_threshold(), gc.get_freeze_count()
    all_is_loaded()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (usual, kept)
