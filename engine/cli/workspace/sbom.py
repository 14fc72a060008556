"""The verb `sbom`: write what the program is made of and what is installed beside it, for whoever audits software."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from engine.cli.arguments import Argument
from engine.cli.terminal import write_new

ARGUMENTS: list[Argument] = [
    (("--out",), {"required": True, "type": Path, "metavar": "FILE", "help": "file to write, CycloneDX 1.6 as JSON"}),
    (("--pins",), {"type": Path, "metavar": "FILE", "help": "the same packages as a requirements file, for pip-audit"}),
]


def sbom(options: Namespace) -> Mapping[str, object]:
    """Write the bill of materials; no workspace is opened and nothing is looked up elsewhere."""
    from engine.release.sbom import digest, own_version, packages, pins, written

    write_new(options.out, written())
    if options.pins is not None:
        write_new(options.pins, pins())
    known = packages()
    unknown = [one.name for one in known if not one.licence]
    return {
        "path": str(options.out), "version": own_version(), "packages": len(known), "sha256_of_the_list": digest(known),
        "without_a_licence_in_their_metadata": unknown,
    }  # fmt: skip
