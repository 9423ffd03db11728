"""What is not stored: the known secrets of a home and its key, and pauses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import click
import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Origin
from memtape.schemas.scopes import check_scope
from memtape.schemas.times import US_PER_S
from memtape.schemas.visible import many
from memtape.sinks.home.folders import Home
from memtape.sinks.home.pauses import Pause, pauses_of
from memtape.sinks.home.pauses import pause as pause_home
from memtape.sinks.home.pauses import resume as resume_home
from memtape.tools.capture.profiles import silence_by
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.secrets.known import KnownSecret, MetSecrets, RedactionKey, unwrapped, wrapped, write_secret
from memtape.tools.capture.writing import check_person, now_us
from memtape.tools.doors.terminal import is_asked
from memtape.tools.verb import Asks, Verb, said

UNIT_S = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


class ForgetSecretsAsks(Asks, frozen=True):
    ids: Annotated[tuple[str, ...], said("The digits of placeholders, or of the list.")]
    origin: Annotated[Origin | None, said("user at a terminal, else agent.")] = None


class ShareAsks(Asks, frozen=True):
    file: Annotated[str, said("A new file.", metavar="FILE", path="new")]


class JoinAsks(Asks, frozen=True):
    file: Annotated[str, said("The file that was written.", metavar="FILE", path="file")]
    replace: Annotated[bool, said("Also where this home knows secrets under another key, and lose those.")] = False


class ResumeAsks(Asks, frozen=True):
    project: Annotated[bool, said("Only the project of this folder, instead of all.")] = False
    scope: Annotated[str | None, said("Only this project, as project:NAME.")] = None


class PauseAsks(ResumeAsks, frozen=True):
    length: Annotated[
        str | None, said("End by itself after so long: 90m, 1h, 3d, 2w.", option="--for", metavar="TIME")
    ] = None


class ForgottenSecrets(msgspec.Struct, frozen=True):
    """The secrets that are known no more."""

    forgotten: tuple[str, ...]


class SharedKey(msgspec.Struct, frozen=True):
    """The file that holds a wrapped key."""

    file: str


class JoinedKey(msgspec.Struct, frozen=True):
    """Whether the key of a file is new to this home."""

    joined: bool


class LastingPauses(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The pauses in effect; `ended` says whether a pause was ended."""

    paused: list[Pause]
    ended: bool | None = None


def known_secrets(home: Path, asked: Asks) -> list[KnownSecret]:
    """Return the secrets known to a home: the digits of their placeholders, and who told them where."""
    return list(_met(home).all())


def forget_secrets(home: Path, asked: ForgetSecretsAsks) -> ForgottenSecrets:
    """Stop redacting false secrets. Raises `MemtapeError`, also for anyone but a person."""
    check_person(asked.origin or ("user" if is_asked() else "agent"), "say what is no secret")
    met = _met(home)
    known = {secret.id for secret in met.all()}
    if unknown := [id for id in asked.ids if id not in known]:
        raise MemtapeError(
            f"No known secret has the digits {unknown[0][:60]!r}.", "`memtape admin secrets list` names them."
        )
    met.forget(asked.ids)
    return ForgottenSecrets(asked.ids)


def share_key(home: Path, asked: ShareAsks) -> SharedKey:
    """Write the key of a home's placeholders into a new file, wrapped under a passphrase. Raises `MemtapeError`."""
    file = Path(asked.file)
    passphrase = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    data = wrapped(RedactionKey(Home(home).redaction_key_path).get(), passphrase)
    try:
        write_secret(file, data)
    except FileExistsError:
        raise MemtapeError(f"{file} is there already.", "Name a new file.") from None
    return SharedKey(str(file))


def join_key(home: Path, asked: JoinAsks) -> JoinedKey:
    """Take the key of a file that was shared. Raises `MemtapeError` where known secrets would be lost."""
    key = unwrapped(Path(asked.file).read_bytes(), click.prompt("Passphrase", hide_input=True, err=True))
    here, known = Home(home), _met(home).all()
    own = RedactionKey(here.redaction_key_path)
    is_new = not here.redaction_key_path.exists() or own.get() != key
    if is_new and known and not asked.replace:
        raise MemtapeError(
            f"This home knows {many(len(known), 'secret')} under another key.", "Add --replace to know them no more."
        )
    if is_new:
        here.met_secrets_path.unlink(missing_ok=True)
        own.replace(key)
    return JoinedKey(is_new)


def pause(home: Path, asked: PauseAsks) -> LastingPauses:
    """Store nothing from now on, in all projects or in one."""
    of, now = _scope_of(home, asked), now_us()
    pause_home(Home(home).path, of, now, None if asked.length is None else now + _length_us(asked.length))
    return LastingPauses(paused=list(pauses_of(home).lasting(now_us())))


def resume(home: Path, asked: ResumeAsks) -> LastingPauses:
    """End a pause, and return the pauses still in effect."""
    ended = resume_home(Home(home).path, _scope_of(home, asked), now_us())
    return LastingPauses(paused=list(pauses_of(home).lasting(now_us())), ended=bool(ended))


