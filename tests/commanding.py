"""Commands of Memtape, called in the process of a test through click's runner."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

from click.testing import CliRunner, Result

from memtape.tools.doors.cli import main


def call(*words: object, home: object = None, scope: str = "", code: Any = 0, input: Any = None) -> Result:
    """Call a command at a home in a scope; it ends with this exit code, or any, and no error of ours."""
    options = [("--home", home)] * bool(home) + [("--scope", scope)] * bool(scope)
    told = [str(word) for word in (*words, *chain(*options))]
    result = CliRunner().invoke(main, told, input=input)
    assert result.exception is None or isinstance(result.exception, SystemExit), (told, result.exception)
    assert code is None or result.exit_code == code, (told, result.output)
    assert "Traceback" not in result.output
    return result


def document(*words: object, **given: Any) -> Any:
    """Return what a command prints as JSON, which must be one document and nothing else."""
    return json.loads(call(*words, "--json", **given).stdout)
