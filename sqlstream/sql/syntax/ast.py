"""Syntax nodes that sqlglot lacks: Flink's statements, types, literals, table functions. Queries are sqlglot's own.

Flags are True or absent; ``this`` is what the statement is about (an exp.Table for a path of one to three parts).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import DialectType


class TimeLiteral(exp.Expression):
    """``DATE '..'``, ``TIME '..'``, ``TIMESTAMP '..'``: kind (upper case) and the text."""

    arg_types = {"kind": True, "this": True}


class IntervalLiteral(exp.Expression):
    """``INTERVAL ['-]text' unit[(p)] [TO unit[(s)]]``: this (text), unit, to (upper case, singular), negative.

    precision and scale, where written, are the digits of the first field and of a second's fraction.
    """

    arg_types = {"this": True, "unit": True, "to": False, "negative": False, "precision": False, "scale": False}


class TimeDifference(exp.Expression):
    """``(this - expression) unit [TO unit]``: unit and to upper case, singular."""

    arg_types = {"this": True, "expression": True, "unit": True, "to": False}


class TableArgument(exp.Expression):
    """``TABLE t [PARTITION BY c, ..]`` (or a sub-query) as an argument of a table function."""

    arg_types = {"this": True, "partition": False}


class Descriptor(exp.Expression):
    """``DESCRIPTOR(c, ..)``: expressions are identifiers."""

    arg_types = {"expressions": True}


class NamedArgument(exp.Expression):
    """``NAME => value`` in a call: this is the name's text, upper case."""

    arg_types = {"this": True, "expression": True}


class TableFunction(exp.Expression):
    """A table function in FROM: ``[TABLE(] TUMBLE(..) [)]``; this is its name, as written; args in expressions."""

    arg_types = {"this": True, "expressions": False, "alias": False, "lateral": False}


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


class PatternVariable(exp.Expression):
    """``A``, ``A{2,3}?``: low and high are int, high None for any number; reluctant is a flag."""

    arg_types = {"this": True, "low": True, "high": False, "reluctant": False}


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


class PhysicalColumnDef(Clause):
    arg_types = {"this": True, "kind": True, "comment": False, "position": False, "primary_key": False}


class ComputedColumnDef(Clause):
    arg_types = {"this": True, "expression": True, "comment": False, "position": False}


class MetadataColumnDef(Clause):
    """key: a string literal, absent without FROM; virtual: a flag."""

    arg_types = {"this": True, "kind": True, "key": False, "virtual": False, "comment": False, "position": False}


class NameDef(Clause):
    """A bare column name, as CTAS reorders with."""

    arg_types = {"this": True}


class ColumnPosition(Clause):
    """``FIRST`` (no this) or ``AFTER c``."""

    arg_types = {"this": False}


class WatermarkDef(Clause):
    arg_types = {"this": True, "expression": True}


class PrimaryKeyDef(Clause):
    """expressions: identifiers; this: the constraint's name; enforced: True where NOT ENFORCED is missing."""

    arg_types = {"expressions": True, "this": False, "enforced": False}


class DistributionDef(Clause):
    """kind: HASH, RANGE or None; expressions: identifiers; buckets: a number literal."""

    arg_types = {"kind": False, "expressions": False, "buckets": False}


class LikeDef(Clause):
    """options: pairs of (INCLUDING|EXCLUDING|OVERWRITING, ALL|..) as LikeOption."""

    arg_types = {"this": True, "expressions": False}


class LikeOption(Clause):
    arg_types = {"this": True, "kind": True}


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


class CreateDatabase(Statement):
    arg_types = {"this": True, "comment": False, "options": False, "if_not_exists": False}


class CreateCatalog(Statement):
    arg_types = {"this": True, "comment": False, "options": False, "if_not_exists": False}


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


class AlterTable(Statement):
    """action: one of the Alter* clauses below."""

    arg_types = {"this": True, "action": True, "if_exists": False}


class AddComponents(Clause):
    """ADD: column definitions, WatermarkDef, PrimaryKeyDef, DistributionDef in expressions."""

    arg_types = {"expressions": True}


class ModifyComponents(Clause):
    """MODIFY, as ADD."""

    arg_types = {"expressions": True}


class DropComponents(Clause):
    """DROP: kind is COLUMNS (expressions: identifiers), PRIMARY KEY, CONSTRAINT (this), WATERMARK or DISTRIBUTION."""

    arg_types = {"kind": True, "expressions": False, "this": False}


class RenameColumn(Clause):
    arg_types = {"this": True, "to": True}


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


class AlterView(Statement):
    arg_types = {"this": True, "action": True}


class AlterDatabase(Statement):
    arg_types = {"this": True, "action": True}


class AlterCatalog(Statement):
    arg_types = {"this": True, "action": True}


class AlterFunction(Statement):
    arg_types = {
        "this": True,
        "identifier": True,
        "language": False,
        "temporary": False,
        "system": False,
        "if_exists": False,
    }


class Drop(Statement):
    """kind: TABLE, VIEW, DATABASE, CATALOG or FUNCTION."""

    arg_types = {"kind": True, "this": True, "if_exists": False, "temporary": False, "system": False, "cascade": False}


class Show(Statement):
    """kind: CATALOGS, TABLES, USER FUNCTIONS, CURRENT CATALOG, CREATE TABLE, ..: the words behind SHOW.

    this: what it is of (FROM, IN or the object); like: a string literal with the flags negated and ilike.
    """

    arg_types = {"kind": True, "this": False, "like": False, "negated": False, "ilike": False}


class Describe(Statement):
    """kind: TABLE, CATALOG, DATABASE or FUNCTION."""

    arg_types = {"kind": True, "this": True, "extended": False}


class DescribeJob(Statement):
    """DESCRIBE JOB [EXTENDED] 'id': this is a string literal."""

    arg_types = {"this": True, "extended": False}


class Explain(Statement):
    """details: upper-case words; this: a query, Insert or StatementSet."""

    arg_types = {"this": True, "details": False}


class ExplainJob(Statement):
    """EXPLAIN JOB ['id']: this is a string literal."""

    arg_types = {"this": False}


class Use(Statement):
    """kind: CATALOG, DATABASE or MODULES (expressions)."""

    arg_types = {"kind": True, "this": False, "expressions": False}


class Set(Statement):
    """SET alone lists; this and expression are the key's and value's text."""

    arg_types = {"this": False, "expression": False}


class Reset(Statement):
    """RESET alone resets all; this is the key's text."""

    arg_types = {"this": False}


class Insert(Statement):
    """partition: OptionDefs (identifier, literal); hints: OptionsHints."""

    arg_types = {"this": True, "overwrite": False, "hints": False, "partition": False, "columns": False, "query": True}


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


class ExecuteQuery(Statement):
    """EXECUTE QUERY name [(parameter => value, ..)]: expressions are NamedArguments, their names as written."""

    arg_types = {"this": True, "expressions": False}


class Peek(Statement):
    """PEEK 'topic' [LIMIT n]: this is a string literal, limit an int."""

    arg_types = {"this": True, "limit": False}


class Infer(Statement):
    """INFER TABLE [name] FROM 'topic' [SAVE]: this is an exp.Table, topic a string literal, save a flag."""

    arg_types = {"this": False, "topic": True, "save": False}


class Export(Statement):
    """EXPORT LAST TO 'file' [FORMAT CSV | JSON | PARQUET] [OVERWRITE]: this is a string literal, format upper case, overwrite a flag."""

    arg_types = {"this": True, "format": False, "overwrite": False}


class Plot(Statement):
    """PLOT [column [BY column]]: identifiers."""

    arg_types = {"this": False, "by": False}


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


class AcceptedWithoutEffect(Statement):
    """ADD JAR and the like: kind is the statement's name, this a notice, text the statement as written."""

    arg_types = {"kind": True, "this": True, "text": False}


class Unsupported(Statement):
    """A statement of Flink that is refused: kind is its name, this the reason, hint what to do, text it as written."""

    arg_types = {"kind": True, "this": True, "hint": False, "text": False}


def parts(table: exp.Expr) -> tuple[str, ...]:
    """The one to three names of a path."""
    assert isinstance(table, exp.Table)
    return tuple(n for n in (table.catalog, table.db, table.name) if n)
