"""The development broker: in comes a project folder, out comes a real Apache Kafka (KRaft, one JVM) for it, and its
tools.

Everything lives in ``<project>/.sqlstream/kafka``: ``data/`` (the log), ``broker.log``, ``broker.pid`` and
``settings.json`` (the port and the cluster id, so that a broker comes back at its address with its data). It exists so
that examples, tests and first steps need no container and no server.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import re
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.cli.arguments import Parser, take_project_behind
from sqlstream.cli.kafka.process import command_line, end_process, free_port, is_free
from sqlstream.cli.kafka.records import create_topic, line_of, produce
from sqlstream.connectors.kafka.client import BrokerError, KafkaClient
from sqlstream.core import jars, private
from sqlstream.core.counts import counted
from sqlstream.core.environment import BROKER_HOST, BROKER_SETTINGS, KAFKA_BOOTSTRAP, development_broker
from sqlstream.core.errors import SetupError, SqlStreamError
from sqlstream.core.java import require_java
from sqlstream.core.project_folder import ProjectFolder, find_project
from sqlstream.shell.screen import Screen

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

USUAL_PORT = 9092
START_LIMIT_S = 60
PORT_LIMIT_S = 10
BROKER_JVM = (
    "-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss", "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info",
)  # fmt: skip
SETTINGS: tuple[tuple[str, str], ...] = (
    ("process.roles", "broker,controller"),
    ("node.id", "1"),
    ("controller.listener.names", "CONTROLLER"),
    ("inter.broker.listener.name", "PLAINTEXT"),
    ("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"),
    ("num.partitions", "1"),
    ("auto.create.topics.enable", "true"),
    ("default.replication.factor", "1"),
    ("offsets.topic.replication.factor", "1"),
    ("offsets.topic.num.partitions", "4"),
    ("transaction.state.log.replication.factor", "1"),
    ("transaction.state.log.min.isr", "1"),
    ("transaction.state.log.num.partitions", "4"),
    ("share.coordinator.state.topic.replication.factor", "1"),
    ("share.coordinator.state.topic.min.isr", "1"),
    ("group.initial.rebalance.delay.ms", "0"),
    ("log.retention.ms", "-1"),  # records of examples carry times of long ago, and nothing may vanish
    ("log.segment.bytes", "134217728"),
)


@dataclass(frozen=True)
class BrokerStatus:
    """What is known of a broker; ``bootstrap`` is its address, running or not, None before the first start."""

    running: bool
    pid: int | None
    bootstrap: str | None
    folder: Path


@dataclass(frozen=True)
class Broker:
    """The broker of ``project``."""

    project: Path

    @property
    def folder(self) -> Path:
        return ProjectFolder(self.project.resolve()).kafka

    @property
    def log(self) -> Path:
        return self.folder / "broker.log"

    @property
    def bootstrap(self) -> str:
        """The address of the running broker. Raises SetupError if none is running."""
        status = self.status()
        if not status.running or status.bootstrap is None:
            what = f"No broker is running for the project '{self.project.resolve()}'."
            raise SetupError(what, hint="Start it: sqlstream kafka start")
        return status.bootstrap

    def status(self) -> BrokerStatus:
        """Whether it runs, found by its process; a pid file that a crash left behind is ignored."""
        pid = self._pid()
        return BrokerStatus(pid is not None, pid, development_broker(self.project.resolve()), self.folder)

    def start(self, port: int | None = None, progress: Callable[[str], None] = lambda _: None) -> str:
        """Start it, unless it is running, and wait until it answers; returns the bootstrap address.

        Without ``port``: the one it had before, else 9092, else a free one. Raises SetupError.
        """
        with self._locked():
            running = self.status()
            if running.running and running.bootstrap:
                if port not in (None, int(running.bootstrap.rpartition(":")[2])):
                    what = f"This project's broker is already running at {running.bootstrap}."
                    raise SetupError(what, hint="Stop it first: sqlstream kafka stop")
                _wait(running.bootstrap, lambda: self._pid() is not None, self._failure)
                return running.bootstrap
            return self._start(port, progress)

    def stop(self) -> bool:
        """Stop it, if need be by force; False if none was running."""
        with self._locked():
            pid = self._pid()
            if pid is not None:
                end_process(pid, lambda: self._pid() is None)
            (self.folder / "broker.pid").unlink(missing_ok=True)
            return pid is not None

    @property
    def client(self) -> KafkaClient:
        """A client of the running broker. Raises SetupError if none is running."""
        return KafkaClient({"bootstrap.servers": self.bootstrap})

    def topics(self) -> dict[str, int]:
        """The topics and how many partitions each has."""
        return self.client.topics()

    def create_topic(self, name: str, partitions: int = 1, compacted: bool = False) -> None:
        """Create a topic; one that exists with the same number of partitions is left alone. Raises SetupError."""
        create_topic(self.client, name, partitions, compacted)

    def produce(self, topic: str, source: Path | Iterable[str], key_separator: str | None = None) -> int:
        """Send the lines of a file, or ``source`` itself, one record each; how many, once the broker has them all.

        With ``key_separator`` a line is key, separator, value; a line without it ends the call. Raises SetupError.
        """
        return produce(self.client, topic, source, key_separator)

    def consume(self, topic: str, limit: int | None = None, key_separator: str | None = None, idle_s: float = 3) -> list[str]:
        """The records of ``topic``, from its first, as lines: ``limit`` of them, or until none came for ``idle_s``."""
        records = islice(self.client.records(topic, from_beginning=True, idle_s=idle_s), limit)
        return [line_of(r, key_separator).decode("utf-8", "replace") for r in records]

    def _start(self, port: int | None, progress: Callable[[str], None]) -> str:
        settings = self._settings()
        port = _choose(port, settings.get("port"))
        cluster = str(settings.get("cluster") or new_cluster_id())
        properties = self.folder / "server.properties"
        properties.write_text(server_properties(self.folder / "data", port, free_port(port)), encoding="utf-8")
        with contextlib.suppress(FileNotFoundError):
            self.log.replace(self.log.with_suffix(".log.1"))
        java = _java(BROKER_JVM, "", progress)[:-1]
        progress("Starting Kafka")
        with private.open_file(self.log, "ab") as log:
            if not settings.get("cluster"):
                tool = [*java, "kafka.tools.StorageTool", "format", "--ignore-formatted"]
                format_it = [*tool, "-t", cluster, "-c", str(properties)]
                if subprocess.run(format_it, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False).returncode:
                    raise self._failure("Kafka's data folder cannot be prepared")
            _write(self.folder / BROKER_SETTINGS, json.dumps({"port": port, "cluster": cluster}))
            process = subprocess.Popen(
                [*java, "kafka.Kafka", str(properties)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, start_new_session=True,
            )  # fmt: skip
        _write(self.folder / "broker.pid", str(process.pid))
        try:
            _wait(f"{BROKER_HOST}:{port}", lambda: process.poll() is None, self._failure, self._has_begun)
        except BaseException:
            end_process(process.pid, lambda: process.poll() is not None)
            (self.folder / "broker.pid").unlink(missing_ok=True)
            raise
        _children.append(process)
        return f"{BROKER_HOST}:{port}"

    def _has_begun(self) -> bool:
        """Whether our own process listens: who answers at its port may be another that has taken it at the same time."""
        return _LISTENS in self.log.read_bytes()

    def _failure(self, what: str) -> SetupError:
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        lines = [line for line in text.splitlines() if not re.match(r"\s+at |\s+\.\.\. ", line)][-12:]
        return SetupError(f"{what}. The end of its log:\n" + "\n".join(lines), hint=f"The whole log: {self.log}")

    def _settings(self) -> dict[str, object]:
        try:
            settings = json.loads((self.folder / BROKER_SETTINGS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return settings if isinstance(settings, dict) else {}

    def _pid(self) -> int | None:
        """The broker's process: the one of the pid file, if its command line is about our server.properties."""
        try:
            pid = int((self.folder / "broker.pid").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return pid if str(self.folder / "server.properties") in command_line(pid) else None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One start or stop at a time."""
        try:
            handle = private.open_file(private.folder(self.folder) / ".lock", "a")
        except OSError as e:
            raise SetupError(f"The folder '{self.folder}' cannot be written: {e.strerror or e}.") from e
        with handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


# What it logs when it has its sockets.
_LISTENS = b"Kafka Server started"
# Kept, so that Python does not warn of a child that outlives its object.
_children: list[subprocess.Popen[bytes]] = []


def server_properties(data: Path, port: int, controller_port: int) -> str:
    """Kafka's configuration; a backslash has a meaning of its own in a properties file."""
    own = (
        ("listeners", f"PLAINTEXT://{BROKER_HOST}:{port},CONTROLLER://{BROKER_HOST}:{controller_port}"),
        ("advertised.listeners", f"PLAINTEXT://{BROKER_HOST}:{port},CONTROLLER://{BROKER_HOST}:{controller_port}"),
        ("controller.quorum.voters", f"1@{BROKER_HOST}:{controller_port}"),
        ("log.dirs", str(data).replace("\\", "\\\\")),
    )
    return "".join(f"{key}={value}\n" for key, value in (*SETTINGS, *own))


def new_cluster_id() -> str:
    """22 characters, the first one no ``-``: Kafka's tool would take it for an option."""
    return "s" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[1:22]


def _choose(asked: int | None, last: object) -> int:
    """The port to use. Raises SetupError if it is in use."""
    wanted = asked if asked is not None else last if isinstance(last, int) else None
    if wanted is None:
        return USUAL_PORT if is_free(USUAL_PORT) else free_port()
    # A broker that was killed may be gone from the process list some time before its sockets are closed.
    end = time.monotonic() + (PORT_LIMIT_S if wanted == last else 0)
    while not is_free(wanted):
        if time.monotonic() > end:
            before = "" if asked else "; this broker had it before"
            hint = "Choose another one: sqlstream kafka start --port PORT"
            raise SetupError(f"Port {wanted} is in use by another program{before}.", hint=hint)
        time.sleep(0.1)
    return wanted


def _java(options: tuple[str, ...], main_class: str, progress: Callable[[str], None]) -> list[str]:
    classpath = os.pathsep.join(str(jar) for jar in jars.ensure("broker", progress))
    return [str(require_java()), *options, "-cp", classpath, main_class]


def _wait(bootstrap: str, alive: Callable[[], bool], failure: Callable[[str], SetupError], begun: Callable[[], bool] = lambda: True) -> None:
    """Until the broker at ``bootstrap`` has ``begun``, and answers a request for its topics as the one broker of its cluster."""
    end = time.monotonic() + START_LIMIT_S
    while True:
        if begun():
            with contextlib.suppress(BrokerError):
                KafkaClient({"bootstrap.servers": bootstrap}).topics()
                return
        if not alive():
            raise failure("Kafka ended right after it was started")
        if time.monotonic() > end:
            raise failure(f"Kafka did not answer within {START_LIMIT_S} s")
        time.sleep(0.1)


def _write(path: Path, text: str) -> None:
    """Write the file as a whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def main(argv: list[str]) -> int:
    """The command ``sqlstream kafka``; its exit code comes back."""
    args = parser().parse_args(argv)
    try:
        project = find_project(Path.cwd()).path if args.project is None else args.project
        return int(args.run(Broker(project), args) or 0)
    except SqlStreamError as e:
        print(f"[ERROR] {e.message}" + (f"\nhint: {e.hint}" if e.hint else ""), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # a reader as ``head`` that has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parser() -> argparse.ArgumentParser:
    """The arguments of ``sqlstream kafka``."""
    about = "A development broker for this project: real Apache Kafka, one process."
    made = Parser(prog="sqlstream kafka", description=about)
    made.add_argument("--project", type=Path, metavar="DIR", help="the project's folder (default: found from here upwards)")
    commands = made.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[Broker, argparse.Namespace], int | None], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        take_project_behind(sub)
        sub.set_defaults(run=run)
        return sub

    start = command("start", _start, "start it and wait until it answers")
    start.add_argument("--port", type=int, help="default: the one it had before, else 9092, else a free one")
    command("stop", _stop, "stop it; its data stays")
    command("status", _status, "whether it is running, and where; exit code 3 if it is not")
    _somewhere(command("topics", _topics, "the topics and their partitions"))
    create = command("create", _create, "create a topic")
    _somewhere(create)
    create.add_argument("topic")
    create.add_argument("--partitions", type=int, default=1)
    create.add_argument("--compacted", action="store_true", help="keep the last record of every key")
    producing = command("produce", _produce, "send the lines of a file as records")
    _somewhere(producing)
    producing.add_argument("topic")
    producing.add_argument("file", help="- for the standard input")
    _separated(producing, "each line is key, SEP, value")
    producing.add_argument("--partitions", type=int, help="create the topic first, with this many partitions")
    consume = command("consume", _consume, "print the records of a topic as they come, until Ctrl-C")
    _somewhere(consume)
    consume.add_argument("topic")
    consume.add_argument("--from-beginning", action="store_true")
    consume.add_argument("--max-messages", type=int, metavar="N", help="end after this many")
    _separated(consume, "print key, SEP, value")
    return made


def _somewhere(command: argparse.ArgumentParser) -> None:
    command.add_argument("--table", metavar="NAME", help="use the brokers of this table of the project's catalog, with its 'properties.*'")


def _client(broker: Broker, args: argparse.Namespace) -> KafkaClient:
    """The client of the table that was named, else of the project's broker. Raises SqlStreamError."""
    if args.table is None:
        return broker.client
    from sqlstream.session.raw_topics import client_of_table
    from sqlstream.session.session import Session

    return client_of_table(args.table, Session(broker.project, notify=lambda line: None, python=False).planner.catalog)


def _separated(command: argparse.ArgumentParser, says: str) -> None:
    command.add_argument("--key-separator", type=lambda text: text.replace("\\t", "\t"), metavar="SEP", help=says + " (\\t for a tab)")


def _start(broker: Broker, args: argparse.Namespace) -> None:
    bootstrap = broker.start(args.port, Screen().notify)
    print(f"Kafka is running at {bootstrap}; its data is in {broker.folder}")
    if (elsewhere := os.environ.get(KAFKA_BOOTSTRAP, bootstrap)) != bootstrap:
        print(f"The variable {KAFKA_BOOTSTRAP} names another, {elsewhere}, which tables use until it is unset.")
    else:
        print(f"Tables of this project find it as ${{env:{KAFKA_BOOTSTRAP}}}.")


def _stop(broker: Broker, _args: argparse.Namespace) -> None:
    print("Kafka is stopped." if broker.stop() else "No broker was running.")


def _status(broker: Broker, _args: argparse.Namespace) -> int:
    status = broker.status()
    if not status.running:
        print("No broker is running." + (f" It was at {status.bootstrap}." if status.bootstrap else ""))
        return 3
    print(f"Kafka is running at {status.bootstrap}, process {status.pid}; its data is in {status.folder}")
    return 0


def _topics(broker: Broker, args: argparse.Namespace) -> None:
    for name, partitions in _client(broker, args).topics().items():
        print(f"{name}\t{counted(partitions, 'partition')}")


def _create(broker: Broker, args: argparse.Namespace) -> None:
    create_topic(_client(broker, args), args.topic, args.partitions, args.compacted)


def _produce(broker: Broker, args: argparse.Namespace) -> None:
    client = _client(broker, args)
    if args.partitions is not None:
        create_topic(client, args.topic, args.partitions)
    if args.file == "-":
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")  # type: ignore[union-attr]
    count = produce(client, args.topic, sys.stdin if args.file == "-" else Path(args.file), args.key_separator)
    print(f"{counted(count, 'record')} sent to {args.topic}")


def _consume(broker: Broker, args: argparse.Namespace) -> None:
    out = sys.stdout.buffer
    for record in islice(_client(broker, args).records(args.topic, from_beginning=args.from_beginning), args.max_messages):
        out.write(line_of(record, args.key_separator) + b"\n")
        out.flush()
