"""What the server answers, as an OpenAPI document: at /openapi.json."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse
from starlette.routing import Route

from sqlstream.core.release import release
from sqlstream.server.answers import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from sqlstream.server.answers import Address

_PART = re.compile(r"{(\w+)}")


def route(addresses: Iterable[Address]) -> Route:
    """What answers the document of ``addresses``."""
    made = document(addresses)

    async def answer(_request: Request) -> Response:
        return JSONResponse(made)

    return Route("/openapi.json", answer, methods=["GET"])


def document(addresses: Iterable[Address]) -> dict[str, Any]:
    """The document, without the versions that may stand before a path."""
    paths: dict[str, dict[str, Any]] = {}
    for one in addresses:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    return {"openapi": "3.1.0", "info": {"title": "sqlstream", "version": release()}, "paths": paths}


def _operation(one: Address) -> dict[str, Any]:
    parameters = [{"name": name, "in": "path", "required": True, "schema": TEXT} for name in _PART.findall(one.path)]
    parameters += [{"name": name, "in": "query", "schema": dict(schema)} for name, schema in one.query.items()]
    answers = {"2XX": {"description": "done"}, "4XX": {"description": "refused", "content": {"application/json": {"schema": _REFUSED}}}}
    operation: dict[str, Any] = {"summary": _first_line(one), "parameters": parameters, "responses": answers}
    if one.body:
        operation["requestBody"] = {"required": bool(one.needs), "content": {"application/json": {"schema": _object(one.body, one.needs)}}}
    return operation


_REFUSED = {"type": "object", "properties": {"errors": {"type": "array", "items": TEXT}}, "required": ["errors"]}


def _object(properties: Mapping[str, Mapping[str, Any]], needs: tuple[str, ...]) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": {name: dict(schema) for name, schema in properties.items()}}
    return {**made, "required": list(needs)} if needs else made


def _first_line(one: Address) -> str:
    said = one.handler.__doc__ or getattr(one.handler, "__name__", "").replace("_", " ")
    return said.strip().splitlines()[0]
