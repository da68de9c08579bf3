"""Renews ``recorded/formats.json`` from real Flink: the bytes that it writes, the rows that it reads, what it refuses.

``FLINK_SQL_CLIENT`` is a command that starts a SQL client which reads statements from standard input, ``FLINK_FORMAT_JARS`` names the jars of Flink's
avro, parquet and protobuf formats and protobuf-java, separated by colons; ``PROTOC`` is protoc of the same release. Records go through topics of the
development broker.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import subprocess
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc_tools

from sqlstream.formats import protobuf_files
from tests.connectors.format_cases import COLUMNS, FILES, HERE, READ, REFUSED, WRITTEN, rows
from tests.connectors.protobuf_cases import MANY_FIELDS, PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ZONE = "Europe/Prague"
AT = "`_at` BIGINT METADATA FROM 'offset' VIRTUAL"
FAILS = "fails"
# Changes need it; files are complete with a checkpoint, which would start a job that fails again and again.
STREAMING = (
    "SET 'execution.runtime-mode' = 'streaming'", "SET 'execution.checkpointing.interval' = '200 ms'", "SET 'restart-strategy.type' = 'none'",
)  # fmt: skip


def flink(statements: list[str], folder: Path) -> list[str]:
    """What the client says to each statement."""
    named = os.environ["FLINK_FORMAT_JARS"].split(":")
    jars = [x for jar in [*named, classes(named, folder / "classes")] for x in ("-j", str(jar))]
    script = "".join(s + ";\n" for s in statements)
    command = [*shlex.split(os.environ["FLINK_SQL_CLIENT"]), *jars]
    output = subprocess.run(command, input=script, capture_output=True, text=True, check=False, timeout=1800).stdout
    (folder / "output").write_text(output)
    said = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", output).split("Flink SQL> ")[1:]
    assert len(said) >= len(statements), output[-3000:]
    return said[: len(statements)]


def classes(jars: list[str], folder: Path) -> Path:
    """A jar with the classes of the messages of Protobuf, of which those without messages of their own are recorded, too."""
    protos, own, made = PROJECT.project / protobuf_files.FOLDER, folder / "protos", folder / "made"
    own.mkdir(parents=True)
    (own / "many.proto").write_text(MANY_FIELDS)
    include = Path(grpc_tools.__file__).parent / "_proto"
    sources = [str(p) for p in (*sorted(protos.rglob("*.proto")), own / "many.proto")]
    places = [f"-I{p}" for p in (protos, own, include)]
    subprocess.run([*shlex.split(os.environ["PROTOC"]), *places, f"--java_out={folder}", *sources], check=True)
    files = [str(p) for p in folder.rglob("*.java")]
    subprocess.run(["javac", "--release", "11", "-nowarn", "-cp", ":".join(jars), "-d", str(made), *files], check=True)
    found = sorted(p.relative_to(made).as_posix() for p in made.rglob("*.class"))
    for jar, names in (folder / "messages.jar", found), (HERE / "messages.jar", [n for n in found if "$" not in n]):
        with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as entries:
            for name in names:
                # At no time, so that the same classes are the same file.
                entries.writestr(zipfile.ZipInfo(name), (made / name).read_bytes(), zipfile.ZIP_DEFLATED)
    return folder / "messages.jar"


def settings() -> Iterator[str]:
    yield "SET 'sql-client.execution.result-mode' = 'tableau'"
    yield "SET 'execution.runtime-mode' = 'batch'"
    yield "SET 'table.dml-sync' = 'true'"
    yield f"SET 'table.local-time-zone' = '{ZONE}'"


def ddl(name: str, columns: Mapping[str, str], options: Mapping[str, str], metadata: Iterable[str] = ()) -> str:
    items = ", ".join([*(f"`{n}` {t}" for n, t in columns.items()), *metadata])
    text = ", ".join(f"'{k}' = '{v.replace(chr(39), chr(39) * 2)}'" for k, v in options.items())
    return f"CREATE TABLE {name} ({items}) WITH ({text})"


def lines(folder: Path) -> list[Any]:
    """The records of a table's files of json, decimals as they are written."""
    files = [f for f in folder.glob("*") if not f.name.startswith(".")] if folder.exists() else []
    return [json.loads(line, parse_float=str) for file in files for line in file.read_text().split("\n")[:-1]]


def source(folder: Path) -> str:
    """The table ``src`` with the rows of all cases."""
    (folder / "src").mkdir()
    (folder / "src" / "rows.json").write_text("\n".join(rows()))
    return ddl("src", COLUMNS, {"connector": "filesystem", "path": f"{folder}/src", "format": "json"})


