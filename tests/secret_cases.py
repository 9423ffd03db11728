"""Five hundred texts with a secret and five hundred without, the same in every run.

Secrets are put together here from pieces and random letters, so that no scanner finds one in this file. Texts without
are those in which detectors like to see one: digests, ids, code, paths, URLs, data, and prose that speaks of passwords.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import uuid
from collections.abc import Callable
from typing import NamedTuple

COUNT = 500
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
LOWNUM = string.ascii_lowercase + string.digits
UPNUM = string.ascii_uppercase + string.digits
URLSAFE = ALNUM + "_-"


class Case(NamedTuple):
    """A text, what it is about, and the secret in it, or an empty text."""

    name: str
    text: str
    secret: str = ""


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


def password(rng: random.Random) -> str:
    """Return a password as people and their tools make them."""
    word = rng.choice("Harbour tiger Winter correct banjo Lisboa maple Orchid".split())
    return rng.choice(
        (
            f"{word}{rng.randint(10, 9999)}{rng.choice('!#+?*')}x",
            f"{word}-{rng.choice('river stone cloud'.split())}-{rng.randint(10, 999)}",
            drawn(rng, ALNUM, 10) + "7a",
            drawn(rng, ALNUM + "!#%+", 14) + "4k",
            f"{word[0].upper()}{word[1:]}!{rng.choice('river stone cloud'.split())}{rng.randint(1, 99)}",
        )
    )


PASSWORDS = (
    "DB_PASSWORD={}", 'password = "{}"', "password: {}", '{{"user": "ada", "password": "{}"}}',
    "The staging password is {}.", "We changed the password of the printer to {} today.",
    "  POSTGRES_PASSWORD: '{}'", "Server=db;Database=app;User Id=ada;Password={};Encrypt=true",
    "postgres://ada:{}@db.internal:5432/app", "mysql://root:{}@127.0.0.1/shop?ssl=1",
    "redis://:{}@cache:6379/0", "login: ada@example.org\npwd: {}", "curl -u ada:{} https://files.internal/x",
    "sshpass -p '{}' ssh ada@build", "machine git.internal login ada password {}", 'passphrase="{}"',
    "mysqldump --host db --password={} shop", "app --user ada --password {} --verbose",
    "<password>{}</password>", "conn = connect(host='db', user='ada', password='{}')", "Passwort: {}",
)  # fmt: skip
KEYS = (
    "api_key={}", "X-Api-Key: {}", 'apiKey: "{}",', "Authorization: Bearer {}", '"Authorization": "Token {}"',
    "client_secret = '{}'", "https://api.example.org/v1/items?limit=3&access_token={}&page=2",
    "SECRET_KEY={}", "os.environ['API_TOKEN'] = '{}'", "--token {} --verbose", "auth_token: {}",
    "The API key is {}", "https://{}@git.internal/team/app.git", "signing_key={}\n",
    '{{\\"secret\\": \\"{}\\"}}',
)  # fmt: skip
CALLED = tuple(
    line
    for line in """
SMTP_PASS="{}"
DB_PASS={}
MYSQL_PASS={}
export PASS="{}"
DB_PW={}
REDIS_AUTH={}
  smtp_pass: {}
