"""What becomes of a text: given again, replaced, deleted, killed, without an embedder, asked for in the past.

Each check opens a store of its own and runs what it tells of. A check answers true, false or a count; None
where the product offers nothing, and the error where the product refused.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from itertools import count
from typing import Any, NoReturn

from bench.peers.store import NotOffered, Store, Text

NAMES = "Anna Boris Chiara Dimitri Elif Farid Greta Hiro Ines Jonas".split()
THINGS = "lantern compass teapot violin ladder kite anvil saddle telescope umbrella".split()
MARKER = "quokkazanzibar"
SOON, MANY = 20, 50
Opened = Callable[..., Store]


def texts(number: int) -> list[Text]:
    """Return so many texts that share no two of their three words."""
    made = ((n, NAMES[n % 10], THINGS[(n + n // 10) % 10]) for n in range(number))
    return [Text(f"k{n:03}", f"{name} keeps the {thing} in room {100 + n}.") for n, name, thing in made]


def measure(opened: Opened, asked: Any) -> dict[str, Any]:
    """Return the outcome of each check by its name."""
    answers: dict[str, Any] = {}
    for name, check in CHECKS.items():
        try:
            answers[name] = check(opened, asked)
        except NotOffered:
            answers[name] = None
        except Exception as error:
            answers[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
    return answers


def filled(opened: Opened, place: str, model: str = "minilm") -> Store:
    """Return a store that holds so many texts."""
    store = opened(place, model)
    store.add(texts(SOON))
    store.settle()
    return store


def again(opened: Opened, asked: Any) -> bool:
    """Whether texts that are given again, by the same keys, are found once."""
    store = filled(opened, "again")
    store.add(texts(SOON))
    store.settle()
    found = [[one.text.strip() for one in store.search(text.text, MANY)] for text in texts(5)]
    store.close()
    return all(its.count(text.text) == 1 for text, its in zip(texts(5), found, strict=True))


def replaced(opened: Opened, asked: Any) -> dict[str, int]:
    """Count cases whose current value is first, and old values that are shown without a mark.

    The texts of all cases are in one store, one after another as they were said.
    """
    counts = {"cases": 0, "first": 0, "old": 0, "unmarked": 0}
    store = opened("replaced")
    for number, case in enumerate(asked["cases"]):
        for place, said in enumerate(case["texts"]):
            store.add([Text(f"c{number:02}-{place}", said["text"])])
    store.settle()
    for case in asked["cases"]:
        found = store.search(case["question"])
        current, old = ({case["texts"][n]["text"] for n in case[name]} for name in ("current", "replaced"))
        counts["cases"] += 1
        counts["first"] += bool(found) and found[0].text.strip() in current
        counts["old"] += len(old)
        counts["unmarked"] += len({one.text.strip() for one in found if not one.is_replaced} & old)
    store.close()
    return counts


def deleted(opened: Opened, asked: Any) -> dict[str, Any]:
    """Whether a deleted text is no longer found, and whether no file has its word in clear any more."""
    store = filled(opened, "deleted")
    store.add([Text("marked", f"The password of the cellar is {MARKER}.")])
    store.settle()
    assert any(MARKER in one.text for one in store.search("password of the cellar"))
    store.delete("marked")
    gone = not any(MARKER in one.text for one in store.search(f"password of the cellar {MARKER}"))
    store.close()
    if not store.has_files:
        return {"gone": gone}
    files = [path for path in store.folder.rglob("*") if path.is_file()]
    kept = sorted(path.name for path in files if MARKER.encode() in path.read_bytes())
    return {"gone": gone, "clean": not kept, "files": kept[:3]}


def past(opened: Opened, asked: Any) -> bool:
    """Whether a search of the past shows what was there and not what came later."""
    store = filled(opened, "past")
    moment = store.moment()
    store.add([Text("later", f"The cellar is painted {MARKER}.")])
    store.settle()
    (old, *_) = texts(1)
    shown = {one.text.strip() for one in store.search_at(old.text, moment)}
    later = {one.text for one in store.search_at(f"cellar painted {MARKER}", moment)}
    now = {one.text for one in store.search(f"cellar painted {MARKER}")}
    store.close()
    return old.text in shown and not any(MARKER in text for text in later) and any(MARKER in t for t in now)


def rebuilt(opened: Opened, asked: Any) -> bool:
    """Whether what was made anew from the truth answers as before."""
    store = filled(opened, "rebuilt")
    before = [store.search(text.text) for text in texts(SOON)]
    store.rebuild()
    after = [store.search(text.text) for text in texts(SOON)]
    store.close()
    return before == after


def hashed(opened: Opened, asked: Any) -> bool:
    """Whether the product's own digest is the same after it was made anew."""
    store = filled(opened, "hashed")
    before = store.digest()
    store.rebuild()
    after = store.digest()
    store.close()
    return before == after


def unrelated(opened: Opened, asked: Any) -> dict[str, int]:
    """Count prompts about other things that are given nothing, by what is offered unasked and by a search."""
    store = opened("unrelated")
    store.add([Text(*row) for row in asked["conversation"]])
    store.settle()
    offered = sum(not store.offer(prompt) for prompt in asked["prompts"])
    searched = sum(not store.search(prompt) for prompt in asked["prompts"])
    store.close()
    return {"prompts": len(asked["prompts"]), "offered": offered, "searched": searched}


def down(opened: Opened, asked: Any) -> dict[str, Any]:
    """Whether old texts are found, and a new one is taken and found, after the endpoint was killed."""
    store = filled(opened, "down", model="hashed")
    os.kill(asked["endpoint"], signal.SIGKILL)
    (old, *_) = texts(1)
    new = Text("later", "Kemal keeps the barometer in room 999.")
    outcomes: dict[str, Any] = {}
    for name, call in (
        ("searched", lambda: old.text in {one.text.strip() for one in store.search(old.text)}),
        ("added", lambda: store.add([new]) is None),
        ("found", lambda: new.text in {one.text.strip() for one in store.search("barometer of Kemal")}),
    ):
        try:
            outcomes[name] = call()
        except Exception as error:
            outcomes[name] = type(error).__name__
    return outcomes


def write(opened: Opened, asked: Any) -> NoReturn:
    """Add one text after another, and print the number of each that was acknowledged, until killed."""
    store = opened("killed")
    for number in count():
        store.add([Text(f"n{number}", numbered(number))])
        print(number, flush=True)


def numbered(number: int) -> str:
    """Return the text of a number."""
    return f"Parcel {7_000 + number} is for {NAMES[number % 10]}."


def reopened(opened: Opened, asked: Any) -> dict[str, int]:
    """Count the acknowledged texts that another process no longer finds."""
    store = opened("killed")
    lost = 0
    for number in range(asked["acknowledged"]):
        text = numbered(number)
        lost += text not in {one.text.strip() for one in store.search(text)}
    store.close()
    return {"acknowledged": asked["acknowledged"], "lost": lost}


CHECKS: dict[str, Callable[[Opened, Any], Any]] = {
    "again": again,
    "replaced": replaced,
    "deleted": deleted,
    "past": past,
    "rebuilt": rebuilt,
    "hashed": hashed,
    "unrelated": unrelated,
    "down": down,
}
"""The check without an endpoint is last, since it ends the endpoint."""
