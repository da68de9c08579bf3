"""Spark's exceptions in the words of SQL.

In: whatever py4j or pyspark raised. Out: a SqlStreamError whose message is the innermost cause's, without a stack.
"""

from __future__ import annotations

import bz2
import gzip
import json
import re
import time
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JError, Py4JJavaError

from sqlstream.core import storage
from sqlstream.core.depth import too_deep
from sqlstream.core.errors import DISK_IS_FULL, FREE_SPACE, JobFailed, SetupError, SqlStreamError, ValidationError
from sqlstream.core.java import classes, thrown
from sqlstream.core.secrets import masked_value
from sqlstream.formats import find_format, table_options
from sqlstream.formats.base import RECORD_BEGINS, RECORD_CHARACTERS, RECORD_ENDS
from sqlstream.plan.nodes import Sink, scans
from sqlstream.plan.suspects import instead, suspects
from sqlstream.runtime.engine import conditions
from sqlstream.runtime.engine.conditions import Cause
from sqlstream.runtime.engine.java_process import JavaProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlstream.core.storage import Place
    from sqlstream.formats.base import Format
    from sqlstream.plan.nodes import Node

# What py4j says of every exception of the JVM, and how Spark begins to tell of a task's.
_CALL = re.compile(r"An error occurred while calling .*?\n: ", re.S)
_PROXY = re.compile(r"Return Message: Traceback .*?Py4JJavaError: An error occurred while calling .*?\n: (.*)", re.S)
_STREAM = re.compile(r"^\[STREAM_FAILED\] Query \[.*?\] terminated with exception: ")
# In real time a task reads what another one writes at the same time.
_CUT_OFF = re.compile(r"streaming shuffle \w+ \d+ closed before termination", re.I)
_RUN = re.compile(r"runId = ([0-9a-f-]{36})")
# So long Spark may take to hear of a task's end.
_HEARD_SECONDS = 3.0
_STATE = re.compile(r" SQLSTATE: \w{5}\b.*")
_TASK = re.compile(r"Job aborted due to stage failure: .*?\([^()]* executor [^()]*\)", re.S)
_CLASS = re.compile(r"^[:\s]*(?:[\w$]+\.)+[\w$]*(?:Exception|Error): ")
_SAYS_NOTHING = re.compile(r"^(RuntimeException|IOException|IllegalStateException|IllegalArgumentException): ")
_PACKAGE = re.compile(r"^(?:[\w$]+\.)+(?=[\w$]+(?::|$))")
# What our generated SQL raises by itself stands behind this condition in Spark's message.
_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (.*?)(?: SQLSTATE: P0001|\n\tat |\Z)", re.S)
_NULL = re.compile(r"Column '.*' is NOT NULL(?: in the (Delta) table)?, however, a null value is being (?:written into it|(aggregated))\.")
_DROPPED = "SET 'table.exec.sink.not-null-enforcer' = 'DROP' leaves such rows out; a column that may be NULL is declared without NOT NULL."
_REQUIRED = conditions.CONDITIONS["DELTA_NOT_NULL_CONSTRAINT_VIOLATED"].hint
_NULLABLE = "Declare the column without NOT NULL: the aggregate leaves NULLs out, as Flink's does then."
_PLACE = re.compile(r"\(topic (\S+), partition (\d+), offset (\d+)\)")
_RECORD = re.compile(f"{re.escape(RECORD_BEGINS)}(.*){re.escape(RECORD_ENDS)}", re.S)
_IN_FILE = re.compile(r"(?<= \(file )(file:\S+)(?=\))")
# So much of a record, and of another message, is shown.
_MOST_OF_RECORD, _MOST = 200, 2_000
_OPENERS: Mapping[str, Callable[..., IO[str]]] = {".gz": gzip.open, ".bz2": bz2.open}
# A file of a format of its own, or a compressed one.
_UNREAD = re.compile(r"\[FAILED_READ_FILE[.\w]*\] .*? reading file (\S+?)\.?\s", re.S)
_CORRUPT = "Remove it from the folder, or write it again; the job then continues."
# What a machine says of its disks, what to do, and whether it may be done while a job waits.
_DISKS = (
    (re.compile(r"No space left on device|Disk quota exceeded"), DISK_IS_FULL, FREE_SPACE, True),
    (re.compile(r"Read-only file system"), "Nothing can be written on a read-only file system", "Name a folder that can be written to.", False),
    # PostgreSQL says it in small letters of its tables.
    (re.compile(r"Permission denied"), "There is no permission to read or write",
     "Give the user of this process the permission, or name another folder.", False),
    # Hadoop does not say why.
    (re.compile(r"Mkdirs failed to create|Cannot create file:/"), "The folder can't be created",
     "Name one below a folder that can be written to.", False),
)  # fmt: skip
_PATH = re.compile(r"(?:file:/*)?(/[^\s:'\"(),]+)")
_WRITTEN = re.compile(r"Task failed while writing rows to (?:file:/*)?(/.*?)\.(?:\s|$)")
# What the user's own code in Python has raised.
_PYTHON = re.compile(re.escape("<<python function ") + "(.*)" + re.escape(" python function>>"))
_CRASHED = re.compile(r"Python worker exited unexpectedly")
# What a worker itself has raised.
_WORKER = "An exception was thrown from the Python worker"
# Where in a module of a connector of the project's.
_IN_CONNECTOR = re.compile(r'File "[^"\n]*(?<!/sqlstream)/(connectors/[^/"\n]+\.py)", line (\d+)')
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t]+.*\n)+(\S.*)")
# Java's stack was too small for Spark's parser, optimizer or tasks, or Spark's JSON of a schema has more levels than its writer takes.
_TOO_DEEP = re.compile(r"java\.lang\.StackOverflowError|FAILED_TO_PARSE_TOO_COMPLEX|Document nesting depth")
# What is heard of a JVM that is about to end, or of its context.
_ENDING = re.compile(r"java\.lang\.OutOfMemoryError|SparkContext was shut down|stopped SparkContext|Shutdown in progress")
_ENDING_SECONDS = 10
_REPLACED_SECONDS = 1
# What Kafka's consumers say in a task when brokers gave no answer for long enough.
_SILENT = re.compile(
    r"Timeout of \d+ms expired before|Timeout expired while fetching topic metadata"
    r"|Cannot fetch record for offset \d+ in \d+ milliseconds"
)
# A consumer's position, with all that it knows of the partition.
_POSITION = re.compile(r"FetchPosition\{offset=(\d+), [^\n]*?\}(?= is out of range)")
# An exception that a text names: its class, its condition.
_NAMED = re.compile(
    r"(?:^|: )(?:Caused by: )?(?:((?:[a-z_][\w$]*\.)+[A-Z][\w$]*)(?=:|\s|$)(?:: \[([A-Z0-9_.]+)\])?|\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)?)\])", re.M
)
# Patterns, a message, a hint and whether it may heal, None where the condition says so. A group of the pattern is what is shown of the cause, if it
# has one.
_CAUSES = (
    (re.compile(r"(Failed to (?:create|configure) SaslClient with mechanism GSSAPI|Client cannot authenticate via:\[[^\]\n]*KERBEROS\])"),
     "Kerberos did not work.", "It needs a ticket or a keytab, and a whole JDK on PATH or in JAVA_HOME: the Java that comes with sqlstream has no"
     " Kerberos for SASL (jdk.security.jgss).", False),
    (re.compile(r"The schema registry (\S+) does not answer: [^\n]*"), "The schema registry does not answer.",
     "Check the format's option 'url', and that the registry runs.", True),
    (re.compile(r"The schema registry (\S+ answers 40[13]\b[^\n]*)"), "The schema registry refuses a request.",
     "Give the format's options 'basic-auth.credentials-source' = 'USER_INFO' and 'basic-auth.user-info', or 'bearer-auth.*'.", False),
    (re.compile(r"The schema registry (\S+ answers (?:409|422)\b[^\n]*)"), "The schema registry does not take the schema of the records.",
     "A column that is added must be one that can be NULL, and types can only become wider; the registry's settings for the subject say what else.",
     False),
    (re.compile(r"The schema registry (\S+ answers 4\d\d\b[^\n]*)"), "The schema registry refuses a request.",
     "Check the format's option 'url'.", False),
    (re.compile(r"The schema registry (\S+ answers [^\n]*)"), "The schema registry is not well.", "Look into its log.", True),
    (re.compile(r"(The search server \S+ does not answer: [^\n]*)"), "The search server does not answer.",
     "Check 'hosts', and that the server runs.", True),
    (re.compile(r"(The search server \S+ answers 40[13]\b[^\n]*)"), "The search server refuses the login.",
     "Check 'username' and 'password', and what the user may write.", False),
    (re.compile(r"(The search server \S+ (?:answers (?:429|5\d\d)\b[^\n]*|has no room for a document))"), "The search server is not well.",
     "It is tried again where 'sink.bulk-flush.backoff.strategy' is set, and when the job is started again.", True),
    (re.compile(r"(The search server \S+ answers [^\n]*)"), "The search server refuses a request.",
     "Check 'hosts' and 'connection.path-prefix'; for 413 make 'sink.bulk-flush.max-size' smaller.", False),
    (re.compile(r"(The index '[^'\n]*' refuses a document: [^\n]*)"), "The index does not take a document.",
     "Its mapping, or the name of the index, does not fit. 'failure-handler' = 'ignore' leaves such documents out.", False),
    (re.compile(r"UnsupportedCharsetException: ([\w.:-]+)"), "Java has no such charset.",
     "The Java that comes with sqlstream has the common ones only. Install a whole JDK, 17 or newer, on PATH or in JAVA_HOME.", False),
    (_SILENT, "The Kafka broker does not answer.", "Check 'properties.bootstrap.servers', and that the broker runs (sqlstream kafka status).", True),
    (re.compile(r"Failed to construct kafka|No resolvable bootstrap|TimeoutException|disconnected before", re.I),
     "The Kafka broker does not answer.", "Check 'properties.bootstrap.servers', and that the broker runs (sqlstream kafka status).", True),
    (re.compile(r"UnknownTopicOrPartition|does not host this topic-partition", re.I), "The Kafka topic does not exist.", None, True),
    (re.compile(r"OffsetOutOfRange|Some data may have been lost|KAFKA_DATA_LOSS", re.I), "Kafka has no records where the job resumes reading.",
     "The topic's retention has removed them, or the topic was deleted, and perhaps created again. ALTER JOB .. SET OFFSETS ('<topic>' = 'earliest')"
     " resumes with the first that there are.", False),
    (re.compile(r"(Kafka topic '[^']+' was deleted and created again while the job ran\.)"), "What the job has read is gone.",
     "ALTER JOB .. SET OFFSETS ('<topic>' = 'earliest') resumes with the new one.", False),
    (re.compile(r"(The state of \w+ in [^\n]*? has version \d+ of the layout \w+, of which [\w ]+\.)"), "The job's state is of a newer release.",
     "Run the job with that release. Or SET 'pipeline.name' to another name, or remove the job's folder, and the job starts anew.", False),
    (re.compile(r"(The state in [^\n]*? is another operator's\.[^\n]*?)(?: SQLSTATE:|\n|$)"), "The job's state does not match its operators.",
     "It comes from another release, or was copied there. SET 'pipeline.name' to another name, or remove the job's folder, and the job starts anew.",
     False),
    (re.compile(r"(org\.apache\.hadoop\.fs\.s3a\.\w+) not found"), "Spark was started without the classes for 's3a://'.",
     'They are there where sqlstream.toml speaks of S3: add "spark.hadoop.fs.s3a.endpoint.region" = "eu-central-1" under [options], and start again.',
     False),
    (re.compile(r"(The service of \S+ overwrites what must be created only if it is absent\.)"),
     "Writers there would overwrite each other's commits.",
     "It has to keep to conditional writes (If-None-Match), as Amazon's S3 and recent releases of others do.", False),
    (re.compile(r'(No FileSystem for scheme "s3n?")'), "There are no paths 's3://'.", "Write s3a://..", False),
    (re.compile(r"(org\.apache\.hadoop\.fs\.azurebfs\.\w+) not found"), "Spark was started without the classes for 'abfss://'.",
     "Add \"spark.jars.packages\" = \"org.apache.hadoop:hadoop-azure:3.5.0\" under [options] of sqlstream.toml, and start again.", False),
    (re.compile(r'(No FileSystem for scheme "[\w.+-]+")'), "Spark was started without the classes for this path's file system.",
     "Name their jars in 'pipeline.jars', and start again.", False),
    (re.compile(r"(File \S+/state/\d+/_stateSchema/\S+ does not exist)"), "A file of the job's state is missing.", conditions.DAMAGED, False),
    # Spark's own message has no cause: it is the last that is told.
    (re.compile(r"\[CANNOT_LOAD_STATE_STORE[.\w]*\].*\nCaused by: (?:[\w$]+\.)+[\w$]+: ([^\n]+)", re.S),
     "The state of an operator can't be loaded.", None, None),
)  # fmt: skip


