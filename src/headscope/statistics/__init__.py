"""Mergeable sums over a corpus. To add a statistic, add a small file in one of these folders: nothing else need know it."""

from importlib import import_module
from pkgutil import walk_packages

# What type checkers and editors know by name; a statistic that has no line here is importable all the same.
from headscope.statistics.alignment.alignment_errors import AlignmentErrors
from headscope.statistics.alignment.head_agreement import HeadAgreement
from headscope.statistics.base import Array, Columns, Statistic, Sums, ratio
from headscope.statistics.between_heads.jensen_shannon import JensenShannon, distance_matrix
from headscope.statistics.columns import Column
from headscope.statistics.exemplars import Exemplars
from headscope.statistics.norms.category_weights import CategoryWeights
from headscope.statistics.norms.dispersion import Dispersion, InputDispersion
from headscope.statistics.norms.effective_by_length import EffectiveByLength
from headscope.statistics.norms.frequencies import Frequencies
from headscope.statistics.norms.frequency import Frequency
from headscope.statistics.norms.frequency_curve import FrequencyCurve
from headscope.statistics.norms.mixing import Mixing
from headscope.statistics.norms.norm_correlation import NormCorrelation
from headscope.statistics.norms.norm_scatter import NormScatter
from headscope.statistics.norms.output_norm import OutputNorm
from headscope.statistics.registry import STATISTICS, setting, statistic, usual_statistics
from headscope.statistics.surface.distance import Distance
from headscope.statistics.surface.distance_profile import DistanceProfile
from headscope.statistics.surface.entropy import Entropy, EntropyEnds
from headscope.statistics.surface.importance import Importance
from headscope.statistics.surface.mean_score import Maximum, MeanScore
from headscope.statistics.surface.offsets import Offsets
from headscope.statistics.surface.position_map import PositionMap
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

__all__ = ["STATISTICS", "Array", "Column", "Columns", "Statistic", "Sums", "ratio", "setting", "statistic"]
__all__ += [
    "AlignmentErrors",
    "Exemplars",
    "Frequencies",
    "HeadAgreement",
    "JensenShannon",
    "distance_matrix",
    "usual_statistics",
]
__all__ += ["CategoryWeights", "Dispersion", "EffectiveByLength", "Frequency", "FrequencyCurve", "InputDispersion", "Mixing"]
__all__ += ["Distance", "Entropy", "EntropyEnds", "Importance", "Maximum", "MeanScore", "NormCorrelation", "NormScatter"]
__all__ += ["BeyondSinks", "FirstToken", "MeanMap", "Offsets", "Punctuation", "Separators", "SpecialTokens", "Strength"]
__all__ += ["Antecedents", "Dependencies", "DependencyLengths", "RelationTypes", "Relations", "Tags", "Variability"]
__all__ += ["DistanceProfile", "OutputNorm", "PositionMap"]

for _found in walk_packages(__path__, f"{__name__}."):
    import_module(_found.name)
globals().update({cls.__name__: cls for cls in STATISTICS.values()})
