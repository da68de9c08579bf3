"""DataTypes: Flink's types as pyflink writes them, each a value of ``sql.types``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlstream.sql import types as t

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlstream.sql.types import Type


class RowField(NamedTuple):
    """A field of a ROW."""

    name: str
    type: Type


def _plain(type_: Type) -> Callable[[bool], Type]:
    def made(nullable: bool = True) -> Type:
        return type_.with_nullable(nullable)

    return made


class DataTypes:
    """``DataTypes.STRING()``, ``DataTypes.DECIMAL(10, 2)``, ``DataTypes.ROW([DataTypes.FIELD('a', DataTypes.INT())])``."""

    NULL = staticmethod(lambda: t.NULL)
    BOOLEAN = staticmethod(_plain(t.BOOLEAN))
    TINYINT = staticmethod(_plain(t.TINYINT))
    SMALLINT = staticmethod(_plain(t.SMALLINT))
    INT = staticmethod(_plain(t.INT))
    BIGINT = staticmethod(_plain(t.BIGINT))
    FLOAT = staticmethod(_plain(t.FLOAT))
    DOUBLE = staticmethod(_plain(t.DOUBLE))
    STRING = staticmethod(_plain(t.STRING))
    BYTES = staticmethod(_plain(t.BYTES))
    DATE = staticmethod(_plain(t.DATE))

    @staticmethod
    def CHAR(length: int, nullable: bool = True) -> Type:
        return t.char(length).with_nullable(nullable)

    @staticmethod
    def VARCHAR(length: int, nullable: bool = True) -> Type:
        return t.varchar(length).with_nullable(nullable)

    @staticmethod
    def BINARY(length: int, nullable: bool = True) -> Type:
        return t.Type("BINARY", (length,)).with_nullable(nullable)

    @staticmethod
    def VARBINARY(length: int, nullable: bool = True) -> Type:
        return t.Type("VARBINARY", (length,)).with_nullable(nullable)

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> Type:
        return t.decimal(precision, scale).with_nullable(nullable)

    @staticmethod
    def TIME(precision: int = 0, nullable: bool = True) -> Type:
        return t.time(precision).with_nullable(nullable)

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> Type:
        return t.timestamp(precision).with_nullable(nullable)

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6, nullable: bool = True) -> Type:
        return t.timestamp_ltz(precision).with_nullable(nullable)

    TIMESTAMP_WITH_LOCAL_TIME_ZONE = TIMESTAMP_LTZ

    @staticmethod
    def ARRAY(element_type: Type, nullable: bool = True) -> Type:
        return t.array(element_type).with_nullable(nullable)

    LIST_VIEW = ARRAY

    @staticmethod
    def MULTISET(element_type: Type, nullable: bool = True) -> Type:
        return t.multiset(element_type).with_nullable(nullable)

    @staticmethod
    def MAP(key_type: Type, value_type: Type, nullable: bool = True) -> Type:
        return t.map_of(key_type, value_type).with_nullable(nullable)

    MAP_VIEW = MAP

    @staticmethod
    def FIELD(name: str, data_type: Type, description: str | None = None) -> RowField:
        return RowField(name, data_type)

    @staticmethod
    def ROW(row_fields: Sequence[RowField | Type] = (), nullable: bool = True) -> Type:
        fields = [f if isinstance(f, RowField) else RowField(f"f{i}", f) for i, f in enumerate(row_fields)]
        return t.row(tuple(f.name for f in fields), tuple(f.type for f in fields)).with_nullable(nullable)
