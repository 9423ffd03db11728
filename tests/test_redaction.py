"""Secrets never reach the log, ordinary text does; what was taken out is counted and cannot be read back."""

from __future__ import annotations

import base64
import json
import random
import re
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
import zstandard
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from met import events_of
from soaked import examples, soaked
from tables import table
from test_hooks import hook, told
from test_warm import Ready, warm

from memtape.schemas import placeholders as marks
from memtape.schemas.codec import decode
from memtape.schemas.errors import InvalidEvent, MemtapeError
from memtape.schemas.events import Actor, Captured, Event, Forgotten, Origin, Recalled, Restored
from memtape.schemas.placeholders import PLACEHOLDER, placeholder, placeholders
from memtape.schemas.texts import texts_of, texts_of_body
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import MemoryLog
from memtape.state.text.reading import read
from memtape.state.text.replacements import replaces
from memtape.tools.agents.afterwards import FLUSH_CHARS, latest
from memtape.tools.agents.mcp.handlers import ServedMemory
from memtape.tools.agents.offering import PROMPT_CHARS
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.secrets.known import MetSecrets
from memtape.tools.capture.secrets.redaction import Redactor, denied_by, findings, plain_text
from memtape.tools.capture.secrets.rules import (
    LIKES,
    PIECE_CHARS,
    Rule,
    asked_secrets,
    denied_paths,
    matches,
    may_hold_secret,
    regex_of,
    rules,
)
from memtape.tools.capture.secrets.rules import table as rule_table
from memtape.tools.capture.writing import Line, MediaLine
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.importing.finding import named_files
from memtape.tools.importing.taking import Importer
from memtape.tools.recalling import handed_out, offer

COUNT = 310
TOKENS: dict[str, Any] = table("tokens")


class Case(NamedTuple):
    """A text, and the secret in it."""

    text: str
    secret: str


def token(name: str, rng: random.Random) -> str:
    """Return a secret of a kind that is known by itself, wherever it stands."""

    def draw(found: re.Match[str]) -> str:
        return "".join(rng.choices(TOKENS[found[1]], k=int(found[2])))

    return re.sub(r"\{(\w+)\*(\d+)\}", draw, rng.choice(TOKENS["forms"][name]))


AROUND = ("{}", "My key is {}, please keep it.", "curl -H 'x-key: {}' https://api.example.org/v1/items",
          '{{"event": "deploy", "value": "{}"}}', "export SERVICE={}\nmake deploy", "client = Client({!r})",
          "I tried `{}` and it worked.", "| production | {} | eu-west-1 |",
          "первый ключ: {} — не показывай его 🔑", "value:\n  - {}\n  - other")  # fmt: skip


def jwt(rng: random.Random) -> str:
    """Return a token of three parts."""

    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    head = part(json.dumps({"alg": "HS256", "typ": "JWT"}).encode())
    claims = part(json.dumps({"sub": str(rng.randint(1, 10**9)), "name": "Ada Lovelace"}).encode())
    return f"{head}.{claims}.{part(rng.randbytes(32))}"


def private_key(rng: random.Random) -> str:
    """Return a PEM block, whole or cut short, of one of the kinds that there are."""
    kind = rng.choice(("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "))
    text = base64.b64encode(rng.randbytes(300)).decode()
    lines = [f"-----BEGIN {kind}PRIV" + "ATE KEY-----", *(text[n : n + 64] for n in range(0, len(text), 64))]
    if rng.random() < 0.8:
        lines.append(f"-----END {kind}PRIV" + "ATE KEY-----")
    return rng.choice(("\n", "\n", "\\n")).join(lines)


def true_cases(seed: str = "true cases") -> list[Case]:
    """Return texts with one secret each, the same for a seed."""
    rng = random.Random(seed)
    cases: list[Case] = []
    while len(cases) < 280:
        for secret in (*(token(name, rng) for name in TOKENS["forms"]), jwt(rng)):
            cases.append(Case(AROUND[len(cases) % len(AROUND)].format(secret), secret))
    for number in range(30):
        secret = private_key(rng)
        text = f"Here is the key:\n{secret}\nPut it on the server." if number % 2 else secret
        cases.append(Case(text, secret))
    return cases


INNOCENT = (Path(__file__).parent / "data" / "innocent.txt").read_text(encoding="utf-8").splitlines()
"""Texts without any secret. Digests, ids, paths and data stand in the outsiders' look-alikes."""


