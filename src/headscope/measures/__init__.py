"""What is read off a block of attention. To add a measure, add a small file and import it here."""

from headscope.lens.measure import MEASURES, Measure, measure
from headscope.measures.block_norm import block_norm
from headscope.measures.effective import effective
from headscope.measures.joint_norm import joint_norm
from headscope.measures.joint_weight import joint_weight
from headscope.measures.norm import norm
from headscope.measures.value_norm import value_norm
from headscope.measures.weight import weight

__all__ = [
    "MEASURES",
    "Measure",
    "block_norm",
    "effective",
    "joint_norm",
    "joint_weight",
    "measure",
    "norm",
    "value_norm",
    "weight",
]
