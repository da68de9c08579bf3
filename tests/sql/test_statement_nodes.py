"""Each statement becomes the node that the catalog and the session look for, with its arguments."""

from __future__ import annotations

import pytest
from sqlglot import exp

from sqlstream.core.errors import SyntaxProblem
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.data_types import flink_type


def plain(value: object) -> object:
    """A node as a name, a path, a text or a list of its arguments."""
    match value:
        case exp.Table():
            return ".".join(ast.parts(value))
        case exp.Identifier() | exp.Literal():
            return value.name
        case exp.DataType():
            return flink_type(value).full
        case list():
            return [plain(v) for v in value]
        case ast.OptionDef() | ast.LikeOption():
            return tuple(plain(v) for v in value.args.values())
        case ast.Statement() | ast.Clause():
            return (type(value).__name__, {k: plain(v) for k, v in value.args.items() if v not in (None, [])})
        case exp.Expr():
            return value.sql("flink")
    return value


SHOWS = {
    "SHOW CATALOGS": {"kind": "CATALOGS"},
    "show catalogs like 'x%'": {"kind": "CATALOGS", "like": "x%"},
    "SHOW CATALOGS NOT ILIKE 'x'": {"kind": "CATALOGS", "like": "x", "negated": True, "ilike": True},
    "SHOW DATABASES FROM c": {"kind": "DATABASES", "this": "c"},
    "SHOW DATABASES IN c NOT LIKE 'x'": {"kind": "DATABASES", "this": "c", "like": "x", "negated": True},
    "SHOW TABLES": {"kind": "TABLES"},
    "SHOW TABLES FROM a.b LIKE 'x'": {"kind": "TABLES", "this": "a.b", "like": "x"},
    "SHOW VIEWS IN d": {"kind": "VIEWS", "this": "d"},
    "SHOW COLUMNS FROM a.b.t": {"kind": "COLUMNS", "this": "a.b.t"},
    "SHOW COLUMNS IN t NOT LIKE 'x'": {"kind": "COLUMNS", "this": "t", "like": "x", "negated": True},
    "SHOW FUNCTIONS": {"kind": "FUNCTIONS"},
    "SHOW USER FUNCTIONS FROM d ILIKE 'x'": {"kind": "USER FUNCTIONS", "this": "d", "like": "x", "ilike": True},
    "SHOW MODULES": {"kind": "MODULES"},
    "SHOW FULL MODULES": {"kind": "FULL MODULES"},
    "SHOW JARS": {"kind": "JARS"},
    "SHOW JOBS": {"kind": "JOBS"},
    "SHOW JOBS EXTENDED": {"kind": "JOBS", "extended": True},
    "SHOW JOB METRICS": {"kind": "JOB METRICS"},
    "SHOW SAVEPOINTS": {"kind": "SAVEPOINTS"},
    "SHOW CURRENT CATALOG": {"kind": "CURRENT CATALOG"},
    "SHOW CURRENT DATABASE": {"kind": "CURRENT DATABASE"},
    "SHOW CREATE TABLE a.b.t": {"kind": "CREATE TABLE", "this": "a.b.t"},
    "SHOW CREATE VIEW v": {"kind": "CREATE VIEW", "this": "v"},
    "SHOW CREATE CATALOG c": {"kind": "CREATE CATALOG", "this": "c"},
    "SHOW PARTITIONS t": {"kind": "PARTITIONS", "this": "t"},
}
DESCRIBES = {
    "DESCRIBE t": {"kind": "TABLE", "this": "t"},
    "DESC a.b.t": {"kind": "TABLE", "this": "a.b.t"},
    "DESCRIBE EXTENDED t": {"kind": "TABLE", "this": "t", "extended": True},
    "DESCRIBE CATALOG c": {"kind": "CATALOG", "this": "c"},
    "DESC CATALOG EXTENDED c": {"kind": "CATALOG", "this": "c", "extended": True},
    "DESCRIBE DATABASE c.d": {"kind": "DATABASE", "this": "c.d"},
    "DESCRIBE FUNCTION EXTENDED f": {"kind": "FUNCTION", "this": "f", "extended": True},
    "DESCRIBE catalog": {"kind": "TABLE", "this": "catalog"},
}
USES = {
    "USE d": {"kind": "DATABASE", "this": "d"},
    "USE c.d": {"kind": "DATABASE", "this": "c.d"},
    "USE CATALOG c": {"kind": "CATALOG", "this": "c"},
    "USE MODULES a, b": {"kind": "MODULES", "expressions": ["a", "b"]},
}
SETS = {
    "SET": {},
    "SET 'a.b' = 'c'": {"this": "a.b", "expression": "c"},
    "SET a.b = c": {"this": "a.b", "expression": "c"},
    "SET execution.checkpointing.interval = 10 s": {"this": "execution.checkpointing.interval", "expression": "10 s"},
    "set 'a'='x=y'": {"this": "a", "expression": "x=y"},
    "SET a=b=c": {"this": "a", "expression": "b=c"},
    "SET 'a' = 'it''s'": {"this": "a", "expression": "it's"},
    "SET sql-client.execution.result-mode = tableau": {"this": "sql-client.execution.result-mode", "expression": "tableau"},
    "SET 'a' = ''": {"this": "a", "expression": ""},
    "SET a = -1": {"this": "a", "expression": "-1"},
    "SET a = file:///tmp/x": {"this": "a", "expression": "file:///tmp/x"},
}
RESETS = {"RESET": {}, "RESET 'a.b'": {"this": "a.b"}, "RESET a.b": {"this": "a.b"}}
DROPS = {
    "DROP TABLE a.b.t": {"kind": "TABLE", "this": "a.b.t"},
    "DROP TABLE IF EXISTS t": {"kind": "TABLE", "this": "t", "if_exists": True},
    "DROP TEMPORARY VIEW v": {"kind": "VIEW", "this": "v", "temporary": True},
    "DROP DATABASE IF EXISTS d CASCADE": {"kind": "DATABASE", "this": "d", "if_exists": True, "cascade": True},
    "DROP DATABASE c.d RESTRICT": {"kind": "DATABASE", "this": "c.d"},
    "DROP CATALOG c": {"kind": "CATALOG", "this": "c"},
    "DROP TEMPORARY SYSTEM FUNCTION IF EXISTS f": {
        "kind": "FUNCTION", "this": "f", "temporary": True, "system": True, "if_exists": True,
    },
}  # fmt: skip
CASES = [
    *((ast.Show, *case) for case in SHOWS.items()), *((ast.Describe, *case) for case in DESCRIBES.items()),
    *((ast.Use, *case) for case in USES.items()), *((ast.Set, *case) for case in SETS.items()),
    *((ast.Reset, *case) for case in RESETS.items()), *((ast.Drop, *case) for case in DROPS.items()),
    (ast.StopJob, "STOP JOB '1'", {"this": "1"}),
    (ast.DescribeJob, "DESCRIBE JOB EXTENDED '1a'", {"this": "1a", "extended": True}), (ast.DescribeJob, "DESC JOB '1a'", {"this": "1a"}),
    (ast.Describe, "DESCRIBE job", {"kind": "TABLE", "this": "job"}),
    (ast.Peek, "PEEK 'a' LIMIT 3", {"this": "a", "limit": 3}), (ast.Peek, "PEEK 'a'", {"this": "a"}),
    (ast.Infer, "INFER TABLE a.b FROM 'c' SAVE", {"this": "a.b", "topic": "c", "save": True}), (ast.Infer, "INFER TABLE FROM 'c'", {"topic": "c"}),
    (ast.Export, "EXPORT LAST TO 'a' FORMAT csv OVERWRITE", {"this": "a", "format": "CSV", "overwrite": True}),
    (ast.Plot, "PLOT", {}), (ast.Plot, "PLOT a BY b", {"this": "a", "by": "b"}),
    (ast.ExplainJob, "EXPLAIN JOB '1'", {"this": "1"}),
    (ast.ExplainJob, "EXPLAIN JOB", {}),
    (ast.StopJob, "STOP JOB '1' WITH SAVEPOINT WITH DRAIN", {"this": "1", "savepoint": True, "drain": True}),
    (ast.AlterJob, "ALTER JOB 'a' SET OFFSETS ('t' = 'earliest', 'u.v' = 'timestamp=0')", {
        "this": "a", "expressions": [("t", "earliest"), ("u.v", "timestamp=0")],
    }),
    (ast.AlterJob, "ALTER JOB 'a' SET OFFSETS ()", {"this": "a"}),
    (ast.SkipRecords, "ALTER JOB 'a' SKIP RECORDS ('t' = 'partition:0,offset:3')", {"this": "a", "expressions": [("t", "partition:0,offset:3")]}),
    (ast.SkipRecords, "ALTER JOB 'a' SKIP RECORDS ()", {"this": "a"}),
    (ast.DropJob, "DROP JOB IF EXISTS 'a'", {"this": "a", "if_exists": True}), (ast.DropJob, "DROP JOB 'a'", {"this": "a"}),
    (ast.DetachJob, "DETACH JOB 'a'", {"this": "a"}), (ast.SavepointJob, "SAVEPOINT JOB 'a'", {"this": "a"}), (ast.DescribeSavepoint, "DESC SAVEPOINT 'a/b'", {"this": "a/b"}),
    (ast.DropSavepoint, "DROP SAVEPOINT 'a/b'", {"this": "a/b"}), (ast.Describe, "DESCRIBE `savepoint`", {"kind": "TABLE", "this": "savepoint"}),
    (ast.BeginStatementSet, "BEGIN STATEMENT SET", {}), (ast.EndStatementSet, "END", {}),
    (ast.Help, "HELP", {}), (ast.Clear, "CLEAR", {}), (ast.Quit, "QUIT", {}), (ast.Quit, "exit", {}),
    (ast.Source, "SOURCE 'a.sql'", {"this": "a.sql"}),
    (ast.CreateView, "CREATE TEMPORARY VIEW IF NOT EXISTS v (a, b) COMMENT 'c' AS SELECT 1, /* x */ 2", {
        "this": "v", "columns": ["a", "b"], "comment": "c", "temporary": True, "if_not_exists": True,
        "query": "SELECT 1, 2", "query_text": "SELECT 1, /* x */ 2",
    }),
    (ast.CreateDatabase, "CREATE DATABASE IF NOT EXISTS c.d COMMENT 'x' WITH ('a' = 'b')", {
        "this": "c.d", "comment": "x", "options": [("a", "b")], "if_not_exists": True,
    }),
    (ast.CreateCatalog, "CREATE CATALOG c WITH ('type' = 'generic_in_memory')", {
        "this": "c", "options": [("type", "generic_in_memory")],
    }),
    (ast.CreateFunction, "CREATE TEMPORARY SYSTEM FUNCTION f AS 'm.f' LANGUAGE java USING JAR 'a', JAR 'b'", {
        "this": "f", "identifier": "m.f", "language": "JAVA", "jars": ["a", "b"], "temporary": True, "system": True,
    }),
    (ast.CreateTable, "CREATE TABLE t LIKE s", {"this": "t", "like": ("LikeDef", {"this": "s"}), "create": True}),
    (ast.CreateTable, "CREATE TABLE t (a INT) WITH ('k' = 'v') LIKE s (INCLUDING ALL OVERWRITING OPTIONS)", {
        "this": "t", "columns": [("PhysicalColumnDef", {"this": "a", "kind": "INT"})], "options": [("k", "v")],
        "like": ("LikeDef", {"this": "s", "expressions": [("INCLUDING", "ALL"), ("OVERWRITING", "OPTIONS")]}), "create": True,
    }),
    (ast.CreateTable, "CREATE TABLE t (b, a) WITH ('k' = 'v') AS SELECT 1 AS a, 2 AS b", {
        "this": "t", "columns": [("NameDef", {"this": "b"}), ("NameDef", {"this": "a"})], "options": [("k", "v")],
        "query": "SELECT 1 AS a, 2 AS b", "create": True,
    }),
    (ast.CreateTable, """CREATE TEMPORARY TABLE IF NOT EXISTS a.b.t (x INT NOT NULL COMMENT 'c', y AS x + 1, z INT METADATA FROM 'k' VIRTUAL,
        WATERMARK FOR ts AS ts - INTERVAL '1' SECOND, CONSTRAINT p PRIMARY KEY (x) NOT ENFORCED) DISTRIBUTED BY HASH(x) INTO 3 BUCKETS
        PARTITIONED BY (x) WITH ('k' = 'v')""", {
        "this": "a.b.t", "temporary": True, "if_not_exists": True, "create": True, "partitioned_by": ["x"], "options": [("k", "v")],
        "columns": [
            ("PhysicalColumnDef", {"this": "x", "kind": "INT NOT NULL", "comment": "c"}),
            ("ComputedColumnDef", {"this": "y", "expression": "x + 1"}),
            ("MetadataColumnDef", {"this": "z", "kind": "INT", "key": "k", "virtual": True}),
        ],
        "watermarks": [("WatermarkDef", {"this": "ts", "expression": "ts - INTERVAL '1' SECOND"})],
        "primary_keys": [("PrimaryKeyDef", {"expressions": ["x"], "this": "p"})],
        "distribution": ("DistributionDef", {"kind": "HASH", "expressions": ["x"], "buckets": "3"}),
    }),
    (ast.Insert, "INSERT INTO a.b.t VALUES (1), (2)", {"this": "a.b.t", "query": "VALUES (1), (2)"}),
    (ast.Insert, "INSERT INTO t (a, b) VALUES (1, 2)", {"this": "t", "columns": ["a", "b"], "query": "VALUES (1, 2)"}),
    (ast.Insert, "INSERT INTO t (SELECT 1)", {"this": "t", "query": "(SELECT 1)"}),
    (ast.Insert, "INSERT INTO t (a) (SELECT 1)", {"this": "t", "columns": ["a"], "query": "(SELECT 1)"}),
    (ast.Insert, "INSERT OVERWRITE t PARTITION (a = 1) SELECT 1", {
        "this": "t", "overwrite": True, "partition": [("a", "1")], "query": "SELECT 1",
    }),
    (ast.Insert, "EXECUTE INSERT INTO t SELECT 1", {"this": "t", "query": "SELECT 1"}),
    (ast.StatementSet, "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; INSERT INTO u SELECT 2; END", {
        "expressions": [("Insert", {"this": "t", "query": "SELECT 1"}), ("Insert", {"this": "u", "query": "SELECT 2"})],
    }),
    (ast.Explain, "EXPLAIN PLAN FOR SELECT 1", {"this": "SELECT 1"}),
    (ast.Explain, "EXPLAIN CHANGELOG_MODE, ESTIMATED_COST INSERT INTO t SELECT 1", {
        "this": ("Insert", {"this": "t", "query": "SELECT 1"}), "details": ["CHANGELOG_MODE", "ESTIMATED_COST"],
    }),
]  # fmt: skip


