"""Who may what on a topic: what the broker refuses, what Memtape's doors refuse, and what readers ignore."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from builders import captured
from commanding import call
from kafka_broker import PASSWORD, Broker, new_topic

from memtape.schemas.codec import canonical
from memtape.schemas.errors import Denied, MemtapeError
from memtape.schemas.events import Actor, Event
from memtape.schemas.log import settings_on
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.kafka import KafkaLog
from memtape.sinks.logs.kafka_topic import PASSWORD_VARIABLE, parse_kafka_url
from memtape.tools.client import Client
from memtape.tools.keep.verify import verify

SHARED, CLOSED = "project:harbour", "project:pay"
WRITES = ("DESCRIBE", "DESCRIBE_CONFIGS", "READ", "WRITE")
KEEPS = (*WRITES, "CREATE", "DELETE", "ALTER_CONFIGS")


class Members:
    """Homes of the users of one topic, whose broker knows each of them."""

    def __init__(self, broker: Broker, folder: Path) -> None:
        self._broker, self._folder, self.topic = broker, folder, new_topic()
        broker.allow("keeper", self.topic, *KEEPS)

    def home(self, user: str) -> Home:
        """Return the home of a user, made at the first call."""
        home = Home(self._folder / user)
        home.settings_path.write_text(f'log = "{self._broker.url_of(user, self.topic)}"\n')
        return home

    def client(self, user: str, scope: str = SHARED, **options: str) -> Client:
        """Return a client of a user, who speaks as a person."""
        return Client(self.home(user), scope=scope, **{"origin": "user", **options})  # type: ignore[arg-type]

    def log(self, user: str) -> KafkaLog:
        """Return the topic as any program of a user opens it."""
        return KafkaLog(self._broker.url_of(user, self.topic))


@pytest.fixture
def members(kafka: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Members:
    """Ada and Bob are people, Eve may write the topic and is no person, and the keeper is the operator."""
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)
    made = Members(kafka, tmp_path)
    with closing(made.log("keeper")):  # It makes the topic.
        for user in ("ada", "bob", "eve"):
            kafka.allow(user, made.topic, *WRITES)
    lists = ("keeper=operator", "ada=user", "bob=user", f"{CLOSED}=ada")
    call("admin", "access", *(word for it in lists for word in ("--set", it)), home=made.home("keeper").path)
    return made


def said_by(name: str, origin: str, text: str, scope: str = SHARED) -> Event:
    """Return a capture under a name and an origin."""
    return captured(text, text, "fact", scope=scope, origin=origin, actor=name)


@pytest.mark.slow
def test_a_name_is_bound_to_the_user_and_an_origin_to_the_name(members: Members) -> None:
    with members.client("ada") as ada, members.client("keeper", origin="operator") as keeper:
        assert ada.actor == Actor(name="ada", origin="user")
        ada.capture("The ferry leaves at nine.")
        for refused in ({"actor": "bob"}, {"origin": "operator"}, {"actor": "keeper", "origin": "operator"}):
            with members.client("ada", **refused) as claimed, pytest.raises(Denied, match=r"ada|operator"):
                claimed.capture("The ferry leaves at ten.")
        with members.client("eve") as eve, pytest.raises(Denied, match="eve is not trusted as user"):
            eve.capture("The ferry leaves at ten.")
        with members.client("eve", origin="agent", actor="codex") as agent:
            agent.capture("The crane is painted yellow.")
        with (
            members.client("ada", scope="global") as every,
            pytest.raises(MemtapeError, match="operator"),
        ):
            every.capture("The ferry leaves at ten.")
        with pytest.raises(Denied, match="ada is none"):
            ada.set_access(("ada=operator",))
        with pytest.raises(MemtapeError, match="leave you out"):
            keeper.set_access(("keeper=",))
        keeper.capture("Bob said: the lighthouse is closed.")
        assert {it.text for it in keeper.search("ferry crane lighthouse").results} == {
            "The ferry leaves at nine.",
            "The crane is painted yellow.",
            "Bob said: the lighthouse is closed.",
        }


@pytest.mark.slow
def test_readers_ignore_a_person_whom_no_list_names(members: Members) -> None:
    """Eve's own program goes past Memtape's doors: only what a record carries can be held against it."""
    ignored = [
        said_by("eve", "user", "The ferry leaves at ten."),
        said_by("eve", "operator", "The ferry leaves at eleven.", "global"),
        said_by("ada", "operator", "The ferry leaves at noon."),
        said_by("eve", "agent", "The ferry leaves at one.", "global"),
    ]
    with closing(members.log("eve")) as log:
        for event in ignored:
            log.append_raw(partition_of(event.scope or "", log.partitions), [canonical(event)])
        log.append([said_by("codex", "agent", "The crane is painted yellow.")])
        with members.client("bob") as bob:
            found = {it.text for it in bob.search("ferry crane").results}
            assert found == {"The crane is painted yellow."}  # Of the tail.
            bob.project()
            assert {it.text for it in bob.search("ferry crane").results} == found
            assert verify(members.home("bob"), log).ok
        # The broker tells nobody who sent a record, so that another person's name is believed.
        log.append([said_by("ada", "user", "The ferry leaves at two.")])
        with members.client("bob") as bob:
            assert [it.actor for it in bob.search("ferry").results] == ["ada"]


@pytest.mark.slow
def test_several_people_share_a_store(members: Members) -> None:
    """Utility, access and forgetting: what one says all find, a closed scope stays closed, and what is
    forgotten is gone for all at once.
    """
    with members.client("ada") as ada, members.client("bob") as bob:
        ferry = ada.capture("The ferry leaves at nine.").id
        assert [it.text for it in bob.search("ferry").results] == ["The ferry leaves at nine."]
        with members.client("ada", scope=CLOSED) as pay:
            pay_id = pay.capture("The wage of the harbour master is 4,417 crowns.").id
            assert pay.search("wage").results
        with members.client("bob", scope=CLOSED) as closed:
            for ask in (
                lambda: closed.search("wage"),
                lambda: closed.show(pay_id),
                lambda: closed.capture("x"),
            ):
                with pytest.raises(MemtapeError, match=f"{CLOSED} is not shown to bob"):
                    ask()
        assert not bob.search("wage harbour master").results
        home = members.home("bob").path
        for words in (
            ("export", "--all"),
            ("log", "0/0"),
            ("show", pay_id),
            ("admin", "tail", "--since", "1h"),
        ):
            assert "4,417" not in call(*words, home=home, code=None).output
        ada.forget(ferry, reason="The timetable changed.")
        assert not bob.search("ferry").results
        secret = bob.capture("The codename is Zebrafish.").id
    call("erase", secret, "--scope", SHARED, "--yes", home=members.home("keeper").path)
    with closing(members.log("keeper")) as log:
        slots = [it for n in range(log.partitions) for it in log.read(n, 0, 1_000)]
    assert not any(b"Zebrafish" in slot.payload for slot in slots)


@pytest.mark.slow
def test_the_broker_decides_who_reads_and_writes_a_topic(
    kafka: Broker, members: Members, tmp_path: Path
) -> None:
    other = Members(kafka, tmp_path / "other")
    with closing(other.log("keeper")) as log:
        kafka.allow("bob", other.topic, "DESCRIBE", "DESCRIBE_CONFIGS", "READ")
        with pytest.raises(MemtapeError, match="ada may not use"):
            other.log("ada").ends()
        with closing(other.log("bob")) as read, pytest.raises(MemtapeError, match="bob may not use"):
            read.append([said_by("bob", "user", "The ferry leaves at ten.")])
        assert settings_on(log).trusted_origins == {}  # Another topic has lists of its own.


@pytest.mark.slow
def test_two_topics_of_one_broker_never_mix(kafka: Broker, tmp_path: Path) -> None:
    """One home is given another topic, and gets its first one back."""
    topics = (first := new_topic(), f"{first}2")
    texts = ["The ferry leaves at nine.", "The ferry leaves at ten."]
    home = Home(tmp_path / "home")
    for topic, text in zip((*topics, *topics), texts * 2, strict=True):
        home.settings_path.write_text(f'log = "{kafka.url(topic)}"\n')
        with Client(home, scope=SHARED) as client:
            if not client.search("ferry").results:
                client.capture(text)
            client.project()
            assert [it.text for it in client.search("ferry").results] == [text]
            assert verify(home, client.log).ok
    with pytest.raises(MemtapeError, match="next generation"):
        parse_kafka_url(kafka.url(f"{first}.g1"))
