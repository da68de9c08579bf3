"""The development broker: its life, its records, and what it says when something is wrong."""

import base64
import io
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from sqlstream.cli.kafka import broker as module
from sqlstream.cli.kafka.broker import Broker, main, new_cluster_id, server_properties
from sqlstream.cli.kafka.process import command_line, free_port
from sqlstream.connectors.kafka.client import BrokerError, KafkaClient
from sqlstream.core.errors import SetupError
from tests.support.waiting import until

PORT = free_port()


def test_properties() -> None:
    lines = server_properties(Path("/p/data"), 9092, 9093).splitlines()
    assert "listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093" in lines
    assert "log.dirs=/p/data" in lines
    assert len({line.split("=")[0] for line in lines}) == len(lines), "each key once"


def test_a_cluster_id_is_16_bytes_and_no_option() -> None:
    for _ in range(300):
        name = new_cluster_id()
        assert len(base64.urlsafe_b64decode(name + "==")) == 16
        assert not name.startswith("-")


def test_nothing_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not Broker(tmp_path).status().running
    assert main(["--project", str(tmp_path), "status"]) == 3
    assert main(["topics", "--project", str(tmp_path)]) == 1
    assert "\nhint: Start it: sqlstream kafka start" in capsys.readouterr().err
    assert not Broker(tmp_path).stop()


def test_the_project_is_found_from_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker's folder would make a project of the folder below it."""
    (tmp_path / "catalog").mkdir()
    (tmp_path / "queries").mkdir()
    monkeypatch.chdir(tmp_path / "queries")
    asked: list[Path] = []
    monkeypatch.setattr("sqlstream.cli.kafka.broker.Broker", lambda project: asked.append(project) or Broker(project))
    assert main(["status"]) == main(["--project", ".", "status"]) == 3
    assert asked == [tmp_path, Path()]


def test_a_stale_pid_file_of_another_program(tmp_path: Path) -> None:
    broker = Broker(tmp_path)
    broker.folder.mkdir(parents=True)
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        (broker.folder / "broker.pid").write_text(str(other.pid))
        assert not broker.status().running
        assert not broker.stop()
        assert other.poll() is None, "a program that is not ours lives on"
    finally:
        other.kill()
        other.wait()
    assert command_line(other.pid) == ""


def test_a_port_that_is_open_is_no_broker() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(5)
        threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
        with pytest.raises(BrokerError, match="No Kafka broker answers"):
            KafkaClient({"bootstrap.servers": f"127.0.0.1:{server.getsockname()[1]}"}).topics()


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        with pytest.raises(SetupError, match="in use by another program"):
            module._choose(server.getsockname()[1], None)


@pytest.mark.kafka
def test_a_broken_start_shows_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETTINGS", (*module.SETTINGS, ("log.segment.bytes", "-5")))
    broker = Broker(tmp_path)
    with pytest.raises(SetupError, match=r"log\.segment\.bytes") as caught:
        broker.start(free_port())
    assert "broker.log" in (caught.value.hint or "")
    assert not broker.status().running


@pytest.mark.kafka
def test_another_broker_at_its_port_is_not_its_own(tmp_path: Path, broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that begin at the same time find the same port free."""
    monkeypatch.setattr(module, "is_free", lambda _: True)
    own = Broker(tmp_path)
    with pytest.raises(SetupError, match="Kafka ended right after it was started"):
        own.start(int(broker.bootstrap.rpartition(":")[2]))
    assert not own.status().running


@pytest.mark.kafka
@pytest.mark.long
def test_life(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(tmp_path)
    address = broker.start(PORT)
    try:
        assert address == f"127.0.0.1:{PORT}" == broker.bootstrap == broker.start()
        with pytest.raises(SetupError, match="already running at"):
            broker.start(free_port())

        # Topics.
        broker.create_topic("plain", 3)
        broker.create_topic("plain", 3)
        broker.create_topic("kept", 2, compacted=True)
        assert broker.topics() == {"kept": 2, "plain": 3}
        with pytest.raises(SetupError, match="has 3 partitions"):
            broker.create_topic("plain", 4)
        with pytest.raises(SetupError, match="cannot be created"):
            broker.create_topic("no good", 1)

        # Records, in both forms.
        assert broker.produce("kept", (f"k{i}\tvalue ř {i}" for i in range(100)), "\t") == 100
        assert sorted(broker.consume("kept", 100, "|"))[:2] == ["k0|value ř 0", "k10|value ř 10"]
        file = tmp_path / "lines"
        file.write_bytes(b"one\ntwo\x85still two\n\nlast")
        assert broker.produce("auto", file) == 4
        assert [line.replace("\ufffd", "?") for line in broker.consume("auto")] == ["one", "two?still two", "", "last"]
        with pytest.raises(SetupError, match="line 2 has no"):
            broker.produce("kept", ["a\tb", "no key"], "\t")
        with pytest.raises(SetupError, match="larger than the broker allows"):
            broker.produce("plain", [random.Random(1).randbytes(3_000_000).hex()])
        with pytest.raises(SetupError, match="no topic 'plane'") as caught:
            broker.consume("plane")
        assert "plain" in (caught.value.hint or "")

        # It comes back with its data at its address, after a stop and after kill -9.
        assert broker.stop() and not broker.status().running
        assert broker.start() == address
        pid = broker.status().pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        until(lambda: not broker.status().running)
        assert broker.start() == address
        assert len(broker.consume("kept", 101)) == 101

        # The command.
        capfd.readouterr()
        command = ["--project", str(tmp_path)]
        assert main([*command, "start"]) == 0
        assert main([*command, "status"]) == 0
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\tx\nb\ty\n")))
        assert main([*command, "produce", "typed", "-", "--key-separator", "\\t", "--partitions", "2"]) == 0
        consume = ["consume", "typed", "--from-beginning", "--max-messages", "2", "--key-separator", "="]
        assert main([*command, *consume]) == 0
        assert main([*command, "topics"]) == 0
        out = capfd.readouterr().out
        assert address in out and "2 records sent to typed" in out and "typed\t2 partitions" in out
        assert {"a=x", "b=y"} <= set(out.splitlines())
    finally:
        assert main(["--project", str(tmp_path), "stop"]) == 0
    assert not broker.status().running


def test_the_ports_of_a_broker_differ(monkeypatch):
    given = iter([5001, 5001, 5002])
    probe = MagicMock()
    probe.return_value.__enter__.return_value.getsockname.side_effect = lambda: ("127.0.0.1", next(given))
    monkeypatch.setattr("sqlstream.cli.kafka.process.socket.socket", probe)
    assert free_port(5001) == 5002
