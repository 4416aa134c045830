"""Reading and writing rewrites as JSON lines, the format that commands exchange.

A line is one JSON object. Corpora often call the source "complex" and name no splitter; both are
accepted, so that references can be read as rewrites. Unknown fields are kept.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pydantic_core
from pydantic import ValidationError

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite, SourceLine

SOURCES = ("source", "complex")
"""The fields that hold the source."""

UNKNOWN_SPLITTER = "unknown"
"""The splitter of a rewrite whose record names none."""


def to_json(rewrite: Rewrite) -> str:
    """A rewrite as one line of JSON, without a newline and without fields that are None.

    >>> to_json(Rewrite(source="It rained.", simple=["It rained."], splitter="source"))
    '{"source":"It rained.","simple":["It rained."],"splitter":"source"}'
    """
    return rewrite.model_dump_json(exclude_none=True)


def read_rewrites(lines: Iterable[str], name: str) -> Iterator[Rewrite]:
    """The rewrites in the lines of the file ``name``; blank lines are skipped.

    Raises InputError, naming file and line, for a line that is not a rewrite.

    >>> next(read_rewrites(['{"complex": "It rained.", "simple": ["It rained."]}'], "a.jsonl")).id
    'a.jsonl:1'
    """
    for number, record in _records(lines, name):
        alias = set() if "source" in record else {"complex"}
        fields = {
            "splitter": UNKNOWN_SPLITTER,
            **{field: record[field] for field in record if field not in alias},
            "source": source_of(record, name, number),
            "id": id_of(record, name, number),
        }
        if isinstance(fields.get("simple"), str):
            raise _error(name, number, '"simple" must be a list of sentences')
        try:
            yield Rewrite.model_validate(fields)
        except ValidationError as error:
            raise _error(name, number, _complaint(error)) from error


def read_sources(lines: Iterable[str], name: str) -> Iterator[SourceLine]:
    """The source sentences in the lines of the file ``name``; other fields are ignored."""
    for number, record in _records(lines, name):
        yield SourceLine(id_of(record, name, number), source_of(record, name, number))


def _records(lines: Iterable[str], name: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, read_record(line, name, number)


def read_record(line: str, name: str, number: int) -> Mapping[str, object]:
    """The JSON object in a line; InputError, naming file and line, where there is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _error(name, number, "this is not a line of JSON") from error
    if not isinstance(record, dict):
        raise _error(name, number, "a record must be a JSON object")
    try:  # to write it again: UTF-8 cannot encode lone surrogates, and pydantic limits nesting
        pydantic_core.to_json(record)
    except pydantic_core.PydanticSerializationError as error:
        complaint = "the record has a lone surrogate (half a character) or is nested too deeply"
        raise _error(name, number, complaint) from error
    return record


def field_of(record: object, field: str) -> object:
    """The value of a field, or of one inside another: "doc.text"; None where there is none.

    >>> field_of({"doc": {"text": "It rained."}}, "doc.text")
    'It rained.'
    """
    if not isinstance(record, Mapping):
        return None
    if field in record:
        return record[field]
    outer, dot, inner = field.partition(".")
    return field_of(record.get(outer), inner) if dot else None


def source_of(
    record: Mapping[str, object], name: str, number: int, fields: Sequence[str] = SOURCES
) -> str:
    """The source sentence of a record: the first of these fields that it has."""
    found = (field_of(record, field) for field in fields)
    source = next((value for value in found if value is not None), None)
    if source is None:
        names = " nor ".join(f'"{field}"' for field in fields)
        has_none = "neither" if len(fields) > 1 else "no"
        raise _error(name, number, f"the record has {has_none} {names}")
    if not isinstance(source, str) or not source.strip():
        raise _error(name, number, "the source must be a sentence, and not empty")
    return source


def id_of(record: Mapping[str, object], name: str, number: int) -> str:
    """The id of a record: its own, or ``file:line``."""
    own = record.get("id")
    return f"{name}:{number}" if own is None else str(own)


def _complaint(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f'"{where}": {message}' if where else message


def _error(name: str, number: int, complaint: str) -> InputError:
    return InputError(f"{name}, line {number}: {complaint}.")
