"""What KubeRay's API (ray.io/v1) and Kubernetes' pods take, as JSON Schema: the part that a manifest of ours may use.

Written down from the types of the operator (RayJobSpec, RayClusterSpec, HeadGroupSpec, WorkerGroupSpec): their fields, which
of them are needed, and their types. Nothing else is allowed, so that a field that is misspelt is found.
"""

from __future__ import annotations

from typing import Any


def closed(needed: str = "", **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": needed.split(), "additionalProperties": False}


def listed(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


TEXT, WHOLE, YES_NO = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}
NAME = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}
TEXTS = {"type": "object", "additionalProperties": TEXT}  # ray start takes texts alone, numbers too
QUANTITY = {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$"}
QUANTITIES = {"type": "object", "additionalProperties": QUANTITY}
RESOURCES = closed(requests=QUANTITIES, limits=QUANTITIES)
FROM = closed(secretRef=closed("name", name=NAME), configMapRef=closed("name", name=NAME), prefix=TEXT)
VARIABLE = closed("name", name=TEXT, value=TEXT)
MOUNT = closed("name mountPath", name=NAME, mountPath=TEXT, readOnly=YES_NO)
CONTAINER = closed(
    "name image",
    name=NAME,
    image=TEXT,
    imagePullPolicy={"enum": ["Always", "IfNotPresent", "Never"]},
    resources=RESOURCES,
    env=listed(VARIABLE),
    envFrom=listed(FROM),
    volumeMounts=listed(MOUNT),
)
VOLUME = {"type": "object", "properties": {"name": NAME}, "required": ["name"]}
POD = closed(
    "containers",
    containers={**listed(CONTAINER), "minItems": 1},
    volumes=listed(VOLUME),
    nodeSelector=TEXTS,
    serviceAccountName=NAME,
)
TEMPLATE = closed("spec", metadata=closed(labels=TEXTS, annotations=TEXTS), spec=POD)
HEAD = closed(
    "rayStartParams template",
    rayStartParams=TEXTS,
    template=TEMPLATE,
    serviceType={"enum": ["ClusterIP", "NodePort", "LoadBalancer"]},
    enableIngress=YES_NO,
)
WORKERS = closed(
    "groupName minReplicas maxReplicas rayStartParams template",
    groupName=NAME,
    replicas=WHOLE,
    minReplicas=WHOLE,
    maxReplicas=WHOLE,
    numOfHosts=WHOLE,
    rayStartParams=TEXTS,
    template=TEMPLATE,
)
CLUSTER = closed(
    "headGroupSpec",
    rayVersion=TEXT,
    headGroupSpec=HEAD,
    workerGroupSpecs=listed(WORKERS),
    enableInTreeAutoscaling=YES_NO,
    suspend=YES_NO,
)
JOB = closed(
    "entrypoint rayClusterSpec",
    entrypoint=TEXT,
    rayClusterSpec=CLUSTER,
    shutdownAfterJobFinishes=YES_NO,
    ttlSecondsAfterFinished=WHOLE,
    activeDeadlineSeconds=WHOLE,
    backoffLimit=WHOLE,
    runtimeEnvYAML=TEXT,
    jobId=TEXT,
    entrypointNumCpus={"type": "number"},
    entrypointNumGpus={"type": "number"},
    entrypointResources=TEXT,
    submissionMode={"enum": ["K8sJobMode", "HTTPMode", "InteractiveMode"]},
    suspend=YES_NO,
    metadata=TEXTS,
)
RAY_JOB = closed(
    "apiVersion kind metadata spec",
    apiVersion={"const": "ray.io/v1"},
    kind={"const": "RayJob"},
    metadata=closed("name", name=NAME, namespace=NAME, labels=TEXTS, annotations=TEXTS),
    spec=JOB,
)
