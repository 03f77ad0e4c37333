"""Mergeable sums over a corpus. To add a statistic, add a small file in one of these folders: nothing else need know it."""

from importlib import import_module
from pkgutil import walk_packages

# What type checkers and editors know by name; a statistic that has no line here is importable all the same.
from headscope.statistics.alignment.alignment_errors import AlignmentErrors as AlignmentErrors
from headscope.statistics.base import Array as Array
from headscope.statistics.base import Columns as Columns
from headscope.statistics.base import Statistic as Statistic
from headscope.statistics.base import Sums as Sums
from headscope.statistics.base import ratio as ratio
from headscope.statistics.between_heads.jensen_shannon import JensenShannon as JensenShannon
from headscope.statistics.between_heads.jensen_shannon import distance_matrix as distance_matrix
from headscope.statistics.columns import Column as Column
from headscope.statistics.exemplars import Exemplars as Exemplars
from headscope.statistics.norms.category_weights import CategoryWeights as CategoryWeights
from headscope.statistics.norms.dispersion import Dispersion as Dispersion
from headscope.statistics.norms.dispersion import InputDispersion as InputDispersion
from headscope.statistics.norms.effective_by_length import EffectiveByLength as EffectiveByLength
from headscope.statistics.norms.frequencies import Frequencies as Frequencies
from headscope.statistics.norms.frequency import Frequency as Frequency
from headscope.statistics.norms.frequency_curve import FrequencyCurve as FrequencyCurve
from headscope.statistics.norms.mixing import Mixing as Mixing
from headscope.statistics.norms.norm_correlation import NormCorrelation as NormCorrelation
from headscope.statistics.norms.norm_scatter import NormScatter as NormScatter
from headscope.statistics.registry import STATISTICS as STATISTICS
from headscope.statistics.registry import setting as setting
from headscope.statistics.registry import statistic as statistic
from headscope.statistics.registry import usual_statistics as usual_statistics
from headscope.statistics.surface.distance import Distance as Distance
from headscope.statistics.surface.entropy import Entropy as Entropy
from headscope.statistics.surface.entropy_ends import EntropyEnds as EntropyEnds
from headscope.statistics.surface.importance import Importance as Importance
from headscope.statistics.surface.maximum import Maximum as Maximum
from headscope.statistics.surface.mean_score import MeanScore as MeanScore
from headscope.statistics.surface.offsets import Offsets as Offsets
from headscope.statistics.surface.separators import Separators as Separators
from headscope.statistics.surface.shares import FirstToken as FirstToken
from headscope.statistics.surface.shares import Punctuation as Punctuation
from headscope.statistics.surface.shares import SpecialTokens as SpecialTokens
from headscope.statistics.surface.sinks import BeyondSinks as BeyondSinks
from headscope.statistics.surface.strength import Strength as Strength
from headscope.statistics.surface.variability import MeanMap as MeanMap
from headscope.statistics.surface.variability import Variability as Variability
from headscope.statistics.words.antecedents import Antecedents as Antecedents
from headscope.statistics.words.dependencies import Dependencies as Dependencies
from headscope.statistics.words.dependency_lengths import DependencyLengths as DependencyLengths
from headscope.statistics.words.relations import Relations as Relations
from headscope.statistics.words.tags import RelationTypes as RelationTypes
from headscope.statistics.words.tags import Tags as Tags

for _found in walk_packages(__path__, f"{__name__}."):
    import_module(_found.name)
globals().update({cls.__name__: cls for cls in STATISTICS.values()})
