"""One thread for numpy's algebra while a question is answered: waking others takes longer than the question.

The command sets that for its process; a program that imports Memtape has as many threads as cores.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

_lock = threading.Lock()
_before: list[int] = []
"""The number of threads before each question that is being answered; the first is the program's own."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let algebra take one thread in a block, for all threads of the process."""
    if (found := _thread_counts()) is None:
        yield
        return
    get, put = found
    with _lock:
        _before.append(get())
        put(1)
    try:
        yield
    finally:
        with _lock:
            own = _before[0]
            _before.pop()
            if not _before:
                put(own)


@cache
def _thread_counts() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Return what gets and sets the number of threads of numpy's OpenBLAS, None where numpy has another."""
    for core in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
        for name in ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_"):
            with suppress(KeyError, OSError, AttributeError):
                library = ctypes.CDLL(str(sys.modules[core].__file__))
                return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None
