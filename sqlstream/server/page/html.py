"""Templates and how they are answered: with headers that let a page load nothing but what the server itself has."""

from __future__ import annotations

import hashlib
import secrets
import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from sqlstream.core.job_names import short_name
from sqlstream.server.page import written

if TYPE_CHECKING:
    from collections.abc import Mapping

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
_POLICY = {
    "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self'", "connect-src": "'self'",
    "form-action": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'",
}  # fmt: skip


def _policy(nonce: str | None = None) -> str:
    styles = {"style-src": f"'self' 'nonce-{nonce}'"} if nonce is not None else {}
    return "; ".join(f"{name} {value}" for name, value in {**_POLICY, **styles}.items())


# Without a referrer of the own site a browser would not say of a form where it comes from.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": _policy(),
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_FRESH = {"Cache-Control": "no-store"}


@cache
def asset(name: str) -> str:
    """The address of a file of ``static``: another one when it is another file."""
    return f"/static/{name}?{hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]}"


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals["asset"] = asset
    for write in (written.number, written.counted, written.size_of, written.length_of, written.ago, written.behind, written.moment, short_name):
        made.filters[write.__name__] = write
    made.filters["quoted"] = shlex.quote
    return made


def rendered(template: str, values: Mapping[str, Any], *, layout: str = "page.html") -> str:
    """A template with its values, in a whole page or, in the layout ``view.html``, as what is exchanged of it."""
    return _templates().get_template(template).render({**values, "layout": layout})


def answer(text: str, status: int = 200, *, nonce: str | None = None) -> HTMLResponse:
    """The answer that is a whole page; the script of an editor makes styles, which are let in by the ``nonce`` that the page has."""
    headers = {**HEADERS, **_FRESH}
    if nonce is not None:
        headers["Content-Security-Policy"] = _policy(nonce)
    return HTMLResponse(text, status, headers=headers)


def new_nonce() -> str:
    """One for a single answer."""
    return secrets.token_urlsafe(16)
