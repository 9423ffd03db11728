"""Files whose content is never captured: keys, passwords, credentials."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

DENIED_PATHS = tuple(
    """
    .env .env.* *.env .envrc .netrc _netrc .pgpass .my.cnf .htpasswd .npmrc .pypirc .git-credentials
    .dockercfg .vault-token .s3cfg .boto credentials.json service-account*.json client_secret*.json
    secrets.yaml secrets.yml secrets.json secrets.toml *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk
    *.asc *.gpg *.age *.ovpn *.tfstate *.tfvars id_rsa id_dsa id_ecdsa id_ed25519 id_*_sk .ssh/* .gnupg/*
    .aws/credentials .aws/config .aws/sso/* .kube/config .docker/config.json .azure/* .config/gcloud/*
    .config/gh/hosts.yml .config/hub .password-store/* .terraform.d/credentials.tfrc.json .cargo/credentials
    .cargo/credentials.toml .gem/credentials .m2/settings.xml /etc/shadow /etc/sudoers /run/secrets/*
    .claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json redaction.key
    """.split()
)
"""Globs over the end of a path: one without `/` is held to the file's name, others to as many last parts as they have;
`folder/*` denies all that is in a folder."""

_SPARED = re.compile(r".*\.(?:example|sample|template|dist|md|pub)|.*\.(?:example|sample|template)\.\w+", re.IGNORECASE)
_PLACE_IN_FILE = re.compile(r"(?::\d+){1,2}$|[#?].*$")


@lru_cache(maxsize=1_024)  # An import asks for the same source thousands of times.
def denied_by(path: str, more: tuple[str, ...] = ()) -> str | None:
    """Return the glob that denies a path or source, or None. Case does not matter; `more` denies besides the list."""
    for form in without_place(path.replace("\\", "/").strip()):
        parts = _parts(form)
        if not parts:
            continue
        for glob, own in ((glob, glob in more) for glob in (*DENIED_PATHS, *more)):
            if (own or not _SPARED.fullmatch(parts[-1])) and _matches(glob, parts):
                return glob
    return None


def without_place(path: str) -> tuple[str, ...]:
    """Return a path as written, and without a line or part of the file at its end."""
    return tuple(dict.fromkeys((path, _PLACE_IN_FILE.sub("", path))))


def _parts(path: str) -> list[str]:
    """Return the parts of a path; `..` takes back the part before."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return parts


def _matches(glob: str, parts: Sequence[str]) -> bool:
    glob = glob.replace("\\", "/")
    pieces = [piece for piece in (f"{glob}*" if glob.endswith("/") else glob).split("/") if piece]
    if pieces and pieces[-1] in ("*", "**") and len(pieces) > 1:  # A folder, with all that is in it.
        folder = pieces[:-1]
        return any(_same(folder, parts[at : at + len(folder)]) for at in range(len(parts) - len(folder)))
    return bool(pieces) and _same(pieces, parts[-len(pieces) :])


def _same(globs: Sequence[str], parts: Sequence[str]) -> bool:
    return len(globs) == len(parts) and all(
        fnmatchcase(part.lower(), glob.lower()) for glob, part in zip(globs, parts, strict=True)
    )
