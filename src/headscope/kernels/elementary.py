"""log2 and exp2 of float32, without a branch: a processor computes eight at a time, which it does not of a library's."""

from __future__ import annotations

import numpy as np

from headscope.kernels.compiling import compiled, exactly_compiled

_F, _I = np.float32, np.int32
_SQRT_HALF = _I(0x3F3504F3)  # the bits of the square root of 1/2

# log2(1 + f) / f for 1 + f from sqrt(1/2) to sqrt(2): the polynomial of this degree with the smallest relative error, 2e-7.
_L0, _L1, _L2, _L3 = _F(1.442694902420044), _F(-0.7213528156280518), _F(0.48092323541641235), _F(-0.3602396249771118)
_L4, _L5, _L6, _L7 = _F(0.28709879517555237), _F(-0.2488771677017212), _F(0.23404178023338318), _F(-0.14580993354320526)

# 2^f for f from -1/2 to 1/2, with a relative error of 2e-9.
_E1, _E2, _E3 = _F(0.6931471824645996), _F(0.24022646248340607), _F(0.05550328642129898)
_E4, _E5, _E6 = _F(0.009618489071726799), _F(0.0013399932067841291), _F(0.0001534580806037411)
_ROUND = _F(12582912.0)  # 1.5 * 2^23: a small number that is added to it is rounded to a whole one

LOG_2 = 0.6931471805599453
NOTHING = _F(1e-30)  # a score below it counts as 0 in s log s


@compiled()
def log2(x: np.float32) -> np.float32:
    """Of a positive number that is no subnormal one (1e-38 and more). What is not a number gives anything."""
    bits = _F(x).view(np.int32)
    exponent = _I(_I(bits - _SQRT_HALF) >> _I(23))
    f = _I(bits - _I(exponent << _I(23))).view(np.float32) - _F(1)
    square = f * f
    fourth = square * square
    low = (_L0 + _L1 * f) + square * (_L2 + _L3 * f)  # in pairs, which do not wait for each other
    high = (_L4 + _L5 * f) + square * (_L6 + _L7 * f)
    return (low + fourth * high) * f + _F(exponent)


@compiled()
def xlog2x(x: np.float32) -> np.float32:
    """x log2 x of a number that is not negative; 0 log 0 is 0, and what is not a number stays so."""
    return x * log2(x + NOTHING)


@exactly_compiled()
def exp2(x: np.float32) -> np.float32:
    """2^x for x from -126 to 127. What is not a number stays so."""
    rounded = _F(x + _ROUND)
    f = _F(x) - _F(rounded - _ROUND)
    p = _E6 * f + _E5
    p = p * f + _E4
    p = p * f + _E3
    p = p * f + _E2
    p = p * f + _E1
    p = p * f + _F(1)
    return _I(_F(p).view(np.int32) + _I(rounded.view(np.int32) << _I(23))).view(np.float32)
