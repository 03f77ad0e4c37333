"""`headscope demo`: a first look at a real model and a real text, offline, in a minute."""

from headscope.demo.demo import run
from headscope.demo.model import open_model

__all__ = ["open_model", "run"]