def _json(folder: Path, name: str, format_: str = "json") -> dict[str, str]:
    """A folder of json; of changes, where ``format_`` reads changes."""
    return {"connector": "filesystem", "path": f"{folder}/{name}", "format": "debezium-json" if changes(format_) else "json"}


def changes(format_: str) -> bool:
    return format_.endswith("-json")


class Recorder:
    """Asks for all at once where nothing fails, then for what may."""

    def __init__(self, folder: Path, bootstrap: str) -> None:
        self.folder = folder
        self.bootstrap = bootstrap

    def record(self) -> None:
        said = {"written": self._written(), "files": self._files(), "refused": self._refused(), "read": self._read()}
        (HERE / "formats.json").write_text(json.dumps({"flink": "2.3.0", **said}, indent=1, ensure_ascii=False) + "\n")

    def _kafka(self, topic: str, format_: str, options: Mapping[str, str], *, bounded: bool = True) -> dict[str, str]:
        kafka = {"connector": "kafka", "topic": topic, "properties.bootstrap.servers": self.bootstrap, "scan.startup.mode": "earliest-offset"}
        end = {"scan.bounded.mode": "latest-offset"} if bounded else {}
        return kafka | end | {"format": format_} | {f"{format_}.{k}": v for k, v in options.items()}

    def _run(self, name: str, script: Iterable[str]) -> tuple[Path, list[str]]:
        folder = self.folder / name
        folder.mkdir()
        return folder, flink([*settings(), source(folder), *script], folder)

    def _written(self) -> dict[str, Any]:
        topics = {name: f"w{i}" for i, name in enumerate(WRITTEN)}
        folder = self.folder / "written"
        tables, inserts, reads = [], defaultdict(list), defaultdict(list)
        for name, case in WRITTEN.items():
            columns = {c: COLUMNS[c] for c in case.columns}
            topic = topics[name]
            lenient = {"ignore-parse-errors": "true"} if case.format == "csv" else {}  # NULL is an error elsewhere
            tables.append(ddl(topic, columns, self._kafka(topic, case.format, case.options)))
            tables.append(ddl(f"r_{topic}", columns, self._kafka(topic, case.format, case.options | lenient), [AT]))
            tables.append(ddl(f"j_{topic}", columns | {"_at": "BIGINT"}, _json(folder, topic, case.format)))
            inserts[case.format].append(f"INSERT INTO {topic} SELECT {', '.join(f'`{c}`' for c in case.columns)} FROM src")
            # Flink can't read all that it writes in avro.
            reads[name if case.format == "avro" else case.format].append(f"INSERT INTO j_{topic} SELECT * FROM r_{topic}")
        dumped = {"b": "BYTES", "_topic": "STRING", "_at": "BIGINT"}
        every = self._kafka(";".join(topics.values()), "raw", {})
        tables += [
            ddl("dump", {"b": "BYTES"}, every, ["`_topic` STRING METADATA FROM 'topic' VIRTUAL", AT]),
            ddl("dumped", dumped, _json(folder, "dumped")),
        ]
        of_changes = reads.pop("debezium-json")
        script = [*tables, *map(together, inserts.values()), "INSERT INTO dumped SELECT * FROM dump", *map(together, reads.values())]
        _, said = self._run("written", [*script, *STREAMING, together(of_changes)])
        assert not any("[ERROR]" in answer for answer in said[: -len(reads) - len(STREAMING) - 1]), [refusal(answer) for answer in said]
        records: dict[str, list[Any]] = defaultdict(list)
        for line in sorted(lines(folder / "dumped"), key=lambda line: line["_at"]):
            records[line["_topic"]].append(None if line["b"] is None else text(base64.b64decode(line["b"])))
        return {name: {"records": records[topic], "rows": in_order(lines(folder / topic))} for name, topic in topics.items()}

    def _files(self) -> dict[str, Any]:
        """The bytes that Flink writes, into files of their own, and the rows that it reads of them."""
        names = {name: f"f{i}" for i, name in enumerate(FILES)}
        folder = self.folder / "files"
        script, reads = [], []
        for name, case in FILES.items():
            columns = {c: COLUMNS[c] for c in case.columns}
            lenient = {"ignore-parse-errors": "true"} if case.format == "csv" else {}
            for start, options in ("w", case.options), ("r", case.options | lenient):
                given = {f"{case.format}.{k}": v for k, v in options.items()}
                to = {"connector": "filesystem", "path": f"{folder}/{names[name]}", "format": case.format}
                script.append(ddl(f"{start}{names[name]}", columns, to | given))
            script.append(ddl(f"j{names[name]}", columns, _json(folder, f"j{names[name]}")))
            script.append(f"INSERT INTO w{names[name]} SELECT {', '.join(f'`{c}`' for c in case.columns)} FROM src")
            reads.append(f"INSERT INTO j{names[name]} SELECT * FROM r{names[name]}")
        _, said = self._run("files", [*script, *reads])
        found: dict[str, Any] = {}
        for (name, table), answer in zip(names.items(), said[-len(names) :], strict=True):
            files = [f for f in (folder / table).glob("*") if not f.name.startswith(".")] if (folder / table).exists() else []
            wrote = next(a for a in said if a.startswith(f"INSERT INTO w{table} "))
            found[name] = {"rows": refusal(wrote) or refusal(answer) or lines(folder / f"j{table}")}
            for file in files[:1]:
                (HERE / "files" / name.replace(" ", "-")).write_bytes(file.read_bytes())
        return found

    def _refused(self) -> dict[str, str]:
        script = []
        for i, (format_, type_, options, column) in enumerate(REFUSED.values()):
            script.append(ddl(f"x{i}", {column: type_}, self._kafka(f"x{i}", format_, options)))
            script.append(f"INSERT INTO x{i} SELECT CAST(NULL AS {type_})")
        _, said = self._run("refused", script)
        answers = said[len(said) - 2 * len(REFUSED) :]
        return {name: refusal(answers[2 * i]) or refusal(answers[2 * i + 1]) for i, name in enumerate(REFUSED)}

    def _read(self) -> dict[str, Any]:
        folder = self.folder / "read"
        feed: list[tuple[str, bytes]] = []
        asked: list[tuple[str, str, Mapping[str, str]]] = []
        for i, (name, case) in enumerate(READ.items()):
            feed += [(f"m{i}", record) for record in case.together]
            asked.append((name, f"m{i}", case.lenient))
            for k, record in enumerate(case.bad):
                feed.append((f"m{i}_{k}", record))
                asked.append((name, f"m{i}_{k}", case.options))
        topics = ";".join(topic for _, topic, _ in asked)
        tables = [ddl("feed", {"b": "BYTES"}, self._kafka(topics, "raw", {}), ["`topic` STRING METADATA"])]
        for name, topic, options in asked:
            case = READ[name]
            tables.append(ddl(f"r_{topic}", case.columns, self._kafka(topic, case.format, options), [AT]))
            tables.append(ddl(f"j_{topic}", case.columns | {"_at": "BIGINT"}, _json(folder, topic, case.format)))
        values = ", ".join(f"(X'{record.hex()}', '{topic}')" for topic, record in feed)
        # Changes come last: they need another mode.
        asked.sort(key=lambda a: changes(READ[a[0]].format))
        reads = [f"INSERT INTO j_{topic} SELECT * FROM r_{topic}" for _, topic, _ in asked]
        last = -sum(changes(READ[name].format) for name, _, _ in asked)
        script = [*tables, f"INSERT INTO feed VALUES {values}", *reads[:last], *STREAMING, *reads[last:]]
        _, said = self._run("read", script)
        answers = [*said[: last - len(STREAMING)], *said[last:]][-len(reads) :]
        found: dict[str, Any] = {name: {"bad": []} for name in READ}
        for (name, topic, _), answer in zip(asked, answers, strict=True):
            # The client seldom has the words of what has failed in a job.
            read: Any = FAILS if "[ERROR]" in answer else in_order(lines(folder / topic))
            if "_" in topic:
                found[name]["bad"].append(read)
            else:
                found[name]["rows"] = read
        return found


def together(inserts: list[str]) -> str:
    """INSERTs as one job."""
    return f"EXECUTE STATEMENT SET BEGIN {'; '.join(inserts)}; END"


def text(record: bytes) -> str:
    """A record as text if it is some, else its bytes in hex behind 0x."""
    try:
        shown = record.decode()
    except UnicodeDecodeError:
        return "0x" + record.hex()
    return "0x" + record.hex() if shown.startswith("0x") or not shown.isprintable() else shown


def in_order(read: list[dict[str, Any]]) -> list[list[Any]]:
    """(offset, row) of what was read; of changes with what they do, c or d."""
    found = [(line["after"] or line["before"]) | {"_op": line["op"]} if "op" in line else line for line in read]
    return [[line.pop("_at"), line] for line in sorted(found, key=lambda line: line["_at"])]


def refusal(said: str) -> str:
    if "[ERROR]" not in said:
        return ""
    reason = said.split("Reason:\n", 1)[1] if "Reason:\n" in said else said
    return re.sub(r"\s+", " ", re.sub(r"^[\w.$]+(?:Exception|Error): ", "", reason.strip()))[:400]
