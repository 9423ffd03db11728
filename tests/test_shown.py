"""What was captured is data wherever it is shown: no Markdown parser and no terminal finds what acts."""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import captured, configured, make_id, slots
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tables import table

from memtape.schemas.events import Media
from memtape.schemas.places import LIMITS
from memtape.schemas.rows import VaultPage
from memtape.schemas.visible import one_line, visible, visible_json
from memtape.state.core.partition import Partition, fold
from memtape.state.views.markdown import escape
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import all_changes
from memtape.tools.doors.cli import main

ROOT = Path(__file__).parent.parent
SCOPE = ("--scope", "project:test")
HIDING = table("shown")
HOSTILE = HIDING["hostile"]
OWN = {
    "inline", "text", "softbreak", "paragraph_open", "paragraph_close", "blockquote_open", "blockquote_close",
    "heading_open", "heading_close", "code_inline", "strong_open", "strong_close", "bullet_list_open",
    "bullet_list_close", "list_item_open", "list_item_close", "text_special",
}  # fmt: skip
"""All that a page may be made of; links between pages are counted by themselves."""

KINDS = ("fact", "goal", "plan", "turn", "journal")
OWN_LINK = re.compile(
    rf"{'|'.join(LIMITS)}|logs/[\d-]+\.md"
    rf"|memories/\d{{3}}\.md(#\^({'|'.join(make_id(f'm{kind}') for kind in KINDS)}))?"
)
"""The links between the pages of `pages`."""

texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=30),
                  st.text("#*_[]()<>|`~!-+=:.&\\ \t\n1a/@w$%^{}", max_size=24))  # fmt: skip
pieces = st.lists(texts, min_size=1, max_size=4).flatmap(
    lambda found: st.sampled_from(["\n", " ", "\n\n", ""]).map(lambda by: by.join(found).replace("\0", ""))
)
names = texts.map(one_line).map(lambda name: name[:60]).filter(str.strip)


def parser() -> MarkdownIt:
    """CommonMark with tables, strikethrough and links that nobody marked, as GitHub has them."""
    markdown = MarkdownIt("gfm-like")
    markdown.linkify.set({"fuzzy_link": False, "fuzzy_email": True})
    return markdown


PARSER = parser()


def tokens(markdown: str) -> Iterator[Token]:
    for token in PARSER.parse(markdown):
        yield token
        yield from token.children or ()


def shown(token: Token) -> str:
    """Return what a reader sees of one inline token."""
    return "".join("\n" if child.type == "softbreak" else child.content for child in token.children or ())


def pages(text: str, name: str) -> list[VaultPage]:
    """Return the pages of a scope in which a text was said, with a name in each other place."""
    picture = Media(caption=f"c {text}"[:4_096], kind="image", uri=None)
    fields = {"tags": (name,), "source": name, "media": (picture,), "actor": name, "session": name}
    events = [captured(text, f"m{kind}", kind, **fields) for kind in KINDS]
    partition = Partition(0)
    fold(partition, slots([configured(), *events]))
    return pages_of(partition, all_changes(partition.scopes["project:test"]))


@given(pieces.filter(str.strip), names)
def test_a_page_shows_its_texts_and_makes_nothing_of_them(text: str, name: str) -> None:
    for page in pages(text, name):
        markdown = page.text
        found = list(tokens(markdown))
        links = [token.attrs["href"] for token in found if token.type == "link_open"]
        may_lead = page.path == "MEMORY.md" or page.path in LIMITS
        own = re.findall(r"(?<!\\)\]\((.*?)\)", markdown) if may_lead else []
        assert links == [link.replace("^", "%5E") for link in own]
        assert all(OWN_LINK.fullmatch(link) for link in own)
        may = OWN | ({"link_open", "link_close"} if own else set())
        assert {token.type for token in found} <= may, markdown
        after_open = itertools.pairwise(found)
        headings = [after.content for token, after in after_open if token.type == "heading_open"]
        assert len(headings) == markdown.count("\n#") + markdown.startswith("#")
        told = r"Memor|20\d\d-\d\d-\d\d|Goal|Plan|What holds|Session "
        assert page.path in LIMITS or all(re.match(told, heading) for heading in headings)
        quotes = [token for token in PARSER.parse(markdown) if token.type == "inline" and token.level > 1]
        if page.path.startswith(("memories/", "logs/")):
            seen = [line.strip() for token in quotes for line in shown(token).split("\n") if line.strip()]
            said = [line.strip() for line in visible(text).split("\n") if line.strip()]
            caption = [f"(shows: {one_line(f'c {text}'[:4_096])})"] if page.path.startswith("logs/") else []
            times = len(seen) // len(said + caption)
            assert times and seen == (said + caption) * times


