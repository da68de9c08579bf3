"""The addresses of Flink's monitoring interface: /overview, /jobs and what is below them, with and without the version before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from sqlstream.core.cores import cores
from sqlstream.core.errors import ValidationError
from sqlstream.core.release import release
from sqlstream.runtime.jobs.control.ask import ask
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.server.answers import FLAG, TEXT, Address, body, flag_of, text_of
from sqlstream.server.monitoring import jobs as about
from sqlstream.server.monitoring.triggers import Triggers

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from sqlstream.server.monitoring.jobs import Shown
    from sqlstream.server.server import Server


VERSIONS = ("v1",)


def addresses(server: Server) -> tuple[Address, ...]:
    """All of them, without the version that may stand before."""
    interface = _Monitoring(server)
    named = {"get": TEXT}
    return (
        Address("/config", "GET", interface.config),
        Address("/overview", "GET", interface.overview),
        Address("/jobs", "GET", interface.ids),
        Address("/jobs/overview", "GET", interface.jobs),
        Address("/jobs/{job}", "GET", interface.details),
        Address("/jobs/{job}", "PATCH", interface.cancel, query={"mode": {**TEXT, "enum": ["cancel"]}}),
        Address("/jobs/{job}/plan", "GET", interface.plan),
        Address("/jobs/{job}/exceptions", "GET", interface.exceptions),
        Address("/jobs/{job}/checkpoints", "GET", interface.checkpoints),
        Address("/jobs/{job}/metrics", "GET", interface.metrics, query=named),
        Address("/jobs/{job}/vertices/{vertex}/metrics", "GET", interface.metrics, query=named),
        Address("/jobs/{job}/stop", "POST", interface.stop, {"drain": FLAG, "targetDirectory": TEXT}),
        Address("/jobs/{job}/savepoints", "POST", interface.save, {"cancel-job": FLAG, "target-directory": TEXT}),
        Address("/jobs/{job}/savepoints/{trigger}", "GET", interface.saved),
    )


class _Monitoring:
    """What each address answers."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._triggers = Triggers(server.project)

    async def config(self, request: Request) -> Response:
        version = f"sqlstream {release()}"
        features = {"web-submit": False, "web-cancel": True, "web-rescale": False, "web-history": False}
        return JSONResponse({"refresh-interval": 3000, "timezone-name": "UTC", "timezone-offset": 0, "flink-version": version, "features": features})

    async def overview(self, request: Request) -> Response:
        return JSONResponse(about.cluster(await self._all(), cores(), f"sqlstream {release()}"))

    async def ids(self, request: Request) -> Response:
        return JSONResponse({"jobs": [{"id": job.id, "status": job.state} for job in await self._all()]})

    async def jobs(self, request: Request) -> Response:
        return JSONResponse({"jobs": [about.overview(job) for job in await self._all()]})

    async def details(self, request: Request) -> Response:
        return await self._of(request, about.details)

    async def plan(self, request: Request) -> Response:
        return await self._of(request, lambda job: {"plan": about.plan(job)})

    async def exceptions(self, request: Request) -> Response:
        return await self._of(request, about.exceptions)

    async def checkpoints(self, request: Request) -> Response:
        return await self._of(request, about.checkpoints)

    async def metrics(self, request: Request) -> Response:
        """The names of the metrics of a job, or of a vertex of it; with ``get`` the values of some."""
        job = await self._find(request)
        reported = await run_in_threadpool(self._server.jobs.reporter.reported)
        one = next((r for r in reported if r.metrics.id == job.id), None)
        asked = request.query_params.get("get")
        return JSONResponse(about.named_metrics(job, one, request.path_params.get("vertex"), None if asked is None else set(asked.split(","))))

    async def cancel(self, request: Request) -> Response:
        """Stops a job; its state is kept."""
        if (mode := request.query_params.get("mode", "cancel")) != "cancel":
            raise ValidationError(f"The mode '{mode[:100]}' is none of cancel.")
        job = await self._find(request)
        await run_in_threadpool(ask, self._server.jobs, job.id, Action.STOP, lambda: False)
        return JSONResponse({}, 202)

    async def stop(self, request: Request) -> Response:
        """Stops a job with a savepoint, which is made behind the answer."""
        asked = await body(request)
        job = await self._find(request)
        drains = flag_of(asked, "drain")
        _refuse_folder(asked, "targetDirectory")
        return self._begun(job, Action.stop(savepoint=True, drain=drains))

    async def save(self, request: Request) -> Response:
        """Makes a savepoint, behind the answer."""
        asked = await body(request)
        job = await self._find(request)
        _refuse_folder(asked, "target-directory")
        return self._begun(job, Action.STOP_WITH_SAVEPOINT if flag_of(asked, "cancel-job") else Action.SAVEPOINT)

    async def saved(self, request: Request) -> Response:
        """What came of it."""
        await self._find(request)
        trigger = self._triggers.find(request.path_params["trigger"])
        if trigger.error is not None:
            raise trigger.error
        if not trigger.done:
            return JSONResponse({"status": {"id": "IN_PROGRESS"}, "operation": None})
        return JSONResponse({"status": {"id": "COMPLETED"}, "operation": {"location": trigger.result}})

    def _begun(self, job: Shown, action: Action) -> Response:
        return JSONResponse({"request-id": self._triggers.begin(lambda: ask(self._server.jobs, job.id, action, lambda: False))}, 202)

    async def _all(self) -> list[Shown]:
        return await run_in_threadpool(lambda: list(about.shown(self._server.jobs)))

    async def _find(self, request: Request) -> Shown:
        return await run_in_threadpool(about.find, self._server.jobs, request.path_params["job"])

    async def _of(self, request: Request, what: Callable[[Shown], dict[str, Any]]) -> Response:
        return JSONResponse(what(await self._find(request)))


def _refuse_folder(asked: dict[str, Any], name: str) -> None:
    """Refuses a folder for a savepoint that is not the project's."""
    if asked.get(name) is not None:
        hint = "SET 'execution.checkpointing.savepoint-dir' in sqlstream.toml says where savepoints go."
        raise ValidationError(f"A savepoint is not written to '{text_of(asked, name)[:200]}'.", hint=hint)