@pytest.mark.parametrize(("node", "text", "args"), CASES, ids=[text for _, text, _ in CASES])
def test_nodes(node: type, text: str, args: dict[str, object]) -> None:
    found = parse(text)
    assert type(found) is node
    assert plain(found) == (node.__name__, args)
    assert parse(found.sql()) == found


ALTERS = {
    "TABLE t RENAME TO a.b.u": ("RenameTo", {"this": "a.b.u"}),
    "TABLE t RENAME a TO b": ("RenameColumn", {"this": "a", "to": "b"}),
    "TABLE t SET ('a' = 'b')": ("SetOptions", {"expressions": [("a", "b")]}),
    "TABLE t RESET ('a', 'b')": ("ResetOptions", {"expressions": ["a", "b"]}),
    "TABLE t RESET ()": ("ResetOptions", {}),
    "TABLE t DROP a": ("DropComponents", {"kind": "COLUMNS", "expressions": ["a"]}),
    "TABLE t DROP (a, b)": ("DropComponents", {"kind": "COLUMNS", "expressions": ["a", "b"]}),
    "TABLE t DROP PRIMARY KEY": ("DropComponents", {"kind": "PRIMARY KEY"}),
    "TABLE t DROP CONSTRAINT c": ("DropComponents", {"kind": "CONSTRAINT", "this": "c"}),
    "TABLE t DROP WATERMARK": ("DropComponents", {"kind": "WATERMARK"}),
    "TABLE t ADD a INT FIRST": (
        "AddComponents", {"expressions": [("PhysicalColumnDef", {"this": "a", "kind": "INT", "position": ("ColumnPosition", {})})]},
    ),
    "TABLE t MODIFY (a INT AFTER b)": (
        "ModifyComponents",
        {"expressions": [("PhysicalColumnDef", {"this": "a", "kind": "INT", "position": ("ColumnPosition", {"this": "b"})})]},
    ),
    "VIEW t RENAME TO u": ("RenameTo", {"this": "u"}),
    "VIEW t AS SELECT 1": ("AsQuery", {"this": "SELECT 1", "query_text": "SELECT 1"}),
    "DATABASE t SET ('a' = 'b')": ("SetOptions", {"expressions": [("a", "b")]}),
    "CATALOG t SET ('a' = 'b')": ("SetOptions", {"expressions": [("a", "b")]}),
    "CATALOG t RESET ()": ("ResetOptions", {}),
    "CATALOG t COMMENT 'x'": ("SetComment", {"this": "x"}),
}  # fmt: skip


