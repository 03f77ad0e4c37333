"""Maps with more numbers than paper has dots: the largest of each block stands for it, so that no line is lost."""

import math

import numpy as np

from headscope.views.content import Array


def thinned(scores: Array, most: int) -> Array:
    """(query, key) with at most `most` along each side; of each block the score that is the largest without its sign.

    >>> thinned(np.array([[0.0, 1.0], [-3.0, 2.0]], dtype=np.float32), 1)
    array([[-3.]], dtype=float32)
    """
    rows, columns = (math.ceil(size / most) for size in scores.shape)
    if rows == columns == 1:
        return scores
    spare = (-scores.shape[0] % rows, -scores.shape[1] % columns)
    padded = np.pad(scores, ((0, spare[0]), (0, spare[1])))
    blocks = padded.reshape(padded.shape[0] // rows, rows, padded.shape[1] // columns, columns)
    high, low = blocks.max((1, 3)), blocks.min((1, 3))
    return np.where(high >= -low, high, low)
