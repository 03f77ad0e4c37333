"""Refusal: a request that gets a sentence instead of an answer."""

import html
import json
from collections.abc import Mapping

from starlette.responses import HTMLResponse, Response

PAGE = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>headscope</title>\n</head>\n'
    "<body>\n<main>\n<h1>headscope</h1>\n<p>{}</p>\n</main>\n</body>\n</html>\n"
)


class Refusal(Exception):
    """What is wrong, as a status and one sentence: {"error": "..."}."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, dict(headers or {})

    def response(self, asked: Mapping[str, str]) -> Response:
        """JSON; to a browser that asks for a page (by the headers of its request), the sentence as one."""
        if "text/html" in asked.get("accept", ""):
            sentence = html.escape(self.sentence).encode("ascii", "xmlcharrefreplace").decode()
            return HTMLResponse(PAGE.format(sentence), self.status, self.headers)
        # In ASCII: a sentence may quote half a character, which has no bytes of its own.
        return Response(json.dumps({"error": self.sentence}), self.status, self.headers, "application/json")