ROOT = Path(__file__).parent.parent
SCOPE = ("--scope", "project:test")
CASES = table("secrets")
PASSWORDS = [*map(tuple, CASES["passwords"])]
TRUE = [*true_cases(), *(Case(*it) for it in PASSWORDS if len(it[1]) > 3)]
KEY, OTHER_KEY = token("github", random.Random(1)), token("anthropic", random.Random(2))


def redactor() -> Redactor:
    """A redactor that has met nothing and whose key is fixed, so that examples can be repeated."""
    made = Redactor(Home(Path("nowhere"), make=False), keeps_key=False)
    made._met.key = b"k" * 32
    return made


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    who = {"scope": "project:test", "actor": "Ada", "origin": "user"}
    with Client(tmp_path / "home", log=MemoryLog(2), **who) as made:
        yield made


def leaks(case: Case, text: str) -> bool:
    """Whether a secret, or a line of a key that has many, is still in a text."""
    lines = [line for line in re.split(r"\n|\\n", case.secret)[1:-1] if len(line) > 20]
    return case.secret in text or any(line in text for line in lines)


def payloads(client: Client) -> list[bytes]:
    return [slot.payload for number in range(2) for slot in client.log.read(number, 0, 1_000)]


@pytest.mark.parametrize("seed", ["true cases", "held out"])
def test_secrets_are_found(seed: str) -> None:
    cases = true_cases(seed)
    assert len(cases) == len({case.text for case in cases}) == COUNT
    missed = [case for case in cases if leaks(case, redactor().text(case.text))]
    assert len(missed) <= 2, missed


@pytest.mark.parametrize(("text", "secret"), PASSWORDS)
def test_a_password_is_taken_out_and_nothing_around_it(text: str, secret: str) -> None:
    assert [text[found.start : found.end] for found in findings(text)] == [secret]


@pytest.mark.parametrize("text", [*CASES["names"], *CASES["alike"]])
def test_names_near_a_word_for_passwords_are_left_alone(text: str) -> None:
    assert redactor().text(text) == text


def test_ordinary_texts_are_left_alone() -> None:
    assert [text for text in INNOCENT if redactor().text(text) != text] == []


OUTSIDE = ROOT / "tests" / "data" / "outside_cases.jsonl.zst"
"""Texts with secrets of many kinds and look-alikes, written by two outsiders who had not read the rules.

so they are no score. A score is the first look at cases of somebody else: of a fourth outsider's 772 secrets
747 were found (96.8 %), and 10 of 876 look-alikes were taken for secrets (1.1 %).
were found (96.8 %), and 10 of 876 look-alikes were taken for secrets (1.1 %).
"""


@pytest.mark.parametrize("step", soaked((1, 4), 4))
def test_secrets_that_somebody_else_thought_of_are_found(step: int) -> None:
    cases = outside_cases()
    secret, innocent = ([case for case in cases if bool(case["secrets"]) is has] for has in (True, False))
    assert len(secret) > 1_300 and len(innocent) > 900
    secret, innocent = secret[::step], innocent[::step]
    cleared = redactor()
    after = [(case, cleared.text(case["text"])) for case in secret]
    missed = [case["text"] for case, text in after if any(one in text for one in case["secrets"])]
    wrong = [case["text"] for case in innocent if cleared.text(case["text"]) != case["text"]]
    # Of all: 15 of 2,186, and none of 1,803; in the last outsider's set 13 of 841, and none of 857.
    assert len(missed) <= 0.012 * len(secret), missed
    assert len(wrong) <= 0.005 * len(innocent), wrong


def outside_cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in zstandard.decompress(OUTSIDE.read_bytes()).splitlines()]


def test_the_sources_of_this_project_hold_no_secret() -> None:
    """Real code and prose, of which no detector was told; one page has examples of secrets."""
    for room in ("docs", "schemas", "state", "flows", "sinks", "tools", "examples"):
        for path in sorted((ROOT / room).rglob("*.[mp][dy]")):
            text = path.read_text() if path != ROOT / "docs" / "cli.md" else ""
            assert [text[found.start : found.end] for found in findings(text)] == [], path


_PIECES = st.one_of(
    st.text(max_size=12), st.sampled_from([case.text for case in TRUE]),
    st.sampled_from([case.secret for case in TRUE]), st.sampled_from(INNOCENT),
    st.sampled_from(["password=", "token: ", "://", "@", "\n", " ", '"', "é🔑", "\u202e", "\x00", "="]),
    st.builds(placeholder, st.sampled_from(["password", "jwt"]), st.sampled_from(["00000000", "3f9a2c1d"])),
)  # fmt: skip


