"""What stands around the code says the same as the code: citation, templates, workflow."""

from __future__ import annotations

import tomllib

import pytest
import yaml

import headscope
from tests import places

ROOT = places.ROOT
GITHUB = ROOT / ".github"


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["license"]) == (headscope.__version__, "Apache-2.0")
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()


def test_the_workflow_is_what_ci_runs_on_every_python_that_is_promised() -> None:
    job = yaml.safe_load((GITHUB / "workflows" / "test.yml").read_text(encoding="utf-8"))["jobs"]["test"]
    assert job["steps"][-1]["run"].endswith(".ci/run")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = [
        one.rsplit(" ", 1)[1] for one in project["classifiers"] if one.startswith("Programming Language :: Python :: 3.")
    ]
    assert job["strategy"]["matrix"]["python"] == promised


@pytest.mark.parametrize("name", ["wrong-number", "fault", "model"])
def test_a_template_asks_for_what_the_command_tells(name: str) -> None:
    form = yaml.safe_load((GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml").read_text(encoding="utf-8"))
    asked = {part["id"]: part for part in form["body"]}
    assert "headscope --version --json" in asked["versions"]["attributes"]["label"]
    assert asked["versions"]["validations"]["required"]


def test_what_security_names_is_there() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = [part for part in page.split("`") if part.startswith("tests/")]
    assert named
    assert all((ROOT / one).exists() for one in named)
