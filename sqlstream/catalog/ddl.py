"""Tables, views and catalogs as CREATE statements: what SHOW CREATE prints, and what a project file contains.

Both come from one writer. SHOW CREATE is Flink's layout: full names, options sorted, secrets masked. A project file has
bare names and the options in their written order, so that it reads well in a diff and stays the same when it is saved
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.catalog.alter import distribution_text
from sqlstream.catalog.calcite import expression_text, query_text
from sqlstream.catalog.entries import Catalog, Database, UserFunction
from sqlstream.core.secrets import masked_option, masked_value
from sqlstream.sql.masking import masked_text, secrets
from sqlstream.sql.quoting import flink_string, quote
from sqlstream.sql.sqlglot.dialect import flink_sql
from sqlstream.sql.tables import Column, ComputedColumn, MetadataColumn, PhysicalColumn, Table, View
from sqlstream.sql.types import MAX_LENGTH, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlglot import exp


def type_text(type_: Type) -> str:
    """A column's type as SHOW CREATE TABLE writes it, NOT NULL included."""
    match type_.root:
        case "VARCHAR" | "VARBINARY" if type_.args[0] == MAX_LENGTH:
            text = f"{type_.root}({MAX_LENGTH})"
        case "TIMESTAMP_LTZ":
            text = f"TIMESTAMP({type_.args[0]}) WITH LOCAL TIME ZONE"
        case "ARRAY" | "MULTISET" | "MAP":
            text = f"{type_.root}<{', '.join(type_text(c) for c in type_.children)}>"
        case "ROW":
            fields = zip(type_.names, type_.children, strict=True)
            text = f"ROW<{', '.join(f'{quote(n)} {type_text(c)}' for n, c in fields)}>"
        case _:
            text = str(type_)
    return text if type_.nullable else f"{text} NOT NULL"


def file_type_text(type_: Type) -> str:
    """A column's type as people write it."""
    return type_.full


def column_text(column: Column, types: Callable[[Type], str] = type_text) -> str:
    """One column's declaration."""
    match column:
        case PhysicalColumn():
            text = f"{quote(column.name)} {types(column.type)}"
        case MetadataColumn():
            text = f"{quote(column.name)} {types(column.type)} {metadata_text(column)}"
        case ComputedColumn():
            text = f"{quote(column.name)} AS {expression_text(column.expression)}"
    return f"{text} COMMENT {flink_string(column.comment)}" if column.comment else text


def metadata_text(column: MetadataColumn) -> str:
    """``METADATA FROM 'offset' VIRTUAL``."""
    source = f" FROM {flink_string(column.key)}" if column.key != column.name else ""
    return f"METADATA{source}{' VIRTUAL' if column.virtual else ''}"


def watermark_text(table: Table) -> str:
    """```ts` AS `ts` - INTERVAL '5' SECOND``, or nothing."""
    return f"{quote(table.watermark.column)} AS {expression_text(table.watermark.expression)}" if table.watermark else ""


def options_text(options: Iterable[tuple[str, str]]) -> str:
    """The WITH clause, one option a line."""
    return "WITH (\n" + ",\n".join(f"  {flink_string(k)} = {flink_string(v)}" for k, v in options) + "\n)"


def create_table(table: Table) -> str:
    """What SHOW CREATE TABLE prints."""
    shown = [(k, masked_option(k, v)) for k, v in sorted(table.options.items())]
    return masked_text(_create_table(table, f"{_temporary(table.temporary)}TABLE {table.path.quoted}", shown, type_text) + "\n")


def create_table_file(table: Table, name: str) -> str:
    """The statement that a project file contains; ``name`` is what it is called there."""
    return _create_table(table, f"TABLE {name}", list(table.options.items()), file_type_text) + ";\n"


