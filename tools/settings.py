"""What this machine prefers: `settings.toml` in the home. None of it changes what an event means."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from recollect.schemas.errors import RecollectError
from recollect.sinks.home import Home


class LocalSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`catch_up`: whether a search that finds the views behind starts a projector in the background.

    `prompt_recall`: whether a hook adds the few memories that a prompt surely needs, in at most `prompt_recall_chars`.
    `log`: the URL of the home's log, where it is not the embedded one; `$RECOLLECT_LOG` goes before it.
    """

    catch_up: bool = True
    prompt_recall: bool = True
    prompt_recall_chars: Annotated[int, Meta(ge=0, le=9_000)] = 1_500
    log: str | None = None


def local_settings(home: Home) -> LocalSettings:
    """Return the settings of a home, the defaults where it has none."""
    try:
        return msgspec.toml.decode(home.settings_path.read_bytes(), type=LocalSettings)
    except FileNotFoundError:
        return LocalSettings()
    except (msgspec.MsgspecError, ValueError) as error:
        raise RecollectError(f"{home.settings_path} cannot be used: {error}.", "Mend or delete it.") from None