def job_error(error: BaseException, functions: Iterable[str] = (), nodes: Sequence[Node] = (), folder: Place | None = None) -> SqlStreamError:
    """``error`` as one that a user can read; a SqlStreamError stays what it is.

    ``functions`` are those in Python that the query calls, ``nodes`` its plan, ``folder`` is that of its state.
    """
    if isinstance(error, SqlStreamError):
        return error
    text = _full_text(error)
    if (died := _death(error, text)) is not None:
        died.__cause__ = error
        return died
    raised = _RAISED.search(text)
    unread = _UNREAD.search(text)
    if python := _PYTHON.search(text):
        message, hint = json.loads(python[1])
        problem: SqlStreamError = JobFailed(message, hint=hint, heals=False)
    elif raised:
        hint = _leaving_out(raised[1], nodes) or instead(raised[1].strip())
        failed = suspects(raised[1].strip(), nodes)
        at = next(iter(failed.values())) if len(failed) == 1 else None
        problem = JobFailed(_of_record(raised[1].strip()) + _one_of(list(failed)), at=at, hint=hint, heals=False)
    elif (where := _IN_CONNECTOR.findall(text)) and (said := _TRACEBACK.findall(text)):
        file, line = where[-1]
        problem = JobFailed(f"The connector in {file} has failed: {said[-1].strip()}, at line {line}.")
    elif full := _of_disk(text, folder):
        problem = full
    elif empty := _of_checkpoint(folder):
        problem = empty
    elif unread:
        lasts = conditions.known(_causes(error, text)).heals is False
        problem = JobFailed(f"The file {unquote(urlsplit(unread[1]).path)} can't be read: {_cause(text)}.", hint=_CORRUPT, heals=not lasts)
    elif _CRASHED.search(text):
        named = ", ".join(sorted(set(functions)))
        message = f"The Python worker ended unexpectedly while a function of the query ran{f' ({named})' if named else ''}."
        problem = JobFailed(message, hint="It called os._exit, crashed in native code, or was killed, for example because memory ran out.")
    elif _TOO_DEEP.search(text):
        problem = too_deep()
    elif cause := next(((m, h, s, heals) for p, m, h, heals in _CAUSES if (s := p.search(text))), None):
        message, hint, match, heals = cause
        if heals is None:
            found = conditions.known(_causes(error, text))
            hint, heals = found.hint, found.heals is not False
        problem = JobFailed(f"{message} ({match[1] if match.re.groups else _headline(text)})", hint=hint, heals=heals)
    else:
        found = conditions.known(_causes(error, text))
        if type(error).__name__ in ("AnalysisException", "ParseException"):
            problem = ValidationError(_headline(text, found.advice), hint=found.hint)
        else:
            # Any other is our own.
            theirs = isinstance(error, Py4JError | OSError) or type(error).__module__.startswith("pyspark.")
            problem = JobFailed(_headline(text, found.advice), hint=found.hint, heals=theirs and found.heals is not False)
    problem.__cause__ = error
    return problem


