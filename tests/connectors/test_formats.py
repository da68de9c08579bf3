"""Every format with every option against the records of real Flink: the bytes that it writes, the rows that it reads, what it refuses."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache, reduce

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sqlstream.core.changelog import KIND
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.core.options import check_options
from sqlstream.formats import FORMATS, find_format, schema_registry, table_options
from sqlstream.formats.base import Encoded
from sqlstream.formats.json import Json
from tests.connectors.format_cases import COLUMNS, FILES, HERE, NESTED, READ, REFUSED, WRITTEN, Written, fields, rows, without
from tests.connectors.format_recorder import FAILS, Recorder, ddl, flink, lines, settings
from tests.connectors.protobuf_cases import PROJECT
from tests.support.floats import of_any_java


@cache
def recorded():
    return json.loads((HERE / "formats.json").read_text())


@pytest.fixture(scope="module")
def source(spark):
    """The rows of all cases, +I."""
    frame = spark.createDataFrame(list(enumerate(rows())), "_at INT, value STRING").coalesce(1)
    read = Json().decode(Encoded(frame, "value", "''"), fields(COLUMNS), {})
    return read.selectExpr("*", f"CAST(0 AS TINYINT) AS {KIND}").persist()


def bytes_of(record):
    """The bytes of a record as ``text`` shows it."""
    if record is None:
        return None
    return bytes.fromhex(record[2:]) if record.startswith("0x") else record.encode()


def read(spark, format_, columns, options, records):
    """(place, row as json, kind) of what the records hold."""
    frame = spark.createDataFrame([(i, None if r is None else bytearray(r)) for i, r in enumerate(records)], "_at INT, value BINARY").coalesce(1)
    given = find_format(format_)
    decoded = given.decode(Encoded(frame, "value", "'here'"), fields(columns), given.with_files(options, PROJECT))
    kind = KIND if find_format(format_).mode.carries_kinds else f"CAST(NULL AS TINYINT) AS {KIND}"
    return decoded.select("_at", Json().encode(fields(columns), {}).alias("row"), F.expr(kind))


def shown(found):
    """Rows of read() in the records' form."""
    lines = [(row["_at"], json.loads(row["row"], parse_float=str), row[KIND]) for row in found]
    return [[at, line if kind is None else line | {"_op": "d" if kind in (1, 3) else "c"}] for at, line, kind in lines]


def by_case(frames):
    """What each of several frames of read() gives, in one query."""
    named = [frame.select(F.lit(name).alias("name"), "*") for name, frame in frames.items()]
    found = reduce(DataFrame.unionAll, named).collect()
    return {name: shown([row for row in found if row["name"] == name]) for name in frames}


# Whose files Spark's own sources read and write: tested with the connector filesystem.
OF_SPARK = {"orc", "parquet"}
# That are read alone.
OF_CHANGES = {"canal-json", "maxwell-json", "ogg-json"}


def test_every_format_has_its_cases():
    written, read_ = ({case.format for case in cases.values()} for cases in (WRITTEN, READ))
    # Those with a schema registry have tests of their own.
    formats = {f.name for f in FORMATS.builtin if schema_registry.URL not in f.options}
    assert written == formats - OF_SPARK - OF_CHANGES
    assert read_ == formats - OF_SPARK


@pytest.mark.spark
@pytest.mark.parametrize("format_", ["json", "debezium-json", "csv", "raw", "avro", "protobuf"])
def test_written_bytes(source, format_):
    cases = {name: case for name, case in WRITTEN.items() if case.format == format_}
    given = find_format(format_)
    encoded = [given.encode(fields(c.columns), given.with_files(c.options, PROJECT)).cast("BINARY").alias(name) for name, c in cases.items()]
    found = source.select("_at", *encoded).sort("_at").collect()
    for name in cases:
        wanted = recorded()["written"][name]["records"]
        wanted = [None if r is None else bytes_of(r).decode("latin-1") for r in wanted]
        # Flink's writer of Avro's JSON sets a line break before each record but the first.
        wanted = [r and r.lstrip("\n") for r in wanted] if name.startswith("avro json") else wanted
        assert of_any_java([None if row[name] is None else row[name].decode("latin-1") for row in found]) == of_any_java(wanted), name


