"""What pages are, kept by the plainest means there are, for the model of the whole and for the tests of pages."""

from __future__ import annotations

from typing import Any

from memtape.schemas.ids import is_slug, root_id

TRUST = ("model", "web", "tool", "agent", "user", "operator")
FIELDS = ("title", "summary", "hints", "refs", "rest")
Event = dict[str, Any]


class Pages:
    """Pages kept by the plainest means: lists that are gone through from the start for each question."""

    def __init__(self, scope: str) -> None:
        self.root = root_id(scope)
        self.captures: dict[str, Event] = {}
        self.dead: list[str] = []
        self.withdrawn: list[str] = []
        self.pages: list[dict[str, Any]] = []

    def take(self, event: Event) -> None:
        """Take in an event."""
        body, trust = event["body"] or {}, TRUST.index(event["origin"])
        match event["type"]:
            case "captured" if body:
                self.captures[event["id"]] = event
                if self.is_page(event["id"]) and body["path"] and is_slug(body["path"]):
                    there = self.at(body["path"])
                    if there is None:
                        self.place(self.page(event["id"]), body["path"], trust)
                    else:
                        there["steps"].append((event["id"], None, trust))
            case "forgotten" if body:
                self.dead += body["ids"]
            case "restored" if body:
                self.dead = [id for id in self.dead if id not in body["ids"]]
                self.withdrawn = [id for id in self.withdrawn if id not in body["ids"]]
            case "withdrawn" if body:
                self.withdrawn = [id for id in self.withdrawn if id not in body["ids"]]
                self.withdrawn += [id for id in body["ids"] if body["on"] and id in self.captures]
            case "edited" if body and self.is_page(body["id"]):
                self.edit(self.page(body["id"]), body, trust)
            case "linked" if body and body["relation"] not in ("holds", "replaced_by") and self.is_page(body["id"]):
                self.link(body, trust)

    def hides(self, id: str) -> bool:
        """Whether a capture is a version of a page that is not shown."""
        page = self.owner(id)
        if page is None or id not in [step[0] for step in page["steps"]]:
            return False
        current, beside = self.standing(page)
        return id != current and id not in beside

    def edit(self, page: dict[str, Any], body: dict[str, Any], trust: int) -> None:
        if body["slug"] is not None and trust >= page["given"].get("slug", (None, 0))[1]:
            self.place(page, body["slug"], trust)
        for name in FIELDS:
            value = body[name]
            if value is not None and trust >= page["given"].get(name, (None, 0))[1]:
                page["given"][name] = (value, trust)
        versions = [id for id, _, _ in page["steps"]]
        base = body["base"] if body["base"] in versions else None
        by = self.captures.get(body["by"] or "")
        if body["by"] is not None:
            owner = self.owner(body["by"])
            if by is None or not self.is_page(body["by"]) or owner not in (None, page):
                return
            last = page["steps"][-1] if page["steps"] else (None, None, 0)
            if last[0] == body["by"] and last[1] is None and base is not None and trust >= last[2]:
                page["steps"].pop()
            page["steps"].append((body["by"], base, trust))
        elif base is not None and base == self.standing(page)[0]:
            page["steps"].append((base, base, trust))

    def link(self, body: dict[str, Any], trust: int) -> None:
        if body["to"] is not None and not self.is_page(body["to"]):
            return
        if not body["on"] and self.owner(body["id"]) is None:
            return
        target = self.at(body["slug"]) if body["slug"] is not None else None
        if body["to"] is not None:
            target = self.page(body["to"]) if body["on"] else self.owner(body["to"])
            if target is None:
                return
        source = self.page(body["id"])
        end = body["slug"] if target is None else target["id"]
        same = [link for link in source["links"] if link[:2] == [body["relation"], end]]
        if body["on"] and same:
            same[0][2] = max(same[0][2], trust)
        elif body["on"]:
            source["links"].append([body["relation"], end, trust])
        else:
            source["links"] = [link for link in source["links"] if link not in same or link[2] > trust]

    def place(self, page: dict[str, Any], slug: str, trust: int) -> None:
        there = self.at(slug)
        if page["id"] == self.root or (there not in (None, page) and self.lives(there)):
            return
        if there is not None and there is not page:
            del there["given"]["slug"]
        page["given"]["slug"] = (slug, trust)
        for source in self.pages:
            links: list[list[Any]] = []
            for relation, end, how in source["links"]:
                at = page["id"] if end == slug else end
                same = [link for link in links if link[:2] == [relation, at]]
                # A link that leads there already stays where it stands.
                if same or (end == slug and [relation, at] in [link[:2] for link in source["links"]]):
                    for link in (*same, *source["links"]):
                        if link[:2] == [relation, at]:
                            link[2] = max(link[2], how)
                    continue
                links.append([relation, at, how])
            source["links"] = links

    def standing(self, page: dict[str, Any]) -> tuple[str | None, list[str]]:
        current, trust, beside = None, 0, list[str]()
        living = [id for id, _, _ in page["steps"] if id not in self.dead and id not in self.withdrawn]
        for id, base, how in page["steps"]:
            if id not in living:
                continue
            base = base if base in living else None
            if id == current:
                if how >= trust:
                    trust, beside = how, [] if base == current else beside
                continue
            beside = [it for it in beside if it not in (id, base)] if current is not None else []
            if current is not None and how < trust:
                beside.append(id)
                continue
            if base == current:
                beside = []
            elif base is not None and current is not None:
                beside.append(current)
            current, trust = id, how
        return current, beside

    def lives(self, page: dict[str, Any]) -> bool:
        return page["id"] == self.root or self.standing(page)[0] is not None

    def at(self, slug: str) -> dict[str, Any] | None:
        return next((page for page in self.pages if page["given"].get("slug", ("",))[0] == slug), None)

    def owner(self, id: str) -> dict[str, Any] | None:
        return next(
            (page for page in self.pages if id in [step[0] for step in page["steps"]] or id == page["id"]), None
        )

    def is_page(self, id: str) -> bool:
        said = self.captures.get(id, {"body": {"kind": "", "part": None}})["body"]
        return id == self.root or (said["kind"] == "page" and (not said["part"] or said["part"]["count"] == 1))

    def page(self, id: str) -> dict[str, Any]:
        found = self.owner(id)
        if found is None:
            found = {"id": id, "steps": [], "given": {}, "links": []}
            if id != self.root:
                found["steps"] = [(id, None, TRUST.index(self.captures[id]["origin"]))]
            self.pages.append(found)
        return found

    def told(self) -> dict[str, Any]:
        """All that is shown of each page that lives."""
        found = {}
        for page in self.pages:
            if not self.lives(page) or page["id"] == self.root:
                continue
            current, beside = self.standing(page)
            given = {name: page["given"][name][0] for name in FIELDS if name in page["given"]}
            slug, links = page["given"].get("slug", ("",))[0], [(relation, end) for relation, end, _ in page["links"]]
            found[page["id"]] = (slug, current, beside, given, links)
        return found
