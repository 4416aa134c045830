"""Documents: what they say, and the same documents with rewrites. Nothing is written down."""

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData, UploadFile

from parataxis.client.records import DocumentRead
from parataxis.errors import InputError
from parataxis.web.service import documents
from parataxis.web.service.problems import REFUSALS, TooMuchError
from parataxis.web.service.service import Service, ServiceDep

__all__ = ["router"]

router = APIRouter(prefix="/v1/documents", tags=["documents"], responses=REFUSALS)

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
        name, data = await _file(form, service)
    answer = await service.in_turn(service.readers.read, data, name)
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
        name, data = await _file(form, service)
        rewrites = await _field(form, "rewrites")
        tracked = _flag(await _field(form, "tracked"))
    if not rewrites:
        raise InputError(
            'The field "rewrites" is missing; give a rewrite or null for each sentence.'
        )
    write = service.readers.write
    name, made, note = await service.in_turn(write, data, name, rewrites, tracked=tracked)
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    if note:
        headers["x-parataxis-note"] = note
    return Response(made, media_type=documents.media_type(name), headers=headers)


async def _file(form: FormData, service: Service) -> tuple[str, bytes]:
    upload = form.get("file")
    if not isinstance(upload, UploadFile):
        raise InputError('The field "file" is missing; send a file in it.')
    data = await upload.read()
    if len(data) > service.settings.upload:
        raise TooMuchError(
            f"The file has {len(data)} bytes; at most {service.settings.upload} are taken."
        )
    return upload.filename or "", data


async def _field(form: FormData, name: str) -> bytes:
    value = form.get(name, "")
    return value.encode() if isinstance(value, str) else await value.read()


def _flag(value: bytes) -> bool:
    text = value.decode(errors="replace").lower()
    if text not in (*_TRUE, *_FALSE):
        raise InputError('The field "tracked" must be true or false.')
    return text in _TRUE
