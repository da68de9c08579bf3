"""``sqlstream test-udf FILE..``: the doctests of functions, whose calls go through SQL's types as they do in a query. No JVM.

In an example a function is called with values of one row, and gives its value; a table function gives the list of its rows, an aggregate is
called with a list of values for each parameter.
"""

from __future__ import annotations

import doctest
import linecache
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlstream.cli.arguments import Parser
from sqlstream.core.errors import SqlStreamError
from sqlstream.core.zones import zone_of
from sqlstream.sql import types as t
from sqlstream.udf.api import FunctionKind
from sqlstream.udf.declarations.functions import row_of, rows_of_group
from sqlstream.udf.declarations.modules import FOLDER
from sqlstream.udf.declarations.signature import type_of_annotation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlstream.sql.types import Type
    from sqlstream.udf.declarations.functions import FunctionSettings, PythonFunction
    from sqlstream.udf.declarations.modules import Modules

# Exit codes.
PASSED, FAILED = 0, 1


def parser() -> Parser:
    """The arguments of ``sqlstream test-udf``."""
    made = Parser(prog="sqlstream test-udf", description="Runs the doctests of functions through SQL's types.")
    made.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a Python file with decorated functions")
    made.add_argument("--project", type=Path, help="the project's folder (default: found from here upwards)")
    return made


def main(argv: list[str], project: Path, options: Mapping[str, str]) -> int:
    """Run the doctests of files of ``project``, whose settings are ``options``; the exit code comes back."""
    from sqlstream.session.session import Session

    own = parser()
    arguments = own.parse_args(argv)
    project = project.resolve()
    files = [f.resolve() for f in arguments.files]
    if missing := [str(f) for f in files if not f.is_file()]:
        own.error(f"no file {', '.join(missing)}")
    others = [str(f) for f in files if f.parent != project / FOLDER]
    named = ",".join([*filter(None, [options.get("python.files")]), *others])
    planner = Session(project, options={**options, "python.files": named}, notify=lambda line: None).planner
    passed = [_tested(f, planner.modules, planner.zone, planner.function_settings) for f in files]
    return PASSED if all(passed) else FAILED


def _tested(file: Path, modules: Modules, zone: str, settings: FunctionSettings) -> bool:
    """Whether the file's functions do what their examples say; differences are printed."""
    errors = [e for e in modules.errors if e.location is not None and e.location.file == modules.shown(file)]
    for error in errors:
        print(f"{error.location}: {error.message}")
    tested = [f for f in modules.functions.values() if f.declared.file == str(file)]
    functions: list[PythonFunction] = []
    for one in tested:
        with suppress(SqlStreamError):  # it is among those of the modules
            functions.append(row_of(one, modules, settings))
    if not tested:
        print(f"{modules.shown(file)}: no function" + ("" if errors else ": nothing in it is decorated by udf, udtf or udaf"))
        return False
    failed, tried, without = 0, 0, []
    with modules.own() as loaded:
        module = next(m for m in loaded if m.__name__ == tested[0].module)
        calls = {f.found.attribute: _Call(f, zone) for f in functions}
        runner = _Runner(modules.shown(file))
        for name, examples in _examples(functions, vars(module), calls):
            result = runner.run(examples)
            failed, tried = failed + result.failed, tried + result.attempted
            if not result.attempted:
                without.append(name)
    print(f"{modules.shown(file)}: {tried} examples of {len(functions)} functions, {failed} failed")
    if without:
        print(f"without examples: {', '.join(without)}")
    return not (failed or errors)


def _examples(functions: list[PythonFunction], names: dict[str, Any], calls: dict[str, _Call]) -> Iterable[tuple[str, doctest.DocTest]]:
    reader = doctest.DocTestParser()
    for function in functions:
        declared = function.found.declared
        texts = [declared.__doc__, None if declared.body is declared.function else declared.body.__doc__]
        text = "\n".join(filter(None, texts))
        yield function.found.attribute, reader.get_doctest(text, {**names, **calls}, function.found.attribute, declared.file, declared.line)


