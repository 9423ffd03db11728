"""Events to bytes and back: what is written is read as it was; what may not stand on a log is refused.

The strategies here reach every field of every type. `tests/test_golden.py` has the bytes that never change.
"""

from __future__ import annotations

import json
import random
import re
import struct
from collections import Counter
from typing import Any, get_args
from uuid import UUID

import msgspec
import orjson
import pytest
from builders import MINUTE, START, captured, edited, forgotten, make_id, page_link, recalled
from hypothesis import given
from hypothesis import strategies as st
from json_schemas import json_schemas
from msgspec import inspect
from msgspec.structs import replace
from tables import table

from memtape.schemas import codec
from memtape.schemas import events as ev
from memtape.schemas.codec import canonical, content_digest, decode, encode
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import EVENT_TYPES, Body, Captured, Decided, Embedded, Event, version_of
from memtape.schemas.ids import ID_PATTERN, is_slug
from memtape.schemas.scopes import SCOPE_PATTERN
from memtape.schemas.settings import Settings
from memtape.schemas.times import MAX_TIME_US, MIN_TIME_US

LONG = 2**63 - 1


def texts(low: int = 0, high: int | None = None) -> st.SearchStrategy[str]:
    """Any text that UTF-8 can hold, but for NUL, which is refused everywhere."""
    return st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=low, max_size=high)


