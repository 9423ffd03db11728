"""The methods of the client, made from the table of verbs by `make docs`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

from typing_extensions import Unpack

from memtape.schemas.events import (
    Kind,
    Origin,
    Tier,
)
from memtape.schemas.lanes import Lane
from memtape.schemas.log import Log
from memtape.schemas.rows import (
    Listed,
    MemoryRow,
    Sort,
    TurnRow,
)
from memtape.sinks.home.folders import Home
from memtape.sinks.tables import TableFolder
from memtape.state.tree.checking import TreeProblem
from memtape.state.tree.walking import DrawnTree
from memtape.state.views.proposals import Proposal
from memtape.tools.capture.writing import (
    Line,
    MediaLine,
    Receipts,
    WriterOptions,
)
from memtape.tools.importing.messages import Message
from memtape.tools.importing.records import ImportSummary
from memtape.tools.keep.consolidating import Consolidated
from memtape.tools.keep.copying import Copied
from memtape.tools.keep.embedding import EmbedderState, Refolded
from memtape.tools.keep.heads import HeadVerdict
from memtape.tools.keep.pruning import Pruned
from memtape.tools.keep.rebuild import Rebuilt
from memtape.tools.keep.verify import Verification
from memtape.tools.query.as_of import Diff
from memtape.tools.query.conflicts import Answered, ConflictList
from memtape.tools.query.context import ProjectContext
from memtape.tools.query.found import Order
from memtape.tools.query.inspection import Explained, Opened, Whole
from memtape.tools.query.listing import MemoryList
from memtape.tools.query.looking import ArchiveList, EdgeList, Given, Session
from memtape.tools.query.results import Answer, Result
from memtape.tools.query.status import Stats, Status
from memtape.tools.verbs.access import Access
from memtape.tools.verbs.aging import Aging, ArchivedNow, Project, ProjectChange
from memtape.tools.verbs.capturing import (
    CaptureReceipt,
    UseReceipt,
)
from memtape.tools.verbs.deciding import ConflictOutcome, DecidedIds, ReplacedMemory
from memtape.tools.verbs.judging import Judgements
from memtape.tools.verbs.keeping import SavedHead, SettingsShown
from memtape.tools.verbs.measuring import RetrieverName
from memtape.tools.verbs.searching import (
    Form,
    Occasion,
)
from memtape.tools.verbs.showing import LogSlot
from memtape.tools.verbs.tree import (
    LinkSaid,
    PageShown,
    Written,
)
from memtape.tools.verbs.unread import UnreadSlots
from memtape.tools.world import World

class Filters(TypedDict, total=False):
    kinds: Sequence[Kind]
    not_kinds: Sequence[Kind]
    not_origins: Sequence[Origin]
    not_sessions: Sequence[str]
    not_tags: Sequence[str]
    origins: Sequence[Origin]
    sessions: Sequence[str]
    since: str | datetime | int | None
    tags: Sequence[str]
    tiers: Sequence[Tier]
    until: str | datetime | int | None
    actors: Sequence[str]

class Client(World):
    """A client of a home, for one actor in one scope: a writer that also reads.

    Threads may share a client: its methods are done one at a time.

    `home` is a folder, by default `$MEMTAPE_HOME` or the user's data folder. `log` is by default the log
    named by `$MEMTAPE_LOG` or the home's settings, else the log in the home itself. `scope` is by default
    that of the project of `folder` or of the current folder. Under the profile `dev_no_persist` nothing is
    written and no home is read: all such clients of a home in a process share a log in memory, and actions
    that need a disk raise `MemtapeError`.

    An id may be given by its last eight characters, or by its beginning. A client with a named scope, or a
    `confined` one, takes ids of its scope and `global` alone; any other client finds the scope of an id. A
    question to a project whose rows have left the views makes the project active again, unless `wakes` is
    false.
    """
    def __init__(
        self,
        home: Home | str | os.PathLike[str] | None = None,
        *,
        log: Log | None = None,
        confined: bool = False,
        profile: str | None = None,
        wakes: bool = True,
        **options: Unpack[WriterOptions],
    ) -> None: ...
    def add(self, messages: Iterable[Message], session: str | None = None) -> ImportSummary:
        """Capture a conversation in the form of OpenAI or Anthropic as turns; return the counts.

        Messages are dictionaries, or those of the SDKs. Turns of users and assistants are taken; tool calls,
        results, thoughts and system messages are counted as skipped. Messages that the session has are not
        added again, so a growing conversation may be given whole each time. Raises `InvalidUse` without a
        session.
        """
    def project(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Bring the views up to date and return how many events were read. Raises `Locked`."""
    def close(self) -> None:
        """Write pending views, and close its own log."""
    def __enter__(self) -> Client: ...
    def __exit__(self, *_: object) -> None: ...
    def capture(
        self,
        text: str = "",
        kind: Kind | None = None,
        tags: Sequence[str] = (),
        importance: float | None = None,
        source: str | None = None,
        native_id: str | None = None,
        at: str | datetime | int | None = None,
        branch: str | None = None,
        actor: str | None = None,
        origin: Origin | None = None,
        session: str | None = None,
        scope: str | None = None,
        path: str | None = None,
        media: Sequence[MediaLine] = (),
    ) -> CaptureReceipt:
        """Put a text on the log: TEXT, a file, or stdin.

        Secrets in the text, such as keys, tokens and passwords, are replaced before it is stored. Files with
        nothing but secrets (.env, *.pem, .netrc and the like) are refused.

        Returns the receipt. A document of more than 1,000 characters is cut into parts, each with an id in
        `ids`. Raises `InvalidEvent` for a text that may not be on the log, and `Denied` for the content of a
        file of secrets or a wholly private text.

        text: What to remember, in words that stand alone. At most 64 KiB.
        kind: By default fact, and document for a file.
        tags: A word to filter by.
        importance: 0 to 1, where you know.
        source: Where it comes from: a file, a URL.
        native_id: The source's own id: capturing it again adds nothing.
        at: When it happened: ISO 8601 or an age such as 3d. By default now.
        branch: The branch of the repository that it is about.
        actor: Who said the text, by default the client's actor.
        origin: The kind of actor, by default the client's.
        session: The session of the text, by default the client's.
        scope: Another scope than the client's.
        path: The file that the text is about.
        media: Pictures and files that came with the text.
        """
    def use(self, ids: Sequence[str], recall: str | None = None) -> UseReceipt:
        """Name the memories or turns that shaped an answer: they are found sooner, and linked with each other.

        Looking at a result does not count. With a session, its next answer that carries specifics of the
        recalled memories counts by itself.

        Returns the noted ids. `recall` is `Answer.recall_id`. The use of a memory of `global` is recorded and
        counts in this scope alone; that of another scope's memory in its own scope. Raises `NotFound` for an
        unknown id, and `MemtapeError` for no ids and for those of several scopes.

        ids: What you used.
        recall: The recall that the search named.
        """
    def search(
        self,
        query: str,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        tags: Sequence[str] = (),
        origins: Sequence[Origin] = (),
        actors: Sequence[str] = (),
        sessions: Sequence[str] = (),
        tiers: Sequence[Tier] = (),
        not_kinds: Sequence[Kind] = (),
        not_tags: Sequence[str] = (),
        not_origins: Sequence[Origin] = (),
        not_sessions: Sequence[str] = (),
        since: str | datetime | int | None = None,
        until: str | datetime | int | None = None,
        valid_at: str | datetime | int | None = None,
        archived: bool = False,
        deep: bool = False,
        cursor: str | None = None,
        quiet: bool = False,
        explain: bool = False,
        without: Sequence[Lane] = (),
        at_least: str | None = None,
        as_of: str | datetime | int | None = None,
    ) -> Answer:
        """Find memories and turns of this project, and of global, by words; without words list the latest memories.

        Words in quotation marks are searched as one phrase.

        Returns the results of the scope and of `global`, best first. Pending events are projected first if
        quick; else the answer covers them by words and has the lag of the views. Unless `quiet`, a `recalled`
        event is appended, if the project has anything; the past (`as_of`, `valid_at`) is asked without one.
        Summaries follow few results (`Result.sums`). `cursor` is the `next` of an answer to the same
        question. `at_least` waits for views at most 30 s. A `deep` search has one page and its steps
        (`Answer.trace`), and may ask a configured model. Raises `MemtapeError` for a damaged cursor, or one
        of another question, scope or home.

        query: What to look for, in the words that you expect in it.
        limit: The most results, 1 to 1000.
        kinds: Only of this kind; a turn was said, a page written.
        tags: Only with this tag.
        origins: Only what this origin has captured. operator, user: people. agent: you and other agents. tool: a tool's output. web: a page. model: what a model concluded.
        actors: Only what this person or agent said.
        sessions: Only what was captured in this session.
        tiers: Only what has aged so far: short is what has not, mid what a summary of a day tells, long what one of a week tells.
        not_kinds: Nothing of this kind: no turn, no page.
        not_tags: Nothing with this tag.
        not_origins: Nothing that this origin has captured, whoever else has: operator, user, agent, tool, web, model.
        not_sessions: Nothing that was captured in this session, wherever else.
        since: Only from then on: ISO 8601, or an age as 3d.
        until: Only before then.
        valid_at: What held then, as it is known now.
        archived: Archived too.
        deep: Look up to three times.
        cursor: For more: what the same search gave.
        quiet: Do not put this search on the log.
        explain: Say why each result stands where it stands.
        without: Leave this lane out, for comparing.
        at_least: Wait until the views have this position, as 3/120.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    def recent(
        self,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        tags: Sequence[str] = (),
        actors: Sequence[str] = (),
        standings: Sequence[Listed] = (),
        since: str | None = None,
        until: str | None = None,
        sort: Sort = "latest",
        after: int = 0,
        as_of: str | datetime | int | None = None,
    ) -> MemoryList:
        """List the latest memories of this project.

        Also by kind, tag, actor, time or standing, in other orders, and page by page. What was forgotten is
        listed by its standing.

        Returns a page of results, and the number of all that match.

        limit: At most so many.
        kinds: Only of this kind, by default all but turn; page is a page that was written.
        tags: Only with this tag.
        actors: Only what this person or agent said.
        standings: Only what stands so. By default what a search finds: valid, replaced or contradicted.
        since: Only from then on: ISO 8601, or an age as 3d.
        until: Only before then.
        sort: latest or oldest first, most uses first, or by kind or actor.
        after: Leave out so many, which stand on the pages before.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    def context(
        self,
        budget_tokens: int = 2000,
        form: Form = "prompt",
        explain: bool = False,
        as_of: str | datetime | int | None = None,
        as_is: bool = False,
        since: str | datetime | int | None = None,
    ) -> ProjectContext:
        """Print the context of a starting agent: standing instructions, goal, plan, valid facts, and recent work.

        Returns the context of this scope and `global`. With `as_is` pending events are read from the log.

        budget_tokens: The most tokens of the text.
        form: For --append-system-prompt, or as a section of AGENTS.md or GEMINI.md.
        explain: Say of each line its section and its id.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        as_is: Project nothing first, for callers that cannot wait.
        since: Only later captures of other sessions: ISO 8601, or an age as 3d.
        """
    def sessions(self, limit: int = 10) -> list[Session]:
        """Instead list the latest sessions: when, who, what is left.

        limit: At most so many.
        """
    def given(
        self,
        limit: int = 20,
        session: str | None = None,
        since: str | datetime | int | None = None,
        searches: bool = False,
        by: Occasion | None = None,
        words: str = "",
    ) -> list[Given]:
        """List the memories given to agents unasked, at starts and with prompts, and their use, the latest first.

        limit: At most so many.
        session: Only what this session was given.
        since: Only from then on: ISO 8601, or an age as 3d.
        searches: List what was searched for too.
        by: Only on this occasion.
        words: Only questions with these words.
        """
    def show(self, id: str, as_of: str | datetime | int | None = None) -> Opened:
        """Open one memory or turn whole, by the id of any of its captures, or a summary with its sources.

        Raises `NotFound`.

        id: The id, or its last eight characters.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    def whole(self, id: str, as_of: str | datetime | int | None = None) -> Whole:
        """Read back the document of which it is a part, byte for byte.

        Raises `NotFound`, and `MemtapeError` with the parts that are erased, forgotten or missing.

        id: The id, or its last eight characters.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    def why(self, id: str) -> Explained:
        """Every capture, hiding, restoring and decision behind a memory or turn.

        Raises `NotFound`.

        id: The id, or its last eight characters.
        """
    def edges(self, id: str | None = None, as_of: str | datetime | int | None = None) -> EdgeList:
        """What was used together with it; without an ID the strongest of the scope.

        Returns without an id the edges proposed as curated ones; nothing writes these automatically. Raises
        `NotFound`.

        id: The id; without one the strongest of the scope.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    def timeline(self, around: str | datetime | int, limit: int = 10) -> list[Result]:
        """What was said around it, or around a time given as ID, in order.

        Raises `NotFound`.

        around: An id, a time as ISO 8601, or an age as 3d.
        limit: At most so many.
        """
    def read_log(self, place: str | None = None, limit: int = 20, types: Sequence[str] = ()) -> list[LogSlot]:
        """Print events of the log as they stand: the last ones, or from a place on.

        place: Read from this place on, all scopes: 3/120, or 3 for its last ones.
        limit: The most events.
        types: Only this type.
        """
    def diff(self, before: str | datetime | int, after: str | datetime | int, every: bool = False) -> Diff:
        """Show what changed between two positions or times: memories added, folded, revised, forgotten, restored.

        A position is partition/offset pairs, as 3/120,7/45; a time is ISO 8601 or an age.

        every: Every scope, not just this project.
        """
    def status(self, as_of: str | datetime | int | None = None) -> Status:
        """Print on one screen the contents of the home, the state of each view, and the next step.

        A view is ready, lagging (its missing events have waited for ten seconds), hydrating (it was never
        made) or failing.

        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    def stats(self, since: str | datetime | int = "30d", scope: str | None = None) -> Stats:
        """Draw daily counts (UTC): growth of the memory, searches and uses, and folds.

        A use rate above 100 % says that recalls were used more than once.

        since: From then on: ISO 8601, or an age as 3d.
        scope: Only this scope, by default all of the home.
        """
    def draw_tree(self, page: str = "_root", depth: int = 6, limit: int = 50) -> DrawnTree:
        """Draw the tree from PAGE down, by default all of it. Children of a page in two places are drawn once.

        Raises `NotFound`.

        page: The page at the top.
        depth: How far down.
        limit: The most below one page.
        """
    def read_page(self, page: str = "_root") -> PageShown:
        """Show a page: text, child pages, links, backlinks and versions.

        Raises `NotFound`.

        page: The slug or id of a page; _root is the top.
        """
    def check_tree(self) -> list[TreeProblem]:
        """List the problems of the tree: links to nothing, unreachable pages, circles, stale pages.

        Each says how it is mended, unless a person has to decide. Nothing is changed.
        """
    def new_page(
        self,
        slug: str,
        text: str = "",
        under: str | None = None,
        title: str | None = None,
        summary: str | None = None,
        hints: Sequence[str] = (),
        refs: Sequence[str] = (),
    ) -> Written:
        """Write a page: TEXT, or stdin; at a terminal your editor opens. At most 64 KiB of Markdown.

        Raises `MemtapeError` for an invalid or taken slug, and for an empty or too long text.

        slug: The slug of a page, as deploy/staging.
        text: The page, as Markdown. At most 64 KiB.
        under: The page above; by default from the slug, or _root.
        title: What it is called; by default its first heading.
        summary: What it says in short; by default its first sentence.
        hints: A question that leads here.
        refs: A file, URL or id that it tells of.
        """
    def edit_page(
        self,
        page: str,
        text: str | None = None,
        base: str | None = None,
        title: str | None = None,
        summary: str | None = None,
        hints: Sequence[str] = (),
        refs: Sequence[str] = (),
    ) -> Written:
        """Give a page another text: TEXT, or with - stdin; at a terminal your editor opens.

        Raises `NotFound`, and `MemtapeError` where nothing changes.

        page: The slug or id of a page; _root is the top.
        text: The whole page as it is to be.
        base: The version on which the text builds, else the current.
        title: What it is called; by default its first heading.
        summary: What it says in short; by default its first sentence.
        hints: A question that leads here.
        refs: A file, URL or id that it tells of.
        """
    def move_page(self, page: str, slug: str | None = None, under: str | None = None) -> Written:
        """Give a page another slug, or put it below another page, or both. Links to it follow.

        Raises `NotFound` and `MemtapeError`.

        page: The slug or id of a page; _root is the top.
        slug: Its new slug.
        under: The page below which it stands from now on, and below that alone.
        """
    def link_pages(self, page: str, to: str, relation: str = "related", undo: bool = False) -> LinkSaid:
        """Link a page to another. As a child the other stands below it. TO may be a slug that no page has yet.

        Raises `NotFound` and `MemtapeError`.

        page: The slug or id of a page; _root is the top.
        relation: As what.
        undo: End this link.
        """
    def archive(self, ids: Sequence[str], reason: str | None = None) -> ArchivedNow:
        """Archive memories or turns: searches, starts and MEMORY.md leave them out, and the log keeps them.

        Returns the changed and the unchanged units. Raises `NotFound`, and `MemtapeError` where any is pinned
        or hidden: then none is archived.

        ids: The ids of memories or turns.
        reason: Why, for whoever looks later.
        """
    def unarchive(
        self,
        ids: Sequence[str] = (),
        all_of: Literal["age", "asked"] | None = None,
        reason: str | None = None,
    ) -> ArchivedNow:
        """Bring texts back instead, also those that have left the views.

        ids: The ids, as --list has them.
        all_of: All that was archived by age, or since somebody asked, instead of ids.
        reason: Why, for whoever looks later.
        """
    def archived(self, limit: int = 20, purged: bool = False) -> ArchiveList:
        """List what is archived, the latest first, and the projects.

        Returns the texts of the scope and of `global`; with `purged` only those that left the views.

        limit: At most so many.
        purged: What has left the views too, and can come back.
        """
    def lifecycle(self, dry_run: bool = False, limit: int = 20) -> Aging:
        """Say how many texts of this project stand in which tier, archived or not, and when the clock last ticked.

        Returns the state at the end of the log, and appends nothing.

        dry_run: Say what the next pass would move.
        limit: The most groups that are told.
        """
    def projects(self) -> list[Project]:
        """List all projects of this data folder, the last active first."""
    def project_state(self) -> Project:
        """Show the scope of this folder's project: its name, state, last activity, aging of texts, folder.

        Raises `NotFound`.
        """
    def rename(self, name: str) -> ProjectChange:
        """Set the name that people call this project by. Its scope, the name in commands, stays. Only for people."""
    def finish(self) -> ProjectChange:
        """Finish this project: all its texts are archived, as a whole."""
    def resume(self) -> ProjectChange:
        """Go on with a finished project: texts archived with the project are found again."""
    def verify(self, repair: bool = False) -> Verification:
        """Replay the log and compare it with the views, row by row and page by page.

        repair: Where they differ, rebuild the views from the log and compare again.
        """
    def save_head(self, file: str) -> SavedHead:
        """Save the head of the log, to hold the log against later.

        The file has digests and no text. Keep it where nobody who can change the log can change it.

        file: Instead save what the log holds now in a new file.
        """
    def verify_head(self, file: str) -> HeadVerdict:
        """Prove that the log has lost, changed and moved no event since a head was saved.

        Events that were erased since have lost their bodies alone.

        file: Instead hold the log against a saved head.
        """
    def rebuild(self) -> Rebuilt:
        """Rebuild the views from the log, beside the living ones, and switch once they are verified.

        Searches are served from the old views meanwhile. A stopped or killed rebuild resumes when called
        again. A running projector gives way meanwhile.
        """
    def copy(self, to: str) -> Copied:
        """Copy the log of a home to another place, slot for slot, and read it back.

        The copy is the same log under the same id: every offset, id and time stays, and so do blank and
        unreadable slots. A second call resumes an interrupted copy, or adds the slots that came since; a
        place with another content is not changed. Stop all writers of the log, or copy once more, before the
        copy is used in its place, and let nobody use it before that. From then on write to one of the two:
        both have one id, by which views recognise their log. Erasing in one does not reach the other.

        Raises `LogExists`.

        to: kafka://host:port/topic, a new FILE.db, or a home.
        """
    def settings(self) -> SettingsShown:
        """Print the settings of the log, which all its homes share, and the file of this home's own settings."""
    def access(self) -> Access:
        """Say as whom each user of the topic speaks, and to whom closed scopes are shown.

        A user without an entry speaks as agents alone, and a scope without an entry is open. An empty value
        takes an entry out. Operators change the lists, write to `global`, read every scope, and write for
        others. The broker's ACLs say who reads and writes the topic at all.
        """
    def set_access(self, changes: Sequence[str]) -> Access:
        """Change who speaks as what, and who reads a scope.

        Raises `MemtapeError`, also for anyone but an operator.

        changes: Change an entry.
        """
    def dead_letters(self) -> UnreadSlots:
        """List the unreadable slots of the log, with reasons.

        Another program may have written them: `schemas/json` has the form of an event, and its key is the
        scope. A newer version of Memtape may read what this one cannot; the views are then made anew.
        """
    def retry_dead_letters(self) -> UnreadSlots:
        """Append events of wrong partitions where they belong."""
    def prune(
        self,
        tags: Sequence[str] = ("env:dev",),
        before: str | datetime | int = "7d",
        every: bool = False,
        dry_run: bool = False,
    ) -> Pruned:
        """Forget old captures with a tag: by default those of development, after 7 days.

        Raises `MemtapeError` without a tag.

        tags: What carries this tag, by default what development has left.
        before: What was captured before then: ISO 8601, or an age as 3d.
        every: Every scope, not just this project.
        dry_run: Only say what would go.
        """
    def embedder(self) -> EmbedderState:
        """Say which embedder decides, which comes next, what this machine has, and how many texts wait.

        Opens the embedder of this machine and counts the texts that the views do not hold yet; both can take
        some seconds.
        """
    def refold(self, dry_run: bool = False, fold: Literal["on", "off"] | None = None) -> Refolded:
        """Fold everything anew under the rules, the embedder and the thresholds in force.

        An embedder that takes over leaves past folds as they are; this command makes them follow it. It shows
        which memories fold together and which come apart, in all projects. Unfolded memories stay apart, an
        echo stays an echo, and a consolidated memory stays while its sources say the same. Nothing is lost:
        folding changes which captures are one memory, and all wordings of a memory are found.

        dry_run: Show what would change, and change nothing.
        fold: off: each text stands by itself from now on. on: texts fold again, as by default.
        """
    def consolidate(self, dry_run: bool = False, at_once: bool = False) -> Consolidated:
        """Consolidate similar memories: restatements, and a value with its earlier values.

        Raises `MemtapeError` where the daily judge cannot be asked, and `Locked` where another process does
        the same.

        dry_run: Print what the rules would do by now, and change nothing.
        at_once: Do not wait until enough is new and a day has passed.
        """
    def judge(self, verdicts: Sequence[str] = ()) -> Judgements:
        """List pairs of memories that may say the same, or judge them.

        Returns pairs, 20 at most, or what was decided. Raises `MemtapeError` for a pair that does not wait.

        verdicts: PAIR=VERDICT, or SENTENCE=FACT.
        """
    def compare(self, retrievers: Sequence[RetrieverName] = (), limit: int = 1000) -> dict[str, Any]:
        """Ask several retrievers the past questions of this project, and compare their results.

        retrievers: Only this one.
        limit: The latest searches.
        """
    def compare_shadows(self) -> dict[str, Any]:
        """Instead compare what shadows answered beside the searches."""
    def forget(self, id: str, reason: str | None = None, only: bool = False) -> DecidedIds:
        """Hide a memory or turn, until it is restored. The log keeps it.

        Every capture that is the same memory is hidden, and of facts and the like the same text stays hidden
        when it is captured again, until a person says it.

        Returns the named ids. With `only` the text of a long-term kind stays banned all the same. Raises
        `NotFound`.

        id: The id, or its last eight characters.
        reason: Why, for whoever looks later.
        only: Name this one capture, not every capture that is the same memory.
        """
    def hidden(self, limit: int = 100) -> list[MemoryRow | TurnRow]:
        """List what is hidden instead: forgotten, or withdrawn.

        Returns what can be restored, of this scope and of `global`.

        limit: At most so many.
        """
    def restore(self, id: str, reason: str | None = None) -> DecidedIds:
        """Show again what was forgotten.

        Returns the named ids; `was_hidden` is false where nothing was hidden. Raises `NotFound`.

        id: The id, or its last eight characters.
        reason: Why, for whoever looks later.
        """
    def pin(self, id: str) -> DecidedIds:
        """Pin a memory or turn: it stays at hand whatever its age, and is marked.

        Returns the named ids.

        id: The id, or its last eight characters.
        """
    def unpin(self, id: str) -> DecidedIds:
        """End the pins on it.

        Returns the named ids: every capture of the memory.

        id: The id, or its last eight characters.
        """
    def update(self, id: str, text: str) -> ReplacedMemory:
        """Replace a memory by a new text, or by another memory, or say that it holds.

        A new TEXT is captured, and the memory is kept as the earlier value. Only a source with at least the
        trust of the memory's source can replace it. A text that says the same in other words becomes a
        further wording of the memory. What is replaced is marked, stands below the other, and leaves the
        start context.

        Raises `NotFound`, and `MemtapeError` for ids of no memory, or where a weaker source would end a
        stronger one: nothing is captured then.

        id: The id, or its last eight characters.
        text: What is so now.
        """
    def say_replaced(self, id: str, by: str) -> DecidedIds:
        """Say which memory holds instead.

        Raises `NotFound`, and `MemtapeError` for ids of no memory, or where a weaker source would end a
        stronger one.

        id: The id, or its last eight characters.
        by: The id of the memory that holds instead.
        """
    def say_holds(self, id: str, undo: bool = False) -> DecidedIds:
        """It holds, whatever was said later: no rule replaces it from now on.

        Raises `NotFound`, and `MemtapeError` for ids of no memory.

        id: The id, or its last eight characters.
        undo: With --holds: take back what was said of it; the texts decide again.
        """
    def unfold(self, id: str, only: bool = False) -> DecidedIds:
        """Its captures should not be one memory: split them for good.

        Raises `NotFound`, and `MemtapeError` where nothing was folded.

        id: The id, or its last eight characters.
        only: With --unfold: let this capture alone stand apart.
        """
    def conflicts(self, settled: bool = False) -> ConflictList:
        """List what waits for you: contradictions and rules; and say which side of a contradiction holds.

        Returns the conflicts of the scope and of `global` that wait, with `settled` also all others, and the
        rules that wait.

        settled: Also what was settled or has expired.
        """
    def settle(
        self, conflict: str, keep: Literal["A", "B", "both", "none"], note: str | None = None
    ) -> ConflictOutcome:
        """Say which side of a contradiction holds.

        Raises `NotFound`, and `MemtapeError` for anyone but a person, or where a side is no longer shown.

        conflict: The id of a conflict, or its last eight characters.
        keep: Which side holds, as listed; with none it waits again.
        note: Why, for whoever looks later.
        """
    def accept(self, ids: Sequence[str] = (), every: bool = False) -> list[Proposal]:
        """Take the named rules, with --all every one that waits and is no paste.

        Returns the rules, accepted with their words into their target scope. Raises `NotFound`, and
        `MemtapeError` for a writer who is no person.

        ids: The ids of rules.
        every: All rules that wait; alone, list what is settled too.
        """
    def decline(self, ids: Sequence[str] = (), every: bool = False, undo: bool = False) -> list[Proposal]:
        """Decline the named rules for good, with --all every one that waits.

        Raises as `accept`.

        ids: The ids of rules.
        every: All rules that wait; alone, list what is settled too.
        undo: With --decline: let the named rules wait again.
        """
    def proposals(self) -> list[tuple[Proposal, Answered]]:
        """List the rules that were proposed, each with its answer.

        Returns the rules said for all projects, or in text that may be pasted, the latest first.
        """
    def orders(self) -> list[Order]:
        """List the orders about memory, as "never mention X again".

        Returns those of this scope and `global`.
        """
    def stale(self, limit: int = 10) -> list[MemoryRow]:
        """List what was neither said nor used for long, the most used first.

        Returns those of this scope and `global`, and archives nothing.

        limit: At most so many.
        """