@contextmanager
def as_job_errors() -> Iterator[None]:
    """Raise what Spark fails with as ``job_error`` says it."""
    try:
        yield
    except Exception as error:
        raise job_error(error) from error


def lacks_slots(error: BaseException) -> bool:
    """Whether Spark has too few slots for tasks that have to run at the same time."""
    return "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT" in _full_text(error)


def death(error: BaseException) -> SqlStreamError | None:
    """The death of Spark's JVM, where that is behind ``error``."""
    return None if isinstance(error, SqlStreamError) else _death(error, str(error))


@contextmanager
def while_it_runs() -> Iterator[None]:
    """Do what is to be done as long as there is a JVM: what is left of it where that has ended, of itself or not, has ended too."""
    try:
        yield
    except (Py4JError, OSError) as error:
        if isinstance(error, Py4JJavaError) or not _ended():
            raise


def _ended() -> bool:
    """Whether the JVM has ended, or is about to, that gave no answer: the latest one, unless that has replaced it already."""
    process = JavaProcess.latest
    if process is None or process.ending:
        return process is not None
    return process.ended_within(_REPLACED_SECONDS if process.replaced else _ENDING_SECONDS) or process.replaced is not None


def answered_error(error: Exception) -> str | None:
    """The error with which the JVM answered a call, in one line; None if it does not answer, or is about to end."""
    # Py4J's own error of a broken connection has neither an exception of Java's nor a stack; others PySpark turns into errors of its own.
    if isinstance(error, OSError) or (isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError) and "Trace:" not in str(error)):
        return None
    text = _full_text(error)
    return None if _ENDING.search(text) else escaped(_cut(masked_value(_headline(text)), _MOST))


