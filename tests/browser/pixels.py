"""What a canvas shows, as an array."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Read from a copy that is made for reading: Chromium complains of canvases that are read often.
_READ = """(selector) => {
    const canvas = document.querySelector(selector);
    const copy = document.createElement('canvas');
    copy.width = canvas.width;
    copy.height = canvas.height;
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let text = '';
    for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
    return [canvas.height, canvas.width, btoa(text)];
}"""


def canvas_pixels(page: Any, selector: str) -> NDArray[np.int64]:
    """(row, column, 3) of the first canvas that the selector finds."""
    return _read(page, selector)[..., :3]


def canvas_opacities(page: Any, selector: str) -> NDArray[np.float64]:
    """(row, column) of the first canvas that the selector finds, from 0 to 1."""
    return _read(page, selector)[..., 3] / 255


def _read(page: Any, selector: str) -> NDArray[np.int64]:
    height, width, data = page.evaluate(_READ, selector)
    return np.frombuffer(base64.b64decode(data), dtype=np.uint8).reshape(height, width, 4).astype(np.int64)


def cell_pixels(page: Any, selector: str, rows: int, columns: int) -> NDArray[np.int64]:
    """The colour in the middle of each cell of a canvas that is cut into rows and columns: (row, column, 3)."""
    whole = canvas_pixels(page, selector)
    across = ((np.arange(columns) + 0.5) * whole.shape[1] / columns).astype(int)
    down = ((np.arange(rows) + 0.5) * whole.shape[0] / rows).astype(int)
    return whole[np.ix_(down, across)]
