"""Changing the settings of a log: the order in which changes take effect.

Partitions decide by their own `configured` events. A log that cannot append to all of them at once may hold a
revision in some and not in others; the first one for it in partition 0 is copied to the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import uuid_utils

from memtape.schemas.codec import encode
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Configured, make_configured
from memtape.schemas.log import Log, configured_on
from memtape.schemas.settings import Settings


def configure(log: Log, change: Callable[[Settings], Settings]) -> Settings:
    """Change the settings of a log in every partition and return the settings then in force.

    If another change comes first, `change` is called again with its settings. Unchanged settings are not
    appended.
    """
    while True:
        last = configured_on(log)[-1]
        wanted = change(last.settings)
        if wanted == last.settings:
            complete_settings(log)
            return wanted
        log.append_raw(0, [_payload(last, wanted, last.revision + 1)])
        complete_settings(log)
        if configured_on(log)[-1].settings == wanted:
            return wanted


def complete_settings(log: Log) -> None:
    """Copy the settings in force from partition 0 to every partition that lacks them."""
    last = configured_on(log)[-1]
    for number in range(1, log.partitions):
        own = configured_on(log, number)
        if not own:
            log.check()
            raise MemtapeError(
                f"Partition {number} of {log.place} does not begin with its settings.",
                "Restore the log from a backup; nothing has been skipped.",
            )
        if own[-1].revision < last.revision:
            log.append_raw(number, [_payload(last, last.settings, last.revision)])


def _payload(last: Configured, settings: Settings, revision: int) -> bytes:
    now = time.time_ns() // 1_000
    id = str(uuid_utils.uuid7())
    return encode(make_configured(last.log_id, last.partitions, settings, revision, now, id))
