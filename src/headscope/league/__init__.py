"""The league: which number of a head predicts what happens without it."""

from typing import TYPE_CHECKING

from headscope.later import doors

if TYPE_CHECKING:
    from headscope.league.league import league

__all__ = ["league"]

if not TYPE_CHECKING:
    __getattr__ = doors(__name__, {"league": "league"})
