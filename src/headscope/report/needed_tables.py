"""What a study must count for a report to have every part, and what is added with the model still at hand."""

from collections.abc import Iterable, Sequence

from headscope.heads.copying import NAME as COPYING
from headscope.heads.copying import add_copying
from headscope.heads.exemplars import add_exemplars
from headscope.heads.repeats_without import NAME as WITHOUT
from headscope.heads.repeats_without import add_repeats_without
from headscope.lens.lens import Lens
from headscope.measures import can_have
from headscope.statistics import STATISTICS, DistanceProfile, Exemplars, JensenShannon, PositionMap, Statistic
from headscope.statistics.surface.null_attention import is_decoder_only
from headscope.study import Run
from headscope.study.repeats import NAME as REPEATS
from headscope.study.repeats import Frame, add_repeats
from headscope.text import Document

EACH = ("entropy", "distance", "offsets", "special_tokens", "punctuation", "strength", "beyond_sinks")
WITHOUT_LENGTH = 25  # of those that are read once for every head of a layer
LENGTH, SHORTEST = 40, 10  # tokens of a repeated sequence; a model of amino acids has too few different ones


def report_statistics(lens: Lens, measures: Sequence[str] | None = None) -> list[Statistic]:
    """Roles and shares by every measure; how heads are alike, which texts excite them, and what cards draw, by weight.

    The measures are weight and norm, where all attentions have norms. Texts are found without the first token of a decoder:
    it is the strongest in every text of every head.
    """
    chosen = measures or [name for name in ("weight", "norm") if all(can_have(site, name) for site in lens.sites)]
    each = [STATISTICS[name](measure=measure) for measure in chosen for name in EACH]
    pictures = [PositionMap(), DistanceProfile()]
    return [*each, JensenShannon(), Exemplars(without_first=is_decoder_only(lens.sites)), *pictures]


def add_model_tables(lens: Lens, run: Run, documents: Iterable[Document]) -> None:
    """Texts that people can read, heads on repeated random tokens, what these cost without the heads that look for copies,
    and copying scores: what needs the model once more."""
    if any(name.startswith("exemplars") for name in run):
        add_exemplars(lens, run, documents)
    length = _repeated(lens)
    if REPEATS not in run and length >= SHORTEST:
        add_repeats(lens, run, sequences=8, length=length)
    if WITHOUT not in run and length >= SHORTEST:
        add_repeats_without(lens, run, length=min(length, WITHOUT_LENGTH))
    if COPYING not in run:
        add_copying(lens, run)


def _repeated(lens: Lens) -> int:
    """How long a sequence can be: its unrepeated twin has other tokens, and both halves must fit the model."""
    frame = Frame.of(lens)
    room = (lens.max_tokens or 4 * LENGTH) - len(frame.before) - len(frame.after) - len(frame.target_before)
    return min(LENGTH, len(frame.ordinary) // 2, room // 2)
