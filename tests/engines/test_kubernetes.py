"""The manifest for Kubernetes: as KubeRay takes it, a command that headscope takes, and the cores that workers ask for."""

from __future__ import annotations

import copy
import shlex
from typing import Any

import jsonschema
import pytest
import yaml

from headscope.cli.commands import command_named
from headscope.engines.cluster import THREADS
from tests import places
from tests.engines.rayjob_schema import RAY_JOB


@pytest.fixture
def job() -> dict[str, Any]:
    return yaml.safe_load((places.DOCS / "how-to" / "rayjob.yaml").read_text(encoding="utf-8"))


def check(job: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(RAY_JOB).validate(job)


def test_the_manifest_fits_the_schema(job: dict[str, Any]) -> None:
    check(job)


@pytest.mark.parametrize(
    "planted",
    [
        lambda spec: spec.update(shutdownAfterJobFinish=True),
        lambda spec: spec["rayClusterSpec"]["headGroupSpec"]["rayStartParams"].update({"num-cpus": 0}),
        lambda spec: spec["rayClusterSpec"]["workerGroupSpecs"][0].pop("groupName"),
        lambda spec: spec["rayClusterSpec"]["workerGroupSpecs"][0].update(replicas="16"),
        lambda spec: spec["rayClusterSpec"].pop("headGroupSpec"),
    ],
)
def test_planted_mistakes_are_found(planted, job: dict[str, Any]) -> None:
    wrong = copy.deepcopy(job)
    planted(wrong["spec"])
    with pytest.raises(jsonschema.ValidationError):
        check(wrong)


def test_its_command_is_one_of_ours(job: dict[str, Any]) -> None:
    """And its workers have the cores that as many of Ray's as it asks for get."""
    program, name, *arguments = shlex.split(job["spec"]["entrypoint"])
    assert (program, name) == ("headscope", "study")
    given = [argument.replace("s3://", "file:///") for argument in arguments]
    options = command_named(name).make_context(name, given).params
    (group,) = job["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    (container,) = group["template"]["spec"]["containers"]
    assert options["workers"] == group["replicas"]
    assert (options["engine"], options["address"]) == ("ray", "auto")
    assert int(container["resources"]["limits"]["cpu"]) == THREADS
