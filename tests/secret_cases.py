"""Texts with a token or key of random letters, and texts without a secret: names, and prose about passwords.

Secrets are put together here from pieces and random letters, so that no scanner finds one in this file.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

COUNT = 310
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
LOWNUM = string.ascii_lowercase + string.digits
UPNUM = string.ascii_uppercase + string.digits
URLSAFE = ALNUM + "_-"


class Case(NamedTuple):
    """A text, and the secret in it."""

    text: str
    secret: str


def drawn(rng: random.Random, alphabet: str, count: int) -> str:
    """Return a random word."""
    return "".join(rng.choices(alphabet, k=count))


def b64(rng: random.Random, count: int) -> str:
    """Return random bytes in base64."""
    return base64.b64encode(rng.randbytes(count)).decode()


TOKENS: dict[str, Callable[[random.Random], str]] = {
    "aws access key": lambda r: "AK" + "IA" + drawn(r, string.ascii_uppercase + "234567", 16),
    "aws temporary key": lambda r: "AS" + "IA" + drawn(r, string.ascii_uppercase + "234567", 16),
    "github": lambda r: f"gh{r.choice('pousr')}_" + drawn(r, ALNUM, 36),
    "github fine": lambda r: "github" + "_pat_" + drawn(r, ALNUM, 22) + "_" + drawn(r, ALNUM, 59),
    "gitlab": lambda r: "glp" + "at-" + drawn(r, URLSAFE, 19) + drawn(r, ALNUM, 1),
    "slack bot": lambda r: (
        "xo" + f"xb-{drawn(r, string.digits, 12)}-{drawn(r, string.digits, 12)}-{drawn(r, ALNUM, 24)}"
    ),
    "slack app": lambda r: "xa" + f"pp-1-A{drawn(r, UPNUM, 10)}-{drawn(r, string.digits, 13)}-{drawn(r, HEX, 64)}",
    "slack hook": lambda r: (
        "https://hooks.slack" + f".com/services/T{drawn(r, UPNUM, 10)}/B{drawn(r, UPNUM, 10)}/{drawn(r, ALNUM, 24)}"
    ),
    "stripe": lambda r: r.choice("sr") + "k_li" + "ve_" + drawn(r, ALNUM, r.choice((24, 99))),
    "stripe test": lambda r: "sk_te" + "st_" + drawn(r, ALNUM, 24),
    "openai": lambda r: "s" + "k-" + drawn(r, ALNUM, 48),
    "openai project": lambda r: "s" + "k-pr" + "oj-" + drawn(r, URLSAFE, 120) + "A",
    "anthropic": lambda r: "sk-" + "ant-api03-" + drawn(r, URLSAFE, 93) + "AA",
    "hugging face": lambda r: "h" + "f_" + drawn(r, string.ascii_letters, 34),
    "npm": lambda r: "np" + "m_" + drawn(r, ALNUM, 36),
    "pypi": lambda r: "py" + "pi-AgEIcHlwaS5vcmc" + drawn(r, URLSAFE, 150) + "A",
    "telegram": lambda r: drawn(r, "123456789", 10) + ":AA" + drawn(r, URLSAFE, 32) + "x",
    "twilio": lambda r: "S" + "K" + drawn(r, HEX, 32),
    "sendgrid": lambda r: "S" + "G." + drawn(r, URLSAFE, 22) + "." + drawn(r, URLSAFE, 42) + "k",
    "mailgun": lambda r: "ke" + "y-" + drawn(r, HEX, 32),
    "mailchimp": lambda r: drawn(r, HEX, 32) + f"-us{r.randint(1, 20)}",
    "google": lambda r: "AI" + "za" + drawn(r, URLSAFE, 34) + "Q",
    "google oauth": lambda r: "ya" + "29." + drawn(r, URLSAFE, 120) + "0",
    "google secret": lambda r: "GOC" + "SPX-" + drawn(r, URLSAFE, 27) + "w",
    "azure client": lambda r: drawn(r, ALNUM, 3) + "8" + "Q~" + drawn(r, ALNUM, 33),
    "discord": lambda r: "M" + drawn(r, ALNUM, 23) + "." + drawn(r, ALNUM, 6) + "." + drawn(r, URLSAFE, 26) + "z",
    "digitalocean": lambda r: "do" + "p_v1_" + drawn(r, HEX, 64),
    "shopify": lambda r: "shp" + "at_" + drawn(r, HEX, 32),
    "vault": lambda r: "hv" + "s." + drawn(r, ALNUM, 90),
    "databricks": lambda r: "da" + "pi" + drawn(r, HEX, 32),
    "docker": lambda r: "dckr" + "_pat_" + drawn(r, URLSAFE, 26) + "b",
    "groq": lambda r: "gs" + "k_" + drawn(r, ALNUM, 52),
    "linear": lambda r: "lin" + "_api_" + drawn(r, ALNUM, 40),
    "notion": lambda r: "nt" + "n_" + drawn(r, ALNUM, 46),
    "grafana": lambda r: "gl" + "sa_" + drawn(r, ALNUM, 32) + "_" + drawn(r, HEX, 8),
    "jwt": lambda r: jwt(r),
    "aws secret": lambda r: drawn(r, ALNUM + "/+", 40),
    "base64 key": lambda r: b64(r, r.choice((24, 32, 48))),
    "urlsafe key": lambda r: base64.urlsafe_b64encode(r.randbytes(32)).decode().rstrip("="),
    "base62 key": lambda r: drawn(r, ALNUM, r.choice((32, 40, 64))),
}
"""Secrets that are known by themselves, wherever they stand."""

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
    claims = part(json.dumps({"sub": str(rng.randint(1, 10**9)), "name": drawn(rng, LOWNUM, 9)}).encode())
    return f"{head}.{claims}.{part(rng.randbytes(32))}"


def private_key(rng: random.Random) -> str:
    """Return a PEM block, whole or cut short, of one of the kinds that there are."""
    kind = rng.choice(("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "))
    text = b64(rng, 300)
    lines = [f"-----BEGIN {kind}PRIV" + "ATE KEY-----", *(text[n : n + 64] for n in range(0, len(text), 64))]
    if rng.random() < 0.8:
        lines.append(f"-----END {kind}PRIV" + "ATE KEY-----")
    return rng.choice(("\n", "\n", "\\n")).join(lines)


def true_cases(seed: str = "true cases") -> list[Case]:
    """Return texts with one secret each, the same for a seed."""
    rng = random.Random(seed)
    cases: list[Case] = []
    while len(cases) < 280:
        for make in TOKENS.values():
            secret = make(rng)
            cases.append(Case(AROUND[len(cases) % len(AROUND)].format(secret), secret))
    for number in range(30):
        secret = private_key(rng)
        text = f"Here is the key:\n{secret}\nPut it on the server." if number % 2 else secret
        cases.append(Case(text, secret))
    return cases


INNOCENT = (Path(__file__).parent / "data" / "innocent.txt").read_text().splitlines()
"""Texts without any secret. Digests, ids, paths and data stand in the outsiders' look-alikes."""
