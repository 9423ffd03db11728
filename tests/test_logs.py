"""The contract that every log keeps, whatever it is kept on.

A log passes by a class of its own below `LogContract` that says how one is made, and nothing else.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import pytest
from builders import MINUTE, START, captured, erased, forgotten, make_id, recalled, restored
from kafka_broker import Broker
from msgspec.structs import replace
from soaked import soaked

from memtape.schemas.codec import decode, encode
from memtape.schemas.errors import InvalidEvent, OffsetOutOfRange
from memtape.schemas.events import SYSTEM, Configured, Event, make_configured, make_tick
from memtape.schemas.log import Log, Position, Slot, strayed, trail_of
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.schemas.times import HOUR_US
from memtape.sinks.logs.embedded import EmbeddedLog, MemoryLog
from memtape.sinks.logs.kafka import READ_AGAIN_S, KafkaLog

A, B = "project:a", "project:b"
SCOPES = [f"project:s{number}" for number in range(50)]
HOUR = START // HOUR_US
REFUSED = [
    ("oversized at $.body.text", captured("x" * 70_000, scope=A)),
    ("invalid at $.scope", captured("x", scope="project:../x")),
    ("invalid at $.at", captured("x", at=START + 6 * MINUTE)),
    ("invalid at $", captured("x\0")),
    ("invalid at $.actor.origin", captured("x", scope="global")),
    ("invalid at $.body", replace(captured("x"), body=None)),
    ("invalid at $.body", replace(recalled(["a"], "r"), body=None)),
    ("newer_version at $.v", replace(captured("x"), v=2)),
    ("invalid at $.sent", captured("x", at=-1, sent=-1)),
    ("invalid at $.body.partition", make_tick(16, START)),
]
"""Events that no log takes, and why; the last names a partition that a log of 16 does not have."""


def slots(log: Log, partition: int) -> list[Slot]:
    return log.read(partition, 0, 1_000_000)


def payloads(log: Log, partition: int) -> list[bytes]:
    return [slot.payload for slot in slots(log, partition)]


def events(log: Log, partition: int) -> list[Event]:
    return list(map(decode, payloads(log, partition)))


def said(found: Iterable[Event]) -> list[str]:
    """Return a line for each event: a text as it is, a tick as its hour after `START`, else the type."""
    ways = {"ticked": lambda body: f"tick {body.hour - HOUR}", "captured": lambda body: body.text}
    return [ways.get(event.type, lambda _, type=event.type: type)(event.body) for event in found]


def everything(log: Log) -> list[list[bytes]]:
    return [payloads(log, partition) for partition in range(log.partitions)]


class LogContract:
    """What a log promises. A subclass says how one is made and how another handle on it is opened."""

    def make(self, folder: Path, partitions: int = 16, settings: Settings | None = None) -> Log:
        raise NotImplementedError

    def again(self, log: Log, folder: Path) -> Log:
        raise NotImplementedError

    knows_others_ticks = True
    """Whether a handle sees that another sent an hour's tick; if not it sends it too, under the same id."""

    @pytest.fixture
    def log(self, tmp_path: Path) -> Iterable[Log]:
        log = self.make(tmp_path)
        yield log
        log.close()

    def test_a_history_is_known_by_its_last_slots_which_an_erasure_keeps(self, tmp_path: Path) -> None:
        log = self.make(tmp_path, 2)
        log.append([captured(str(number), scope=A) for number in range(9)])
        partition = partition_of(A, log.partitions)
        log.append_raw(partition, [b"no event"])
        ends = log.ends()
        trails = [trail_of(log, partition, offset) for offset in range(ends[partition] + 1)]
        assert len(set(trails)) == len(trails)
        log.blank({partition: range(2, ends[partition])})
        for each in (log, self.again(log, tmp_path)):
            assert [trail_of(each, partition, offset) for offset in range(ends[partition] + 1)] == trails
            assert not any(strayed(each, partition, offset, trail) for offset, trail in enumerate(trails))
            assert not strayed(each, partition, ends[partition], "")
            assert "ends at offset" in strayed(each, partition, ends[partition] + 1, trails[-1])
            assert "ends at offset" in strayed(each, partition, ends[partition] + 1, "")
            assert "other events" in strayed(each, partition, 5, trails[4])

    @pytest.mark.parametrize("partitions", [1, 3, 16])
    def test_every_partition_begins_with_settings_and_an_id(self, tmp_path: Path, partitions: int) -> None:
        settings = Settings(echo_recalls=7)
        log = self.make(tmp_path, partitions, settings)
        assert log.partitions == partitions
        assert log.ends() == [1] * partitions
        firsts = [events(log, partition)[0] for partition in range(partitions)]
        assert firsts == [firsts[0]] * partitions
        first = Configured(log_id=log.log_id, partitions=partitions, revision=0, settings=settings)
        assert firsts[0].body == first
        assert firsts[0].actor == SYSTEM and firsts[0].scope is None

    @pytest.mark.parametrize("place", soaked([0, 1, 4], 1))
    def test_of_a_batch_all_or_nothing_is_appended(self, log: Log, place: int) -> None:
        for hour, (reason, bad) in enumerate(REFUSED):
            batch = [captured(f"{hour}.{n}", scope=SCOPES[n], sent=START + hour * HOUR_US) for n in range(4)]
            before = everything(log)
            with pytest.raises(InvalidEvent) as refusal:
                log.append([*batch[:place], bad, *batch[place:]])
            assert refusal.value.reason == reason
            assert everything(log) == before
            # The log has not come to believe that the ticks of the refused batch were there.
            for event, position in zip(batch, log.append(batch), strict=True):
                lines = said(events(log, position.partition)[: position.offset + 1])
                assert (lines.count(f"tick {hour}"), lines[-1]) == (1, event.body.text)

    def test_only_an_operator_writes_to_global(self, log: Log) -> None:
        for origin in ("user", "agent", "tool", "web", "model"):
            fields: dict[str, Any] = {"scope": "global", "origin": origin}
            named = forgotten(["a"], "f", **fields), restored(["a"], "u", **fields)
            for event in (captured("a", **fields), *named):
                with pytest.raises(InvalidEvent, match="operator"):
                    log.append([event])
                log.append([replace(event, actor=replace(event.actor, origin="operator"))])
            # Everybody may ask.
            log.append([recalled(["a"], "r", **fields)])

    def test_a_tick_that_an_operator_accepts_is_another(self, log: Log) -> None:
        """Its id says so, since a partition may ignore the one and must follow the other."""
        partition = partition_of(A, 16)
        log.append([make_tick(partition, START, accepted=True)])
        log.append([captured("one", scope=A)])
        assert said(events(log, partition)) == ["configured", "tick 0", "tick 0", "one"]

    def test_settings_go_to_every_partition(self, log: Log) -> None:
        log.append([captured("one", scope=A)])
        before = log.ends()
        change = make_configured(log.log_id, 16, Settings(echo_recalls=0), 1, START, make_id("change"))
        positions = log.append([captured("two", scope=A), change, captured("three", scope=A)])
        assert positions[1] == Position(0, before[0])
        assert [payloads(log, partition).count(encode(change)) for partition in range(16)] == [1] * 16
        lines = "configured, tick 0, one, two, configured, three".split(", ")
        assert said(events(log, partition_of(A, 16))) == lines

    def test_the_end_is_empty_and_beyond_it_is_an_error(self, log: Log) -> None:
        log.append([captured("one", scope=A)])
        for partition, end in enumerate(log.ends()):
            for narrowed in ({}, {"scope": A}, {"types": ["captured"]}):
                assert log.read(partition, end, 10, **narrowed) == []
                for beyond in (end + 1, end + 1_000_000, 2**63):
                    with pytest.raises(OffsetOutOfRange):
                        log.read(partition, beyond, 10, **narrowed)

    def test_its_version_differs_after_an_append_of_anyone(self, tmp_path: Path) -> None:
        log = self.make(tmp_path)
        for writer in (log, self.again(log, tmp_path)):
            before = log.version()
            writer.append([captured("one", scope=A)])
            time.sleep(READ_AGAIN_S)
            assert log.version() != before

    def test_a_read_is_narrowed_to_a_scope_and_to_types(self, tmp_path: Path) -> None:
        log = self.make(tmp_path, 1)
        log.append([captured("a1", scope=A), captured("b1", scope=B), recalled(["a1"], "ra", scope=A)])
        log.append_raw(0, [b"not an event"])
        log.append([forgotten(["a1"], "fa", scope=A), captured("a2", scope=A)])
        log.append([recalled(["b1"], "rb", scope=B)])

        def lines(**narrowed: Any) -> list[str]:
            return said(decode(slot.payload) for slot in log.read(0, 0, 100, **narrowed))

        assert lines(scope=A) == ["a1", "recalled", "forgotten", "a2"]
        assert lines(scope="project:none") == []
        assert lines(types=["captured"]) == ["a1", "b1", "a2"]
        assert lines(types=["recalled", "forgotten"]) == ["recalled", "forgotten", "recalled"]
        assert lines(types=["ticked", "configured"]) == ["configured", "tick 0"]
        assert lines(scope=B, types=["recalled"]) == ["recalled"]
        assert lines(scope=B, types=["forgotten"]) == []
        # A limit counts what is returned, and an offset is a place on the log, not among what is returned.
        [first, second] = log.read(0, 3, 2, scope=A)
        assert said(map(decode, (first.payload, second.payload))) == ["recalled", "forgotten"]
        assert log.read(0, second.offset, 1, scope=A) == [second]

    def test_it_tells_which_ids_it_holds(self, log: Log, tmp_path: Path) -> None:
        ids = [make_id(number) for number in range(1_200)]
        assert log.known(A, ids) == {}
        log.append([captured(str(number), number, scope=A) for number in range(0, 1_200, 3)])
        log.append([captured("of another scope", 1, scope=B), recalled([0], "r", scope=A)])
        log.append_raw(partition_of(A, 16), [b"not an event"])
        assert log.known(A, ids) == {id: 2 + place for place, id in enumerate(ids[::3])}
        assert log.known(B, ids).keys() == {ids[1]}
        [late] = log.append([captured("late", 1, scope=A)])
        log.append([captured("later", 1, scope=A), captured("again", 0, scope=A)])
        known = {ids[0]: 2, ids[1]: late.offset, make_id("r"): late.offset - 2}
        assert log.known(A, [ids[0], ids[1], ids[2], make_id("r")]) == known
        assert log.known(A, []) == {}

    def test_ids_are_found_by_their_beginning_and_by_their_end(self, log: Log) -> None:
        made = [captured(f"t{n}", n, scope=SCOPES[n % 3]) for n in range(40)]
        made = [replace(event, id=f"0{n:07x}{event.id[8:]}") for n, event in enumerate(made)]
        made += [replace(recalled([], "r", scope=SCOPES[1]), id=f"{made[1].id[:8]}{make_id('r')[8:]}")]
        made += [replace(made[2], scope=SCOPES[4])]
        log.append(made)
        assert log.matching(made[7].id[:8], (), (), 5) == [(SCOPES[1], made[7].id)]
        assert log.matching(made[7].id, (), (), 5) == [(SCOPES[1], made[7].id)]
        assert log.matching("0000", (), ("captured",), 3) == [(SCOPES[n % 3], made[n].id) for n in range(3)]
        both = sorted(id for _, id in log.matching(made[1].id[:8], (SCOPES[1],), (), 5))
        assert both == sorted([made[1].id, made[40].id])
        assert log.matching(made[1].id[:8], (SCOPES[1],), ("recalled",), 5) == [(SCOPES[1], made[40].id)]
        assert log.matching(made[1].id[:8], (SCOPES[0],), (), 5) == []
        assert log.matching(made[2].id, (), (), 5) == [(SCOPES[2], made[2].id), (SCOPES[4], made[2].id)]
        alike = sorted((it.id, it.scope) for it in made if it.id[-8:] == made[7].id[-8:])
        ends = [(scope, id) for id, scope in alike]
        assert log.matching(made[7].id[-8:], (), ("captured",), 99) == ends
        assert log.matching(made[7].id[-9:], (), (), 5) == log.matching(made[7].id[-7:], (), (), 5) == []
        assert log.matching("zzzzzzzz", (), (), 5) == [] and log.matching("0%", (), (), 5) == []

    def test_a_time_is_found(self, tmp_path: Path) -> None:
        """As of a time is what stands before the first event that was sent later, whatever came after it."""
        log = self.make(tmp_path, 1)
        made = events(log, 0)[0].sent
        assert (log.offset_after(0, made - 1), log.offset_after(0, made)) == (0, 1)
        [_, late] = log.append([captured(f"{ms}", scope=A, sent=made + ms * 1_000) for ms in (10, 5)])
        log.append_raw(0, [b"not an event"])
        [last] = log.append([captured("20", scope=A, sent=made + 20_000)])
        # The tick before the first was sent with it, so that it stands at 1.
        found = [log.offset_after(0, made + ms * 1_000) for ms in (-1, 0, 5, 9, 10, 19, 20)]
        assert found == [0, 1, 1, 1, last.offset, last.offset, last.offset + 1]
        assert late.offset < last.offset

    def test_erasures_are_told_at_once_in_their_order(self, log: Log, tmp_path: Path) -> None:
        said = [captured(name, scope=A) for name in ("secret", "other")]
        log.append([*said, erased(["secret"], "e1", scope=A)])
        self.again(log, tmp_path).append([erased(["other"], "e2", scope=A), erased(["x"], "e3", scope=B)])
        partition = partition_of(A, 16)
        said = [decode(slot.payload).id for slot in log.erased(partition)]
        assert said == [make_id("e1"), make_id("e2")]
        assert log.erased(partition) == log.read(partition, 0, 100, types=["erased"])
        assert sum(len(log.erased(number)) for number in range(16)) == 3

    def test_an_erasure_whose_id_stood_before_is_none(self, log: Log, tmp_path: Path) -> None:
        """The first event of an id in a scope counts, whatever its type, and whoever reads it when."""
        first = [captured("a text", "taken", scope=A), captured("a secret", "secret", scope=A)]
        log.append([*first, erased(["secret"], "taken", scope=A), erased(["x"], "e", scope=A)])
        other = self.again(log, tmp_path)
        other.append([erased(["secret"], "e", scope=A)])
        # The same ids in another scope are others.
        other.append([erased(["secret"], "taken", scope=B), erased(["secret"], "e", scope=B)])
        for reader in (log, other, self.again(log, tmp_path)):
            found = [decode(slot.payload) for number in range(16) for slot in reader.erased(number)]
            named = {(event.scope, event.id): event.body.ids for event in found}
            secret = (make_id("secret"),)
            of_b = {(B, make_id("taken")): secret, (B, make_id("e")): secret}
            assert named == {(A, make_id("e")): (make_id("x"),)} | of_b and len(found) == 3

    def test_blank_slots_keep_everything_but_their_bodies(self, tmp_path: Path) -> None:
        log = self.make(tmp_path, 3)
        log.append([captured("secret", scope=A, session="s1"), captured("kept", scope=A)])
        log.append([captured("elsewhere", scope=B)])
        partition, other = partition_of(A, 3), partition_of(B, 3)
        log.append_raw(partition, [b'{"secret', encode(captured("secret", "again", scope=A))])
        before = everything(log)
        log.blank({partition: [2, 4, 5], other: []})
        for handle in (log, self.again(log, tmp_path)):
            after = everything(handle)
            # What a log on Kafka looks by whether it is closed is a tick, which changes nothing.
            for old_ones, new_ones in zip(before, after, strict=True):
                assert all(decode(new).type == "ticked" for new in new_ones[len(old_ones) :])
            assert after[other][: len(before[other])] == before[other]
            for offset, (old, new) in enumerate(zip(before[partition], after[partition], strict=False)):
                if offset in (2, 5):
                    assert orjson.loads(new) == {**orjson.loads(old), "body": None}
                    assert decode(new).body is None
                else:
                    assert new == (b"null" if offset == 4 else old)
            handle.check()
        log.blank({partition: [2, 4, 5]})
        assert everything(log) == after
        [position] = log.append([captured("later", scope=A)])
        assert decode(log.read(partition, position.offset, 1)[0].payload).body == captured("later").body

    def test_threads_append_at_once(self, log: Log) -> None:
        """Each has its own events, and all have the same few scopes."""
        threads, batches = 8, 15
        taken: dict[str, Position] = {}
        start = threading.Barrier(threads)

        def produce(thread: int) -> None:
            start.wait()
            for number in range(batches):
                places = range(1 + number % 3)
                batch = [captured(f"{thread}:{number}:{n}", scope=SCOPES[(number + n) % 5]) for n in places]
                taken.update(zip((event.id for event in batch), log.append(batch), strict=True))

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(produce, range(threads)))
        check_producers(log, taken, threads * batches * 2)

    @pytest.mark.parametrize("seed", soaked(range(20), 0, 1, 3))
    def test_any_run_of_appends_is_what_a_few_lists_would_hold(self, tmp_path: Path, seed: int) -> None:
        """Beside the log stands the simplest thing that keeps its promise."""
        rng = random.Random(seed)
        partitions = rng.randint(1, 4)
        log = self.make(tmp_path, partitions)
        model = everything(log)
        ticked: set[tuple[int, int]] = set()
        for _ in range(rng.randint(1, 20)):
            expected: list[Position] = []
            match rng.choice(["append", "append", "append", "raw", "again"]):
                case "append":
                    batch = []
                    for _ in range(rng.randrange(6)):
                        scope, sent = rng.choice(SCOPES), START + rng.randrange(3) * HOUR_US
                        batch.append(captured(str(rng.randrange(9)), scope=scope, sent=sent))
                    for event in batch:
                        partition, hour = partition_of(event.scope or "", partitions), event.sent // HOUR_US
                        if (partition, hour) not in ticked:
                            ticked.add((partition, hour))
                            model[partition].append(encode(make_tick(partition, event.sent)))
                        expected.append(Position(partition, len(model[partition])))
                        model[partition].append(encode(event))
                    assert log.append(batch) == expected
                case "raw":
                    partition = rng.randrange(partitions)
                    raw = [rng.randbytes(rng.randrange(9)) for _ in range(rng.randrange(4))]
                    for payload in raw:
                        expected.append(Position(partition, len(model[partition])))
                        model[partition].append(payload)
                    assert log.append_raw(partition, raw) == expected
                case _:
                    log = self.again(log, tmp_path)
                    if not self.knows_others_ticks:
                        ticked.clear()
            assert everything(log) == model
            assert log.ends() == list(map(len, model))


