"""Tables 1 to 3: heads that know a relation or an antecedent, and probes of all heads. Columns with * are the paper's."""

from __future__ import annotations

from headscope.heads.antecedents import best_antecedent_heads
from headscope.heads.relations import best_relation_heads
from headscope.later import pd
from headscope.papers.clark2019 import facts
from headscope.statistics.words.antecedents import COLUMNS
from headscope.statistics.words.relations import ALL, ALL_BUT_PUNCTUATION
from headscope.study.results.result import Result, in_percent, paper_label
from headscope.study.tables import main_stack
from headscope.text.relation_names import OTHER, REVERSED, SAME, Found, find_relation

_CLOSER = (SAME, REVERSED, OTHER)
NAMES = {
    "right_branching": "right-branching",
    "distances_words": "distances + GloVe",
    "random_attention_words": "random init attention + GloVe",
    "attention": "attention",
    "attention_words": "attention + GloVe",
}


def table1(relations: pd.DataFrame, twin: pd.DataFrame | None) -> Result:
    """Table 1 out of the `relations` tables of the model and, where there is one, of its randomly initialised twin."""
    both_directions = with_twin(best_relation_heads(relations), twin)
    shown, notes = _relations_shown(with_twin(best_relation_heads(relations, either_direction=True), twin))
    return Result("clark2019_table1", "Table 1: the best head for every relation", both_directions, shown, notes=notes)


def with_twin(best: pd.DataFrame, twin: pd.DataFrame | None) -> pd.DataFrame:
    """The twin's best head for the same relation and direction, chosen for itself."""
    if twin is None:
        return best
    theirs = best_relation_heads(twin)[["relation", "direction", "accuracy", "held_out"]]
    theirs = theirs.rename(columns={"accuracy": "twin_accuracy", "held_out": "twin_held_out"})
    return best.merge(theirs, on=["relation", "direction"], how="left")


