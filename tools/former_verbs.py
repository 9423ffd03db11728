"""The table of verbs: questions and orders of people and agents. Commands, client and tools follow from it.

A verb's arguments are described here once: the options of its command and the schema of its tool are made
from them, and a test holds the client's method to them. A verb that decides about a memory needs only its row
and its method. The work of a verb is not here.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from memtape.schemas.events import DEV_TAG, PRUNED_BEFORE, Kind, Origin, Tier

Effect = Literal["reads", "adds", "hides", "shows"]
"""The effect of a tool for agents: `adds` only adds; `hides` changes what is found, which `shows` undoes."""

Id = Annotated[
    str, Meta(description="The id of a memory or turn, or its first eight characters.", min_length=1, max_length=64)
]
Text = Annotated[str, Meta(max_length=1_000)]
CursorText = Annotated[str, Meta(max_length=8_000)]
Share = Annotated[float, Meta(ge=0, le=1)]
RARE = {"rare": True}
"""Marks an argument that agents see only where every tool is listed."""
Reason = Annotated[Text | None, Meta(description="Why, for whoever looks later.", extra=RARE)]
Limit = Annotated[int, Meta(description="The most that are listed.", ge=1)]
Tags = Annotated[tuple[str, ...], Meta(max_length=64)]


def _said(description: str, most: int | None = None, option: str | None = None, *, rare: bool = False) -> Meta:
    """Describe an argument of at most so many characters or values, its option, and whether agents see it always."""
    return Meta(
        description=description, max_length=most, extra=({"option": option} if option else {}) | (RARE if rare else {})
    )


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a verb is asked with; anything else is refused. `Meta.extra["option"]` is an option's name, if another."""


class CaptureArguments(Arguments, frozen=True):
    text: Annotated[str, Meta(description="What to remember, in words that stand alone. At most 64 KiB.")]
    tags: Annotated[Tags, Meta(description="A word to filter by.")] = ()
    importance: Annotated[Share | None, _said("0 to 1, where you know.", rare=True)] = None
    source: Annotated[Text | None, _said("Where it comes from: a file, a URL.", rare=True)] = None


class SearchArguments(Arguments, frozen=True):
    query: Annotated[str, Meta(description="What to look for, in the words that you expect in it.")]
    limit: Annotated[int, Meta(description="The most results, 1 to 1000.", ge=1)] = 10
    kinds: Annotated[
        tuple[Kind, ...],
        _said("Only of this kind: turn is what was said in a session, page a page that was written.", most=8),
    ] = ()
    tags: Annotated[Tags, _said("Only with this tag.", rare=True)] = ()
    origins: Annotated[
        tuple[Origin, ...],
        _said(
            "Only what this origin has captured. operator, user: people. agent: you and other agents. tool:"
            " a tool's output. web: a page. model: what a model concluded.",
            most=6,
            option="--from-origin",
            rare=True,
        ),
    ] = ()
    sessions: Annotated[
        tuple[str, ...], _said("Only what was captured in this session.", most=64, option="--from-session", rare=True)
    ] = ()
    tiers: Annotated[
        tuple[Tier, ...],
        _said(
            "Only what has aged so far: short is what has not, mid what a summary of a day tells, long what"
            " one of a week tells.",
            most=3,
            rare=True,
        ),
    ] = ()
    not_kinds: Annotated[
        tuple[Kind, ...], _said("Nothing of this kind: no turn, no page.", most=8, option="--not-kind", rare=True)
    ] = ()
    not_tags: Annotated[Tags, _said("Nothing with this tag.", option="--not-tag", rare=True)] = ()
    not_origins: Annotated[
        tuple[Origin, ...],
        _said(
            "Nothing that this origin has captured, whoever else has: operator, user, agent, tool, web, model.",
            most=6,
            option="--not-origin",
            rare=True,
        ),
    ] = ()
    not_sessions: Annotated[
        tuple[str, ...],
        _said("Nothing that was captured in this session, wherever else.", most=64, option="--not-session", rare=True),
    ] = ()
    since: Annotated[str | None, Meta(description="Only from then on: ISO 8601, or an age as 3d.")] = None
    until: Annotated[str | None, Meta(description="Only before then.")] = None
    valid_at: Annotated[str | None, _said("What held then, as it is known now.", rare=True)] = None
    archived: Annotated[bool, Meta(description="Also what is archived.")] = False
    deep: Annotated[bool, Meta(description="Look up to three times.")] = False
    quotas: Annotated[
        tuple[str, ...],
        _said(
            "The most results of a source, as turns=3: memories, turns, documents, insights, summaries, "
            "pages, plans, journal.",
            most=8,
            rare=True,
        ),
    ] = ()
    cursor: Annotated[CursorText | None, Meta(description="For more: what the same search gave.")] = None