def some(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def as_id(number: int) -> str:
    """Of any 128 bits the id of version 7 or 8 that shares most of them."""
    version = 7 + (number & 1)
    return str(UUID(int=number & ~(0xF << 76) & ~(0x3 << 62) | version << 76 | 0x2 << 62))


ids = st.integers(0, 2**128 - 1).map(as_id)
counts = st.integers(0, LONG)
slugs = st.from_regex(r"[a-z0-9_-]{1,80}(/[a-z0-9_-]{1,80})?", fullmatch=True).filter(is_slug)


def values_of(type: Any, name: str = "") -> st.SearchStrategy[Any]:
    """Any value that the declaration of a type allows, as of a field of that name; tuples of a few."""
    match type:
        case inspect.NoneType():
            return st.none()
        case inspect.BytesType():
            return st.binary()
        case inspect.BoolType():
            return st.booleans()
        case inspect.IntType(ge=least, le=most, lt=end):
            highest = most if most is not None else LONG if end is None else end - 1
            return st.integers(-LONG if least is None else least, highest)
        case inspect.StrType(pattern=None, min_length=least, max_length=most):
            return slugs if name == "slug" else texts(least or 0, most)
        case inspect.StrType(pattern=pattern):
            ascii = st.characters(codec="ascii")
            return ids if pattern == ID_PATTERN else st.from_regex(str(pattern), alphabet=ascii)
        case inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case inspect.UnionType(types=types):
            return st.one_of(values_of(one, name) for one in types)
        case inspect.VarTupleType(item_type=item, min_length=least, max_length=most):
            return st.lists(values_of(item), min_size=least or 0, max_size=min(4, most or 4)).map(tuple)
        case inspect.DictType(key_type=key, value_type=value):
            return st.dictionaries(values_of(key), values_of(value), max_size=3)
        case inspect.StructType(cls=cls, fields=fields):
            return st.builds(cls, **{field.name: values_of(field.type, field.name) for field in fields})
    raise AssertionError(type)


def body_of(type: type[Body], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Any body of a type, with these strategies for some of its fields."""
    declared = {field.name: values_of(field.type, field.name) for field in inspect.type_info(type).fields}
    return st.builds(type, **declared | fields)


def embedded(vector: list[int], reason: str | None) -> Embedded:
    """A text's vector, or where there is a reason none."""
    size = len(vector)
    data = None if reason else struct.pack(f"<{size}h", *vector)
    return Embedded(attempt=1, dimensions=size, embedder=f"m@r/{size}", reason=reason, vector=data)


relations = st.sampled_from(("child", "related", "odd_one"))


@st.composite
def decisions(draw: st.DrawFn) -> Decided:
    """What was decided of some inputs, why an attempt failed, or the end of a pass."""
    named = draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    inputs, attempt = tuple(ev.Input(id=id, seq=draw(counts)) for id in named), draw(st.integers(1, 3))
    match draw(st.sampled_from(("decided", "failed", "ended"))):
        case "failed":
            why = draw(texts(1, 100))
            return Decided(attempt=attempt, inputs=inputs, operations=(), reason=why, until=None)
        case "ended":
            return Decided(attempt=attempt, inputs=(), operations=(), reason=None, until=draw(counts))
    by = draw(ids.filter(lambda id: id not in named))
    operations = [ev.Operation(by=by, ids=tuple(named[:2]), op=draw(st.sampled_from(("add", "replace"))))]
    if len(named) > 3:
        op = draw(st.sampled_from(("remove", "conflict", "outdate")))
        operations.append(ev.Operation(by=named[2], ids=tuple(named[3:]), op=op))
    chosen = tuple(operations[draw(st.integers(0, 1)) :])
    if chosen and chosen[-1].op == "outdate":
        chosen = chosen[-1:]
    sure = draw(st.one_of(st.none(), st.integers(0, 10_000)))
    body = Decided(attempt=attempt, inputs=inputs, operations=chosen, reason=None, until=None)
    return msgspec.structs.replace(body, certainty=sure)


parts = st.integers(1, 10**6).flatmap(lambda n: st.builds(ev.Part, st.just(n), st.integers(0, n - 1)))
OWN_STRATEGIES: dict[str, st.SearchStrategy[Any]] = {
    "captured": body_of(Captured, part=some(parts)).filter(lambda it: bool(it.media or it.text.strip())),
    "decided": decisions(),
    "linked": st.one_of(
        body_of(ev.Linked, relation=st.just("holds"), slug=st.none(), to=st.none()),
        body_of(ev.Linked, relation=st.just("replaced_by"), slug=st.none(), to=ids),
        body_of(ev.Linked, relation=relations, slug=st.none(), to=ids),
        body_of(ev.Linked, relation=relations, slug=slugs, to=st.none()),
    ),
    "settled": st.lists(ids, min_size=2, max_size=2, unique=True).flatmap(
        lambda it: body_of(ev.Settled, ids=st.just(tuple(it)), keep=st.sampled_from((tuple(it), (it[1],))))
    ),
    "embedded": st.one_of(
        st.builds(embedded, st.lists(st.integers(-900, 900), min_size=1, max_size=20).filter(any), st.none()),
        st.builds(embedded, st.just([0]), texts(1, 50)),
    ),
}
"""Of types whose fields depend on each other."""
BODY_STRATEGIES = {name: body_of(it.body) for name, it in EVENT_TYPES.items()} | OWN_STRATEGIES


@st.composite
def events(draw: st.DrawFn, types: tuple[str, ...] = tuple(EVENT_TYPES), blank: bool = True) -> Event:
    """Any event that may stand on a log; with `blank`, now and then one that was erased."""
    type = draw(st.sampled_from(types))
    body: Body | None = draw(BODY_STRATEGIES[type])
    id = ev.tick_id(body) if isinstance(body, ev.Ticked) else draw(ids)
    if blank and EVENT_TYPES[type].can_be_blank and draw(st.integers(0, 9)) == 0:
        body = None
    sent = draw(st.integers(0, MAX_TIME_US))
    return Event(
        actor=ev.Actor(name=draw(texts(1, 200)), origin=draw(st.sampled_from(get_args(ev.Origin)))),
        at=draw(st.integers(MIN_TIME_US, min(MAX_TIME_US, sent + ev.MAX_AT_LEAD_US))), body=body, id=id,
        refs=(draw(ids),) if type == "embedded" else draw(st.lists(ids, max_size=20).map(tuple)),
        scope=None if not EVENT_TYPES[type].has_scope else draw(st.from_regex(SCOPE_PATTERN)), sent=sent,
        session=draw(some(texts(1, 200))), type=type, v=version_of(type),
    )  # fmt: skip


@given(events())
def test_what_is_written_is_canonical_and_read_as_it_was(event: Event) -> None:
    payload = encode(event)
    assert decode(payload) == event
    assert payload == orjson.dumps(orjson.loads(payload), option=orjson.OPT_SORT_KEYS)
    # Python's own JSON, asked for the same, is of the same opinion.
    said = json.dumps(json.loads(payload), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert payload == said.encode()


@given(events(), st.randoms(use_true_random=False), st.booleans())
def test_every_order_of_keys_and_every_escape_is_read(event: Event, rng: random.Random, ascii: bool) -> None:
    """Other producers have libraries of their own, that sort, space and escape as they like."""

    def shuffled(value: Any) -> Any:
        if isinstance(value, list):
            return [shuffled(inner) for inner in value]
        if isinstance(value, dict):
            return {key: shuffled(value[key]) for key in rng.sample(sorted(value), len(value))}
        return value

    payload = encode(event)
    indent = rng.choice([None, 2])
    other = json.dumps(shuffled(json.loads(payload)), indent=indent, ensure_ascii=ascii).encode()
    assert decode(other) == event and encode(decode(other)) == payload


@given(st.data())
def test_all_but_the_time_of_sending_is_part_of_the_content(data: st.DataObject) -> None:
    """The same import run twice is a repetition, although its events were sent at different times."""
    sent = data.draw(events())
    assert content_digest(replace(sent, sent=data.draw(st.integers(0, MAX_TIME_US)))) == content_digest(sent)
    event = data.draw(events(blank=False))
    other = data.draw(events(types=(event.type,), blank=False))
    for field in ("actor", "at", "body", "id", "refs", "scope", "session"):
        changed = replace(event, **{field: getattr(other, field)})
        assert (content_digest(changed) == content_digest(event)) is (changed == event)


TURN = captured("A secret text.", actor="Secret Ada", session="secret-session", source="secret:source",
                path="secret/path", branch="secret-branch", tags=("secret-tag",), importance_given=7,
                scope="project:secret")  # fmt: skip
RECALL = recalled(["a", "b"], "r", query="A secret query?", scope="project:secret", session="secret-session")
TOMBSTONE = forgotten(["a"], "f", scope="project:secret")
EDIT = edited("a", "v", title="A secret title", scope="project:secret")
LINK = page_link("a", "child", "l", "b", scope="project:secret")
TICK = ev.make_tick(3, START)
SETTINGS = ev.make_configured(make_id("log"), 16, Settings(), 0, START, make_id("log"))


def put(event: Event, path: str, raw: str | bytes) -> bytes:
    """Return the payload of `event` with these bytes as the value at `path`; with none, without that key."""
    parsed = inside = orjson.loads(encode(event))
    *outer, key = path.split(".")
    for name in outer:
        inside = inside[name]
    inside[key] = "@"
    if not raw:
        del inside[key]
    return orjson.dumps(parsed).replace(b'"@"', raw.encode() if isinstance(raw, str) else raw)


ID = TURN.id
OF = {"turn": TURN, "recall": RECALL, "tombstone": TOMBSTONE, "edit": EDIT, "link": LINK, "tick": TICK,
      "settings": SETTINGS}  # fmt: skip


def written_out(raw: str) -> str:
    """Return a value of `data/payloads.toml` in full."""
    return re.sub(r"@(\d+)\*(.+?)@", lambda run: run[2] * int(run[1]), raw).replace("@ID@", ID)


CASES = table("payloads")
PAYLOADS: list[tuple[str, bytes, str]] = [
    *((name, put(OF[of], at, written_out(raw)), why) for name, of, at, raw, why in CASES["cases"]),
    ("nothing", b"", "not_json"),
    ("half an event", encode(TURN)[:-40], "not_json"),
    ("a byte order mark", b"\xef\xbb\xbf" + encode(TURN), "not_json"),
    ("invalid UTF-8", put(TURN, "body.text", b'"secret \xff"'), "not_json"),
    ("100,000 brackets", b"[" * 100_000 + b"]" * 100_000, "not_json"),
    ("an empty object", b"{}", "invalid at $"),
    ("10,001 refs", put(TOMBSTONE, "refs", orjson.dumps([ID] * 10_001)), "invalid at $.refs"),
    ("10,000 refs", put(TOMBSTONE, "refs", orjson.dumps([ID] * 10_000)), ""),
    ("white space around", b"\n\t " + encode(TURN) + b" \r\n", ""),
]
"""What each is, its bytes, and the whole reason of its refusal, the code and the place; else it is read."""


@pytest.mark.parametrize(("payload", "reason"), [pytest.param(*row, id=name) for name, *row in PAYLOADS])
def test_bytes_are_read_or_refused_with_a_code_and_a_place(payload: bytes, reason: str) -> None:
    if not reason:
        assert decode(encode(decode(payload))) == decode(payload)
        return
    with pytest.raises(InvalidEvent) as refusal:
        decode(payload)
    assert refusal.value.reason == reason
    assert "\n" not in str(refusal.value).strip() and str(refusal.value).endswith(".")


STRUCTS = [struct for schema in json_schemas().values() for struct in schema["$defs"].values()]
FIELDS = {name for struct in STRUCTS for name in struct["properties"]}
PLACE = rf"\$(\.({'|'.join(sorted(FIELDS))})|\[\d+\])*"
REASON = re.compile(rf"(not_json|unknown_type|newer_version|oversized|invalid)( at {PLACE})?\Z")

json_texts = st.text(st.characters(codec="utf-8"))
json_leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | json_texts
json_leaves |= st.floats(allow_nan=False, allow_infinity=False)
json_leaves |= st.sampled_from(["a" * 65_537, "$secret", "` - at `$.secret`", ID, ID.upper(), "global"])
json_values = st.recursive(json_leaves, lambda inner: st.lists(inner, max_size=3)
                           | st.dictionaries(json_texts, inner, max_size=3), max_leaves=6)  # fmt: skip


@st.composite
def spoilt(draw: st.DrawFn) -> tuple[Event, dict[str, Any]]:
    """An event with something else in one field, and the object that another producer would write for it."""
    event, wrong = draw(events()), draw(json_values)
    parsed = msgspec.to_builtins(event)
    if event.body is not None and draw(st.booleans()):
        field = draw(st.sampled_from(sorted(parsed["body"])))
        parsed["body"][field] = wrong
        return replace(event, body=replace(event.body, **{field: wrong})), parsed
    field = draw(st.sampled_from(sorted(parsed)))
    parsed[field] = wrong
    return replace(event, **{field: wrong}), parsed


def outcome(function: Any, value: Any) -> str:
    try:
        function(value)
    except InvalidEvent as error:
        return error.reason
    return "accepted"


strange_keys = json_texts | st.sampled_from(["$secret", "$.secret", "` - at `$.secret"])


@given(spoilt() | events().map(lambda event: (event, msgspec.to_builtins(event))),
       st.sampled_from(["", "actor", "body"]), strange_keys)  # fmt: skip
def test_a_reason_tells_nothing_said(pair: tuple[Event, dict[str, Any]], inside: str, key: str) -> None:
    """Reasons are kept in dead letters, which outlive an erased payload."""
    if isinstance((parsed := pair[1]).get(inside), dict):
        parsed[inside][key] = None
    reason = outcome(decode, orjson.dumps(parsed))
    assert reason == "accepted" or REASON.match(reason)


@given(spoilt())
def test_the_door_refuses_what_a_reader_refuses(pair: tuple[Event, dict[str, Any]]) -> None:
    event, parsed = pair
    assert outcome(encode, event) == outcome(decode, orjson.dumps(parsed))


PIECES = (
    b"null", b"1.0", b"1e3", b"-0", b"01", b"NaN", b'"', b",", b"{}", b"[]", b" ", b"\n", b"\x01", b"\xff",
    b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\\n", b"\\x", b"\\ud800", b"/**/", b'"v":1,', b'"kind":"fact",',
    b'"at":5,',
)  # fmt: skip


def test_a_capture_is_read_in_one_step_as_in_two() -> None:
    """A capture is decoded by its own type at once, any other event step by step."""
    rng, whole, outcomes = random.Random(7), encode(TURN), Counter[str]()
    for _ in range(4_000):
        at, cut = rng.randrange(len(whole)), rng.choice((0, 0, 1, 4))
        payload = whole[:at] + rng.choice(PIECES) + whole[at + cut :]
        told = [outcome(function, payload) for function in (decode, codec._decode_any)]
        assert told[0] == told[1], payload
        outcomes[told[0]] += 1
        if told[0] == "accepted":
            assert decode(payload) == codec._decode_any(payload)
    assert min(outcomes["accepted"], outcomes["not_json"]) > 200


def said(event: Event, **wrong: Any) -> Event:
    """Return the event with something else in its body, which nothing has checked yet."""
    return replace(event, body=replace(event.body, **wrong))


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        pytest.param(said(TURN, text="secret \ud800"), "invalid", id="a lone surrogate"),
        pytest.param(said(TURN, text="secret" * 2_000_000), "oversized at $.body.text", id="12 MB of text"),
        pytest.param(said(TURN, importance_given=2**64), "invalid", id="an integer beyond 64 bits"),
        pytest.param(replace(TURN, at=START + 6 * MINUTE), "invalid at $.at", id="at 6 minutes after sent"),
        pytest.param(replace(TURN, at=2**62), "invalid at $.at", id="at beyond all calendars"),
        pytest.param(replace(TURN, at="now"), "invalid at $.at", id="at in words"),
        pytest.param(replace(TICK, scope="project:secret"), "invalid at $.scope", id="a tick with a scope"),
    ],
)
def test_the_door_names_what_it_refuses(event: Event, reason: str) -> None:
    assert outcome(encode, event) == reason


def with_text(old: dict[str, Any]) -> dict[str, Any]:
    """Version 2 calls a text what version 1 called a content."""
    return {**old, "body": {"text" if key == "content" else key: it for key, it in old["body"].items()}}


def with_language(old: dict[str, Any]) -> dict[str, Any]:
    """Version 3 says the language of a text as a tag, which was English before that."""
    return {**old, "body": {**old["body"], "tags": [*old["body"]["tags"], "lang:en"]}}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_old_version_is_lifted_one_step_at_a_time(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ev.UPCASTS, "captured", (with_text, with_language))
    old = {**orjson.loads(canonical(TURN)), "v": version}
    if version == 1:
        old["body"]["content"] = old["body"].pop("text")
    if version == 3:
        old = with_language(old)
    assert isinstance(TURN.body, Captured)
    tagged = replace(TURN.body, tags=(*TURN.body.tags, "lang:en"))
    assert decode(orjson.dumps(old)) == replace(TURN, body=tagged, v=3)