def _pause_lines(home: Path, asked: Asks, found: LastingPauses) -> Iterator[str]:
    if found.ended is not None:
        yield "The pause has ended." if found.ended else "There was no such pause."
    yield from map(str, map(silence_by, found.paused))


def _secret_lines(home: Path, asked: Asks, known: list[KnownSecret]) -> Iterator[str]:
    for secret in known:
        place = "all projects" if secret.trust == "person" else secret.scope or "no project"
        yield f"{secret.id}  {secret.kind:<16}  {many(secret.chars, 'character')}, known in {place}"
    yield f"{many(len(known), 'known secret')}. `memtape admin secrets forget ID` undoes one."


def _forgotten_lines(home: Path, asked: ForgetSecretsAsks, found: ForgottenSecrets) -> list[str]:
    return [f"{many(len(found.forgotten), 'value is', 'values are')} left alone from now on."]


def _share_lines(home: Path, asked: ShareAsks, shared: SharedKey) -> list[str]:
    name = Path(shared.file).name
    return [f"The wrapped key is in {shared.file}. Others take it by `memtape admin secrets join {name}`."]


def _join_lines(home: Path, asked: JoinAsks, done: JoinedKey) -> list[str]:
    told = "This home has the key now. Start servers of agents and `memtape run` again."
    return [told if done.joined else "It had this key."]


def _met(home: Path) -> MetSecrets:
    met = MetSecrets(Home(home).met_secrets_path)
    met.refresh()
    return met


def _scope_of(home: Path, asked: ResumeAsks) -> str | None:
    if asked.project and asked.scope is not None:
        raise click.UsageError("Give --project or --scope, not both.")
    if asked.scope is not None:
        return check_scope(asked.scope)
    return scope_of_folder(Path.cwd(), Home(home)) if asked.project else None


def _length_us(length: str) -> int:
    found = re.fullmatch(r"\s*(\d{1,4})\s*([mhdw])\s*", length)
    if found is None or not int(found[1]):
        raise MemtapeError(f"{length[:60]!r} is no length of time.", "Give one as 90m, 1h, 3d or 2w.")
    return int(found[1]) * UNIT_S[found[2]] * US_PER_S


VERBS = (
    Verb(
        "admin secrets list",
        "List the secrets known to this home: the digits of their placeholders, and who told them where.",
        "memtape admin secrets list",
        Asks,
        KnownSecret,
        known_secrets,
        lines=_secret_lines,
        listed="secrets",
        at="folder",
        details="No secret is printed, and none is kept: the home has only keyed digests. A secret told by a person is "
        "known in every project, any other in its project alone.",
    ),
    Verb(
        "admin secrets forget",
        "Stop redacting a false secret; ID is the digits of its placeholder, or of the list.",
        "memtape admin secrets forget 5f0c6d1e",
        ForgetSecretsAsks,
        ForgottenSecrets,
        forget_secrets,
        lines=_forgotten_lines,
        effect="shows",
        at="folder",
        details="Only people do so. The log stays as it is. A text that itself calls the value a password still "
        "loses it.",
    ),
    Verb(
        "admin secrets share",
        "Write the key of this home's placeholders into a new file, wrapped under a passphrase; it asks for one.",
        "memtape admin secrets share team.key",
        ShareAsks,
        SharedKey,
        share_key,
        lines=_share_lines,
        at="folder",
        details="All homes of one log should have one key: under two, one secret has two placeholders. Send the file "
        "and the passphrase on two ways. A key opens nothing by itself; with it, somebody could find a weak password "
        "by trying.",
    ),
    Verb(
        "admin secrets join",
        "Take the key of a file that `memtape admin secrets share` wrote, before anything is captured here.",
        "memtape admin secrets join team.key",
        JoinAsks,
        JoinedKey,
        join_key,
        lines=_join_lines,
        effect="adds",
        at="folder",
        details="Secrets known to this home under its own key are then unknown: the command needs --replace for that.",
    ),
    Verb(
        "agents pause",
        "Store nothing from now on: no captures, no imports, no turns of agents, no searches and no uses.",
        "memtape agents pause --for 1h\nmemtape agents pause --project",
        PauseAsks,
        LastingPauses,
        pause,
        lines=_pause_lines,
        effect="adds",
        undo="memtape agents resume",
        at="folder",
        details="Memories are still found and given to agents. Text of the pause is never stored, also not by a later "
        "import of a transcript. Without --for the pause lasts until `memtape agents resume`; with --project this "
        "project is off.",
    ),
    Verb(
        "agents resume",
        "End a pause, and name the pauses still in effect.",
        "memtape agents resume\nmemtape agents resume --project",
        ResumeAsks,
        LastingPauses,
        resume,
        lines=_pause_lines,
        effect="adds",
        at="folder",
        details="Turns from before the pause that are not yet stored are taken by the next `memtape import --all`.",
    ),
)