def _create_table(table: Table, head: str, options: list[tuple[str, str]], types: Callable[[Type], str]) -> str:
    parts = [column_text(c, types) for c in table.columns]
    if table.watermark:
        parts.append(f"WATERMARK FOR {watermark_text(table)}")
    if table.primary_key:
        name = table.primary_key.name or "PK_" + "_".join(table.primary_key.columns)
        keys = ", ".join(quote(c) for c in table.primary_key.columns)
        parts.append(f"CONSTRAINT {quote(name)} PRIMARY KEY ({keys}) NOT ENFORCED")
    body = "".join(f"  {p}{',' if i < len(parts) - 1 else ''}\n" for i, p in enumerate(parts))
    lines = [f"CREATE {head} (\n{body or chr(10)})"]
    if table.comment:
        lines.append(f"COMMENT {flink_string(table.comment)}")
    if table.distribution:
        lines.append(distribution_text(table.distribution))
    if table.partition_keys:
        lines.append(f"PARTITIONED BY ({', '.join(quote(k) for k in table.partition_keys)})")
    if options:
        lines.append(options_text(options))
    return "\n".join(lines)


def _temporary(temporary: bool) -> str:
    return "TEMPORARY " if temporary else ""


def create_view(view: View, columns: tuple[str, ...], query: exp.Query) -> str:
    """What SHOW CREATE VIEW prints; ``query`` is that of the view, expanded. Secrets are masked."""
    names = ",\n".join(f"  {quote(c)}" for c in columns)
    comment = f"COMMENT {flink_string(view.comment)}\n" if view.comment else ""
    return masked_text(f"CREATE {_temporary(view.temporary)}VIEW {view.path.quoted} (\n{names}\n)\n{comment}AS {query_text(query)}\n")


def create_view_file(view: View, name: str) -> str:
    """The statement that a project file contains."""
    columns = f" ({', '.join(quote(c) for c in view.columns)})" if view.columns else ""
    comment = f"\nCOMMENT {flink_string(view.comment)}" if view.comment else ""
    return f"CREATE VIEW {name}{columns}{comment}\nAS {view_query_text(view)};\n"


def view_query_text(view: View) -> str:
    """The text of the view's query."""
    return view.text.strip().rstrip(";").rstrip() or flink_sql(view.query, pretty=True)


def create_function_file(function: UserFunction, name: str) -> str:
    """The statement that a project file contains."""
    using = ", ".join(f"JAR {flink_string(r)}" for r in function.resources)
    return (
        f"CREATE FUNCTION {name} AS {flink_string(function.identifier)} LANGUAGE {function.language}"
        + (f" USING {using}" if using else "")
        + (" " + options_text(function.options.items()) if function.options else "")
        + ";\n"
    )


def create_catalog(name: str, catalog: Catalog) -> str:
    """What SHOW CREATE CATALOG prints."""
    comment = f"COMMENT {flink_string(catalog.comment)}\n" if catalog.comment else ""
    options = [(k, masked_option(k, v)) for k, v in sorted(catalog.options.items())]
    return f"CREATE CATALOG {quote(name)}\n{comment}{options_text(options)}\n"


def create_catalog_file(name: str, catalog: Catalog) -> str:
    """The statement that a project file contains."""
    comment = f"\nCOMMENT {flink_string(catalog.comment)}" if catalog.comment else ""
    return f"CREATE CATALOG {quote(name)}{comment}\n{options_text(catalog.options.items())};\n"


def create_database_file(names: Sequence[str], database: Database) -> str:
    """The statement that a project file contains."""
    comment = f"\nCOMMENT {flink_string(database.comment)}" if database.comment else ""
    options = "\n" + options_text(database.options.items()) if database.options else ""
    return f"CREATE DATABASE {'.'.join(map(quote, names))}{comment}{options};\n"


def literal_secrets(options: Mapping[str, str]) -> list[str]:
    """The options that contain a secret in plain text."""
    return [k for k, v in options.items() if v and masked_option(k, v) != v]


def secrets_of(item: Table | View | UserFunction | Database | Catalog) -> list[str]:
    """What contains a secret in plain text in the statement that declares ``item``: keys of options, also of hints; empty for any other text."""
    match item:
        case View():
            keys = [s.key for s in secrets(view_query_text(item)) if s.option or not s.key]
            comments = [item.comment]
        case Table():
            keys, comments = literal_secrets(item.options), [item.comment, *(c.comment for c in item.columns)]
        case Database() | Catalog():
            keys, comments = literal_secrets(item.options), [item.comment]
        case UserFunction():
            keys, comments = literal_secrets(item.options), list(item.resources)
    return [*keys, *("" for c in comments if c and masked_value(c) != c)]
