"""Syntax nodes that sqlglot lacks: Flink's statements, types, literals, table functions. Queries are sqlglot's own.

Flags are True or absent; ``this`` is what the statement is about (an exp.Table for a path of one to three parts).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlglot import exp

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import DialectType


T = TypeVar("T")


class _Argument(Generic[T]):
    """An argument of a node as an attribute of its type: of the same name, or of another where sqlglot's nodes have that one."""

    def __init__(self, key: str = "") -> None:
        self.key = key

    def __set_name__(self, owner: type, name: str) -> None:
        self.key = self.key or name


class One(_Argument[T]):
    """An argument that is always there."""

    def __get__(self, node: exp.Expression, owner: type) -> T:
        return node.args[self.key]  # type: ignore[no-any-return]


class Maybe(_Argument[T]):
    """An argument that may be missing."""

    def __get__(self, node: exp.Expression, owner: type) -> T | None:
        return node.args.get(self.key)


class Many(_Argument[T]):
    """A list, empty where nothing is written."""

    def __get__(self, node: exp.Expression, owner: type) -> list[T]:
        return node.args.get(self.key) or []


class Flag(_Argument[bool]):
    """Words that are there or not."""

    def __get__(self, node: exp.Expression, owner: type) -> bool:
        return bool(node.args.get(self.key))


class TimeLiteral(exp.Expression):
    """``DATE '..'``, ``TIME '..'``, ``TIMESTAMP '..'``: kind (upper case) and the text."""

    arg_types = {"kind": True, "this": True}
    kind = One[str]()


class IntervalLiteral(exp.Expression):
    """``INTERVAL ['-]text' unit[(p)] [TO unit[(s)]]``: this (text), unit, to (upper case, singular), negative.

    precision and scale, where written, are the digits of the first field and of a second's fraction.
    """

    arg_types = {"this": True, "unit": True, "to": False, "negative": False, "precision": False, "scale": False}
    unit = One[str]()
    to = Maybe[str]()
    negative = Flag()
    precision = Maybe[int]()
    scale = Maybe[int]()


class TimeDifference(exp.Expression):
    """``(this - expression) unit [TO unit]``: unit and to upper case, singular."""

    arg_types = {"this": True, "expression": True, "unit": True, "to": False}
    unit = One[str]()
    to = Maybe[str]()


class TableArgument(exp.Expression):
    """``TABLE t [PARTITION BY c, ..]`` (or a sub-query) as an argument of a table function."""

    arg_types = {"this": True, "partition": False}
    partition = Many[exp.Identifier]()


class Descriptor(exp.Expression):
    """``DESCRIPTOR(c, ..)``: expressions are identifiers."""

    arg_types = {"expressions": True}


class NamedArgument(exp.Expression):
    """``NAME => value`` in a call: this is the name's text, upper case."""

    arg_types = {"this": True, "expression": True}


class TableFunction(exp.Expression):
    """A table function in FROM: ``[TABLE(] TUMBLE(..) [)]``; this is its name, as written; args in expressions."""

    arg_types = {"this": True, "expressions": False, "alias": False, "lateral": False}
    lateral = Flag()


class PatternVariable(exp.Expression):
    """``A``, ``A{2,3}?``: low and high are int, high None for any number; reluctant is a flag."""

    arg_types = {"this": True, "low": True, "high": False, "reluctant": False}
    low = One[int]()
    high = Maybe[int]()
    reluctant = Flag()


class MatchRecognize(exp.Expression):
    """``this MATCH_RECOGNIZE (..) [AS alias]`` in FROM.

    measures and define: exp.Alias of an expression; after: PAST LAST ROW, TO NEXT ROW, TO FIRST, TO LAST or TO (the
    last three with after_variable), absent where not written; pattern: PatternVariables; within: an IntervalLiteral.
    """

    arg_types = {
        "this": True,
        "partition_by": False,
        "order": False,
        "measures": False,
        "after": False,
        "after_variable": False,
        "pattern": True,
        "within": False,
        "define": True,
        "alias": False,
    }
    partition_by = Many[exp.Expr]()
    order = Maybe[exp.Order]()
    measures = Many[exp.Alias]()
    after = Maybe[str]()
    after_variable = Maybe[exp.Identifier]()
    pattern = Many[PatternVariable]()
    within = Maybe[IntervalLiteral]()
    define = Many[exp.Alias]()


class OptionsHint(exp.Expression):
    """``/*+ NAME(args) */``: this is the name, upper case.

    expressions are OptionDefs (``'a'='b'``; OPTIONS has only these), identifiers or literals.
    """

    arg_types = {"this": True, "expressions": False}