@examples(12)
@given(st.lists(_PIECES, max_size=8).map("".join))
def test_redacting_twice_is_redacting_once_and_keeps_the_rest(text: str) -> None:
    once = redactor().text(text)
    assert redactor().text(once) == once
    if not findings(text):
        assert once == text
    # What stands between placeholders was in the text, in the same order.
    place = 0
    for kept in PLACEHOLDER.split(once)[::2]:
        place = text.index(kept, place) + len(kept)


@given(st.sampled_from(TRUE), st.text(max_size=20), st.text(max_size=20))
def test_positions_are_those_of_the_text_whatever_stands_around(case: Case, before: str, after: str) -> None:
    text = f"{before}\n{case.text}\n{after}"
    for found in findings(text):
        assert 0 <= found.start < found.end <= len(text)
    if not leaks(case, redactor().text(case.text)):
        assert not leaks(case, redactor().text(text))


@given(st.lists(st.sampled_from(["password", "jwt", "aws-access-key"]), min_size=1, max_size=5))
def test_a_placeholder_is_never_redacted_again(kinds: list[str]) -> None:
    given = [placeholder(kind, f"{number:08x}") for number, kind in enumerate(kinds)]
    for form in ("password={}", "api_key: '{}'", "Authorization: Bearer {}", "postgres://a:{}@db/app", "{}"):
        text = " ".join(form.format(mark) for mark in given)
        assert redactor().text(text) == text
        assert placeholders([text, None]) == len(kinds)


