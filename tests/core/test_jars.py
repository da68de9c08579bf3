"""The lock's form, and that a jar is in the cache whole and as locked, or not at all."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sqlstream.core import jars, sealed
from sqlstream.core.errors import SetupError
from sqlstream.core.lines import Passing

CONTENT = {"a": b"jar a" * 1000, "b": b"jar b" * 1000}
# A stand-in for Ivy: brings what stands in the folder FAKE_JARS, as Ivy would, and counts its runs.
FAKE_IVY = """
import os, pathlib, re, shutil, sys
source = pathlib.Path(os.environ["FAKE_JARS"])
if "-cache" in sys.argv and (source / "fresh").is_dir():
    source = source / "fresh"
with open(os.environ["FAKE_RUNS"], "a") as runs:
    runs.write("run\\n")
pathlib.Path("jars").mkdir()
for g, a, v in re.findall(r'org="(.*?)" name="(.*?)" rev="(.*?)"', pathlib.Path("ivy.xml").read_text()):
    print(f"\\tfound {g}#{a};{v} in here")
    if (source / a).exists():
        shutil.copy(source / a, f"jars/{g}_{a}-{v}.jar")
        print(f"\\t[SUCCESSFUL ] {g}#{a};{v}!{a}.jar (1ms)")
    else:
        print(f"\\t:: {g}#{a};{v}: not found")
if os.environ.get("FAKE_DIES"):
    os.kill(os.getpid(), 9)
"""


class Machine:
    """A cache, a lock of two jars and the stand-in for Ivy."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server = folder / "server"
        self.server.mkdir()
        for name, content in CONTENT.items():
            (self.server / name).write_bytes(content)
        self.runs_file = folder / "runs"
        lock = folder / "jars.lock"
        lines = [f"org.x:{name}:1.0 {hashlib.sha256(content).hexdigest()} {len(content)}" for name, content in CONTENT.items()]
        lock.write_text("[spark]\n" + "\n".join(lines) + "\n")
        (folder / "ivy.py").write_text(FAKE_IVY)
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        monkeypatch.setenv("FAKE_JARS", str(self.server))
        monkeypatch.setenv("FAKE_RUNS", str(self.runs_file))
        monkeypatch.setattr(jars, "LOCK", lock)
        monkeypatch.setattr(jars, "ivy_command", lambda: [sys.executable, str(folder / "ivy.py")])
        monkeypatch.setattr(jars, "_settings", lambda: None)

    @property
    def runs(self) -> int:
        return self.runs_file.read_text().count("run") if self.runs_file.exists() else 0

    @property
    def cached(self) -> list[str]:
        return sorted(path.name for path in jars.cache_dir().glob("*.jar"))

    @property
    def left_over(self) -> list[str]:
        return [path.name for path in jars.cache_dir().glob(".fetch-*")]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_the_lock_that_is_shipped() -> None:
    sets = jars.locked()
    assert set(sets) == {
        "spark",
        "broker",
        "compiler",
        "formatter",
        "postgresql",
        "mysql",
        "database",
        "functions",
        "flink",
        "faker",
        "iceberg",
        "s3",
        "hdfs",
        "yarn",
        "mariadb",
        "debezium",
        "opensearch",
    }
    assert {j.artifact for j in sets["spark"]} >= {"delta-spark_4.2_2.13", "spark-sql-kafka-0-10_2.13", "kafka-clients"}
    assert {j.artifact for j in sets["broker"]} >= {"kafka_2.13", "kafka-tools", "kafka-clients"}
    assert [j.artifact for name in ("compiler", "postgresql") for j in sets[name]] == ["ecj", "postgresql"]
    for locked in sets.values():
        files = [j.file for j in locked]
        assert len(files) == len(set(files))
        assert len({(j.group, j.artifact) for j in locked}) == len(locked), "one version of each"
    assert not re.search(r"https?://", jars.LOCK.read_text()), "where jars come from is the user's matter"


