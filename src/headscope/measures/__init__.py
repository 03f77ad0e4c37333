"""What is read off a block of attention. To add a measure, add a small file here: nothing else need know it."""

from importlib import import_module
from pkgutil import iter_modules

# What type checkers and editors know by name; a measure that has no line here is importable all the same.
from headscope.lens.measure import MEASURES as MEASURES
from headscope.lens.measure import Measure as Measure
from headscope.lens.measure import can_have as can_have
from headscope.lens.measure import measure as measure
from headscope.measures.block_norm import block_norm as block_norm
from headscope.measures.effective import effective as effective
from headscope.measures.joint_norm import joint_norm as joint_norm
from headscope.measures.joint_weight import joint_weight as joint_weight
from headscope.measures.norm import norm as norm
from headscope.measures.projection import projection as projection
from headscope.measures.stream_projection import stream_projection as stream_projection
from headscope.measures.value_norm import value_norm as value_norm
from headscope.measures.weight import weight as weight

for _found in iter_modules(__path__, f"{__name__}."):
    import_module(_found.name)

# As people are offered them: first what most ask for, and what is no score of a pair of tokens at the end.
_FIRST, _LAST = ("weight", "norm", "joint_norm", "joint_weight", "effective", "block_norm"), ("value_norm",)
for _name in (*_FIRST, *(name for name in MEASURES if name not in (*_FIRST, *_LAST)), *_LAST):
    globals()[_name] = MEASURES[_name] = MEASURES.pop(_name)
