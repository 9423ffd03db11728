"""Who is let into the page: the holder of its token, by its own address, and nobody else."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from page_served import Page, opened, served

from memtape.tools.page.drawing import VIEWS
from memtape.tools.page.guard import CONNECTIONS, HEADERS, MAX_BODY_BYTES

OTHER = "/static/page.css /static/page.js /nothing"
HOSTS = ["evil.com", "evil.com:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}", "[::1]:{port}", ""]
PATHS = [*(view.path for view in VIEWS), *OTHER.split()]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with served(tmp_path_factory.mktemp("home"), "project:mine") as page:
        yield page


@pytest.fixture
def stranger(page: Page) -> Iterator[httpx.Client]:
    """A browser that was not let in."""
    with httpx.Client(base_url=page.base, trust_env=False, timeout=60) as http:
        yield http


@pytest.mark.parametrize("path", PATHS)
def test_nobody_comes_in_without_the_token(stranger: httpx.Client, page: Page, path: str) -> None:
    name = f"memtape-{page.port}"
    for cookie in ("", f"{name}=wrong", f"{name}=", f"memtape={page.token}"):
        answer = stranger.get(path, headers={"cookie": cookie} if cookie else {})
        assert answer.status_code == 403 and "lets you in" in answer.text and page.token not in answer.text
    assert stranger.get(path, params={"token": "wrong"}).status_code == 403
    assert stranger.get(path, params={"token": page.token[:-1]}).status_code == 403
    assert stranger.post(path, headers={"origin": page.origin}).status_code == 403


def test_the_token_becomes_a_cookie_and_stands_in_no_address(stranger: httpx.Client, page: Page) -> None:
    answer = stranger.get("/search", params={"q": "a b", "token": page.token})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{page.folder}/search?q=a+b")
    cookie = answer.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", f"Path={page.folder}/"))
    assert "Domain" not in cookie
    odd = 'settings={"a": [1, 2]}; jwt=a/b@c; x; '
    with_odd = {"cookie": f"{odd}memtape-{page.port}={page.token}"}
    assert httpx.get(f"{page.base}/", headers=with_odd, trust_env=False, timeout=60).status_code == 200
    assert stranger.get("/search").status_code == 200
    for token in (page.token, "wrong"):
        again = stranger.get("/search", params={"token": token, "q": "port"})
        assert (again.status_code, again.headers["location"]) == (303, f"{page.folder}/search?q=port")
    assert page.token not in stranger.get("/search", params={"q": "x"}).text


@pytest.mark.parametrize("path", ["", "/", "/search", "{folder}", "{folder}x/", "/x{folder}/", "/{folder}/"])
def test_nobody_comes_in_beside_the_folder_of_the_page(stranger: httpx.Client, page: Page, path: str) -> None:
    """Below it alone does a browser send the cookie, so that no server on another port is sent it."""
    url = page.origin + path.format(folder=page.folder)
    cookie = {"cookie": f"memtape-{page.port}={page.token}"}
    for answer in (stranger.get(url, headers=cookie), stranger.get(url, params={"token": page.token})):
        assert answer.status_code == 403 and page.folder not in answer.text


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_points_here_is_not_the_page(page: Page, host: str) -> None:
    named = host.format(port=page.port)
    for path in ("/", f"/?token={page.token}", "/static/page.css"):
        assert page.http.get(path, headers={"host": named}).status_code in (400, 421)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1", "https://{host}", ""])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_other_pages_send_is_refused(page: Page, method: str, origin: str) -> None:
    headers = {"origin": origin.format(host=page.origin[7:])}
    answer = page.http.request(method, "/act" if method == "POST" else "/", headers=headers)
    assert answer.status_code == 403 and "Memtape" not in answer.text


def test_bad_forms_long_bodies_and_what_others_embed_are_refused(page: Page) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert page.http.request(method, "/act").status_code == 403
    assert page.http.post("/act", headers={"origin": page.origin}, data={"do": "pin"}).status_code == 400
    assert page.http.post("/", headers={"origin": page.origin}).status_code == 405
    assert page.http.get("/act").status_code in (404, 405)
    for site in ("cross-site", "same-site"):
        for mode, status in (("no-cors", 403), ("navigate", 200)):
            headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
            assert page.http.get("/search", headers=headers).status_code == status
    assert page.http.get("/search", headers={"sec-fetch-site": "same-origin"}).status_code == 200
    headers = {"origin": page.origin}
    assert page.http.post("/act", headers=headers, content=b"x" * (MAX_BODY_BYTES + 1)).status_code == 413
    assert page.http.post("/act", headers=headers, content=iter([b"do=pin"])).status_code == 413
    longest = headers | {"content-length": "9" * 30}
    told = page.http.build_request("POST", "/act", headers=longest, content=b"x")
    with pytest.raises((httpx.HTTPError, AssertionError)):
        assert page.http.send(told).status_code == 200
    form = {"content-type": "multipart/form-data; boundary=x"}
    for body in (b"", b"--x\r\nnonsense", b"\x00" * 100, b"--x\r\n" * 2_000):
        assert page.http.post("/act", headers=headers | form, content=body).status_code == 400
    many = {f"n{number}": "1" for number in range(3_000)}
    assert page.http.post("/act", headers=headers, data=many).status_code == 400


def test_a_form_that_is_cut_off_does_nothing(page: Page, caplog: pytest.LogCaptureFixture) -> None:
    told = (
        f"POST {page.folder}/act HTTP/1.1\r\nHost: {page.origin[7:]}\r\nOrigin: {page.origin}\r\n"
        f"Cookie: memtape-{page.port}={page.token}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        "Content-Length: 1000\r\n\r\ndo=pin&id=x"
    )
    with socket.create_connection(("127.0.0.1", page.port), 60) as sent:
        sent.sendall(told.encode())
    assert page.http.get("/").status_code == 200
    assert [line for line in caplog.records if line.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("path", [f"/{by}evil.example" for by in ("/", "//", "\\", "%2f", "%5c")])
def test_no_redirect_leads_elsewhere(page: Page, path: str) -> None:
    with httpx.Client(trust_env=False) as http:
        url = httpx.URL(page.base).copy_with(raw_path=f"{page.folder}{path}?token={page.token}".encode())
        location = http.get(url).headers["location"]
    assert location.startswith(f"{page.folder}/")


def test_every_answer_keeps_the_page_to_itself_and_from_another(page: Page, stranger: httpx.Client) -> None:
    answers = [*map(page.http.get, PATHS), stranger.get("/"), page.http.get("/", headers={"host": "x"})]
    for answer in answers:
        assert all(answer.headers[name] == value for name, value in HEADERS.items()), answer.url
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    with served(page.home) as other:
        assert other.folder != page.folder
        for port in (page.port, other.port):
            assert stranger.get("/", headers={"cookie": f"memtape-{port}={other.token}"}).status_code == 403


@pytest.mark.skipif(os.getuid() != 0 or not CONNECTIONS.exists(), reason="it needs root and Linux")
def test_the_cookie_of_a_page_is_of_no_use_to_another_user_of_the_machine(page: Page) -> None:
    """A browser sends the cookie of a host to each of its ports, also to one that another user listens at."""
    cookie = COOKIE.format(port=page.port, token=page.token)
    told = f"GET {page.folder}/ HTTP/1.1\r\nHost: {page.origin[7:]}\r\n{cookie}Connection: close\r\n\r\n"
    answers = []
    for user in (0, 65534):
        os.seteuid(user)  # A connection is of the user who made its socket.
        try:
            connected = socket.create_connection(("127.0.0.1", page.port), timeout=60)
        finally:
            os.seteuid(0)
        with connected:
            connected.sendall(told.encode())
            answers.append(connected.recv(4_096).split()[1])
    assert answers == [b"200", b"403"]


COOKIE = "Cookie: memtape-{port}={token}\r\n"
SOCKET = "Sec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n"
RAW = [
    ("/?token={token}", "Host: evil.example\r\n", ("400", "421")),
    ("/", f"Upgrade: websocket\r\nConnection: Upgrade\r\n{SOCKET}", ()),
    *(
        (path, COOKIE, ("404", "400", "405"))
        for path in (
            "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/guard.py", "/static//etc/passwd",
            "/static/%2e%2e%2f%2e%2e%2fclient.py", "/static/%00", "/static/", "/static/..\\app.py",
            "/templates/now.html",
        )
    ),
]  # fmt: skip
"""Requests as bytes: a path, headers beside the page's own host, and the answers (none: any but 101)."""


