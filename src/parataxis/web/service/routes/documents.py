"""Documents: what they say, and the same documents with rewrites. Nothing is kept."""

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile

from parataxis.client.records import DocumentRead
from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.web.service import documents
from parataxis.web.service.documents import File
from parataxis.web.service.problems import REFUSALS, TooMuchError, complaint
from parataxis.web.service.service import Service, ServiceDep

__all__ = ["router"]

router = APIRouter(prefix="/v1/documents", tags=["documents"], responses=REFUSALS)

_REWRITES = TypeAdapter(list[Rewrite | None])
_FILE = {"type": "string", "format": "binary", "description": "A .txt, .md, .docx or .html file."}
_TRUE, _FALSE = ("true", "1", "on"), ("false", "0", "off", "")


def _form(**fields: dict[str, Any]) -> dict[str, Any]:
    """The description of a form. It is read by hand, because rewrites can be larger than what a
    form is read with otherwise."""
    schema = {"type": "object", "properties": fields, "required": ["file"]}
    content = {"multipart/form-data": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


@router.post("", openapi_extra=_form(file=_FILE), response_model=DocumentRead)
async def read(request: Request, service: ServiceDep) -> Response:
    """The text of a document, as it can be shown, and where its sentences stand in it."""
    async with request.form(max_files=1, max_fields=0) as form:
        file = await _open(form, service)
    answer = await service.aside(documents.read, file)
    service.require_room([len(sentence.text) for sentence in answer.sentences])
    return Response(answer.model_dump_json(), media_type="application/json")


@router.post(
    "/rewritten",
    openapi_extra=_form(
        file=_FILE,
        rewrites={
            "type": "string",
            "contentMediaType": "application/json",
            "description": "A list: for each sentence of the document a rewrite, or null where it "
            "is to be left alone.",
        },
        tracked={
            "type": "boolean",
            "default": False,
            "description": "Whether a Word document gets the splits as tracked changes.",
        },
    ),
    response_class=Response,
    responses={
        200: {
            "description": "The file. `X-Parataxis-Note` says, in one sentence, what was left "
            "alone although its rewrite is split, and why.",
            "content": {
                kind: {"schema": {"type": "string"}} for kind in documents.MEDIA_TYPES.values()
            },
        }
    },
)
async def rewritten(request: Request, service: ServiceDep) -> Response:
    """A document with its sentences replaced by their rewrites; all else stays as it was."""
    limit = 32 * service.settings.characters
    async with request.form(max_files=2, max_fields=2, max_part_size=limit) as form:
        file = await _open(form, service)
        rewrites = _rewrites(await _field(form, "rewrites"))
        tracked = _flag(await _field(form, "tracked"))
    data, report = await service.aside(documents.write, file, rewrites, tracked=tracked)
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"}
    if note := report.note():
        headers["x-parataxis-note"] = note
    return Response(data, media_type=documents.media_type(file.name), headers=headers)


async def _open(form: FormData, service: Service) -> File:
    upload = form.get("file")
    if not isinstance(upload, UploadFile):
        raise InputError('The field "file" is missing; send a file in it.')
    data = await upload.read()
    if len(data) > service.settings.upload:
        raise TooMuchError(
            f"The file has {len(data)} bytes; at most {service.settings.upload} are taken."
        )
    characters = service.settings.characters
    return await service.aside(documents.open_file, data, upload.filename or "", characters)


async def _field(form: FormData, name: str) -> str:
    value = form.get(name, "")
    if isinstance(value, str):
        return value
    try:
        return (await value.read()).decode()
    except UnicodeDecodeError as error:
        raise InputError(f'The field "{name}" is not UTF-8.') from error


def _rewrites(text: str) -> list[Rewrite | None]:
    if not text:
        raise InputError(
            'The field "rewrites" is missing; give a rewrite or null for each sentence.'
        )
    try:
        return _REWRITES.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise InputError('The field "rewrites" is no JSON.') from error
        raise InputError(complaint({**first, "loc": ("rewrites", *first["loc"])})) from error


def _flag(text: str) -> bool:
    if text.lower() not in (*_TRUE, *_FALSE):
        raise InputError('The field "tracked" must be true or false.')
    return text.lower() in _TRUE