class _Runner(doctest.DocTestRunner):
    """Reports an exception in one line: the example's place in the file, the example, what was raised, and where in the file."""

    def __init__(self, shown: str) -> None:
        super().__init__(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        self._shown = shown

    def report_unexpected_exception(self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any) -> None:
        file, written = test.filename or "", example.source.splitlines()[0]
        places = [i for i, line in enumerate(linecache.getlines(file), 1) if line.strip() == f">>> {written}"]
        # A class stands above what declares it.
        place = min(places, key=lambda i: (i < (test.lineno or 0), i), default=test.lineno)
        raised = " ".join("".join(traceback.format_exception_only(exc_info[1])).split())
        within = [f.lineno for f in traceback.extract_tb(exc_info[2]) if f.filename == file]
        out(f"{self._shown}:{place}: {written}: {raised}{f', at line {within[-1]}' if within else ''}\n")


class _Call:
    """A function as an example calls it."""

    def __init__(self, function: PythonFunction, zone: str) -> None:
        self._function = function
        self._zone = zone

    def __call__(self, *values: Any) -> Any:
        import pyarrow

        from sqlstream.udf.declarations.tasks import task
        from sqlstream.udf.worker import values as v
        from sqlstream.udf.worker.evaluation import evaluated
        from sqlstream.udf.worker.task import FunctionFailed

        function, zone = self._function, zone_of(self._zone)
        types: tuple[Type, ...]
        if function.kind is FunctionKind.AGGREGATE:
            # Its examples give each argument as the list of its values.
            of = tuple(self._type(i, next((x for x in column if x is not None), None)) for i, column in enumerate(values))
            types = (rows_of_group(of, ("",) * len(of)),)
            values = ([dict(zip(types[0].children[0].names, row, strict=True)) for row in zip(*values, strict=True)],)
        else:
            types = tuple(self._type(i, value) for i, value in enumerate(values))
        arrays = []
        for value, type_ in zip(values, types, strict=True):
            array, wrong = v.arrow_array([value], type_, zone)
            if array is None:
                assert wrong is not None
                raise TypeError(f"{function.name} is called with {wrong[1].value!r}, which is not of type {wrong[1].type.full}")
            arrays.append(array)
        result = t.array(function.of.result.not_null()) if function.kind is FunctionKind.TABLE else function.of.result
        try:
            made = evaluated(task(function, types, result, self._zone, ("",) * len(types)), tuple(arrays) or (pyarrow.nulls(1),))
        except FunctionFailed as failure:
            cause = failure.__context__
            # An example may show what the function raises.
            raise (TypeError(failure.message) if cause is None or isinstance(cause, v.WrongType) else cause) from None
        (returned,) = v.python_values(made, result, zone)
        if function.kind is FunctionKind.TABLE:
            return [tuple(row) if len(row) > 1 else row[0] for row in returned]
        return returned

    def _type(self, place: int, value: Any) -> Type:
        parameters = self._function.of.parameters
        if not parameters or (place >= len(parameters) and not parameters[-1].repeated):
            raise TypeError(f"{self._function.name} takes {len(parameters)} arguments")
        declared = parameters[min(place, len(parameters) - 1)].type
        return declared if declared is not None else _type_of(value)


def _type_of(value: Any) -> Type:
    """The type of a value for a parameter that has none."""
    if value is None:
        return t.STRING
    if isinstance(value, list):
        return t.array(_type_of(next((x for x in value if x is not None), None)))
    if isinstance(value, dict):
        key, element = next(iter(value.items()), (None, None))
        return t.map_of(_type_of(key), _type_of(element))
    inferred = type_of_annotation(type(value))
    if inferred is None:
        raise TypeError(f"{value!r} has no SQL type")
    return inferred