def check_producers(log: Log, taken: dict[str, Position], expected: int) -> None:
    """Hold that all of `taken` is on the log, each event once, where its producer was told and in its order.

    An event's text is the producer's name, the number of the batch and the place there, with colons between.
    """
    found: Counter[str] = Counter()
    for partition in range(log.partitions):
        whole = slots(log, partition)
        assert [slot.offset for slot in whole] == list(range(len(whole)))
        order: dict[str, tuple[int, ...]] = {}
        ticks: Counter[str] = Counter()
        for slot in whole:
            event = decode(slot.payload)
            if event.type == "ticked":
                ticks[event.id] += 1
            elif event.type == "captured":
                assert taken[event.id] == Position(slot.partition, slot.offset)
                found[event.id] += 1
                producer, *place = event.body.text.split(":")
                before, order[producer] = order.get(producer, ()), tuple(map(int, place))
                assert before < order[producer]
        # On a topic several producers of an hour's first events can each add its tick, which has one id.
        assert set(ticks.values()) <= ({1} if "://" not in log.place else set(range(9)))
    assert found.keys() == taken.keys()
    assert set(found.values()) == {1}
    assert len(found) == expected


class TestMemoryLog(LogContract):
    def make(self, folder: Path, partitions: int = 16, settings: Settings | None = None) -> Log:
        return MemoryLog(partitions, settings)

    def again(self, log: Log, folder: Path) -> Log:
        return log


