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
    str,
    Meta(
        description="The id of a memory or turn, or its first eight characters.",
        min_length=1,
        max_length=64,
    ),
]
Text = Annotated[str, Meta(max_length=1_000)]
CursorText = Annotated[str, Meta(max_length=8_000)]
Share = Annotated[float, Meta(ge=0, le=1)]
RARE = {"rare": True}
"""Marks an argument that agents see only where every tool is listed."""
Reason = Annotated[Text | None, Meta(description="Why, for whoever looks later.", extra=RARE)]
Tags = Annotated[tuple[str, ...], Meta(max_length=64)]


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a verb is asked with; anything else is refused. `Meta.extra["option"]` is an option's name, if another."""


class CaptureArguments(Arguments, frozen=True):
    text: Annotated[str, Meta(description="What to remember, in words that stand alone. At most 64 KiB.")]
    tags: Annotated[Tags, Meta(description="A word to filter by.")] = ()
    importance: Annotated[Share | None, Meta(description="0 to 1, where you know.", extra=RARE)] = None
    source: Annotated[Text | None, Meta(description="Where it comes from: a file, a URL.", extra=RARE)] = None


class SearchArguments(Arguments, frozen=True):
    query: Annotated[str, Meta(description="What to look for, in the words that you expect in it.")]
    limit: Annotated[int, Meta(description="The most results, 1 to 1000.", ge=1)] = 10
    kinds: Annotated[
        tuple[Kind, ...],
        Meta(
            description="Only of this kind: turn is what was said in a session, page a page that was written.",
            max_length=8,
        ),
    ] = ()
    tags: Annotated[Tags, Meta(description="Only with this tag.", extra=RARE)] = ()
    origins: Annotated[
        tuple[Origin, ...],
        Meta(
            description="Only what this origin has captured. operator, user: people. agent: you and other agents. "
            "tool: a tool's output. web: a page. model: what a model concluded.",
            max_length=6,
            extra={"option": "--from-origin"} | RARE,
        ),
    ] = ()
    sessions: Annotated[
        tuple[str, ...],
        Meta(
            description="Only what was captured in this session.",
            max_length=64,
            extra={"option": "--from-session"} | RARE,
        ),
    ] = ()
    tiers: Annotated[
        tuple[Tier, ...],
        Meta(
            description="Only what has aged so far: short is what has not, mid what a summary of a day tells, "
            "long what one of a week tells.",
            max_length=3,
            extra=RARE,
        ),
    ] = ()
    not_kinds: Annotated[
        tuple[Kind, ...],
        Meta(
            description="Nothing of this kind: no turn, no page.", max_length=8, extra={"option": "--not-kind"} | RARE
        ),
    ] = ()
    not_tags: Annotated[Tags, Meta(description="Nothing with this tag.", extra={"option": "--not-tag"} | RARE)] = ()
    not_origins: Annotated[
        tuple[Origin, ...],
        Meta(
            description="Nothing that this origin has captured, whoever else has: operator, user, agent, tool, web, "
            "model.",
            max_length=6,
            extra={"option": "--not-origin"} | RARE,
        ),
    ] = ()
    not_sessions: Annotated[
        tuple[str, ...],
        Meta(
            description="Nothing that was captured in this session, wherever else.",
            max_length=64,
            extra={"option": "--not-session"} | RARE,
        ),
    ] = ()
    since: Annotated[str | None, Meta(description="Only from then on: ISO 8601, or an age as 3d.")] = None
    until: Annotated[str | None, Meta(description="Only before then.")] = None
    valid_at: Annotated[str | None, Meta(description="What held then, as it is known now.", extra=RARE)] = None
    archived: Annotated[bool, Meta(description="Also what is archived.")] = False
    deep: Annotated[bool, Meta(description="Look up to three times.")] = False
    quotas: Annotated[
        tuple[str, ...],
        Meta(
            description="The most results of a source, as turns=3: memories, turns, documents, insights, summaries, "
            "pages, plans, journal.",
            max_length=8,
            extra=RARE,
        ),
    ] = ()
    cursor: Annotated[CursorText | None, Meta(description="For more: what the same search gave.")] = None


