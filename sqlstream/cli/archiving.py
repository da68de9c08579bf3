"""Builds the archive of the JVM's classes: the same JVM, with the same class path, runs a few queries and writes what it has loaded at its exit.

``python -m sqlstream.cli.archiving`` builds that of most projects, as an image does that is to start fast. A session has its own built.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from sqlstream.core import sealed
from sqlstream.core.errors import SetupError, SqlStreamError
from sqlstream.core.java import require_java
from sqlstream.runtime.engine import jvm, own_jars
from sqlstream.runtime.engine.archive import SWITCH, archive_path, base_of, is_intact, remove
from sqlstream.runtime.engine.session import Engine
from sqlstream.runtime.java import libraries
from sqlstream.session.results import Stream
from sqlstream.session.session import Session

# A JVM that takes longer hangs: on a busy machine it takes a minute or two.
LIMIT_SECONDS = 1200.0
# Beside the newest, for another project's environment.
_KEPT = 2
_WORK = ".classes-"
_HUNG = f"The JVM did not write an archive of its classes within {LIMIT_SECONDS:.0f} s, and was ended."
# What the JVM that is archived runs: the ways that most sessions take.
WORKLOAD = """
CREATE TABLE numbers (n INT, word STRING, ts AS LOCALTIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'datagen', 'number-of-rows' = '100');
CREATE TABLE texts (n INT, word STRING) WITH ('connector' = 'filesystem', 'path' = 'texts', 'format' = 'json');
CREATE TABLE copies (n INT, word STRING, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'copies');
SELECT n, UPPER(word) FROM numbers LIMIT 3;
SET 'table.dml-sync' = 'true';
INSERT INTO texts SELECT n, word FROM numbers;
INSERT INTO copies SELECT n, word FROM texts;
SELECT word, COUNT(*) FROM texts GROUP BY word;
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end;
SET 'execution.runtime-mode' = 'batch';
SELECT COUNT(*) FROM copies;
"""


def build(archive: Path, *, wait: bool = False) -> bool:
    """Build it; False if another process has built it, or is building it, unless ``wait`` is for its end. Raises SetupError."""
    with (archive.parent / "classes.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if is_intact(archive):
            return False
        os.nice(15)
        for ended in archive.parent.glob(f"{_WORK}*"):
            shutil.rmtree(ended, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_WORK, dir=archive.parent) as folder:
            part = Path(folder) / archive.name
            base = base_of(archive)
            if base is not None:
                _dump(Path(folder) / base.name, base)
            _run(Path(folder), part, base)
            if not part.exists():
                raise SetupError(f"The JVM did not write an archive of its classes: see {folder}.")
            part.replace(archive)
            sealed.seal(archive)
        for old in sorted(archive.parent.glob("classes-*.jsa"), key=lambda p: p.stat().st_mtime, reverse=True)[_KEPT:]:
            remove(old)
    return True


def _dump(part: Path, base: Path) -> None:
    """Make ``base`` of Java's own classes, by way of ``part``."""
    try:
        done = subprocess.run([require_java(), "-Xshare:dump", f"-XX:SharedArchiveFile={part}"], check=False, timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise SetupError(_HUNG) from error
    if done.returncode or not part.exists():
        raise SetupError("The JVM did not write an archive of Java's own classes.")
    part.replace(base)
    sealed.seal(base)


def _run(project: Path, part: Path, base: Path | None) -> None:
    """Run the workload in a JVM that writes ``part`` at its exit, upon ``base`` where its Java brings none."""
    options = [f"-XX:ArchiveClassesAtExit={part}", *([f"-XX:SharedArchiveFile={base}"] if base else [])]
    engine = Engine(project, lambda: {"spark.driver.extraJavaOptions": shlex.join(options)}, print)
    limit = threading.Timer(LIMIT_SECONDS, engine.kill)
    limit.start()
    try:
        session = Session(project, engine=engine, notify=print, emit=lambda line: None)
        for outcome in session.run(WORKLOAD):
            if isinstance(outcome, Stream):
                for _ in outcome.changes:
                    continue
        session.close()
        engine.stop(seconds=300)
    except SqlStreamError as error:
        if limit.finished.is_set():
            raise SetupError(_HUNG) from error
        raise
    finally:
        limit.cancel()


def main(named: list[str]) -> None:
    """``named``: the archive; where there is none, that of a project that brings no jars, which is there at the end, whoever builds it."""
    # The JVM that is archived builds none itself.
    os.environ[SWITCH] = "off"
    archive = Path(named[0]) if named else archive_path(jvm.class_path(libraries(), own_jars.of_sqlstream({}, print)))
    print("built" if build(archive, wait=not named) else "there is one already, or it is being built" if named else "there is one")


if __name__ == "__main__":
    main(sys.argv[1:])
