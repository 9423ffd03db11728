"""Secrets with a known form: keys and tokens of providers, JWTs, private keys. Nothing is changed here.

The formats are those of the library `detect-secrets` where its expressions take linear time, and Memtape's
own for other providers. The library is imported only for a text with the beginning of one of its formats,
since the import costs as much as a capture.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from memtape.tools.capture.secrets.places import ALPHANUMERIC, Places, compiled, either, marks, runs


class FoundSecret(NamedTuple):
    """A secret in a text: from `start` to before `end`, and the kind that its placeholder names."""

    start: int
    end: int
    kind: str


_DETECTORS = {
    "aws.AWSKeyDetector": "aws-access-key",
    "azure_storage_key.AzureStorageKeyDetector": "azure-storage-key",
    "discord.DiscordBotTokenDetector": "discord-token",
    "github_token.GitHubTokenDetector": "github-token",
    "gitlab_token.GitLabTokenDetector": "gitlab-token",
    "mailchimp.MailchimpDetector": "mailchimp-key",
    "pypi_token.PypiTokenDetector": "pypi-token",
    "sendgrid.SendGridDetector": "sendgrid-key",
    "slack.SlackDetector": "slack-token",
    "square_oauth.SquareOAuthDetector": "square-secret",
    "stripe.StripeDetector": "stripe-key",
    "telegram_token.TelegramBotTokenDetector": "telegram-token",
    "twilio.TwilioKeyDetector": "twilio-key",
}
"""The library's detectors in use. The rest take quadratic time, find false secrets, or are replaced here."""