class IdArguments(Arguments, frozen=True):
    id: Id


class ContextArguments(Arguments, frozen=True):
    budget_tokens: Annotated[
        int, Meta(description="The most tokens of the text.", ge=1, extra={"option": "--budget"})
    ] = 2_000


class UsedArguments(Arguments, frozen=True):
    ids: Annotated[tuple[str, ...], Meta(description="The ids of what you used.", min_length=1, max_length=100)]
    recall: Annotated[str | None, Meta(description="The recall that returned them, as the search named it.")] = None


class ForgetArguments(Arguments, frozen=True):
    id: Id
    only: Annotated[
        bool, Meta(description="Name this one capture, not every capture that is the same memory.", extra=RARE)
    ] = False
    reason: Reason = None


class RestoreArguments(Arguments, frozen=True):
    id: Id
    reason: Reason = None


class UnfoldArguments(Arguments, frozen=True):
    id: Id
    only: Annotated[bool, Meta(description="Let this capture alone stand apart; the others stay together.")] = False


class ArchiveArguments(Arguments, frozen=True):
    ids: Annotated[tuple[Id, ...], Meta(description="The ids of memories or turns.", min_length=1, max_length=100)]
    reason: Reason = None


class UnarchiveArguments(Arguments, frozen=True):
    ids: Annotated[tuple[Id, ...], Meta(description="The ids, as list_archived has them.", max_length=100)] = ()
    all_of: Annotated[
        Literal["age", "asked"] | None,
        Meta(description="All that was archived by age, or since somebody asked, instead of ids.", extra=RARE),
    ] = None
    reason: Reason = None


class ArchivedArguments(Arguments, frozen=True):
    purged: Annotated[bool, Meta(description="What has left the views too, and can come back.")] = False
    limit: Annotated[int, Meta(description="The most texts.", ge=1)] = 20


class HoldsArguments(Arguments, frozen=True):
    id: Id
    undo: Annotated[bool, Meta(description="Take back what was said of it: the texts decide again.")] = False


class ReplacedArguments(Arguments, frozen=True):
    id: Id
    by: Annotated[Id, Meta(description="The id of the memory that holds instead.", extra={"option": "--by"})]


class UpdateArguments(Arguments, frozen=True):
    id: Id
    text: Annotated[str, Meta(description="What is so now.")]


class RecentArguments(Arguments, frozen=True):
    limit: Annotated[int, Meta(description="The most texts.", ge=1)] = 10
    kinds: Annotated[
        tuple[Kind, ...],
        Meta(
            description="Only of this kind, by default all but turn; page is a page that was written.",
            max_length=8,
            extra=RARE,
        ),
    ] = ()


class SessionsArguments(Arguments, frozen=True):
    limit: Annotated[int, Meta(description="The most sessions.", ge=1)] = 10


class TimelineArguments(Arguments, frozen=True):
    around: Annotated[str, Meta(description="An id, a time as ISO 8601, or an age as 3d.", max_length=64)]
    limit: Annotated[int, Meta(description="The most texts.", ge=1)] = 10


class GivenArguments(Arguments, frozen=True):
    limit: Annotated[int, Meta(description="The most starts and prompts.", ge=1)] = 20
    session: Annotated[str | None, Meta(description="Only what this session was given.")] = None
    since: Annotated[str | None, Meta(description="Only from then on: ISO 8601, or an age as 3d.")] = None
    searches: Annotated[bool, Meta(description="List what was searched for too.")] = False


class StaleArguments(Arguments, frozen=True):
    limit: Annotated[int, Meta(description="The most memories.", ge=1)] = 10


class OrdersArguments(Arguments, frozen=True):
    pass


class PruneArguments(Arguments, frozen=True):
    tags: Annotated[Tags, Meta(description="What carries this tag, by default what development has left.")] = (DEV_TAG,)
    before: Annotated[str, Meta(description="What was captured before then: ISO 8601, or an age as 3d.")] = (
        PRUNED_BEFORE
    )


