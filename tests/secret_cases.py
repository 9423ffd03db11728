"""Texts with a token or key of random letters, and texts without a secret: names, and prose about passwords.

Secrets are put together here from pieces and random letters, so that no scanner finds one in this file.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
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


PROSE = """
The password is required and must have at least 12 characters.
Password: see 1Password, vault "Engineering".
Your password has expired; reset it at https://example.org/reset.
I forgot my password again, can you send me a new token?
Set the password to something with 12 characters or more.
The password is sha256 hashed and then base64 encoded.
Passwords are stored with argon2id, never in plain text.
The secret to good bread is time: flour, water, salt.
The key: never deploy on Fridays.
max_tokens: 128000 and temperature: 0.7 were used for the run.
We pay by token: 3.5 dollars for a million tokens, output_tokens=4096.
The token is 32 bytes long and rotates every 24h.
Token: an opaque string. Secret: a Kubernetes object of type Opaque.
password: string; // at least 8 chars
password: str = None
password: ${DB_PASSWORD}
password = os.environ["DB_PASSWORD"]
password = getpass.getpass("Password: ")
password=<your password here>
PASSWORD=changeme
API_KEY=your-api-key-here
api_key = "sk-..."
token = self.client.fetch_token(user_id=42)
const token = process.env.GITHUB_TOKEN;
const { password, token } = req.body;
const apiKey = config.get("services.maps.apiKey");
secret_name: prod/db/main-2024
secretKeyRef: {name: app-secrets, key: db-password}
secret: k8s-prod-db-credentials
imagePullSecrets: registry-cred-eu1
private_key_path = "/etc/ssl/private/server.key"
password_hash = "$2b$12$" + salt
password_min_length: 12
token_url: https://auth.example.org/oauth2/token
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
curl -u user:password https://example.org
postgres://user:password@localhost:5432/app
postgres://$USER:$PASSWORD@db/app
https://user@example.org/path
Write to ada@example.org or mira@example.org:8080.
Meet me at 10:30 @ the harbour; ssh://git@git.example.org:2222/x.git
-----BEGIN PRIVATE KEY----- marks the start of a PEM block.
-----BEGIN PUBLIC KEY----- is harmless.
Use `git log --oneline -20 | head` and then `git rebase -i HEAD~3`.
The bearer of this letter, bearer authentication-mechanisms-in-general.
primary_key: user_id, foreign_key: account_id, partition_key=tenant_id
"password": "Password",
"forgot_password": "Forgot your password?",
"confirmPassword": "passwordConfirmation",
type="password" name="user_password" autocomplete="current-password"
tokenizer = AutoTokenizer.from_pretrained("sentence-transformers/all-MiniLM-L6-v2")
if password == confirm_password and token is not None:
def check_password(self, password: str, password_hash: bytes) -> bool:
CREATE USER app WITH PASSWORD :'password';
password = "********"
PGPASSWORD=$(pass show db/prod) psql -h db
The token budget is 4096tokens for the answer.
credentials: include
credentials = service_account.Credentials.from_service_account_file(path)
The password is what you think it is.
The secret is out: we ship version 2.0.1 on 2026-11-30.
access_token: null, refresh_token: undefined
The API key is stored in the vault under services/maps.
The private key is at ~/.ssh/id_ed25519 and the public one beside it.
password policy: min=12, max=128, upper=1, digit=1
secret = generate_secret(length=32)
secrets.token_urlsafe(32)
The password is secret. The password is wrong! The password is required, the password is optional.
The password is plain-text, the token is short-lived; the password is 8-characters-long at least.
Le mot de passe est obligatoire. La contraseña es incorrecta. A senha é inválida. La password è sbagliata.
Het wachtwoord is verplicht. Lösenordet är för kort. Hasło to podstawa. Das Passwort ist base64-codiert.
密码是必填的。密码：请输入。密码错误，请重试 3 次。パスワードは8文字以上です。비밀번호는 필수입니다.
Пароль: обязательное поле. Пароль не совпадает. Şifre: zorunlu alan. Parola chiave: tempo.
Use the password manager, use the password field, with password authentication in OAuth2.
The root password has been changed to something longer. The password was reset to its default.
PASS: test_login2 (0.31s)
--- PASS: TestParser3Cases (0.00s)
first_pass = compile_once, second_pass=True, PASS=1 FAIL=0 SKIP=2
pass_count: 12345678, two_pass=False, ALLOW_PASS=always, bypass=internal2
HTTP_AUTH=basic, REQUIRE_AUTH=always, use_auth=oauth2, auth: token
pw: float = 0.25; pw = power(2), kwargs: pw=None
password: user_password_2, password=arg1, password = form_value, password: current-password
db_pass = get_pass("db"), smtp_pass: ${SMTP_PASS}, DB_PASS=$(cat /run/secrets/db)
docker login -u ada --password-stdin registry.example.org:5000
docker run -p 8080:8080 --name login2 app; docker login -p $TOKEN
redis://cache:6379, postgres://db:5432, mongodb://first:27017,second:27018/app, amqp://queue:5672/vhost
The password for the wifi is on the fridge; the password for admin: ask Mira on 2026-11-21.
Password policy: min-12-chars. Password manager: KeePass2. Password hash: bcrypt12.
""".strip().split("\n")

NAMES = """
getUserByIdentifierAndTenantV2 AbstractSingletonProxyFactoryBean2 test_embedded_log_survives_crash_2026
convertBase64ToUint8ArrayBuffer2 org.springframework.boot.autoconfigure.web3 HTTP2ServerConnectionPoolManager3
kubernetes-dashboard-metrics-scraper-7 MAX_RETRIES_BEFORE_CIRCUIT_BREAKER_OPENS_30 com.example.app.MainActivity2024
all-MiniLM-L6-v2-sentence-transformers x86_64-unknown-linux-gnu-1.75.0 claude-3-5-sonnet-20241022-preview-v2
arn:aws:iam::123456789012:role/service-role/AdminAccess2 gpt-4o-mini-2024-07-18-finetuned-support
eks-node-group-20240117-large-eu-west-1a TheQuickBrownFoxJumpsOver13LazyDogs2 NSUserDefaultsDidChangeNotification2
__attribute__((__section__(".init_array.00100"))) ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/
0123456789abcdefghijklmnopqrstuvwxyz 1234567890123456789012345678901234567890 ==========================1A======
""".split()

INNOCENT = [*PROSE, *(f"See {name} for that." for name in NAMES)]
"""Texts without any secret. Digests, ids, paths and data stand in the outsiders' look-alikes."""
