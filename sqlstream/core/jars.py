"""Jars: in comes the name of a set in ``jars.lock``, out come the paths of its jars in the user's cache.

Spark's own ``spark.jars.packages`` would resolve over the network at every start, and trusts what it gets. Here each
jar is fetched once, by the Ivy inside pyspark, checked against the lock's SHA-256 and only then given its final name;
later starts look at sizes and times (see ``sealed``) and need neither network nor Java.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from sqlstream.core import sealed, trust
from sqlstream.core.errors import SetupError
from sqlstream.core.java import require_java
from sqlstream.core.lines import Passing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LOCK = Path(__file__).with_name("jars.lock")
SETTINGS = "SQLSTREAM_IVY_SETTINGS"
TIME_LIMIT_S = 1800
HINT = (
    "It is fetched once, over the network, by Ivy. Behind a mirror or proxy name your Ivy settings file in "
    f"{SETTINGS} (or keep it as ~/.ivy2/ivysettings.xml)."
)


@dataclass(frozen=True)
class Jar:
    """One line of the lock."""

    group: str
    artifact: str
    version: str
    sha256: str
    size: int

    @property
    def coordinates(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def file(self) -> str:
        """The name in the cache; it holds the group, since an artifact's name alone is not unique."""
        return f"{self.group}_{self.artifact}-{self.version}.jar"


