"""What ``spark-submit`` runs of a package: a script of it, in a session on Spark as it was submitted."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlstream.cli import main as client
from sqlstream.core import storage
from sqlstream.core.errors import SetupError, SqlStreamError, ValidationError
from sqlstream.core.project_folder import OWN, PACKAGE
from sqlstream.shell.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlstream.core.storage import Engine, Place

_STATE = storage.DIRECTORIES[0]


def main(argv: Sequence[str], application: str) -> int:
    """Run a script of the package whose ``application`` this is: the one that ``argv`` begins with, or the only one. The exit code."""
    threading.Thread(target=_end_with, args=(os.getppid(),), name="jvm-watch", daemon=True).start()
    try:
        packed = Path(application).absolute().parent / "project"
        manifest = json.loads((packed / PACKAGE).read_text("utf-8"))
        _check_spark(manifest)
        script, *options = _arguments(argv, manifest)
        project = _project(packed, options)
    except SqlStreamError as error:
        Screen().error(error)
        return 1
    os.chdir(project)
    return client.main(["--project", str(project), "-f", script, *options])


def _end_with(parent: int) -> None:
    """End this process when its JVM has ended, for which nobody else would."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _check_spark(manifest: Mapping[str, Any]) -> None:
    import pyspark

    packed = manifest["spark"]
    if pyspark.__version__.split(".")[:2] != packed.split(".")[:2]:
        raise SetupError(f"This package is for Spark {packed}; here is Spark {pyspark.__version__}.", hint="Submit it with that release.")


def _arguments(argv: Sequence[str], manifest: Mapping[str, Any]) -> list[str]:
    """The script, and the client's options."""
    scripts = manifest["scripts"]
    if argv and not argv[0].startswith("-"):
        if argv[0] not in scripts:
            raise ValidationError(f"There is no script '{argv[0]}' in this package.", hint=f"It has {', '.join(scripts)}.")
        return list(argv)
    if len(scripts) > 1:
        raise ValidationError("This package has several scripts.", hint=f"Name one behind --: {', '.join(scripts)}.")
    return [scripts[0], *argv]


def _project(packed: Path, options: Sequence[str]) -> Path:
    """The project's folder: where it is kept, or on a machine that forgets it a copy, with what is kept elsewhere."""
    from sqlstream.runtime.engine.submitted import configuration

    spark = configuration() or {}
    if spark.get("spark.submit.deployMode") != "cluster" and not spark.get("spark.master", "").startswith("k8s"):
        return packed
    folder = Path(tempfile.mkdtemp(prefix="sqlstream-", dir=Path.cwd() if os.access(Path.cwd(), os.W_OK) else None)) / "project"
    shutil.copytree(packed, folder)
    kept = _job_storage(folder, options)
    if isinstance(kept, Path):
        kept.mkdir(parents=True, exist_ok=True)
        (folder / OWN).symlink_to(kept)
    return folder


def _job_storage(folder: Path, options: Sequence[str]) -> Place:
    """Where jobs are kept. Raises SetupError where that is nowhere that stays."""
    parser = client.argument_parser()
    arguments, _ = parser.parse_known_args(list(options))
    found = client.project_options(parser, folder) | dict(arguments.D)
    if not any(found.get(key) for key in storage.DIRECTORIES):
        raise SetupError(
            "The driver's machine keeps nothing of what jobs must go on with.",
            hint=f"Set '{_STATE}' in sqlstream.toml, or behind --: -D {_STATE}=..; a URI such as hdfs://.., or a folder that all machines reach.",
        )
    root = storage.job_folders(found, Path(), storage.Hadoop(_no_engine)).root
    if isinstance(root, Path) and not root.is_absolute():
        raise SetupError(f"'{root}' can't be '{_STATE}' of a package.", hint="Name an absolute path, or a URI, of storage that all machines reach.")
    return root


def _no_engine() -> Engine:
    raise SetupError("Spark does not run yet.")
