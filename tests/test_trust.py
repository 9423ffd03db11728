"""The lists of a log: from an event on, who speaks as a person there, the same for every reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import captured, configured, make_id, slots
from replaying import replay

from memtape.schemas.errors import Denied, MemtapeError
from memtape.schemas.events import Actor, Event, is_trusted, may_write
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.client import Client
from memtape.tools.keep.log_settings import change_access
from memtape.tools.verbs.aging import set_lifecycle

LISTS = Settings(trusted_origins={"ada": "user", "keeper": "operator"})


def told(number: int, actor: str, origin: str, scope: str = "project:a") -> Event:
    return captured(f"text {number}", f"id {number}", scope=scope, actor=actor, origin=origin)


def test_from_the_lists_on_who_is_not_named_is_no_person() -> None:
    events = [
        configured(),
        told(1, "bob", "user"),
        configured(LISTS, revision=1),
        told(2, "bob", "user"),
        told(3, "ada", "user"),
        told(4, "ada", "operator"),
        told(5, "keeper", "user"),
        told(6, "bob", "agent"),
        told(7, "codex", "agent", GLOBAL),
        told(8, "keeper", "operator", GLOBAL),
    ]
    partition = replay(slots(events)).partitions[0]
    captures = [scope.captures for scope in partition.scopes.values()]
    heard = [n for n in range(1, 9) if any(its.get(make_id(f"id {n}")) is not None for its in captures)]
    assert heard == [1, 3, 5, 6, 8]
    assert partition.counters.ignored == 3 and not partition.counters.dead_letters


def test_without_lists_everybody_is_who_they_say() -> None:
    assert is_trusted(Actor(name="bob", origin="operator"), Settings())
    assert may_write(told(1, "bob", "operator", GLOBAL), Settings())


class Users:
    """Clients of one log, each as a user whom a broker would know."""

    def __init__(self, home: Home) -> None:
        self._home = home
        lists = {"keeper": "operator", "ada": "user", "bob": "user", "project:pay": "ada"}
        change_access(self._log("keeper"), lists)

    def client(self, user: str, scope: str = "project:a", **options: str) -> Client:
        """Return the client of a user, who speaks as a person."""
        given = {"origin": "user", **options}
        return Client(self._home, log=self._log(user), scope=scope, **given)  # type: ignore[arg-type]

    def _log(self, user: str) -> EmbeddedLog:
        log = EmbeddedLog(self._home.log_path, 2)
        log.user = user
        return log


@pytest.fixture
def users(tmp_path: Path) -> Users:
    return Users(Home(tmp_path / "home"))


def test_a_person_speaks_under_the_name_of_the_user(users: Users) -> None:
    with users.client("ada") as ada:
        assert ada.actor == Actor(name="ada", origin="user")
        ada.capture("The ferry leaves at nine.")
    for options in ({"actor": "bob"}, {"origin": "operator"}):
        with users.client("ada", **options) as claimed, pytest.raises(Denied):
            claimed.capture("The ferry leaves at ten.")
    with users.client("eve") as eve, pytest.raises(Denied, match="eve is not trusted as user"):
        eve.capture("The ferry leaves at ten.")
    with users.client("eve", origin="agent", actor="codex") as agent:
        agent.capture("The crane is painted yellow.")
    with users.client("keeper", actor="bob") as keeper:  # An operator brings in what others have said.
        keeper.capture("The lighthouse is closed.")
        found = {it.text: it.actor for it in keeper.search("ferry crane lighthouse").results}
    assert sorted(found.values()) == ["ada", "bob", "codex"]


def test_a_closed_scope_is_shown_to_those_whom_the_list_names(users: Users) -> None:
    with users.client("ada", "project:pay") as ada:
        id = ada.capture("The wage of the harbour master is 4,417 crowns.").id
        assert ada.search("wage").results
    with users.client("bob", "project:pay") as bob:
        for ask in (bob.search, bob.show, bob.capture, bob.forget, bob.why):
            with pytest.raises(MemtapeError, match="project:pay is not shown to bob"):
                ask(id)
        with pytest.raises(MemtapeError, match="is not shown to bob"):
            bob.context()
    with users.client("bob") as bob:
        bob.is_confined = False
        assert not bob.search("wage harbour master").results
        for read, words in ((bob.show, (id,)), (bob.read_log, ("0/0",)), (bob.diff, ("3d", "1h", True))):
            with pytest.raises(MemtapeError, match="project:pay is not shown to bob"):
                read(*words)
    with users.client("keeper", "project:pay") as keeper:
        assert keeper.search("wage").results


def test_operators_alone_change_what_a_topic_shares(users: Users) -> None:
    with users.client("ada") as ada:
        for change in (
            lambda: ada.set_access(("ada=operator",)),
            lambda: set_lifecycle(ada, ("archive_after_days=-1",)),
            ada.refold,
        ):
            with pytest.raises(Denied, match="ada is none"):
                change()
    with users.client("keeper") as keeper:
        with pytest.raises(MemtapeError, match="leave you out"):
            keeper.set_access(("keeper=",))
        changed = keeper.set_access(("bob=", "project:pay="))
        assert (changed.trusted_origins, changed.readers) == ({"ada": "user", "keeper": "operator"}, {})


def test_a_log_without_users_takes_no_lists(tmp_path: Path) -> None:
    with Client(tmp_path / "home", origin="user") as client:
        with pytest.raises(MemtapeError, match="has no users"):
            client.set_access(("ada=operator",))
        assert client.access().user is None