@pytest.mark.parametrize(("path", "headers", "answers"), RAW)
def test_what_is_no_view_is_not_served(page: Page, path: str, headers: str, answers: tuple[str, ...]) -> None:
    head = f"GET {page.folder}{path} HTTP/1.1\r\nHost: {page.origin[7:]}\r\n{headers}\r\n"
    with socket.create_connection(("127.0.0.1", page.port), 60) as sent:
        sent.sendall(head.format(port=page.port, token=page.token).encode())
        status = sent.recv(4_096).split()[1].decode()
    assert status in answers or (not answers and status != "101")


def test_a_private_file_lets_a_browser_in_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path / "home", monkeypatch) as (first, named):
        token, path = first.partition("=")[2], Path(named.removeprefix("file://"))
        said = path.read_text()
        assert named.startswith("file://") and token not in named + said
        assert path.stat().st_mode & 0o777 == 0o600
        address = said.partition("url=")[2].partition('"')[0]
        headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
        with httpx.Client(trust_env=False, timeout=60) as browser:
            entered = browser.get(address, headers=headers)
            assert entered.status_code == 200 and "url=./" in entered.text and "set-cookie" in entered.headers
            assert not path.exists()
            assert browser.get(address.partition("?")[0]).status_code == 200
            assert httpx.get(address, trust_env=False, timeout=60).status_code == 403