def locked(text: str | None = None) -> dict[str, tuple[Jar, ...]]:
    """The sets of the lock file (or of ``text`` in its form). Raises ValueError for a line of another form."""
    sets: dict[str, list[Jar]] = {}
    name = None
    for number, line in enumerate((LOCK.read_text(encoding="utf-8") if text is None else text).splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if match := re.fullmatch(r"\[([a-z0-9]+)\]", line):
            name = match[1]
            sets[name] = []
        elif (match := re.fullmatch(r"([\w.-]+):([\w.-]+):([\w.-]+) ([0-9a-f]{64}) (\d+)", line)) and name:
            sets[name].append(Jar(match[1], match[2], match[3], match[4], int(match[5])))
        else:
            raise ValueError(f"line {number} of the jar lock is not a jar: {line}")
    return {k: tuple(v) for k, v in sets.items()}


def cache_dir() -> Path:
    """Where the jars are kept, for all projects of a user."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root and Path(root).is_absolute() else Path.home() / ".cache") / "sqlstream" / "jars"


def ensure(set_name: str, progress: Callable[[str], None] = lambda _: None) -> list[Path]:
    """The jars of a set, in the lock's order, fetched where they are not in the cache yet.

    ``progress`` gets lines, also passing ones, only while jars are fetched. Raises SetupError.
    """
    return ensure_all([set_name], progress)


def ensure_all(set_names: Iterable[str], progress: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Those of several sets, fetched together: the user waits once, and sees one line."""
    sets = locked()
    jars = tuple(dict.fromkeys(jar for name in set_names for jar in sets[name]))
    folder = cache_dir()
    if _missing(jars, folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with held(folder, progress, "jars"):
                missing = _missing(jars, folder)
                if missing:
                    _fetch_all(missing, folder, progress)
        except OSError as e:
            what = f"The jar cache '{folder}' cannot be written: {e.strerror or e}."
            raise SetupError(what, hint="Set XDG_CACHE_HOME to a folder that you can write to.") from e
    return [folder / jar.file for jar in jars]


def _missing(jars: tuple[Jar, ...], folder: Path) -> tuple[Jar, ...]:
    """Those of ``jars`` that are not in ``folder``, or not the locked ones."""
    return tuple(jar for jar in jars if not sealed.intact(folder / jar.file, jar.sha256))


def _fetch_all(jars: tuple[Jar, ...], folder: Path, progress: Callable[[str], None]) -> None:
    """Fetch ``jars`` into ``folder``.

    A jar that arrives broken is fetched once more, bypassing Ivy's own cache, which may hold the broken one.
    """
    for left_over in folder.glob(".fetch-*"):  # of a process that was killed: we hold the lock
        shutil.rmtree(left_over, ignore_errors=True)
    progress(f"{_what(jars)} to {folder}, once")
    work = Path(tempfile.mkdtemp(prefix=".fetch-", dir=folder))
    try:
        output = _ivy(jars, work, None, progress)
        bad = _accept(jars, work, folder)
        if bad:
            shutil.rmtree(work / "jars", ignore_errors=True)
            output = _ivy(bad, work, work / "ivy-cache", progress)
            wrong = [jar for jar in bad if (work / "jars" / jar.file).exists()]
            bad = _accept(bad, work, folder)
            if bad:
                raise _failure(bad, wrong, output)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    _missing(jars, folder)  # seals them


def _what(jars: tuple[Jar, ...]) -> str:
    megabytes = max(1, round(sum(jar.size for jar in jars) / 1_000_000))
    return f"Downloading {len(jars)} jar{'s' if len(jars) > 1 else ''} ({megabytes} MB)"


def _accept(jars: tuple[Jar, ...], work: Path, folder: Path) -> tuple[Jar, ...]:
    """Give every jar that arrived intact its final name; returns the others."""
    bad = []
    for jar in jars:
        path = work / "jars" / jar.file
        if sealed.intact(path, jar.sha256):
            path.replace(folder / jar.file)
        else:
            bad.append(jar)
    return tuple(bad)


def _failure(bad: tuple[Jar, ...], wrong: list[Jar], output: str) -> SetupError:
    jar = next((j for j in bad if j in wrong), None)
    if jar is not None:
        return SetupError(
            f"The jar {jar.coordinates} does not have the locked SHA-256, and was discarded.",
            hint=f"The server it came from, or something between, changes it. Name another server in an Ivy settings file: {SETTINGS}.",
        )
    unresolved = set(re.findall(r":: ([\w.-]+#[\w.-]+;[\w.-]+): ", output))
    named = [j for j in bad if f"{j.group}#{j.artifact};{j.version}" in unresolved] or list(bad)
    more = f" and {len(named) - 1} more" if len(named) > 1 else ""
    if "PKIX path building failed" in output:
        return SetupError(
            f"The jar {named[0].coordinates}{more} could not be fetched: Java does not trust the certificate of the server.",
            hint="A proxy that reads along has one of its own. Put its certificate into a key store (keytool -importcert), and name that:"
            " JDK_JAVA_OPTIONS=-Djavax.net.ssl.trustStore=FILE",
        )
    telling = re.compile(r"Exception|error|timed out|refused", re.IGNORECASE)
    reasons = [line.strip() for line in output.splitlines() if telling.search(line)]
    reason = f" ({reasons[-1][:200]})" if reasons else ""
    return SetupError(f"The jar {named[0].coordinates}{more} could not be fetched{reason}.", hint=HINT)


def _ivy(jars: tuple[Jar, ...], work: Path, cache: Path | None, progress: Callable[[str], None]) -> str:
    """Run Ivy, which puts ``jars`` into ``work/jars``; returns its output.

    What it failed to fetch is missing there.
    """
    description = work / "ivy.xml"
    description.write_text(ivy_xml(jars), encoding="utf-8")
    # The pattern is relative: a folder's own name may hold characters that mean something in a pattern.
    command = [*ivy_command(), "-ivy", description.name, "-retrieve", "jars/[organisation]_[artifact]-[revision].[ext]"]
    if cache is not None:
        command += ["-cache", str(cache)]
    settings = _settings()
    if settings is not None:
        command += ["-settings", str(settings)]
    lines: list[str] = []
    try:
        with subprocess.Popen(
            command, cwd=work, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as ivy:  # fmt: skip
            watchdog = threading.Timer(TIME_LIMIT_S, ivy.kill)
            watchdog.daemon = True
            watchdog.start()
            try:
                _follow(ivy, lines, jars, progress)
            except BaseException:
                ivy.kill()
                raise
            finally:
                watchdog.cancel()
    except OSError as e:
        raise SetupError(f"Ivy did not start: {e}.", hint=HINT) from e
    return "\n".join(lines)


def _follow(ivy: subprocess.Popen[str], lines: list[str], jars: tuple[Jar, ...], progress: Callable[[str], None]) -> None:
    """Read Ivy's output to its end, with a passing line for every jar that it has found or fetched."""
    assert ivy.stdout is not None
    found = fetched = 0
    for line in ivy.stdout:
        lines.append(line.rstrip("\n"))
        if "\tfound " in line:
            found += 1
            progress(Passing(f"{_what(jars)}: looking up {found} of {len(jars)}"))
        elif "[SUCCESSFUL ]" in line and ".jar" in line:
            fetched += 1
            progress(Passing(f"{_what(jars)}: {fetched} of {len(jars)}"))


def ivy_xml(jars: tuple[Jar, ...]) -> str:
    """Ivy's description of ``jars``: each one by itself, nothing that it depends on; also two versions of one, for different sets."""
    rows = "\n".join(
        f"    <dependency org={quoteattr(j.group)} name={quoteattr(j.artifact)} rev={quoteattr(j.version)}"
        ' conf="default->master" transitive="false"/>'
        for j in jars
    )
    return (
        '<ivy-module version="2.0">\n  <info organisation="sqlstream" module="jars"/>\n'
        '  <configurations><conf name="default"/></configurations>\n'
        f'  <dependencies>\n{rows}\n    <conflict org="*" module="*" manager="all"/>\n  </dependencies>\n</ivy-module>\n'
    )


def ivy_command() -> list[str]:
    """Java with the Ivy that pyspark carries. Raises SetupError."""
    spec = importlib.util.find_spec("pyspark")
    places = (spec.submodule_search_locations if spec else None) or ()
    ivy_jars = [jar for place in places for jar in sorted(Path(place).glob("jars/ivy-*.jar"))]
    if not ivy_jars:
        raise SetupError("pyspark's jars are missing.", hint="Install the full package: pip install pyspark")
    java = require_java()
    return [str(java), *trust.options(java, cache_dir()), "-jar", str(ivy_jars[-1])]


def _settings() -> Path | None:
    """The user's own Ivy settings. Raises SetupError where the variable names no file."""
    named = os.environ.get(SETTINGS)
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise SetupError(f"{SETTINGS} is '{named}', which is not a file.")
        return path.resolve()
    usual = Path.home() / ".ivy2" / "ivysettings.xml"
    return usual if usual.is_file() else None


@contextlib.contextmanager
def held(folder: Path, progress: Callable[[str], None], what: str) -> Iterator[None]:
    """Only one process fetches ``what`` into ``folder`` at a time; another waits for it."""
    with (folder / ".lock").open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"Waiting for another process that is fetching {what}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield  # closing the file releases the lock
