"""This machine, as far as a language model is concerned: memory, cores, graphics cards. Nothing heavy is loaded.

A graphics card counts where its driver's own tool lists it; whether torch can use it shows in a model's self-test.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import psutil

from engine.models.folder.precision import missing

_FREE = {"cpu": 0.75, "mps": 0.7, "cuda": 0.9}  # of memory that a model may take; the rest is the system's
_ASK_SECONDS = 10


@dataclass(frozen=True)
class Machine:
    """What there is. memory_bytes: for models, main memory or the graphics cards' together. half: fast in 16 bit.

    device: `cpu`, `cuda` or `mps`. eight_bit, four_bit: whether a library is installed that keeps weights so.
    """

    device: str
    memory_bytes: int
    cores: int
    cards: tuple[str, ...]
    half: bool
    eight_bit: bool
    four_bit: bool

    @property
    def usable_bytes(self) -> int:
        """Return the memory that a model may take."""
        return int(self.memory_bytes * _FREE[self.device])

    def sentence(self) -> str:
        """Return the machine in words."""
        size = f"{self.memory_bytes / 1e9:.0f} GB"
        if self.device == "cuda":
            return f"{len(self.cards)} graphics card(s) ({', '.join(self.cards)}) with {size} of memory"
        shared = " shared with a graphics unit" if self.device == "mps" else " and no graphics card"
        return f"{self.cores} processor core{'' if self.cores == 1 else 's'}, {size} of memory{shared}"


@lru_cache(maxsize=1)
def this_machine() -> Machine:
    """Return what this machine has."""
    cards = _cards()
    memory = sum(size for _, size in cards) if cards else _main_memory()
    apple = platform.system() == "Darwin" and platform.machine() == "arm64"
    device = "cuda" if cards else "mps" if apple else "cpu"
    return Machine(
        device=device, memory_bytes=memory, cores=len(os.sched_getaffinity(0)) if _linux() else os.cpu_count() or 1,
        cards=tuple(name for name, _ in cards), half=device != "cpu" or _fast_half(),
        eight_bit=not missing("8 bit"), four_bit=not missing("4 bit"),
    )  # fmt: skip


def _linux() -> bool:
    return hasattr(os, "sched_getaffinity")


def _main_memory() -> int:
    """Return the bytes of main memory, or of the share that this process may use."""
    found = int(psutil.virtual_memory().total)
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            found = min(found, int(Path(path).read_text("ascii")))
        except (OSError, ValueError):
            continue
    return found


def _fast_half() -> bool:
    try:
        return "avx512_bf16" in Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return False


def _cards() -> list[tuple[str, int]]:
    """Return name and bytes of each graphics card that the driver's tool lists."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    asked = [tool, "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=_ASK_SECONDS, check=True).stdout
        rows = [line.rsplit(",", 1) for line in told.splitlines() if line.strip()]
        return [(name.strip(), int(size) << 20) for name, size in rows]
    except (OSError, ValueError, subprocess.SubprocessError):
        return []
