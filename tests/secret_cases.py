"""Texts with a token or key of random letters, and texts without a secret: names, and prose about passwords.

Secrets are put together here from pieces and random letters, so that no scanner finds one in this file.
"""

from __future__ import annotations

import base64
import json
import random
import re
from pathlib import Path
from typing import Any, NamedTuple

from builders import data_of

COUNT = 310
FORMS: dict[str, Any] = data_of("tokens")


class Case(NamedTuple):
    """A text, and the secret in it."""

    text: str
    secret: str


def drawn(rng: random.Random, alphabet: str, count: int) -> str:
    """Return a random word."""
    return "".join(rng.choices(alphabet, k=count))


def token(name: str, rng: random.Random) -> str:
    """Return a secret of a kind that is known by itself, wherever it stands."""

    def draw(found: re.Match[str]) -> str:
        return drawn(rng, FORMS[found[1]], int(found[2]))

    return re.sub(r"\{(\w+)\*(\d+)\}", draw, rng.choice(FORMS["forms"][name]))


AROUND = (
    "{}", "My key is {}, please keep it.", "curl -H 'x-key: {}' https://api.example.org/v1/items",
    '{{"event": "deploy", "value": "{}"}}', "export SERVICE={}\nmake deploy", "client = Client({!r})",
    "I tried `{}` and it worked.", "| production | {} | eu-west-1 |", "первый ключ: {} — не показывай его 🔑",
    "value:\n  - {}\n  - other",
)  # fmt: skip


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
        for secret in (*(token(name, rng) for name in FORMS["forms"]), jwt(rng)):
            cases.append(Case(AROUND[len(cases) % len(AROUND)].format(secret), secret))
    for number in range(30):
        secret = private_key(rng)
        text = f"Here is the key:\n{secret}\nPut it on the server." if number % 2 else secret
        cases.append(Case(text, secret))
    return cases


INNOCENT = (Path(__file__).parent / "data" / "innocent.txt").read_text(encoding="utf-8").splitlines()
"""Texts without any secret. Digests, ids, paths and data stand in the outsiders' look-alikes."""
