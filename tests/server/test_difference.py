"""POST /api/difference: what packing the difference of two readings gives, and a sentence where there is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from headscope.lens import Lens
from headscope.server import difference
from headscope.server.schemas import ReadAnswer
from headscope.views.difference import difference_of
from headscope.views.from_reading import content_of
from headscope.views.pack import pack
from tests.server.conftest import TEXT

OTHER = "the old cat sat on the mat"


def asked(client: TestClient, a: dict[str, Any], b: dict[str, Any], status: int = 200) -> dict[str, Any]:
    answer = client.post(
        "/api/difference", json={"a": {"model": "bert", "text": TEXT} | a, "b": {"model": "bert", "text": OTHER} | b}
    )
    assert answer.status_code == status, answer.text[:300]
    return answer.json()


@pytest.mark.parametrize("options", [{}, {"measures": ["weight", "effective"], "layers": [2, 0]}, {"exact": True}])
def test_it_is_what_packing_the_difference_gives(
    client: TestClient, lenses: dict[str, Lens], options: dict[str, Any]
) -> None:
    contents = []
    for text in (TEXT, OTHER):
        reading = lenses["bert"].read(text, layers=options.get("layers"))
        reading.model = "bert"
        contents.append(content_of(reading, options.get("measures", ["weight", "norm", "joint_norm"])))
    packed = pack(difference_of(*contents), level=1, exact=options.get("exact", False))
    right: dict[str, Any] = json.loads(json.dumps(packed.description))
    answer = asked(client, options, options)
    ReadAnswer.model_validate(answer)
    (found,), (expected,) = (one.pop("statistics") for one in (answer["description"], right))
    assert found.pop("values") == pytest.approx(expected.pop("values"), abs=1e-3)  # A's weights wait as half floats
    assert found == expected
    assert answer == {"description": right, "chunks": packed.chunks}


def test_source_and_target_of_two_translations(client: TestClient) -> None:
    one, other = ({"model": "fr-en", "text": "the cat sat", "target": target} for target in ("two dogs", "two old dogs"))
    found = asked(client, one, other)["description"]
    assert found["sides"]["target"]["joint"]["tokens"].count("put in") > 0
    assert set(found["sides"]["source"]["joint"]["tokens"]) == {""}
    assert {f"{each['stack']} {each['kind']}" for each in found["attentions"]} == {
        "encoder self",
        "decoder self",
        "decoder cross",
    }


def test_two_models_share_what_both_have(client: TestClient) -> None:
    found = asked(client, {}, {"model": "fr-en", "text": TEXT})["description"]
    assert {each["stack"] for each in found["attentions"]} == {"encoder"}
    assert found["model"] == "bert and fr-en"
    assert found["compared"]["notes"][-1] == "The two have different tokenizers: words can be compared, pieces hardly."


def test_what_cannot_be_compared_is_said(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    said = asked(client, {"layers": [0]}, {"layers": [1]}, 422)
    assert "nothing to compare" in said["error"]
    assert "no model" in asked(client, {}, {"model": "none"}, 404)["error"]
    monkeypatch.setattr(difference, "LARGEST", 10)
    assert "too long to be compared" in asked(client, {"text": "the mat"}, {}, 422)["error"]


def test_a_translator_with_a_target_and_one_without(client: TestClient) -> None:
    found = asked(client, {"model": "fr-en", "text": "the cat sat", "target": "two dogs"}, {"model": "fr-en"})["description"]
    assert {f"{each['stack']} {each['kind']}" for each in found["attentions"]} == {"encoder self"}
    assert (list(found["sides"]), list(found["sinks"])) == (["source"], ["encoder self"])
    assert "Only A has decoder cross attention: it is not compared." in found["compared"]["notes"]
