"""POST /api/predict: what the model predicts, within limits, for those who wait."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import numpy as np
import pytest
from starlette.testclient import TestClient

import headscope
from headscope.errors import InputError
from headscope.lens import Lens
from headscope.lens.head import heads_of
from headscope.lens.predictions import Out, predict, similarity
from headscope.server import make_app
from headscope.server.models import give_means
from tests.lens.language_models import language_model, tokenizer_for
from tests.server.conftest import HOST, TEXT, client_of
from tests.server.unpacking import Unpacked
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

Serving = Callable[..., tuple[str, Any]]
OTHER = "two dogs and a cat"


@pytest.fixture(scope="module")
def lenses() -> Iterator[dict[str, Lens]]:
    """One of each kind: no head, a masked-LM head, a next-token head, and an encoder-decoder."""
    heads = {"masked": "bert", "next": "gpt2", "fr-en": "marian"}
    opened = {name: headscope.open(language_model(family), tokenizer_for(family)) for name, family in heads.items()}
    opened["bert"] = headscope.open(tiny("bert"), tiny_tokenizer("wordpiece"))
    yield opened
    for lens in opened.values():
        lens.close()


@pytest.fixture(scope="module")
def client(lenses: dict[str, Lens]) -> Iterator[TestClient]:
    with TestClient(make_app(lenses), base_url=HOST) as opened:
        yield opened


def predicted(client: TestClient, model: str, **asked: Any) -> dict[str, Any]:
    answer = client.post("/api/predict", json={"model": model, "text": TEXT, **asked})
    assert answer.status_code == 200, answer.text[:300]
    return dict(answer.json())


def refused(client: TestClient, status: int, **asked: Any) -> str:
    answer = client.post("/api/predict", json={"model": "next", "text": TEXT, **asked})
    assert answer.status_code == status, answer.text[:300]
    assert list(answer.json()) == ["error"]
    return str(answer.json()["error"])


def test_the_answer_is_the_lenses(client: TestClient, lenses: dict[str, Lens]) -> None:
    for model, text in (("next", TEXT), ("masked", "the [MASK] sat"), ("fr-en", TEXT), ("bert", TEXT)):
        lens = lenses[model]
        right = asdict(predict(lens, lens.encoder.batch([text])))
        for _ in range(2):  # made, and kept
            assert predicted(client, model, text=text) == right


def test_without_heads_the_answer_is_the_lenses(client: TestClient, lenses: dict[str, Lens]) -> None:
    asked = {"next": TEXT, "masked": "the [MASK] sat", "fr-en": TEXT, "bert": TEXT}
    for model, text in asked.items():
        lens, heads = lenses[model], [head.name for head in heads_of(lenses[model].sites[-1])][:2]
        right = asdict(predict(lens, lens.encoder.batch([text]), out=Out(tuple(heads))))
        for _ in range(2):  # made, and kept
            assert predicted(client, model, text=text, without=heads) == right
        assert right["without"]["heads"] == heads
        assert predicted(client, model, text=text)["without"] is None


def test_how_alike_two_texts_are_without_heads(client: TestClient, lenses: dict[str, Lens]) -> None:
    lens = lenses["bert"]
    texts = [lens.encoder.batch([text]) for text in (TEXT, OTHER)]
    found = predicted(client, "bert", beside=OTHER, without=["0.1", "1"])
    assert found["similarity"] == similarity(lens, *texts)
    assert found["without"]["similarity"] == similarity(lens, *texts, out=Out(("0.1", "1"))) != found["similarity"]


def test_a_text_is_read_without_heads(client: TestClient, lenses: dict[str, Lens]) -> None:
    asked = {"model": "next", "text": TEXT, "exact": True, "measures": ["weight"]}
    whole, without = (client.post("/api/read", json={**asked, **more}).json() for more in ({}, {"without": ["0.1"]}))
    with lenses["next"].without("0.1", how="zero"):
        right = lenses["next"].read(TEXT).scores("weight")
    found = [
        [Unpacked(answer).scores(one, "weight") for one in answer["description"]["attentions"]]
        for answer in (whole, without)
    ]
    assert np.array_equal(found[0][0], found[1][0])  # what stands before it is as it was
    for layer in range(len(right)):
        assert np.array_equal(found[1][layer], right[layer].numpy())
    assert not np.array_equal(found[0][1], found[1][1])


def test_the_whole_model_runs_once_for_all_heads_that_are_taken_out(lenses: dict[str, Lens]) -> None:
    lens, passes = lenses["next"], []
    handle = lens.model.register_forward_pre_hook(lambda *_: passes.append(1))
    try:
        with client_of(lenses) as client:
            first = predicted(client, "next")
            found = [predicted(client, "next", without=[head]) for head in ("0.0", "0.1", "1.2")]
            assert len(passes) == 4
            assert {one["loss"] for one in found} == {first["loss"]}
            assert len({one["without"]["loss"] for one in found}) == 3
            for number in range(5):  # other texts, and the first is forgotten
                predicted(client, "next", text=f"{TEXT}{' the' * number}.")
            passes.clear()
            predicted(client, "next", without=["0.2"])
            assert len(passes) == 2
    finally:
        handle.remove()


def test_means_take_the_place_of_heads_where_they_are_known() -> None:
    with headscope.open(language_model("gpt2"), tokenizer_for("gpt2")) as lens:
        lens.head_means([TEXT, OTHER])
        with TestClient(make_app({"next": lens}), base_url=HOST) as client:
            assert client.get("/api/models").json()[0]["means"] is True
            found = predicted(client, "next", without=["1.2"], how="mean")
        assert found == asdict(predict(lens, lens.encoder.batch([TEXT]), out=Out(("1.2",), "mean")))
        assert found["without"]["how"] == "mean"


def test_means_come_from_a_file_or_a_run(lenses: dict[str, Lens], tmp_path: Path) -> None:
    """`serve --means FILE`, or NAME=FILE."""
    with headscope.open(language_model("gpt2"), tokenizer_for("gpt2")) as lens:
        made = lens.head_means([TEXT, OTHER])
        made.save(tmp_path / "means.safetensors")
        right = predict(lens, lens.encoder.batch([TEXT]), out=Out(("1.2",), "mean"))
        headscope.ablate(lens, [TEXT, OTHER], heads=["1.2"], each=False, out=tmp_path / "run")
    for file in ("means.safetensors", "run"):
        with headscope.open(language_model("gpt2"), tokenizer_for("gpt2")) as lens:
            for wrong, says in ((f"other={tmp_path / file}", "no model 'other'"), ("gone", "gone has no means of heads")):
                with pytest.raises(InputError, match=says):
                    give_means({"next": lens}, [wrong])
            with pytest.raises(InputError, match="there are several models"):
                give_means({"next": lens, "bert": lenses["bert"]}, [str(tmp_path / file)])
            with pytest.raises(InputError, match="take the means of this model"):
                give_means({"bert": lenses["bert"]}, [str(tmp_path / file)])
            assert lens.means is lenses["bert"].means is None
            give_means({"next": lens, "bert": lenses["bert"]}, [f"next={tmp_path / file}"])
            found = predict(lens, lens.encoder.batch([TEXT]), out=Out(("1.2",), "mean"))
            assert found.without.loss == pytest.approx(right.without.loss, abs=1e-6)


def test_reading_and_predicting_are_kept_apart(client: TestClient) -> None:
    assert "chunks" in client.post("/api/read", json={"model": "next", "text": TEXT}).json()
    assert predicted(client, "next")["gaps"][0]["guesses"]


def test_models_say_what_they_predict(client: TestClient) -> None:
    found = {one["name"]: (one["predicts"], one["mask"], one["compares"]) for one in client.get("/api/models").json()}
    assert found == {
        "masked": ("masked", "[MASK]", False),
        "next": ("next", None, False),
        "fr-en": ("target", None, False),
        "bert": (None, None, True),
    }


def test_two_texts_are_compared(client: TestClient, lenses: dict[str, Lens]) -> None:
    lens = lenses["bert"]
    right = similarity(lens, *(lens.encoder.batch([text]) for text in (TEXT, OTHER)))
    for asked in ({"pair": OTHER}, {"beside": OTHER}, {"pair": OTHER, "beside": "the end"}):
        assert predicted(client, "bert", **asked)["similarity"] == right
    assert predicted(client, "bert")["similarity"] is None
    assert predicted(client, "next", beside=OTHER)["similarity"] is None


@pytest.mark.parametrize(
    ("status", "asked", "said"),
    [
        (404, {"model": "other"}, "choose one of masked, next, fr-en, bert"),
        (422, {"text": ""}, "text"),
        (422, {"text": " "}, "empty"),
        (422, {"measures": ["weight"]}, "measures"),
        (422, {"beside": ""}, "beside"),
        (422, {"model": "bert", "beside": " "}, "empty"),
        (422, {"target": "two"}, "takes no target"),
        (422, {"text": "a " * 100}, "at most 64"),
        (422, {"model": "bert", "beside": "a " * 100}, "at most 64"),
        (422, {"without": ["9.0"]}, "There is no layer 9.0"),
        (422, {"without": ["cat"]}, "'cat' is not a head"),
        (422, {"without": ["0.1"], "how": "mean"}, "lens.head_means"),
        (422, {"without": ["0.1"], "how": "resample"}, "how"),
        (422, {"without": ["0.1"] * 1001}, "without"),
        (422, {"without": ["0" * 61]}, "without"),
        (422, {"without": "0.1"}, "without"),
    ],
)
def test_what_cannot_be_predicted_gets_a_sentence(client: TestClient, status: int, asked: dict[str, Any], said: str) -> None:
    assert said in refused(client, status, **asked)


def test_limits(lenses: dict[str, Lens]) -> None:
    with client_of(lenses, max_tokens=8, writing_seconds=0.0) as client:
        assert "at most 8" in refused(client, 422)
        assert predicted(client, "next", truncate=True)["gaps"][0]["position"] == 7  # and the end token
        assert predicted(client, "fr-en", truncate=True)["complete"] is False


def test_other_pages_and_names_are_refused(client: TestClient) -> None:
    asked = {"json": {"model": "next", "text": TEXT}}
    assert client.post("/api/predict", headers={"Origin": "http://evil.example"}, **asked).status_code == 403
    assert client.post("/api/predict", headers={"Host": "evil.example"}, **asked).status_code == 421


def test_who_leaves_stops_the_writing(serving: Serving, lenses: dict[str, Lens]) -> None:
    """The client hangs up at the second token of a text that would have many more."""
    address, app = serving(lenses)
    begun, steps = threading.Event(), []

    def slowly(*given: Any) -> None:
        steps.append(1)
        if len(steps) == 2:
            begun.set()
            time.sleep(0.5)

    place = urlsplit(address)
    handle = lenses["fr-en"].model.get_decoder().register_forward_pre_hook(slowly)
    try:
        with socket.create_connection((place.hostname, place.port)) as connection:
            body = b'{"model": "fr-en", "text": "the cats sat on the mat"}'
            head = f"POST /api/predict HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            assert begun.wait(20)
            assert app.state.queue.waiting == 1
        end = time.monotonic() + 10
        while app.state.queue.waiting:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert len(steps) == 2
    finally:
        handle.remove()
    answer = httpx2.post(f"{address}/api/predict", json={"model": "fr-en", "text": "the cats sat on the mat"}, timeout=30)
    assert answer.json()["written"]
