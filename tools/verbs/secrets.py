"""What is not stored: the known secrets of a home and its key, and pauses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import click
import msgspec

from memtape.schemas.errors import InvalidUse, MemtapeError
from memtape.schemas.events import Origin
from memtape.schemas.scopes import check_scope
from memtape.schemas.times import US_PER_S
from memtape.schemas.visible import many
from memtape.sinks.home.files import write_new
from memtape.sinks.home.folders import Home
from memtape.tools.capture.profiles import Pause, pauses_of
from memtape.tools.capture.profiles import pause as pause_home
from memtape.tools.capture.profiles import resume as resume_home
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.secrets.known import KnownSecret, MetSecrets, unwrapped, wrapped
from memtape.tools.capture.writing import check_person, now_us
from memtape.tools.doors.terminal import is_asked
from memtape.tools.verb import Output, Verb, said

UNIT_S = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


class LastingPauses(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The pauses in effect; `ended` says whether a pause was ended."""

    paused: list[Pause]
    ended: bool | None = None


def known_secrets(home: Path) -> Output:
    """List the secrets known to this home: the digits of their placeholders, and who told them where.

        memtape admin secrets list

    No secret is printed, and none is kept: the home has only keyed digests. A secret told by a person is
    known in every project, any other in its project alone.
    """
    known = list(MetSecrets(Home(home)).read().all())
    yield known
    for secret in known:
        place = "all projects" if secret.trust == "person" else secret.scope or "no project"
        yield f"{secret.id}  {secret.kind:<16}  {many(secret.chars, 'character')}, known in {place}"
    yield f"{many(len(known), 'known secret')}. `memtape admin secrets forget ID` undoes one."


def forget_secrets(
    home: Path,
    ids: Annotated[tuple[str, ...], said("The digits of placeholders, or of the list.")],
    origin: Annotated[Origin | None, said("user at a terminal, else agent.")] = None,
) -> Output:
    """Stop redacting a false secret; ID is the digits of its placeholder, or of the list.

        memtape admin secrets forget 5f0c6d1e

    Only people do so. The log stays as it is. A text that itself calls the value a password still loses it.

    Raises `MemtapeError`, also for anyone but a person.
    """
    check_person(origin or ("user" if is_asked() else "agent"), "say what is no secret")
    met = MetSecrets(Home(home)).read()
    known = {secret.id for secret in met.all()}
    if unknown := [id for id in ids if id not in known]:
        raise MemtapeError(
            f"No known secret has the digits {unknown[0][:60]!r}.", "`memtape admin secrets list` names them."
        )
    met.forget(ids)
    yield ids
    yield f"{many(len(ids), 'value is', 'values are')} left alone from now on."


def share_key(home: Path, file: Annotated[str, said("A new file.", metavar="FILE", path="new")]) -> Output:
    """Write the key of this home's placeholders into a new file, wrapped under a passphrase; it asks for one.

        memtape admin secrets share team.key

    All homes of one log should have one key: under two, one secret has two placeholders. Send the file and
    the passphrase on two ways. A key opens nothing by itself; with it, somebody could find a weak password by
    trying.
    """
    passphrase = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    data = wrapped(MetSecrets(Home(home)).key, passphrase)
    write_new(Path(file), [data])
    yield file
    then = f"Others take it by `memtape admin secrets join {Path(file).name}`."
    yield f"The wrapped key is in {file}. {then}"


def join_key(
    home: Path,
    file: Annotated[str, said("The file that was written.", metavar="FILE", path="file")],
    replace: Annotated[
        bool, said("Also where this home knows secrets under another key, and lose those.")
    ] = False,
) -> Output:
    """Take the key of a file that `memtape admin secrets share` wrote, before anything is captured here.

        memtape admin secrets join team.key

    Secrets known to this home under its own key are then unknown: the command needs --replace for that.

    Raises `MemtapeError` where known secrets would be lost.
    """
    key = unwrapped(Path(file).read_bytes(), click.prompt("Passphrase", hide_input=True, err=True))
    own = MetSecrets(Home(home)).read()
    is_new, known = not Home(home).redaction_key_path.exists() or own.key != key, own.all()
    if is_new and known and not replace:
        raise MemtapeError(
            f"This home knows {many(len(known), 'secret')} under another key.",
            "Add --replace to know them no more.",
        )
    if is_new:
        own.replace_key(key)
    yield is_new
    has = "This home has the key now. Start servers of agents and `memtape run` again."
    yield has if is_new else "It had this key."


def pause(
    home: Path,
    project: Annotated[bool, said("Only the project of this folder, instead of all.")] = False,
    scope: Annotated[str | None, said("Only this project, as project:NAME.")] = None,
    length: Annotated[
        str | None, said("End by itself after so long: 90m, 1h, 3d, 2w.", option="--for", metavar="TIME")
    ] = None,
) -> Output:
    """Store nothing from now on: no captures, no imports, no turns of agents, no searches and no uses.

        memtape agents pause --for 1h
        memtape agents pause --project

    Memories are still found and given to agents. Text of the pause is never stored, also not by a later
    import of a transcript. Without --for the pause lasts until `memtape agents resume`; with --project this
    project is off.
    """
    of, now, until = _scope_of(home, project, scope), now_us(), None
    if length is not None:
        found = re.fullmatch(r"\s*(\d{1,4})\s*([mhdw])\s*", length)
        if found is None or not int(found[1]):
            raise MemtapeError(f"{length[:60]!r} is no length of time.", "Give one as 90m, 1h, 3d or 2w.")
        until = now + int(found[1]) * UNIT_S[found[2]] * US_PER_S
    pause_home(Home(home).path, of, now, until)
    yield from _pauses(home)


def resume(
    home: Path,
    project: Annotated[bool, said("Only the project of this folder, instead of all.")] = False,
    scope: Annotated[str | None, said("Only this project, as project:NAME.")] = None,
) -> Output:
    """End a pause, and name the pauses still in effect.

        memtape agents resume
        memtape agents resume --project

    Turns from before the pause that are not yet stored are taken by the next `memtape import --all`.
    """
    ended = resume_home(Home(home).path, _scope_of(home, project, scope), now_us())
    yield from _pauses(home, bool(ended))


def _pauses(home: Path, ended: bool | None = None) -> Output:
    """Yield the pauses in effect, and whether one was ended."""
    paused = list(pauses_of(home).lasting(now_us()))
    yield LastingPauses(paused=paused, ended=ended)
    if ended is not None:
        yield "The pause has ended." if ended else "There was no such pause."
    yield from map(str, paused)


def _scope_of(home: Path, project: bool, scope: str | None) -> str | None:
    if project and scope is not None:
        raise InvalidUse("Give --project or --scope, not both.")
    if scope is not None:
        return check_scope(scope)
    return scope_of_folder(Path.cwd(), Home(home)) if project else None


VERBS = (
    Verb("admin secrets list", known_secrets, answers=list[KnownSecret], listed="secrets", at="folder"),
    Verb(
        "admin secrets forget",
        forget_secrets,
        answers=tuple[str, ...],
        listed="forgotten",
        effect="shows",
        at="folder",
    ),
    Verb("admin secrets share", share_key, answers=str, listed="file", at="folder"),
    Verb("admin secrets join", join_key, answers=bool, listed="joined", effect="adds", at="folder"),
    Verb("agents pause", pause, answers=LastingPauses, effect="adds", at="folder"),
    Verb("agents resume", resume, answers=LastingPauses, effect="adds", at="folder"),
)