def _death(error: BaseException, text: str) -> SqlStreamError | None:
    process = JavaProcess.latest
    if process is None:
        return None
    unanswered = isinstance(error, Py4JError | ConnectionError | EOFError) and not isinstance(error, Py4JJavaError)
    if unanswered or _ENDING.search(text):
        # Its sockets close, and its queries fail, a moment before it is gone.
        ended = _ended()
        if ended and process.death is None and unanswered and process.replaced is not None:
            return process.replaced.error()
    return None if process.death is None else process.death.error()


def _of_record(message: str) -> str:
    """The message of a row that can't be computed: of a record in it the beginning, without its secrets, and of a file its line, too."""
    record = _RECORD.search(message)
    if record is None:
        return escaped(_cut(masked_value(message), _MOST))
    place = _IN_FILE.sub(lambda match: _line(match[1], record[1]), message[record.end() :])
    return f"{message[: record.start()]}'{escaped(_cut(masked_value(record[1]), _MOST_OF_RECORD))}'{escaped(place)}"


def _leaving_out(message: str, nodes: Sequence[Node]) -> str | None:
    """Which options leave out what has failed: of what is read, where a record can't be; of the session, where a NULL may not be written."""
    if (null := _NULL.match(message)) is not None:
        return _REQUIRED if null[1] else _NULLABLE if null[2] else _DROPPED
    if _RECORD.search(message) is None:
        return None
    place = _PLACE.search(message)
    this = None
    if place is not None and any(isinstance(node, Sink) for node in nodes):
        record = f"'{place[1]}' = 'partition:{place[2]},offset:{place[3]}'"
        this = f"A stopped job leaves this one out by ALTER JOB .. SKIP RECORDS ({record})."
    ignoring = [(key, scan, format_) for node in nodes for scan in scans(node) for key, format_ in _ignoring(scan.table.options)]
    if not ignoring:
        return this
    options = dict.fromkeys(f"'{key}' = 'true' of {scan.table.path.name}" for key, scan, _ in ignoring)
    of_fields = ", and gives NULL for a field that does not fit" if any(format_.ignores_fields for *_, format_ in ignoring) else ""
    return " ".join(filter(None, (f"{' or '.join(options)} leaves such records out{of_fields}.", this)))