@pytest.mark.parametrize("text", ALTERS)
def test_alter(text: str) -> None:
    found = parse(f"ALTER {text}")
    assert type(found).__name__ == f"Alter{text.split()[0].capitalize()}"
    assert plain(found.this) == "t"
    assert plain(found.args["action"]) == ALTERS[text]


REFUSED = {
    "CREATE MODEL m WITH ('a' = 'b')": "CREATE MODEL",
    "DROP MODEL m": "DROP MODEL",
    "CREATE CONNECTION c WITH ('a' = 'b')": "CREATE CONNECTION",
    "CREATE MATERIALIZED TABLE m AS SELECT 1": "CREATE MATERIALIZED TABLE",
    "CALL f(1)": "CALL",
    "COMPILE PLAN 'p' FOR INSERT INTO t SELECT 1": "COMPILE PLAN",
    "EXECUTE PLAN 'p'": "EXECUTE PLAN",
    "UPDATE t SET a = 1": "UPDATE",
    "DELETE FROM t": "DELETE FROM",
    "TRUNCATE TABLE t": "TRUNCATE TABLE",
    "ANALYZE TABLE t COMPUTE STATISTICS": "ANALYZE TABLE",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_by_name(text: str) -> None:
    found = parse(text)
    assert isinstance(found, ast.Unsupported)
    assert found.args["kind"] == REFUSED[text]
    assert found.args["this"]


@pytest.mark.parametrize("text", ["SET a", "SET = b", "SET 'a' 'b'", "SET a ="])
def test_settings_without_key_or_value(text: str) -> None:
    with pytest.raises(SyntaxProblem):
        parse(text)


def test_nothing_becomes_a_command() -> None:
    for text in ("GRANT a TO b", "KILL 5", "VACUUM t", "OPTIMIZE t", "PRAGMA x", "COMMENT ON TABLE t IS 'x'", "CACHE TABLE t"):
        with pytest.raises(SyntaxProblem) as caught:
            parse(text)
        assert caught.value.offset == 0
        assert caught.value.message == f'Encountered "{text.split()[0]}" at line 1, column 1.'
