"""What a model predicts from a request's text, within the server's limits."""

from dataclasses import replace

from headscope.lens import Lens
from headscope.lens.predicted import Predicted
from headscope.lens.predictions import Bounds, compares_texts, predict, similarity
from headscope.server.queue import Check
from headscope.server.reading import encode
from headscope.server.schemas import PredictRequest
from headscope.server.settings import Settings


def predicted(lens: Lens, asked: PredictRequest, settings: Settings, check: Check) -> Predicted:
    """Where texts are compared: those of the pair, or else the text and the one beside it, each read by itself."""
    batch = encode(lens, asked, settings.max_tokens)
    check()
    found = predict(lens, batch, bounds=Bounds(settings.max_tokens, settings.writing_seconds), check=check)
    other = asked.pair or asked.beside
    if other is None or not compares_texts(lens):
        return found
    texts = [asked.model_copy(update={"text": text, "pair": None}) for text in (asked.text, other)]
    one, second = (encode(lens, text, settings.max_tokens) for text in texts)
    return replace(found, similarity=similarity(lens, one, second, check=check))
