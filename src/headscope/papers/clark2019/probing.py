"""Section 5: how well a probe on all heads parses, beside what parses without attention (table 3)."""

from __future__ import annotations

import pandas as pd

from headscope.papers.clark2019 import facts
from headscope.study.results.result import Result, in_percent

NAMES = {
    "right_branching": "right-branching",
    "distances_words": "distances + GloVe",
    "random_attention_words": "random init attention + GloVe",
    "attention": "attention",
    "attention_words": "attention + GloVe",
}


def table3(probes: pd.DataFrame) -> Result:
    """Table 3 out of the table of `probe`."""
    theirs = facts.TABLE3.set_index("probe")["uas"]
    rows = [
        {
            "Probe": NAMES[row["name"]],
            "UAS": in_percent(row["uas"]),
            "95 %": f"{in_percent(row['low'])}–{in_percent(row['high'])}",
            "without punctuation": in_percent(row["uas_without_punctuation"]),
            "UAS*": f"{theirs[NAMES[row['name']]]:.0f}",
        }
        for row in probes.to_dict("records")
    ]
    notes = [
        f"UAS* is the paper's: {facts.MODEL}, {facts.TREEBANK}; it also gives {facts.STRUCTURAL_PROBE} UUAS for the "
        "structural probe of Hewitt and Manning (2019), which is undirected. Words without a head are left out; the "
        "interval is by sentences. The random model keeps its trained embeddings, as in the paper."
    ]
    return Result("clark2019_table3", "Table 3: parsing by probes of attention", probes, pd.DataFrame(rows), notes=notes)
