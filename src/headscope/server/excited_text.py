"""What is read when a text that excites a head is opened: the text, and the two tokens of its pair, which the views keep."""

from collections.abc import Sequence

from headscope.errors import InputError
from headscope.lens import Lens
from headscope.lens.tokens.encoding import TokenSequence
from headscope.lens.tokens.pieces import Pieces, sides
from headscope.report.heads.exemplars import Span
from headscope.report.schema import Exemplar, Mark, Marked
from headscope.server.schemas import ExcitedText
from headscope.text import Document

AROUND = (None, 800, 240, 60)  # characters on either side of the pair: all, or as many as leave a text that can be read


def excited_text(found: Exemplar, stack: str, kind: str, lens: Lens, max_tokens: int) -> ExcitedText | None:
    """The text as the model reads it alone; None where it cannot: too long, or a translation whose source is not known."""
    if lens.is_encoder_decoder and (stack, kind) == ("decoder", "self"):
        return None
    for around in AROUND:
        looking, marks = _plain(found["runs"], around)
        looked, others = _plain(found["attended_runs"], around) if found["attended_runs"] else ("", marks)
        document = Document(looked, target=looking) if looked else Document(looking)
        try:
            encoded = lens.encoder.encode(document)
        except InputError:  # longer than the model reads
            continue
        sequences = encoded.target or encoded.source, encoded.source
        if max(len(sequence) for sequence in sequences) > max_tokens:
            continue
        attending, attended = sides(encoded, stack, kind)
        row = _token(attending, sequences[0], found["attending"], marks.get("attending", marks.get("both")))
        key = _token(attended, sequences[1], found["attended"], others.get("attended", others.get("both")))
        keep = [] if row is None or key is None else [f"q{row}", f"k{key}"]
        return {"text": looked or looking, "target": looking if looked else "", "keep": keep}
    return None


def _plain(runs: Sequence[Marked], around: int | None) -> tuple[str, dict[Mark, Span]]:
    """The text without signs, with so much around its marks, and where these are in it.

    >>> _plain([{"text": "so the ", "mark": None}, {"text": "cat", "mark": "both"}, {"text": " sat", "mark": None}], 5)
    ('the cat sat', {'both': (4, 7)})
    """
    text, marks = "", {}
    places = [place for place, run in enumerate(runs) if run["mark"]]
    for place, run in enumerate(runs):
        shown = "" if run.get("sign") else run["text"]
        if around is not None and place < places[0]:
            shown = shown if len(shown) <= around else shown[-around:].partition(" ")[2]  # no half words
        if around is not None and place > places[-1]:
            shown = shown if len(shown) <= around else shown[:around].rpartition(" ")[0]
        shown = shown if text else shown.lstrip()
        if run["mark"]:
            marks[run["mark"]] = (len(text), len(text) + len(shown))
        text += shown
    return text.rstrip(), marks


def _token(pieces: Pieces, sequence: TokenSequence, label: str, span: Span | None) -> int | None:
    """The token that stands there: of those that read so, the nearest to the mark."""
    if span is None:
        return None
    wanted = label if span[0] < span[1] else ""  # of a space, a sign was shown
    alike = [at for at, special in enumerate(sequence.special) if not special and pieces.label(at) == wanted]
    return min(alike, key=lambda at: abs(pieces.span(at)[0] - span[0]), default=None)
