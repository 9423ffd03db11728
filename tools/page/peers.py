"""The user at the other end of a loopback connection, on systems that tell."""

from __future__ import annotations

from pathlib import Path

CONNECTIONS = Path("/proc/net/tcp")
"""The TCP connections over IPv4 on Linux, one a line: number, local address, remote address, …, uid (proc(5))."""
_LOCAL, _REMOTE, _UID = 1, 2, 7


def uid_of(port: int, peer: tuple[str, int]) -> int | None:
    """Return the uid of the user connected to a port from a peer's address and port; None if unknown."""
    try:
        lines = CONNECTIONS.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    ends = [_end(*peer), _end("127.0.0.1", port)]
    for fields in map(str.split, lines[1:]):
        if fields[_LOCAL : _REMOTE + 1] == ends:
            return int(fields[_UID])
    return None


def _end(address: str, port: int) -> str:
    """Return an address and port as Linux writes them: bytes in the order of the machine, in hexadecimal."""
    return f"{''.join(f'{int(part):02X}' for part in reversed(address.split('.')))}:{port:04X}"