"dbPass": "{}",
spring.datasource.password={}
docker login -u ada -p {} registry.example.org
docker login registry.example.org --username ada --password {}
DATABASE_URL=postgres://app:{}
My password is {}
Password for admin: {}
The root password has been changed to {}.
Use the password {} to log in.
the password is now {}
Das Passwort lautet jetzt {}.
Le mot de passe de la base est {}.
La contraseña del servidor es {}.
A senha do banco é {}.
La password è {}
数据库的密码是{}。
密码：{}
Пароль от сервера: {}
Пароль — {}
Het wachtwoord is {}.
Lösenordet är {}
Hasło to {}
hasło do bazy: {}
Parola: {}
Şifre: {}
パスワードは{}です。
パスワード: {}
비밀번호는 {}입니다.
비밀번호: {}
""".split("\n")
    if line
)
"""Passwords by their short names, cut out of an address, and told in the languages of people."""


def called(rng: random.Random) -> str:
    """Return a password that reads almost like a name."""
    word = rng.choice("winter harbour banjo orchid".split())
    return rng.choice(
        (
            f"{word}_{rng.randint(10, 99)}{drawn(rng, string.ascii_lowercase, 2)}",
            f"{word[:4]}{word[4:].title()}-{rng.randint(10, 99)}{drawn(rng, string.ascii_lowercase, 2)}",
            f"{word[0].upper()}3{word[1:]}{drawn(rng, string.digits, 1)}{drawn(rng, string.ascii_letters, 4)}rd",
            f"{word}!{drawn(rng, string.ascii_lowercase, 4)}{rng.randint(1, 9)}",
        )
    )


PHRASES = "password={}|PASSWORD='{}'|password: {}|The password is {}.".split("|")
WORDS = "correct horse battery staple river candle window pepper garden silver".split()


KEY_MAKERS: tuple[Callable[[random.Random], str], ...] = (
    lambda r: drawn(r, HEX, 32),
    lambda r: drawn(r, HEX, 40),
    lambda r: drawn(r, ALNUM, 32),
    lambda r: drawn(r, ALNUM, 24),
    lambda r: drawn(r, LOWNUM, 40),
    lambda r: str(uuid.UUID(bytes=r.randbytes(16))),
)


def private_key(rng: random.Random) -> str:
    """Return a PEM block, whole or cut short, of one of the kinds that there are."""
    kind = rng.choice(("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "))
    text = b64(rng, 300)
    lines = [f"-----BEGIN {kind}PRIV" + "ATE KEY-----", *(text[n : n + 64] for n in range(0, len(text), 64))]
    if rng.random() < 0.8:
        lines.append(f"-----END {kind}PRIV" + "ATE KEY-----")
    return rng.choice(("\n", "\n", "\\n")).join(lines)


def true_cases(seed: str = "true cases") -> list[Case]:
    """Return texts with one secret each."""
    rng = random.Random(seed)
    cases: list[Case] = []
    while len(cases) < 280:
        for name, make in TOKENS.items():
            secret = make(rng)
            cases.append(Case(name, AROUND[len(cases) % len(AROUND)].format(secret), secret))
    for number in range(30):
        secret = private_key(rng)
        text = f"Here is the key:\n{secret}\nPut it on the server." if number % 2 else secret
        cases.append(Case("private key", text, secret))
    while len(cases) < 420:
        for form in PASSWORDS:
            secret = password(rng)
            cases.append(Case(f"password in {form!r}", form.format(secret), secret))
    for form in CALLED:
        secret = called(rng)
        cases.append(Case(f"password in {form!r}", form.format(secret), secret))
    for form in PHRASES:
        secret = "-".join(rng.sample(WORDS, 4))
        cases.append(Case("passphrase", form.format(secret), secret))
    while len(cases) < COUNT:
        for number, form in enumerate(KEYS):
            secret = KEY_MAKERS[(len(cases) + number) % len(KEY_MAKERS)](rng)
            cases.append(Case(f"key in {form!r}", form.format(secret), secret))
    return cases[:COUNT]


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


FORMS = r"""
Fixed in {hex:40}, see also {hex:7}.
commit {hex:40}\nMerge: {hex:7} {hex:8}\nAuthor: Ada <ada@example.org>
sha256:{hex:64}  dist/app-{int:9}.{int:20}.tar.gz
{hex:64}  app.tar.gz
md5 {HEX:32} and {hex:32}
Request {uuid:1} failed after {int:900} ms.
{"id": "{uuid:1}", "parent": "{uuid:1}"}
trace_id={hex:32} span_id={hex:16}
order 01{ulid:24} was shipped
"integrity": "sha512-{b64:64}"
github.com/pkg/errors v0.9.{int:9} h1:{b64:32}
256 SHA256:{alnum:43} ada@laptop (ED25519)
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{alnum:43} ada@laptop
![](data:image/png;base64,{b64:66})
![](data:image/png;base64,{b64:4000})
Content-Transfer-Encoding: base64\n\n{lines:1200}\n
-----BEGIN CERTIFICATE-----\n{lines:900}\n-----END CERTIFICATE-----
{"image": "{b64:2400}"}
FROM python:3.{int:13}-slim@sha256:{hex:64}
https://docs.google.com/document/d/1{url:43}/edit#heading=h.{low:12}
https://www.youtube.com/watch?v={url:11}&t={int:900}s
https://github.com/example/app/commit/{hex:40}
https://github.com/example/app/blob/{hex:40}/src/api/Button.tsx#L{int:400}-L{int:800}
/assets/index-{alnum:8}.js and /static/media/logo.{hex:20}.svg
/nix/store/{low:32}-python3-3.11.{int:9}/bin/python3
/home/ada/projects/app-{int:99}/src/web/routesV2.test.tsx:{int:999}:17
/var/folders/{low:2}/{low:30}/T/pytest-of-ada/pytest-{int:99}
pod/api-gateway-{hex:10}-{low:5} restarted {int:9} times
web.1.{low:25}
sent to 0x{hex:40} in tx 0x{hex:64}
#{hex:6} #{hex:6} #{hex:6} #{hex:6} #{hex:6}
{hex:4}:{hex:4}:{hex:4}:{hex:4}:{hex:4}:{hex:4}:{hex:4}:{hex:4} and 10.0.{int:255}.7:8080
{int:1000000000000000000000000000000} rows, 0.{int:100000000000000000}, {int:10000000000}:{hex:40}
2026-11-{int:28}T0{int:9}:15:30.123456789+00:00 INFO worker-{int:30} up
000000{int:99}  {hex:2} {hex:2} {hex:2} {hex:2} {hex:2} {hex:2} {hex:2} {hex:2}
app-{int:9}.{int:30}.0-rc.1+build.{int:100000000}.{hex:8}
    --hash=sha256:{hex:64} \\n    --hash=sha256:{hex:64}