@pytest.mark.parametrize("kib", soaked((4, 256), 4))
@pytest.mark.parametrize("piece", CASES["hostile"])
def test_long_hostile_texts_end(piece: str, kib: int) -> None:
    """A quadratic expression would take minutes in the long version, and a cubic one in the short."""
    text = piece * (kib * 1024 // len(piece))
    for long in (text, f"{text}!", f"x{text}\n"):
        assert sum(found.end - found.start for found in findings(long)) <= len(long)


def test_half_a_character_and_a_long_text_hide_no_secret_and_stop_nothing(client: Client) -> None:
    for before in ("\ud800 \udfff ", "İ" * 9 + " ", "x " * PIECE_CHARS, "x" * (PIECE_CHARS - 4) + " "):
        text = f"{before}api_key = {KEY}"
        assert [text[found.start : found.end] for found in findings(text)] == [KEY]
    with pytest.raises(InvalidEvent):
        client.capture("half a \ud800 character")


def test_no_text_of_any_event_holds_a_secret(client: Client) -> None:
    line = Line(
        text=f"Use {KEY} now.", tags=(f"key {KEY}", "infra"), source=f"https://ada:{KEY}@git.example.org/x",
        path=f"/notes/{KEY}/a.md", branch=f"fix/{KEY}", actor=f"Ada {KEY}", session=f"s {KEY}", native_id=KEY,
        media=(MediaLine(caption=f"A picture of {KEY}", uri=f"https://x.org/p.png?token={KEY}"),),
    )  # fmt: skip
    receipt = client.capture_many([line])[0]
    assert receipt.redacted == {"github-token": 9}
    found = client.search(f"where is {KEY}", tags=(f"key {KEY}",))
    assert [result.id for result in found.results] == [receipt.id]
    client.actor, client.session = Actor(name=f"Ada {KEY}", origin="user"), f"s {KEY}"
    client.capture("By somebody whose name is a key.")
    client.forget(receipt.id, reason=f"it has {KEY}")
    client.restore(receipt.id, reason=f"{KEY} again")
    held = payloads(client)
    assert not [payload for payload in held if KEY.encode() in payload]
    bodies = [event.body for event in map(decode, held)]
    for type in (Captured, Recalled, Forgotten, Restored):
        said = [said.text for body in bodies if isinstance(body, type) for said in texts_of_body(body)]
        assert placeholders(said) >= 1, type


def test_a_placeholder_tells_the_same_secret_in_one_home_and_nothing_in_another(tmp_path: Path) -> None:
    here, again, there = (Redactor(Home(tmp_path / name)) for name in ("a", "a", "b"))
    one, same, other = here.text(KEY), again.text(f"Again: {KEY}"), there.text(KEY)
    assert same == f"Again: {one}" and other != one and here.text(OTHER_KEY)[-9:] != one[-9:]
    path = Home(tmp_path / "a").redaction_key_path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len({path.read_bytes(), Home(tmp_path / "b").redaction_key_path.read_bytes()}) == 2
    path.write_bytes(b"short")
    with pytest.raises(MemtapeError, match="no key"):
        Redactor(Home(tmp_path / "a")).text(KEY)


def test_the_commands_of_the_readme_put_no_password_on_the_log(tmp_path: Path) -> None:
    told = "The password of the staging database is Harbour-4417."
    for first in (("capture", told), ("search", "password Harbour-4417")):
        home = tmp_path / first[0]
        assert call(home, *first, *SCOPE)[0] == 0
        assert call(home, "capture", told, *SCOPE)[0] == 0
        found = json.loads(call(home, "search", "password Harbour-4417", *SCOPE, "--json")[1])
        assert "[redacted:password:" in found["results"][0]["text"]
        files = [path for path in home.rglob("*") if path.is_file()]
        assert not [path for path in files if b"Harbour-4417" in path.read_bytes()]


MET = ["Harb0ur-44x17", "tide!alerts9", "$x9 (y), z", "correct horse battery staple", "päss-W7ört", "+7~\n8"]
MET += ["x1" * 60]
"""Secrets of a word and of several, with marks within and at both ends."""


@pytest.mark.parametrize("secret", soaked(MET, "Harb0ur-44x17", "$x9 (y), z", "+7~\n8"))
def test_a_secret_that_was_met_is_known_wherever_it_stands_by_itself(secret: str, client: Client) -> None:
    client.redactor._met.add(secret, "password", "person", client.scope)
    others = Client(client.home, scope="project:other", actor="Mira", origin="user", log=client.log)
    for one in (client, others):
        forms = ("{0}", "Is {0}?", "a\n{0}\nb", "密码{0}是", "({0})", "{0} and {0}")
        named: dict[str, Any] = dict.fromkeys(("source", "branch", "actor", "session"), secret)
        media = (MediaLine(caption=secret, uri=f"x:{secret}"),)
        named |= {"tags": (secret,), "path": f"/x {secret}", "media": media}
        receipt = one.capture_many([Line(text=form.format(secret), **named) for form in forms])[0]
        one.search(f"where is {secret}", tags=(secret,), sessions=(secret,))
        offer(one, f"what of {secret}", lambda results, *_: list(results), 3)
        one.forget(receipt.id, reason=f"not {secret}")
    said = [found.text for event in map(decode, payloads(client)) for found in texts_of(event)]
    assert len(said) > 100 and not [text for text in said if text and secret in text]
    longer = [f"x{secret}", f"{secret}x"] if secret[0].isalnum() else []
    assert [client.redactor.text(text) for text in longer] == longer


@pytest.mark.parametrize("secret", ["Harb0ur-44x17", "tide!Alerts9", "Päss-W7ört"])
def test_a_secret_that_was_met_is_known_in_another_case(secret: str, tmp_path: Path) -> None:
    Redactor(Home(tmp_path))._met.add(secret, "password", "other", None)
    again = Redactor(Home(tmp_path))
    for other in (secret.lower(), secret.upper(), secret.swapcase(), secret):
        assert "[redacted:password:" in again.text(f"It was {other} all along.")
        assert other not in again.question(f"where is {other}")


def test_a_known_secret_like_a_word_is_one_as_written_or_where_passwords_are_named(client: Client) -> None:
    for secret in ("HarbourT1de", "sunshine", "Sunshine", "4417", "blue harbour"):
        client.redactor._met.add(secret, "password", "person", client.scope)
        assert secret not in client.redactor.question(f"password {secret}")
    for ordinary in ("sUnshine", "SunShine", "sunshine", "Sunshine", "4417", "blue harbour"):
        text = f"We had {ordinary} all day."
        assert client.redactor.text(text) == text
    assert "[redacted:password:" in client.redactor.text("We saw the HarbourT1de.")


def test_an_import_and_a_dry_run_know_what_was_met(client: Client, tmp_path: Path) -> None:
    client.redactor._met.add("Harb0ur-44x17", "password", "person", client.scope)
    (tmp_path / "notes.md").write_text("Ada wrote Harb0ur-44x17 on the board.")
    sources = list(named_files(tmp_path / "notes.md"))
    assert Importer(client, "project:test").take(sources).taken == 1
    assert "Harb0ur" not in b"".join(payloads(client)).decode()
    kept = client.home.met_secrets_path.read_bytes()
    dry = Redactor(client.home, keeps_key=False)
    assert "Harb0ur" not in dry.text("Ada wrote Harb0ur-44x17.") and dry.text(f"a {KEY}") != f"a {KEY}"
    assert client.home.met_secrets_path.read_bytes() == kept


ASKED = ["password Harbour-4417", "is t1De!alerts still our token?", "Passwort Winter38xy", "密码 Winter38xy"]


@pytest.mark.parametrize("query", ASKED)
def test_a_question_about_a_secret_holds_none_in_a_fresh_home(query: str, client: Client) -> None:
    client.search(query)
    bodies = [event.body for event in map(decode, payloads(client))]
    asked = [body.query for body in bodies if isinstance(body, Recalled)]
    assert asked == [] or "[redacted:password:" in asked[0]
    assert "[redacted:password:" in client.redactor.question(query)


@pytest.mark.parametrize("query", CASES["kept_questions"])
def test_a_question_about_a_secret_keeps_what_it_is_for(query: str) -> None:
    assert redactor().question(query) == query


def test_processes_that_start_at_once_have_one_key_and_all_know_what_each_met(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom memtape.sinks.home.folders import Home\n"
        "from memtape.tools.capture.secrets.redaction import Redactor\nsys.stdin.readline()\n"
        f"redactor = Redactor(Home(Path({str(tmp_path)!r})))\nprint(redactor.text({KEY!r}))\n"
        "for it in range(100):\n    redactor._met.add(f'{sys.argv[1]}-{it}x', 'password', 'other', None)\n"
    )
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen([sys.executable, "-c", code, name], cwd=ROOT, **pipes) for name in "ab"]
    assert len({process.communicate("\n")[0] for process in started}) == 1
    early = Redactor(Home(tmp_path))
    early.text("It has read what was there.")
    with Home(tmp_path).met_secrets_path.open("ab") as file:
        file.write(b"\n0 1 5 passwo")  # A process that died while it wrote.
    for late in (Redactor(Home(tmp_path)), early):
        late._met.add("e-200x", "password", "other", None)
        for secret in [f"{name}-{number}x" for name in "ab" for number in range(100)] + ["e-200x"]:
            assert secret not in late.text(f"so {secret} it is"), secret
    assert sorted(path.name for path in tmp_path.iterdir()) == ["redaction.key", "redaction.met"]


