"""The methods of the client, made from the table of verbs by `make docs`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal

from typing_extensions import Unpack

from memtape.schemas.events import (
    Kind,
    Origin,
    Tier,
)
from memtape.schemas.lanes import Lane
from memtape.schemas.log import Log
from memtape.schemas.rows import (
    MemoryRow,
    TurnRow,
)
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.sinks.tables import TableFolder
from memtape.state.tree.checking import TreeProblem
from memtape.state.tree.walking import DrawnTree
from memtape.state.views.proposals import Proposal
from memtape.tools.capture.writing import (
    MediaLine,
    WriterOptions,
)
from memtape.tools.keep.consolidating import Consolidated
from memtape.tools.keep.copying import Copied
from memtape.tools.keep.embedding import EmbedderState, Refolded
from memtape.tools.keep.pruning import Pruned
from memtape.tools.keep.rebuild import Rebuilt
from memtape.tools.keep.verify import Verification
from memtape.tools.query.as_of import Diff
from memtape.tools.query.conflicts import Answered, ConflictList
from memtape.tools.query.context import ProjectContext
from memtape.tools.query.found import Order
from memtape.tools.query.inspection import Explained, Opened, Whole
from memtape.tools.query.looking import ArchiveList, EdgeList, Given, Session
from memtape.tools.query.results import Answer, Result
from memtape.tools.query.status import Stats, Status
from memtape.tools.verbs.aging import Aging, ArchivedNow, Project, ProjectChange
from memtape.tools.verbs.capturing import (
    CaptureReceipt,
    UseReceipt,
)
from memtape.tools.verbs.deciding import ConflictOutcome, DecidedIds, ReplacedMemory
from memtape.tools.verbs.keeping import SettingsShown
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
from memtape.tools.world import World

class Client(World):
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
    def project(self, on_progress: Callable[[int], None] | None = None) -> int: ...
    def close(self) -> None: ...
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

        With - as TEXT, stdin is JSON lines if it begins with {, one capture each: {"text": "…", "kind":
        "turn", "at": "…", "actor": "…", "session": "…", "tags": ["…"], "source": "…", "native_id": "…"}. Only
        text is needed. They are stored in batches, each whole or not at all; a refused line is named and the
        others are kept. If stdin begins with anything else it is one text, as without -.  Secrets in the
        text, such as keys, tokens and passwords, are replaced before it is stored. Files with nothing but
        secrets (.env, *.pem, .netrc and the like) are refused.

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

        ids: The ids of what you used.
        recall: The recall that returned them, as the search named it.
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
        as_of: str | datetime | int | None = None,
    ) -> Answer:
        """Find memories and turns of this project, and of global, by words; without words list the latest memories.

        Words in quotation marks are searched as one phrase.

        query: What to look for, in the words that you expect in it.
        limit: The most results, 1 to 1000.
        kinds: Only of this kind: turn is what was said in a session, page a page that was written.
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
        archived: Also what is archived.
        deep: Look up to three times.
        cursor: For more: what the same search gave.
        quiet: Do not put this search on the log.
        explain: Say why each result stands where it stands.
        without: Leave this lane out, for comparing.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    def recent(self, limit: int = 10, kinds: Sequence[Kind] = ()) -> list[Result]:
        """List the latest memories of this project.

        limit: The most that are listed.
        kinds: Only of this kind, by default all but turn; page is a page that was written.
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

        Standing instructions are sentences by users with "always", "never", "I prefer" and the like, in five
        languages. The budget is never exceeded. A section of a file stands between <!-- memtape:begin --> and
        <!-- memtape:end -->.

        budget_tokens: The most tokens of the text.
        form: For --append-system-prompt, or as a section of AGENTS.md or GEMINI.md.
        explain: Say of each line its section and its id.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        as_is: Project nothing first, for callers that cannot wait.
        since: Only later captures of other sessions: ISO 8601, or an age as 3d.
        """
    def sessions(self, limit: int = 10) -> list[Session]:
        """Instead list the latest sessions: when, who, what is left.

        limit: The most that are listed.
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

        A memory was used where an agent said so, or where its next answer carried specifics of the memory.
        Results of searches are listed with --searches alone.

        limit: The most that are listed.
        session: Only what this session was given.
        since: Only from then on: ISO 8601, or an age as 3d.
        searches: List what was searched for too.
        by: Only on this occasion.
        words: Only questions with these words.
        """
    def show(self, id: str, as_of: str | datetime | int | None = None) -> Opened:
        """Open one memory or turn whole, by the id of any of its captures, or a summary with its sources.

        With --whole a document is read back from all its parts, as captured, without its secrets. A terminal
        shows it escaped; a file or a pipe gets its bytes. With --why its history is told, with --around what
        was said before and after it, or around a TIME. With --edges each line has two weights. Two texts used
        within 30 minutes of one session gain 1, which halves every three days: the first weight. The second
        is learned, from 0.2 to 1: how much more often than by chance they were used together within 90 days,
        three times at least. Then comes the number of joint uses.

        id: The id of a memory or turn, or its last eight characters.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    def whole(self, id: str, as_of: str | datetime | int | None = None) -> Whole:
        """Read back the document of which it is a part, byte for byte.

        id: The id of a memory or turn, or its last eight characters.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    def why(self, id: str) -> Explained:
        """Every event behind a memory or turn, and every hiding and restoring.

        id: The id of a memory or turn, or its last eight characters.
        """
    def edges(self, id: str | None = None, as_of: str | datetime | int | None = None) -> EdgeList:
        """What was used together with it; without an ID the strongest of the scope.

        id: The id; without one the strongest of the scope.
        as_of: Ask the past: a position as 3/120,7/45 (partition/offset), ISO 8601, or an age as 3d.
        """
    def timeline(self, around: str | datetime | int, limit: int = 10) -> list[Result]:
        """What was said around it, or around a time given as ID, in order.

        around: An id, a time as ISO 8601, or an age as 3d.
        limit: The most that are listed.
        """
    def read_log(
        self,
        partition: int | None = None,
        offset: int | None = None,
        limit: int = 20,
        types: Sequence[str] = (),
    ) -> list[LogSlot]:
        """Print events of the log as they stand: the last ones, or from an offset on.

        `memtape admin tail` follows new ones as they come.

        partition: Read this partition, all scopes of it.
        offset: Read from this offset on; needs --partition or a scope.
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

        page: The page at the top.
        depth: How far down.
        limit: The most below one page.
        """
    def read_page(self, page: str = "_root") -> PageShown:
        """Show a page: text, child pages, links, backlinks and versions.

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

        With --title and the like alone the text stays. All versions are kept. If the page has another version
        by now than --base, or than the one in your editor, both stand until somebody has seen both.

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

        page: The slug or id of a page; _root is the top.
        slug: Its new slug.
        under: The page below which it stands from now on, and below that alone.
        """
    def link_pages(self, page: str, to: str, relation: str = "related", undo: bool = False) -> LinkSaid:
        """Link a page to another. As a child the other stands below it. TO may be a slug that no page has yet.

        page: The slug or id of a page; _root is the top.
        relation: As what.
        undo: End this link.
        """
    def archive(self, ids: Sequence[str], reason: str | None = None) -> ArchivedNow:
        """Archive memories or turns: searches, starts and MEMORY.md leave them out, and the log keeps them.

        Each returns by --undo, and by itself once used, pinned or said again. Pinned memories stay. Of a
        document only the named part is archived. Texts archived with their project come back by `memtape
        project finish --undo`.

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

        limit: The most that are listed.
        purged: What has left the views too, and can come back.
        """
    def lifecycle(self, dry_run: bool = False, limit: int = 20) -> Aging:
        """Say how many texts of this project stand in which tier, archived or not, and when the clock last ticked.

        A pass moves texts on once an hour where any is due. With --dry-run it is tried on a copy of the
        state, as if no pass came before it. --set is for people: --origin user at a terminal.

        dry_run: Say what the next pass would move.
        limit: The most groups that are told.
        """
    def projects(self) -> list[Project]:
        """List all projects of this data folder, the last active first."""
    def project_state(self) -> Project:
        """Show the scope of this folder's project: its name, state, last activity, aging of texts, folder."""
    def rename(self, name: str) -> ProjectChange:
        """Set the name that people call this project by. Its scope, the name in commands, stays. Only for people."""
    def finish(self) -> ProjectChange:
        """Finish this project: all its texts are archived, as a whole.

        Nothing of it is purged or erased. Later texts are found as always, and texts that were archived by
        themselves stay archived with --undo. Only people finish a project: --origin user at a terminal.


        """
    def resume(self) -> ProjectChange:
        """Go on with a finished project: texts archived with the project are found again."""
    def verify(self, repair: bool = False) -> Verification:
        """Replay the log and compare it with the views, row by row and page by page.

        Exits 1 and names each difference; --repair mends it.

        repair: Where they differ, rebuild the views from the log and compare again.
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

        to: kafka://host:port/topic, a new FILE.db, or a home.
        """
    def settings(self) -> SettingsShown:
        """Print the settings of the log, which all its homes share, and the file of this home's own settings.

        A setting of the log is changed by the command of its subject: `memtape admin embedder`, `lifecycle`,
        `retriever`.


        """
    def prune(
        self,
        tags: Sequence[str] = ("env:dev",),
        before: str | datetime | int = "7d",
        every: bool = False,
        dry_run: bool = False,
    ) -> Pruned:
        """Forget old captures with a tag: by default those of development, after 7 days.

        Memories derived from them alone are forgotten too. A text that somebody also captured without the tag
        stays. Nothing is erased: `memtape restore` shows a memory again.

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

        Each decision is an event of the log. The sources stay, and return once one of them changes; `memtape
        update ID --unfold` separates them for good. `memtape run` does the same once a day if enough is new.
        Exits 1 where a model gave no usable answer.

        dry_run: Print what the rules would do by now, and change nothing.
        at_once: Do not wait until enough is new and a day has passed.
        """
    def compare(self, retrievers: Sequence[RetrieverName] = (), limit: int = 1000) -> dict[str, Any]:
        """Ask several retrievers the past questions of this project, and compare their results.

        Recall counts the used results of a search (`memtape agents used`). Without any known use there is
        nothing to compare with, and only --json has figures, about the returned results. The searches are
        asked of the current views; nothing is put on the log.  With --shadow nothing is asked: it reports the
        results of shadow retrievers (`memtape admin retriever set`) beside the answers given. Only shown
        results are likely to be used, so the active retriever has the advantage.

        retrievers: Only this one.
        limit: The latest searches.
        """
    def compare_shadows(self) -> dict[str, Any]:
        """Instead compare what shadows answered beside the searches."""
    def forget(self, id: str, reason: str | None = None, only: bool = False) -> DecidedIds:
        """Hide a memory or turn, until it is restored. The log keeps it.

        Every capture that is the same memory is hidden, and of facts and the like the same text stays hidden
        when it is captured again, until a person says it.

        id: The id of a memory or turn, or its last eight characters.
        reason: Why, for whoever looks later.
        only: Name this one capture, not every capture that is the same memory.
        """
    def hidden(self, limit: int = 100) -> list[MemoryRow | TurnRow]:
        """List what is hidden instead: forgotten, or withdrawn.

        limit: The most that are listed.
        """
    def restore(self, id: str, reason: str | None = None) -> DecidedIds:
        """Show again what was forgotten.

        id: The id of a memory or turn, or its last eight characters.
        reason: Why, for whoever looks later.
        """
    def pin(self, id: str) -> DecidedIds:
        """Pin a memory or turn: it stays at hand whatever its age, and is marked.

        id: The id of a memory or turn, or its last eight characters.
        """
    def unpin(self, id: str) -> DecidedIds:
        """End the pins on it.

        id: The id of a memory or turn, or its last eight characters.
        """
    def update(self, id: str, text: str) -> ReplacedMemory:
        """Replace a memory by a new text, or by another memory, or say that it holds.

        A new TEXT is captured, and the memory is kept as the earlier value. Only a source with at least the
        trust of the memory's source can replace it. A text that says the same in other words becomes a
        further wording of the memory. What is replaced is marked, stands below the other, and leaves the
        start context.

        id: The id of a memory or turn, or its last eight characters.
        text: What is so now.
        """
    def say_replaced(self, id: str, by: str) -> DecidedIds:
        """Say which memory holds instead.

        id: The id of a memory or turn, or its last eight characters.
        by: The id of the memory that holds instead.
        """
    def say_holds(self, id: str, undo: bool = False) -> DecidedIds:
        """It holds, whatever was said later: no rule replaces it from now on.

        id: The id of a memory or turn, or its last eight characters.
        undo: With --holds: take back what was said of it; the texts decide again.
        """
    def unfold(self, id: str, only: bool = False) -> DecidedIds:
        """Its captures should not be one memory: split them for good.

        id: The id of a memory or turn, or its last eight characters.
        only: With --unfold: let this capture alone stand apart.
        """
    def conflicts(self, settled: bool = False) -> ConflictList:
        """List what waits for you: contradictions and rules; and say which side of a contradiction holds.

        A conflict is a pair of memories with different values of one thing; until it is settled, both are
        found as before. The side that is not kept is replaced: it is marked, ranks below the other and leaves
        the start context. Settling again overrules. A rule waits that was said for all projects ("In all my
        projects, use tabs.") or stands in pasted text. A rule for all projects holds in its own project
        either way; one that may be pasted is taken by its id alone. Only people settle: --origin user at a
        terminal. --stale lists a preference after a year, a technical fact after 6 months, a goal after 3
        months, a fact of the moment after 3 weeks; capturing its text again confirms a memory.

        settled: Also what was settled or has expired.
        """
    def settle(
        self, conflict: str, keep: Literal["A", "B", "both"], note: str | None = None
    ) -> ConflictOutcome:
        """Say which side of a contradiction holds.

        conflict: The id of a conflict, or its last eight characters.
        keep: Which side holds, as listed.
        note: Why, for whoever looks later.
        """
    def accept(self, ids: Sequence[str] = (), every: bool = False) -> list[Proposal]:
        """Take the named rules, with --all every one that waits and is no paste.

        ids: The ids of rules.
        every: All rules that wait; alone, list what is settled too.
        """
    def decline(self, ids: Sequence[str] = (), every: bool = False) -> list[Proposal]:
        """Decline the named rules for good, with --all every one that waits.

        ids: The ids of rules.
        every: All rules that wait; alone, list what is settled too.
        """
    def proposals(self) -> list[tuple[Proposal, Answered]]:
        """List the rules that were proposed, each with its answer."""
    def orders(self) -> list[Order]:
        """List the orders about memory, as "never mention X again"."""
    def stale(self, limit: int = 10) -> list[MemoryRow]:
        """List what was neither said nor used for long, the most used first.

        limit: The most that are listed.
        """

def tables(home: str | os.PathLike[str] | None = None) -> list[TableFolder]: ...
def _first_settings(home: Home) -> Settings: ...
