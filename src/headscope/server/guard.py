"""Guard: who is let in, before anything else looks at a request; and the headers that every answer carries.

A server on this machine can be reached by every page that is open in a browser here. So the Host must be ours, the
Origin, where a browser sends one, must be the very page that we served, and a body may not be larger than it needs to be.
"""

import asyncio
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headscope.server.refusal import Refusal
from headscope.server.settings import Settings

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",  # the page has its own
}
BODY_SECONDS = 30  # that a request's body may take to arrive
_FROM_ELSEWHERE = ("cross-site", "same-site")  # what a browser says of a request that another page makes


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings
        self.cookie = f"headscope_{settings.port}"  # cookies do not tell the ports of a machine apart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, _with_headers(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        app = self.app
        try:
            self._check_sender(headers, scope)
            app = self._check_token(headers, scope) or self.app
            receive = await self._bounded(headers, receive)
        except Refusal as refused:
            app = refused.response(headers)
        await app(scope, receive, send)

    def _check_sender(self, headers: Headers, scope: Scope) -> None:
        host = headers.getlist("host")
        if len(host) != 1 or not self.settings.allows_host(host[0]):
            raise Refusal(421, "This server does not go by that name: open the address that headscope serve printed.")
        other = any(origin != f"{scope['scheme']}://{host[0]}" for origin in headers.getlist("origin"))
        if other or (scope["path"] != "/" and headers.get("sec-fetch-site") in _FROM_ELSEWHERE):
            raise Refusal(403, "Another page asks for this: only the page of this server may.")

    def _check_token(self, headers: Headers, scope: Scope) -> Response | None:
        """None for those who have the token; a way in for those who bring it in the page's address."""
        token = self.settings.token
        if token is None:
            return None
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if (scheme.lower() == "bearer" and _same(bearer.strip(), token)) or _same(self._kept(headers), token):
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and scope["method"] == "GET" and _same(given, token):
            answer = RedirectResponse("/", status_code=303)  # so that the token does not stay in the address
            answer.set_cookie(self.cookie, token, httponly=True, samesite="lax")
            return answer
        sentence = "This server needs its token: open the address that headscope serve printed, or send it as a Bearer."
        raise Refusal(401, sentence, {"WWW-Authenticate": "Bearer"})

    def _kept(self, headers: Headers) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return "" if found is None else found.value

    async def _bounded(self, headers: Headers, receive: Receive) -> Receive:
        """The same request with its body read: at most so many bytes, whatever its headers say."""
        most = self.settings.max_bytes
        sentence = f"The request is larger than {most:,} bytes, which is the most that this server takes: shorten the text."
        length = headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length[:20]) > most:
            raise Refusal(413, sentence, {"Connection": "close"})
        body, more = b"", True
        message: Message = {"type": "http.disconnect"}
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while more and (message := await receive())["type"] == "http.request":
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > most:
                        raise Refusal(413, sentence, {"Connection": "close"})
        except TimeoutError:
            raise Refusal(408, "The rest of the request did not come: send it again.", {"Connection": "close"}) from None
        waiting: list[Message] = [message if more else {"type": "http.request", "body": body, "more_body": False}]

        async def replayed() -> Message:
            return waiting.pop() if waiting else await receive()

        return replayed


def _same(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode(), token.encode())


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
