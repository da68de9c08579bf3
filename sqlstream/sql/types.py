"""Flink's logical types: what a column is, how it is written, and which Spark type carries it.

In a running plan both TIMESTAMP(p) and TIMESTAMP_LTZ(p) are carried by Spark's TIMESTAMP, with the Spark session's zone
always UTC: a TIMESTAMP is carried as if its wall time were UTC, so nothing in Spark depends on a zone, and the zone of
``table.local-time-zone`` enters in the expressions that convert between the two. At the edges (a Delta table, a parquet
file) a TIMESTAMP is Spark's TIMESTAMP_NTZ: ``Type.stored``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlstream.sql.quoting import quote

MAX_LENGTH = 2147483647


@dataclass(frozen=True)
class Type:
    """A Flink logical type.

    ``root`` is one of the names in the functions below; ``args`` its numbers (length; precision and scale; precision);
    ``children`` the element types of ARRAY, MULTISET, MAP (key, value) and ROW; ``names`` the field names
    of a ROW, ``comments`` what is said of its fields, which makes no other type.
    """

    root: str
    args: tuple[int, ...] = ()
    children: tuple[Type, ...] = ()
    names: tuple[str, ...] = ()
    nullable: bool = True
    comments: tuple[str | None, ...] = field(default=(), compare=False)

    def not_null(self) -> Type:
        return self.with_nullable(False)

    def null(self) -> Type:
        return self.with_nullable(True)

    def with_nullable(self, nullable: bool) -> Type:
        return self if self.nullable is nullable else replace(self, nullable=nullable)

    def same(self, other: Type) -> bool:
        """Equality without regard to top-level nullability."""
        return self.null() == other.null()

    @property
    def parts(self) -> tuple[Type, ...]:
        """The type itself and all types in it."""
        return (self, *(part for child in self.children for part in child.parts))

    @property
    def holds_not_null(self) -> bool:
        """Whether it, or a type in it, is NOT NULL."""
        return any(not part.nullable for part in self.parts)

    @property
    def is_string(self) -> bool:
        return self.root in ("CHAR", "VARCHAR")

    @property
    def is_binary(self) -> bool:
        return self.root in ("BINARY", "VARBINARY")

    @property
    def is_integer(self) -> bool:
        return self.root in INTEGERS

    @property
    def is_exact(self) -> bool:
        return self.is_integer or self.root == "DECIMAL"

    @property
    def is_approximate(self) -> bool:
        return self.root in ("FLOAT", "DOUBLE")

    @property
    def is_numeric(self) -> bool:
        return self.is_exact or self.is_approximate

    @property
    def is_timestamp(self) -> bool:
        return self.root in ("TIMESTAMP", "TIMESTAMP_LTZ")

    @property
    def is_interval(self) -> bool:
        return self.root in ("INTERVAL_MONTHS", "INTERVAL_MILLIS")

    def __str__(self) -> str:
        """As DESCRIBE prints it, without NOT NULL at the top."""
        match self.root:
            case "VARCHAR" if self.args[0] == MAX_LENGTH:
                return "STRING"
            case "VARBINARY" if self.args[0] == MAX_LENGTH:
                return "BYTES"
            case "CHAR" | "VARCHAR" | "BINARY" | "VARBINARY" | "TIME" | "TIMESTAMP" | "TIMESTAMP_LTZ":
                return f"{self.root}({self.args[0]})"
            case "DECIMAL":
                return f"DECIMAL({self.args[0]}, {self.args[1]})"
            case "ARRAY" | "MULTISET" | "MAP":
                return f"{self.root}<{', '.join(c.full for c in self.children)}>"
            case "ROW":
                return f"ROW<{', '.join(f'{quote(n)} {c.full}' for n, c in zip(self.names, self.children, strict=True))}>"
            case "INTERVAL_MONTHS":
                return "INTERVAL MONTH"
            case "INTERVAL_MILLIS":
                return "INTERVAL SECOND(3)"
        return self.root

    @property
    def full(self) -> str:
        """With NOT NULL where it is, as inside ROW<..> and in error messages."""
        return str(self) if self.nullable else f"{self} NOT NULL"

    @property
    def spark(self) -> str:
        """The Spark SQL type that carries it in a running plan."""
        return self._spark("TIMESTAMP")

    @property
    def stored(self) -> str:
        """The Spark SQL type that a table file holds."""
        return self._spark("TIMESTAMP_NTZ")

    def _spark(self, timestamp_type: str) -> str:
        match self.root:
            case "CHAR" | "VARCHAR":
                return "STRING"
            case "BINARY" | "VARBINARY":
                return "BINARY"
            case "DECIMAL":
                return f"DECIMAL({self.args[0]},{self.args[1]})"
            case "TIMESTAMP":
                return timestamp_type
            case "TIMESTAMP_LTZ":
                return "TIMESTAMP"
            case "TIME":
                return "TIME(6)"
            case "INTERVAL_MONTHS":
                return "INTERVAL YEAR TO MONTH"
            case "INTERVAL_MILLIS":
                return "INTERVAL DAY TO SECOND"
            case "ARRAY":
                return f"ARRAY<{self.children[0]._spark(timestamp_type)}>"
            case "MULTISET":
                return f"MAP<{self.children[0]._spark(timestamp_type)},INT>"
            case "MAP":
                return f"MAP<{self.children[0]._spark(timestamp_type)},{self.children[1]._spark(timestamp_type)}>"
            case "ROW":
                fields = zip(self.names, self.children, strict=True)
                return f"STRUCT<{','.join(f'{quote(n)}:{c._spark(timestamp_type)}' for n, c in fields)}>"
            case "NULL":
                return "VOID"
        return self.root


INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
# Values of these are neither compared nor grouped by.
NESTED = ("ROW", "ARRAY", "MAP", "MULTISET")
UNORDERED = ("MAP", "MULTISET", "VARIANT")


def distinguished(type_: Type) -> bool:
    """Whether Spark can tell two values apart."""
    return type_.root not in UNORDERED and all(map(distinguished, type_.children))


BOOLEAN = Type("BOOLEAN")
TINYINT = Type("TINYINT")
SMALLINT = Type("SMALLINT")
INT = Type("INT")
BIGINT = Type("BIGINT")
FLOAT = Type("FLOAT")
DOUBLE = Type("DOUBLE")
DATE = Type("DATE")
NULL = Type("NULL")
VARIANT = Type("VARIANT")
STRING = Type("VARCHAR", (MAX_LENGTH,))
BYTES = Type("VARBINARY", (MAX_LENGTH,))
INTERVAL_MONTHS = Type("INTERVAL_MONTHS")
INTERVAL_MILLIS = Type("INTERVAL_MILLIS")


def char(length: int) -> Type:
    return Type("CHAR", (length,))


def varchar(length: int) -> Type:
    return Type("VARCHAR", (length,))


def decimal(precision: int, scale: int) -> Type:
    return Type("DECIMAL", (precision, scale))


def time(precision: int = 0) -> Type:
    return Type("TIME", (precision,))


def timestamp(precision: int = 6) -> Type:
    return Type("TIMESTAMP", (precision,))


def timestamp_ltz(precision: int = 6) -> Type:
    return Type("TIMESTAMP_LTZ", (precision,))


def array(element: Type) -> Type:
    return Type("ARRAY", children=(element,))


def multiset(element: Type) -> Type:
    return Type("MULTISET", children=(element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("MAP", children=(key, value))


def row(names: tuple[str, ...], children: tuple[Type, ...], comments: tuple[str | None, ...] = ()) -> Type:
    return Type("ROW", children=children, names=names, comments=comments)
