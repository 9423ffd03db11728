"""The machine's settings: `settings.toml` in the home. No setting changes the meaning of an event."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from memtape.schemas.embedding import CHOICES, EmbedderOptions
from memtape.schemas.errors import MemtapeError
from memtape.schemas.model import ModelOptions
from memtape.schemas.variables import PROD
from memtape.sinks.home.folders import Home, write_whole

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

CHOICE_VARIABLE = "MEMTAPE_EMBEDDER"


class LocalSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`catch_up`: whether a search with views behind the log starts a projector in the background.

    `extract`: whether statements of turns are captured by rule.
    `consolidate`: whether similar memories are consolidated in the background.
    `denied_paths`: globs of files that are not captured, besides those of `rules.toml`.
    `prompt_recall`: whether a hook adds a prompt's few sure memories.
    `every_tool`: whether agents get every tool with all its arguments, and not only those used often.
    `shown`: whether hosts show a person how much of the memory an agent was given.
    `log`: the URL of the home's log, if not the embedded one; `$MEMTAPE_LOG` precedes it.
    `profile`: the profile of captures here (`tools/capture/profiles.py`); `$MEMTAPE_PROFILE` precedes it.
    `embedder`: the wanted embedder; `$MEMTAPE_EMBEDDER` precedes its choice.
    `model`: the model that writes text for Memtape, if any; `$MEMTAPE_MODEL_URL` and `_COMMAND` precede it.
    """

    catch_up: bool = True
    extract: bool = True
    consolidate: bool = True
    denied_paths: tuple[str, ...] = ()
    prompt_recall: bool = True
    shown: bool = True
    every_tool: bool = False
    log: str | None = None
    profile: str = PROD
    embedder: EmbedderOptions = EmbedderOptions()
    model: ModelOptions = ModelOptions()


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