class _FlinkOnly(exp.Expression):
    """What only the Flink dialect can write."""

    def sql(self, dialect: DialectType = None, copy: bool = True, **options: Any) -> str:
        """The text of it in Flink SQL."""
        return str(super().sql(dialect or "flink", copy, **options))


class Statement(_FlinkOnly):
    """Base of statements."""

    arg_types = {"this": False}


class Clause(_FlinkOnly):
    """Base of parts of statements."""


class OptionDef(Clause):
    """``'key' = 'value'``: this and expression are string literals."""

    arg_types = {"this": True, "expression": True}


class ColumnPosition(Clause):
    """``FIRST`` (no this) or ``AFTER c``."""

    arg_types = {"this": False}


class PrimaryKeyDef(Clause):
    """expressions: identifiers; this: the constraint's name; enforced: True where NOT ENFORCED is missing."""

    arg_types = {"expressions": True, "this": False, "enforced": False}
    enforced = Flag()


class PhysicalColumnDef(Clause):
    arg_types = {"this": True, "kind": True, "comment": False, "position": False, "primary_key": False}
    kind = One[exp.DataType]()
    comment = Maybe[exp.Literal]()
    position = Maybe[ColumnPosition]()
    primary_key = Maybe[PrimaryKeyDef | bool]()


class ComputedColumnDef(Clause):
    arg_types = {"this": True, "expression": True, "comment": False, "position": False}
    comment = Maybe[exp.Literal]()
    position = Maybe[ColumnPosition]()


class MetadataColumnDef(Clause):
    """key: a string literal, absent without FROM; virtual: a flag."""

    arg_types = {"this": True, "kind": True, "key": False, "virtual": False, "comment": False, "position": False}
    kind = One[exp.DataType]()
    metadata_key = Maybe[exp.Literal]("key")
    virtual = Flag()
    comment = Maybe[exp.Literal]()
    position = Maybe[ColumnPosition]()


class NameDef(Clause):
    """A bare column name, as CTAS reorders with."""

    arg_types = {"this": True}


class WatermarkDef(Clause):
    arg_types = {"this": True, "expression": True}


class DistributionDef(Clause):
    """kind: HASH, RANGE or None; expressions: identifiers; buckets: a number literal."""

    arg_types = {"kind": False, "expressions": False, "buckets": False}
    kind = Maybe[str]()
    buckets = Maybe[exp.Literal]()


class LikeDef(Clause):
    """options: pairs of (INCLUDING|EXCLUDING|OVERWRITING, ALL|..) as LikeOption."""

    arg_types = {"this": True, "expressions": False}


class LikeOption(Clause):
    arg_types = {"this": True, "kind": True}
    kind = One[str]()


class CreateTable(Statement):
    arg_types = {
        "this": True,
        "columns": False,
        "watermarks": False,
        "primary_keys": False,
        "comment": False,
        "distribution": False,
        "partitioned_by": False,
        "options": False,
        "like": False,
        "query": False,
        "temporary": False,
        "if_not_exists": False,
        "replace": False,
        "create": False,
    }
    columns = Many[exp.Expr]()
    watermarks = Many[WatermarkDef]()
    primary_keys = Many[PrimaryKeyDef]()
    comment = Maybe[exp.Literal]()
    distribution = Maybe[DistributionDef]()
    partitioned_by = Many[exp.Identifier]()
    options = Many[OptionDef]()
    like_clause = Maybe[LikeDef]("like")
    query = Maybe[exp.Query]()
    temporary = Flag()
    if_not_exists = Flag()
    or_replace = Flag("replace")
    or_create = Flag("create")


class CreateView(Statement):
    """query_text: the query as written."""

    arg_types = {
        "this": True,
        "columns": False,
        "comment": False,
        "query": True,
        "query_text": True,
        "temporary": False,
        "if_not_exists": False,
    }
    columns = Many[exp.Identifier]()
    comment = Maybe[exp.Literal]()
    query = One[exp.Query]()
    query_text = One[str]()
    temporary = Flag()
    if_not_exists = Flag()


class CreateDatabase(Statement):
    arg_types = {"this": True, "comment": False, "options": False, "if_not_exists": False}
    comment = Maybe[exp.Literal]()
    options = Many[OptionDef]()
    if_not_exists = Flag()


class CreateCatalog(Statement):
    arg_types = {"this": True, "comment": False, "options": False, "if_not_exists": False}
    comment = Maybe[exp.Literal]()
    options = Many[OptionDef]()
    if_not_exists = Flag()


