"""Where messages of Protobuf are defined: files of the project's folder ``protos/``, and the jars that have their classes.

In: the name of a message, or of its class in Java. Out: the files that define it, as Protobuf describes files. No code of a jar runs: protoc puts the
description of a file into its class, as texts.
"""

from __future__ import annotations

import base64
import importlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import SetupError, ValidationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.protobuf.descriptor import Descriptor
    from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

    from sqlstream.formats.base import ProjectFiles
    from sqlstream.formats.schema_registry import RegisteredSchema

FOLDER = "protos"
_SOURCE, _DESCRIBED = ".proto", (".desc", ".protoset")
# The package that has protoc, and needs Protobuf's own.
COMPILER = "grpcio-tools"
_PACKAGE = "pip install 'sqlstream[protobuf]'"
_COMPILED_WITHIN_S = 60
# What each class of a file has that protoc made, and how many bytes of the description one of its texts has at most.
_MADE_BY_PROTOC, _TEXT_BYTES = b"internalBuildGeneratedFileFrom", 16_000
_DATA = "data:application/x-protobuf;base64,"


@dataclass(frozen=True)
class Message:
    """A message: its full name, and a FileDescriptorSet in Base64, in which each file stands behind those that it imports."""

    name: str
    files: str

    @property
    def data(self) -> str:
        """The files as a data URL."""
        return _DATA + self.files

    @property
    def serialized(self) -> bytes:
        """The files as bytes."""
        return base64.b64decode(self.files)

    @property
    def descriptor(self) -> Descriptor:
        """What Protobuf says of it."""
        return _described(self)


def of_data(name: str, url: str) -> Message:
    """The message that ``name`` means in the files of a data URL: see Message. Raises ValidationError."""
    files = url.removeprefix(_DATA)
    return _among(name, tuple(_set(base64.b64decode(files))), "")


def of_text(text: str) -> Message:
    """The first message of a .proto file, which imports no other than those of Protobuf. Raises ValidationError, SetupError."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / f"schema{_SOURCE}"
        file.write_text(text, "utf-8")
        try:
            files = tuple(_set(_compiled(file.parent, [file])))
        except ValidationError as wrong:
            raise ValidationError(f"The schema is none of Protobuf: {wrong.message.partition(': ')[2]}") from wrong
    messages = [full for full, _ in _messages(files[-1])]
    if not messages:
        raise ValidationError("The schema has no message.")
    return _among(messages[0], files, "")


def of_registry(schema: RegisteredSchema, body: bytes) -> Descriptor | None:
    """The message of a registered schema that a record is, by the ``body`` behind the schema's number; None where it says none. Raises SetupError."""
    from google.protobuf.message import DecodeError

    try:
        files = {name: _file(name, text) for name, text in (*schema.parts.items(), ("schema.proto", schema.text))}
        main = files["schema.proto"]
        data = _descriptors().FileDescriptorSet(file=_with_imports(main, files)).SerializeToString()
        messages, found = main.message_type, main.package
        for place in _path(body):
            found, messages = f"{found}.{messages[place].name}".lstrip("."), messages[place].nested_type
    except (ValueError, IndexError, DecodeError, ValidationError):
        return None
    return Message(found, base64.b64encode(data).decode()).descriptor


def _file(name: str, serialized: str) -> FileDescriptorProto:
    file: FileDescriptorProto = _descriptors().FileDescriptorProto.FromString(base64.b64decode(serialized, validate=True))
    file.name = name
    return file


