"""Probes: small classifiers on attention that is held fixed, and the baselines beside them (clark2019, section 5).

They are torch's modules, so they come through this door when someone trains one.
"""

from typing import TYPE_CHECKING

from headscope.later import doors

if TYPE_CHECKING:
    from headscope.probes.antecedent_rules import antecedent_rules
    from headscope.probes.attention import AttentionProbe, AttentionWordsProbe
    from headscope.probes.baselines import DistancesProbe, RightBranching
    from headscope.probes.batches import Examples
    from headscope.probes.comparison import PROBES, probe
    from headscope.probes.features import disk_needed, word_maps
    from headscope.probes.maps import WordMaps
    from headscope.probes.training import Fitted, Training, fit
    from headscope.probes.treebank import TooFew, read_treebank, split_held_out
    from headscope.probes.vectors import Vectors

__all__ = [
    "PROBES", "AttentionProbe", "AttentionWordsProbe", "DistancesProbe", "Examples", "Fitted", "RightBranching", "TooFew",
    "Training", "Vectors", "WordMaps", "antecedent_rules", "disk_needed", "fit", "probe", "read_treebank",
    "split_held_out", "word_maps",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = doors(__name__, {
        "antecedent_rules": "antecedent_rules",
        "attention": "AttentionProbe AttentionWordsProbe",
        "baselines": "DistancesProbe RightBranching",
        "batches": "Examples",
        "comparison": "PROBES probe",
        "features": "disk_needed word_maps",
        "maps": "WordMaps",
        "training": "Fitted Training fit",
        "treebank": "TooFew read_treebank split_held_out",
        "vectors": "Vectors",
    })  # fmt: skip