class AsyncClient:
    """A client with awaited methods: those of `Client`, done one at a time in a thread of its own.

    Its arguments are those of `Client`. The home is opened in the thread, by `async with` or the first call.
    A cancelled call is still done.
    """
    def __init__(
        self,
        home: Home | str | os.PathLike[str] | None = None,
        *,
        log: Log | None = None,
        confined: bool = False,
        profile: str | None = None,
        wakes: bool = True,
        **options: Unpack[WriterOptions],
    ) -> None: ...
    async def add(self, messages: Iterable[Message], session: str | None = None) -> ImportSummary:
        """Capture a conversation, as `Client.add` does."""
    async def capture_many(self, lines: Iterable[Line]) -> Receipts:
        """Append many texts, as `Client.capture_many` does."""
    async def project(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Bring the views up to date, as `Client.project` does."""
    async def close(self) -> None:
        """Close the client after what was called before."""
    async def __aenter__(self) -> AsyncClient: ...
    async def __aexit__(self, *_: object) -> None: ...
    async def capture(
        self,
        text: str = "",
        kind: Kind | None = None,
        tags: Sequence[str] = (),
        importance: float | None = None,
        source: str | None = None,
        native_id: str | None = None,
        at: str | datetime | int | None = None,
        branch: str | None = None,
        actor: str | None = None,
        origin: Origin | None = None,
        session: str | None = None,
        scope: str | None = None,
        path: str | None = None,
        media: Sequence[MediaLine] = (),
    ) -> CaptureReceipt:
        """Put a text on the log: TEXT, a file, or stdin.

        Secrets in the text, such as keys, tokens and passwords, are replaced before it is stored. Files with
        nothing but secrets (.env, *.pem, .netrc and the like) are refused.

        Returns the receipt. A document of more than 1,000 characters is cut into parts, each with an id in
        `ids`. Raises `InvalidEvent` for a text that may not be on the log, and `Denied` for the content of a
        file of secrets or a wholly private text.

        text: What to remember, in words that stand alone. At most 64 KiB.
        kind: By default fact, and document for a file.
        tags: A word to filter by.
        importance: 0 to 1, where you know.
        source: Where it comes from: a file, a URL.
        native_id: The source's own id: capturing it again adds nothing.
        at: When it happened: ISO 8601 or an age such as 3d. By default now.
        branch: The branch of the repository that it is about.
        actor: Who said the text, by default the client's actor.
        origin: The kind of actor, by default the client's.
        session: The session of the text, by default the client's.
        scope: Another scope than the client's.
        path: The file that the text is about.
        media: Pictures and files that came with the text.
        """
    async def use(self, ids: Sequence[str], recall: str | None = None) -> UseReceipt:
        """Name the memories or turns that shaped an answer: they are found sooner, and linked with each other.

        Looking at a result does not count. With a session, its next answer that carries specifics of the
        recalled memories counts by itself.

        Returns the noted ids. `recall` is `Answer.recall_id`. The use of a memory of `global` is recorded and
        counts in this scope alone; that of another scope's memory in its own scope. Raises `NotFound` for an
        unknown id, and `MemtapeError` for no ids and for those of several scopes.

        ids: What you used.
        recall: The recall that the search named.
        """
    async def search(
        self,
        query: str,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        tags: Sequence[str] = (),
        origins: Sequence[Origin] = (),
        actors: Sequence[str] = (),
        sessions: Sequence[str] = (),
        tiers: Sequence[Tier] = (),
        not_kinds: Sequence[Kind] = (),
        not_tags: Sequence[str] = (),
        not_origins: Sequence[Origin] = (),
        not_sessions: Sequence[str] = (),
        since: str | datetime | int | None = None,
        until: str | datetime | int | None = None,
        valid_at: str | datetime | int | None = None,
        archived: bool = False,
        deep: bool = False,
        cursor: str | None = None,
        quiet: bool = False,
        explain: bool = False,
        without: Sequence[Lane] = (),
        at_least: str | None = None,
        as_of: str | datetime | int | None = None,
    ) -> Answer:
        """Find memories and turns of this project, and of global, by words; without words list the latest memories.

        Words in quotation marks are searched as one phrase.

        Returns the results of the scope and of `global`, best first. Pending events are projected first if
        quick; else the answer covers them by words and has the lag of the views. Unless `quiet`, a `recalled`
        event is appended, if the project has anything; the past (`as_of`, `valid_at`) is asked without one.
        Summaries follow few results (`Result.sums`). `cursor` is the `next` of an answer to the same
        question. `at_least` waits for views at most 30 s. A `deep` search has one page and its steps
        (`Answer.trace`), and may ask a configured model. Raises `MemtapeError` for a damaged cursor, or one
        of another question, scope or home.

        query: What to look for, in the words that you expect in it.
        limit: The most results, 1 to 1000.
        kinds: Only of this kind; a turn was said, a page written.
        tags: Only with this tag.
        origins: Only what this origin has captured. operator, user: people. agent: you and other agents. tool: a tool's output. web: a page. model: what a model concluded.
        actors: Only what this person or agent said.
        sessions: Only what was captured in this session.
        tiers: Only what has aged so far: short is what has not, mid what a summary of a day tells, long what one of a week tells.
        not_kinds: Nothing of this kind: no turn, no page.
        not_tags: Nothing with this tag.
        not_origins: Nothing that this origin has captured, whoever else has: operator, user, agent, tool, web, model.
        not_sessions: Nothing that was captured in this session, wherever else.
        since: Only from then on: ISO 8601, or an age as 3d.
        until: Only before then.
        valid_at: What held then, as it is known now.
        archived: Archived too.
        deep: Look up to three times.
        cursor: For more: what the same search gave.
        quiet: Do not put this search on the log.
        explain: Say why each result stands where it stands.
        without: Leave this lane out, for comparing.
        at_least: Wait until the views have this position, as 3/120.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    async def recent(
        self,
        limit: int = 10,
        kinds: Sequence[Kind] = (),
        tags: Sequence[str] = (),
        actors: Sequence[str] = (),
        standings: Sequence[Listed] = (),
        since: str | None = None,
        until: str | None = None,
        sort: Sort = "latest",
        after: int = 0,
        as_of: str | datetime | int | None = None,
    ) -> MemoryList:
        """List the latest memories of this project.

        Also by kind, tag, actor, time or standing, in other orders, and page by page. What was forgotten is
        listed by its standing.

        Returns a page of results, and the number of all that match.

        limit: At most so many.
        kinds: Only of this kind, by default all but turn; page is a page that was written.
        tags: Only with this tag.
        actors: Only what this person or agent said.
        standings: Only what stands so. By default what a search finds: valid, replaced or contradicted.
        since: Only from then on: ISO 8601, or an age as 3d.
        until: Only before then.
        sort: latest or oldest first, most uses first, or by kind or actor.
        after: Leave out so many, which stand on the pages before.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    async def context(
        self,
        budget_tokens: int = 2000,
        form: Form = "prompt",
        explain: bool = False,
        as_of: str | datetime | int | None = None,
        as_is: bool = False,
        since: str | datetime | int | None = None,
    ) -> ProjectContext:
        """Print the context of a starting agent: standing instructions, goal, plan, valid facts, and recent work.

        Returns the context of this scope and `global`. With `as_is` pending events are read from the log.

        budget_tokens: The most tokens of the text.
        form: For --append-system-prompt, or as a section of AGENTS.md or GEMINI.md.
        explain: Say of each line its section and its id.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        as_is: Project nothing first, for callers that cannot wait.
        since: Only later captures of other sessions: ISO 8601, or an age as 3d.
        """
    async def sessions(self, limit: int = 10) -> list[Session]:
        """Instead list the latest sessions: when, who, what is left.

        limit: At most so many.
        """
    async def given(
        self,
        limit: int = 20,
        session: str | None = None,
        since: str | datetime | int | None = None,
        searches: bool = False,
        by: Occasion | None = None,
        words: str = "",
    ) -> list[Given]:
        """List the memories given to agents unasked, at starts and with prompts, and their use, the latest first.

        limit: At most so many.
        session: Only what this session was given.
        since: Only from then on: ISO 8601, or an age as 3d.
        searches: List what was searched for too.
        by: Only on this occasion.
        words: Only questions with these words.
        """
    async def show(self, id: str, as_of: str | datetime | int | None = None) -> Opened:
        """Open one memory or turn whole, by the id of any of its captures, or a summary with its sources.

        Raises `NotFound`.

        id: The id, or its last eight characters.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    async def whole(self, id: str, as_of: str | datetime | int | None = None) -> Whole:
        """Read back the document of which it is a part, byte for byte.

        Raises `NotFound`, and `MemtapeError` with the parts that are erased, forgotten or missing.

        id: The id, or its last eight characters.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    async def why(self, id: str) -> Explained:
        """Every capture, hiding, restoring and decision behind a memory or turn.

        Raises `NotFound`.

        id: The id, or its last eight characters.
        """
    async def edges(self, id: str | None = None, as_of: str | datetime | int | None = None) -> EdgeList:
        """What was used together with it; without an ID the strongest of the scope.

        Returns without an id the edges proposed as curated ones; nothing writes these automatically. Raises
        `NotFound`.

        id: The id; without one the strongest of the scope.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    async def timeline(self, around: str | datetime | int, limit: int = 10) -> list[Result]:
        """What was said around it, or around a time given as ID, in order.

        Raises `NotFound`.

        around: An id, a time as ISO 8601, or an age as 3d.
        limit: At most so many.
        """
    async def read_log(
        self, place: str | None = None, limit: int = 20, types: Sequence[str] = ()
    ) -> list[LogSlot]:
        """Print events of the log as they stand: the last ones, or from a place on.

        place: Read from this place on, all scopes: 3/120, or 3 for its last ones.
        limit: The most events.
        types: Only this type.
        """
    async def diff(
        self, before: str | datetime | int, after: str | datetime | int, every: bool = False
    ) -> Diff:
        """Show what changed between two positions or times: memories added, folded, revised, forgotten, restored.

        A position is partition/offset pairs, as 3/120,7/45; a time is ISO 8601 or an age.

        every: Every scope, not just this project.
        """
    async def status(self, as_of: str | datetime | int | None = None) -> Status:
        """Print on one screen the contents of the home, the state of each view, and the next step.

        A view is ready, lagging (its missing events have waited for ten seconds), hydrating (it was never
        made) or failing.

        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    async def stats(self, since: str | datetime | int = "30d", scope: str | None = None) -> Stats:
        """Draw daily counts (UTC): growth of the memory, searches and uses, and folds.

        A use rate above 100 % says that recalls were used more than once.

        since: From then on: ISO 8601, or an age as 3d.
        scope: Only this scope, by default all of the home.
        """
    async def draw_tree(self, page: str = "_root", depth: int = 6, limit: int = 50) -> DrawnTree:
        """Draw the tree from PAGE down, by default all of it. Children of a page in two places are drawn once.

        Raises `NotFound`.

        page: The page at the top.
        depth: How far down.
        limit: The most below one page.
        """
    async def read_page(self, page: str = "_root") -> PageShown:
        """Show a page: text, child pages, links, backlinks and versions.

        Raises `NotFound`.

        page: The slug or id of a page; _root is the top.
        """
    async def check_tree(self) -> list[TreeProblem]:
        """List the problems of the tree: links to nothing, unreachable pages, circles, stale pages.

        Each says how it is mended, unless a person has to decide. Nothing is changed.
        """
    async def new_page(
        self,
        slug: str,
        text: str = "",
        under: str | None = None,
        title: str | None = None,
        summary: str | None = None,
        hints: Sequence[str] = (),
        refs: Sequence[str] = (),
    ) -> Written:
        """Write a page: TEXT, or stdin; at a terminal your editor opens. At most 64 KiB of Markdown.

        Raises `MemtapeError` for an invalid or taken slug, and for an empty or too long text.

        slug: The slug of a page, as deploy/staging.
        text: The page, as Markdown. At most 64 KiB.
        under: The page above; by default from the slug, or _root.
        title: What it is called; by default its first heading.
        summary: What it says in short; by default its first sentence.
        hints: A question that leads here.
        refs: A file, URL or id that it tells of.
        """
    async def edit_page(
        self,
        page: str,
        text: str | None = None,
        base: str | None = None,
        title: str | None = None,
        summary: str | None = None,
        hints: Sequence[str] = (),
        refs: Sequence[str] = (),
    ) -> Written:
        """Give a page another text: TEXT, or with - stdin; at a terminal your editor opens.

        Raises `NotFound`, and `MemtapeError` where nothing changes.

        page: The slug or id of a page; _root is the top.
        text: The whole page as it is to be.
        base: The version on which the text builds, else the current.
        title: What it is called; by default its first heading.
        summary: What it says in short; by default its first sentence.
        hints: A question that leads here.
        refs: A file, URL or id that it tells of.
        """
    async def move_page(self, page: str, slug: str | None = None, under: str | None = None) -> Written:
        """Give a page another slug, or put it below another page, or both. Links to it follow.

        Raises `NotFound` and `MemtapeError`.

        page: The slug or id of a page; _root is the top.
        slug: Its new slug.
        under: The page below which it stands from now on, and below that alone.
        """
    async def link_pages(self, page: str, to: str, relation: str = "related", undo: bool = False) -> LinkSaid:
        """Link a page to another. As a child the other stands below it. TO may be a slug that no page has yet.

        Raises `NotFound` and `MemtapeError`.

        page: The slug or id of a page; _root is the top.
        relation: As what.
        undo: End this link.
        """
    async def archive(self, ids: Sequence[str], reason: str | None = None) -> ArchivedNow:
        """Archive memories or turns: searches, starts and MEMORY.md leave them out, and the log keeps them.

        Returns the changed and the unchanged units. Raises `NotFound`, and `MemtapeError` where any is pinned
        or hidden: then none is archived.

        ids: The ids of memories or turns.
        reason: Why, for whoever looks later.
        """
    async def unarchive(
        self,
        ids: Sequence[str] = (),
        all_of: Literal["age", "asked"] | None = None,
        reason: str | None = None,
    ) -> ArchivedNow:
        """Bring texts back instead, also those that have left the views.

        ids: The ids, as --list has them.
        all_of: All that was archived by age, or since somebody asked, instead of ids.
        reason: Why, for whoever looks later.
        """
    async def archived(self, limit: int = 20, purged: bool = False) -> ArchiveList:
        """List what is archived, the latest first, and the projects.

        Returns the texts of the scope and of `global`; with `purged` only those that left the views.

        limit: At most so many.
        purged: What has left the views too, and can come back.
        """
    async def lifecycle(self, dry_run: bool = False, limit: int = 20) -> Aging:
        """Say how many texts of this project stand in which tier, archived or not, and when the clock last ticked.

        Returns the state at the end of the log, and appends nothing.

        dry_run: Say what the next pass would move.
        limit: The most groups that are told.
        """
    async def projects(self) -> list[Project]:
        """List all projects of this data folder, the last active first."""
    async def project_state(self) -> Project:
        """Show the scope of this folder's project: its name, state, last activity, aging of texts, folder.

        Raises `NotFound`.
        """
    async def rename(self, name: str) -> ProjectChange:
        """Set the name that people call this project by. Its scope, the name in commands, stays. Only for people."""
    async def finish(self) -> ProjectChange:
        """Finish this project: all its texts are archived, as a whole."""
    async def resume(self) -> ProjectChange:
        """Go on with a finished project: texts archived with the project are found again."""
    async def verify(self, repair: bool = False) -> Verification:
        """Replay the log and compare it with the views, row by row and page by page.

        repair: Where they differ, rebuild the views from the log and compare again.
        """
    async def save_head(self, file: str) -> SavedHead:
        """Save the head of the log, to hold the log against later.

        The file has digests and no text. Keep it where nobody who can change the log can change it.

        file: Instead save what the log holds now in a new file.
        """
    async def verify_head(self, file: str) -> HeadVerdict:
        """Prove that the log has lost, changed and moved no event since a head was saved.

        Events that were erased since have lost their bodies alone.

        file: Instead hold the log against a saved head.
        """
    async def rebuild(self) -> Rebuilt:
        """Rebuild the views from the log, beside the living ones, and switch once they are verified.

        Searches are served from the old views meanwhile. A stopped or killed rebuild resumes when called
        again. A running projector gives way meanwhile.
        """
    async def copy(self, to: str) -> Copied:
        """Copy the log of a home to another place, slot for slot, and read it back.

        The copy is the same log under the same id: every offset, id and time stays, and so do blank and
        unreadable slots. A second call resumes an interrupted copy, or adds the slots that came since; a
        place with another content is not changed. Stop all writers of the log, or copy once more, before the
        copy is used in its place, and let nobody use it before that. From then on write to one of the two:
        both have one id, by which views recognise their log. Erasing in one does not reach the other.

        Raises `LogExists`.

        to: kafka://host:port/topic, a new FILE.db, or a home.
        """
    async def settings(self) -> SettingsShown:
        """Print the settings of the log, which all its homes share, and the file of this home's own settings."""
    async def access(self) -> Access:
        """Say as whom each user of the topic speaks, and to whom closed scopes are shown.

        A user without an entry speaks as agents alone, and a scope without an entry is open. An empty value
        takes an entry out. Operators change the lists, write to `global`, read every scope, and write for
        others. The broker's ACLs say who reads and writes the topic at all.
        """
    async def set_access(self, changes: Sequence[str]) -> Access:
        """Change who speaks as what, and who reads a scope.

        Raises `MemtapeError`, also for anyone but an operator.

        changes: Change an entry.
        """
    async def dead_letters(self) -> UnreadSlots:
        """List the unreadable slots of the log, with reasons.

        Another program may have written them: `schemas/json` has the form of an event, and its key is the
        scope. A newer version of Memtape may read what this one cannot; the views are then made anew.
        """
    async def retry_dead_letters(self) -> UnreadSlots:
        """Append events of wrong partitions where they belong."""
    async def prune(
        self,
        tags: Sequence[str] = ("env:dev",),
        before: str | datetime | int = "7d",
        every: bool = False,
        dry_run: bool = False,
    ) -> Pruned:
        """Forget old captures with a tag: by default those of development, after 7 days.

        Raises `MemtapeError` without a tag.

        tags: What carries this tag, by default what development has left.
        before: What was captured before then: ISO 8601, or an age as 3d.
        every: Every scope, not just this project.
        dry_run: Only say what would go.
        """
    async def embedder(self) -> EmbedderState:
        """Say which embedder decides, which comes next, what this machine has, and how many texts wait.

        Opens the embedder of this machine and counts the texts that the views do not hold yet; both can take
        some seconds.
        """
    async def refold(self, dry_run: bool = False, fold: Literal["on", "off"] | None = None) -> Refolded:
        """Fold everything anew under the rules, the embedder and the thresholds in force.

        An embedder that takes over leaves past folds as they are; this command makes them follow it. It shows
        which memories fold together and which come apart, in all projects. Unfolded memories stay apart, an
        echo stays an echo, and a consolidated memory stays while its sources say the same. Nothing is lost:
        folding changes which captures are one memory, and all wordings of a memory are found.

        dry_run: Show what would change, and change nothing.
        fold: off: each text stands by itself from now on. on: texts fold again, as by default.
        """
    async def consolidate(self, dry_run: bool = False, at_once: bool = False) -> Consolidated:
        """Consolidate similar memories: restatements, and a value with its earlier values.

        Raises `MemtapeError` where the daily judge cannot be asked, and `Locked` where another process does
        the same.

        dry_run: Print what the rules would do by now, and change nothing.
        at_once: Do not wait until enough is new and a day has passed.
        """
    async def judge(self, verdicts: Sequence[str] = ()) -> Judgements:
        """List pairs of memories that may say the same, or judge them.

        Returns pairs, 20 at most, or what was decided. Raises `MemtapeError` for a pair that does not wait.

        verdicts: PAIR=VERDICT, or SENTENCE=FACT.
        """
    async def compare(self, retrievers: Sequence[RetrieverName] = (), limit: int = 1000) -> dict[str, Any]:
        """Ask several retrievers the past questions of this project, and compare their results.

        retrievers: Only this one.
        limit: The latest searches.
        """
    async def compare_shadows(self) -> dict[str, Any]:
        """Instead compare what shadows answered beside the searches."""
    async def forget(self, id: str, reason: str | None = None, only: bool = False) -> DecidedIds:
        """Hide a memory or turn, until it is restored. The log keeps it.

        Every capture that is the same memory is hidden, and of facts and the like the same text stays hidden
        when it is captured again, until a person says it.

        Returns the named ids. With `only` the text of a long-term kind stays banned all the same. Raises
        `NotFound`.

        id: The id, or its last eight characters.
        reason: Why, for whoever looks later.
        only: Name this one capture, not every capture that is the same memory.
        """
    async def hidden(self, limit: int = 100) -> list[MemoryRow | TurnRow]:
        """List what is hidden instead: forgotten, or withdrawn.

        Returns what can be restored, of this scope and of `global`.

        limit: At most so many.
        """
    async def restore(self, id: str, reason: str | None = None) -> DecidedIds:
        """Show again what was forgotten.

        Returns the named ids; `was_hidden` is false where nothing was hidden. Raises `NotFound`.

        id: The id, or its last eight characters.
        reason: Why, for whoever looks later.
        """
    async def pin(self, id: str) -> DecidedIds:
        """Pin a memory or turn: it stays at hand whatever its age, and is marked.

        Returns the named ids.

        id: The id, or its last eight characters.
        """
    async def unpin(self, id: str) -> DecidedIds:
        """End the pins on it.

        Returns the named ids: every capture of the memory.

        id: The id, or its last eight characters.
        """
    async def update(self, id: str, text: str) -> ReplacedMemory:
        """Replace a memory by a new text, or by another memory, or say that it holds.

        A new TEXT is captured, and the memory is kept as the earlier value. Only a source with at least the
        trust of the memory's source can replace it. A text that says the same in other words becomes a
        further wording of the memory. What is replaced is marked, stands below the other, and leaves the
        start context.

        Raises `NotFound`, and `MemtapeError` for ids of no memory, or where a weaker source would end a
        stronger one: nothing is captured then.

        id: The id, or its last eight characters.
        text: What is so now.
        """
    async def say_replaced(self, id: str, by: str) -> DecidedIds:
        """Say which memory holds instead.

        Raises `NotFound`, and `MemtapeError` for ids of no memory, or where a weaker source would end a
        stronger one.

        id: The id, or its last eight characters.
        by: The id of the memory that holds instead.
        """
    async def say_holds(self, id: str, undo: bool = False) -> DecidedIds:
        """It holds, whatever was said later: no rule replaces it from now on.

        Raises `NotFound`, and `MemtapeError` for ids of no memory.

        id: The id, or its last eight characters.
        undo: With --holds: take back what was said of it; the texts decide again.
        """
    async def unfold(self, id: str, only: bool = False) -> DecidedIds:
        """Its captures should not be one memory: split them for good.

        Raises `NotFound`, and `MemtapeError` where nothing was folded.

        id: The id, or its last eight characters.
        only: With --unfold: let this capture alone stand apart.
        """
    async def conflicts(self, settled: bool = False) -> ConflictList:
        """List what waits for you: contradictions and rules; and say which side of a contradiction holds.

        Returns the conflicts of the scope and of `global` that wait, with `settled` also all others, and the
        rules that wait.

        settled: Also what was settled or has expired.
        """
    async def settle(
        self, conflict: str, keep: Literal["A", "B", "both", "none"], note: str | None = None
    ) -> ConflictOutcome:
        """Say which side of a contradiction holds.

        Raises `NotFound`, and `MemtapeError` for anyone but a person, or where a side is no longer shown.

        conflict: The id of a conflict, or its last eight characters.
        keep: Which side holds, as listed; with none it waits again.
        note: Why, for whoever looks later.
        """
    async def accept(self, ids: Sequence[str] = (), every: bool = False) -> list[Proposal]:
        """Take the named rules, with --all every one that waits and is no paste.

        Returns the rules, accepted with their words into their target scope. Raises `NotFound`, and
        `MemtapeError` for a writer who is no person.

        ids: The ids of rules.
        every: All rules that wait; alone, list what is settled too.
        """
    async def decline(
        self, ids: Sequence[str] = (), every: bool = False, undo: bool = False
    ) -> list[Proposal]:
        """Decline the named rules for good, with --all every one that waits.

        Raises as `accept`.

        ids: The ids of rules.
        every: All rules that wait; alone, list what is settled too.
        undo: With --decline: let the named rules wait again.
        """
    async def proposals(self) -> list[tuple[Proposal, Answered]]:
        """List the rules that were proposed, each with its answer.

        Returns the rules said for all projects, or in text that may be pasted, the latest first.
        """
    async def orders(self) -> list[Order]:
        """List the orders about memory, as "never mention X again".

        Returns those of this scope and `global`.
        """
    async def stale(self, limit: int = 10) -> list[MemoryRow]:
        """List what was neither said nor used for long, the most used first.

        Returns those of this scope and `global`, and archives nothing.

        limit: At most so many.
        """

def tables(home: str | os.PathLike[str] | None = None) -> list[TableFolder]:
    """Return the LanceDB tables of a home, one folder a partition, for other tools to read.

    They are as far as the last projection: `memtape run --once` brings them up to date. Raises `DamagedViews`
    for tables that cannot be read.
    """