@pytest.mark.spark
@pytest.mark.parametrize("format_", ["json", "debezium-json", "csv", "raw", "avro", "protobuf"])
def test_read_rows(interpreted, format_):
    frames = {}
    for name, case in WRITTEN.items():
        if case.format == format_:
            options = case.options | ({"ignore-parse-errors": "true"} if format_ == "csv" else {})
            frames[name] = read(interpreted, format_, case.columns, options, map(bytes_of, recorded()["written"][name]["records"]))
    for name, found in by_case(frames).items():
        assert of_any_java(found) == of_any_java(recorded()["written"][name]["rows"]), name


@pytest.mark.spark
@pytest.mark.parametrize("format_", sorted({case.format for case in READ.values()}))
def test_malformed(interpreted, format_):
    """What is read where errors are ignored, and what of single records where they are not: rows, or the job fails."""
    cases = {name: case for name, case in READ.items() if case.format == format_}
    wanted = {name: recorded()["read"][name] for name in cases}
    frames = {name: read(interpreted, format_, c.columns, c.lenient, c.together) for name, c in cases.items()}
    alone = {name: list(zip(c.bad, wanted[name]["bad"], strict=True)) for name, c in cases.items()}
    good = {name: [(record, rows) for record, rows in records if rows != FAILS] for name, records in alone.items()}
    frames |= {
        f"{name}, alone": read(interpreted, format_, cases[name].columns, cases[name].options, [r for r, _ in given]) for name, given in good.items()
    }
    for name, found in by_case(frames).items():
        if name in cases:
            other = [at for at, record in enumerate(cases[name].together) if record in OTHERWISE]
            assert [row for row in found if row[0] not in other] == [row for row in wanted[name]["rows"] if row[0] not in other], name
        else:
            given = good[name.removesuffix(", alone")]
            assert found == [[at, line] for at, (_, rows) in enumerate(given) for _, line in rows], name
    failing = [(case, record) for name, case in cases.items() for record, rows in alone[name] if rows == FAILS]
    with ThreadPoolExecutor(4) as pool:
        for (case, record), error in zip(failing, pool.map(lambda given: problem(interpreted, *given), failing), strict=True):
            assert "(here)" in str(error), (case, record)


def problem(spark, case, record):
    """What ``record`` fails with; None where it does not."""
    try:
        read(spark, case.format, case.columns, case.options, [record]).collect()
    except PySparkException as error:
        return error
    return None


# Where errors are ignored, Flink loses its place in a record after a list that is none of its column's, and so the record; a time of csv that is
# none is that of another day, or has more digits than its column.
OTHERWISE = (
    b'{"bo":[]}', b'{"r":[]}', b'{"d2":[]}', b"1,+1,0x10,!!, 2020-01-02,24:00:00,2020-02-30 01:02:03,x",
    b"1, 1 , 1.5 ,,20200102,01:02:03.5,2020-01-02 01:02:03.123456,2020-01-02 01:02:03+01:00",
)  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    format_, type_, options, column = REFUSED[name]
    given, columns = find_format(format_), fields({column: type_})
    message = recorded()["refused"][name]
    try:
        options = given.with_files(options, PROJECT)
        check_options(format_, {f"{format_}.{k}": v for k, v in options.items()}, table_options(given))
        given.check(columns, options)
        if "schema-include" in options:
            given.encode(columns, options)
    except SqlStreamError as error:
        if type(error) is ValidationError and message and not name.endswith(OWN_WORDS):
            assert message.startswith(error.message)
    else:
        assert message == ""


# Of options that have one of a few values we say so in one way for all; Flink says less of a class that is not there.
OWN_WORDS = ("encoding", "endianness", "charset", "class", "array of messages")


def container(file):
    """The metadata of a file of Avro, and its blocks' bytes."""
    data = file.read_bytes()
    assert data[:4] == b"Obj\x01"
    place = 4

    def number():
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)

    def taken(size):
        nonlocal place
        place += size
        return data[place - size : place]

    metadata = {}
    while count := number():
        metadata |= {taken(number()).decode(): taken(number()) for _ in range(count)}
    taken(16)
    blocks = []
    while place < len(data):
        number()
        blocks.append(taken(number()))
        taken(16)
    return metadata, blocks