@pytest.mark.parametrize("line", ["org.x:a 0 1", f"org.x:a:1 {'0' * 63} 1", f"org.x:a:1 {'G' * 64} 1", f"org.x:a:1 {'0' * 64}", "[a b]"])
def test_a_line_of_another_form(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        jars.locked(f"[spark]\n{line}\n")


def test_fetched_once(machine: Machine) -> None:
    said: list[str] = []
    paths = jars.ensure("spark", said.append)
    assert [path.name for path in paths] == ["org.x_a-1.0.jar", "org.x_b-1.0.jar"]
    assert [path.read_bytes() for path in paths] == list(CONTENT.values())
    assert said and machine.runs == 1
    said.clear()
    assert jars.ensure("spark", said.append) == paths
    assert not said and machine.runs == 1 and not machine.left_over


def test_several_sets_are_one_download(machine: Machine) -> None:
    text = jars.LOCK.read_text().replace("org.x:b", "[broker]\norg.x:b")
    jars.LOCK.write_text(text)
    said: list[str] = []
    assert [path.name for path in jars.ensure_all(("spark", "broker", "spark"), said.append)] == ["org.x_a-1.0.jar", "org.x_b-1.0.jar"]
    assert machine.runs == 1
    passing = [line for line in said if isinstance(line, Passing)]
    assert [line for line in said if line not in passing] == [f"Downloading 2 jars (1 MB) to {jars.cache_dir()}, once"]
    assert passing == [f"Downloading 2 jars (1 MB): {what}" for what in ("looking up 1 of 2", "1 of 2", "looking up 2 of 2", "2 of 2")]


def test_a_known_jar_is_not_hashed_again(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    jars.ensure("spark")
    monkeypatch.setattr(sealed, "_sha256", lambda path: pytest.fail(f"{path} was hashed"))
    jars.ensure("spark")


@pytest.mark.parametrize("damage", [b"jar a", b"JAR A" * 1000, b""], ids=["torn", "other bytes", "empty"])
def test_a_damaged_jar_is_fetched_again(machine: Machine, damage: bytes) -> None:
    path = jars.ensure("spark")[0]
    path.write_bytes(damage)
    os.utime(path, ns=(1, 1))
    said: list[str] = []
    assert jars.ensure("spark", said.append)[0].read_bytes() == CONTENT["a"]
    assert said[0].startswith("Downloading 1 jar (")


def test_a_jar_that_was_changed_under_its_time_is_fetched_again(machine: Machine) -> None:
    path = jars.ensure("spark")[0]
    before = path.stat()
    path.write_bytes(b"x" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert jars.ensure("spark")[0].read_bytes() == CONTENT["a"]


def test_a_sealed_file_is_intact_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "operators.jar"
    assert not sealed.intact(path)
    path.write_bytes(b"code")
    assert not sealed.intact(path), "nobody knows what it was"
    sealed.seal(path)
    assert sealed.intact(path)
    path.touch()
    assert sealed.intact(path) and sealed.intact(path), "its content is the same"
    path.write_bytes(b"edoc")
    assert not sealed.intact(path)
    sealed.note(path).write_bytes(b"\xff\xfe")
    assert not sealed.intact(path)


def test_a_deleted_jar_is_fetched_again(machine: Machine) -> None:
    jars.ensure("spark")[1].unlink()
    assert jars.ensure("spark")[1].read_bytes() == CONTENT["b"]


def test_a_bad_entry_in_ivys_cache_is_passed_by(machine: Machine) -> None:
    (machine.server / "fresh").mkdir()
    (machine.server / "fresh" / "a").write_bytes(CONTENT["a"])
    (machine.server / "a").write_bytes(b"poison")
    assert jars.ensure("spark")[0].read_bytes() == CONTENT["a"]
    assert machine.runs == 2


def test_a_jar_with_another_hash_is_never_taken(machine: Machine) -> None:
    (machine.server / "a").write_bytes(b"poison")
    with pytest.raises(SetupError, match=r"org.x:a:1.0 .*SHA-256") as caught:
        jars.ensure("spark")
    assert jars.SETTINGS in (caught.value.hint or "")
    assert machine.cached == ["org.x_b-1.0.jar"] and not machine.left_over


def test_a_jar_that_is_not_found(machine: Machine) -> None:
    (machine.server / "b").unlink()
    with pytest.raises(SetupError, match=r"org.x:b:1.0 could not be fetched") as caught:
        jars.ensure("spark")
    assert jars.SETTINGS in (caught.value.hint or "")
    assert machine.cached == ["org.x_a-1.0.jar"]
    (machine.server / "b").write_bytes(CONTENT["b"])
    assert len(jars.ensure("spark")) == 2


def test_an_interrupted_fetch_leaves_nothing_bad(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "_accept", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        jars.ensure("spark")
    assert not machine.cached and not machine.left_over


def test_what_a_killed_process_left_is_cleared(machine: Machine) -> None:
    torn = jars.cache_dir() / ".fetch-dead" / "jars"
    torn.mkdir(parents=True)
    (torn / "org.x_a-1.0.jar").write_bytes(b"half")
    jars.ensure("spark")
    assert not machine.left_over and machine.cached == ["org.x_a-1.0.jar", "org.x_b-1.0.jar"]


def test_an_ivy_that_dies_late_does_no_harm(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_DIES", "1")
    assert len(jars.ensure("spark")) == 2


def test_two_processes_at_once(machine: Machine) -> None:
    code = (
        "import sys; from pathlib import Path; from sqlstream.core import jars\n"
        f"jars.LOCK = Path({str(jars.LOCK)!r}); jars._settings = lambda: None\n"
        f"jars.ivy_command = lambda: {jars.ivy_command()!r}\n"
        "print(len(jars.ensure('spark')))"
    )
    both = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in both] == ["2", "2"]
    assert machine.runs == 1 and not machine.left_over


def test_settings_that_are_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(jars.SETTINGS, str(tmp_path / "nope.xml"))
    with pytest.raises(SetupError, match=jars.SETTINGS):
        jars._settings()


def test_the_real_ivy_with_the_users_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a folder is named in the settings: what comes, comes from there; also two versions of one, for two sets."""
    fake = Machine(tmp_path, monkeypatch)
    monkeypatch.undo()
    repository = tmp_path / "repository"
    released = {("a", "1.0"): b"jar a" * 1000, ("b", "1.0"): b"jar b" * 1000, ("b", "2.0"): b"newer" * 1000}
    for (name, version), content in released.items():
        folder = repository / "org" / "x" / name / version
        folder.mkdir(parents=True)
        (folder / f"{name}-{version}.jar").write_bytes(content)
        (folder / f"{name}-{version}.pom").write_text(
            f"<project><modelVersion>4.0.0</modelVersion><groupId>org.x</groupId><artifactId>{name}</artifactId>"
            f"<version>{version}</version><dependencies><dependency><groupId>org.x</groupId><artifactId>missing</artifactId>"
            "<version>9</version></dependency></dependencies></project>"
        )
    settings = tmp_path / "settings.xml"
    settings.write_text(
        f'<ivysettings><caches defaultCacheDir="{tmp_path}/ivy"/><settings defaultResolver="r"/><resolvers>'
        f'<ibiblio name="r" m2compatible="true" root="{repository.as_uri()}/"/></resolvers></ivysettings>'
    )
    lock = tmp_path / "jars.lock"
    newer = released["b", "2.0"]
    lock.write_text(f"{lock.read_text()}[broker]\norg.x:b:2.0 {hashlib.sha256(newer).hexdigest()} {len(newer)}\n")
    monkeypatch.setattr(jars, "LOCK", lock)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "odd (cache) [x]"))
    monkeypatch.setenv(jars.SETTINGS, str(settings))
    runs: list[int] = []
    ivy = jars._ivy
    monkeypatch.setattr(jars, "_ivy", lambda *arguments: (runs.append(1), ivy(*arguments))[1])
    assert [path.read_bytes() for path in jars.ensure_all(["spark", "broker"])] == list(released.values())
    assert fake.runs == 0 and len(runs) == 1
