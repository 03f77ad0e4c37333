"""Probes: small classifiers on attention that is held fixed, and the baselines beside them (clark2019, section 5)."""

from headscope.probes.antecedent_rules import antecedent_rules
from headscope.probes.attention import AttentionProbe, AttentionWordsProbe
from headscope.probes.baselines import DistancesProbe, RightBranching
from headscope.probes.batches import Examples
from headscope.probes.comparison import PROBES, probe
from headscope.probes.features import disk_needed, word_maps
from headscope.probes.maps import WordMaps
from headscope.probes.training import Fitted, Training, fit
from headscope.probes.treebank import read_treebank, split_held_out
from headscope.probes.vectors import Vectors

__all__ = [
    "PROBES", "AttentionProbe", "AttentionWordsProbe", "DistancesProbe", "Examples", "Fitted", "RightBranching",
    "Training", "Vectors", "WordMaps", "antecedent_rules", "disk_needed", "fit", "probe", "read_treebank",
    "split_held_out", "word_maps",
]  # fmt: skip
