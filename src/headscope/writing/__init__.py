"""What heads write: their parts in logits and in the likeness of two texts, the tokens they speak for, whether they copy."""

from typing import TYPE_CHECKING

from headscope.later import doors

if TYPE_CHECKING:
    from headscope.writing.copying import copying_scores
    from headscope.writing.logits import Logits, logits_of
    from headscope.writing.parts import Parts
    from headscope.writing.similarity import Similarity, similarity

__all__ = ["Logits", "Parts", "Similarity", "copying_scores", "logits_of", "similarity"]

if not TYPE_CHECKING:
    __getattr__ = doors(__name__, {
        "copying": "copying_scores",
        "logits": "Logits logits_of",
        "parts": "Parts",
        "similarity": "Similarity similarity",
    })  # fmt: skip