def _ignoring(options: Mapping[str, str]) -> Iterator[tuple[str, Format]]:
    """The options that leave out records and are not set, each with its format."""
    for prefix in ("", "key.", "value."):
        name = options.get(f"{prefix}format")
        if name is not None:
            format_ = find_format(name)
            keys = (o.key for o in table_options(format_, prefix))
            yield from ((key, format_) for key in keys if key.endswith(".ignore-parse-errors") and key not in options)


def _one_of(calls: Sequence[str]) -> str:
    return "" if not calls else f" (in {calls[0]})" if len(calls) == 1 else f" (in one of {', '.join(calls)})"


def escaped(text: str) -> str:
    r"""``text`` on one line: its control characters as ``\n``, ``\x00``."""
    return "".join(repr(c)[1:-1] if ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 else c for c in text)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} ..."


def _line(file: str, record: str) -> str:
    """The file and the number of the first line that is ``record``, or begins with what is known of it; the file where that can't be read here."""
    path = Path(unquote(urlsplit(file).path))
    try:
        with _OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8", errors="replace", newline="\n") as lines:
            cut = len(record) >= RECORD_CHARACTERS
            same = (n for n, line in enumerate(lines, 1) if line.rstrip("\r\n") == record or (cut and line.startswith(record)))
            number = next(same, None)
    except (OSError, EOFError):
        number = None
    return str(path) if number is None else f"{path}, line {number}"