@pytest.mark.parametrize("text", HOSTILE)
def test_each_hostile_text_is_shown_as_it_is(text: str) -> None:
    for line in visible(text).split("\n"):
        parsed = PARSER.parse(f"> {escape(line)}")
        blocks = {f"{block}_{end}" for block in ("blockquote", "paragraph") for end in ("open", "close")}
        assert {token.type for token in parsed} <= {*blocks, "inline"}
        seen = [shown(token).strip() for token in parsed if token.type == "inline"]
        assert seen == [line.strip()] * bool(line.strip())
    quoted = "\n".join(f"> {escape(line)}".rstrip() for line in visible(text).split("\n"))
    assert {token.type for token in tokens(quoted)} <= OWN


@given(st.text(max_size=40))
def test_no_page_can_begin_with_front_matter_or_hold_a_field(text: str) -> None:
    line = escape(one_line(text))
    assert not line.startswith(("---", "+++")) and "::" not in line and "%%" not in line


def test_indentation_is_kept_without_making_code() -> None:
    text = "def f():\n    return 1\n\n    # not a heading\n\tx"
    quoted = "\n".join(f"> {escape(line)}".rstrip() for line in text.split("\n"))
    inline = [token for token in PARSER.parse(quoted) if token.type == "inline"]
    assert [shown(token) for token in inline] == ["def f():\n    return 1", "    # not a heading\n\tx"]


@given(st.text() | st.text("\u200c\u200d\ufe0f\u200b\u4e2d❤a👩1\u202e", max_size=12))
def test_visible_text_is_stable_and_its_json_is_exact(text: str) -> None:
    once = visible(text)
    assert visible(once) == once
    document = json.dumps({"said": text}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if not re.search("[\ud800-\udfff]", text):
        written = visible_json(document)
        assert json.loads(written) == {"said": text}
        assert visible(written.decode()) == written.decode()


def test_bits_that_hide_in_joiners_are_shown_and_emoji_stay() -> None:
    for text in HIDING["joined"]:
        assert "<U+" in visible(text)
    for emoji in HIDING["emoji"]:
        assert visible(emoji) == emoji


def test_no_command_prints_but_by_the_one_function() -> None:
    """What a command prints passes `say` or `print_json`, so that no capture acts on a terminal.

    A whole document goes out byte for byte, where no terminal reads it.
    """
    prints = re.compile(
        r"click\.s?echo\(|print\(|sys\.std(out|err)\.(?!(buffer\.)?write\(visible(_json)?\(|flush|isatty|file)"
    )
    files = [path for path in (ROOT / "tools").rglob("*.py") if path.name not in ("terminal.py", "cli.py")]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text()))]
    calls = [ast.unparse(node) for node in nodes if isinstance(node, ast.Call)]
    printing = [call for call in calls if prints.match(call)]
    assert len(files) > 120
    assert printing == ["sys.stdout.buffer.write(document.text.encode())", "sys.stdout.buffer.flush()"]


EVIL = "\x1b[31mred\x1b]0;title\x07 \u202eabc \x9b2J \u200b\U000e0041 end"


def test_no_command_lets_a_text_act_on_the_terminal(tmp_path: Path) -> None:
    def call(*words: str) -> str:
        env = {"MEMTAPE_HOME": str(tmp_path / "h"), "MEMTAPE_SESSION": ""}
        done = CliRunner().invoke(main, [*words, *SCOPE], env=env)
        acting = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\U000e0000-\U000e007f]"
        assert not re.search(acting, done.stdout + done.stderr), (words, done.output)
        return done.stdout

    fields = (it for name in ("tag", "source", "actor", "session") for it in (f"--{name}", EVIL))
    receipt = json.loads(call("capture", f"One {EVIL}", *fields, "--json"))
    id = receipt["id"]
    reading = ("search One", f"show {id}", f"show {id} --why", "log --limit 9", "admin diff 1d 0s")
    for words in map(str.split, reading):
        assert "<U+001B>" in call(*words), words
        call(*words, "--json")
    opened = json.loads(call("show", receipt["id"], "--json"))
    assert opened["memory"]["text"] == f"One {EVIL}" and opened["memory"]["tags"] == [EVIL]
    for words in (*((name, EVIL) for name in ("show", "search", "forget")), ("capture", "x", "--at", EVIL)):
        call(*words)
        call(*words, "--json")
    for words in ((EVIL,), ("capture", "--kind", EVIL), (f"--{EVIL}",), ("log", "--limit", EVIL)):
        call(*words)
    call("erase", id, "--dry-run")
    call("forget", id, "--reason", EVIL)
