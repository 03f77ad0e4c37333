"""Word alignments of a parallel corpus by one model: `headscope align` (kobayashi2020, section 5).

First what every layer and head would give is counted: how far heads agree, error rates where there are gold links, average
norms in any case. Then heads are chosen, or one layer, and their links are written, a line for each pair.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from headscope.alignment.choice import RULES, Choice, highest_norm, lowest_aer
from headscope.alignment.eflomal import eflomal_links, find_program
from headscope.alignment.gradient import gradient_links
from headscope.alignment.head_set import MOST, HeadSet, by_agreement
from headscope.alignment.link_files import read_links, write_links
from headscope.alignment.linking import Linker, check_model, check_place, link, link_part, link_whole
from headscope.alignment.symmetrise import SYMMETRISATIONS
from headscope.alignment.tables import MEASURES, agreements, error_tables, link_scores, mean_norms, survey
from headscope.errors import InputError
from headscope.files import write_text
from headscope.later import pd
from headscope.lens import Lens, ModelSource
from headscope.lens.tokens.encoder import BY_WORD
from headscope.lens.tokens.prompts import Prompt
from headscope.progress import Progress, Silent
from headscope.remote import as_path
from headscope.statistics.alignment.sides import AWI, SETTINGS
from headscope.study import Run
from headscope.study.engine import Engine
from headscope.study.manifest import check_run
from headscope.study.results.result import Result
from headscope.study.results.workspace import Workspace
from headscope.text import Corpus, Document
from headscope.text.links import Links, Pair, flipped

CHOICES = "choices.json"
SURVEYED = 500  # pairs that heads are chosen by, where there are no gold links
Way = Callable[[str], Iterator[Links]]  # the links of all pairs, kept in a part of that name
TITLES = {
    "aer_layers": "Error rates by layer: its heads together",
    "aer_heads": "Error rates by head",
    "mean_norms": "Average norm by head",
    "head_agreements": "How far heads agree as aligners",
}


def align(
    lens: Lens | ModelSource,
    corpus: Corpus,
    *,
    out: str | Path,
    layer: int | None = None,
    head: int | None = None,
    measure: str = "norm",
    setting: str | None = None,
    by: str = "agreement",
    by_head: bool = False,
    reverse: Lens | ModelSource | None = None,
    symmetrise: str = "grow-diag-final-and",
    prompt: str | None = None,
    gradient: int = 0,
    eflomal: bool = False,
    batch_size: int = 16,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Run:
    """Choose heads and write their links in the run directory `out`; run it again to go on after an interruption.

    `corpus` has documents with `words` and `target_words`, and gold links (`with_gold`) where there are some. Without a
    `layer`, up to six heads are chosen together `by` "agreement": those whose links agree most, read from either side and
    with those of other heads. It needs no gold links, and `by_head` leaves only the first.

    `layer`, or `layer` and `head`, is read by `measure` (norm or weight) in a `setting` (AWI or AWO; without one AWI, and
    for each head by agreement the better one). `by` the highest average norm ("norm", the paper's own rule) or the lowest
    error rate ("aer") a layer is chosen, or with `by_head` a head.

    `reverse` is a model from the target to the source: both directions are joined, as `symmetrise` says. `prompt` is for a
    decoder-only model: a template with {source} and {target}. To compare with: by `gradient` noisy copies gradients align
    as well (Ding et al., 2019), and by `eflomal` the statistical aligner, where it is installed. `engine` is who counts and
    links: here, or on a cluster (`headscope.engines.Ray`).
    """
    by_heads = layer is None and by == "agreement"
    setting = setting if by_heads or setting is not None else AWI
    about = {"layer": layer, "head": head, "measure": measure, "setting": setting, "by": by, "by_head": by_head}
    about |= {"reverse": None if reverse is None else _source(reverse).model, "symmetrise": symmetrise, "prompt": prompt}
    about |= {"gradient": gradient, "eflomal": eflomal, "corpus": corpus.fingerprint()}
    reads, gold = None if prompt is None else Prompt(prompt), has_gold(corpus)
    _check_rules(about, gold)
    check_run(as_path(out), "align", _source(lens), about)
    if isinstance(lens, ModelSource) or isinstance(reverse, ModelSource):
        chosen_so: Any = {name: value for name, value in about.items() if name not in ("reverse", "corpus")}
        with _opened(lens) as one, _opened(reverse) as other:
            chosen_so |= {"batch_size": batch_size, "engine": engine, "progress": progress}
            return align(one, corpus, out=out, reverse=other, **chosen_so)
    workspace = Workspace("align", as_path(out), lens, about, progress or Silent(), engine=engine)
    for model in filter(None, (lens, reverse)):
        check_model(model, reads)
        if layer is not None:
            check_place(model, layer, head)
    workspace.begin()

    def surveyed(model: Lens, part: str, some: Corpus) -> dict[str, pd.DataFrame]:
        """aer_layers and aer_heads where there are gold links, head_agreements where asked for, mean_norms in any case."""
        counted = survey(
            workspace, part, some, model, gold=gold, batch_size=batch_size, encoding=reads or BY_WORD,
            agreement=measure if by_heads else "",
        )  # fmt: skip
        found = {"mean_norms": mean_norms(counted), **(error_tables(counted) if gold else {})}
        return {**found, "head_agreements": agreements(counted, measure)} if by_heads else found

    def chosen(tables: Mapping[str, pd.DataFrame]) -> Choice | HeadSet:
        if by_heads:
            return by_agreement(tables["head_agreements"], measure=measure, setting=setting, most=1 if by_head else MOST)
        assert setting is not None
        if layer is not None:
            return Choice(layer, head, measure, setting)
        if by == "norm":
            return highest_norm(tables["mean_norms"], heads=by_head, measure=measure, setting=setting)
        return lowest_aer(tables["aer_heads" if by_head else "aer_layers"], column="aer_half_0")

    some = corpus if gold or not _has_more_than(SURVEYED, corpus) else corpus.take(SURVEYED)
    tables = surveyed(lens, "survey", some)
    for name, title in TITLES.items():
        if name in tables:
            workspace.add(Result(name, title, tables[name]))
    choices: dict[str, Choice | HeadSet] = {"forward": chosen(tables)}

    def by_model(model: Lens, linker: Linker) -> Way:
        return lambda part: link_part(workspace, part, corpus, model, linker)

    forward = partial(link, choice=choices["forward"], prompt=reads, batch_size=batch_size)
    ways = {"forward": by_model(lens, forward)}
    if reverse is not None:
        choices["reverse"] = chosen(surveyed(reverse, "survey-reverse", Corpus.from_documents(list(map(flip, some)))))
        ways["reverse"] = by_model(reverse, partial(_link_back, choice=choices["reverse"], batch_size=batch_size))
    if gradient:
        ways["gradient"] = by_model(lens, partial(gradient_links, samples=gradient))
    if eflomal:
        ways["eflomal"] = lambda part: link_whole(workspace, part, corpus, eflomal_links)
    written = _write_links(workspace.folder, ways, symmetrise)
    if gold:
        found = {path.stem: read_links(path, format="pharaoh") for path in written}
        table = link_scores(found, [document.alignment for document in corpus])
        workspace.add(Result("align_scores", "The links that were written, against the gold links", table))
    models = filter(None, (lens, reverse))
    said = [f"`{one.name}`: {choice.label}; {choice.why}." for one, choice in zip(models, choices.values(), strict=True)]
    warnings = [choice.warning for choice in choices.values() if isinstance(choice, HeadSet) and choice.warning]
    save_choices(workspace.folder, said, warnings)
    said += [*warnings, "`links.txt` has a line for each pair: source-target, both from 0."]
    return workspace.finish("Word alignments", said)


def save_choices(folder: Path, chosen: Sequence[str], warnings: Sequence[str]) -> None:
    """What was chosen and why, where a command can find it again."""
    write_text(folder / CHOICES, json.dumps({"chosen": chosen, "warnings": warnings}, indent=1) + "\n")


def read_choices(run: Run) -> dict[str, list[str]]:
    """`chosen`: a sentence for each model; `warnings`: what a reader of the links should know first."""
    found: dict[str, list[str]] = json.loads((run.folder / CHOICES).read_text())
    return found


def _source(lens: Lens | ModelSource) -> ModelSource:
    return lens if isinstance(lens, ModelSource) else lens.source


def _opened(lens: Any) -> Any:
    """A recipe, opened for as long as it is needed; what is open, or nothing, is left as it is."""
    return lens.open() if isinstance(lens, ModelSource) else nullcontext(lens)


def flip(document: Document) -> Document:
    """The pair the other way round."""
    gold = None if document.alignment is None else document.alignment.flipped()
    return replace(document, words=document.target_words, target_words=document.words, alignment=gold)


def _link_back(
    lens: Lens, documents: Sequence[Document], *, choice: Choice | HeadSet, batch_size: int
) -> list[frozenset[Pair]]:
    """Links from the source to the target, by a model from the target to the source."""
    found = link(lens, [flip(document) for document in documents], choice, batch_size=batch_size)
    return [flipped(links) for links in found]


def has_gold(corpus: Corpus) -> bool:
    """Whether its pairs have gold links."""
    for document in corpus:
        return document.alignment is not None
    raise InputError("There are no sentence pairs: there is nothing to align.")


def _has_more_than(count: int, corpus: Corpus) -> bool:
    return next(islice(corpus, count, None), None) is not None


def _check_rules(asked: Mapping[str, object], gold: bool) -> None:
    """What is asked for makes sense: said before anything is counted."""
    names = (("by", RULES), ("symmetrise", SYMMETRISATIONS), ("measure", MEASURES), ("setting", (*SETTINGS, None)))
    for name, known in names:
        if asked[name] not in known:
            raise InputError(f"{name} is one of {', '.join(filter(None, known))}, not {asked[name]!r}.")
    if asked["layer"] is None:
        if asked["head"] is not None:
            raise InputError(f"Head {asked['head']} of which layer? Give --layer too.")
        if asked["prompt"] is not None and asked["by"] != "aer":
            raise InputError(
                "In a prompt neither norms nor agreement tell which heads align: give --layer, or --by aer with --gold."
            )
        if asked["by"] == "aer" and not gold:
            raise InputError("The best layer by AER cannot be told without gold links: give --gold, or choose --by norm.")
    if asked["eflomal"]:
        find_program()


def _write_links(folder: Path, ways: Mapping[str, Way], symmetrise: str) -> list[Path]:
    """links.txt, and of two directions joined also each one's own; then what they are compared with."""
    both = "reverse" in ways
    paths = [folder / f"{'links' if name == 'forward' and not both else name}.txt" for name in ways]
    for path, way in zip(paths, ways.values(), strict=True):
        write_links(path, way(path.stem))
    if not both:
        return paths
    joined = folder / "links.txt"
    directions = zip(*(read_links(path, format="pharaoh") for path in paths[:2]), strict=True)
    write_links(joined, (Links.of(SYMMETRISATIONS[symmetrise](one.sure, other.sure)) for one, other in directions))
    return [joined, *paths]