def _relations_shown(best: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """As the paper prints it, all relations; and what must be known to compare."""
    in_paper, differing = _papers_relations(set(best["relation"]) - {ALL, ALL_BUT_PUNCTUATION})
    rows = []
    for head in best.to_dict("records"):
        row = {
            "Relation": head["relation"],
            "Direction": head["direction"].replace(" to ", " → "),
            "Head": paper_label(head["layer"], head["head"]),
            "Accuracy": in_percent(head["accuracy"]),
            "95 %": _interval(head),
            "Held out": in_percent(head["held_out"]),
            "Baseline": f"{in_percent(head['baseline'])} ({int(head['offset']):+d})",
        }
        if "twin_accuracy" in head:
            row["Random twin"] = in_percent(head["twin_accuracy"])
        row["Cases"] = head["cases"]
        rows.append(row | in_paper.get(head["relation"], _NOT_IN_PAPER))
    notes = [
        f"Columns with * are the paper's: {facts.MODEL}, {facts.TREEBANK}. Heads are layer-head from 1, as there; "
        "accuracies are in percent, the number after a baseline is its offset, the head's place less the dependent's.",
        "Held out: every case is tried with the head that is the best on the other half of the sentences. The random twin's "
        "head is chosen for itself, on all cases.",
        *differing,
    ]
    return pd.DataFrame(rows), notes


_NOT_IN_PAPER = {"Relation*": "", "Head*": "", "Accuracy*": "", "Baseline*": ""}


def _papers_relations(relations: set[str]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """By the run's relation the paper's row, and a sentence for each that links other words."""
    nearest: dict[str, tuple[Found, dict[str, str]]] = {}
    for fact in facts.TABLE1.frame.to_dict("records"):
        found = Found(ALL) if fact["relation"] == ALL else find_relation(fact["relation"], relations)
        if found is None:
            continue
        row = {"Relation*": fact["relation"], "Head*": fact["head"], "Accuracy*": f"{fact['accuracy']:.1f}"}
        row["Baseline*"] = f"{fact['baseline']:.1f} ({fact['offset']:+d})"
        if found.name not in nearest or _CLOSER.index(found.ends) < _CLOSER.index(nearest[found.name][0].ends):
            nearest[found.name] = found, row
    differing = [
        f"The paper's {row['Relation*']} stands beside {name}, but they are not the same: {found.note}."
        for name, (found, row) in nearest.items()
        if found.ends != SAME
    ]
    return {name: row for name, (_, row) in nearest.items()}, differing


def _interval(head: dict[str, float]) -> str:
    low, high = head.get("accuracy_low"), head.get("accuracy_high")
    return "" if low is None or high is None or low != low else f"{in_percent(low)}–{in_percent(high)}"


def table2(
    antecedents: pd.DataFrame, twin: pd.DataFrame | None, rules: pd.DataFrame, max_tokens: int, singletons: bool = False
) -> Result:
    """Table 2 out of the `antecedents` tables of the model and its twin, and the table of the rules."""
    heads = main_stack(antecedents)
    best = heads.loc[heads["all"].idxmax()]
    systems = [_system(row["rule"], row) for row in rules.to_dict("records")]
    systems.append(_system(f"best head, {paper_label(best['layer'], best['head'])}", best))
    by_kind = best_antecedent_heads(heads).set_index("mentions")
    systems.append(_system("best head, chosen on the other half", by_kind["held_out"]))
    systems.append(_system("best head of each kind", by_kind["accuracy"]))
    if twin is not None:
        of_twin = best_antecedent_heads(main_stack(twin)).set_index("mentions")
        systems.append(_system("random twin, best head of each kind", of_twin["accuracy"]))
    shown = pd.DataFrame(systems)
    theirs = facts.TABLE2.frame.set_index("system")
    names = [*rules["rule"], "best head"]
    for column in COLUMNS:
        shown[f"{column}*"] = [f"{theirs.loc[name, column]:.0f}" for name in names] + [""] * (len(shown) - len(names))
    cases = ", ".join(f"{int(rules[f'cases_{column}'].iloc[0]):,} {column}" for column in COLUMNS)
    alone = "kept" if singletons else "left out, as CoNLL-2012 does"
    notes = [
        f"Percent of mentions whose antecedent is found ({cases}). Columns with * are the paper's: {facts.MODEL}, head 5-4, "
        f"{facts.COREFERENCE}; it also gives {facts.NEURAL_COREFERENCE} for a neural system, roughly comparable. Heads are "
        "layer-head from 1, as there.",
        f"Longer documents are read in windows of {max_tokens} tokens that overlap by half; a mention counts where a window "
        f"has it for the first time, if it has an antecedent there. Mentions that corefer with nothing are {alone}.",
    ]
    table = pd.concat([heads.assign(system="head"), rules.rename(columns={"rule": "system"})], ignore_index=True)
    table = table[["system", *(column for column in table if column != "system")]]
    return Result("clark2019_table2", "Table 2: antecedents found by heads and by rules", table, shown, notes=notes)


def _system(name: str, row: pd.Series | dict[str, float]) -> dict[str, str]:
    return {"System": name} | {column: in_percent(row.get(column, float("nan"))) for column in COLUMNS}


def table3(probes: pd.DataFrame) -> Result:
    """Table 3 out of the table of `probe`."""
    rows = [
        {
            "Probe": NAMES[row["name"]],
            "UAS": in_percent(row["uas"]),
            "95 %": f"{in_percent(row['low'])}–{in_percent(row['high'])}",
            "without punctuation": in_percent(row["uas_without_punctuation"]),
            "UAS*": f"{facts.TABLE3[NAMES[row['name']]]:.0f}",
        }
        for row in probes.to_dict("records")
    ]
    notes = [
        f"UAS* is the paper's: {facts.MODEL}, {facts.TREEBANK}; it also gives {facts.STRUCTURAL_PROBE} UUAS for the "
        "structural probe of Hewitt and Manning (2019), which is undirected. Words without a head are left out; the "
        "interval is by sentences. The random model keeps its trained embeddings, as in the paper."
    ]
    return Result("clark2019_table3", "Table 3: parsing by probes of attention", probes, pd.DataFrame(rows), notes=notes)
