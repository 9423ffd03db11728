"""What was captured is data wherever it is shown: neither a Markdown parser nor a terminal finds anything that acts."""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import captured, configured, slots
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memtape.schemas.events import Media
from memtape.schemas.rows import DayPage, IndexPage, MemoryPage, Page, PageLine, StandingPage
from memtape.schemas.visible import one_line, visible, visible_json
from memtape.sinks.markdown import escape
from memtape.sinks.vault import render
from memtape.state.core.partition import Partition, fold
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import all_changes
from memtape.tools.commands.cli import main

ROOT = Path(__file__).parent.parent
SCOPE = ("--scope", "project:test")
HOSTILE = [
    "[x](javascript:alert(1))", "[x][1]\n\n[1]: http://evil.example", "<script>alert(1)</script>",
    "<img src=x onerror=y>", "![](http://evil.example/p.png)", "![[note]]", "[[wiki|link]]", "---\ntitle: x\n---",
    "# h", "h\n===", "h\n---", "h\n -", "| a | b |\n|---|---|\n| 1 | 2 |", "a\n:-:", "a | b\n:- | -:",
    "```\ncode\n```", "~~~js\nx", "<https://evil.example>", "http://evil.example", "www.evil.example",
    "WWW.evil.example", "ada@evil.example", "%% hidden %%", "#tag #a/b", "text ^block", "key:: value", "[key:: value]",
    "(a::b)", "`= this.file`", "`$= dv`", "$x^2$", "==mark==", "~~gone~~", "> quote", "- a\n- b", "* a", "+ a",
    "1. a\n2) b", "- [ ] task", "    indented", "\tindented", "a\n\n     code\n", "***", "___", "a  \nb", "a\\\nb",
    "\\[x\\](y)", "&lt;b&gt; &amp; &#35;", "[^1]\n\n[^1]: note", "> [!note] x", "<!-- x", "{{template}}", "<% tp %>",
    "{#id .class}", "mailto:a@b.example", "ftp://x", "obsidian://open?vault=x", ": definition", "a\u2028# b", "a\r# b",
    "a\r\n# b", "\x1b]8;;http://e\x07", "\u202etxt", "a\u200bb", "\U000e0041", "*bold* _em_ **x**", "&nbsp;",
    "term\n: def", "[x]: http://evil.example", "\x00", "x\x0c# y",
]  # fmt: skip
OWN = {
    "inline", "text", "softbreak", "paragraph_open", "paragraph_close", "blockquote_open", "blockquote_close",
    "heading_open", "heading_close", "code_inline", "strong_open", "strong_close", "bullet_list_open",
    "bullet_list_close", "list_item_open", "list_item_close", "text_special",
}  # fmt: skip
"""All that a page may be made of; links between pages are counted by themselves."""

texts = st.one_of(
    st.sampled_from(HOSTILE), st.text(max_size=30), st.text("#*_[]()<>|`~!-+=:.&\\ \t\n1a/@w$%^{}", max_size=24)
)
pieces = st.lists(texts, min_size=1, max_size=4).flatmap(
    lambda found: st.sampled_from(["\n", " ", "\n\n", ""]).map(lambda by: by.join(found).replace("\0", ""))
)
names = texts.map(one_line).map(lambda name: name[:60]).filter(str.strip)


def parser() -> MarkdownIt:
    """CommonMark with tables, strikethrough and links that nobody marked, as GitHub has them."""
    markdown = MarkdownIt("gfm-like")
    markdown.linkify.set({"fuzzy_link": False, "fuzzy_email": True})  # type: ignore[union-attr]
    return markdown


PARSER = parser()


def tokens(markdown: str) -> Iterator[Token]:
    for token in PARSER.parse(markdown):
        yield token
        yield from token.children or ()


def shown(token: Token) -> str:
    """Return what a reader sees of one inline token."""
    return "".join("\n" if child.type == "softbreak" else child.content for child in token.children or ())


def lines_of(text: str) -> list[str]:
    """Return the lines of a text as they should be seen, without those that are blank."""
    return [line.strip() for line in visible(text).split("\n") if line.strip()]


