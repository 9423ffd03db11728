"""Models that write text: a prompt goes in, a text comes out, within a time limit. The answer is only data.

A model is an OpenAI-compatible endpoint for chat, or any command that reads a prompt on stdin.
`MEMTAPE_MODEL_URL` is the base of an endpoint, `MEMTAPE_MODEL` its model, `MEMTAPE_MODEL_KEY` a key if it has
one; `MEMTAPE_MODEL_COMMAND` is a command. They go before the settings. Plain http beyond this machine needs
`MEMTAPE_MODEL_INSECURE=yes`. Prompts, and the use of answers, are elsewhere.
"""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memtape.flows.endpoint import Endpoint, HttpTarget, Limits, Names, Unanswered, target_of
from memtape.schemas.errors import BadAnswer, MemtapeError, ModelAway, ModelTimeout
from memtape.schemas.model import ModelOptions, StepOptions
from memtape.schemas.variables import HOOKS_OFF, HOOKS_VARIABLE

if TYPE_CHECKING:
    import subprocess

_OF = "MEMTAPE_MODEL"
NAMES = Names("model", "chat/completions", f"{_OF}_URL", _OF, f"{_OF}_KEY", f"{_OF}_INSECURE")
COMMAND_VARIABLE = "MEMTAPE_MODEL_COMMAND"
ANSWER_MAX_BYTES = 1024 * 1024
ATTEMPTS = 2
USAGE = ("prompt_tokens", "completion_tokens")
MAX_TOKENS = 10_000_000
"""No model takes more tokens at once; a larger number from an endpoint is ignored."""
_ANY = StepOptions()


class Model:
    """A model that answers prompts. `name` signs its texts; errors call it by `place`.

    `tokens` counts the tokens of all questions and answers so far, as the model reports; 0 without a report.
    """

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self.place = place
        self.tokens = 0

    def _asking(self, prompt: str, limit_s: float) -> AbstractContextManager[Callable[[], str]]:
        """Give a function that asks the model within the limit; end the connection or process afterwards."""
        raise NotImplementedError

    def answer(self, prompt: str, limit_s: float) -> str:
        """Return the answer, never empty. Raises `ModelTimeout` after `limit_s` in all.

        Raises `BadAnswer` for an unusable answer, and `MemtapeError` if the model cannot be reached. No error
        holds any part of the prompt, the answer or a key.
        """
        ended: list[str | BaseException] = []

        def run() -> None:
            try:
                ended.append(ask())
            except BaseException as error:
                ended.append(error)

        with self._asking(prompt, limit_s) as ask:
            # No library of futures: a hook imports this file, and they cost it 20 ms.
            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            thread.join(limit_s)
            answer = next(iter(ended), None)
        if answer is None:
            raise ModelTimeout(f"{self.place} has not answered within {limit_s:g} s.")
        if isinstance(answer, BaseException):
            raise answer
        if not answer.strip():
            raise BadAnswer(f"{self.place} answered nothing.")
        return answer.strip()


def is_configured(options: ModelOptions) -> bool:
    """Return whether a model is wanted here at all; it may still be named wrongly."""
    return any(_named(options, os.environ))


def choose_model(
    options: ModelOptions, environment: Mapping[str, str] = os.environ, step: StepOptions = _ANY
) -> Model | None:
    """Return the model configured here, None for none. Sends no request. Raises `MemtapeError`.

    The model of a `step` precedes the model for all steps, in the environment too.
    """
    url, command = _named(options, environment)
    if step.command.strip():
        url, command = "", step.command.strip()
    name = step.model.strip() or environment.get(NAMES.model, "").strip() or options.model
    if url and command:
        raise MemtapeError("Both a URL and a command name a model.", "Keep the one that is meant.")
    if command:
        try:
            return CommandModel(shlex.split(command), name)
        except ValueError:
            told = f"{COMMAND_VARIABLE} is no command: a quotation has no end."
            raise MemtapeError(told, "Write it as you would in a shell.") from None
    target = target_of({**environment, NAMES.url: url, NAMES.model: name}, NAMES)
    return None if target is None else HttpModel(target)


