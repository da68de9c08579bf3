"""Words of queries and declarations as data: what follows what."""

from __future__ import annotations

from functools import cache

from sqlstream.sql.functions import windows
from sqlstream.sql.statements.table import WORDS

WINDOW_FUNCTIONS = {function.name: function.signature for function in windows.WINDOW_FUNCTIONS}
WINDOW_COLUMNS = (("window_start", "TIMESTAMP(3)"), ("window_end", "TIMESTAMP(3)"), ("window_time", "TIMESTAMP(3)"))
TYPES = (
    "STRING", "INT", "BIGINT", "DOUBLE", "DECIMAL", "BOOLEAN", "TIMESTAMP", "TIMESTAMP_LTZ", "DATE", "TIME", "TINYINT", "SMALLINT", "FLOAT", "CHAR",
    "VARCHAR", "BYTES", "BINARY", "VARBINARY", "ARRAY", "MAP", "MULTISET", "ROW", "VARIANT",
)  # fmt: skip
JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN")
_SETS = ("UNION ALL", "UNION", "INTERSECT", "EXCEPT")
# What may come behind a clause that is whole.
AFTER = {
    "SELECT": ("FROM",),
    "FROM": (*JOINS, "WHERE", "GROUP BY", "HAVING", "WINDOW", "QUALIFY", "ORDER BY", "LIMIT", *_SETS),
    "WHERE": ("GROUP BY", "HAVING", "QUALIFY", "ORDER BY", "LIMIT", *_SETS),
    "GROUP BY": ("HAVING", "ORDER BY", "LIMIT", *_SETS),
    "HAVING": ("ORDER BY", "LIMIT", *_SETS),
    "QUALIFY": ("ORDER BY", "LIMIT", *_SETS),
    "WINDOW": ("ORDER BY", "LIMIT"),
    "ORDER BY": ("LIMIT", "FETCH FIRST"),
    "LIMIT": ("OFFSET", *_SETS),
    "OFFSET": ("FETCH FIRST",),
    "FETCH": (),
    "VALUES": _SETS,
}
CLAUSES = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET", "FETCH", "VALUES")
SET_OPERATORS = ("UNION", "INTERSECT", "EXCEPT")
OPERATORS = ("AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE")
OPERANDS = ("CASE", "CAST", "NOT", "NULL", "TRUE", "FALSE", "INTERVAL", "EXISTS")
# What a word lets come, and nothing else.
FOLLOWING = {
    "IS": ("NULL", "NOT NULL", "TRUE", "FALSE", "NOT DISTINCT FROM", "DISTINCT FROM", "JSON"),
    "GROUP": ("BY",), "ORDER": ("BY",), "PARTITION": ("BY",), "LEFT": ("JOIN",), "RIGHT": ("JOIN",), "FULL": ("JOIN",), "CROSS": ("JOIN",),
    "INNER": ("JOIN",), "OUTER": ("JOIN",), "NATURAL": ("JOIN",), "FETCH": ("FIRST", "NEXT"), "SYSTEM_TIME": ("AS OF",),
    "UNION": ("ALL", "SELECT"), "INTERSECT": ("SELECT",), "EXCEPT": ("SELECT",), "NULLS": ("FIRST", "LAST"), "LATERAL": ("TABLE",),
    "NOT": ("IN", "LIKE", "BETWEEN", "EXISTS", "NULL"),
}  # fmt: skip
UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR")
# What stands behind INTERVAL.
INTERVALS = ("'1' MINUTE", "'10' SECOND", "'1' HOUR", "'1' DAY")
# Functions whose first argument is a unit.
UNIT_FIRST = ("EXTRACT", "TIMESTAMPADD", "TIMESTAMPDIFF")
IN_CASE = ("WHEN", "THEN", "ELSE", "END")
# Functions that are written without brackets.
BARE = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")
# Reserved words behind which a value has ended.
VALUES = ("NULL", "TRUE", "FALSE", "END", "ASC", "DESC", "FIRST", "LAST", "ROW", "PRECEDING", "FOLLOWING", *BARE, *UNITS)
IN_OVER = ("PARTITION BY", "ORDER BY", "ROWS BETWEEN", "RANGE BETWEEN", "UNBOUNDED PRECEDING", "AND CURRENT ROW")
IN_MATCH = (
    "PARTITION BY", "ORDER BY", "MEASURES", "ONE ROW PER MATCH", "AFTER MATCH SKIP PAST LAST ROW", "AFTER MATCH SKIP TO NEXT ROW", "PATTERN",
    "WITHIN", "DEFINE",
)  # fmt: skip
DEFINITIONS = ("WATERMARK FOR", "PRIMARY KEY", "CONSTRAINT")
AFTER_TYPE = ("NOT NULL", "PRIMARY KEY NOT ENFORCED", "METADATA", "METADATA FROM", "METADATA VIRTUAL", "COMMENT")
# Words of the grammar that stand in no table above.
_MORE = "VIRTUAL ENFORCED SERIALIZABLE INCLUDING EXCLUDING OVERWRITING GENERATED OPTIONS NULLS LAST FIRST NEXT PAST"


@cache
def keywords() -> frozenset[str]:
    """All words that are not names, for colours."""
    from sqlstream.sql.syntax.lexer import RESERVED

    following = (phrase for phrases in FOLLOWING.values() for phrase in phrases)
    phrases = (*IN_OVER, *IN_MATCH, *DEFINITIONS, *AFTER_TYPE, *JOINS, *OPERATORS, *OPERANDS, *TYPES, *following, _MORE)
    return RESERVED | WORDS | {word for phrase in phrases for word in phrase.split()}
