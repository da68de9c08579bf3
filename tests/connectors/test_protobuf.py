"""protobuf: where messages are defined, what their classes are called, and what is said where they are not there. Their values: test_formats.py."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from sqlstream.core.errors import SetupError, ValidationError
from sqlstream.formats import protobuf_files
from sqlstream.formats.base import ProjectFiles
from tests.connectors.format_cases import HERE
from tests.connectors.protobuf_cases import EVERYTHING, OLD, PROJECT

if TYPE_CHECKING:
    from pathlib import Path

JAR = HERE / "messages.jar"


def project(folder: Path, **files: str) -> ProjectFiles:
    """A project whose protos/ has ``files``, called so, with / for two underscores."""
    for name, text in files.items():
        file = folder / protobuf_files.FOLDER / f"{name.replace('__', '/')}.proto"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return ProjectFiles(folder)


@pytest.mark.parametrize(
    ("file", "options", "content", "name", "means"),
    [
        ("shop", "package a.b;", "message Order {}", "a.b.Shop$Order", "a.b.Order"),
        ("shop", "package a.b;", "message Order {}", "a.b.Shop.Order", "a.b.Order"),
        ("shop", "package a.b;", "message Order {}", "a.b.Order", "a.b.Order"),
        ("shop", "", "message Order {}", "Shop$Order", "Order"),
        ("shop", "", "message Order {}", "Order", "Order"),
        ("shop", 'package a; option java_package = "x.y";', "message Order {}", "x.y.Shop$Order", "a.Order"),
        ("shop", 'package a; option java_package = "x"; option java_outer_classname = "All";', "message Order {}", "x.All$Order", "a.Order"),
        ("shop", 'package a; option java_package = "x"; option java_multiple_files = true;', "message Order {}", "x.Order", "a.Order"),
        ("shop", "package a;", "message Order { message Line { message Part {} } }", "a.Shop$Order$Line$Part", "a.Order.Line.Part"),
        ("shop", "package a;", "message Shop {}", "a.ShopOuterClass$Shop", "a.Shop"),
        ("shop", "package a;", "message Order { message Shop {} }", "a.ShopOuterClass$Order", "a.Order"),
        ("shop", "package a;", "message Order {} enum Shop { X = 0; }", "a.ShopOuterClass$Order", "a.Order"),
        ("shop", "package a;", "message Order {} service Shop {}", "a.ShopOuterClass$Order", "a.Order"),
        ("web_shop2go-v1", "package a;", "message Order {}", "a.WebShop2GoV1$Order", "a.Order"),
        ("x__y__shop", "package a;", "message Order {}", "a.Shop$Order", "a.Order"),
    ],
)
def test_names(tmp_path: Path, file: str, options: str, content: str, name: str, means: str) -> None:
    given = project(tmp_path, **{file: f'syntax = "proto3"; {options} {content}'})
    assert protobuf_files.find(name, given).name == means


def test_a_jar_with_the_classes(tmp_path: Path) -> None:
    given = ProjectFiles(tmp_path, {"pipeline.jars": str(JAR)})
    for name in (EVERYTHING, OLD, "com.example.rows.Everything$Inside"):
        of_jar, of_source = protobuf_files.find(name, given), protobuf_files.find(name, PROJECT)
        assert of_jar.name == of_source.name
        # All but the names that JSON has, which protoc adds for its compilers.
        assert described(of_jar) == described(of_source)
    many = protobuf_files.find("many.ManyOuterClass$Many", given).descriptor
    assert [field.number for field in many.fields] == list(range(1, 901))


def described(message: protobuf_files.Message) -> dict[str, list[tuple[str, int, int, int]]]:
    files = FileDescriptorSet.FromString(base64.b64decode(message.files)).file
    return {f"{file.name} {m.name}": [(x.name, x.number, x.type, x.label) for x in m.field] for file in files for m in file.message_type}


def test_a_set_of_descriptors(tmp_path: Path) -> None:
    made = tmp_path / "made"
    project(made, shop='syntax = "proto3"; package a; import "google/protobuf/any.proto"; message Order { google.protobuf.Any x = 1; }')
    (tmp_path / "protos").mkdir()
    # Without what it imports, as protoc does where it is not asked.
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{made}/protos", f"--descriptor_set_out={tmp_path}/protos/shop.desc", "shop.proto"]
    subprocess.run(command, check=True)
    found = protobuf_files.find("a.Shop$Order", ProjectFiles(tmp_path))
    assert found.descriptor.fields_by_name["x"].message_type.full_name == "google.protobuf.Any"
    assert protobuf_files.of_data("a.Order", found.data) == found
    (tmp_path / "protos" / "shop.desc").write_text("x")
    with pytest.raises(ValidationError, match="'protos/shop.desc' is no FileDescriptorSet"):
        protobuf_files.find("a.Shop$Order", ProjectFiles(tmp_path))


def test_a_file_is_edited(tmp_path: Path) -> None:
    given = project(tmp_path, shop='syntax = "proto3"; message Order { int32 a = 1; }')
    assert list(protobuf_files.find("Order", given).descriptor.fields_by_name) == ["a"]
    project(tmp_path, shop='syntax = "proto3"; message Order { int32 a = 1; int32 bc = 2; }')
    assert list(protobuf_files.find("Order", given).descriptor.fields_by_name) == ["a", "bc"]
    shutil.rmtree(tmp_path / "protos")
    with pytest.raises(ValidationError, match="There is no message 'Order'") as error:
        protobuf_files.find("Order", given)
    assert error.value.hint is not None and "protos/" in error.value.hint


def test_what_is_not_there(tmp_path: Path) -> None:
    given = project(tmp_path, shop='syntax = "proto3"; package a; message Order {}')
    with pytest.raises(ValidationError) as error:
        protobuf_files.find("a.Shop$Oder", given)
    assert error.value.hint == "Did you mean 'a.Shop$Order'?"
    with pytest.raises(ValidationError, match="There is no file 'no.jar'"):
        protobuf_files.find("a.Shop$Order", ProjectFiles(tmp_path, {"pipeline.jars": "no.jar"}))
    project(tmp_path, shop='syntax = "proto3"; import "parts.proto"; message Order { Part p = 1; int x = 1; }')
    with pytest.raises(ValidationError, match=r"The files of protos/ can't be compiled: .*parts.proto") as error:
        protobuf_files.find("Order", given)
    assert str(tmp_path) not in error.value.message


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = project(tmp_path, shop='syntax = "proto3"; message Unseen {}')
    monkeypatch.setitem(sys.modules, "grpc_tools", None)
    with pytest.raises(SetupError) as error:
        protobuf_files.find("Unseen", given)
    assert error.value.hint == "pip install 'sqlstream[protobuf]'"
