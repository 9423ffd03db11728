"""Have a command run by what serves commands (`forking.py`): `python -IS calling.py SOCKET WORD...`.

It imports nothing that takes time to import, for tests call hundreds of commands.
"""

import _socket
import marshal
import os
import sys


def call(path: str, words: list[str]) -> int:
    """Have a command run with the files that are open here, and return its exit status."""
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect(path)
    files = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    server.sendmsg([b"\n"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
    server.sendall(marshal.dumps((words, os.getcwd(), dict(os.environ))))
    server.shutdown(_socket.SHUT_WR)
    return int(server.recv(64))


if __name__ == "__main__":
    sys.exit(call(sys.argv[1], sys.argv[2:]))
