"""A command line in this process, and splitters that need no model."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pytest

from parataxis import api
from parataxis.cli.main import main
from parataxis.errors import TooLongError
from parataxis.rewrite.record import Rewrite
from parataxis.splitters.registry import SentenceSplitter, load_splitter


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Result]


class SemicolonSplitter:
    """Splits at semicolons, and refuses long sentences as a model would."""

    name = "semicolon"
    summary = "Splits at semicolons."

    def __call__(self, sentence: str) -> Rewrite:
        if len(sentence) > 200:
            raise TooLongError("The sentence is too long.")
        parts = [part.strip().rstrip(".") for part in sentence.split(";")]
        simple = [f"{part[:1].upper()}{part[1:]}." for part in parts if part]
        return Rewrite(
            source=sentence,
            simple=[sentence] if len(simple) < 2 else simple,
            splitter=self.name,
        )

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        return map(self, sentences)


class ForgetfulSplitter:
    """Loses every "not", which the checks must notice."""

    name = "forgetful"
    summary = "Loses every negation."

    def __call__(self, sentence: str) -> Rewrite:
        simple = sentence.replace(" not", "")
        return Rewrite(source=sentence, simple=[simple], splitter=self.name)

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        return map(self, sentences)


@pytest.fixture(autouse=True)
def fake_splitters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make these splitters known under their names, beside the installed ones."""
    fakes = {fake.name: fake for fake in (SemicolonSplitter, ForgetfulSplitter)}

    def load(name: str) -> SentenceSplitter:
        return fakes[name]() if name in fakes else load_splitter(name)

    monkeypatch.setattr(api, "load_splitter", load)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run ``parataxis`` with arguments and, perhaps, something on standard input."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run_command(*arguments: object, stdin: str | bytes = b"") -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run_command
