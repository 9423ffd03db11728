"""Run the command line: the installed `memtape`, and `python -m memtape` under the same name.

A hook runs at every prompt of an agent. In the form in which `connect` installs it, it does without the library that
reads the options of commands, which would take a tenth of its time.
"""

import sys


def main() -> None:
    """Do what the words of this process ask for, and end it."""
    match sys.argv[1:]:
        case ["hook", "--host", host, "--home", home]:
            from memtape.tools.agents.hook_process import serve_hook

            serve_hook(host, home)
        case _:
            from memtape.tools.commands.cli import main as command

            command(prog_name="memtape")


if __name__ == "__main__":
    main()