def test_no_character_of_a_secret_is_kept(tmp_path: Path) -> None:
    path, met = Home(tmp_path).met_secrets_path, MetSecrets(Home(tmp_path))
    for secret in MET:
        met.add(secret, "password", "person", None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    row = rb"\d+ \d+ \d+ password [0-9a-f]{32} [0-9a-f]{8} person -"
    assert not re.sub(row, b"", path.read_bytes()).strip()


TOLD = ["DB_PASSWORD=prod-eu-west-1", "The password is Kubernetes-1.29.", f"use {KEY}"]


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("origin", ["agent", "tool", "web", "model"])
def test_what_an_agent_hides_changes_no_other_project(told: str, origin: Origin, client: Client) -> None:
    with Client(client.home, scope="project:other", actor="bot", origin=origin, log=client.log) as agent:
        agent.capture(told)
    for text in ("We deploy to prod-eu-west-1.", "We run Kubernetes-1.29."):
        assert client.redactor.text(text) == text
    assert {known.scope for known in client.redactor._met.all()} == {"project:other"}


@pytest.mark.parametrize("value", "prod-eu-west-1 Kubernetes-1.29 node_pool_2 PG16 db.example.org".split())
def test_an_identifier_is_known_again_only_where_a_secret_is_named(value: str, client: Client) -> None:
    client.redactor._met.add(value, "password", "person", client.scope)
    ordinary = f"The token is in the vault.\nWe deploy to {value} on Tuesdays."
    assert client.redactor.text(ordinary) == ordinary
    assert value not in client.redactor.text(f"The password of it is still {value}, we think.")


def test_a_person_sees_what_is_known_and_undoes_it(tmp_path: Path) -> None:
    home, secret = tmp_path / "home", "Harb0ur-44x17"
    Redactor(Home(home))._met.add(secret, "password", "other", None)
    known = json.loads(call(home, "admin", "secrets", "list", "--json")[1])["secrets"]
    assert [(it["kind"], it["chars"], it["trust"]) for it in known] == [("password", len(secret), "other")]
    assert secret not in call(home, "admin", "secrets", "list")[1]
    assert call(home, "admin", "secrets", "forget", known[0]["id"], "--origin", "agent")[0] == 1
    reader = Redactor(Home(home))
    assert secret not in reader.text(f"So {secret} it is.")
    assert call(home, "admin", "secrets", "forget", known[0]["id"], "--origin", "user", "--json")[0] == 0
    for after in (reader, Redactor(Home(home))):
        assert after.text(f"So {secret} it is.") == f"So {secret} it is."
        assert secret not in after.text(f"The password is {secret}.")
    assert json.loads(call(home, "admin", "secrets", "list", "--json")[1])["secrets"] == []


def test_homes_of_a_team_take_one_key_by_a_wrapped_file(tmp_path: Path) -> None:
    ours, theirs, file = tmp_path / "a", tmp_path / "b", tmp_path / "team.key"
    one, passphrase = Redactor(Home(ours)).text(KEY), "harbour tide lantern"
    assert call(ours, "admin", "secrets", "share", str(file), input=f"{passphrase}\n{passphrase}\n")[0] == 0
    assert Home(ours).redaction_key_path.read_bytes() not in file.read_bytes()
    assert call(theirs, "admin", "secrets", "join", str(file), input="another passphrase\n")[0] == 1
    Redactor(Home(theirs)).text(KEY)
    assert call(theirs, "admin", "secrets", "join", str(file), input=f"{passphrase}\n")[0] == 1
    assert call(theirs, "admin", "secrets", "join", str(file), "--replace", input=f"{passphrase}\n")[0] == 0
    assert Redactor(Home(theirs)).text(KEY) == one
    assert stat.S_IMODE(Home(theirs).redaction_key_path.stat().st_mode) == 0o600


@examples(12)
@given(st.tuples(*[st.integers(0, 2**32 - 1)] * 2), st.sampled_from(["password", "github-token"]))
def test_placeholders_of_two_keys_are_never_two_values(digits: tuple[int, int], kind: str) -> None:
    for form in ("The password is {}", "Staging listens on {}.", "The token of the gateway is now {}."):
        one, other = (marks.without_digits(form.format(placeholder(kind, f"{it:08x}"))) for it in digits)
        assert one == other and replaces(read(one), read(other)) is None


INVISIBLE = ["\u200b", "\u2060", "\u00ad", "\ufeff", "\U000e0041"]
LIKE = str.maketrans("aeopcsAPOT", "\u0430\u0435\u043e\u0440\u0441\u0455\u0410\u0420\u041e\u0422")
WIDE = {number: number + 0xFEE0 for number in range(0x21, 0x7F)}


@given(st.sampled_from(["password", "DB_PASSWORD", "api_key", "secret"]), st.sampled_from([": ", "="]),
       st.integers(1, 5), st.sampled_from(["invisible", "alike", "wide", "goes on"]),
       st.sampled_from(INVISIBLE))  # fmt: skip
def test_a_disguised_word_hides_no_secret(word: str, by: str, place: int, way: str, mark: str) -> None:
    told = {
        "invisible": f"{word[:place]}{mark}{word[place:]}{by}",
        "alike": f"{word[:place]}{word[place:].translate(LIKE)}{by}",
        "wide": f"{word}{by.strip()}".translate(WIDE) + " ",
        "goes on": f"{word}{by.rstrip()}\\\n  ",
    }[way]
    text = f"Ship it.\n{told}q7Rt5Vx3YbKm2Z\nDone, \u0434\u0430\u200b."
    redacted = redactor().text(text)
    assert "q7Rt5Vx3YbKm2Z" not in redacted and redacted.startswith("Ship it.\n"), redacted


def test_texts_with_other_secrets_are_other_memories(client: Client) -> None:
    one, other, same = (client.capture(f"The key of staging is {key}.").id for key in (KEY, OTHER_KEY, KEY))
    assert client.show(one).memory != client.show(other).memory
    assert client.show(same).memory == client.show(one).memory


def test_files_of_secrets_are_denied_and_others_are_taken() -> None:
    assert [path for path in CASES["denied_paths"] if denied_by(path) not in denied_paths()] == []
    assert [path for path in CASES["taken_paths"] if denied_by(path) is not None] == []
    assert [glob for glob in ("", ".", "./", "./*", "/") if denied_by("notes.md", (glob,)) is not None] == []


WAYS = [(way, "private/*") for way in CASES["ways"]]
WAYS += [("the folder around it", glob) for glob in ("private/", "private/**", "{work}/private/*")]


@pytest.mark.parametrize(("way", "glob"), WAYS)
def test_a_denied_file_stays_so(way: str, glob: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    for folder in (home, work / "private", work / "open"):
        folder.mkdir(parents=True)
    (work / "private" / "x.md").write_text("Mango.")
    (work / "open" / "link.md").symlink_to(work / "private" / "x.md")
    (work / "open" / "folder").symlink_to(work / "private")
    for archive, name in ((work / "all.zip", "private/x.md"), (work / "private" / "all.zip", "x.md")):
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr(name, "Mango.")
    (home / "settings.toml").write_text(f"denied_paths = [{json.dumps(glob.format(work=work))}]\n")
    command, *words = CASES["ways"][way]
    within = words.pop() if way.endswith("within") else "."
    monkeypatch.chdir(work / within)
    code, out, err = call(home, command, *(word.format(work=work) for word in words), *SCOPE)
    told = "of a file of secrets" in out if command == "import" else "may hold secrets" in err
    assert told and (code == 0 or command != "import")
    with Client(home) as client:
        assert "captured" not in [event.type for event in events_of(client.log)]
    (work / "open" / "y.md").write_text("Papaya.")
    monkeypatch.chdir(work)
    assert "Took 1;" in call(home, "import", "private/../open/y.md", *SCOPE)[1]


def call(home: Path, *words: str, input: str | None = None) -> tuple[int, str, str]:
    env = {"MEMTAPE_HOME": str(home), "MEMTAPE_SESSION": ""}
    done = CliRunner().invoke(main, words, input=input, env=env)
    return done.exit_code, done.stdout, done.stderr


def test_the_commands_count_what_was_taken_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    lines = [{"text": f"key {KEY}"}, {"text": f"{KEY} {OTHER_KEY}", "path": "x/.env"}]
    turns = ("plain", f"password: hunter2-x, {OTHER_KEY}")
    lines += [{"text": text, "kind": "turn"} for text in turns]
    code, out, err = call(home, "capture", "-", *SCOPE, input="\n".join(map(json.dumps, lines)))
    assert code == 1 and "Line 2 was refused: .env may hold secrets" in err
    counted = "1 anthropic-key, 1 github-token, 1 password.\n"
    assert out.endswith(f"Captured 3 events.\nRedacted before it was stored: {counted}")
    code, out, _ = call(home, "capture", f"again {KEY}", *SCOPE, "--json")
    assert json.loads(out)["redacted"] == {"github-token": 1}
    code, out, _ = call(home, "capture", *SCOPE, input=f"from stdin {KEY}")
    assert code == 0 and "Redacted before it was stored: 1 github-token." in out
    (tmp_path / "server.pem").write_text("x")
    code, out, err = call(home, "capture", "--file", str(tmp_path / "server.pem"), *SCOPE)
    assert (code, out) == (1, "") and "server.pem may hold secrets (*.pem) and is not captured." in err
    assert call(home, "run", "--once")[0] == 0
    for again in (("run", "--once"), ("rebuild",)):
        assert json.loads(call(home, "status", "--json")[1])["redacted"] == 5
        assert call(home, *again)[0] == 0
    assert "redacted      5 secrets" in call(home, "status")[1]
    files = [path for path in home.rglob("*") if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert call(home, "verify")[0] == 0


RULES, FORM_COUNT, SOUGHT, _ = rules()


def test_each_rule_is_well_formed() -> None:
    for rule in RULES:
        assert re.fullmatch("[a-z0-9-]+", rule.id) and rule.like in LIKES, rule
        assert all(keyword == keyword.lower() for keyword in rule.keywords), rule
        assert rule.keywords or rule.where == "anywhere", rule
        groups = regex_of(rule.regex).groupindex
        assert rule.where != "line" or "value" in groups, rule
    assert {rule.like for rule in RULES} == {*LIKES}
    numbers = (
        number
        for word in rule_table("rules.toml")["keywords"]["before_key"].split()
        for number in SOUGHT[word]
    )
    assert {RULES[number].like for number in numbers} == {"assigned", "said"}


@pytest.mark.parametrize("step", soaked((1, 5), 5))
def test_a_keyword_stands_wherever_a_rule_matches(step: int) -> None:
    texts = [case["text"] for case in outside_cases()]
    texts += [*INNOCENT, *(case.text for case in true_cases("keywords"))]
    met = set[str]()
    for text in texts[::step]:
        found = {(rule, match.start()) for rule, match in matches(text)}
        for rule in RULES:
            if rule.where == "at" and (match := regex_of(rule.regex).search(text)):
                met.add(rule.regex)
                assert any(one is rule and start <= match.start() for one, start in found), (rule, text)
    assert len(met) > 40


FORMS = [it for it in RULES[:FORM_COUNT] if not it.regex.lower().startswith((*map(re.escape, it.keywords),))]
"""The others begin with their keyword as it is."""


@pytest.mark.parametrize("rule", FORMS, ids=lambda rule: rule.id)
@examples(4)
@given(data=st.data())
def test_the_keyword_of_a_form_is_in_whatever_it_matches(rule: Rule, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(regex_of(rule.regex)))
    assert any(one is rule for one, _ in matches(text)), text
    assert may_hold_secret(text), text


def test_every_text_with_a_secret_is_searched_for_secrets() -> None:
    texts = [case["text"] for case in outside_cases()] + [case.text for case in TRUE] + INNOCENT + [*ASKED]
    texts += [line for text in texts for line in text.splitlines()]
    passed = [text for text in texts if not may_hold_secret(text) and plain_text(text) is None]
    assert [text for text in passed if findings(text)] == []
    unasked = [text for text in texts if not may_hold_secret(text, asked=True) and text.isascii()]
    assert [text for text in unasked if [*asked_secrets(text)]] == []
    assert len(passed) > 1_000 and len(unasked) > 500


@examples(24)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=30)), max_size=8).map("".join))
def test_no_text_that_goes_unsearched_holds_a_secret(text: str) -> None:
    if not may_hold_secret(text) and plain_text(text) is None:
        assert not findings(text)
    if not may_hold_secret(text, asked=True) and plain_text(text) is None:
        assert not findings(text, asked_secrets)


