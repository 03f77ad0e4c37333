"""Parts of speech that a head looks at: by hand."""

from __future__ import annotations

import pytest

from headscope.statistics import Tags
from tests.statistics.tester import null_block


def test_tags_by_hand() -> None:
    fresh = Tags(without_first=True).start([null_block().site])
    fresh.update(null_block())
    table = fresh.table().set_index("tag")
    # Without the first key 0.5 + 0.5 + 0.25 are left; b gets 1.0 and c 0.25; b gives 0.5 and c 0.75.
    assert table["to"].to_dict() == pytest.approx({"DET": 0, "NOUN": 0.8, "VERB": 0.2})
    assert table["from"].to_dict() == pytest.approx({"DET": 0, "NOUN": 0.4, "VERB": 0.6})
    assert table["corpus"].to_dict() == pytest.approx(dict.fromkeys(("DET", "NOUN", "VERB"), 1 / 3))
