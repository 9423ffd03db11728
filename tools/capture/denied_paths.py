"""Files whose content is never captured: keys, passwords, credentials."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from pathlib import PurePosixPath

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
        file = PurePosixPath(posixpath.normpath(f"/{form.lower()}"))
        spared = _SPARED.fullmatch(file.name)
        for glob in more if spared else (*DENIED_PATHS, *more):
            if _matches(glob.replace("\\", "/").lower(), file):
                return glob
    return None


def without_place(path: str) -> tuple[str, ...]:
    """Return a path as written, and without a line or part of the file at its end."""
    return tuple(dict.fromkeys((path, _PLACE_IN_FILE.sub("", path))))


def _matches(glob: str, file: PurePosixPath) -> bool:
    """Whether a glob holds for the last parts of a path, or for a folder that the path is in."""
    folder, _, name = glob.rpartition("/")
    if folder.strip("/") and name in ("", "*", "**"):
        return any(parent.match(folder.strip("/")) for parent in file.parents)
    return bool(glob.strip("/")) and file.match(glob.strip("/"))
