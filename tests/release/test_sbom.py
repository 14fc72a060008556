"""The bill of materials: what is installed, whole and by its form, from the metadata of this environment alone."""

from __future__ import annotations

import hashlib
import json
import re
import socket
from importlib import metadata

import pytest

from engine.release import sbom
from engine.release.assessment import document
from tests.cli.in_process import run
from tests.release.test_assessment import facts, read

SHA = re.compile(r"[0-9a-f]{64}")


@pytest.fixture(scope="module")
def bill():
    return sbom.bill()


def test_it_names_every_distribution_once_in_its_own_version(bill):
    libraries = {one["name"]: one["version"] for one in bill["components"] if one["type"] == "library"}
    assert len(libraries) == len([one for one in bill["components"] if one["type"] == "library"]) > 50
    there = {re.sub(r"[-_.]+", "-", one.metadata["Name"]).lower() for one in metadata.distributions()}
    assert set(libraries) == there - {"understudy"}
    for name in ("numpy", "torch", "streamlit", "opendp", "sqlalchemy"):
        assert libraries[name] == metadata.version(name)


def test_it_has_the_form_of_cyclonedx(bill):
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
                        bill["serialNumber"])  # fmt: skip
    root = bill["metadata"]["component"]
    assert (root["type"], root["name"], root["version"]) == ("application", "understudy", sbom.own_version())
    refs = [root["bom-ref"], *(one["bom-ref"] for one in bill["components"])]
    assert len(refs) == len(set(refs))
    for line in bill["dependencies"]:
        assert {line["ref"], *line["dependsOn"]} <= set(refs)
        assert len(line["dependsOn"]) == len(set(line["dependsOn"]))
    for one in bill["components"]:
        for said in one.get("licenses", []):
            assert set(said) in ({"expression"}, {"license"})
            text = said.get("expression") or said["license"]["name"]
            assert text.strip() == text != ""
            assert "\n" not in text
        if one["type"] == "library":
            assert re.fullmatch(r"pkg:pypi/[a-z0-9-]+@[A-Za-z0-9.+!_-]+", one["purl"])


def test_what_needs_what_follows_from_the_metadata(bill):
    needs = {
        line["ref"].split("/")[1].split("@")[0]: line["dependsOn"]
        for line in bill["dependencies"]
        if "/" in line["ref"]
    }
    assert any(one.startswith("pkg:pypi/numpy@") for one in needs["pandas"])
    assert any(one.startswith("pkg:pypi/torch@") for one in needs["understudy"])
    assert not any(one.startswith("pkg:pypi/pytest@") for one in needs["understudy"]), "of an extra"


def test_the_shipped_models_stand_with_their_weights(bill):
    models = {
        one["name"]: one["hashes"][0]["content"]
        for one in bill["components"]
        if one["type"] == "machine-learning-model"
    }
    assert {"lm", "tagger", "sentiment"} <= set(models)
    for name, found in models.items():
        assert hashlib.sha256((sbom.MODELS / name / sbom.WEIGHTS).read_bytes()).hexdigest() == found


class Given:
    """The metadata of one distribution."""

    def __init__(self, **fields):
        self.fields = fields

    def get_all(self, name):
        return self.fields.get(name.replace("-", "_"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"License_Expression": ["MIT OR\n  Apache-2.0"]}, ("MIT OR Apache-2.0", True)),
        ({"License": ["BSD"], "Classifier": ["License :: OSI Approved :: BSD License"]}, ("BSD", False)),
        ({"License": ["x" * 5000], "Classifier": ["License :: OSI Approved :: MIT License"]}, ("MIT License", False)),
        ({"License": ["UNKNOWN"], "Classifier": ["License :: OSI Approved"]}, ("", False)),
        ({}, ("", False)),
    ],
)
def test_licences_as_authors_give_them(given, expected):
    assert sbom._licence(Given(**given)) == expected


def test_needs_are_read_whatever_stands_behind_a_name():
    lines = ["Foo_Bar>=1 ; python_version < '4'", "a.b[c]==2", "z; extra == 'test'", "y;extra=='x'", "  q (>=1)", ""]
    assert sbom._needs(lines) == ("a-b", "foo-bar", "q")


def test_the_verb_writes_it_without_a_workspace_or_a_connection(tmp_path, monkeypatch):
    def refuse(*_args, **_options):
        raise AssertionError("nothing is looked up elsewhere")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    out = tmp_path / "sbom.json"
    said = run(tmp_path / "w", "sbom", "--out", out)
    body = json.loads(out.read_text("utf-8"))
    properties = {one["name"]: one["value"] for one in body["metadata"]["properties"]}
    assert properties["understudy:packages-sha256"] == said["sha256_of_the_list"]
    assert SHA.fullmatch(said["sha256_of_the_list"])
    assert not (tmp_path / "w").exists()
    assert "exists already" in run(tmp_path / "w", "sbom", "--out", out, expect=1)


def test_the_assessment_names_the_same_list():
    known = sbom.packages()
    for edition in ("internal", "external"):
        _, words = read(document(facts(software=sbom.sentence()), edition))
        assert (sbom.digest(known) in words) == (edition == "internal")
        assert sbom.own_version() in words or edition == "external"


def test_another_version_is_another_list():
    known = sbom.packages()
    from dataclasses import replace

    assert sbom.digest([replace(known[0], version="0"), *known[1:]]) != sbom.digest(known)
    assert sbom.digest(reversed(known)) == sbom.digest(known)
