"""Figures of jobs in Prometheus' format: as a text, and at a port of one's own."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING

from sqlstream.core import settings
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.runtime.monitor.reporting.dead_letters import DeadLetters
from sqlstream.runtime.monitor.reporting.families import FAMILIES, OF_JOB, RUNNING_JOBS, Reported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from wsgiref.simple_server import WSGIServer

    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

    from sqlstream.runtime.jobs.job import Job

PORT, HOST = "metrics.reporter.prom.port", "metrics.reporter.prom.host"


class Reporter:
    """Tells of ``jobs``. Rows that they leave out are counted from now on."""

    def __init__(self, jobs: Callable[[], Iterable[Job]], project: Path) -> None:
        self._jobs = jobs
        self._letters = DeadLetters(ProjectFolder(project).dead_letters)
        self._lock = threading.Lock()
        self._server: WSGIServer | None = None

    def reported(self) -> list[Reported]:
        """The jobs with their figures, as they were a second ago."""
        with self._lock:
            letters = dict(self._letters.counts())
        return [Reported(j.metrics, tuple(j.sink_names), sum(letters.get(run, 0) for run in j.runs) + j.left_out) for j in self._jobs()]

    def collect(self) -> Iterator[Metric]:
        """For a registry of prometheus_client."""
        return families(self.reported())

    @cached_property
    def _registry(self) -> CollectorRegistry:
        """It is imported when somebody is told: a start need not wait for it."""
        from prometheus_client import CollectorRegistry

        registry = CollectorRegistry()
        registry.register(self)
        return registry

    def text(self, accept: str) -> tuple[bytes, str]:
        """What is told, in the format that is accepted, and its content type."""
        from prometheus_client.exposition import choose_encoder

        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type

    def listen(self, options: Mapping[str, str], notify: Callable[[str], None]) -> None:
        """Tell whoever asks at the port that is set, from now on; at the first that is free of several. Where none is, it is said: jobs go on."""
        ports = settings.read(options, PORT)
        if ports is None or self._server is not None:
            return
        from prometheus_client import start_http_server

        host = settings.read(options, HOST)
        for port in ports:
            try:
                self._server, _ = start_http_server(port, host, self._registry)
            except OSError as error:
                failed = error.strerror or str(error)
            else:
                notify(f"Metrics of jobs are at http://{host}:{self._server.server_port}/metrics")
                return
        hint = f"'{PORT}' may be a range, of which the first free one is taken."
        notify(f"Metrics of jobs are not to be had: {host} port {options[PORT]}: {failed}. {hint}")

    def close(self) -> None:
        """Tell nobody any more."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()


def families(jobs: list[Reported]) -> Iterator[Metric]:
    """The families of metrics of all ``jobs``."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    name, text = RUNNING_JOBS
    yield GaugeMetricFamily(name, text, value=sum(job.metrics.status == "RUNNING" for job in jobs))
    for family in FAMILIES:
        made = (CounterMetricFamily if family.counts else GaugeMetricFamily)(family.name, family.text, labels=(*OF_JOB, *family.labels))
        for job in jobs:
            for labels, value in family.samples(job):
                if value is not None:
                    made.add_metric((job.metrics.id, job.metrics.name, *labels), value)
        yield made
