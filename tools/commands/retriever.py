"""`memtape retriever`: list the retrievers in effect and their unseen shadows, and change both."""

from __future__ import annotations

import click

from memtape.schemas.retrievers import STATES, State
from memtape.schemas.visible import one_line
from memtape.tools.client import Client
from memtape.tools.commands.options import print_json, say, with_home
from memtape.tools.keep.retriever_states import States, set_state, states_on

SHOWN_CHARS = 200


@click.group()
def retriever() -> None:
    """List and change the shadow retrievers, which answer unseen beside the active one, for comparison.

    \b
    Example:
      memtape retriever set "memtape without hot" shadow
      memtape compare --shadow
    """


@retriever.command("list")
@with_home
def list_retrievers(client: Client, as_json: bool) -> None:
    """List the retrievers and embedders that the log names, with their states.

    An active one answers or decides. A shadow works beside it and is never shown. One that is off or
    deprecated does nothing more; `memtape compare --shadow` still reports a deprecated retriever.

    \b
    Example:
      memtape retriever list
    """
    _print(states_on(client.log), as_json)


@retriever.command("set")
@click.argument("name")
@click.argument("state", type=click.Choice(STATES))
@click.option(
    "--percent", type=click.IntRange(0, 100), help="Of all searches, the share that shadows are asked; 10 at first."
)
@with_home
def set_retriever(client: Client, name: str, state: State, percent: int | None, as_json: bool) -> None:
    """Put a retriever into a state, from the next search on.

    NAME says how it finds: bm25, dense, rrf, "memtape without LANE, LANE", or "memtape with KEY" of an embedder that
    `memtape retriever list` tells. A shadow answers while `memtape run` goes on, or at the next `memtape run --once`,
    as of the time of each search.

    \b
    Example:
      memtape retriever set bm25 shadow --percent 20
      memtape retriever set "memtape without hot, edges" shadow
      memtape retriever set bm25 deprecated
    """
    set_state(client.log, name, state, percent)
    _print(states_on(client.log), as_json)


def _print(states: States, as_json: bool) -> None:
    if as_json:
        print_json(states)
        return
    say("\n".join(states_lines(states)))


def states_lines(states: States) -> list[str]:
    """Return the states as lines for people."""
    lines = [f"retriever  {state:<10}  {_named(name)}" for name, state in states.retrievers.items()]
    lines += [f"embedder   {state:<10}  {_named(name)}" for name, state in states.embedders.items()]
    if "shadow" in states.retrievers.values():
        lines.append(f"Shadow retrievers answer {states.shadow_percent} % of all searches.")
    return lines


def _named(name: str) -> str:
    return one_line(name, SHOWN_CHARS)
