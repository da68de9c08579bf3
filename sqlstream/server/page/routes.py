"""The addresses of the page: views, what follows as they change, and what their forms ask for."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote

from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import RedirectResponse, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sqlstream.core.defects import defect
from sqlstream.core.errors import Defect, SqlStreamError, ValidationError
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.server.answers import NotThere
from sqlstream.server.guard import allowed, cookie_of, may_change
from sqlstream.server.page import html
from sqlstream.server.page import query as editor
from sqlstream.server.page.catalog import CatalogPages
from sqlstream.server.page.doings import VERBS, Doings
from sqlstream.server.page.job import PARTS, JobPages
from sqlstream.server.page.jobs import JobList
from sqlstream.server.page.topics import TopicPages
from sqlstream.session import help as help_of
from sqlstream.sql.tables import ObjectPath

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from sqlstream.core.tokens import Tokens
    from sqlstream.server.server import Server

# How often a view is looked at, whether something in it has changed.
_EVERY_SECONDS = 1.0
# The heartbeat of a view in which nothing changes: what stands between, and the page, take a silent connection for lost.
_ALIVE_SECONDS = 5.0
# A topic of HELP has at most so many characters.
_LONGEST_TOPIC = 100
# Whole pages and files are compressed; events would wait in a compressor for those behind them.
_SMALL = (Middleware(GZipMiddleware),)
_SHOWN = ("failing", "behind", "running", "still")
# Where an error of one of their pages leads to.
_LISTS = (("/topics", "All topics"), ("/catalog", "Catalog"))


def routes(pages: Pages) -> list[BaseRoute]:
    """All of them."""
    views = (
        View("/", pages.jobs),
        View("/job/{name:path}", pages.job),
        View("/query", pages.query, follows=False),
        View("/catalog", pages.catalog),
        View("/catalog/{catalog}/{database}/{table:path}", pages.table),
        View("/function/{function}", pages.function),
        View("/topics", pages.topics),
        View("/topics/{topic:path}", pages.topic),
        View("/help", pages.help, follows=False),
    )
    return [
        Mount("/static", StaticFiles(directory=html.STATIC), name="static", middleware=_SMALL),
        Route("/login", pages.answering(pages.login), methods=["GET"]),
        Route("/login", pages.answering(pages.log_in), methods=["POST"]),
        Route("/logout", pages.answering(pages.log_out), methods=["POST"]),
        *(Route(f"/live{view.path}", pages.answering(pages.live(view)), methods=["GET"]) for view in views if view.follows),
        *(Route(view.path, pages.answering(pages.whole(view)), methods=["GET"], middleware=_SMALL) for view in views),
        Route("/totals", pages.answering(pages.totals), methods=["GET"]),
        Route("/job/{name:path}", pages.answering(pages.ask), methods=["POST"]),
    ]


@dataclass(frozen=True)
class Shown:
    """A view: its template, its values, and its title; ``job``: the one whose charts are in it."""

    template: str
    values: dict[str, Any]
    title: str
    job: str | None = None


def _failed(error: SqlStreamError) -> Shown:
    """The view that says what has failed."""
    return Shown("error.html", {"error": error}, "Error")


@dataclass(frozen=True)
class View:
    """An address, and what makes the view there; ``make`` waits for files, and runs in a thread. ``follows``: it changes by itself while it is
    looked at; one that does not is the user's to change.
    """

    path: str
    make: Callable[[Request], Shown]
    follows: bool = True


class Pages:
    """What each address answers; ``tokens`` as of Guard."""

    def __init__(self, server: Server, tokens: Tokens | None) -> None:
        self._server = server
        self._tokens = tokens
        self._jobs = JobList(server)
        self._job = JobPages(server)
        self._catalog = CatalogPages(server)
        self._topics = TopicPages(server)
        self._doings = Doings(server.project)

    # --- views --------------------------------------------------------------------------------------------------------

    def jobs(self, request: Request) -> Shown:
        """The list of jobs; ``show`` names the kind of state that is shown alone."""
        rows = self._jobs.rows()
        show = request.query_params.get("show")
        kinds = [(kind, sum(row.state.kind == kind for row in rows)) for kind in _SHOWN]
        shown = [row for row in rows if row.state.kind == show] if show in _SHOWN else rows
        failing = kinds[0][1]
        title = f"{failing} failing - Jobs" if failing else "Jobs"
        values = {"rows": shown, "kinds": kinds, "show": show, "all": len(rows), "project_path": str(self._server.project)}
        # What comes next in a project without jobs depends on whether it has tables.
        return Shown("jobs.html", values if rows else {**values, "declared": self._catalog.listed().declared}, title)

    def job(self, request: Request) -> Shown:
        """A job; ``show`` names the part of what is known of it. Raises NotThere."""
        found = self._job.find(request.path_params["name"], request.query_params.get("show", ""))
        row = found.row
        doing = self._doings.of(row.name, row.since if row.runs else None, found.failed)
        values = {
            "job": found,
            "row": row,
            "parts": PARTS,
            "verbs": VERBS,
            "doing": doing,
            "Action": Action,
            **found.more,
        }
        return Shown("job.html", values, f"{row.short} {row.state.word}", row.name)

    def query(self, request: Request) -> Shown:
        """An editor; ``saved`` names a query that it begins with, ``job`` a job, with the ``savepoint`` that begins it, ``sql`` is the text
        itself. Raises NotThere, ValidationError.
        """
        asked = request.query_params
        found = editor.shown(self._server, asked.get("saved"), asked.get("job"), asked.get("sql"), asked.get("savepoint"))
        return Shown("query.html", {"query": found, "script": "query.js", "nonce": html.new_nonce()}, found.job or "Query")

    def catalog(self, request: Request) -> Shown:
        """The tables and views of the project."""
        return Shown("catalog.html", {"listed": self._catalog.listed()}, "Catalog")

    def table(self, request: Request) -> Shown:
        """One of them. Raises NotThere, and what a store of a catalog answers."""
        path = ObjectPath(*(request.path_params[part] for part in ("catalog", "database", "table")))
        return Shown("table.html", {"table": self._catalog.table(path)}, path.name)

    def topics(self, request: Request) -> Shown:
        """The topics of the brokers that the project knows."""
        return Shown("topics.html", {"clusters": self._topics.listed()}, "Topics")

    def topic(self, request: Request) -> Shown:
        """One of them; ``servers`` names its brokers. Its records are read when it is opened, and not as it is followed. Raises NotThere, and what
        the brokers answer.
        """
        opened = not request.scope["path"].startswith("/live/")
        found = self._topics.topic(request.path_params["topic"], request.query_params.get("servers"), opened=opened)
        return Shown("topic.html", {"topic": found}, found.row.name)

    def function(self, request: Request) -> Shown:
        """A function of the project. Raises NotThere."""
        found = self._catalog.function(request.path_params["function"])
        return Shown("function.html", {"function": found}, found.name)

    def help(self, request: Request) -> Shown:
        """What HELP says ``about`` a topic, or the topics."""
        about = request.query_params.get("about", "").strip()[:_LONGEST_TOPIC]
        try:
            said, error = help_of.text(about) if about else None, None
        except ValidationError as unknown:
            said, error = None, unknown
        return Shown("help.html", {"about": about, "said": said, "error": error, "groups": help_of.topics()}, about or "Docs")

    # --- how they are answered ----------------------------------------------------------------------------------------

    def whole(self, view: View) -> Callable[[Request], Awaitable[Response]]:
        """Answers a view as a page."""

        async def answer(request: Request) -> Response:
            shown = await run_in_threadpool(view.make, request)
            text = await run_in_threadpool(self._rendered, request, shown, "page.html", follows=view.follows)
            return html.answer(text, nonce=shown.values.get("nonce"))

        return answer

    def live(self, view: View) -> Callable[[Request], Awaitable[Response]]:
        """Answers a view as events: it anew whenever it has changed, and points of charts as they come."""

        async def answer(request: Request) -> Response:
            # Errors are the answer, and not the end of one.
            await run_in_threadpool(view.make, request)
            headers = {**html.HEADERS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
            return StreamingResponse(self._events(request, view), media_type="text/event-stream", headers=headers)

        return answer

    async def _events(self, request: Request, view: View) -> AsyncIterator[str]:
        """A view as it changes, until the client or the server leaves."""
        leaving: asyncio.Event = request.app.state.leaving
        at, before, spoken = 0.0, "", 0.0
        while not leaving.is_set():
            events = ""
            try:
                shown = await run_in_threadpool(view.make, request)
                text = await run_in_threadpool(self._rendered, request, shown, "view.html")
            except SqlStreamError as error:
                # As of a job that was dropped: the page says so, and goes on when there is one of that name again.
                shown = _failed(error)
                text = html.rendered(shown.template, self._around(request, shown), layout="view.html")
            if text != before:
                events, before = _event("view", text), text
            if shown.job is not None and (points := await run_in_threadpool(self._job.points, shown.job, at)) is not None:
                at = points.last
                events += _event("points", points.columns)
            if not events and time.monotonic() - spoken >= _ALIVE_SECONDS:
                events = _event("alive", "now")
            if events:
                spoken = time.monotonic()
                yield events
            try:
                await asyncio.wait_for(leaving.wait(), _EVERY_SECONDS)
            except TimeoutError:
                continue

    def _rendered(self, request: Request, shown: Shown, layout: str, *, follows: bool = True) -> str:
        around = self._around(request, shown)
        return html.rendered(shown.template, {**around, "totals": self._totals(), "live": around["live"] if follows else None}, layout=layout)

    async def totals(self, _request: Request) -> Response:
        """What the jobs do together: a view that does not follow the server asks for it."""
        totals = await run_in_threadpool(self._totals)
        return html.answer(html.rendered("totals.html", {"totals": totals}))

    def _totals(self) -> tuple[int, float]:
        """How many jobs run, and how many rows a second they read."""
        rows = self._jobs.rows()
        return sum(row.state.kind in ("running", "behind") for row in rows), sum(row.rows_in or 0 for row in rows)

    def _around(self, request: Request, shown: Shown) -> dict[str, Any]:
        """The values of a view, and of what stands around each."""
        query = f"?{request.url.query}" if request.url.query else ""
        path = request.scope["path"].removeprefix("/live")
        return {
            **shown.values,
            "title": shown.title,
            "live": f"/live{quote(path)}{query}",
            "alive": _ALIVE_SECONDS,
            "project": self._server.project.name,
            "totals": None,
            "list": next(((each, said) for each, said in _LISTS if path.startswith(f"{each}/")), ("/", "All jobs")),
            "may_change": may_change(request.scope),
            "logged_in": self._tokens is not None and cookie_of(request.headers.get("host", "")) in request.cookies,
        }

    def answering(self, handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """``handler``, whose errors are pages."""

        async def answer(request: Request) -> Response:
            try:
                return await handler(request)
            except SqlStreamError as error:
                return self.failed(request, error)
            except Exception as error:
                return self.failed(request, defect(error, self._server.project))

        return answer

    def failed(self, request: Request, error: SqlStreamError, status: int | None = None) -> Response:
        """The page that says what has failed; None: its status is that of the error."""
        status = status or (404 if isinstance(error, NotThere) else 500 if isinstance(error, Defect) else 400)
        return html.answer(html.rendered("error.html", {**self._around(request, _failed(error)), "live": None}), status)

    # --- what forms ask for -------------------------------------------------------------------------------------------

    async def ask(self, request: Request) -> Response:
        """Begin what is asked of a job, and show the job. Raises ValidationError, NotThere."""
        form = await _form(request)
        wanted = form.get("action", "")
        action = next((each for each in VERBS if each.value == wanted), None)
        if action is None:
            raise ValidationError(f"Nothing of a job is called '{wanted[:100]}'.", hint=f"Known are {', '.join(each.value for each in VERBS)}.")
        found = await run_in_threadpool(self._job.find, request.path_params["name"], "")
        name = found.row.name
        self._doings.begin(name, action, lambda: self._server.ask(name, action))
        return RedirectResponse(f"/job/{quote(request.path_params['name'])}#name", 303, headers=dict(html.HEADERS))

    async def login(self, request: Request) -> Response:
        """The form for a token."""
        return self._login(_own(request.query_params.get("to")), left="left" in request.query_params)

    def _login(self, to: str, *, wrong: bool = False, left: bool = False) -> Response:
        values = {"title": "Log in", "wrong": wrong, "left": left, "to": to, "project": self._server.project.name}
        return html.answer(html.rendered("login.html", values), 401 if wrong else 200)

    async def log_in(self, request: Request) -> Response:
        """Keep the token in a cookie that no script sees, if it is one."""
        form = await _form(request)
        to, token = _own(form.get("to")), form.get("token", "").strip()
        if self._tokens is not None and allowed(self._tokens, token.encode(), "GET") is None:
            self._server.tell(f"[WARNING] {request.client.host if request.client else '?'} was refused: the page was given no token that is known.")
            return self._login(to, wrong=True)
        answer = RedirectResponse(to, 303, headers=dict(html.HEADERS))
        if self._tokens is not None:
            answer.set_cookie(value=token, **_cookie(request))
        return answer

    async def log_out(self, request: Request) -> Response:
        """Forget the token."""
        answer = RedirectResponse("/login?left", 303, headers=dict(html.HEADERS))
        answer.delete_cookie(**_cookie(request))
        return answer


def _own(to: str | None) -> str:
    """An address of this server; that of the start where it is none."""
    return to if to is not None and to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable() else "/"


def _cookie(request: Request) -> dict[str, Any]:
    """That in which a browser keeps its token: no script sees it, no page of another site has it sent."""
    return {"key": cookie_of(request.headers.get("host", "")), "httponly": True, "samesite": "strict", "secure": request.url.scheme == "https"}


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form, the first of each name."""
    try:
        text = (await request.body()).decode()
    except UnicodeDecodeError:
        raise ValidationError("The form is not UTF-8.") from None
    return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True).items()}


def _event(name: str, text: str) -> str:
    """An event as a stream of them has it: a line of data for each line of the text."""
    data = "".join(f"data: {line}\n" for line in text.splitlines())
    return f"event: {name}\n{data}\n"
