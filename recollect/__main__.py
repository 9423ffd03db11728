"""Run the command line with `python -m recollect`, under the same name as the installed command."""

from recollect.tools.cli import main

if __name__ == "__main__":
    main(prog_name="recollect")
