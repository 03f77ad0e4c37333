"""What loops over the textbook's tensors start from, and how near a statistic must come."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch

from tests.statistics.norms import appendix_d
from tests.statistics.tester import documents, lens_for
from tests.textbook import textbook
from tests.tiny import tiny


@cache
def texts_by_loops(family: str) -> list[appendix_d.Text]:
    """The textbook's tensors of every text, from a model that no lens has."""
    lens, model, found = lens_for(family), tiny(family), []
    for document in documents(family):
        source = lens.encoder.encode(document).source
        if family == "bert":
            categories = [appendix_d.bert_category(token) for token in source.tokens]
        else:  # a decoder: the first token is `first`, and </s> ends the text
            rules = {".": "punctuation", ",": "punctuation", "</s>": "separator"}
            categories = ["first", *(rules.get(token.removeprefix("Ġ"), "other") for token in source.tokens[1:])]
        layers = textbook(family, model, torch.tensor(source.ids))
        found.append(appendix_d.Text(source.ids, categories, layers))
    return found


def by_head(table: pd.DataFrame, column: str) -> np.ndarray:
    return table[column].to_numpy(dtype=float)


def close(found: object, expected: object) -> None:
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7)


both = pytest.mark.parametrize("family", ["bert", "llama"])
