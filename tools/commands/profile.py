"""The option for the profile of a run: of `memtape` itself and of each command. Light, since hooks import it.

`tools/capture/profiles.py` defines profiles.
"""

from __future__ import annotations

import os

import click

from memtape.schemas.variables import PROFILE_VARIABLE


def _have_profile(ctx: click.Context, option: click.Parameter, name: str | None) -> None:
    """Set the profile of this process and its children until the end of the command."""
    if name is None:
        return
    before = os.environ.get(PROFILE_VARIABLE)
    os.environ[PROFILE_VARIABLE] = name or " "  # No name at all is a mistake as well, and not the default.

    def end() -> None:
        os.environ.pop(PROFILE_VARIABLE)
        if before is not None:
            os.environ[PROFILE_VARIABLE] = before

    ctx.call_on_close(end)


profile_option = click.option(
    "--profile",
    expose_value=False,
    callback=_have_profile,
    metavar="NAME",
    help="How it is remembered: prod, dev_standard, dev_memory_test or dev_no_persist.",
)