class CreateFunction(Statement):
    """identifier: a string literal; language: upper case; jars: string literals."""

    arg_types = {
        "this": True,
        "identifier": True,
        "language": False,
        "jars": False,
        "options": False,
        "temporary": False,
        "system": False,
        "if_not_exists": False,
    }
    identifier = One[exp.Literal]()
    language = Maybe[str]()
    jars = Many[exp.Literal]()
    options = Many[OptionDef]()
    temporary = Flag()
    system = Flag()
    if_not_exists = Flag()


class AlterTable(Statement):
    """action: one of the Alter* clauses below."""

    arg_types = {"this": True, "action": True, "if_exists": False}
    action = One[Clause]()
    if_exists = Flag()


class AddComponents(Clause):
    """ADD: column definitions, WatermarkDef, PrimaryKeyDef, DistributionDef in expressions."""

    arg_types = {"expressions": True}


class ModifyComponents(Clause):
    """MODIFY, as ADD."""

    arg_types = {"expressions": True}


class DropComponents(Clause):
    """DROP: kind is COLUMNS (expressions: identifiers), PRIMARY KEY, CONSTRAINT (this), WATERMARK or DISTRIBUTION."""

    arg_types = {"kind": True, "expressions": False, "this": False}
    kind = One[str]()


class RenameColumn(Clause):
    arg_types = {"this": True, "to": True}
    to = One[exp.Identifier]()


class RenameTo(Clause):
    arg_types = {"this": True}


class SetOptions(Clause):
    arg_types = {"expressions": True}


class ResetOptions(Clause):
    """expressions: string literals."""

    arg_types = {"expressions": False}


class SetComment(Clause):
    arg_types = {"this": True}


class AsQuery(Clause):
    arg_types = {"this": True, "query_text": True}
    query_text = One[str]()


class AlterView(Statement):
    arg_types = {"this": True, "action": True}
    action = One[Clause]()


class AlterDatabase(Statement):
    arg_types = {"this": True, "action": True}
    action = One[Clause]()


class AlterCatalog(Statement):
    arg_types = {"this": True, "action": True}
    action = One[Clause]()


class AlterFunction(Statement):
    arg_types = {
        "this": True,
        "identifier": True,
        "language": False,
        "temporary": False,
        "system": False,
        "if_exists": False,
    }
    identifier = One[exp.Literal]()
    language = Maybe[str]()
    temporary = Flag()
    system = Flag()
    if_exists = Flag()


class Drop(Statement):
    """kind: TABLE, VIEW, DATABASE, CATALOG or FUNCTION."""

    arg_types = {"kind": True, "this": True, "if_exists": False, "temporary": False, "system": False, "cascade": False}
    kind = One[str]()
    if_exists = Flag()
    temporary = Flag()
    system = Flag()
    cascade = Flag()


class Show(Statement):
    """kind: CATALOGS, TABLES, USER FUNCTIONS, CURRENT CATALOG, CREATE TABLE, ..: the words behind SHOW.

    this: what it is of (FROM, IN or the object); like: a string literal with the flags negated and ilike;
    extended: with all columns.
    """

    arg_types = {"kind": True, "this": False, "like": False, "negated": False, "ilike": False, "extended": False}
    kind = One[str]()
    extended = Flag()
    like_pattern = Maybe[exp.Literal]("like")
    negated = Flag()
    is_ilike = Flag("ilike")


class Describe(Statement):
    """kind: TABLE, CATALOG, DATABASE or FUNCTION."""

    arg_types = {"kind": True, "this": True, "extended": False}
    kind = One[str]()
    extended = Flag()


class DescribeJob(Statement):
    """DESCRIBE JOB [EXTENDED] 'id': this is a string literal."""

    arg_types = {"this": True, "extended": False}
    extended = Flag()


class Explain(Statement):
    """details: upper-case words; this: a query, Insert or StatementSet."""

    arg_types = {"this": True, "details": False}
    details = Many[str]()


class ExplainUpgrade(Statement):
    """EXPLAIN UPGRADE: this is an Insert or StatementSet."""


class ExplainJob(Statement):
    """EXPLAIN JOB ['id']: this is a string literal."""

    arg_types = {"this": False}


class Use(Statement):
    """kind: CATALOG, DATABASE or MODULES (expressions)."""

    arg_types = {"kind": True, "this": False, "expressions": False}
    kind = One[str]()


class Set(Statement):
    """SET alone lists; this and expression are the key's and value's text."""

    arg_types = {"this": False, "expression": False}


class Reset(Statement):
    """RESET alone resets all; this is the key's text."""

    arg_types = {"this": False}


