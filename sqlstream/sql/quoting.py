"""Names and texts as SQL writes them, a function for each language. Those of the databases behind JDBC are in ``connectors.jdbc.dialects``."""

from __future__ import annotations


def quote(name: str) -> str:
    """``name`` as a back-ticked identifier: the same in Flink and in Spark."""
    return "`" + name.replace("`", "``") + "`"


def flink_name(name: str) -> str:
    """``name`` as an identifier of Flink's, in back-ticks only where it needs them."""
    from sqlstream.sql.syntax.lexer import RESERVED

    plain = name.isidentifier() or name.replace("$", "_").isidentifier()
    return name if plain and name.upper() not in RESERVED else quote(name)


def flink_string(text: str) -> str:
    """``text`` as a string literal of Flink's."""
    return "'" + text.replace("'", "''") + "'"


def spark_string(text: str) -> str:
    """``text`` as a string literal of Spark's, on one line."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\u0000")
    return f"'{escaped}'"
