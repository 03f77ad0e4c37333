"""Refusal: a request that gets a sentence instead of an answer."""

import json
from collections.abc import Mapping

from starlette.responses import Response


class Refusal(Exception):
    """What is wrong, as a status and one sentence: {"error": "..."}."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, dict(headers or {})

    def response(self) -> Response:
        # In ASCII: a sentence may quote half a character, which has no bytes of its own.
        return Response(json.dumps({"error": self.sentence}), self.status, self.headers, "application/json")
