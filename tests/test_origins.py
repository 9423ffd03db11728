"""Who speaks by a command without a terminal: the agent, unless a person has said that it is theirs."""

from __future__ import annotations

from pathlib import Path

import pytest
from commanding import call, document

from memtape.schemas.variables import AGENT_VARIABLES, ORIGIN_VARIABLE
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings

RULE = "Always run ruff before you push."


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be run by no agent, whoever runs these tests."""
    for name in (ORIGIN_VARIABLE, *AGENT_VARIABLES):
        monkeypatch.delenv(name, raising=False)


def origin(home: Path, *words: str) -> str:
    """Return whose a captured rule is."""
    id = document("capture", f"{RULE}{' ' * len(words)}", *words, home=home, scope="project:a")["id"]
    found: str = document("show", id, home=home, scope="project:a")["memory"]["origin"]
    return found


def test_what_a_person_types_elsewhere_instructs_once_they_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert origin(tmp_path / "one") == "agent"
    assert RULE not in call("context", home=tmp_path / "one", scope="project:a").output.split("What holds")[0]
    told = document("admin", "settings", "--set", "origin=user", home=tmp_path / "two")
    assert told["own"]["origin"] == "user" and Path(told["file"]).read_text() == 'origin = "user"\n'
    assert origin(tmp_path / "two") == "user"
    assert RULE in call("context", home=tmp_path / "two", scope="project:a").output
    assert origin(tmp_path / "two", "--origin", "agent") == "user", "a person has said the same"
    monkeypatch.setenv(ORIGIN_VARIABLE, "user")
    assert origin(tmp_path / "three") == "user"
    monkeypatch.setenv(ORIGIN_VARIABLE, "operator")
    assert "names nobody" in call("capture", "x", home=tmp_path / "three", code=1).stderr


@pytest.mark.parametrize("variable", AGENT_VARIABLES)
def test_what_an_agent_runs_stays_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    monkeypatch.setenv(ORIGIN_VARIABLE, "user")
    (tmp_path / "settings.toml").write_text('origin = "user"\n')
    assert origin(tmp_path) == "agent"


def test_a_setting_is_checked_before_it_is_written_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings_path.write_text("# Mine.\nshown = true  # as I like it\n")
    for change in ("origin=operator", "nothing=1", "shown=perhaps", "model.url=3", "shown.x=1", "origin"):
        assert call("admin", "settings", "--set", change, home=tmp_path, code=None).exit_code in (1, 2), (
            change
        )
    for change in ("shown=false", "model.calls_per_day=7", "model.url=http://127.0.0.1:1/v1"):
        call("admin", "settings", "--set", change, home=tmp_path)
    text = home.settings_path.read_text()
    assert text.startswith("# Mine.\nshown = false") and "as I like it" in text
    found = local_settings(home)
    assert (found.shown, found.model.calls_per_day, found.model.url) == (False, 7, "http://127.0.0.1:1/v1")
