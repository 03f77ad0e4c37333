"""Who is let in: names, origins, tokens, sizes, paths; in this process, and over a real socket where it matters."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from headscope.errors import InputError
from headscope.lens import Lens
from headscope.server import Settings, guard, make_app
from headscope.server import serving as serving_module
from tests.server.conftest import HOST, TEXT, client_of

ASKED = {"model": "bert", "text": TEXT}
TOKEN = "a-token-of-ours"


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"])
def test_our_own_names_are_let_in(client: TestClient, host: str) -> None:
    assert client.get("/api/models", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8765.evil.example", "", "0.0.0.0:8765"],
)
def test_other_names_are_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/api/models", "/api/openapi.json"):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == 421
        assert "headscope serve printed" in answer.json()["error"]


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://127.0.0.1:3000",
        "http://localhost:8765",
        "https://127.0.0.1:8765",
        "null",
        "",
        HOST + "/",
    ],
)
def test_other_origins_are_refused(client: TestClient, origin: str) -> None:
    assert client.post("/api/read", json=ASKED, headers={"Origin": origin}).status_code == 403
    assert client.get("/api/models", headers={"Origin": origin}).status_code == 403


def test_our_own_origin_is_let_in(client: TestClient) -> None:
    own = {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/read", json=ASKED, headers=own).status_code == 200


def test_other_pages_are_refused_where_a_browser_names_no_origin(client: TestClient) -> None:
    for site in ("cross-site", "same-site"):
        assert client.get("/api/models", headers={"Sec-Fetch-Site": site}).status_code == 403
        assert client.get("/", headers={"Sec-Fetch-Site": site}).status_code == 200  # a link to the page may be followed
    assert client.get("/api/models", headers={"Sec-Fetch-Site": "none"}).status_code == 200


def test_no_other_page_is_allowed_to_read_answers(client: TestClient) -> None:
    asks = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = client.options("/api/read", headers=asks)
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_every_answer_has_the_headers(client: TestClient) -> None:
    answers = [
        client.get("/"),
        client.get("/api/models"),
        client.get("/nothing"),
        client.post("/api/read", json=ASKED),
        client.post("/api/read", json={}),
        client.get("/", headers={"Host": "evil.example"}),
    ]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_the_page_may_ask_its_own_server_and_nobody_else(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    assert "connect-src 'self'" in page.text
    assert '"run":false,"kind":"live"' in page.text


def test_a_token_is_needed_where_others_can_reach_the_server(lenses: dict[str, Lens]) -> None:
    with pytest.raises(InputError, match="needs a token"):
        make_app(lenses, settings=Settings(host="0.0.0.0"))
    with pytest.raises(InputError, match="letters, digits"):
        Settings(token="a b;c\r\nd")


def test_the_token(lenses: dict[str, Lens]) -> None:
    with client_of(lenses, host="0.0.0.0", token=TOKEN) as client:
        for path in ("/", "/api/models", "/api/run", "/api/openapi.json", "/nothing", "/api/models?token=" + TOKEN):
            answer = client.get(path)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer"), path
        assert client.post("/api/read", json=ASKED).status_code == 401
        for wrong in ("Bearer wrong", TOKEN, "Basic " + TOKEN, "Bearer", f"Bearer {TOKEN}x", "Bearer caf\xe9"):
            assert client.get("/api/models", headers={"Authorization": wrong.encode("latin-1")}).status_code == 401
        assert client.get("/api/models", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert client.get("/?token=wrong").status_code == 401
        assert client.get("/api/models", headers={"Cookie": "headscope_8765=wrong"}).status_code == 401


def test_the_token_is_given_once_and_leaves_the_address(lenses: dict[str, Lens]) -> None:
    with client_of(lenses, host="0.0.0.0", token=TOKEN) as client:
        entered = client.get(f"/?token={TOKEN}", follow_redirects=False)
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        assert "HttpOnly" in entered.headers["set-cookie"]
        assert client.get("/").status_code == 200
        assert client.get("/api/models").status_code == 200


def test_names_of_a_machine_that_listens_everywhere(lenses: dict[str, Lens]) -> None:
    with client_of(lenses, host="0.0.0.0", token=TOKEN) as client:
        let_in = {"Authorization": f"Bearer {TOKEN}"}
        for host in (f"{socket.gethostname()}:8765", "192.168.3.4:8765", "[fe80::1]:8765"):
            assert client.get("/api/models", headers={**let_in, "Host": host}).status_code == 200, host
        for host in ("evil.example:8765", "192.168.3.4:9", "192.168.3.4"):
            assert client.get("/api/models", headers={**let_in, "Host": host}).status_code == 421, host


def test_a_body_that_is_too_large(lenses: dict[str, Lens]) -> None:
    with client_of(lenses, max_bytes=1000) as client:
        answer = client.post("/api/read", json={**ASKED, "text": "a" * 1000})
        assert answer.status_code == 413
        assert "1,000 bytes" in answer.json()["error"]
        pieces = (b"x" * 100 for _ in range(11))  # no Content-Length
        assert client.post("/api/read", content=pieces).status_code == 413
        assert client.request("GET", "/api/models", content=b"x" * 1001).status_code == 413
        assert client.post("/api/read", json=ASKED).status_code == 200


def test_a_body_that_never_comes(
    serving: Callable[..., tuple[str, Any]], lenses: dict[str, Lens], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.2)
    address = urlsplit(serving(lenses)[0]).netloc
    name, port = address.split(":")
    with socket.create_connection((name, int(port)), timeout=10) as connection:
        connection.sendall(f"POST /api/read HTTP/1.1\r\nHost: {address}\r\nContent-Length: 100\r\n\r\nabc".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.split()[1] == b"408"


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHo"])
@pytest.mark.parametrize("answered", [False, True])
def test_a_request_whose_first_lines_never_come(
    serving: Callable[..., tuple[str, Any]],
    lenses: dict[str, Lens],
    monkeypatch: pytest.MonkeyPatch,
    begun: bytes,
    answered: bool,
) -> None:
    """Neither a new connection nor one that has been answered before is kept for it."""
    monkeypatch.setattr(serving_module, "HEAD_SECONDS", 0.3)
    address = urlsplit(serving(lenses)[0]).netloc
    name, port = address.split(":")
    with socket.create_connection((name, int(port)), timeout=8) as connection:
        if answered:
            connection.sendall(f"GET /favicon.ico HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
            assert connection.recv(65536).startswith(b"HTTP/1.1 204")
        connection.sendall(begun)
        assert connection.recv(65536) == b""  # it is closed; else, an error after eight seconds


PATHS = [
    "/../pyproject.toml",
    "/..%2fpyproject.toml",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/..%5c..%5cetc",
    "//etc/passwd",
    "/api/..",
    "/api/../../etc/passwd",
    "/api/run/../manifest.json",
    "/api/run/manifest.json",
    "/api/run/%2e%2e/manifest.json",
    "/api/heads/encoder/self/0/..%2f..%2f0/exemplars",
    "/api/heads/..%2f/self/0/0/exemplars",
    "/api/heads/encoder/self/0/0/exemplars/../../../../../../../../etc/passwd",
    "/manifest.json",
    "/tables/entropy.parquet",
    "/headscope.js",
    "/%00",
    "/api/models/",
    "/api/models%00",
    "/\xff",
    "*",
    "http://127.0.0.1/etc/passwd",
    "file:///etc/passwd",
]


def test_path_tricks_fetch_nothing(serving: Callable[..., tuple[str, Any]], lenses: dict[str, Lens]) -> None:
    """Over a socket: clients tidy addresses up before they send them."""
    address = urlsplit(serving(lenses)[0]).netloc
    name, port = address.split(":")
    for path in PATHS:
        with socket.create_connection((name, int(port)), timeout=10) as connection:
            asked = f"GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
            connection.sendall(asked.encode("latin-1"))
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        status = int(answer.split()[1])
        assert status in (400, 403, 404, 421, 422), (path, answer)
        assert b"root:" not in answer
        assert b"PAR1" not in answer
        assert len(answer) < 2000


def test_what_is_no_http_and_two_hosts(serving: Callable[..., tuple[str, Any]], lenses: dict[str, Lens]) -> None:
    address = urlsplit(serving(lenses)[0]).netloc
    name, port = address.split(":")
    for raw in (
        b"nonsense\r\n\r\n",
        f"GET /api/models HTTP/1.1\r\nHost: {address}\r\nHost: evil.example\r\nConnection: close\r\n\r\n".encode(),
        b"GET /api/models HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET /api/models HTTP/1.0\r\n\r\n",
    ):
        with socket.create_connection((name, int(port)), timeout=10) as connection:
            connection.sendall(raw)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        assert int(answer.split()[1]) in (400, 421), answer
