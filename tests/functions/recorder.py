"""Renews the records of this folder from real Flink.

``FLINK_SQL_CLIENT`` is a command that starts a SQL client which reads statements from standard input. Every expression is asked for its
type and its text over the rows of rows.json: those of which a view can be made, many in one INSERT into a file of JSON lines; those of an
INSERT that fails once more with fewer others.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

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
# So many expressions go into one INSERT; what a refused INSERT holds goes into the next round. The last one is for failures of the client's.
SIZES = (40, 6, 1, 1)


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


def _escaped(text: str | None) -> str:
    if text is None:
        return "\\N"
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r", "0": "\0"}.get(m[1], m[1]), text)


def record(asked: list[str], target: str, *, aggregate: bool, only: str | None = None) -> None:
    """Ask Flink for expressions and write ``target``: all, or those that match ``only`` and those without a record."""
    found: dict[str, tuple[str | None, ...] | str] = {}
    if only is not None:
        found = {e: texts[0] if type_ == "!" else (type_, *texts) for e, type_, texts in records(target) if not re.search(only, e)}
    left = [e for e in asked if e not in found]
    refused = dict(zip(left, _refusals(left), strict=True))
    found |= {e: message for e, message in refused.items() if message is not None}
    left = [e for e in left if refused[e] is None]
    for size in SIZES:
        batches = [left[i : i + size] for i in range(0, len(left), size)]
        left = []
        for batch, answer in zip(batches, _ask(batches, aggregate) if batches else [], strict=True):
            if not isinstance(answer, str):
                found.update(answer)
            elif len(batch) > 1 or (size == 1 and "MiniCluster" in answer):
                left += batch
            else:
                found[batch[0]] = answer
    lines = [f"{HEADING}Flink {FLINK}"]
    for expression in asked:
        got = found.get(expression, "fails while running")
        cells = ("!", got) if isinstance(got, str) else got
        lines.append("\t".join([expression, cells[0], *(_escaped(c) for c in cells[1:])]))
    (HERE / target).write_text("\n".join(lines) + "\n")


def _refusals(expressions: list[str]) -> list[str | None]:
    """For each expression the message with which Flink refuses a view of it; None where it doesn't."""
    with TemporaryDirectory() as folder:
        views = [f"CREATE TEMPORARY VIEW v{i} AS SELECT TYPEOF({e}) AS x, CAST(({e}) AS STRING) AS y FROM t" for i, e in enumerate(expressions)]
        return [_message(said) for said in _run(folder, views)]


def _ask(batches: list[list[str]], aggregate: bool) -> list[dict[str, tuple[str, ...]] | str]:
    """For each batch: expression -> (type, text for each row), or the message with which it was refused."""
    with TemporaryDirectory() as folder:
        tables, inserts = [], []
        for i, batch in enumerate(batches):
            cells = ", ".join(f"`t{k}` STRING, `v{k}` STRING" for k in range(len(batch)))
            tables.append(f"CREATE TABLE o{i} (`id` INT, {cells}) WITH ('connector' = 'filesystem', 'path' = '{folder}/o{i}', 'format' = 'json')")
            items = ", ".join(f"TYPEOF({e}), CAST(({e}) AS STRING)" for e in batch)
            inserts.append(
                f"INSERT INTO o{i} SELECT 0, {items} FROM t UNION ALL SELECT 1, {items} FROM t WHERE `id` > 99"
                if aggregate
                else f"INSERT INTO o{i} SELECT `id`, {items} FROM t"
            )
        said = _run(folder, [*tables, *inserts])[len(tables) :]
        return [_answer(Path(folder) / f"o{i}", batch, said[i]) for i, batch in enumerate(batches)]


def _run(folder: str, statements: list[str]) -> list[str]:
    """What the client says to each statement; they find the table ``t`` of rows.json."""
    (Path(folder) / "rows").mkdir()
    rows = [json.dumps({"id": i, **json.loads(line)}) for i, line in enumerate((HERE / "rows.json").read_text().splitlines())]
    (Path(folder) / "rows" / "rows.json").write_text("\n".join(rows) + "\n")
    columns = ", ".join(f"`{n}` {t}" for n, t in COLUMNS.items())
    before = [
        "SET 'sql-client.execution.result-mode' = 'tableau'", "SET 'execution.runtime-mode' = 'batch'", "SET 'table.dml-sync' = 'true'",
        f"SET 'table.local-time-zone' = '{ZONE}'",
        f"CREATE TABLE t (`id` INT, {columns}) WITH ('connector' = 'filesystem', 'path' = '{folder}/rows', 'format' = 'json',"
        " 'json.timestamp-format.standard' = 'SQL')",
    ]  # fmt: skip
    output = subprocess.run(
        shlex.split(os.environ["FLINK_SQL_CLIENT"]), input="".join(s + ";\n" for s in [*before, *statements]), capture_output=True, text=True,
        check=False, timeout=7200,
    ).stdout  # fmt: skip
    output = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", output)
    return output.split("Flink SQL> ")[1:][len(before) : len(before) + len(statements)]


def _message(said: str) -> str | None:
    """Why a statement was refused; None where it was not."""
    if "[ERROR]" not in said:
        return None
    reason = said.split("Reason:\n", 1)[1].strip()
    return re.sub(r"\s+", " ", re.sub(r",? at line \d+, column \d+|^[\w.$]+(?:Exception|Error): |From line [\d, a-z]+: ", "", reason))


def _answer(folder: Path, batch: list[str], said: str) -> dict[str, tuple[str, ...]] | str:
    if (message := _message(said)) is not None:
        return message
    lines = [json.loads(line) for file in folder.iterdir() if not file.name.startswith(".") for line in file.read_text().splitlines()]
    lines.sort(key=lambda line: line["id"])
    return {e: (lines[0][f"t{k}"], *(line[f"v{k}"] for line in lines)) for k, e in enumerate(batch)}
