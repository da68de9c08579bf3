"""A real YARN for tests: a resource manager and a node manager in a JVM of their own, on a machine that has what is said."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.hadoop import HadoopJvm
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTINGS = {
    # Else it asks for a file of queues.
    "yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler",
    "yarn.scheduler.minimum-allocation-mb": "256",
    "yarn.nodemanager.resource.memory-mb": "4096",
    "yarn.nodemanager.resource.cpu-vcores": "8",
    "yarn.nodemanager.vmem-check-enabled": "false",
    "yarn.nodemanager.pmem-check-enabled": "false",
    # A machine whose disks are fuller than it likes is taken all the same.
    "yarn.nodemanager.disk-health-checker.enable": "false",
    # What containers have written stays to be read.
    "yarn.nodemanager.delete.debug-delay-sec": "3600",
}


class Application(NamedTuple):
    """What YARN says of one: ``state`` as it ended, ``attempts`` to run its driver."""

    name: str
    state: str
    attempts: int


class Yarn:
    """A cluster without applications. ``settings`` is the folder that HADOOP_CONF_DIR is to name."""

    def __init__(self) -> None:
        self._jvm = HadoopJvm("yarn")
        self._cluster: Any = None
        self.settings: Path = self._jvm.folder / "conf"

    def start(self, machine: Mapping[str, str]) -> None:
        """``machine``: the environment of its node manager, and so of what runs in containers."""
        data = self._jvm.folder / "data"
        opened = (f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in ("lang", "util", "net", "io", "nio"))
        self._jvm.start(f"-Dtest.build.data={data}", *opened, environment=machine)
        java = self._jvm.java
        conf = java.org.apache.hadoop.yarn.conf.YarnConfiguration()
        for key, value in SETTINGS.items():
            conf.set(key, value)
        self._cluster = java.org.apache.hadoop.yarn.server.MiniYARNCluster("machines", 1, 1, 1)
        self._cluster.init(conf)
        self._cluster.start()
        assert self._cluster.waitForNodeManagersToConnect(60_000), "the node manager has registered"
        self.settings.mkdir()
        out = java.java.io.FileOutputStream(str(self.settings / "yarn-site.xml"))
        self._cluster.getConfig().writeXml(out)
        out.close()

    def applications(self) -> list[Application]:
        """In the order in which they came."""
        known = self._cluster.getResourceManager().getRMContext().getRMApps()
        apps = sorted((known[key] for key in list(known)), key=lambda app: app.getApplicationId().getId())
        return [Application(a.getName(), a.getFinalApplicationStatus().toString(), a.getAppAttempts().size()) for a in apps]

    def ended(self, seconds: float = 60) -> Application:
        """The last application, when it has ended."""
        until(lambda: self.applications()[-1].state != "UNDEFINED", seconds, every=0.2, said=self.applications)
        return self.applications()[-1]

    def kill_drivers(self) -> int:
        """Kill the JVMs of drivers that run here by SIGKILL; how many."""
        killed = 0
        for process in Path("/proc").glob("[0-9]*"):
            try:
                program, *arguments = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue  # it has ended
            if (
                program.endswith("java")
                and "org.apache.spark.deploy.yarn.ApplicationMaster" in arguments
                and any(str(self._jvm.folder) in a for a in arguments)
            ):
                os.kill(int(process.name), signal.SIGKILL)
                killed += 1
        return killed

    def kill(self) -> None:
        """End the last application, as ``yarn application -kill`` does."""
        client = self._jvm.java.org.apache.hadoop.yarn.client.api.YarnClient.createYarnClient()
        client.init(self._cluster.getConfig())
        client.start()
        known = client.getApplications()
        client.killApplication(max((report.getApplicationId() for report in known), key=lambda i: i.getId()))
        client.stop()

    def logs(self) -> str:
        """What has been said in containers."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self._jvm.folder.rglob("container_*/std*")))

    def stop(self) -> None:
        self._jvm.stop()
