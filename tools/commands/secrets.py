"""The commands of what is not stored: `memtape admin secrets`, `pause` and `resume`."""

from __future__ import annotations

import re
from pathlib import Path

import click

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Origin
from memtape.schemas.scopes import check_scope
from memtape.schemas.times import US_PER_S
from memtape.schemas.visible import many
from memtape.sinks.home.folders import Home
from memtape.sinks.home.pauses import pause as pause_home
from memtape.sinks.home.pauses import pauses_of
from memtape.sinks.home.pauses import resume as resume_home
from memtape.tools.capture.profiles import silence_by
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.secrets.known import MetSecrets, RedactionKey, unwrapped, wrapped, write_secret
from memtape.tools.capture.writing import check_person, now_us
from memtape.tools.commands.options import ORIGINS, Commands, Output, default_origin, with_folder

origin_option = click.option("--origin", type=click.Choice(ORIGINS), help="user at a terminal, else agent.")


@click.group(cls=Commands)
def secrets() -> None:
    """List the known secrets of this home, undo false ones, and give a team's homes one key.

    \b
    Example:
      memtape admin secrets list
      memtape admin secrets forget 5f0c6d1e
    """


@secrets.command("list")
@with_folder
def list_secrets(home: Path) -> Output:
    """List the secrets known to this home: the digits of their placeholders, and who told them where.

    No secret is printed, and none is kept: the home has only keyed digests. A secret told by a person is
    known in every project, any other in its project alone.

    \b
    Example:
      memtape admin secrets list
    """
    known = _met(home).all()
    yield {"secrets": known}
    for secret in known:
        place = "all projects" if secret.trust == "person" else secret.scope or "no project"
        yield f"{secret.id}  {secret.kind:<16}  {many(secret.chars, 'character')}, known in {place}"
    yield f"{many(len(known), 'known secret')}. `memtape admin secrets forget ID` undoes one."


@secrets.command("forget")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@origin_option
@with_folder
def forget_secrets(home: Path, ids: tuple[str, ...], origin: Origin | None) -> Output:
    """Stop redacting a false secret; ID is the digits of its placeholder, or of the list.

    Only people do so. The log stays as it is. A text that itself calls the value a password still loses it.

    \b
    Example:
      memtape admin secrets forget 5f0c6d1e
    """
    check_person(origin or default_origin(), "say what is no secret")
    met = _met(home)
    known = {secret.id for secret in met.all()}
    if unknown := [id for id in ids if id not in known]:
        raise MemtapeError(
            f"No known secret has the digits {unknown[0][:60]!r}.", "`memtape admin secrets list` names them."
        )
    met.forget(ids)
    yield {"forgotten": ids}
    yield f"{many(len(ids), 'value is', 'values are')} left alone from now on."


@secrets.command()
@click.argument("file", type=click.Path(path_type=Path))
@with_folder
def share(home: Path, file: Path) -> Output:
    """Write the key of this home's placeholders into a new file, wrapped under a passphrase; it asks for one.

    All homes of one log should have one key: under two, one secret has two placeholders. Send the file and
    the passphrase on two ways. A key opens nothing by itself; with it, somebody could find a weak password by
    trying.

    \b
    Example:
      memtape admin secrets share team.key
    """
    passphrase = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    data = wrapped(RedactionKey(Home(home).redaction_key_path).get(), passphrase)
    try:
        write_secret(file, data)
    except FileExistsError:
        raise MemtapeError(f"{file} is there already.", "Name a new file.") from None
    yield {"file": str(file)}
    yield f"The wrapped key is in {file}. Others take it by `memtape admin secrets join {file.name}`."


@secrets.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--replace", is_flag=True, help="Also where this home knows secrets under another key, and lose those.")
@with_folder
def join(home: Path, file: Path, replace: bool) -> Output:
    """Take the key of a file that `memtape admin secrets share` wrote, before anything is captured here.

    Secrets known to this home under its own key are then unknown: the command needs --replace for that.

    \b
    Example:
      memtape admin secrets join team.key
    """
    key = unwrapped(file.read_bytes(), click.prompt("Passphrase", hide_input=True, err=True))
    here, known = Home(home), _met(home).all()
    own = RedactionKey(here.redaction_key_path)
    is_new = not here.redaction_key_path.exists() or own.get() != key
    if is_new and known and not replace:
        raise MemtapeError(
            f"This home knows {many(len(known), 'secret')} under another key.", "Add --replace to know them no more."
        )
    if is_new:
        here.met_secrets_path.unlink(missing_ok=True)
        own.replace(key)
    yield {"joined": is_new}
    yield (
        "This home has the key now. Start servers of agents and `memtape run` again." if is_new else "It had this key."
    )


def _met(home: Path) -> MetSecrets:
    met = MetSecrets(Home(home).met_secrets_path)
    met.refresh()
    return met


UNIT_S = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}

project_option = click.option("--project", is_flag=True, help="Only the project of this folder, instead of all.")
scope_option = click.option("--scope", help="Only this project, as project:NAME.")


@click.command()
@click.option("--for", "length", metavar="TIME", help="End by itself after so long: 90m, 1h, 3d, 2w.")
@project_option
@scope_option
@with_folder
def pause(home: Path, length: str | None, project: bool, scope: str | None) -> Output:
    """Store nothing from now on: no captures, no imports, no turns of agents, no searches and no uses.

    Memories are still found and given to agents. Text of the pause is never stored, also not by a later
    import of a transcript. Without --for the pause lasts until `memtape agents resume`; with --project this project
    is off.

    \b
    Example:
      memtape agents pause --for 1h
      memtape agents pause --project
    """
    of, now = _scope_of(home, project, scope), now_us()
    pause_home(Home(home).path, of, now, None if length is None else now + _length_us(length))
    return _lasting(home)


@click.command()
@project_option
@scope_option
@with_folder
def resume(home: Path, project: bool, scope: str | None) -> Output:
    """End a pause, and name the pauses still in effect.

    Turns from before the pause that are not yet stored are taken by the next `memtape import --all`.

    \b
    Example:
      memtape agents resume
      memtape agents resume --project
    """
    ended = resume_home(Home(home).path, _scope_of(home, project, scope), now_us())
    return _lasting(home, "The pause has ended." if ended else "There was no such pause.")


def _lasting(home: Path, *done: str) -> Output:
    lasting = pauses_of(home).lasting(now_us())
    yield {"paused": lasting}
    yield from done
    yield from map(str, map(silence_by, lasting))


def _scope_of(home: Path, project: bool, scope: str | None) -> str | None:
    if project and scope is not None:
        raise click.UsageError("Give --project or --scope, not both.")
    if scope is not None:
        return check_scope(scope)
    return scope_of_folder(Path.cwd(), Home(home)) if project else None


def _length_us(length: str) -> int:
    found = re.fullmatch(r"\s*(\d{1,4})\s*([mhdw])\s*", length)
    if found is None or not int(found[1]):
        raise MemtapeError(f"{length[:60]!r} is no length of time.", "Give one as 90m, 1h, 3d or 2w.")
    return int(found[1]) * UNIT_S[found[2]] * US_PER_S