SECRET = "S3cr3tPazzW9x"
A = "project:a"


def logged(home: Path, scope: str = A) -> list[Event]:
    with Client(home, scope=scope) as client:
        return [event for event in events_of(client.log) if event.scope == scope]


def written(events: list[Event]) -> str:
    return " ".join(msgspec.json.encode(event.body).decode() for event in events)


def row(type: str, content: Any, uuid: str = "u1") -> str:
    said = {"type": type, "uuid": uuid, "sessionId": "s-1", "message": {"content": content}}
    return json.dumps(said) + "\n"


def test_a_flush_that_cuts_off_what_tells_a_secret_has_taken_it_out(home: Path, tmp_path: Path) -> None:
    transcript = tmp_path / "s-1.jsonl"
    before = "The password of the staging database is "
    rest = f"{SECRET} and that is all. "
    for shift in (-1, 0, 4, len(SECRET) - 5):
        filler = ("go on " * 1_000)[: FLUSH_CHARS - len(rest) + shift]
        transcript.write_text(row("user", before + rest + filler))
        text = latest("claude-code", transcript, Redactor(Home(home)))
        assert not any(SECRET[at : at + 5] in text for at in range(len(SECRET) - 4)) and " is all" in text


def test_what_is_offered_for_a_prompt_is_recorded_without_its_secrets(home: Path, project: Path) -> None:
    prompt = "Which port has the staging database? Its password is " + SECRET
    padded = ("Well. " * 1_000)[: PROMPT_CHARS - len(prompt) + 6] + prompt + " in case you need it"
    ready = Ready("")
    with warm(home, ready):
        hook(home, "claude", told(project, "UserPromptSubmit", prompt=padded))
    assert len(ready.asked) <= 1 and all("S3c" not in each and "staging" in each for each in ready.asked)
    scope = scope_of_folder(project, Home(home))
    with Client(home, scope=scope, origin="user") as client:
        client.capture("The staging database listens on port 5433.")
        client.catch_up()
        assert handed_out(client, prompt, offer(client, prompt, lambda results, *_: list(results), 3))
    events = logged(home, scope)
    assert "recalled" in [event.type for event in events] and SECRET not in written(events)