class ConflictsArguments(Arguments, frozen=True):
    settled: Annotated[bool, Meta(description="Also what was settled or has expired.", extra={"option": "--all"})] = (
        False
    )


class SettleArguments(Arguments, frozen=True):
    conflict: Annotated[str, Meta(description="The id of a conflict, or its first eight characters.", max_length=64)]
    keep: Annotated[
        Literal["A", "B", "both"], Meta(description="Which side holds, as listed.", extra={"option": "--keep"})
    ]
    note: Annotated[Text | None, Meta(description="Why, for whoever looks later.")] = None


class StatusArguments(Arguments, frozen=True):
    pass


Slug = Annotated[str, Meta(description="The slug of a page, as deploy/staging.", min_length=1, max_length=200)]


class PageArguments(Arguments, frozen=True):
    page: Annotated[str, Meta(description="The slug or id of a page; _root is the top.", max_length=200)] = "_root"


class NewPageArguments(Arguments, frozen=True):
    slug: Slug
    text: Annotated[str, Meta(description="The page, as Markdown. At most 64 KiB.")]
    title: Annotated[Text | None, Meta(description="What it is called.")] = None
    summary: Annotated[Text | None, Meta(description="What it says in short.")] = None


class EditPageArguments(Arguments, frozen=True):
    page: Annotated[str, Meta(description="The slug or id of a page.", max_length=200)]
    text: Annotated[str, Meta(description="The whole page as it is to be.")]
    base: Annotated[str, Meta(description="The version that you read, as read_page named it.", max_length=64)]


class Offer(NamedTuple):
    """A verb offered to agents. One that is not `common` is listed only with all tools, but can be called."""

    name: str
    title: str
    description: str
    effect: Effect
    idempotent: bool = True
    common: bool = True


class Decision(NamedTuple):
    """The words of a command that decides about a memory: the help, the message, and the verb that undoes it.

    `example` follows the id in the help's example.
    """

    help: str
    done: str
    undo: str | None = None
    example: str = ""


class Verb(NamedTuple):
    """A verb. `command` is a function in a file of `tools/commands/`; `method` is a method of the client.

    A verb `in_memory` also works in a process that keeps nothing (profile dev_no_persist); the rest are
    refused there. For a `decision` no function is written: command and tool are made from this row, and call
    the method.
    """

    command: str
    method: str | None = None
    arguments: type[Arguments] | None = None
    tool: Offer | None = None
    decision: Decision | None = None
    in_memory: bool = False


