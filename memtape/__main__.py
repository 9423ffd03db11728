"""Run the command line with `python -m memtape`, under the same name as the installed command."""

from memtape.tools.commands.cli import main

if __name__ == "__main__":
    main(prog_name="memtape")