def _of_disk(text: str, folder: Place | None) -> SqlStreamError | None:
    """What keeps a machine from reading or writing, with the path that it names, or what was written, or else the folder of the job's state."""
    for pattern, message, hint, heals in _DISKS:
        if (match := pattern.search(text)) is not None:
            begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
            named = _PATH.search(text[begin : end if end >= 0 else len(text)])
            written = _WRITTEN.search(text)
            where = named[1] if named else unquote(written[1]) if written else folder
            return JobFailed(message + (f": {where}." if where else "."), hint=hint, heals=heals)
    return None


def _of_checkpoint(folder: Place | None) -> SqlStreamError | None:
    """A file of the checkpoint in a job's folder that has nothing in it, which Spark does not name."""
    if folder is None:
        return None
    try:
        files = (*folder.glob("checkpoint/*/metadata"), *folder.glob("checkpoint/*/offsets/[0-9]*"))
        empty = next((path for path in sorted(files, key=str) if storage.empty(path)), None)
    except OSError:
        # It is not to be reached: what was met says more.
        return None
    if empty is None:
        return None
    return JobFailed(
        f"The file {empty} of the job's checkpoint is empty: it was being written when the disk was full or the machine stopped.",
        hint=conditions.DAMAGED,
        heals=False,
    )


def _cause(text: str) -> str:
    """The innermost cause that is reported."""
    causes = [c.strip() for c in re.findall(r"^Caused by: (.*)", text, re.M)]
    # Java's most general exceptions say nothing by their names.
    return _SAYS_NOTHING.sub("", _PACKAGE.sub("", causes[-1])).rstrip(".") if causes else _headline(text).rstrip(".")