def _path(body: bytes) -> list[int]:
    """The places at the head of a record's body: of a message in its file, and then of those within it. Raises IndexError."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = body[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value >> 1 ^ -(value & 1)

    return [number() for _ in range(number())] or [0]


def find(name: str, places: ProjectFiles) -> Message:
    """The message that ``name`` means, its class in Java or itself. Raises ValidationError, SetupError."""
    folder = places.project / FOLDER
    stamps = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in (*sorted(folder.rglob("*")), *places.jars) if path.is_file())
    where = f"Put the .proto file that defines it into the folder {FOLDER}/ of the project, or name the jar of its class in 'pipeline.jars'."
    return _among(name, _files(folder, stamps), where)


@lru_cache(maxsize=8)
def _files(folder: Path, stamps: tuple[tuple[Path, int, int], ...]) -> tuple[FileDescriptorProto, ...]:
    """All that is defined in files with ``stamps``, each file once: what is in ``folder`` counts before what is in a jar."""
    paths = [path for path, _, _ in stamps]
    sources = [path for path in paths if path.suffix == _SOURCE]
    found: list[FileDescriptorProto] = []
    if sources:
        found += _set(_compiled(folder, sources))
    for path in paths:
        if path.suffix in _DESCRIBED:
            try:
                found += _set(path.read_bytes())
            except ValueError as wrong:
                raise ValidationError(f"'{FOLDER}/{path.relative_to(folder)}' is no FileDescriptorSet: {wrong}.") from wrong
        elif not path.is_relative_to(folder):
            found += _of_jar(path)
    return tuple({file.name: file for file in reversed(found)}.values())


def _set(serialized: bytes) -> Iterable[FileDescriptorProto]:
    """The files of a FileDescriptorSet. Raises ValueError for what is none."""
    from google.protobuf.message import DecodeError

    try:
        files: Iterable[FileDescriptorProto] = _descriptors().FileDescriptorSet.FromString(serialized).file
    except DecodeError as wrong:
        raise ValueError(str(wrong)) from wrong
    return files


def _descriptors() -> Any:
    try:
        return importlib.import_module("google.protobuf.descriptor_pb2")
    except ModuleNotFoundError as missing:
        raise SetupError("Format 'protobuf' needs the package protobuf.", hint=_PACKAGE) from missing


def _compiled(folder: Path, sources: list[Path]) -> bytes:
    """A FileDescriptorSet of source files and what they import. Raises ValidationError for what protoc refuses, SetupError."""
    if importlib.util.find_spec("grpc_tools") is None:
        raise SetupError(f"The files of {FOLDER}/ are compiled by the package {COMPILER}, which is not installed.", hint=_PACKAGE)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "made"
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", "--include_imports", f"--descriptor_set_out={made}"]
        ended = subprocess.run(
            [*command, *map(str, sources)], capture_output=True, text=True, encoding="utf-8", check=False, timeout=_COMPILED_WITHIN_S
        )
        if ended.returncode:
            said = [line.replace(f"{folder}/", "") for line in ended.stderr.splitlines() if "warning:" not in line]
            raise ValidationError(f"The files of {FOLDER}/ can't be compiled: {'; '.join(said[:3])}")
        return made.read_bytes()


def _of_jar(jar: Path) -> Iterator[FileDescriptorProto]:
    """The files whose classes are in a jar."""
    with zipfile.ZipFile(jar) as entries:
        for name in entries.namelist():
            if name.endswith(".class") and "$" not in name:
                data = entries.read(name)
                if _MADE_BY_PROTOC in data and (file := _of_class(data)) is not None:
                    yield file


def _of_class(data: bytes) -> FileDescriptorProto | None:
    """The file that a class describes: in its texts, which follow each other, each character of them a byte."""
    from google.protobuf.message import DecodeError

    texts = _texts(data)
    for begin, text in enumerate(texts):
        if not text.startswith(b"\n"):
            continue
        described = text
        for more in texts[begin + 1 :] if len(text) == _TEXT_BYTES else []:
            described += more
            if len(more) != _TEXT_BYTES:
                break
        try:
            file: FileDescriptorProto = _descriptors().FileDescriptorProto.FromString(described)
        except DecodeError:
            continue
        if file.name.endswith(_SOURCE):
            return file
    return None


# How many bytes a constant has in a class, by its tag; that of a text has a length of its own, those of LONG and DOUBLE count twice.
_CONSTANT_BYTES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
_UTF8, _STRING, _TWICE = 1, 8, (5, 6)


def _texts(data: bytes) -> list[bytes]:
    """The constant strings of a class that have no character above 255, in their order, a byte for each character."""
    (count,) = struct.unpack_from(">H", data, 8)
    at, number = 10, 1
    contents: dict[int, bytes] = {}
    strings: list[int] = []
    while number < count:
        tag = data[at]
        if tag == _UTF8:
            (length,) = struct.unpack_from(">H", data, at + 1)
            contents[number] = data[at + 3 : at + 3 + length]
            at += 3 + length
        else:
            if tag == _STRING:
                strings += struct.unpack_from(">H", data, at + 1)
            at += 1 + _CONSTANT_BYTES[tag]
        number += 2 if tag in _TWICE else 1
    found = []
    for string in strings:
        # Java's own UTF-8 has two bytes for the character 0.
        text = contents[string].replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        if all(ord(character) < 256 for character in text):
            found.append(text.encode("latin-1"))
    return found


def _among(name: str, files: tuple[FileDescriptorProto, ...], where: str) -> Message:
    known: dict[str, tuple[FileDescriptorProto, str]] = {}
    for file in files:
        for full, of_java in _messages(file):
            for spelling in (full, of_java.replace("$", "."), of_java):
                known.setdefault(spelling, (file, full))
    if name not in known:
        hint = did_you_mean(name, list(known)) or where or None
        raise ValidationError(f"There is no message '{name}', which 'message-class-name' names.", hint=hint)
    file, full = known[name]
    needed = _descriptors().FileDescriptorSet(file=_with_imports(file, {other.name: other for other in files}))
    return Message(full, base64.b64encode(needed.SerializeToString(deterministic=True)).decode())


def _messages(file: FileDescriptorProto) -> Iterator[tuple[str, str]]:
    """The full name of each message of a file, and the name of its class."""
    options = file.options
    of_java = options.java_package if options.HasField("java_package") else file.package
    classes = "" if options.java_multiple_files else f"{options.java_outer_classname or _outer_class(file)}$"

    def below(message: DescriptorProto, full: str, class_: str) -> Iterator[tuple[str, str]]:
        yield full + message.name, class_ + message.name
        for nested in message.nested_type:
            if not nested.options.map_entry:
                yield from below(nested, f"{full}{message.name}.", f"{class_}{message.name}$")

    for message in file.message_type:
        yield from below(message, f"{file.package}." if file.package else "", (f"{of_java}." if of_java else "") + classes)


def _outer_class(file: FileDescriptorProto) -> str:
    """The name of the class of a file that names none: its own name, made a class's, that of none of what is in it."""
    stem = file.name.rpartition("/")[2].removesuffix(_SOURCE)
    name = "".join(word[:1].upper() + word[1:] for word in re.findall(r"[A-Za-z]+|\d+", stem))

    def inside(messages: Iterable[DescriptorProto]) -> Iterator[str]:
        for message in messages:
            yield message.name
            yield from (enum.name for enum in message.enum_type)
            yield from inside(message.nested_type)

    taken = {*inside(file.message_type), *(enum.name for enum in file.enum_type), *(service.name for service in file.service)}
    return f"{name}OuterClass" if name in taken else name


