"""A real MariaDB for tests, with a binary log: the server's binaries come as a jar (jars.lock), its data lives as long as the run."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path

from sqlstream.cli.kafka.process import end_process, free_port
from sqlstream.core import jars
from sqlstream.core.environment import BROKER_HOST as HOST

PASSWORD = "s3cret pass'word"
_PROGRAMS = ("bin/mariadbd", "bin/mariadb")
_SHARED = ("mariadb_system_tables.sql", "mariadb_performance_tables.sql", "mariadb_system_tables_data.sql", "english/errmsg.sys")


class MariaDb:
    """A server with the database ``shop`` and the user ``app``, who may do all."""

    def __init__(self) -> None:
        (jar,) = jars.ensure("mariadb")
        self._folder = Path(tempfile.mkdtemp(prefix="sqlstream-mariadb-"))
        with zipfile.ZipFile(jar) as packed:
            for entry in packed.infolist():
                name = entry.filename.partition("/linux/")[2]
                if name in _PROGRAMS or (name.startswith("share/") and name.removeprefix("share/").startswith((*_SHARED, "charsets/"))):
                    path = self._folder / name
                    if not entry.is_dir():
                        path.parent.mkdir(parents=True, exist_ok=True)
                        with packed.open(entry) as source, path.open("wb") as target:
                            shutil.copyfileobj(source, target)
                        path.chmod(0o755)
        self.port = free_port()
        self.log = self._folder / "server.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        data = self._folder / "data"
        if not data.exists():
            data.mkdir()
            (self._folder / "tmp").mkdir()
            scripts = "".join((self._folder / "share" / name).read_text() for name in _SHARED if name.endswith(".sql"))
            done = subprocess.run(
                self._server("--bootstrap"), input=f"CREATE DATABASE mysql;\nUSE mysql;\n{scripts}", capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise RuntimeError(done.stderr[-2000:])
        settings = (
            f"--port={self.port}", f"--bind-address={HOST}", "--server-id=1", f"--log-bin={data / 'binlog'}", "--binlog-format=ROW",
            "--binlog-row-image=FULL", "--default-time-zone=+00:00", "--character-set-server=utf8mb4",
        )  # fmt: skip
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._server(*settings), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while (problem := self._ask("SELECT 1", as_root=True)[1]) is not None:
            if time.monotonic() > end or self._process.poll() is not None:
                raise RuntimeError(problem + self.log.read_text(errors="replace")[-2000:])
            time.sleep(0.1)
        escaped = PASSWORD.replace("'", "''")
        # Anybody of this machine is one without a name, else.
        grant = f"DELETE FROM mysql.global_priv WHERE User = ''; FLUSH PRIVILEGES; CREATE DATABASE IF NOT EXISTS shop; CREATE USER IF NOT EXISTS app@'%' IDENTIFIED BY '{escaped}'; GRANT ALL ON *.* TO app@'%'"
        _, problem = self._ask(grant, as_root=True)
        if problem is not None:
            raise RuntimeError(problem)

    def _server(self, *more: str) -> list[str]:
        root = ["--user=root"] if os.getuid() == 0 else []
        share = self._folder / "share"
        own = [f"--basedir={self._folder}", f"--datadir={self._folder / 'data'}", f"--lc-messages-dir={share}", f"--socket={self._socket}"]
        # A server that starts deletes the temporary tables of all others that have the same folder for them.
        own.append(f"--tmpdir={self._folder / 'tmp'}")
        own += ["--debug-no-sync", "--innodb-log-file-size=8M", "--innodb-buffer-pool-size=64M", "--innodb-undo-tablespaces=0", "--skip-slave-start"]
        return [str(self._folder / "bin" / "mariadbd"), "--no-defaults", *root, *own, f"--character-sets-dir={share / 'charsets'}", *more]

    @property
    def _socket(self) -> Path:
        return self._folder / "socket"

    def stop(self) -> None:
        """Kill the server; ``start`` goes on with its data."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            end_process(process.pid, lambda: process.poll() is not None)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def run(self, *statements: str) -> list[list[str]]:
        """Run statements in the database ``shop``; the rows of the last one come back, as texts."""
        rows, problem = self._ask(";\n".join(statements))
        if problem is not None:
            raise RuntimeError(problem)
        return rows

    def _ask(self, sql: str, *, as_root: bool = False) -> tuple[list[list[str]], str | None]:
        login = [f"--socket={self._socket}", "--user=root"] if as_root else [f"--host={HOST}", f"--port={self.port}", "--user=app", "shop"]
        command = [
            str(self._folder / "bin" / "mariadb"),
            "--no-defaults",
            *login,
            "--batch",
            "--skip-column-names",
            "--default-character-set=utf8mb4",
        ]
        variables = os.environ | ({} if as_root else {"MYSQL_PWD": PASSWORD})
        done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False, env=variables)
        return [line.split("\t") for line in done.stdout.splitlines()], done.stderr or "failed" if done.returncode else None
