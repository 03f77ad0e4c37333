"""Mergeable sums over a corpus. To add a statistic, add a small file and import it here."""

from headscope.statistics.antecedents import Antecedents
from headscope.statistics.base import Statistic
from headscope.statistics.distance import Distance
from headscope.statistics.divergence import JensenShannon
from headscope.statistics.entropy import Entropy
from headscope.statistics.entropy_ends import EntropyEnds
from headscope.statistics.importance import Importance
from headscope.statistics.maximum import Maximum
from headscope.statistics.offsets import Offsets
from headscope.statistics.registry import STATISTICS, statistic, usual_statistics
from headscope.statistics.relations import Relations
from headscope.statistics.separators import Separators
from headscope.statistics.shares import FirstToken, Punctuation, SpecialTokens
from headscope.statistics.strength import Strength

__all__ = [
    "STATISTICS",
    "Antecedents",
    "Distance",
    "Entropy",
    "EntropyEnds",
    "FirstToken",
    "Importance",
    "JensenShannon",
    "Maximum",
    "Offsets",
    "Punctuation",
    "Relations",
    "Separators",
    "SpecialTokens",
    "Statistic",
    "Strength",
    "statistic",
    "usual_statistics",
]
