"""What of a project is packed: its settings, tables, saved queries, functions and scripts, if there is no secret in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.cli.packaging.archive import Entry
from sqlstream.core import secrets, settings
from sqlstream.core.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CONFIG = "sqlstream.toml"
# Where scripts are that come from outside of the project.
SCRIPTS = "scripts"
_FOLDERS = ("catalog", "queries", "udfs", "connectors", "protos")


def entries(project: Path, scripts: Sequence[Path], options: Mapping[str, str], *, own_python: bool) -> tuple[list[Entry], list[str]]:
    """The project's files, and the names of ``scripts`` among them. Raises ValidationError, also for a secret, with all of them."""
    _check_options(options, own_python=own_python)
    files = {name: path for folder in _FOLDERS for name, path in _below(project / folder, folder, ())}
    if (project / CONFIG).is_file():
        files[CONFIG] = project / CONFIG
    for file in settings.read(options, "python.files"):
        path = project / Path(file).expanduser()
        name = _name(path, project)
        if name is None:
            raise ValidationError(f"'{file}' (python.files) is outside of the project {project}.", hint="Put it in udfs/.")
        files |= dict(_below(path, name, ())) if path.is_dir() else {name: path}
    names = []
    for script in scripts:
        if not script.is_file():
            raise ValidationError(f"There is no file '{script}'.")
        name = _name(script, project) or f"{SCRIPTS}/{script.name}"
        if files.get(name, script).resolve() != script.resolve():
            raise ValidationError(f"Two scripts are called '{script.name}'.", hint="Name one of them otherwise, or keep them in the project.")
        files[name] = script
        names.append(name)
    _check_secrets(files)
    return [Entry.of(name, path) for name, path in sorted(files.items())], names


def _check_options(options: Mapping[str, str], *, own_python: bool) -> None:
    """Raises ValidationError for an option that a package can't keep: a secret, an environment of its own."""
    for key, value in options.items():
        if secrets.masked_option(key, value) != value:
            raise ValidationError(f"The value of '{key}' in {CONFIG} is a secret, which is not packed.", hint=_HINT)
    for key in ("python.archives", "python.executable"):
        if own_python and options.get(key):
            hint = f"The package has an environment of its own: take '{key}' out of {CONFIG}, or pack with --no-environment."
            raise ValidationError(f"'{key}' names a Python of this machine.", hint=hint)


_HINT = "Write ${env:NAME}; the driver's environment has it: the pages on clusters say how."


def _check_secrets(files: Mapping[str, Path]) -> None:
    found = []
    for name, path in sorted(files.items()):
        if path.suffix == ".sql" or name == CONFIG:
            try:
                text = path.read_text("utf-8-sig")
            except UnicodeDecodeError:
                raise ValidationError(f"'{name}' is not UTF-8.") from None
            found += [f"{name}, line {text.count(chr(10), 0, begin) + 1}" for begin, _ in secrets.places(text)]
    if found:
        raise ValidationError(f"There is a secret in {'; '.join(found)}. It is not packed.", hint=_HINT)


def _name(path: Path, project: Path) -> str | None:
    """The name of ``path`` in the project; None where it is outside."""
    try:
        return (path.parent.resolve() / path.name).relative_to(project).as_posix()
    except ValueError:
        return None


def _below(folder: Path, name: str, above: tuple[Path, ...]) -> Iterator[tuple[str, Path]]:
    """The files below ``folder``, links followed, but for hidden ones and what Python has compiled."""
    if not folder.is_dir():
        return
    real = folder.resolve()
    if real in above:
        raise ValidationError(f"'{name}' is a link to a folder that it is in.")
    for path in sorted(folder.iterdir()):
        inside = f"{name}/{path.name}"
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        if path.is_dir():
            yield from _below(path, inside, (*above, real))
        elif path.is_file():
            yield inside, path
        else:
            raise ValidationError(f"'{inside}' is a link to what is not there." if path.is_symlink() else f"'{inside}' is not a file.")
