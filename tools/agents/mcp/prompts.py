"""The prompts that a host offers people as slash commands: recall, remember, why, forget.

Each does its work at the request, by a tool, and its message tells the agent of it. Memories in it are quoted
as data, as in the tool's answer. Nothing here knows the protocol, see `handlers`. A person chooses a prompt,
but a server cannot tell a person from a program, and some programs let their model ask. Captures of
`remember` are therefore an agent's, as with every tool: only people's sentences instruct later agents.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from memtape.schemas.errors import MemtapeError
from memtape.schemas.visible import one_line
from memtape.tools.agents.mcp.tools import call
from memtape.tools.ask.naming import is_whole
from memtape.tools.capture.injected import MARKER, without_tags
from memtape.tools.client import Client

SHOWN_CHARS = 200
CANDIDATES = 5
LEAST_WORDS = 2


class Prompt(NamedTuple):
    """A prompt: its title, description and argument for people, and its function of client and argument."""

    title: str
    description: str
    argument: str
    about: str
    run: Callable[[Client, str], str]


def recall(client: Client, said: str) -> str:
    """Return the answer of a search."""
    found = call(client, "search_memories", {"query": said})
    return f"Use what of this project's memory helps with: {_told(said)}\n\n{found}"


def remember(client: Client, said: str) -> str:
    """Capture a text, and return the id and scope of the capture.

    A host that passes only the first of several words would have half a sentence remembered.
    """
    if len(said.split()) < LEAST_WORDS:
        raise MemtapeError(
            f"Only {_told(said)!r} came, perhaps since this program hands on the first word alone. Nothing was kept.",
            "Tell the agent to remember it, or use the command /memtape:remember of the plugin.",
        )
    done = call(client, "add_memory", {"text": said})
    return f"{done}\n\nThis was asked for by a slash command and is done. Say so in a few words, and go on."


def why(client: Client, said: str) -> str:
    """Return the events behind a memory, named by its id or found as the best result for words."""
    id = said if _is_id(said) else next((result.id for result in client.search(said, 1).results), None)
    if id is None:
        return f"Nothing is remembered in {client.scope} for: {_told(said)}"
    return f"Explain why this is remembered, who said it and when.\n\n{call(client, 'get_memory', {'id': id})}"


def forget(client: Client, said: str) -> str:
    """Forget the memory of a whole id; for any other text return possible matches."""
    if is_whole(said):
        done = call(client, "forget_memory", {"id": said})
        return f"{done}\n\nThis was asked for by a slash command and is done. Say so in a few words, and go on."
    found = call(client, "search_memories", {"query": said, "limit": CANDIDATES})
    return (
        "Nothing was forgotten. Show the user these memories with their whole ids, and ask which one is meant: only "
        f"its whole id forgets it. They are meant by: {_told(said)}\n\n{found}"
    )


PROMPTS: dict[str, Prompt] = {
    "recall": Prompt(
        "Recall", "Put what is remembered about something before the agent.", "about", "What about.", recall
    ),
    "remember": Prompt("Remember", "Keep something in this project's memory.", "text", "What to keep.", remember),
    "why": Prompt("Why", "Say why something is remembered.", "memory", "Its id, or words that it has.", why),
    "forget": Prompt(
        "Forget", "Hide a memory, by its whole id; by words see which there are.", "memory", "Its id, or words.", forget
    ),
}


def prompted(client: Client, name: str, arguments: dict[str, str]) -> str:
    """Run a prompt and return its message. Raises `MemtapeError` with a sentence for the person."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise MemtapeError(f"There is no prompt {name[:100]!r}.", f"There are {', '.join(PROMPTS)}.")
    if strange := [key for key in arguments if key != prompt.argument]:
        raise MemtapeError(f"{name} takes no {strange[0][:60]!r}.", f"It takes {prompt.argument}.")
    said = arguments.get(prompt.argument, "").strip()
    if not said:
        raise MemtapeError(f"{name} was asked for without words.", f"Say its {prompt.argument}.")
    # A host keeps it as what its user said, and nobody has said it.
    return f"<{MARKER}>\n{prompt.run(client, said)}\n</{MARKER}>"


def _is_id(said: str) -> bool:
    """Whether the text is an id or the beginning of an id."""
    return re.fullmatch(r"[0-9a-f]{8}[0-9a-f-]{0,28}", said) is not None


def _told(said: str) -> str:
    """Return a person's words on one line without tags."""
    return without_tags(one_line(said, SHOWN_CHARS))