_WORDS_OF_LIBRARY = marks(
    """
    a3t akia abia acca asia accountkey= ghp_ gho_ ghu_ ghs_ ghr_ glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt-
    glagent- gloas- gr1348941 pypi-ag sg. xox hooks.slack.com sq0csp- k_live_
    """.split(),
    (f"-us{digit}" for digit in range(10)),
)
_OF_LIBRARY = either(_WORDS_OF_LIBRARY, runs(34, f"{ALPHANUMERIC}_.:-"))
"""Every format of the library has such a word, or a run as long as tokens of Discord, Telegram and Twilio."""
_MAY_BE_OF_LIBRARY = (
    r"A3T|AKIA|ABIA|ACCA|ASIA|AccountKey=|gh[pousr]_|gl[a-z]{2,6}-|GR1348941|-us[0-9]|pypi-Ag|SG\.|xox[a-z]"
    r"|hooks\.slack\.com|sq0csp-|k_live_|[0-9]{8}:|AC[a-z0-9]{32}|SK[a-z0-9]{32}|\.[\w-]{6}\.[\w-]{27}"
)
"""The marks of each of those formats; tests hold that none of them is found without its marks."""

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_HASH = (
    r"(?:(?<=\$)|(?<![\w$]))\$(?:\$?(?:1|2[abxy]|5|6|7|y|gy|apr1|sha1|argon2(?:id|i|d)|s?crypt|pbkdf2[\w-]{0,20})\${1,2}"
    r"[\w./+=,$-]{22,256}|[PH]\$[./0-9A-Za-z]{31})"
    r"|(?:pbkdf2_sha\d{1,3}|bcrypt_sha256|argon2|scrypt:\d+:\d+:\d+|pbkdf2:sha\d{1,3}:\d+)\$[\w./+=,$-]{22,256}"
)
"""Hashes of passwords as crypt(3), PHC, PHP, Django and Werkzeug write them; in files of Compose each dollar is two."""
_HASH_BEGINS = (
    "$1$ $2a$ $2b$ $2x$ $2y$ $5$ $6$ $7$ $y$ $gy$ $apr1$ $sha1$ $argon2 $scrypt$ $crypt$ $pbkdf2 $P$ $H$"
    " pbkdf2_sha bcrypt_sha256$ argon2$ scrypt: pbkdf2:sha"
)
_FORMATS = (
    ("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,}"),
    ("openai-key", "sk-", r"sk-(?:proj|svcacct|admin)-[\w-]{20,}|sk-[A-Za-z0-9]{32,}"),
    ("openrouter-key", "sk-or-", r"sk-or-v1-[0-9a-f]{64}"),
    ("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    ("telegram-token", "/bot", r"(?<=/)bot[0-9]{8,10}:[\w-]{34,36}"),
    ("password-hash", _HASH_BEGINS, _HASH),
    ("password-hash", ":::", r"(?<=:)[0-9a-fA-F]{32}:[0-9a-fA-F]{32}(?=:::)"),
    (
        "password-hash",
        "{SSHA",
        r"(?<=\{SSHA\})[A-Za-z0-9+/]{28,}={0,2}|(?<=\{SSHA(?:256|512)\})[A-Za-z0-9+/]{40,}={0,2}",
    ),
    ("k3s-token", "::", r"K10[0-9a-f]{64}::[\w-]{1,64}:[\w.-]{16,}"),
    ("hubspot-token", "pat-", rf"pat-[a-z]{{2}}\d-{_UUID}"),
    ("plaid-token", "access-", rf"access-(?:sandbox|development|production)-{_UUID}"),
    ("langfuse-key", "sk-lf-", rf"sk-lf-{_UUID}"),
    ("openshift-token", "sha256~", r"sha256~[\w-]{43}"),
    ("fly-token", "fm1 fm2", r"fm[12][ar]?_[A-Za-z0-9+/=]{40,}"),
    ("nuget-key", "oy2", r"oy2[a-z0-9]{43}"),
    ("dropbox-token", "sl.", r"sl\.(?:u\.)?[\w-]{60,}"),
    ("mollie-key", "live_", r"(?<!\w)live_[A-Za-z0-9]{30,}"),
    ("paddle-key", "pdl_", r"pdl_[a-z]{4}_apikey_\w{40,}"),
    ("brevo-key", "xkeysib-", r"xkeysib-[0-9a-f]{64}-\w{16}"),
    ("sonar-token", "squ_ sqp_ sqa_", r"sq[upa]_[0-9a-f]{40}"),
    ("sourcegraph-token", "sgp_", r"sgp_(?:[0-9a-z]{16}_)?[0-9a-f]{40}"),
    ("buildkite-token", "bk", r"bk[a-z]{2}_[0-9a-f]{40}"),
    ("bitbucket-token", "ATBB", r"ATBB[A-Za-z0-9]{32}"),
    ("trello-token", "ATTA", r"ATTA[0-9a-f]{64}"),
    ("mailersend-token", "mlsn.", r"mlsn\.[0-9a-f]{64}"),
    (
        "wallet-key",
        "from_key( Wallet( ToAccount(",
        r"(?:(?<=from_key\([\"'])|(?<=Wallet\([\"'])|(?<=ToAccount\([\"']))0x[0-9a-f]{64}",
    ),
    ("wallet-key", "0x", r"(?<=accounts: \[.)0x[0-9a-f]{64}|(?<=\b[pP][kK] = [\"'])0x[0-9a-f]{64}"),
    ("wallet-key", "PK=", r"(?<=PK=)(?:0x)?[0-9a-f]{64}"),
    ("wallet-key", "pk:", r"(?<=\bpk: )(?:0x)?[0-9a-f]{64}"),
    ("wallet-key", "[", r"\[\s*(?:[0-9]{1,3},\s*){63}[0-9]{1,3}\s*\]"),
    ("recovery-code", "A3-", r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){4}"),
    ("wallet-key", "nsec1", r"nsec1[a-z0-9]{58}"),
    ("password", "WIFI:", r"(?<=[;:]P:)[^;\s]{8,63}(?=;)"),
    ("minisign-key", "RWRTY", r"RWRTY[A-Za-z0-9+/]{100,}={0,2}"),
    ("wallet-key", "xprv yprv zprv tprv uprv vprv", r"[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{100,}"),
    ("otp-seed", "otpauth", r"(?<=[?&]secret=)[A-Za-z2-7]{8,128}={0,6}"),
    ("neon-key", "napi_", r"napi_[a-z0-9]{40,}"),
    ("fireworks-key", "fw_", r"(?<!\w)fw_[A-Za-z0-9]{22,32}"),
    ("render-key", "rnd_", r"(?<!\w)rnd_[A-Za-z0-9]{26,34}"),
    ("1password-token", "ops_eyJ", r"ops_eyJ[\w-]{60,}"),
    ("infisical-token", "st.", r"(?<!\w)st\.[0-9a-f-]{24,36}\.[0-9a-f]{32}(?:\.[0-9a-f]{32})?"),
    ("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    ("xai-key", "xai-", r"xai-[A-Za-z0-9]{40,}"),
    ("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    ("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    ("github-token", "github_pat_", r"github_pat_\w{40,}"),
    ("gcp-api-key", "AIza", r"AIza[\w-]{35}"),
    ("gcp-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{28}"),
    ("gcp-oauth-token", "ya29.", r"ya29\.[\w-]{20,}"),
    ("gcp-refresh-token", "1//0", r"1//0[\w-]{30,}"),
    ("azure-client-secret", "Q~", r"[\w~.]{3}[0-9]Q~[\w~.-]{31,34}"),
    ("azure-sas", "sig=", r"(?<=[?&]sig=)[A-Za-z0-9%+/=]{40,}"),
    ("slack-token", "xox", r"xox[a-z](?:\.[a-z])?-[A-Za-z0-9-]{10,}"),
    ("slack-token", "xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    ("stripe-key", "k_live_ k_test_", r"[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    ("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    ("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    ("mailgun-key", "key-", r"key-[0-9a-f]{32}"),
    ("discord-webhook", "/api/webhooks/", r"(?<=/api/webhooks/)[0-9]{10,}/[\w-]{60,}"),
    ("docker-token", "dckr_pat_", r"dckr_pat_[\w-]{27,}"),
    ("digitalocean-token", "doo_v1_ dop_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}"),
    ("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    ("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{43,}"),
    ("notion-token", "secret_", r"secret_[A-Za-z0-9]{43}"),
    ("atlassian-token", "ATATT3", r"ATATT3[\w=-]{100,}"),
    ("databricks-token", "dapi", r"dapi[0-9a-f]{32}"),
    ("doppler-token", "dp.", r"dp\.(?:pt|st|sa|ct|scim|audit)\.[A-Za-z0-9]{40,44}"),
    ("figma-token", "figd_", r"figd_[\w-]{40,}"),
    ("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[\w+/=-]{40,}"),
    ("grafana-token", "glc_ glsa_", r"gl(?:c|sa)_[\w+/=]{32,}"),
    ("newrelic-key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
    ("pulumi-token", "pul-", r"pul-[0-9a-f]{40}"),
    ("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    ("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    ("crates-token", "cio", r"cio[A-Za-z0-9]{32}"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    ("supabase-token", "sbp_", r"sbp_[0-9a-f]{40}"),
    ("tailscale-key", "tskey-", r"tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]+"),
    ("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("facebook-token", "EAA", r"EAA[A-Za-z0-9]{60,}"),
    ("artifactory-key", "AKC", r"AKC[A-Za-z0-9]{60,}"),
    ("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    # The lookbehind lets each run of letters be tried once.
    ("jwt", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}={0,2}\.eyJ[\w-]{8,}={0,2}(?:\.[\w-]{8,})?"),
    ("jwt", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}(?:\.[\w-]{0,4096}){4}(?![\w.-])"),
)
_BEGUN_BY: dict[str, list[int]] = {}
"""Which of the formats have something in them, by that in lower case."""
for _number, (_, _begins, _) in enumerate(_FORMATS):
    for _anchor in _begins.split():
        _BEGUN_BY.setdefault(_anchor.lower(), []).append(_number)
_ANCHORS = marks(_BEGUN_BY)
_KEY_MARK = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = r"(?:(?:\s|\\[nr]|[\"'>|])*[A-Za-z0-9+/=]{24,})+(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{4,})?"
_ENCODED_KEY = (
    r"(?<![A-Za-z0-9+/])(?:LS0tLS1CRUdJTi|b3BlbnNzaC1rZXktdjE|MII[A-Za-z0-9+/]{2,3}IBA[AD]|MHcCAQEE"
    r"|MIG[A-Za-z0-9]AgEAM|MC4CAQAw)"
    r"(?:[A-Za-z0-9+/]+(?:\s|\\[nr])*)*[A-Za-z0-9+/]={0,2}"
)
_ENCODED_MARKS = marks("ls0tls1crudjti b3blbnnzac1rzxktdje ibaa ibad mhccaqee ageam mc4caqaw".split())
"""How private keys in base64 begin: a PEM block, a key of OpenSSH, PKCS#1, PKCS#8 and SEC 1."""
_LINE_BEFORE = r"(?:(?<=\n)|(?<=\\n)|^)[A-Za-z0-9+/=]{4,80}(?:\r?\n|\\n)+\Z"
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{40}")
_PUTTY = r"Private-Lines: [0-9]{1,3}\s+((?:[A-Za-z0-9+/=]{4,80}\s*){1,200})"


_KEY_MARKS = marks(("private key", "private-lines"))
MAY_KNOW = either(_KEY_MARKS, _ENCODED_MARKS, _ANCHORS, _OF_LIBRARY)
"""Every secret with a known form has one of these."""


def known_secrets(places: Places) -> Iterator[FoundSecret]:
    """Yield the strings with a form of known secrets; findings may overlap. Takes time linear in the text."""
    text = places.text
    if places.may(_KEY_MARKS):
        yield from _private_keys(text)
        yield from (FoundSecret(*found.span(1), "private-key") for found in compiled(_PUTTY).finditer(text))
    for found in compiled(_ENCODED_KEY).finditer(text) if places.may(_ENCODED_MARKS) else ():
        if len(found[0]) >= 40 and not (found[0].startswith("LS0t") and not _says_private(found[0])):
            yield FoundSecret(*found.span(), "private-key")
    for number in sorted({number for anchor in places.among(_ANCHORS) for number in _BEGUN_BY[anchor]}):
        kind, begins, pattern = _FORMATS[number]
        if any(anchor in text for anchor in begins.split()):
            yield from _whole(text, kind, compiled(pattern))
    if places.may(_OF_LIBRARY) and compiled(_MAY_BE_OF_LIBRARY).search(text):
        for kind, known in _of_library():
            yield from _whole(text, kind, known)


_MADE_UP = r"(?i)(.)\1{7}|your|example|placeholder|dummy|redacted|here\Z"


def _whole(text: str, kind: str, pattern: re.Pattern[str]) -> Iterator[FoundSecret]:
    """Yield matches that are no part of a longer word and no made-up example."""
    for found in pattern.finditer(text):
        start, end = found.span()
        if not compiled(_MADE_UP).search(found[0]) and not (
            text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum()
        ):
            yield FoundSecret(start, end, kind)


def _says_private(block: str) -> bool:
    """Whether a PEM block in base64 begins one of a private key, or is cut before that can be seen."""
    head = re.sub(r"\s|\\[nr]", "", block)[:64]
    return b"PRIVATE" in base64.b64decode(head[: len(head) // 4 * 4])


def _private_keys(text: str) -> Iterator[FoundSecret]:
    marks = list(_KEY_MARK.finditer(text))
    for place, mark in enumerate(marks):
        if mark[1] != "BEGIN":
            if place == 0 or marks[place - 1][1] != "BEGIN":
                yield from _headless(text, marks[place - 1].end() if place else 0, mark)
            continue
        following = marks[place + 1] if place + 1 < len(marks) else None
        if following is not None and following[1] == "END":
            if _KEY_LINE.search(text, mark.end(), following.start()):
                yield FoundSecret(mark.start(), following.end(), "private-key")
        elif body := compiled(_KEY_BODY).match(text, mark.end()):  # It was cut short.
            yield FoundSecret(mark.start(), body.end(), "private-key")


def _headless(text: str, start: int, mark: re.Match[str]) -> Iterator[FoundSecret]:
    """Yield the end of a private key without its beginning: the lines of base64 before its last line."""
    first = end = mark.start()
    while found := compiled(_LINE_BEFORE).search(text, max(start, first - 100), first):
        first = found.start()
    if first < end:
        yield FoundSecret(first, mark.end(), "private-key")


@cache
def _of_library() -> list[tuple[str, re.Pattern[str]]]:
    from importlib import import_module

    patterns = []
    for name, kind in _DETECTORS.items():
        file, _, detector = name.partition(".")
        denylist = getattr(import_module(f"detect_secrets.plugins.{file}"), detector).denylist
        # The second expression for AWS looks for an assignment, which has a file of its own here.
        patterns += [(kind, pattern) for pattern in (denylist[:1] if kind == "aws-access-key" else denylist)]
    return patterns