CONFLICT_ACTIONS = ("DEDUPLICATE", "NOTHING", "ERROR")


class OnConflict(Clause):
    """``ON CONFLICT DO ..``: this is ERROR, NOTHING or DEDUPLICATE, as text."""

    arg_types = {"this": True}


class Insert(Statement):
    """partition: OptionDefs (identifier, literal); hints: OptionsHints."""

    arg_types = {"this": True, "overwrite": False, "hints": False, "partition": False, "columns": False, "query": True, "conflict": False}
    conflict = Maybe[OnConflict]()
    overwrite = Flag()
    hints = Many[OptionsHint]()
    partition = Many[OptionDef]()
    columns = Many[exp.Identifier]()
    query = One[exp.Query]()


class StatementSet(Statement):
    """expressions: Inserts (and CTAS)."""

    arg_types = {"expressions": True}


class BeginStatementSet(Statement):
    """BEGIN STATEMENT SET."""


class EndStatementSet(Statement):
    """END."""


class StopJob(Statement):
    """this: a string literal."""

    arg_types = {"this": True, "savepoint": False, "drain": False}
    savepoint = Flag()
    drain = Flag()


class DetachJob(Statement):
    """DETACH JOB 'name': this is a string literal."""


class AlterJob(Statement):
    """ALTER JOB 'name' SET OFFSETS ('topic' = 'where', ..): this is a string literal, expressions are OptionDefs."""

    arg_types = {"this": True, "expressions": False}


class SkipRecords(Statement):
    """ALTER JOB 'name' SKIP RECORDS ('topic' = 'partition:0,offset:3', ..): this is a string literal, expressions are OptionDefs."""

    arg_types = {"this": True, "expressions": False}


class DropJob(Statement):
    """DROP JOB [IF EXISTS] 'name': this is a string literal."""

    arg_types = {"this": True, "if_exists": False}
    if_exists = Flag()


class SavepointJob(Statement):
    """SAVEPOINT JOB 'id': this is a string literal."""


class DescribeSavepoint(Statement):
    """DESCRIBE SAVEPOINT 'path': this is a string literal."""


class DropSavepoint(Statement):
    """DROP SAVEPOINT 'path': this is a string literal."""


class ExecuteQuery(Statement):
    """EXECUTE QUERY name [(parameter => value, ..)]: expressions are NamedArguments, their names as written."""

    arg_types = {"this": True, "expressions": False}


class Peek(Statement):
    """PEEK 'topic' [LIMIT n]: this is a string literal, limit an int."""

    arg_types = {"this": True, "limit": False}
    limit = Maybe[int]()


class Infer(Statement):
    """INFER TABLE [name] FROM 'topic' [SAVE]: this is an exp.Table, topic a string literal, save a flag."""

    arg_types = {"this": False, "topic": True, "save": False}
    topic = One[exp.Literal]()
    save = Flag()


class Export(Statement):
    """EXPORT LAST TO 'file' [FORMAT CSV | JSON | PARQUET] [OVERWRITE]: this is a string literal, format upper case, overwrite a flag."""

    arg_types = {"this": True, "format": False, "overwrite": False}
    format = Maybe[str]()
    overwrite = Flag()


class Plot(Statement):
    """PLOT [column [BY column]]: identifiers."""

    arg_types = {"this": False, "by": False}
    by = Maybe[exp.Identifier]()


class Help(Statement):
    """HELP [topic]: this is the topic's text."""


class Clear(Statement):
    """CLEAR."""


class Quit(Statement):
    """QUIT or EXIT."""


class Source(Statement):
    """SOURCE 'file': this is a string literal."""

    arg_types = {"this": True}


class Module(Statement):
    """LOAD and UNLOAD MODULE: kind is the word, this the name."""

    arg_types = {"kind": True, "this": True, "options": False}
    kind = One[str]()
    options = Many[OptionDef]()


class Jar(Statement):
    """kind: ADD or REMOVE; this: a string literal, the file."""

    arg_types = {"kind": True, "this": True}
    kind = One[str]()


class Unsupported(Statement):
    """A statement of Flink that is refused: kind is its name, this the reason, hint what to do, text it as written."""

    arg_types = {"kind": True, "this": True, "hint": True, "text": False}
    kind = One[str]()
    hint = One[str]()
    written = Maybe[str]("text")


def parts(table: exp.Expr) -> tuple[str, ...]:
    """The one to three names of a path."""
    assert isinstance(table, exp.Table)
    return tuple(n for n in (table.catalog, table.db, table.name) if n)
