"""Mergeable sums over a corpus. To add a statistic, add a small file and import it here."""

from headscope.statistics.alignment.alignment_errors import AlignmentErrors
from headscope.statistics.base import Statistic
from headscope.statistics.between_heads.jensen_shannon import JensenShannon
from headscope.statistics.exemplars import Exemplars
from headscope.statistics.norms.category_weights import CategoryWeights
from headscope.statistics.norms.dispersion import Dispersion, InputDispersion
from headscope.statistics.norms.effective_by_length import EffectiveByLength
from headscope.statistics.norms.frequency import Frequency
from headscope.statistics.norms.frequency_curve import FrequencyCurve
from headscope.statistics.norms.mixing import Mixing
from headscope.statistics.norms.norm_correlation import NormCorrelation
from headscope.statistics.norms.norm_scatter import NormScatter
from headscope.statistics.registry import STATISTICS, statistic, usual_statistics
from headscope.statistics.surface.distance import Distance
from headscope.statistics.surface.entropy import Entropy
from headscope.statistics.surface.entropy_ends import EntropyEnds
from headscope.statistics.surface.importance import Importance
from headscope.statistics.surface.maximum import Maximum
from headscope.statistics.surface.mean_score import MeanScore
from headscope.statistics.surface.offsets import Offsets
from headscope.statistics.surface.separators import Separators
from headscope.statistics.surface.shares import FirstToken, Punctuation, SpecialTokens
from headscope.statistics.surface.sinks import BeyondSinks
from headscope.statistics.surface.strength import Strength
from headscope.statistics.surface.variability import MeanMap, Variability
from headscope.statistics.words.antecedents import Antecedents
from headscope.statistics.words.dependencies import Dependencies
from headscope.statistics.words.dependency_lengths import DependencyLengths
from headscope.statistics.words.relations import Relations
from headscope.statistics.words.tags import RelationTypes, Tags

__all__ = [
    "STATISTICS",
    "AlignmentErrors",
    "Antecedents",
    "BeyondSinks",
    "CategoryWeights",
    "Dependencies",
    "DependencyLengths",
    "Dispersion",
    "Distance",
    "EffectiveByLength",
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
    "NormCorrelation",
    "NormScatter",
    "Offsets",
    "Punctuation",
    "RelationTypes",
    "Relations",
    "Separators",
    "SpecialTokens",
    "Statistic",
    "Strength",
    "Tags",
    "Variability",
    "statistic",
    "usual_statistics",
]
