"""The rights of the users of a topic: their origins, and the readers of closed scopes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from memtape.schemas.errors import InvalidUse
from memtape.schemas.log import settings_on
from memtape.schemas.visible import one_line
from memtape.tools.keep.log_settings import change_access
from memtape.tools.verb import Verb, said

if TYPE_CHECKING:
    from memtape.tools.world import World


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """The user of this process, None on a log without users, and the lists of the log's settings."""

    user: str | None
    trusted_origins: dict[str, str]
    readers: dict[str, tuple[str, ...]]


def access(world: World) -> Access:
    """Say as whom each user of the topic speaks, and to whom closed scopes are shown.

        memtape admin access
        memtape admin access --set ada=operator --set bob=user --set project:pay=ada,bob

    A user without an entry speaks as agents alone, and a scope without an entry is open. An empty value takes
    an entry out. Operators change the lists, write to `global`, read every scope, and write for others. The
    broker's ACLs say who reads and writes the topic at all.
    """
    settings = settings_on(world.log)
    return Access(
        user=world.rights.user, trusted_origins=dict(settings.trusted_origins), readers=settings.readers
    )


def set_access(
    world: World,
    changes: Annotated[
        tuple[str, ...], said("Change an entry.", option="--set", metavar="USER=ORIGIN|SCOPE=USERS")
    ],
) -> Access:
    """Change who speaks as what, and who reads a scope.

    Raises `MemtapeError`, also for anyone but an operator.
    """
    world.rights.check_operator()
    pairs = [change.partition("=") for change in changes]
    if wrong := [key for key, sign, _ in pairs if not (key and sign)]:
        raise InvalidUse(f"{wrong[0]} is no KEY=VALUE, as ada=operator.")
    change_access(world.log, {key.strip(): value.strip() for key, _, value in pairs})
    return access(world)


def _lines(world: World, asked: Any, found: Access) -> Iterator[str]:
    yield f"You are {found.user}." if found.user else "This log has no users: who opens it may do all."
    for user, origin in sorted(found.trusted_origins.items()):
        yield f"{one_line(user, 80)} speaks as {origin}"
    for scope, users in sorted(found.readers.items()):
        yield f"{scope} is shown to {one_line(', '.join(users), 400) or 'nobody'} and operators"
    if not found.trusted_origins:
        yield "No list says who is a person: everybody's word counts as it is said."


VERBS = (
    Verb("admin access", access, lines=_lines, at="home"),
    Verb("admin access --set", set_access, lines=_lines, effect="adds", at="home"),
)
