"""The files of the documentation by which a server runs as a service."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from sqlstream.cli import serve
from tests.support import needs

FOLDER = Path(__file__).parents[2] / "docs" / "server"
UNIT, IMAGE, MANIFESTS = (FOLDER / name for name in ("sqlstream.service", "Dockerfile", "kubernetes.yaml"))


def test_their_commands_are_those_of_the_client() -> None:
    (started,) = re.findall(r"^ExecStart=(.*)$", UNIT.read_text(), re.MULTILINE)
    program, subcommand, *arguments = shlex.split(started)
    assert program.endswith("/sqlstream") and subcommand == "serve"
    assert serve.parser().parse_args(arguments).project == "/srv/sqlstream/project"
    image = dict(re.findall(r"^(ENTRYPOINT|CMD) (.*)$", IMAGE.read_text(), re.MULTILINE))
    program, subcommand, *arguments = [*json.loads(image["ENTRYPOINT"]), *json.loads(image["CMD"])]
    parsed = serve.parser().parse_args(arguments)
    assert (program, subcommand, parsed.host, parsed.port) == ("sqlstream", "serve", "0.0.0.0", 8083)
    service, pod = documents()[1], documents()[0]["spec"]["template"]["spec"]
    assert service["spec"]["ports"][0]["port"] == parsed.port == pod["containers"][0]["ports"][0]["containerPort"]
    mounted = {mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    assert {str(parsed.tls_certificate.parent), str(parsed.tokens.parent), "/project/.sqlstream"} == mounted


def documents() -> list[dict]:
    return list(yaml.safe_load_all(MANIFESTS.read_text()))


def test_the_manifests_are_what_kubernetes_takes() -> None:
    assert [document["kind"] for document in documents()] == ["StatefulSet", "Service"]
    for document in documents():
        kubernetes_validate.validate(document, "1.37", strict=True)


@pytest.mark.slow
def test_the_unit_is_what_systemd_takes(tmp_path: Path) -> None:
    analyze = needs.program("systemd-analyze")
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/srv/sqlstream/venv/bin/sqlstream", sys.executable).replace("User=sqlstream", "User=root"))
    verified = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True)
    assert (verified.returncode, verified.stderr) == (0, "")
