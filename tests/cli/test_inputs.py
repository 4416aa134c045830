"""What commands read: which argument is what, and lines as they arrive."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.errors import InputError
from parataxis.run.files import DataFormat, find_inputs
from parataxis.text.inputs import Lines


class Trickle(io.BytesIO):
    """A stream that gives a few bytes at a time, as a pipe may."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self.step = step

    def read1(self, size: int | None = -1) -> bytes:
        return super().read1(self.step)


@given(
    text=st.text(st.sampled_from("aé雨🙂 \n\r\u2028"), max_size=40).filter(str.strip),
    step=st.integers(1, 9),
)
def test_inputs_lines_are_those_of_the_text(text: str, step: int) -> None:
    lines = list(Lines(Trickle(text.encode(), step), "x"))
    assert lines == list(io.StringIO(text, newline=""))


def test_inputs_lines_come_as_they_arrive() -> None:
    lines = Lines(Trickle(b"One.\nTwo.\n\nThree.\n", 11), "x")
    assert next(lines) == "One.\n"
    assert lines.is_ready  # the second line came with the first
    assert next(lines) == "Two.\n"
    assert not lines.is_ready  # only a blank line is there yet


@given(
    text=st.text(st.sampled_from("a \n\r"), max_size=40).filter(str.strip), step=st.integers(1, 40)
)
def test_inputs_know_whether_a_line_with_words_is_there(text: str, step: int) -> None:
    lines = Lines(Trickle(text.encode(), step), "x")
    for _ in lines:
        assert lines.is_ready == any(line.strip() for line in lines._arrived)


def test_inputs_keep_a_byte_order_mark_apart() -> None:
    lines = Lines(io.BytesIO("\ufeffOne.\ufeff\n".encode()), "x")
    assert list(lines) == ["One.\ufeff\n"]
    assert lines.byte_order_mark == "\ufeff"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x is empty."),
        (b" \n\t\r\n", "x is empty."),
        (b"One.\nT\0o.", "x is a binary file, not text."),
        (b"\xff\xfeO\0n\0e\0", "x is UTF-16 text; save it as UTF-8."),
        (
            b"One.\nTwo.\ncaf\xe9\n",
            "x, line 3: byte 0xe9 is not UTF-8, so this is not text or has to be saved as UTF-8 "
            "first.",
        ),
    ],
)
@pytest.mark.parametrize("step", [1, 100])
def test_inputs_refuse_what_is_not_text(data: bytes, message: str, step: int) -> None:
    with pytest.raises(InputError) as caught:
        list(Lines(Trickle(data, step), "x"))
    if step > 1 or b"\0" not in data:
        assert str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "It rained, and he left.",
        "Stop!",
        "Hello",
        "U.S.",
        "He read and/or wrote.",
        "a" * 5000,
        "Line one.\nLine two.",
    ],
)
def test_inputs_take_a_text_as_it_is(text: str) -> None:
    (found,) = find_inputs([text])
    assert (found.name, found.kind, found.size) == ("text", DataFormat.TEXT, len(text) + 1)
    assert found.is_given_text
    with found.open() as stream:
        assert stream.read().decode() == f"{text}\n"


@pytest.mark.parametrize("name", ["a.txt", "letters/b", "c.unknown", "my file.docx", "./d"])
def test_inputs_know_a_missing_file(name: str) -> None:
    with pytest.raises(InputError, match="There is no file"):
        find_inputs([name])


def test_inputs_read_files_with_spaces_and_without_suffix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("my text", "README"):
        Path(name).write_text("It rained.\n", encoding="utf-8")
        (found,) = find_inputs([name])
        assert (found.path, found.size, found.is_stream) == (Path(name), 11, False)


def test_inputs_of_several_arguments_are_files() -> None:
    with pytest.raises(InputError) as caught:
        find_inputs(["Ann", "left."])
    assert str(caught.value) == 'There is no file "Ann"; put a text in quotes.'