class IdArguments(Arguments, frozen=True):
    id: Id


class ContextArguments(Arguments, frozen=True):
    budget_tokens: Annotated[
        int, Meta(description="The most tokens of the text.", ge=100, extra={"option": "--budget"})
    ] = 2_000


class UsedArguments(Arguments, frozen=True):
    ids: Annotated[tuple[str, ...], Meta(description="The ids of what you used.", min_length=1, max_length=100)]
    recall: Annotated[str | None, Meta(description="The recall that returned them, as the search named it.")] = None


class RestoreArguments(IdArguments, frozen=True):
    reason: Reason = None


class ForgetArguments(RestoreArguments, frozen=True):
    only: Annotated[bool, _said("Name this one capture, not every capture that is the same memory.", rare=True)] = False


class UpdateArguments(IdArguments, frozen=True):
    text: Annotated[str, Meta(description="What is so now.")]


class ArchiveArguments(Arguments, frozen=True):
    ids: Annotated[tuple[Id, ...], Meta(description="The ids of memories or turns.", min_length=1, max_length=100)]
    reason: Reason = None


class UnarchiveArguments(Arguments, frozen=True):
    ids: Annotated[tuple[Id, ...], _said("The ids, as list_archived has them.", most=100)] = ()
    all_of: Annotated[
        Literal["age", "asked"] | None,
        _said("All that was archived by age, or since somebody asked, instead of ids.", rare=True),
    ] = None
    reason: Reason = None


class ListArguments(Arguments, frozen=True):
    limit: Limit = 10


class ArchivedArguments(Arguments, frozen=True):
    limit: Limit = 20
    purged: Annotated[bool, Meta(description="What has left the views too, and can come back.")] = False


class RecentArguments(ListArguments, frozen=True):
    kinds: Annotated[
        tuple[Kind, ...],
        _said("Only of this kind, by default all but turn; page is a page that was written.", most=8, rare=True),
    ] = ()


class TimelineArguments(Arguments, frozen=True):
    around: Annotated[str, _said("An id, a time as ISO 8601, or an age as 3d.", most=64)]
    limit: Limit = 10


class GivenArguments(Arguments, frozen=True):
    limit: Limit = 20
    session: Annotated[str | None, Meta(description="Only what this session was given.")] = None
    since: Annotated[str | None, Meta(description="Only from then on: ISO 8601, or an age as 3d.")] = None
    searches: Annotated[bool, Meta(description="List what was searched for too.")] = False


class PruneArguments(Arguments, frozen=True):
    tags: Annotated[Tags, Meta(description="What carries this tag, by default what development has left.")] = (DEV_TAG,)
    before: Annotated[str, Meta(description="What was captured before then: ISO 8601, or an age as 3d.")] = (
        PRUNED_BEFORE
    )


class ConflictsArguments(Arguments, frozen=True):
    settled: Annotated[bool, _said("Also what was settled or has expired.", option="--all")] = False


class SettleArguments(Arguments, frozen=True):
    conflict: Annotated[str, _said("The id of a conflict, or its first eight characters.", most=64)]
    keep: Annotated[Literal["A", "B", "both"], _said("Which side holds, as listed.", option="--keep")]
    note: Annotated[Text | None, Meta(description="Why, for whoever looks later.")] = None


Slug = Annotated[str, Meta(description="The slug of a page, as deploy/staging.", min_length=1, max_length=200)]


class PageArguments(Arguments, frozen=True):
    page: Annotated[str, _said("The slug or id of a page; _root is the top.", most=200)] = "_root"


class NewPageArguments(Arguments, frozen=True):
    slug: Slug
    text: Annotated[str, Meta(description="The page, as Markdown. At most 64 KiB.")]
    title: Annotated[Text | None, Meta(description="What it is called.")] = None
    summary: Annotated[Text | None, Meta(description="What it says in short.")] = None


class EditPageArguments(Arguments, frozen=True):
    page: Annotated[str, _said("The slug or id of a page.", most=200)]
    text: Annotated[str, Meta(description="The whole page as it is to be.")]
    base: Annotated[str, _said("The version that you read, as read_page named it.", most=64)]


