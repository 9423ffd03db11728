"""What the golden log says of pages, deep searches, and talk that leaves things open. No test runs it."""

from __future__ import annotations

from typing import Any

import msgspec
from golden_every_type import erase
from golden_maker import SCOPES, Maker

from memtape.schemas.events import Edited, Forgotten, Linked, Restored, Traced, Used, Withdrawn, refs_of_edit
from memtape.schemas.slugs import root_id
from memtape.schemas.times import DAY_US


def say_pages(m: Maker) -> None:
    """Pages that are written, moved, hidden and erased, versions that stand side by side, and links of every kind."""
    scope = SCOPES[4]
    root = root_id(scope)

    def page(text: str, slug: str | None, **fields: Any) -> str:
        return m.say(m.captured(scope, text, "page", path=slug, **fields))

    def edit(id: str, origin: str = "user", **given: Any) -> str:
        body = msgspec.convert(dict.fromkeys(Edited.__struct_fields__) | {"id": id} | given, Edited)
        return m.say(m.event("edited", scope, body, origin=origin, refs=refs_of_edit(body)))

    def link(id: str, relation: str, to: str | None = None, slug: str | None = None, on: bool = True,
             origin: str = "user") -> str:  # fmt: skip
        body = Linked(id=id, on=on, relation=relation, slug=slug, to=to)
        return m.say(m.event("linked", scope, body, origin=origin))

    lamp = page("# The lamp\n\nIt turns once in ten seconds. A keeper winds it.", "lamp")
    link(root, "child", slug="lamp")
    link(root, "child", slug="fog/horn")
    link(lamp, "related", slug="fog/horn")
    horn = page("The horn sounds for 2 seconds.\n\n## Größe\n\n40 cm", "fog/horn")
    second = page("The horn sounds for 3 seconds.", "fog/horn", at=m.now - DAY_US)
    hints = ["When does the horn sound?", "fog"]
    edit(horn, title="The fog horn", hints=hints, refs=["docs/horn.md", lamp], base=second)
    third = page("The horn sounds for 4 seconds.", None)
    edit(horn, by=third, base=horn)
    edit(horn, "agent", by=page("It should sound for 5.", "fog/horn", origin="agent"), base=third, title="Its horn")
    stairs = page("There are 120 stairs.", None)
    edit(stairs, slug="fog/horn")
    edit(stairs, slug="tower/stairs", summary="How many stairs there are.", rest="aliases: [Treppe]\nlang: de")
    edit(lamp, slug="tower/lamp")
    for relation in ("depends_on", "part_of", "supersedes", "contradicts", "lights"):
        link(lamp, relation, stairs)
    link(stairs, "child", lamp)
    link(lamp, "child", stairs)
    link(lamp, "child", lamp)
    link(lamp, "contradicts", stairs, on=False)
    link(lamp, "lights", stairs, on=False, origin="agent")
    link(lamp, "part_of", m.id("nobody"))
    gone = page("The boat is blue.", "boat")
    link(root, "child", gone)
    m.say(m.event("forgotten", scope, Forgotten(ids=(gone,), reason=None)))
    edit(page("A ferry comes at noon.", None), slug="boat")
    m.say(m.event("restored", scope, Restored(ids=(gone,), reason=None)))
    newer = page("There are 121 stairs.", "tower/stairs")
    m.say(m.event("withdrawn", scope, Withdrawn(ids=(newer,), on=True)))
    secret = page("Nobody reads this page.", "secret")
    edit(secret, title="Nor this", base=secret)
    link(secret, "child", horn)
    erase(m, [secret], scope)
    for day in range(8):
        page(f"The tide of day {day} comes at {day + 6}.", "tides" if day % 4 else "tides/old")
    edit(root, by=page("All that is known of the lighthouse.", None), title="The lighthouse")


def say_talk(m: Maker) -> None:
    """Searches that look more than once, and turns that ask, promise and name people."""
    scope = SCOPES[4]
    facts = [m.say(m.captured(scope, text)) for text in ("Bo keeps the boats.", "Ida keeps the lamp.", "Rolf left.")]
    steps = [_step(1, "scouts", facts[:2]), _step(1, "gate", ()), _step(2, "scouts", facts[2:])]
    late = [_step(2, "filter", (), "late"), _step(3, "walk", (m.id("nobody"),))]
    shown = m.say(m.recalled(scope, facts, "s4", trace=(*steps, *late), origin="agent"))
    m.say(m.event("used", scope, Used(ids=tuple(facts[1:]), recall=shown), session="s4", origin="agent"))
    m.say(m.recalled(scope, facts[::-1], "s4", trace=(_step(1, "scouts", facts), _step(2, "edges", ()))))
    says = [
        ("user", "Ada", "Which lamp does Ida keep?"),
        ("agent", "claude", "I don't know. I will ask Ida tomorrow."),
        ("user", "Ada", "TODO: paint the tower. Rolf Hansen said that the tower needs paint."),
        ("user", "Rolf Hansen", "I'll bring the paint on Friday."),
        ("user", "Ada", "Always lock the gate. Rolf Hansen has the key, and Rolf Hansen opens it."),
        ("agent", "codex", "Should the gate be open at noon?"),
    ]
    for origin, actor, text in says:
        m.say(m.captured(scope, text, "turn", origin=origin, actor=actor, session="s4"))


def _step(look: int, step: Any, ids: Any, failure: Any = "") -> Traced:
    return Traced(
        by="rules",
        cost=0,
        failure=failure,
        given=len(ids),
        ids=tuple(ids),
        kept=len(ids),
        look=look,
        query="who keeps the lamp" if step == "scouts" else "",
        step=step,
        took_us=1_000,
    )
