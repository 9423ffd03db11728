"""The recipes of `docs/python.md`: each framework asks a model on loopback, with what is remembered.

`make test-cookbook` brings the frameworks. Without one its recipe is skipped.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fake_model import FakeModel

from memtape import Client

PAGE = Path(__file__).parent.parent / "docs/python.md"
RECIPES: dict[str, str] = dict(
    re.findall(
        r"\*\*([\w-]+)\*\*\n\n<!-- not run: `make test-cookbook`.*?-->\n```python\n(.*?)```",
        PAGE.read_text(),
        re.DOTALL,
    )
)
NEEDS = {
    "OpenAI": "openai",
    "LangChain": "langchain_openai",
    "LlamaIndex": "llama_index.llms.openai",
    "pydantic-ai": "pydantic_ai",
}
SAID = "The staging database listens on port 5433."


def decide(turns: list[tuple[str, str]], tools: list[str]) -> tuple[str, str, dict[str, str]]:
    """Ask the tool first, and answer only what the model was told."""
    if tools and not any(role == "tool" for role, _ in turns):
        return "", "search_memories", {"query": "port of the staging database"}
    is_told = any("5433" in text for _, text in turns)
    return "It listens on 5433." if is_told else "Nobody told me.", "", {}


def test_each_framework_has_a_recipe() -> None:
    assert RECIPES.keys() == NEEDS.keys()


@pytest.mark.parametrize("name", NEEDS)
def test_a_recipe_answers_from_memory_and_remembers_the_answer(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(NEEDS[name])
    with FakeModel(decide) as model, Client(tmp_path, scope="project:demo", origin="user") as memory:
        monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path))
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        for variable in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
            monkeypatch.setenv(variable, f"{model.url}/v1")
        memory.capture(SAID)
        exec(compile(RECIPES[name], name, "exec"), {"__name__": name})
        assert any("5433" in seen.body for seen in model.seen)
        told = [(it.actor, it.origin, it.text) for it in memory.recent(kinds=["turn"]).results]
        assert told == [
            ("assistant", "agent", "It listens on 5433."),
            ("Ada", "user", "On which port does the staging database listen?"),
        ]
