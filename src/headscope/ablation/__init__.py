"""What happens without each head: exact effects and estimates over a corpus, as a run."""

from typing import TYPE_CHECKING

from headscope.later import doors

if TYPE_CHECKING:
    from headscope.ablation.ablate import ablate, warnings_of

__all__ = ["ablate", "warnings_of"]

if not TYPE_CHECKING:
    __getattr__ = doors(__name__, {"ablate": "ablate warnings_of"})
