"""The container file, read as a builder reads it; no container is built or run here.

What it says of the program itself (that it needs nothing to write to but the workspace and the temporary folder, and
takes these options) is run: `tests/door/test_read_only.py`.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / ".ci" / "Containerfile"
KNOWN = {"ARG", "FROM", "RUN", "ENV", "WORKDIR", "COPY", "VOLUME", "USER", "STOPSIGNAL", "CMD"}


@dataclass(frozen=True)
class Line:
    """An instruction and what stands behind it, with the number of its stage."""

    word: str
    rest: str
    stage: int


def lines(text: str) -> list[Line]:
    """Return the instructions of a container file: comments left out, continued lines joined."""
    found: list[Line] = []
    joined = ""
    for raw in text.splitlines():
        if raw.lstrip().startswith("#"):
            continue
        joined += raw.rstrip()
        if joined.endswith("\\"):
            joined = joined[:-1] + " "
            continue
        if joined.strip():
            word, _, rest = joined.strip().partition(" ")
            stage = sum(one.word == "FROM" for one in found) + (word.upper() == "FROM")
            found.append(Line(word.upper(), rest.strip(), stage))
        joined = ""
    assert not joined, "the last line is continued and nothing follows"
    return found


@pytest.fixture(scope="module")
def read() -> list[Line]:
    return lines(FILE.read_text("utf-8"))


@pytest.fixture(scope="module")
def command() -> list[str]:
    """Return the words of the command that the file's head says to run it with."""
    head = "\n".join(one[1:].strip() for one in FILE.read_text("utf-8").splitlines() if one.startswith("#"))
    found = re.search(r"podman run ((?:.*\\\n)*.*)", head)
    assert found
    return shlex.split(found[1].replace("\\\n", " "))


def last_stage(read: list[Line]) -> list[Line]:
    return [one for one in read if one.stage == max(line.stage for line in read)]


def test_the_reader_itself():
    text = "# x\nFROM a\nRUN one \\\n# inside\n  && two\n\nUSER 5\n"
    assert lines(text) == [Line("FROM", "a", 1), Line("RUN", "one    && two", 1), Line("USER", "5", 1)]
    with pytest.raises(AssertionError):
        lines("RUN x \\")


def test_it_holds_known_instructions_alone_and_opens_no_port(read):
    assert {one.word for one in read} <= KNOWN
    assert not any(one.word in ("EXPOSE", "ADD", "ONBUILD", "HEALTHCHECK") for one in read)


def test_it_runs_as_an_account_without_rights(read):
    users = [one.rest for one in last_stage(read) if one.word == "USER"]
    assert len(users) == 1
    uid, gid = (int(part) for part in users[0].split(":"))
    assert uid >= 1000 and gid >= 1000  # noqa: PT018
    assert f"--uid {uid} " in next(one.rest for one in last_stage(read) if "useradd" in one.rest)
    after = last_stage(read)[[one.word for one in last_stage(read)].index("USER") + 1 :]
    assert {one.word for one in after} <= {"STOPSIGNAL", "CMD"}, "nothing is done with rights after they were given up"
    copied = [one.rest for one in last_stage(read) if one.word == "COPY"]
    assert all("--chown=root:root" in one for one in copied), "the program cannot change its own code"
    assert not any(word in one.rest for one in read for word in ("sudo", "chmod 777", "setcap", "curl", "wget"))


def test_it_listens_on_loopback_and_asks_for_the_token(read):
    words = json.loads(next(one.rest for one in last_stage(read) if one.word == "CMD"))
    assert words[:3] == ["streamlit", "run", "app.py"]
    assert words[words.index("--server.address") + 1] == "127.0.0.1"
    own = words[words.index("--") + 1 :]
    from pages._ui.door import start

    assert start.options(own).require_token
    assert not any(one.word in ("ENTRYPOINT",) for one in read)


def test_it_is_run_with_a_read_only_root_and_nothing_that_leaves(command):
    assert "--read-only" in command
    assert "--cap-drop=ALL" in command
    assert "--security-opt=no-new-privileges" in command
    assert not any(one in ("-p", "--publish", "-P", "--publish-all", "--privileged") for one in command)
    assert not any(one.startswith(("-p=", "--publish=", "--cap-add", "--device", "--pid", "--ipc")) for one in command)
    mounts = [command[at + 1] for at, one in enumerate(command) if one in ("--tmpfs", "--volume")]
    assert [one.split(":")[0 if one.startswith("/") else 1] for one in mounts] == ["/tmp", "/workspace"]
    assert "noexec" in mounts[0]


def test_what_it_may_write_to_is_named_and_is_the_accounts_own(read):
    environment = " ".join(one.rest for one in last_stage(read) if one.word == "ENV")
    said = dict(word.split("=", 1) for word in shlex.split(environment))
    assert said["UNDERSTUDY_WORKSPACE"] == "/workspace"
    assert said["HOME"] == "/tmp"
    assert said["PYTHONDONTWRITEBYTECODE"] == "1"
    assert said["NUMBA_CACHE_DIR"].startswith("/tmp/")
    made = next(one.rest for one in last_stage(read) if "install --directory" in one.rest)
    assert "--owner=understudy" in made
    assert "--mode=0700 /workspace" in made
    assert [json.loads(one.rest) for one in read if one.word == "VOLUME"] == [["/workspace"]]


def test_it_takes_in_all_that_the_program_needs_and_nothing_else(read):
    taken = [word for one in read if one.word == "COPY" and "--from" not in one.rest
             for word in shlex.split(one.rest)[:-1]]  # fmt: skip
    assert all((ROOT / one).exists() for one in taken)
    assert set(taken) == {"pyproject.toml", "README.md", "LICENSE", "app.py", ".streamlit", "assets", "engine", "pages"}
    text = FILE.read_text("utf-8")
    assert not re.search(r"(?i)password|secret|token\s*=|api[_-]?key", text)