class TestEmbeddedLog(LogContract):
    def make(self, folder: Path, partitions: int = 16, settings: Settings | None = None) -> Log:
        folder.mkdir(exist_ok=True)
        return EmbeddedLog(folder / "log.db", partitions, settings)

    def again(self, log: Log, folder: Path) -> Log:
        return EmbeddedLog(folder / "log.db")


@pytest.mark.slow
class TestKafkaLog(LogContract):
    """On a real broker. What differs: a handle does not look for the ticks of others before it sends one.

    It would have to read the partition for that, and a tick that stands twice changes nothing.
    """

    knows_others_ticks = False

    @pytest.fixture(autouse=True)
    def topics(self, kafka: Broker) -> Iterable[None]:
        self.kafka, self.opened = kafka, list[KafkaLog]()
        self.urls: dict[Path, str] = {}
        yield
        for log in self.opened:
            log.close()

    def make(self, folder: Path, partitions: int = 16, settings: Settings | None = None) -> Log:
        self.urls[folder] = self.kafka.url()
        self.opened.append(KafkaLog(self.urls[folder], partitions, settings))
        return self.opened[-1]

    def again(self, log: Log, folder: Path) -> Log:
        self.opened.append(KafkaLog(self.urls[folder]))
        return self.opened[-1]