VERBS: dict[str, Verb] = {
    "capture": Verb(
        "capture.capture",
        "capture",
        CaptureArguments,
        Offer(
            "add_memory",
            "Add a memory",
            "Remember something about this project: a decision and why, a fact, a preference, what failed.",
            "adds",
            idempotent=False,
        ),
        in_memory=True,
    ),
    "import": Verb("importing.import_command"),
    "watch": Verb("importing.watch"),
    "search": Verb(
        "ask.search",
        "search",
        SearchArguments,
        Offer(
            "search_memories",
            "Search memories",
            "Find what was said, decided and learned in this project, best first, with ids.",
            "reads",
        ),
        in_memory=True,
    ),
    "show": Verb(
        "ask.show",
        "show",
        IdArguments,
        Offer(
            "get_memory",
            "Open a memory",
            "Open one memory or turn whole, and see why it is there.",
            "reads",
        ),
        in_memory=True,
    ),
    "why": Verb("ask.why", "why", IdArguments, in_memory=True),
    "recent": Verb(
        "looking.recent",
        "recent",
        RecentArguments,
        Offer("list_recent", "List recent memories", "What was remembered last, without a query.", "reads"),
        in_memory=True,
    ),
    "sessions": Verb(
        "looking.sessions",
        "sessions",
        SessionsArguments,
        Offer(
            "list_sessions", "List sessions", "The latest sessions of all agents: when, who, what was asked.", "reads"
        ),
        in_memory=True,
    ),
    "timeline": Verb(
        "looking.timeline",
        "timeline",
        TimelineArguments,
        Offer(
            "timeline",
            "Timeline",
            "What was said and remembered around a memory or a time, in order.",
            "reads",
            common=False,
        ),
        in_memory=True,
    ),
    "given": Verb("looking.given", "given", GivenArguments, in_memory=True),
    "context": Verb(
        "looking.context",
        "context",
        ContextArguments,
        Offer(
            "get_context",
            "Get the project's context",
            "What to know before starting: rules, goal, plan, facts, recent work.",
            "reads",
        ),
        in_memory=True,
    ),
    "update": Verb(
        "capture.update",
        "update",
        UpdateArguments,
        Offer(
            "update_memory",
            "Update a memory",
            "Say what is so now instead of a memory, which is kept as what was before.",
            "adds",
            idempotent=False,
        ),
        in_memory=True,
    ),
    "used": Verb(
        "capture.used",
        "use",
        UsedArguments,
        Offer(
            "mark_used",
            "Mark memories as used",
            "Say which memories helped, so that they are found sooner.",
            "adds",
        ),
        in_memory=True,
    ),
    "forget": Verb(
        "deciding.forget",
        "forget",
        ForgetArguments,
        Offer(
            "forget_memory",
            "Forget a memory",
            "Hide a memory that is wrong or unwanted. restore_memory undoes it.",
            "hides",
        ),
        Decision(
            "Hide a memory or turn, until it is restored. The log keeps it.\n\n"
            "Every capture that is the same memory is hidden, and of facts and the like the same text stays hidden "
            "when it is captured again, until a person says it.",
            "Forgot",
            undo="restore",
        ),
        in_memory=True,
    ),
    "restore": Verb(
        "deciding.restore",
        "restore",
        RestoreArguments,
        Offer("restore_memory", "Restore a memory", "Bring back a memory that was forgotten.", "shows"),
        Decision("Show again what was forgotten.", "Restored"),
        in_memory=True,
    ),
    "pin": Verb(
        "deciding.pin",
        "pin",
        IdArguments,
        Offer(
            "pin_memory",
            "Pin a memory",
            "Keep a memory at hand whatever its age. unpin_memory undoes it.",
            "adds",
            common=False,
        ),
        Decision("Pin a memory or turn: it stays at hand whatever its age, and is marked.", "Pinned", undo="unpin"),
        in_memory=True,
    ),
    "unpin": Verb(
        "deciding.unpin",
        "unpin",
        IdArguments,
        Offer("unpin_memory", "Unpin a memory", "End the pins on a memory.", "shows", common=False),
        Decision("End the pins on a memory or turn.", "Unpinned"),
        in_memory=True,
    ),
    "archive": Verb(
        "archiving.archive",
        "archive",
        ArchiveArguments,
        Offer(
            "archive_memory",
            "Archive memories",
            "Put memories out of the way that are done with. unarchive_memory undoes it.",
            "hides",
            common=False,
        ),
    ),
    "unarchive": Verb(
        "archiving.unarchive",
        "unarchive",
        UnarchiveArguments,
        Offer(
            "unarchive_memory",
            "Bring back from the archive",
            "Bring back memories that were archived.",
            "shows",
            common=False,
        ),
    ),
    "archived": Verb(
        "archiving.archived",
        "archived",
        ArchivedArguments,
        Offer("list_archived", "List the archive", "What is archived, since when and why.", "reads", common=False),
    ),
    "lifecycle": Verb("archiving.lifecycle", "lifecycle"),
    "project": Verb("projects.project"),
    "unfold": Verb(
        "deciding.unfold",
        "unfold",
        UnfoldArguments,
        decision=Decision(
            "Split for good a memory whose captures should not have been folded: each stands by itself.", "Unfolded"
        ),
        in_memory=True,
    ),
    "holds": Verb(
        "deciding.holds",
        "say_holds",
        HoldsArguments,
        decision=Decision(
            "Say that a memory holds, whatever was said later: no rule replaces it from now on, until --undo.",
            "Noted what holds of",
        ),
        in_memory=True,
    ),
    "replaced": Verb(
        "deciding.replaced",
        "say_replaced",
        ReplacedArguments,
        decision=Decision(
            "Say that another memory replaced one: it is marked, stands below the other, and leaves the start context.",
            "Noted what replaced",
            undo="holds",
            example=" --by 019ab0c4-f4e8-7000-8000-0123456789ab",
        ),
        in_memory=True,
    ),
    "refold": Verb("embedder.refold", "refold"),
    "stale": Verb("conflicts.stale", "stale", StaleArguments, in_memory=True),
    "orders": Verb("conflicts.orders", "orders", OrdersArguments, in_memory=True),
    "conflicts": Verb(
        "conflicts.conflicts",
        "conflicts",
        ConflictsArguments,
        Offer(
            "list_conflicts",
            "List conflicts",
            "Pairs of memories that contradict each other and wait for the user, who alone can settle them.",
            "reads",
            common=False,
        ),
        in_memory=True,
    ),
    "settle": Verb("conflicts.settle", "settle", SettleArguments, in_memory=True),
    "accept": Verb("conflicts.accept"),
    "tree": Verb("tree.tree", in_memory=True),
    "prune": Verb("erase.prune", "prune", PruneArguments),
    "erase": Verb("erase.erase"),
    "pause": Verb("secrets.pause"),
    "resume": Verb("secrets.resume"),
    "secrets": Verb("secrets.secrets"),
    "status": Verb(
        "status.status",
        "status",
        StatusArguments,
        Offer(
            "memory_status",
            "Status of the memory",
            "How much this project remembers, and whether everything is up to date.",
            "reads",
            common=False,
        ),
        in_memory=True,
    ),
    "stats": Verb("status.stats", "stats"),
    "tail": Verb("ask.tail"),
    "distill": Verb("consolidate.distill", "distill"),
    "consolidate": Verb("consolidate.consolidate", "consolidate"),
    "log": Verb("ask.log", "read_log", in_memory=True),
    "adopt": Verb("projects.adopt"),
    "edges": Verb("looking.edges", "edges", in_memory=True),
    "diff": Verb("ask.diff_command", "diff"),
    "eval": Verb("measure.eval_command"),
    "compare": Verb("measure.compare_command", "compare"),
    "run": Verb("keep.run", "project"),
    "verify": Verb("keep.verify", "verify"),
    "rebuild": Verb("keep.rebuild"),
    "copy": Verb("keep.copy"),
    "embedder": Verb("embedder.embedder", "embedder"),
    "retriever": Verb("measure.retriever"),
    "connect": Verb("agents.connect"),
    "disconnect": Verb("agents.disconnect"),
    "doctor": Verb("agents.doctor", in_memory=True),
    "mcp": Verb("agents.mcp", in_memory=True),
    "page": Verb("page.page"),
    "hook": Verb("agents.hook"),
}
"""The verbs by the name of their command, in the order in which help lists them."""

OF_GROUPS: dict[str, Verb] = {
    "tree show": Verb(
        "tree.show",
        arguments=PageArguments,
        tool=Offer(
            "read_page",
            "Read a page",
            "Read a page of the project's tree, and what stands below it; _root is the top.",
            "reads",
            common=False,
        ),
    ),
    "tree new": Verb(
        "tree.new",
        arguments=NewPageArguments,
        tool=Offer(
            "new_page",
            "Write a page",
            "Write a longer text that is kept up to date, as a page of the project's tree.",
            "adds",
            idempotent=False,
            common=False,
        ),
    ),
    "tree edit": Verb(
        "tree.edit",
        arguments=EditPageArguments,
        tool=Offer(
            "edit_page",
            "Edit a page",
            "Give a page another text. What a person wrote stays, and yours stands beside it.",
            "adds",
            idempotent=False,
            common=False,
        ),
    ),
}
"""The verbs of commands in a group that agents are offered, by the words of the command."""
