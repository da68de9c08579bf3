"""Renews the records of this folder from real Flink, whose folder ``FLINK_HOME`` names: each expression's type and its text over the rows of rows.json."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sqlstream.core import jars

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
FLINK = "2.3.0"  # the version that answered
HEADING = "-- "
ZONE = "Europe/Prague"
COLUMNS = {
    "i": "INT", "l": "BIGINT", "h": "SMALLINT", "y": "TINYINT", "d": "DOUBLE", "f": "FLOAT", "n": "DECIMAL(10, 2)", "k": "DECIMAL(5, 1)",
    "s": "STRING", "c": "CHAR(5)", "v": "VARCHAR(10)", "b": "BOOLEAN", "bin": "BYTES", "dd": "DATE", "tt": "TIME", "ts": "TIMESTAMP(3)",
    "tu": "TIMESTAMP(6)", "lz": "TIMESTAMP_LTZ(3)", "ai": "ARRAY<INT>", "ax": "ARRAY<STRING>", "m": "MAP<STRING, INT>",
    "r": "ROW<a INT, b STRING>", "j": "STRING", "u": "STRING", "z": "INT", "p": "STRING",
}  # fmt: skip


def expressions(name: str) -> list[str]:
    """The expressions of a list, without its headings."""
    return [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("--")]


def records(name: str) -> Iterator[tuple[str, str, tuple[str | None, ...]]]:
    """(expression, type, texts) of a record file; type ``!`` and one text, the message, where Flink refused it."""
    for line in (HERE / name).read_text().split("\n")[:-1]:
        if line.startswith(HEADING):
            continue
        expression, type_, *texts = line.split("\t")
        yield expression, type_, tuple(None if x == "\\N" else _unescaped(x) for x in texts)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r", "0": "\0"}.get(m[1], m[1]), text)


def record(asked: list[str], target: str, *, aggregate: bool, only: str | None = None) -> None:
    """Ask Flink for expressions and write ``target``: all, or those that match ``only`` and those without a record."""
    lines = {}
    if only is not None:
        old = [line for line in (HERE / target).read_text().split("\n")[:-1] if not line.startswith(HEADING)]
        lines = {line.split("\t")[0]: line for line in old if not re.search(only, line.split("\t")[0])}
    lines |= _answers([e for e in asked if e not in lines], aggregate)
    (HERE / target).write_text("\n".join([f"{HEADING}Flink {FLINK}", *(lines[e] for e in asked)]) + "\n")


def _answers(asked: list[str], aggregate: bool) -> dict[str, str]:
    """The line of each expression, by FlinkAnswers."""
    flink = Path(os.environ["FLINK_HOME"])
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows").mkdir()
        rows = [json.dumps({"id": i, **json.loads(line)}) for i, line in enumerate((HERE / "rows.json").read_text().splitlines())]
        (folder / "rows" / "rows.json").write_text("\n".join(rows) + "\n")
        columns = ", ".join(f"`{n}` {t}" for n, t in COLUMNS.items())
        options = f"'connector' = 'filesystem', 'path' = '{folder}/rows', 'format' = 'json', 'json.timestamp-format.standard' = 'SQL'"
        (folder / "table.sql").write_text(f"CREATE TABLE t (`id` INT, {columns}) WITH ({options})")
        (folder / "asked").write_text("\n".join(asked) + "\n")
        (compiler,) = jars.ensure("compiler")
        command = ["java", "-jar", str(compiler), "-17", "-nowarn", "-d", name, "-cp", ":".join(map(str, flink.glob("lib/*.jar")))]
        subprocess.run([*command, str(HERE / "FlinkAnswers.java")], check=True)
        opens = (
            "lang",
            "lang.invoke",
            "math",
            "net",
            "nio",
            "text",
            "time",
            "util",
            "util.concurrent",
            "util.concurrent.atomic",
            "util.concurrent.locks",
        )
        subprocess.run(
            [
                "java", "-Xmx3g", *(f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in opens), "-cp", f"{folder}:{flink}/lib/*", "FlinkAnswers",
                f"{folder}/table.sql", ZONE, str(aggregate).lower(), f"{folder}/asked", f"{folder}/answers",
            ],
            check=True,
        )  # fmt: skip
        return {line.split("\t")[0]: line for line in (folder / "answers").read_text().split("\n")[:-1]}