def _named(options: ModelOptions, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return URL and command of the environment if either is set there, else of the settings."""
    url, command = (environment.get(name, "").strip() for name in (NAMES.url, COMMAND_VARIABLE))
    return (url, command) if url or command else (options.url.strip(), options.command.strip())


class HttpModel(Model):
    """A `Model` behind an endpoint (`/v1/chat/completions`)."""

    def __init__(self, target: HttpTarget) -> None:
        super().__init__(target.model, target.place)
        self._target = target

    def _asking(self, prompt: str, limit_s: float) -> AbstractContextManager[Callable[[], str]]:
        """See `Model._asking`. A second try follows where the endpoint is busy or the connection broke."""
        return nullcontext(partial(self._ask, prompt, limit_s))

    def _ask(self, prompt: str, limit_s: float) -> str:
        limits = Limits(limit_s, limit_s, limit_s, ATTEMPTS, ANSWER_MAX_BYTES)
        # Only the fields that every server and model accepts.
        asked = {"messages": [{"content": prompt, "role": "user"}], "model": self.name, "stream": False}
        try:
            with closing(Endpoint(self._target, NAMES, limits)) as endpoint:
                return self._text(endpoint.ask(msgspec.json.encode(asked), bytes))
        except Unanswered as error:
            if error.how == "long":
                raise BadAnswer(f"{self.place} is of no use here: {error.reason}.") from None
            if error.how == "late":
                raise ModelTimeout(f"{self.place} has not answered in time.") from None
            if error.how == "unreachable":
                told = f"{self.place} cannot be reached: {error.reason}."
                raise ModelAway(told, f"Start it or check {NAMES.url}.") from None
            told = f"{self.place} gives no answer: {error.reason}."
            raise ModelAway(told, f"Check {NAMES.model}.") from None

    def _text(self, body: bytes) -> str:
        try:
            answer = msgspec.json.decode(body)
            said = answer["choices"][0]["message"].get("content")
            content = msgspec.convert(said, str | list[dict[str, Any]] | None)
        except (msgspec.MsgspecError, UnicodeError, RecursionError, LookupError, TypeError, AttributeError):
            told = f"{self.place} answers in a form that is not that of chat completions."
            raise BadAnswer(told, f"Check {NAMES.url}.") from None
        usage = answer.get("usage")
        counts = [usage.get(name) for name in USAGE] if isinstance(usage, dict) else []
        self.tokens += sum(count for count in counts if type(count) is int and 0 < count < MAX_TOKENS)
        if isinstance(content, list):
            return "".join(text for block in content if isinstance(text := block.get("text"), str))
        return content or ""


class CommandModel(Model):
    """A `Model` behind a command, given as words: it reads a prompt on stdin and writes its answer to stdout.

    Its stderr is discarded, because stderr may repeat the prompt. The command runs in the temporary folder
    with `MEMTAPE_HOOKS=off`, so that an agent used as a model does not capture its own prompts.
    """

    def __init__(self, words: Sequence[str], name: str = "") -> None:
        program = Path(words[0]).name
        super().__init__(name or program or "command", f"The model command {program}")
        self._words = list(words)

    @contextmanager
    def _asking(self, prompt: str, limit_s: float) -> Iterator[Callable[[], str]]:
        """See `Model._asking`. A command that takes longer is killed with its children."""
        import signal  # A hook imports this file, and has no time for these.
        import subprocess
        import tempfile

        try:
            process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd=tempfile.gettempdir(),
                env={**os.environ, HOOKS_VARIABLE: HOOKS_OFF},
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            told = f"{self.place} cannot be started: {reason}."
            raise ModelAway(told, f"Check {COMMAND_VARIABLE}.") from None
        try:
            yield partial(self._talk, process, prompt)
        finally:
            # Until the wait, the system gives the id of an ended process to no other.
            if process.returncode is None:
                with suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _talk(self, process: subprocess.Popen[bytes], prompt: str) -> str:
        """Write the prompt and read the answer at once, since either pipe may be full."""
        stdin = process.stdin
        assert stdin is not None and process.stdout is not None

        def write() -> None:
            # A command that does not read its prompt to the end may still answer.
            with suppress(OSError, ValueError), stdin:
                stdin.write(prompt.encode("utf-8", "replace"))

        threading.Thread(target=write, daemon=True).start()
        with process.stdout:
            answer = process.stdout.read(ANSWER_MAX_BYTES + 1)
        if len(answer) > ANSWER_MAX_BYTES:
            raise BadAnswer(f"{self.place} answers more than {ANSWER_MAX_BYTES >> 20} MiB.")
        code = process.wait()
        if code:
            raise ModelAway(f"{self.place} ended with exit code {code}.", "Run it by hand to see why.")
        return answer.decode("utf-8", "replace")