def table_of(make_table, name, path):
    case = FILES[name]
    options = {f"{case.format}.{k}": v for k, v in case.options.items()}
    return make_table(fields(case.columns), {"connector": "filesystem", "path": str(path), "format": case.format, **options})


@pytest.mark.spark
@pytest.mark.parametrize("name", [n for n, c in FILES.items() if c.format == "avro"])
def test_files_of_flink(run, make_table, source, name):
    frame = run.frame(table_of(make_table, name, HERE / "files" / name.replace(" ", "-")))
    assert as_text(frame) == as_text(source.select(*FILES[name].columns))


def as_text(frame):
    """The rows as text: Python has no year 0."""
    return [tuple(row) for row in frame.selectExpr(*[f"CAST(`{name}` AS STRING)" for name in frame.columns]).collect()]


@pytest.mark.spark
@pytest.mark.parametrize("name", [n for n, c in FILES.items() if c.format == "avro"])
def test_files_of_avro(run, make_table, source, name):
    table = table_of(make_table, name, run.project / "data")
    run.insert(table, source.select(*FILES[name].columns))
    (file,) = (run.project / "data").glob("*.avro")
    found, wanted = container(file), container(HERE / "files" / name.replace(" ", "-"))
    assert json.loads(found[0]["avro.schema"]) == json.loads(wanted[0]["avro.schema"])
    assert found[0].get("avro.codec") == wanted[0].get("avro.codec")
    if FILES[name].options.get("codec") == "null":
        assert found[1] == wanted[1]
    assert len(as_text(run.frame(table))) == len(rows())


@pytest.mark.spark
def test_csv_of_files(source):
    cases = {name: case for name, case in FILES.items() if case.format == "csv"}
    encoded = [find_format("csv").encode(fields(c.columns), c.options, lines=True).alias(name) for name, c in cases.items()]
    found = source.select("_at", *encoded).sort("_at").collect()
    for name in cases:
        wanted = (HERE / "files" / name.replace(" ", "-")).read_bytes().decode()
        assert of_any_java("".join(row[name] + "\n" for row in found)) == of_any_java(wanted), name


# Flink reads no other nested columns of parquet, nor times before 1970 in INT64, not even those that it has written.
_FLAT = without("ab", "ad", "mr", "ms", "rd", "rr")
OURS = {
    "json": Written("json"), "csv": Written("csv", without(*NESTED, "s", "ax")),
    "avro": FILES["avro"], "avro deflate": FILES["avro deflate"], "parquet": Written("parquet", _FLAT, {"utc-timezone": "true"}),
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.spark
def test_flink_reads_our_files(run, make_table, source, tmp_path):
    """Flink finds the same rows in files of ours as we do. Its parquet needs the jars of a Hadoop client."""
    script, found = list(settings()), {}
    for i, (name, case) in enumerate(OURS.items()):
        lenient = {"ignore-parse-errors": "true"} if case.format == "csv" else {}
        options = {f"{case.format}.{k}": v for k, v in (case.options | lenient).items()}
        options |= {"connector": "filesystem", "path": str(tmp_path / f"o{i}"), "format": case.format}
        table = make_table(fields(case.columns), options)
        run.insert(table, source.select(*case.columns).coalesce(1))
        rows_ = run.frame(table).select(Json().encode(fields(case.columns), {})).collect()
        found[name] = [json.loads(row[0], parse_float=str) for row in rows_]
        columns = {c: COLUMNS[c] for c in case.columns}
        to = {"connector": "filesystem", "path": str(tmp_path / f"j{i}"), "format": "json"}
        script += [ddl(f"o{i}", columns, options), ddl(f"j{i}", columns, to), f"INSERT INTO j{i} SELECT * FROM o{i}"]
    said = flink(script, tmp_path)
    assert not [answer for answer in said if "[ERROR]" in answer]
    for i, name in enumerate(OURS):
        assert lines(tmp_path / f"j{i}") == found[name], name


@pytest.mark.oracle
@pytest.mark.kafka
def test_record(broker, tmp_path):
    """Renews the records: run with ``-m oracle``, then look at the difference."""
    before = recorded()
    Recorder(tmp_path, broker.bootstrap).record()
    recorded.cache_clear()
    assert recorded() == before
