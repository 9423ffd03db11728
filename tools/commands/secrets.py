"""`memtape secrets`: list a home's known secrets, forget false ones, share one key among a log's homes."""

from __future__ import annotations

from pathlib import Path

import click

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Origin
from memtape.schemas.visible import many
from memtape.sinks.home.folders import Home
from memtape.tools.capture.secrets.keys import RedactionKey, unwrapped, wrapped, write_secret
from memtape.tools.capture.secrets.known import KnownSecret, MetSecrets
from memtape.tools.capture.writing import check_person
from memtape.tools.commands.options import ORIGINS, default_origin, print_json, say, with_folder

origin_option = click.option("--origin", type=click.Choice(ORIGINS), help="user at a terminal, else agent.")


@click.group()
def secrets() -> None:
    """List the known secrets of this home, undo false ones, and give a team's homes one key.

    \b
    Example:
      memtape secrets list
      memtape secrets forget 5f0c6d1e
    """


@secrets.command("list")
@with_folder
def list_secrets(home: Path, as_json: bool) -> None:
    """List the secrets known to this home: the digits of their placeholders, and who told them where.

    No secret is printed, and none is kept: the home has only keyed digests. A secret told by a person is
    known in every project, any other in its project alone.

    \b
    Example:
      memtape secrets list
    """
    known = _met(home).all()
    if as_json:
        print_json({"secrets": [secret._asdict() for secret in known]})
        return
    for secret in known:
        place = "all projects" if secret.trust == "person" else secret.scope or "no project"
        say(f"{secret.id}  {secret.kind:<16}  {many(secret.chars, 'character')}, known in {place}")
    say(f"{many(len(known), 'known secret')}. `memtape secrets forget ID` undoes one.")


@secrets.command("forget")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@origin_option
@with_folder
def forget_secrets(home: Path, ids: tuple[str, ...], origin: Origin | None, as_json: bool) -> None:
    """Stop redacting a false secret; ID is the digits of its placeholder, or of the list.

    Only people do so. The log stays as it is. A text that itself calls the value a password still loses it.

    \b
    Example:
      memtape secrets forget 5f0c6d1e
    """
    check_person(origin or default_origin(), "say what is no secret")
    met = _met(home)
    known: dict[str, KnownSecret] = {secret.id: secret for secret in met.all()}
    if unknown := [id for id in ids if id not in known]:
        raise MemtapeError(f"No known secret has the digits {unknown[0][:60]!r}.", "`memtape secrets list` names them.")
    met.forget(ids)
    if as_json:
        print_json({"forgotten": list(ids)})
        return
    say(
        f"{many(len(ids), 'value')} is left alone from now on." if len(ids) == 1 else "They are left alone from now on."
    )


@secrets.command()
@click.argument("file", type=click.Path(path_type=Path))
@with_folder
def share(home: Path, file: Path, as_json: bool) -> None:
    """Write the key of this home's placeholders into a new file, wrapped under a passphrase; it asks for one.

    All homes of one log should have one key: under two, one secret has two placeholders. Send the file and
    the passphrase on two ways. A key opens nothing by itself; with it, somebody could find a weak password by
    trying.

    \b
    Example:
      memtape secrets share team.key
    """
    passphrase = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    data = wrapped(RedactionKey(Home(home).redaction_key_path).get(), passphrase)
    try:
        write_secret(file, data)
    except FileExistsError:
        raise MemtapeError(f"{file} is there already.", "Name a new file.") from None
    if as_json:
        print_json({"file": str(file)})
        return
    say(f"The wrapped key is in {file}. Others take it by `memtape secrets join {file.name}`.")


@secrets.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--replace", is_flag=True, help="Also where this home knows secrets under another key, and lose those.")
@with_folder
def join(home: Path, file: Path, replace: bool, as_json: bool) -> None:
    """Take the key of a file that `memtape secrets share` wrote, before anything is captured here.

    Secrets known to this home under its own key are then unknown: the command needs --replace for that.

    \b
    Example:
      memtape secrets join team.key
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
    if as_json:
        print_json({"joined": is_new})
        return
    say("This home has the key now. Start servers of agents and `memtape run` again." if is_new else "It had this key.")


def _met(home: Path) -> MetSecrets:
    met = MetSecrets(Home(home).met_secrets_path)
    met.refresh()
    return met