def _with_imports(file: FileDescriptorProto, files: dict[str, FileDescriptorProto], done: set[str] | None = None) -> Iterator[FileDescriptorProto]:
    """``file`` behind what it imports."""
    done = set() if done is None else done
    if file.name in done:
        return
    done.add(file.name)
    for name in file.dependency:
        yield from _with_imports(files.get(name) or _well_known(name, file.name), files, done)
    yield file


def _well_known(name: str, importing: str) -> FileDescriptorProto:
    """A file that comes with Protobuf. Raises ValidationError for another one."""
    try:
        if not name.startswith("google/protobuf/"):
            raise ModuleNotFoundError(name)
        module = importlib.import_module(f"{name.removesuffix(_SOURCE).replace('/', '.')}_pb2")
    except ModuleNotFoundError as missing:
        raise ValidationError(f"'{importing}' imports '{name}', which is not there.", hint=f"Put it into {FOLDER}/, too.") from missing
    file: FileDescriptorProto = _descriptors().FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    return file


@lru_cache(maxsize=64)
def _described(message: Message) -> Descriptor:
    from google.protobuf.descriptor_pool import DescriptorPool

    pool = DescriptorPool()
    for file in _set(message.serialized):
        pool.Add(file)
    return pool.FindMessageTypeByName(message.name)
