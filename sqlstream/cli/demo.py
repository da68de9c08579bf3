"""``sqlstream demo``: the example bank from an empty folder to a Delta table, in about a minute.

In: the example project of the package. It starts the development broker, fills the bank's topics, runs saved queries over them as streaming
jobs, shows windowed results as they arrive and the Delta table read back, and stops all that it started. With ``--page``, which a terminal has by
itself, the page of a server shows it, until the user has seen enough.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
import webbrowser
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.cli import bank, init
from sqlstream.cli.arguments import Parser
from sqlstream.cli.kafka.broker import Broker
from sqlstream.core import jars
from sqlstream.core.counts import counted
from sqlstream.core.errors import SetupError, SqlStreamError
from sqlstream.core.java import require_java
from sqlstream.core.job_names import short_name
from sqlstream.session.results import Done, Stream
from sqlstream.session.session import Session
from sqlstream.shell.foreground import Terminated, handled, terminate
from sqlstream.shell.screen import Screen
from sqlstream.shell.views import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.core.changelog import Change

ROUNDS = 5
# So many transactions come each second while somebody looks at the page.
_LOOKING = 50
JOBS = ("transactions_per_minute", "large_transactions")
# As narrow as a terminal of 80 columns.
WATCHED = """
SELECT window_start, `type`, CAST(COUNT(*) AS INT) AS cnt, CAST(SUM(amount) AS DECIMAL(12, 2)) AS total
FROM TABLE(TUMBLE(TABLE transactions, DESCRIPTOR(eventTime_ltz), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, `type`"""
# The widest text of a watched row.
WIDTH = "10"
# After the last transactions, rows are waited for: while they come, and until the first of them.
_QUIET_SECONDS, _FIRST_SECONDS = 3, 120
READ_BACK = "SELECT window_start, `type`, cnt, total FROM transactions_per_minute ORDER BY window_start, `type` LIMIT 12"
NEXT = """
What to try next:
  {program} init bank --example bank            writes this project into the folder bank, and says how to go on from there
"""


def parser() -> Parser:
    """The arguments of ``sqlstream demo``."""
    made = Parser(prog="sqlstream demo", description="Run the example bank, from Kafka to Delta.")
    made.add_argument("--project", type=Path, default=init.EXAMPLE, help="the example project")
    made.add_argument("--transactions", type=int, default=6000, help="how many transactions to make")
    choice = made.add_mutually_exclusive_group()
    choice.add_argument("--page", action="store_true", default=None, help="serve a page of it, and go on until Ctrl-C (default in a terminal)")
    choice.add_argument("--no-page", dest="page", action="store_false", help="end by itself")
    return made


def main(argv: list[str]) -> int:
    """Run the demo; the exit code."""
    arguments = parser().parse_args(argv)
    looks = sys.stdin.isatty() and sys.stdout.isatty()
    screen = Screen()
    try:
        page = looks and _can_serve() if arguments.page is None else arguments.page
        if looks and not page and arguments.page is None:
            screen.info("With the packages of sqlstream[server] the demo also serves a page of its jobs: pip install 'sqlstream[server]'.")
        with handled(terminate):
            _run(arguments.project.resolve(), arguments.transactions, screen, page=page, opens=looks)
    except SqlStreamError as error:
        screen.error(error)
        return 1
    except Terminated as error:
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    screen.notify(NEXT.format(program=_program()))
    return 0


def _can_serve() -> bool:
    """Whether the packages of the server are there."""
    return all(find_spec(name) is not None for name in ("starlette", "uvicorn", "jinja2"))


def _program() -> str:
    """What runs sqlstream here: an environment of its own need not be on the path."""
    beside = Path(sys.executable).with_name("sqlstream")
    return os.path.relpath(beside) if shutil.which("sqlstream") is None and beside.exists() else "sqlstream"


def _run(example: Path, transactions: int, screen: Screen, *, page: bool, opens: bool) -> None:
    require_java()
    if not (example / "queries").is_dir():
        raise SetupError(f"There is no example project in {example}.", hint="sqlstream init FOLDER --example bank writes it out.")
    # At once, before Spark and the broker start beside each other.
    jars.ensure_all(("spark", "compiler", "broker"), screen.notify)
    # In a folder of its own, so that it starts from nothing and leaves nothing behind.
    with tempfile.TemporaryDirectory(prefix="sqlstream-demo-") as folder:
        project = Path(folder)
        init.write_out(example, project, (init.CATALOG, init.QUERIES))
        with ExitStack() as open_:
            address = None
            if page:
                session, address = open_.enter_context(_served(project, screen))
                screen.info(f"The page of this demo: {address}")
                if opens:
                    webbrowser.open(address)
            else:
                session = open_.enter_context(_session(project, screen))
            broker = open_.enter_context(_broker(project, screen))
            _play(session, broker, transactions, screen, address)


@contextmanager
def _broker(project: Path, screen: Screen) -> Iterator[Broker]:
    broker = Broker(project)
    screen.info("Starting the development broker ...")
    os.environ["KAFKA_BOOTSTRAP"] = broker.start(progress=screen.notify)
    try:
        yield broker
    finally:
        try:
            screen.info("Stopping the broker.")
        finally:
            # Also where the terminal is gone.
            broker.stop()


@contextmanager
def _session(project: Path, screen: Screen) -> Iterator[Session]:
    session = Session(project, notify=screen.notify, emit=screen.emit)
    session.start_spark()
    try:
        yield session
    finally:
        session.close()


@contextmanager
def _served(project: Path, screen: Screen) -> Iterator[tuple[Session, str]]:
    """A session of a server, and where its page is."""
    try:
        from sqlstream.server.beside import answering
        from sqlstream.server.server import Server
    except ModuleNotFoundError as error:
        raise SetupError(f"The page needs the package {error.name}.", hint="pip install 'sqlstream[server]'; or sqlstream demo --no-page.") from error
    server = Server(project, {}, screen.notify)
    server.start()
    with answering(server) as address:
        session = server.shell_session({}, notify=screen.notify, emit=screen.emit)
        try:
            yield session, address
        finally:
            session.close()


def _play(session: Session, broker: Broker, transactions: int, screen: Screen, address: str | None) -> None:
    """``address``: that of the page, which is looked at until the user ends it; None for none."""
    # Those that nobody waits for go on for as long as somebody looks at the page.
    records = bank.lines(bank.transactions(transactions if address is None else sys.maxsize, bad_every=1500))
    share = transactions // (ROUNDS + 1)
    for topic in bank.TOPICS:
        broker.create_topic(topic.name, topic.partitions, topic.compacted)
    broker.produce("customers", bank.lines(bank.customers()), "\t")
    broker.produce("accounts", bank.lines(bank.accounts()), "\t")
    broker.produce("transactions", islice(records, share), "\t")
    screen.info(f"Topics: {', '.join(f'{name} ({count} partitions)' for name, count in sorted(broker.topics().items()))}")
    for name in JOBS:
        script = (session.project / "queries" / f"{name}.sql").read_text("utf-8")
        _run_script(session, script, f"queries/{name}.sql", screen)
    screen.info("Windows as they close, while more transactions arrive:")
    seen = _Seen()
    producer = threading.Thread(target=_produce, args=(broker, records, share, session, screen, seen), daemon=True)
    producer.start()
    _run_script(session, f"SET 'sql-client.display.max-column-width' = '{WIDTH}'", None, screen)
    _run_script(session, WATCHED, None, screen, seen)
    producer.join()
    if address is not None:
        _look(broker, records, screen, address)
    for job in session.jobs:
        session.jobs.stop(job.id, drain=True)
        screen.info(f"Job {short_name(job.name)}: {counted(job.metrics.rows_in, 'row')} read, drained and stopped.")
    screen.info("The Delta table that the job wrote, read back, its first rows:")
    _run_script(session, f"RESET 'sql-client.display.max-column-width'; SET 'execution.runtime-mode' = 'batch';\n{READ_BACK};", None, screen)


@dataclass
class _Seen:
    """The rows that somebody has watched: how many, and when the last one came."""

    count: int = 0
    last: float = 0.0

    def passing(self, changes: Iterator[Change]) -> Iterator[Change]:
        for change in changes:
            self.count, self.last = self.count + 1, time.monotonic()
            yield change


def _produce(broker: Broker, records: Iterator[str], share: int, session: Session, screen: Screen, seen: _Seen) -> None:
    """Send the rest in rounds with a progress line, once the jobs read, then end the SELECT that shows the windows, once it has shown them."""

    def read() -> int:
        return min((job.metrics.rows_in for job in session.jobs), default=0)

    sent, began = share, time.monotonic()
    while not read() and time.monotonic() - began < _FIRST_SECONDS:
        time.sleep(0.2)
    for _ in range(ROUNDS):
        time.sleep(2)
        sent += broker.produce("transactions", islice(records, share), "\t")
        screen.notify(f"  ... {counted(sent, 'transaction')} sent, {read():,} read by the jobs")
    began = time.monotonic()
    while time.monotonic() - max(seen.last, began) < (_QUIET_SECONDS if seen.count else _FIRST_SECONDS):
        time.sleep(0.2)
    session.interrupt()


def _look(broker: Broker, records: Iterator[str], screen: Screen, address: str) -> None:
    """Send more transactions, until Ctrl-C."""
    screen.info(f"The jobs go on, and {address} shows them: their graphs, an editor for queries, the catalog. Ctrl-C ends the demo.")
    try:
        while True:
            broker.produce("transactions", islice(records, _LOOKING), "\t")
            time.sleep(1)
    except KeyboardInterrupt:
        screen.info("The demo ends.")


def _run_script(session: Session, script: str, name: str | None, screen: Screen, seen: _Seen | None = None) -> None:
    started = time.monotonic()
    for outcome in session.run(script, name):
        if name:
            screen.echo(outcome.statement)
        elif isinstance(outcome, Done):
            continue
        watched = isinstance(outcome, Stream)
        if seen is not None and isinstance(outcome, Stream):
            outcome = replace(outcome, changes=seen.passing(outcome.changes))
        show(outcome, screen, session.options, started, lambda watched=watched: watched)  # type: ignore[misc]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
