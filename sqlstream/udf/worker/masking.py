"""Secrets in the values of functions: fields and keys whose names say it, at any depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.core.secrets import MASK, is_secret, masked_value, without
from sqlstream.udf.row import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def masked_inside(value: Any) -> Any:
    """``value`` with the mask in the place of the secrets in it."""
    match value:
        case dict():
            return {k: _field(k, v) for k, v in value.items()}
        case Row() if value._fields:
            return Row.of(value._fields, [_field(n, v) for n, v in zip(value._fields, value, strict=True)])
        case Row():
            return Row(*map(masked_inside, value))
        case list():
            return [masked_inside(v) for v in value]
        case str():
            return masked_value(value)
    return value


def _field(name: Any, value: Any) -> Any:
    return MASK if value is not None and isinstance(name, str) and is_secret(name) else masked_inside(value)


def texts(value: Any, *, secret: bool = False) -> Iterator[str]:
    """The secrets in ``value``, or, where it is one itself, all that is in it."""
    match value:
        case None:
            return
        case dict():
            named: Iterable[tuple[Any, Any]] = value.items()
        case Row() if value._fields:
            named = zip(value._fields, value, strict=True)
        case Row() | list():
            named = ((None, part) for part in value)
        case _:
            if secret:
                yield str(value)
            return
    for name, part in named:
        yield from texts(part, secret=secret or (isinstance(name, str) and is_secret(name)))


def with_masks(text: str, secrets: Iterable[str]) -> str:
    """``text`` with the mask in the place of each of ``secrets``, and of the passwords in it."""
    return masked_value(without(text, secrets))