def pages(text: str, name: str) -> list[Page]:
    """Return the pages of a scope in which a text was said and remembered, with a name in each other place."""
    picture = Media(caption=f"c {text}"[:4_096], kind="image", uri=None)
    fields = {"tags": (name,), "source": name, "media": (picture,), "actor": name, "session": name}
    events = [captured(text, f"m{kind}", kind, **fields) for kind in ("fact", "goal", "plan", "turn", "journal")]
    partition = Partition(0)
    fold(partition, slots([configured(), *events]))
    return pages_of(partition, all_changes(partition.scopes["project:test"]))


def place_of(page: StandingPage, line: PageLine) -> str:
    """Return where a line of a standing page leads."""
    block = f"#%5E{line.id}" if line.path.startswith("memories/") else ""
    return f"{'../' * page.path.count('/')}{line.path}{block}"


@given(pieces.filter(str.strip), names)
def test_a_page_shows_its_texts_and_makes_nothing_of_them(text: str, name: str) -> None:
    for page in pages(text, name):
        markdown = render(page)
        found = list(tokens(markdown))
        links = [token.attrs["href"] for token in found if token.type == "link_open"]
        own = []
        if isinstance(page, IndexPage):
            rows = [row for row in (page.goal, page.plan, *page.facts) if row is not None]
            own = [*page.standing, *(f"{page.places[row.id]}#%5E{row.id}" for row in rows)]
            own += [*page.memory_pages, *page.people, *page.day_pages]
        if isinstance(page, StandingPage):
            own = [place_of(page, line) for section in page.sections for line in page.lines if line.section == section]
        assert links == own
        assert {token.type for token in found} - OWN - ({"link_open", "link_close"} if own else set()) == set(), (
            markdown
        )
        headings = [after.content for token, after in itertools.pairwise(found) if token.type == "heading_open"]
        assert len(headings) == markdown.count("\n#") + markdown.startswith("#")
        told = r"Memor|20\d\d-\d\d-\d\d|Goal|Plan|What holds|Session "
        assert isinstance(page, StandingPage) or all(re.match(told, heading) for heading in headings)
        quotes = [token for token in PARSER.parse(markdown) if token.type == "inline" and token.level > 1]
        if isinstance(page, MemoryPage | DayPage):
            seen = [line.strip() for token in quotes for line in shown(token).split("\n") if line.strip()]
            said = lines_of(text)
            caption = [f"(shows: {one_line(f'c {text}'[:4_096])})"] if isinstance(page, DayPage) else []
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
    inline = [token for token in PARSER.parse("\n".join(f"> {escape(line)}".rstrip() for line in text.split("\n")))
              if token.type == "inline"]  # fmt: skip
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


@pytest.mark.parametrize(
    "text", ["\u4e2d\u200c\u200d\u4e2d", "a\ufe0f", "\u4e2d\u200c\u200b\u4e2d", "x\U0001bca0", "❤\ufe0f\ufe0f"]
)
def test_bits_that_hide_in_joiners_are_shown(text: str) -> None:
    assert "<U+" in visible(text)
    for emoji in ("❤\ufe0f", "1\ufe0f\u20e3", "\U0001f468\u200d\U0001f469", "❤\ufe0f\u200d\U0001f525", "©\ufe0f"):
        assert visible(emoji) == emoji


def test_no_command_prints_but_by_the_one_function() -> None:
    """What a command prints passes `say` or `print_json`, so that nothing that was captured acts on a terminal.

    A whole document goes out byte for byte, where no terminal reads it.
    """
    prints = re.compile(r"click\.s?echo\(|print\(|sys\.std(out|err)\.(?!write\(visible\(|flush|isatty|fileno)")
    files = [path for path in (ROOT / "tools").rglob("*.py") if path.name not in ("terminal.py", "cli.py")]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text()))]
    printing = [call for node in nodes if isinstance(node, ast.Call) and prints.match(call := ast.unparse(node))]
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
    for words in (
        ("search", "One"),
        ("show", id),
        ("show", id, "--why"),
        ("log", "--limit", "9"),
        ("admin", "diff", "1d", "0s"),
    ):
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
