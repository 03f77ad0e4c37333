"""POST /api/read: the numbers are the reading's, and what cannot be read gets a sentence."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from headscope.lens import Lens
from headscope.server import make_app, reading
from headscope.server.schemas import ReadAnswer
from headscope.views.from_reading import content_of
from headscope.views.pack import pack
from tests.server.conftest import HOST, TEXT, client_of
from tests.server.unpacking import Unpacked

SENTENCE_ENDS = (".", "!")


def read(client: TestClient, **asked: Any) -> dict[str, Any]:
    answer = client.post("/api/read", json={"model": "bert", "text": TEXT, **asked})
    assert answer.status_code == 200, answer.text[:300]
    return answer.json()


def refused(client: TestClient, status: int, **asked: Any) -> str:
    answer = client.post("/api/read", json={"model": "bert", "text": TEXT, **asked})
    assert answer.status_code == status, answer.text[:300]
    assert list(answer.json()) == ["error"]
    assert answer.json()["error"].endswith(SENTENCE_ENDS)
    return answer.json()["error"]


@pytest.mark.parametrize("exact", [False, True])
def test_the_numbers_are_those_of_the_reading(client: TestClient, lenses: dict[str, Lens], exact: bool) -> None:
    measures = ["weight", "norm", "joint_norm", "effective"]
    answer = Unpacked(read(client, measures=measures, exact=exact))
    reading = lenses["bert"].read(TEXT)
    assert answer.description["sides"]["source"]["raw"] == reading.tokens
    assert [one["layer"] for one in answer.description["attentions"]] == [0, 1, 2]
    for measure in measures:
        for attention in answer.description["attentions"]:
            right = reading.scores(measure, layer=attention["layer"]).numpy()
            within = 1e-6 if exact else 0.51 / 255 * (right.max((1, 2)) - np.minimum(right.min((1, 2)), 0)).max()
            np.testing.assert_allclose(answer.scores(attention, measure), right, rtol=0, atol=within)


def test_it_is_what_packing_the_whole_reading_gives(client: TestClient, lenses: dict[str, Lens]) -> None:
    for asked in ({"neurons": True}, {"pair": "two dogs", "measures": ["weight", "effective"], "layers": [2, 0]}):
        reading = lenses["bert"].read(TEXT, pair=asked.get("pair"), layers=asked.get("layers"))
        reading.model = "bert"  # what it is called at this server
        usual = asked.get("measures", ["weight", "norm", "joint_norm"])
        packed = pack(content_of(reading, usual, neurons=asked.get("neurons", False)), level=1)
        assert read(client, **asked) == {"description": json.loads(json.dumps(packed.description)), "chunks": packed.chunks}


def test_source_and_target(client: TestClient) -> None:
    answer = Unpacked(read(client, model="fr-en", text="the cat sat", target="two dogs", neurons=True))
    groups = [(one["stack"], one["kind"], one["query"], one["key"]) for one in answer.description["attentions"]]
    assert set(groups) == {
        ("encoder", "self", "source", "source"),
        ("decoder", "self", "target", "target"),
        ("decoder", "cross", "target", "source"),
    }
    cross = next(one for one in answer.description["attentions"] if one["kind"] == "cross")
    np.testing.assert_allclose(answer.scores(cross, "weight").sum(-1), 1, atol=0.05)
    assert cross["neurons"]["queries"]["form"] == "levels"


def test_an_answer_fits_its_own_description(client: TestClient) -> None:
    for asked in ({"neurons": True}, {"exact": True, "measures": ["weight", "norm"]}):
        ReadAnswer.model_validate(read(client, **asked))


def test_compressed_for_those_who_take_it(client: TestClient) -> None:
    asked = {"model": "bert", "text": TEXT}
    packed = client.post("/api/read", json=asked)
    plain = client.post("/api/read", json=asked, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert plain.json() == packed.json()
    assert int(packed.headers["content-length"]) < len(plain.content)
    with client.stream("POST", "/api/read", json=asked) as raw:
        assert gzip.decompress(b"".join(raw.iter_raw())) == plain.content


def test_limits_are_said(lenses: dict[str, Lens]) -> None:
    with client_of(lenses, max_tokens=8) as client:
        assert client.get("/api/models").json()[0]["max_tokens"] == 8
        assert "12 tokens" in (sentence := refused(client, 422))
        assert "at most 8" in sentence
        assert "at most 8" in refused(client, 422, text="a" * 1000)
        assert "at most 8" in refused(client, 422, model="fr-en", text="a", target="the cat sat on the mat the end")
        assert len(read(client, truncate=True)["description"]["sides"]["source"]["tokens"]) == 8
        assert len(read(client, text="a " * 5000, truncate=True)["description"]["sides"]["source"]["tokens"]) == 8


def test_the_models_own_limit_is_said(client: TestClient) -> None:
    sentence = refused(client, 422, text="a " * 100)
    assert sentence.startswith("The text has 102 tokens, and bert reads at most 64")
    assert "--" not in sentence  # there is no command line on a page


@pytest.mark.parametrize(
    ("status", "asked", "said"),
    [
        (404, {"model": "../bert"}, "choose one of bert, fr-en"),
        (422, {"measures": ["loudness"]}, "There is no measure 'loudness'"),
        (422, {"measures": ["value_norm"]}, "one number a token"),
        (422, {"measures": []}, "measures"),
        (422, {"layers": [7]}, "no attention in layer 7"),
        (422, {"layers": [-1]}, "no attention in layer -1"),
        (422, {"layers": []}, "layers"),
        (422, {"text": ""}, "text"),
        (422, {"text": " \n"}, "empty"),
        (422, {"text": None}, "text"),
        (422, {"text": ["a"]}, "text"),
        (422, {"text": "a", "pair": " "}, "pair is empty"),
        (422, {"target": "a"}, "not an encoder-decoder"),
        (422, {"neurons": "yes"}, "neurons"),
        (422, {"colour": "red"}, "colour"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(client: TestClient, status: int, asked: dict[str, Any], said: str) -> None:
    assert said in refused(client, status, **asked)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"\xff\xfe", b"null", b'{"model": "bert", "text": "\\ud800"}', b'{"\\udfff": 1}', b"[" * 100_000],
)
def test_what_is_no_request_gets_a_sentence(client: TestClient, body: bytes) -> None:
    answer = client.post("/api/read", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert list(answer.json()) == ["error"]


def test_what_breaks_inside_is_a_sentence_too(lenses: dict[str, Lens], monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*given: Any) -> None:
        raise RuntimeError("a secret at /home/ann")

    monkeypatch.setattr(reading, "read", breaks)
    with TestClient(make_app(lenses), base_url=HOST, raise_server_exceptions=False) as client:
        answer = client.post("/api/read", json={"model": "bert", "text": TEXT})
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
        monkeypatch.undo()
        assert client.post("/api/read", json={"model": "bert", "text": TEXT}).status_code == 200


def test_strange_texts_are_read(client: TestClient) -> None:
    for text in ("<script>alert(1)</script>", "\u202e\x00猫🙂", "\n\n a \t", "the" * 300):
        assert read(client, text=text)["description"]["attentions"]


def test_a_text_asked_for_again_is_not_read_again(lenses: dict[str, Lens], monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    run = lenses["bert"].run
    monkeypatch.setattr(lenses["bert"], "run", lambda *given, **named: (runs.append(1), run(*given, **named)))
    with client_of(lenses) as client:
        assert read(client) == read(client)
        assert len(runs) == 1
        read(client, truncate=True)
        assert len(runs) == 2
    with client_of(lenses, kept_bytes=100) as client:
        read(client), read(client)
        assert len(runs) == 4


def test_models_are_described(client: TestClient) -> None:
    bert, marian = client.get("/api/models").json()
    assert (bert["name"], bert["layers"], bert["heads"], bert["encoder_decoder"], bert["max_tokens"]) == (
        "bert",
        3,
        12,
        False,
        64,
    )
    assert bert["attentions"] == [{"stack": "encoder", "kind": "self", "layers": [0, 1, 2], "heads": [4, 4, 4]}]
    assert [one["name"] for one in bert["measures"]][:3] == ["weight", "norm", "joint_norm"]
    assert "value_norm" not in [one["name"] for one in bert["measures"]]
    assert marian["encoder_decoder"]
    assert (marian["layers"], marian["heads"]) == (4, 24)  # two and two: self and cross attention of a layer are one layer
    assert [(one["stack"], one["kind"]) for one in marian["attentions"]] == [
        ("encoder", "self"),
        ("decoder", "self"),
        ("decoder", "cross"),
    ]


def test_every_measure_that_is_offered_can_be_read(client: TestClient) -> None:
    for model in client.get("/api/models").json():
        names = [one["name"] for one in model["measures"]]
        target = {"target": "two dogs"} if model["encoder_decoder"] else {}
        answer = read(client, model=model["name"], measures=names, **target)
        assert [one["name"] for one in answer["description"]["measures"]] == names
