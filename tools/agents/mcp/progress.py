"""Progress of long calls: a client that asks for progress gets a notification every second."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import anyio
import anyio.to_thread

ResultT = TypeVar("ResultT")
Report = Callable[[float, "float | None", "str | None"], Awaitable[None]]
"""Tells a client the progress of its call: done, the total if known, and the current step."""

EVERY_S = 1.0


async def with_progress(report: Report, what: str, call: Callable[[], ResultT]) -> ResultT:
    """Run `call` in a thread; return its result or raise its error.

    Progress tells the elapsed seconds, since the total is unknown.
    """
    outcome: list[ResultT] = []
    error: BaseException | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_tell, report, what)
        try:
            outcome.append(await anyio.to_thread.run_sync(call))
        except Exception as raised:  # Of a group all that is raised would come as a group.
            error = raised
        group.cancel_scope.cancel()
    if error is not None:
        raise error
    return outcome[0]


async def _tell(report: Report, what: str) -> None:
    waited_s = 0.0
    while True:
        await anyio.sleep(EVERY_S)
        waited_s += EVERY_S
        with suppress(Exception):  # A client that has gone is noticed elsewhere.
            await report(waited_s, None, what)
