"""How a model is watched while it runs: its attentions found by following the data, and seen block by block.

Everything here needs torch and transformers to be defined, so it comes through this door, when a model is there.
"""

from typing import TYPE_CHECKING

from headscope.later import doors

if TYPE_CHECKING:
    from headscope.lens.watching.capture import Capture, Rows
    from headscope.lens.watching.direct_path import DirectPath
    from headscope.lens.watching.dummy import dummy_inputs
    from headscope.lens.watching.ending import read_by, seen_by
    from headscope.lens.watching.gating import behind
    from headscope.lens.watching.gradients import GradientBlock, GradientCapture, frozen
    from headscope.lens.watching.implementations import asks_for_eager, attention_implementations, switch_attention
    from headscope.lens.watching.interface import NAME
    from headscope.lens.watching.linear import dequantised, matrix_of
    from headscope.lens.watching.normalisation import Normalisation
    from headscope.lens.watching.norms_read import norms_read
    from headscope.lens.watching.projected import Change, Where, changed_heads
    from headscope.lens.watching.projection import Projection, inner_of
    from headscope.lens.watching.residual import ResidualConnection
    from headscope.lens.watching.resuming import Layers, repeated_inputs
    from headscope.lens.watching.trace import Matrices, Trace, traced

__all__ = [
    "NAME", "Capture", "Change", "DirectPath", "GradientBlock", "GradientCapture", "Layers", "Matrices",
    "Normalisation", "Projection", "ResidualConnection", "Rows", "Trace", "Where", "asks_for_eager",
    "attention_implementations", "behind", "changed_heads", "dequantised", "dummy_inputs", "frozen", "inner_of",
    "matrix_of", "norms_read", "read_by", "repeated_inputs", "seen_by", "switch_attention", "traced",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = doors(__name__, {
        "capture": "Capture Rows",
        "direct_path": "DirectPath",
        "dummy": "dummy_inputs",
        "ending": "read_by seen_by",
        "gating": "behind",
        "gradients": "GradientBlock GradientCapture frozen",
        "implementations": "asks_for_eager attention_implementations switch_attention",
        "interface": "NAME",
        "linear": "dequantised matrix_of",
        "normalisation": "Normalisation",
        "norms_read": "norms_read",
        "projected": "Change Where changed_heads",
        "projection": "Projection inner_of",
        "residual": "ResidualConnection",
        "resuming": "Layers repeated_inputs",
        "trace": "Matrices Trace traced",
    })  # fmt: skip