class Offer(NamedTuple):
    """A verb offered to agents. One that is not `common` is listed only with all tools, but can be called."""

    name: str
    description: str
    effect: Effect
    idempotent: bool = True
    common: bool = True

    @property
    def title(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ").capitalize()


class Decision(NamedTuple):
    """A decision about a memory: its message, the verb that undoes it, and the words after `memtape` that do.

    The id follows the words.
    """

    done: str
    undo: str | None = None
    undo_command: str = ""


class Verb(NamedTuple):
    """A verb. `command` is a function in a file of `tools/commands/`; `method` is a method of the client.

    A verb `in_memory` also works in a process that keeps nothing (profile dev_no_persist); the rest are
    refused there. For a `decision` no tool is written: it is made from this row, and calls the method.
    """

    command: str
    method: str | None = None
    arguments: type[Arguments] | None = None
    tool: Offer | None = None
    decision: Decision | None = None
    in_memory: bool = False


TOOLS: dict[str, Offer] = {
    "capture": Offer(
        "add_memory",
        "Remember something about this project: a decision and why, a fact, a preference, what failed.",
        "adds",
        idempotent=False,
    ),
    "search": Offer(
        "search_memories", "Find what was said, decided and learned in this project, best first, with ids.", "reads"
    ),
    "show": Offer("get_memory", "Open one memory or turn whole, and see why it is there.", "reads"),
    "recent": Offer("list_recent", "What was remembered last, without a query.", "reads"),
    "sessions": Offer("list_sessions", "The latest sessions of all agents: when, who, what was asked.", "reads"),
    "timeline": Offer(
        "timeline", "What was said and remembered around a memory or a time, in order.", "reads", common=False
    ),
    "context": Offer("get_context", "What to know before starting: rules, goal, plan, facts, recent work.", "reads"),
    "update": Offer(
        "update_memory",
        "Say what is so now instead of a memory, which is kept as what was before.",
        "adds",
        idempotent=False,
    ),
    "agents used": Offer("mark_used", "Say which memories helped, so that they are found sooner.", "adds"),
    "forget": Offer("forget_memory", "Hide a memory that is wrong or unwanted. restore_memory undoes it.", "hides"),
    "restore": Offer("restore_memory", "Bring back a memory that was forgotten.", "shows"),
    "pin": Offer("pin_memory", "Keep a memory at hand whatever its age. unpin_memory undoes it.", "adds", common=False),
    "unpin": Offer("unpin_memory", "End the pins on a memory.", "shows", common=False),
    "archive": Offer(
        "archive_memory",
        "Put memories out of the way that are done with. unarchive_memory undoes it.",
        "hides",
        common=False,
    ),
    "unarchive": Offer("unarchive_memory", "Bring back memories that were archived.", "shows", common=False),
    "archived": Offer("list_archived", "What is archived, since when and why.", "reads", common=False),
    "conflicts": Offer(
        "list_conflicts",
        "Pairs of memories that contradict each other and wait for the user, who alone can settle them.",
        "reads",
        common=False,
    ),
    "status": Offer(
        "memory_status", "How much this project remembers, and whether everything is up to date.", "reads", common=False
    ),
    "tree show": Offer(
        "read_page",
        "Read a page of the project's tree, and what stands below it; _root is the top.",
        "reads",
        common=False,
    ),
    "tree new": Offer(
        "new_page",
        "Write a longer text that is kept up to date, as a page of the project's tree.",
        "adds",
        idempotent=False,
        common=False,
    ),
    "tree edit": Offer(
        "edit_page",
        "Give a page another text. What a person wrote stays, and yours stands beside it.",
        "adds",
        idempotent=False,
        common=False,
    ),
}
"""The tools for agents, by their verb."""

DECISIONS: dict[str, Decision] = {
    "forget": Decision("Forgot", "restore", "restore"),
    "restore": Decision("Restored"),
    "pin": Decision("Pinned", "unpin", "pin --undo"),
    "unpin": Decision("Unpinned"),
    "unfold": Decision("Unfolded"),
    "holds": Decision("Noted what holds of"),
    "replaced": Decision("Noted what replaced", "holds", "update --holds"),
}
"""The words of verbs that decide about a memory, by their verb."""

_ROWS: dict[str, dict[str, Verb]] = {
    "Remember and ask": {
        "capture": Verb("capture.capture", "capture", CaptureArguments, in_memory=True),
        "search": Verb("ask.search", "search", SearchArguments, in_memory=True),
        "show": Verb("ask.show", "show", IdArguments, in_memory=True),
        "context": Verb("looking.context", "context", ContextArguments, in_memory=True),
        "import": Verb("importing.import_command"),
    },
    "Decide": {
        "forget": Verb("deciding.forget", "forget", ForgetArguments, in_memory=True),
        "restore": Verb("deciding.restore", "restore", RestoreArguments, in_memory=True),
        "pin": Verb("deciding.pin", "pin", IdArguments, in_memory=True),
        "update": Verb("deciding.update", "update", UpdateArguments, in_memory=True),
        "settle": Verb("settling.settle", "settle", SettleArguments, in_memory=True),
        "archive": Verb("archiving.archive", "archive", ArchiveArguments),
    },
    "Look": {
        "status": Verb("status.status", "status", Arguments, in_memory=True),
        "page": Verb("keep.page"),
        "log": Verb("ask.log", "read_log", in_memory=True),
    },
    "Keep": {
        "run": Verb("keep.run", "project"),
        "verify": Verb("keep.verify", "verify"),
        "rebuild": Verb("keep.rebuild"),
        "erase": Verb("erase.erase"),
    },
    "More, each with its own help": {
        "agents": Verb("cli.agents", in_memory=True),
        "project": Verb("projects.project"),
        "tree": Verb("tree.tree", in_memory=True),
        "admin": Verb("cli.admin", in_memory=True),
    },
}
_AGENTS = {
    "connect": Verb("agents.connect"),
    "disconnect": Verb("agents.disconnect"),
    "doctor": Verb("agents.doctor", in_memory=True),
    "mcp": Verb("agents.mcp", in_memory=True),
    "hook": Verb("agents.hook"),
    "given": Verb("looking.given", "given", GivenArguments, in_memory=True),
    "used": Verb("capture.used", "use", UsedArguments, in_memory=True),
    "pause": Verb("secrets.pause"),
    "resume": Verb("secrets.resume"),
}
_ADMIN = {
    "embedder": Verb("embedder.embedder", "embedder"),
    "retriever": Verb("measure.retriever"),
    "refold": Verb("embedder.refold", "refold"),
    "consolidate": Verb("consolidate.consolidate", "consolidate"),
    "distill": Verb("consolidate.distill", "distill"),
    "lifecycle": Verb("archiving.lifecycle", "lifecycle"),
    "prune": Verb("erase.prune", "prune", PruneArguments),
    "secrets": Verb("secrets.secrets"),
    "settings": Verb("keep.settings"),
    "copy": Verb("keep.copy"),
    "stats": Verb("status.stats", "stats"),
    "tail": Verb("ask.tail"),
    "diff": Verb("ask.diff_command", "diff"),
    "eval": Verb("measure.eval_command"),
    "compare": Verb("measure.compare_command", "compare"),
    "completion": Verb("completion.completion"),
}
_OF_OPTIONS: dict[str, Verb] = {
    "recent": Verb("search", "recent", RecentArguments),
    "why": Verb("show", "why", IdArguments),
    "edges": Verb("show", "edges"),
    "timeline": Verb("show", "timeline", TimelineArguments),
    "sessions": Verb("log", "sessions", ListArguments),
    "unpin": Verb("pin", "unpin", IdArguments),
    "holds": Verb("update", "say_holds"),
    "replaced": Verb("update", "say_replaced"),
    "unfold": Verb("update", "unfold"),
    "conflicts": Verb("settle", "conflicts", ConflictsArguments),
    "orders": Verb("settle", "orders", Arguments),
    "stale": Verb("settle", "stale", ListArguments),
    "unarchive": Verb("archive", "unarchive", UnarchiveArguments),
    "archived": Verb("archive", "archived", ArchivedArguments),
    "tree show": Verb("tree", arguments=PageArguments),
    "tree new": Verb("tree", arguments=NewPageArguments),
    "tree edit": Verb("tree", arguments=EditPageArguments),
}
"""Verbs that are options of a command, or commands of a group, of their own for the client and for agents."""


def _whole(rows: dict[str, Verb]) -> dict[str, Verb]:
    return {name: row._replace(tool=TOOLS.get(name), decision=DECISIONS.get(name)) for name, row in rows.items()}


TITLES = {group: tuple(rows) for group, rows in _ROWS.items()}
"""The names of the commands under their titles, in the order in which help lists them."""
GROUPS = {"agents": tuple(_AGENTS), "admin": tuple(_ADMIN)}
"""The names of the commands in the groups that are made from this table."""
VERBS = _whole(
    {name: row for rows in _ROWS.values() for name, row in rows.items()}
    | {f"agents {name}": row for name, row in _AGENTS.items()}
    | {f"admin {name}": row for name, row in _ADMIN.items()}
    | {"overview": Verb("status.overview", in_memory=True)}
)
"""The verbs by the words of their command."""
OPTIONS = _whole(_OF_OPTIONS)
"""The verbs that have no command of their own; `command` names the command whose options do them."""
