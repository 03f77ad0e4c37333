"""Section 4.3: does a mention look at its antecedent? The best head beside rules, the twin and the paper (table 2)."""

from __future__ import annotations

import pandas as pd

from headscope.heads.antecedents import best_antecedent_heads
from headscope.lens.lens import Lens
from headscope.papers.clark2019 import facts
from headscope.statistics.words.antecedents import COLUMNS
from headscope.study.results.result import Result, in_percent, paper_label
from headscope.study.tables import main_stack
from headscope.text import Corpus, Document
from headscope.text.coreference.windows import windows


def windows_of(corpus: Corpus, lens: Lens, max_tokens: int) -> list[Document]:
    """All documents in windows of at most `max_tokens` tokens of this model."""

    def length_of(document: Document) -> int:
        return len(lens.encoder.encode(document).source)

    return [part for document in corpus for part in windows(document, length_of, max_tokens)]


def table2(antecedents: pd.DataFrame, twin: pd.DataFrame | None, rules: pd.DataFrame, max_tokens: int) -> Result:
    """Table 2 out of the `antecedents` tables of the model and its twin, and the table of the rules."""
    heads = main_stack(antecedents)
    best = heads.loc[heads["all"].idxmax()]
    systems = [_system(row["rule"], row) for row in rules.to_dict("records")]
    label = f"best head, {paper_label(best['layer'], best['head'])}"
    systems.append(_system(label, best))
    by_kind = best_antecedent_heads(heads).set_index("mentions")
    systems.append({"System": "best head, chosen on the other half"} | _percents(by_kind["held_out"]))
    systems.append({"System": "best head of each kind"} | _percents(by_kind["accuracy"]))
    if twin is not None:
        of_twin = best_antecedent_heads(main_stack(twin)).set_index("mentions")
        systems.append({"System": "random twin, best head of each kind"} | _percents(of_twin["accuracy"]))
    shown = pd.DataFrame(systems)
    theirs = facts.TABLE2.set_index("system")
    names = [*rules["rule"], "best head"]
    for column in COLUMNS:
        shown[f"{column}*"] = [f"{theirs.loc[name, column]:.0f}" for name in names] + [""] * (len(shown) - len(names))
    cases = ", ".join(f"{int(rules[f'cases_{column}'].iloc[0]):,} {column}" for column in COLUMNS)
    notes = [
        f"Percent of mentions whose antecedent is found ({cases}). Columns with * are the paper's: {facts.MODEL}, head 5-4, "
        f"{facts.COREFERENCE}; it also gives {facts.NEURAL_COREFERENCE} for a neural system, roughly comparable. Heads are "
        "layer-head from 1, as there.",
        f"Longer documents are read in windows of {max_tokens} tokens that overlap by half; a mention counts where a window "
        "has it for the first time, if it has an antecedent there. Mentions that corefer with nothing are left out, as "
        "CoNLL-2012 does.",
    ]
    table = pd.concat([heads.assign(system="head"), rules.rename(columns={"rule": "system"})], ignore_index=True)
    table = table[["system", *(column for column in table if column != "system")]]
    return Result("clark2019_table2", "Table 2: antecedents found by heads and by rules", table, shown, notes=notes)


def _system(name: str, row: pd.Series | dict[str, float]) -> dict[str, str]:
    return {"System": name} | {column: in_percent(row[column]) for column in COLUMNS}


def _percents(by_kind: pd.Series) -> dict[str, str]:
    return {column: in_percent(by_kind.get(column, float("nan"))) for column in COLUMNS}
