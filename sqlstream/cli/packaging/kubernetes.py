"""What runs a package on Kubernetes: an image, and for each script a Job, whose pod is the driver and starts those of executors."""

from __future__ import annotations

import json
import re
from hashlib import sha1
from typing import TYPE_CHECKING, Any

from sqlstream.core import storage
from sqlstream.core.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PLACE = "/opt/sqlstream"
# What stands in the manifests for what no package knows.
_WHERE_JOBS_ARE = "JOBS"
_MOST_OF_A_NAME = 50


def dockerfile(name: str, spark: str, *, with_environment: bool) -> str:
    """The text of the Dockerfile of the package ``name``'s image, which is Spark's own of the release ``spark`` with the package in it."""
    image = f"REGISTRY/{_name(name)}"
    lines = [
        f"# docker build -t {image} . && docker push {image}",
        f"ARG SPARK=apache/spark:{spark}-python3",
        "FROM ${SPARK}",
        "USER root",
        *([f"ADD environment.tar.gz {_PLACE}/environment/"] if with_environment else []),
        f"ADD project.tar.gz {_PLACE}/project/",
        f"COPY jars/ {_PLACE}/jars/",
        f"COPY main.py spark.conf {_PLACE}/",
        "USER spark",
    ]
    return "".join(f"{line}\n" for line in lines)


def manifests(name: str, scripts: Sequence[str], jars: Sequence[str], options: Mapping[str, str], *, with_environment: bool) -> str:
    """The text of the manifests, a YAML document each, of the package ``name`` of a project with ``options``."""
    account = _name(name)
    jobs = [_job(account, _name(name, script) if len(scripts) > 1 else account, script, jars, options, with_environment) for script in scripts]
    note = f"# For kubectl apply, with REGISTRY and {_WHERE_JOBS_ARE} replaced; the image is that of the Dockerfile. JSON is YAML.\n"
    return note + "".join(f"---\n{json.dumps(one, indent=2, ensure_ascii=False)}\n" for one in [*_rights(account), *jobs])


def _rights(account: str) -> list[dict[str, Any]]:
    """An account that may start the pods of executors."""
    resources = {"apiGroups": [""], "resources": ["pods", "services", "configmaps", "persistentvolumeclaims"]}
    verbs = ["create", "get", "list", "watch", "update", "patch", "delete", "deletecollection"]
    rbac = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}},
        {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": {"name": account}, "rules": [{**resources, "verbs": verbs}]},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": account},
            "subjects": [{"kind": "ServiceAccount", "name": account}],
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": account},
        },
    ]


def _job(account: str, name: str, script: str, jars: Sequence[str], options: Mapping[str, str], with_environment: bool) -> dict[str, Any]:
    image = f"REGISTRY/{account}"
    settings = {
        "spark.kubernetes.container.image": image,
        "spark.kubernetes.namespace": "$(NAMESPACE)",
        "spark.kubernetes.authenticate.driver.serviceAccountName": account,
        # The pods of executors end with that of the driver, which they reach at its address.
        "spark.kubernetes.driver.pod.name": "$(POD)",
        "spark.driver.host": "$(ADDRESS)",
        "spark.executor.instances": "2",
        # Beside the JVM's heap an executor has state in RocksDB, and workers of Python.
        "spark.executor.memoryOverheadFactor": "0.4",
        "spark.jars": ",".join(f"local://{_PLACE}/jars/{jar}" for jar in jars),
    }
    if with_environment:
        settings["spark.pyspark.python"] = f"{_PLACE}/environment/bin/python"
    command = ["/opt/spark/bin/spark-submit", "--master", "k8s://https://kubernetes.default.svc", "--deploy-mode", "client", "--name", name]
    command += ["--extra-properties-file", f"{_PLACE}/spark.conf", *(part for k, v in settings.items() for part in ("--conf", f"{k}={v}"))]
    arguments = [] if any(options.get(key) for key in storage.DIRECTORIES) else ["-D", f"{storage.DIRECTORIES[0]}={_WHERE_JOBS_ARE}"]
    memory = f"{_driver_memory(options)}Mi"
    fields = {"POD": "metadata.name", "NAMESPACE": "metadata.namespace", "ADDRESS": "status.podIP"}
    container = {
        "name": "driver",
        "image": image,
        "command": [*command, f"{_PLACE}/main.py", script, *arguments],
        "env": [{"name": n, "valueFrom": {"fieldRef": {"fieldPath": path}}} for n, path in fields.items()],
        "resources": {"requests": {"cpu": "1", "memory": memory}, "limits": {"memory": memory}},
    }
    pod = {"serviceAccountName": account, "restartPolicy": "OnFailure", "terminationGracePeriodSeconds": 90, "containers": [container]}
    # Restarts are counted over all of the time that the job runs.
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"backoffLimit": 1000, "template": {"metadata": {"labels": {"app": account}}, "spec": pod}},
    }


def _driver_memory(options: Mapping[str, str]) -> int:
    """MiB that the driver's container needs: its heap, what its JVM has beside it, and sqlstream's own Python."""
    written = options.get("spark.driver.memory", "1g")
    match = re.fullmatch(r"(\d+)([kmgt]?)b?", written.strip().lower())
    if "${" in written:
        return _driver_memory({})
    if match is None:
        raise ValidationError(f"'{written}' is no size of 'spark.driver.memory'.", hint="Write it as 2g or 512m.")
    heap = int(match[1]) * {"k": 1 / 1024, "": 1, "m": 1, "g": 1024, "t": 1024**2}[match[2]]
    return round(heap * 1.4) + 1024


def _name(package: str, script: str | None = None) -> str:
    """A name as Kubernetes has them; with a digest where that loses something."""
    whole = package if script is None else f"{package}-{script.removesuffix('.sql')}"
    made = re.sub(r"[^a-z0-9]+", "-", whole.lower()).strip("-")[:_MOST_OF_A_NAME].strip("-")
    if made == whole and made[0].isalpha():
        return made
    begin = made if made[:1].isalpha() else f"p{made}"
    return f"{begin}-{sha1(whole.encode()).hexdigest()[:6]}"