def start_error(error: BaseException, logs: Path) -> SetupError:
    """What kept Spark from starting: the innermost cause, in one line."""
    if (died := death(error)) is not None:
        return SetupError(f"Spark did not start. {died.message}", hint=died.hint)
    if (kept := _of_disk(str(error), None)) is not None:
        return SetupError(f"Spark did not start. {kept.message}", hint=kept.hint)
    causes = re.findall(r"^Caused by: (.*)", str(error), re.M)
    lines = [line.strip() for line in _CALL.sub("", str(error), count=1).splitlines() if line.strip()]
    line = causes[-1] if causes else lines[0] if lines else type(error).__name__
    problem = SetupError(f"Spark did not start: {_PACKAGE.sub('', line)}", hint=f"See spark.log and jvm.log in {logs}.")
    problem.__cause__ = error
    return problem


def _causes(error: BaseException, text: str) -> list[Cause]:
    """What is behind ``error``, outermost first: exceptions that its ``text`` names, as that of a sink in Python, then those that the JVM has."""
    java = thrown(error)
    names = list(dict.fromkeys((match[1] or "", match[2] or match[3] or "") for match in _NAMED.finditer(text)))
    try:
        ours = None if java is None else JavaClass("sqlstream.monitor.Causes", java._gateway_client)
        had = [] if ours is None else json.loads(ours.of(java))
        told = [{"classes": [n] if n else [], "condition": c or None} if ours is None else json.loads(ours.named(n, c)) for n, c in names]
    except (Py4JError, OSError):
        # The JVM is gone, or has none of our classes: it began without them.
        return [Cause((name,) if name else (), condition or None) for name, condition in names]
    return [Cause(tuple(one["classes"]), one.get("condition"), one.get("state")) for one in (*told, *had)]


def _full_text(error: BaseException) -> str:
    parts = [str(error)]
    java = thrown(error)
    seen = 0
    while java is not None and seen < 20:
        try:
            parts.append(str(java.getMessage() or java.toString()))
            java = java.getCause()
        except Py4JError:  # the JVM is gone: what we have is all there is
            break
        seen += 1
    if (cause := error.__cause__) is not None:
        parts.append(str(cause))
    text = "\n".join(parts)
    return "\n".join([*_behind(text), text])


def _behind(text: str) -> list[str]:
    """What other tasks of the query have failed with, where its error is that a task of which one had rows has ended."""
    run = _RUN.search(text)
    if not _CUT_OFF.search(text) or run is None:
        return []
    from pyspark import SparkContext

    if (context := SparkContext._active_spark_context) is None:
        return []
    end = time.monotonic() + _HEARD_SECONDS
    while True:
        try:
            failures = classes(context).realtime.TaskFailures.of(context._jsc.sc(), run[1])
        except Py4JError:
            return []
        if (found := [str(failure) for failure in failures if not _CUT_OFF.search(str(failure))]) or time.monotonic() > end:
            return found
        time.sleep(0.1)


def _headline(text: str, advice: str | None = None) -> str:
    """The outermost message of ``text``, up to where its own ``advice`` begins: its first line, or, where that is cut or ends with a colon, all."""
    # What a sink has met that Python calls stands in Python's trace.
    if (called := _PROXY.search(text)) is not None:
        text = called[1]
    text = _POSITION.sub(r"\1", text)
    text = _STREAM.sub("", _CLASS.sub("", _CALL.sub("", text, count=1)))
    text = _CLASS.sub("", _TASK.sub("", text, count=1))
    if _WORKER in text and (raised := _TRACEBACK.findall(text)):
        return f"A Python worker failed: {raised[-1].strip()}"
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("at ", "== ", "=== "))]
    if not lines:
        return "unknown failure"
    # What PostgreSQL adds of a row that it does not take.
    if len(lines) > 1 and lines[1].startswith("Detail: "):
        lines[0] += f" {lines[1]}"
    if lines[0].endswith(":") or advice is not None:
        lines = [" ".join((lines[0], *takewhile(lambda line: not line.startswith(("Caused by: ", "[")), lines[1:])))]
    return _cut(_STATE.sub("", lines[0].partition(advice)[0] if advice else lines[0]).strip(), _MOST)
