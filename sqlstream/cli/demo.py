"""``sqlstream demo``: the example bank from an empty folder to a Delta table, in about a minute.

In: the example project of the package. It starts the development broker, fills the bank's topics, runs saved queries over them as streaming
jobs, shows windowed results as they arrive and the Delta table read back, and stops all that it started.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.cli import bank, init
from sqlstream.cli.kafka.broker import Broker
from sqlstream.core import jars
from sqlstream.core.errors import SetupError, SqlStreamError
from sqlstream.core.java import require_java
from sqlstream.session.results import Stream
from sqlstream.session.session import Session
from sqlstream.shell.screen import Screen
from sqlstream.shell.views import show

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 5
JOBS = ("transactions_per_minute", "large_transactions")
WATCHED = """
SELECT window_start, `type`, COUNT(*) AS cnt, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE transactions, DESCRIPTOR(eventTime_ltz), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, `type`"""
READ_BACK = "SELECT window_start, `type`, cnt, total FROM transactions_per_minute ORDER BY window_start, `type` LIMIT 12"
NEXT = """
What to try next:
  {program} init bank                           writes this project into the folder bank, and says how to go on from there
"""


def main(argv: list[str]) -> int:
    """Run the demo; the exit code."""
    parser = argparse.ArgumentParser(prog="sqlstream demo", description="Run the example bank, from Kafka to Delta.")
    parser.add_argument("--project", type=Path, default=init.EXAMPLE, help="the example project")
    parser.add_argument("--transactions", type=int, default=6000, help="how many transactions to make")
    arguments = parser.parse_args(argv)
    screen = Screen()
    try:
        _run(arguments.project.resolve(), arguments.transactions, screen)
    except SqlStreamError as error:
        screen.error(error)
        return 1
    except KeyboardInterrupt:
        return 130
    screen.notify(NEXT.format(program=_program()))
    return 0


def _program() -> str:
    """What runs sqlstream here: an environment of its own need not be on the path."""
    beside = Path(sys.executable).with_name("sqlstream")
    return os.path.relpath(beside) if shutil.which("sqlstream") is None and beside.exists() else "sqlstream"


def _run(example: Path, transactions: int, screen: Screen) -> None:
    require_java()
    if not (example / "queries").is_dir():
        raise SetupError(f"There is no example project in {example}.", hint="sqlstream init FOLDER writes it out.")
    # At once, before Spark and the broker start beside each other.
    jars.ensure_all(("spark", "compiler", "broker"), screen.notify)
    # In a folder of its own, so that it starts from nothing and leaves nothing behind.
    with tempfile.TemporaryDirectory(prefix="sqlstream-demo-") as folder:
        project = Path(folder)
        init.write_out(example, project, (init.CATALOG, init.QUERIES))
        with _session(project, screen) as session, _broker(project, screen) as broker:
            _play(session, broker, transactions, screen)


@contextmanager
def _broker(project: Path, screen: Screen) -> Iterator[Broker]:
    broker = Broker(project)
    screen.info("Starting the development broker ...")
    os.environ["KAFKA_BOOTSTRAP"] = broker.start(progress=screen.notify)
    try:
        yield broker
    finally:
        screen.info("Stopping the broker.")
        broker.stop()


@contextmanager
def _session(project: Path, screen: Screen) -> Iterator[Session]:
    session = Session(project, notify=screen.notify, emit=screen.emit)
    session.start_spark()
    try:
        yield session
    finally:
        session.close()


def _play(session: Session, broker: Broker, transactions: int, screen: Screen) -> None:
    records = bank.lines(bank.transactions(transactions, bad_every=1500))
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
    producer = threading.Thread(target=_produce, args=(broker, records, share, session, screen), daemon=True)
    producer.start()
    _run_script(session, WATCHED, None, screen)
    producer.join()
    for job in session.jobs:
        session.jobs.stop(job.id, drain=True)
        screen.info(f"Job {job.name}: {job.metrics.rows_in} rows read, drained and stopped.")
    screen.info("The Delta table that the job wrote, read back:")
    _run_script(session, f"SET 'execution.runtime-mode' = 'batch';\n{READ_BACK};", None, screen)


def _produce(broker: Broker, records: Iterator[str], share: int, session: Session, screen: Screen) -> None:
    """Send the rest in rounds with a progress line, then end the SELECT that shows the windows."""
    sent = share
    for _ in range(ROUNDS):
        time.sleep(2)
        sent += broker.produce("transactions", islice(records, share), "\t")
        read = sum(job.metrics.rows_in for job in session.jobs)
        screen.notify(f"  ... {sent} transactions sent, {read} rows read by the jobs")
    time.sleep(4)
    session.interrupt()


def _run_script(session: Session, script: str, name: str | None, screen: Screen) -> None:
    started = time.monotonic()
    for outcome in session.run(script, name):
        if name:
            screen.echo(outcome.statement)
        watched = isinstance(outcome, Stream)
        show(outcome, screen, session.options, started, lambda watched=watched: watched)  # type: ignore[misc]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