def test_names_are_cut_after_their_secrets_are_out(home: Path, project: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    name = "n" * 180 + " " + token
    memory = ServedMemory(home, scope=A)
    memory.call("add_memory", {"text": "The tide tables are in tides.csv."}, project, name)
    memory.close()
    hook(home, "claude", told(project, "Stop", last_assistant_message="Done.", session_id=name))
    categories = ["c" * 110 + " " + token]
    note = {"id": "m1", "memory": "Mira likes tea.", "categories": categories}
    note |= dict.fromkeys(("agent_id", "run_id"), name)
    (project / "mem0.json").write_text(json.dumps({"results": [note]}))
    with Client(home) as client:
        assert Importer(client, A).take(named_files(project / "mem0.json")).taken == 1
    events = [*logged(home), *logged(home, scope_of_folder(project, Home(home)))]
    assert len(events) == 3
    for event in events:
        assert "ghp_" not in f"{event.actor.name} {event.session} {written([event])}"


PIECES = st.sampled_from([placeholder("jwt", "01234567"), "a", "[redacted:", "x" * 30, "]"])


@given(st.lists(PIECES), st.integers(0, 90))
def test_a_cut_never_leaves_a_piece_of_a_placeholder(pieces: list[str], chars: int) -> None:
    text = "".join(pieces)
    spans = [found.span() for found in PLACEHOLDER.finditer(text)]
    head, tail = marks.head_of(text, chars), marks.tail_of(text, chars)
    assert text.startswith(head) and text.endswith(tail) and max(len(head), len(tail)) <= chars
    for place in (len(head), len(text) - len(tail)):
        assert not any(start < place < end for start, end in spans)
