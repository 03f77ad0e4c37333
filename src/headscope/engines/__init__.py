"""Engines that count elsewhere: `Ray`, on this machine or a cluster, to the same bytes."""

from headscope.engines.choice import chosen_engine
from headscope.engines.ray_engine import Ray

__all__ = ["Ray", "chosen_engine"]
