"""What a model predicts from a request's text, within the server's limits."""

from collections import OrderedDict
from dataclasses import replace

from headscope.lens import Lens
from headscope.lens.predicted import Predicted
from headscope.lens.predictions import Bounds, Whole, compares_texts, predict, similarity
from headscope.server.queue import Check
from headscope.server.reading import encode, out_of
from headscope.server.schemas import PredictRequest
from headscope.server.settings import Settings


class KeptWholes:
    """What whole models gave for the texts asked about last: heads are taken out of these one after another."""

    def __init__(self, most: int = 4) -> None:
        self.most = most
        self._kept: OrderedDict[str, Whole] = OrderedDict()

    def of(self, asked: PredictRequest) -> Whole:
        key = asked.model_dump_json(exclude={"without", "how", "beside"})
        self._kept[key] = self._kept.pop(key, Whole())
        while len(self._kept) > self.most:
            self._kept.popitem(last=False)
        return self._kept[key]


def predicted(lens: Lens, asked: PredictRequest, settings: Settings, check: Check, kept: KeptWholes) -> Predicted:
    """Where texts are compared: those of the pair, or else the text and the one beside it, each read by itself."""
    batch = encode(lens, asked, settings.max_tokens)
    out = out_of(asked)
    check()
    bounds = Bounds(settings.max_tokens, settings.writing_seconds)
    found = predict(lens, batch, out=out, whole=kept.of(asked), bounds=bounds, check=check)
    other = asked.pair or asked.beside
    if other is None or not compares_texts(lens):
        return found
    texts = [asked.model_copy(update={"text": text, "pair": None}) for text in (asked.text, other)]
    one, second = (encode(lens, text, settings.max_tokens) for text in texts)
    without = found.without and replace(found.without, similarity=similarity(lens, one, second, out=out, check=check))
    return replace(found, similarity=similarity(lens, one, second, check=check), without=without)