const on{int:99} = useCallback(async (event: InputEvent) => {}, [d{int:9}]);
SELECT password_hash FROM users WHERE token_id = {int:1000000} AND key = 'eu-{int:9}'
undefined reference to `_ZNKSt{int:9}__cxx{int:100000}moneypunctIwLb1EE{int:99}doEv'
meta-olmo{int:9}/Olmo{int:99}-2-7b-hf, Qwen/Qwen3-Omni-{int:90}B-A3B
https://static.example.org/{hex:32}.jpg/v1/fill/w_640,h_558,enc_auto/{hex:32}.jpg
ETag: "{hex:32}-{int:20}"
order in_{int:1000000000} of cus_{alnum:14}
""".strip().split("\n")
"""Texts with random pieces, as `{hex:40}`: an alphabet and how many of it, or the most of a number."""
ALPHABETS = {
    "hex": HEX, "HEX": HEX.upper(), "alnum": ALNUM, "low": LOWNUM, "url": URLSAFE,
    "ulid": "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
}  # fmt: skip


def filled(form: str, rng: random.Random) -> str:
    """Return a form with random pieces in their places."""

    def piece(found: re.Match[str]) -> str:
        name, count = found[1], int(found[2])
        match name:
            case "int":
                return str(rng.randint(1, count))
            case "uuid":
                return str(uuid.UUID(bytes=rng.randbytes(16), version=4))
            case "b64":
                return b64(rng, count)
            case "lines":
                return "\n".join(re.findall(".{1,76}", b64(rng, count)))
        return drawn(rng, ALPHABETS[name], count)

    return re.sub(r"\{(\w+):(\d+)\}", piece, form.replace("\\n", "\n"))


def false_cases(seed: str = "false cases") -> list[Case]:
    """Return texts without any secret."""
    rng = random.Random(seed)
    cases = [Case(f"prose {number}", text) for number, text in enumerate(PROSE)]
    cases += [Case(f"name {name}", f"See {name} for that.") for name in NAMES]
    while len(cases) < COUNT:
        cases += [Case(form, filled(form, rng)) for form in FORMS]
    return cases[:COUNT]
