"""Run the command line: the installed `memtape`, and `python -m memtape` under the same name.

A hook runs at every prompt of an agent, and a server as long as its session. As `connect` installs them, they
do without the library that reads the options of commands.
"""

import os
import resource
import sys


def main() -> None:
    """Run the command of this process's arguments, then end the process."""
    # Algebra takes one core at most: starting more threads takes longer than a search.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _spare_bytecode()
    match sys.argv[1:]:
        case ["agents", "hook", "--host", host, *ways, "--home", home] if {*ways} <= {"--alone", "--stay"}:
            from memtape.tools.agents.hook_process import serve_hook

            serve_hook(host, home, alone="--alone" in ways, stay="--stay" in ways)
        case ["agents", "hook", "--host", host]:
            from memtape.sinks.home.folders import default_home
            from memtape.tools.agents.hook_process import serve_hook

            own = default_home().absolute()  # The user's own home is made where it is missing.
            serve_hook(host, str(own) if own.is_dir() else None, alone=False, stay=False)
        case words:
            if words[:2] == ["agents", "mcp"]:
                from memtape.tools.agents.forwarding import forward

                forward(words[2:])
            from memtape.tools.doors.cli import main as command

            command(prog_name="memtape")


def _spare_bytecode() -> None:
    """Have Python keep no bytecode under a limit of file sizes (`ulimit -f`), in children too.

    It would cut a file of bytecode short, which no later process could load.
    """
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


if __name__ == "__main__":
    main()
