"""Mergeable sums over a corpus. To add a statistic, add a small file and import it here."""

from headscope.statistics.alignment_errors import AlignmentErrors
from headscope.statistics.antecedents import Antecedents
from headscope.statistics.base import Statistic
from headscope.statistics.by_length import ByLength
from headscope.statistics.category_weights import CategoryWeights
from headscope.statistics.dependencies import Dependencies
from headscope.statistics.dependency_lengths import DependencyLengths
from headscope.statistics.dispersion import Dispersion, InputDispersion
from headscope.statistics.distance import Distance
from headscope.statistics.divergence import JensenShannon
from headscope.statistics.entropy import Entropy
from headscope.statistics.entropy_ends import EntropyEnds
from headscope.statistics.exemplars import Exemplars
from headscope.statistics.frequency import Frequency
from headscope.statistics.frequency_curve import FrequencyCurve
from headscope.statistics.importance import Importance
from headscope.statistics.maximum import Maximum
from headscope.statistics.mean_score import MeanScore
from headscope.statistics.mixing import Mixing
from headscope.statistics.offsets import Offsets
from headscope.statistics.registry import STATISTICS, statistic, usual_statistics
from headscope.statistics.relations import Relations
from headscope.statistics.separators import Separators
from headscope.statistics.shares import FirstToken, Punctuation, SpecialTokens
from headscope.statistics.strength import Strength
from headscope.statistics.tags import RelationTypes, Tags
from headscope.statistics.unparked import Unparked
from headscope.statistics.variability import MeanMap, Variability
from headscope.statistics.weight_norm import WeightNorm
from headscope.statistics.weight_norm_sample import WeightNormSample

__all__ = [
    "STATISTICS",
    "AlignmentErrors",
    "Antecedents",
    "ByLength",
    "CategoryWeights",
    "Dependencies",
    "DependencyLengths",
    "Dispersion",
    "Distance",
    "Entropy",
    "EntropyEnds",
    "Exemplars",
    "FirstToken",
    "Frequency",
    "FrequencyCurve",
    "Importance",
    "InputDispersion",
    "JensenShannon",
    "Maximum",
    "MeanMap",
    "MeanScore",
    "Mixing",
    "Offsets",
    "Punctuation",
    "RelationTypes",
    "Relations",
    "Separators",
    "SpecialTokens",
    "Statistic",
    "Strength",
    "Tags",
    "Unparked",
    "Variability",
    "WeightNorm",
    "WeightNormSample",
    "statistic",
    "usual_statistics",
]
