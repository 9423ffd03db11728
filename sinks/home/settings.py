"""The machine's settings: `settings.toml` in the home. No setting changes the meaning of an event."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from memtape.schemas.embedding import CHOICES, EmbedderOptions
from memtape.schemas.errors import MemtapeError
from memtape.schemas.model import JudgeOptions, ModelOptions
from memtape.schemas.variables import PROD
from memtape.sinks.home.files import write_whole
from memtape.sinks.home.folders import Home

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

CHOICE_VARIABLE = "MEMTAPE_EMBEDDER"


class LocalSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of a machine, each with its default; an environment variable precedes the file."""

    catch_up: bool = True
    """A search that finds the views behind the log starts `memtape run --once` in the background."""

    extract: bool = True
    """Statements of turns become facts by rule."""

    consolidate: bool = True
    """Memories that are alike are brought together once a day."""

    denied_paths: tuple[str, ...] = ()
    """Globs of files that are never captured or imported, besides keys, `.env` and credentials."""

    prompt_recall: bool = True
    """A hook puts the few memories that a prompt surely needs before the prompt."""

    shown: bool = True
    """The agent's terminal shows how much the agent was given."""

    every_tool: bool = False
    """Agents are told of all tools and arguments, in about 1,700 tokens."""

    log: str | None = None
    """The URL of a log on Kafka (`kafka://host:port/topic`). `MEMTAPE_LOG` overrides it."""

    views: str | None = None
    """The folder or bucket where [machines share views](how-to.md#share-a-log-in-a-team-on-kafka) of a topic.
    """

    profile: str = PROD
    """The [profile](#profiles). `MEMTAPE_PROFILE` and `--profile` override it."""

    origin: Literal["user", "agent"] = "agent"
    """Who speaks in scripts, editors and CI: `user`, or `agent`. `MEMTAPE_ORIGIN` overrides it."""

    embedder: EmbedderOptions = EmbedderOptions()
    model: ModelOptions = ModelOptions()
    judge: JudgeOptions = JudgeOptions()


# msgspec looks at a type when it first meets it, and two threads that do so at once crash the process.
msgspec.json.Decoder(LocalSettings)


def local_settings(home: Home) -> LocalSettings:
    """Return the settings of a home, the defaults without a file."""
    try:
        settings = msgspec.toml.decode(home.settings_path.read_bytes(), type=LocalSettings)
    except (FileNotFoundError, NotADirectoryError):
        settings = LocalSettings()
    except (msgspec.MsgspecError, ValueError) as error:
        raise MemtapeError(f"{home.settings_path} cannot be used: {error}.", "Mend or delete it.") from None
    choice = os.environ.get(CHOICE_VARIABLE)
    if not choice:
        return settings
    if choice not in CHOICES:
        raise MemtapeError(f"{CHOICE_VARIABLE} names no embedder.", f"Set it to one of {', '.join(CHOICES)}.")
    embedder = msgspec.structs.replace(settings.embedder, choice=choice)
    return msgspec.structs.replace(settings, embedder=embedder)


def change_setting(home: Home, key: str, value: str) -> None:
    """Store a setting in `settings.toml`; all other content stays, comments too.

    `key` may be in a table, as `model.url`. Raises `MemtapeError` for an unknown key, and for a wrong value.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        given = tomlkit.value(value)
    except (TOMLKitError, ValueError):  # A bare word.
        given = tomlkit.item(value)
    document, (*tables, name) = _document(home), key.split(".")
    place: Any = document
    for table in tables:
        place = place.setdefault(table, {})
    try:
        place[name] = given
        text = document.as_string()
        msgspec.toml.decode(text, type=LocalSettings)
    except (msgspec.MsgspecError, TypeError, TOMLKitError) as error:
        told = f"{key}={value} is no setting: {error}."
        raise MemtapeError(told, "`memtape admin settings` lists them.") from None
    write_whole(home.settings_path, text.encode(), durable=True)


def prefer_embedder(home: Home, options: EmbedderOptions) -> None:
    """Store the wanted embedder in `settings.toml`; all other content stays, comments too."""
    document = _document(home)
    table = document.setdefault("embedder", {})
    table["choice"], table["model"] = options.choice, options.model
    write_whole(home.settings_path, document.as_string().encode(), durable=True)


def trial_settings(home: Home, trial: Home) -> None:
    """Give a home for a trial the settings of another, without its log; nothing outlives the trial."""
    local_settings(home)
    document = _document(home)
    document.pop("log", None)
    document["catch_up"] = False
    write_whole(trial.settings_path, document.as_string().encode())


def _document(home: Home) -> TOMLDocument:
    import tomlkit

    return tomlkit.parse(home.settings_path.read_text() if home.settings_path.exists() else "")
