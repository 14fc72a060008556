"""Who opened a connection: the owner of the connecting socket, as the operating system tells it.

How to use: `identify(scope["client"], scope["server"])` while the connection is open.

A visitor counts as this program's own account only where all of this holds: both ends are loopback addresses; the
table of open sockets has the visitor's end of this very connection, established and held (a closed socket shows
owner 0); its owner is the account this program runs as; a process of that account which this program can see holds
it; and that process is none of those that pass other people's connections on. A container's gateway, another network
or process namespace, a forwarded port and whatever cannot be told come out as not our own.
"""

from __future__ import annotations

import ipaddress
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

PROC = Path("/proc")
ESTABLISHED = "01"
# Programs that pass on connections of people who are somewhere else.
FORWARDERS = frozenset(
    "sshd sshd-session sshd-auth dropbear docker-proxy rootlessport rootlesskit slirp4netns pasta pasta.avx2 passt "
    "passt.avx2 containerd-shim containerd kubelet socat ncat gvproxy wslrelay wslrelay.exe".split()
)

End = tuple[str, int]  # address, port
Socket = tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]  # an end with its address read


@dataclass(frozen=True)
class Peer:
    """Who is at the other end: whether it is our own account, and the account's number where it is known."""

    host: str
    own: bool = False
    uid: int | None = None


def plain_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address, an IPv4 one inside IPv6 as IPv4; raises ValueError."""
    address = ipaddress.ip_address(text.partition("%")[0])
    return (address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None) or address


def identify(client: End | None, server: End | None, proc: Path = PROC) -> Peer:
    """Return who holds the client's end of a TCP connection to this machine; never raises."""
    host = str(client[0]) if client else ""
    try:
        if not client or not server or not client[1]:
            return Peer(host)
        ends = (plain_address(client[0]), int(client[1])), (plain_address(server[0]), int(server[1]))
        if not (ends[0][0].is_loopback and ends[1][0].is_loopback):
            return Peer(host)
        if (proc / "net" / "tcp").exists():
            return _by_tables(host, *ends, proc)
        return _by_processes(host, *ends)
    except (OSError, ValueError, psutil.Error):
        return Peer(host)


def _by_tables(host: str, client: Socket, server: Socket, proc: Path) -> Peer:
    found = socket_owner(client, server, proc)
    if found is None:
        return Peer(host)
    uid, inode = found
    own = uid == os.geteuid() and uid != _unmapped(proc) and _held_by_own_process(inode, proc)
    return Peer(host, own, uid)


def socket_owner(client: Socket, server: Socket, proc: Path = PROC) -> tuple[int, str] | None:
    """Return (account number, inode) of the client's established socket, or None where there is none."""
    port = f":{client[1]:04X} "
    for name in ("tcp", "tcp6"):
        try:
            lines = (proc / "net" / name).read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            if port not in line:
                continue
            fields = line.split()
            if (
                fields[3] == ESTABLISHED
                and fields[9] != "0"
                and _end(fields[1]) == client
                and _end(fields[2]) == server
            ):
                return int(fields[7]), fields[9]
    return None


def _end(text: str) -> Socket:
    """Return address and port of a table's `0100007F:1F90`: words of four bytes in the machine's own order."""
    digits, _, port = text.partition(":")
    words = (int(digits[i : i + 8], 16).to_bytes(4, sys.byteorder) for i in range(0, len(digits), 8))
    packed = b"".join(words)
    address = ipaddress.IPv4Address(packed) if len(packed) == 4 else ipaddress.IPv6Address(packed)
    return plain_address(str(address)), int(port, 16)


def _unmapped(proc: Path) -> int:
    """Return the number that stands for every account a namespace does not know."""
    try:
        return int((proc / "sys" / "kernel" / "overflowuid").read_text("ascii"))
    except (OSError, ValueError):
        return 65534


def _held_by_own_process(inode: str, proc: Path) -> bool:
    """Return whether processes of this account that can be seen hold the socket, and none passes others' on."""
    wanted, uid, names = f"socket:[{inode}]", os.geteuid(), []
    for folder in proc.iterdir():
        try:
            if folder.name.isdecimal() and folder.stat().st_uid == uid and _holds(folder / "fd", wanted):
                names.append((folder / "comm").read_text("utf-8", "replace").strip())
        except OSError:  # it ended, or it shows its files to nobody
            continue
    return bool(names) and not FORWARDERS & set(names)


def _holds(folder: Path, wanted: str) -> bool:
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                if os.readlink(entry.path) == wanted:
                    return True
            except OSError:
                continue
    return False


def _by_processes(host: str, client: Socket, server: Socket) -> Peer:
    """Look through the connections of this account's processes: where there is no table of sockets."""
    account = psutil.Process().username()
    for process in psutil.process_iter(["username", "name"]):
        if process.info["username"] != account:
            continue
        try:
            connections = process.net_connections("tcp")
        except psutil.Error:
            continue
        for connection in connections:
            if connection.status != psutil.CONN_ESTABLISHED or not connection.laddr or not connection.raddr:
                continue
            ends = tuple((plain_address(end.ip), end.port) for end in (connection.laddr, connection.raddr))
            if ends == (client, server):
                return Peer(host, str(process.info["name"]) not in FORWARDERS)
    return Peer(host)
