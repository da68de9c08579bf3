"""The releases of Spark: 4.2, which comes along, and those that are fetched into the user's cache when a process is to run on one.

A process runs on one release: ``use`` settles on which, before anything of pyspark is imported.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core import jars, settings
from sqlstream.core.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OPTION = "spark.version"
# The one that comes along.
INSTALLED = "4.2"
_WORK = ".spark-"


@dataclass(frozen=True)
class Release:
    """``name``: the value of the option, and the folder of our Java for it. ``version``: that of pyspark.

    ``sha256``: of pyspark's archive, ``megabytes`` its size, where it is fetched. ``lacks``: libraries
    of connectors that there are none of for it.
    ``stateful_real_time``: whether its real-time mode has queries that keep state. ``slots``: how many each core has on this machine, where nothing
    is set: beside one for each core there is room for the long tasks of real time, which mostly wait.
    """

    name: str
    version: str
    sha256: str = ""
    megabytes: int = 0
    lacks: tuple[str, ...] = ()
    stateful_real_time: bool = False
    slots: int = 2


RELEASES = {
    release.name: release
    for release in (
        Release("4.2", "4.2.0"),
        Release(
            "4.3",
            "4.3.0",
            "e8c517948eff7088a7aa07449aa8eafa4a15a8d50319de2525a6fd26622476c6",
            456,
            lacks=("Delta", "Iceberg"),
            stateful_real_time=True,
            slots=8,
        ),
    )
}


def wanted(options: Mapping[str, str]) -> Release:
    """The one that ``options`` name."""
    return RELEASES[settings.read(options, OPTION)]


def home(release: Release) -> Path:
    """The folder that ``release`` is imported from, where it is fetched."""
    return jars.cache_dir().parent / f"spark-{release.version}"


def running() -> Release:
    """The one that this process runs on, or will."""
    if (imported := sys.modules.get("pyspark")) is not None:
        return next((release for release in RELEASES.values() if release.version == imported.__version__), RELEASES[INSTALLED])
    return next((release for release in RELEASES.values() if str(home(release)) in sys.path), RELEASES[INSTALLED])


def use(release: Release, progress: Callable[[str], None]) -> None:
    """Have this process run on ``release``, which is fetched where it is missing. Raises SetupError, also where it runs on another one."""
    if release is running():
        return
    if running().name != INSTALLED or "pyspark" in sys.modules:
        hint = "Each process runs on one release: start another."
        raise SetupError(f"This process runs on Spark {running().version}, and '{OPTION}' is {release.name}.", hint=hint)
    _fetched(release, progress)
    sys.path.insert(0, str(home(release)))


def _fetched(release: Release, progress: Callable[[str], None]) -> None:
    folder = home(release)
    if folder.exists():
        return
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with jars.held(folder.parent, progress, "Spark"):
            if not folder.exists():
                for left_over in folder.parent.glob(f"{_WORK}*"):  # of a process that was killed: we hold the lock
                    shutil.rmtree(left_over, ignore_errors=True)
                progress(f"Downloading Spark {release.version} ({release.megabytes} MB) to {folder}, once")
                with tempfile.TemporaryDirectory(prefix=_WORK, dir=folder.parent, ignore_cleanup_errors=True) as work:
                    _install(release, Path(work)).rename(folder)
    except OSError as error:
        what = f"Spark {release.version} can't be written to '{folder}': {error.strerror or error}."
        raise SetupError(what, hint="Set XDG_CACHE_HOME to a folder that you can write to.") from error


def _install(release: Release, work: Path) -> Path:
    asked = work / "requirements.txt"
    asked.write_text(f"pyspark=={release.version} --hash=sha256:{release.sha256}\n", encoding="utf-8")
    target = work / "spark"
    # Its archive is a source: pip has setuptools put the files in place. py4j is there, as pyspark's of this installation.
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--no-deps", "--no-compile", "--use-pep517"]
    command += ["--require-hashes", "--target", str(target), "--requirement", str(asked)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        reason = f": {lines[-1][:300]}" if lines else ""
        raise SetupError(
            f"Spark {release.version} could not be installed{reason}",
            hint=f"{sys.executable} -m pip has to reach a package index, once; '{OPTION}' = '{INSTALLED}' runs on the Spark that came along.",
        )
    return target
