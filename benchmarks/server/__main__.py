"""What a server costs.

    python -m benchmarks.server requests --endpoint http://127.0.0.1:8083 [--clients 8] [--statements 500] [--sql 'SHOW TABLES']

How many statements a second a server answers, ours or Flink's own gateway, and how long the first row takes.

    python -m benchmarks.server days [--jobs 20] [--sessions 200] [--clients 4]

Days of a server in minutes: it runs jobs, half of which keep state, while sessions come and go. Their statements declare, ask, and run bounded and
streaming queries, which are given up after their first rows. A line of figures each tenth, with the heap as it is after a collection of garbage.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from benchmarks.server.client import Client

# What a session does: fifty statements, of which seven are queries.
NUMBERS = (
    "CREATE TEMPORARY TABLE numbers (n BIGINT, word STRING) WITH ('connector' = 'datagen', 'rows-per-second' = '20', 'fields.word.length' = '3')"
)
NOTHING = "CREATE TEMPORARY TABLE nothing (word STRING, n BIGINT) WITH ('connector' = 'blackhole')"
LIGHT = ("SHOW TABLES", "DESCRIBE numbers", "SET 'pipeline.name' = 'x'", "SHOW JOBS", "EXPLAIN SELECT word, COUNT(*) FROM numbers GROUP BY word")
BOUNDED = (
    "SET 'execution.runtime-mode' = 'batch'",
    "SELECT word, SUM(n) FROM (VALUES ('a', 1), ('b', 2), ('a', 3)) AS t (word, n) GROUP BY word",
    "SET 'execution.runtime-mode' = 'streaming'",
)
STREAMING = "SELECT word, COUNT(*) FROM numbers GROUP BY word"
SESSION = (NUMBERS, *(6 * (*LIGHT, *BOUNDED)), STREAMING)
FIRST_ROWS = 5
JOBS = ("SELECT word, n FROM numbers WHERE n > 0", "SELECT word, COUNT(*) FROM numbers GROUP BY word")
_LISTENS = re.compile(r"http://[\w.]+:\d+")
_HEAP = re.compile(r"used (\d+)K")


@dataclass(frozen=True)
class Sample:
    """What a server has after so many statements: bytes of Python's process, of the JVM's, and used of its heap; threads and open files of both."""

    statements: int
    seconds: float
    python: int
    java: int
    heap: int
    threads: tuple[int, int]
    files: tuple[int, int]
    jobs: int

    def __str__(self) -> str:
        return (
            f"{self.statements:>7} statements {self.seconds:6.0f} s | Python {self.python / 1e6:6.1f} MB, {self.threads[0]} threads, "
            f"{self.files[0]} files | JVM {self.java / 1e6:7.1f} MB, heap {self.heap / 1e6:6.1f} MB, {self.threads[1]} threads, "
            f"{self.files[1]} files | {self.jobs} jobs run"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.server", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    requests = kinds.add_parser("requests")
    requests.add_argument("--endpoint", required=True)
    requests.add_argument("--clients", type=int, default=8)
    requests.add_argument("--statements", type=int, default=500, help="of each client")
    requests.add_argument("--sql", default="SHOW TABLES")
    days = kinds.add_parser("days")
    days.add_argument("--jobs", type=int, default=20)
    days.add_argument("--sessions", type=int, default=200)
    days.add_argument("--clients", type=int, default=4, help="sessions at a time")
    arguments = parser.parse_args()
    if arguments.kind == "requests":
        _requests(arguments.endpoint, arguments.clients, arguments.statements, arguments.sql)
    else:
        _days(arguments.jobs, arguments.sessions, arguments.clients)
    return 0


def _requests(endpoint: str, clients: int, statements: int, sql: str) -> None:
    ready = threading.Barrier(clients)

    def one() -> tuple[float, int, list[float]]:
        client = Client(endpoint, **{"execution.runtime-mode": "batch"})
        client.run("CREATE TEMPORARY VIEW v AS SELECT 1 AS a")
        client.run(sql)
        ready.wait()
        began = time.perf_counter()
        answers = [client.run(sql) for _ in range(statements)]
        seconds = time.perf_counter() - began
        client.close()
        return seconds, sum(a.requests for a in answers), [a.first_seconds for a in answers]

    with ThreadPoolExecutor(clients) as pool:
        done = [f.result() for f in [pool.submit(one) for _ in range(clients)]]
    seconds = max(each for each, _, _ in done)
    first = sorted(each for _, _, firsts in done for each in firsts)
    print(
        f"{clients} clients: {clients * statements / seconds:.0f} statements/s, {sum(n for _, n, _ in done) / seconds:.0f} requests/s, "
        f"first row {1000 * first[len(first) // 2]:.1f} ms (p50), {1000 * first[int(len(first) * 0.99)]:.1f} ms (p99)"
    )


def _days(jobs: int, sessions: int, clients: int) -> None:
    with tempfile.TemporaryDirectory(prefix="days-") as folder:
        command = [sys.executable, "-m", "sqlstream", "serve", "--project", folder, "--port", "0"]
        with Path(folder, "server.log").open("w+") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
            try:
                endpoint = _listening(Path(log.name), process)
                _submit(endpoint, jobs)
                _live(endpoint, process.pid, jobs, sessions, clients)
            finally:
                process.terminate()
                process.wait(120)


def _listening(log: Path, process: subprocess.Popen[bytes]) -> str:
    while True:
        if found := _LISTENS.search(log.read_text()):
            return found[0]
        if process.poll() is not None:
            raise RuntimeError(log.read_text())
        time.sleep(0.1)


def _submit(endpoint: str, jobs: int) -> None:
    client = Client(endpoint, **{"execution.checkpointing.interval": "10 s", "parallelism.default": "1"})
    client.run(NUMBERS)
    client.run(NOTHING)
    for n in range(jobs):
        client.run(f"SET 'pipeline.name' = 'job_{n}'")
        client.run(f"INSERT INTO nothing {JOBS[n % 2]}")
    client.close()


def _live(endpoint: str, server: int, jobs: int, sessions: int, clients: int) -> None:
    began = time.monotonic()
    for tenth in range(11):
        if tenth:
            with ThreadPoolExecutor(clients) as pool:
                for done in [pool.submit(_session, endpoint) for _ in range(sessions // 10)]:
                    done.result()
        running = sum(job["state"] == "RUNNING" for job in json.loads(_get(f"{endpoint}/v1/jobs/overview"))["jobs"])
        _get(f"{endpoint}/metrics")
        print(_sample(server, tenth * (sessions // 10) * len(SESSION), time.monotonic() - began, running), flush=True)
        if running != jobs:
            raise RuntimeError(f"{running} jobs of {jobs} run")


def _get(address: str) -> bytes:
    with urlopen(address) as answer:
        return bytes(answer.read())


def _session(endpoint: str) -> None:
    client = Client(endpoint)
    for statement in SESSION:
        client.run(statement, FIRST_ROWS if statement == STREAMING else None)
    client.close()


def _sample(server: int, statements: int, seconds: float, jobs: int) -> Sample:
    (java,) = (int(pid) for pid in subprocess.run(["pgrep", "-P", str(server), "java"], capture_output=True, text=True, check=True).stdout.split())
    subprocess.run(["jcmd", str(java), "GC.run"], capture_output=True, check=True)
    heap = _HEAP.search(subprocess.run(["jcmd", str(java), "GC.heap_info"], capture_output=True, text=True, check=True).stdout)
    assert heap is not None
    page = os.sysconf("SC_PAGE_SIZE")
    python, jvm = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page for pid in (server, java))
    threads, files = ((_count(f"/proc/{server}/{kind}"), _count(f"/proc/{java}/{kind}")) for kind in ("task", "fd"))
    return Sample(statements, seconds, python, jvm, int(heap[1]) * 1024, threads, files, jobs)


def _count(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir())


if __name__ == "__main__":
    raise SystemExit(main())
