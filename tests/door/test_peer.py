"""The owner of a connection, with real sockets: ours, another account's, a closed one's, a forwarder's."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from pages._ui.door import peer
from tests.door.conftest import NOBODY

pytestmark = pytest.mark.skipif(not peer.PROC.joinpath("net/tcp").exists(), reason="no table of sockets here")


@contextmanager
def listening(family=socket.AF_INET, address="127.0.0.1", both=False):
    server = socket.socket(family)
    try:
        if family == socket.AF_INET6:
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(not both))
        server.bind((address, 0))
    except OSError as error:
        server.close()
        pytest.skip(f"this machine has no such address ({type(error).__name__})")
    with server:
        server.listen()
        yield server


def ends(accepted):
    return accepted.getpeername()[:2], accepted.getsockname()[:2]


@pytest.mark.parametrize(
    ("family", "address", "reached", "both"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1", False),
        (socket.AF_INET6, "::1", "::1", False),
        (socket.AF_INET6, "::", "127.0.0.1", True),  # an IPv4 visitor of a server of both kinds
    ],
    ids=["v4", "v6", "v4 inside v6"],
)
def test_our_own_connection_is_told_in_every_family(family, address, reached, both):
    with listening(family, address, both) as server, socket.create_connection((reached, server.getsockname()[1])):
        accepted, _ = server.accept()
        with accepted:
            assert peer.identify(*ends(accepted)) == peer.Peer(ends(accepted)[0][0], own=True, uid=os.geteuid())


def test_an_ipv4_address_inside_ipv6_at_the_clients_end():
    with listening() as server, socket.socket(socket.AF_INET6) as client:
        client.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        client.connect(("::ffff:127.0.0.1", server.getsockname()[1]))
        accepted, _ = server.accept()
        with accepted:
            assert peer.identify(*ends(accepted)).own


def test_another_account_is_not_us():
    if os.geteuid() != 0:
        pytest.skip("only root can act as another account of the machine")
    with listening() as server:
        os.seteuid(NOBODY - 1)
        try:
            client = socket.create_connection(("127.0.0.1", server.getsockname()[1]))
        finally:
            os.seteuid(0)
        accepted, _ = server.accept()
        with client, accepted:
            assert peer.identify(*ends(accepted)) == peer.Peer("127.0.0.1", own=False, uid=NOBODY - 1)


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
def test_a_closed_connection_is_nobodys(reset):
    with listening() as server:
        client = socket.create_connection(("127.0.0.1", server.getsockname()[1]))
        accepted, _ = server.accept()
        with accepted:
            both = ends(accepted)
            if reset:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.close()
            assert peer.identify(*both) == peer.Peer("127.0.0.1")


def test_the_same_port_on_another_server_is_another_connection():
    with listening() as server, listening() as other, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            assert not peer.identify(client.getsockname(), other.getsockname()).own


@pytest.mark.parametrize(
    ("client", "server"),
    [
        (None, ("127.0.0.1", 80)), (("127.0.0.1", 0), ("127.0.0.1", 80)), (("172.17.0.1", 5000), ("172.17.0.2", 8501)),
        (("10.0.0.5", 5000), ("127.0.0.1", 8501)), (("odd", 5000), ("127.0.0.1", 8501)), (("127.0.0.1", 5000), None),
        (("::ffff:10.0.0.5", 5000), ("::ffff:127.0.0.1", 8501)),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_not_us(client, server):
    assert not peer.identify(client, server).own


CONNECT = (
    "import socket, sys\n"
    "open('/proc/self/comm', 'w').write(sys.argv[2])\n"
    "s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
    "sys.stdin.read()\n"
)


@pytest.mark.parametrize(("name", "own"), [("firefox", True), ("sshd-session", False), ("rootlessport", False)])
def test_a_program_that_passes_others_on_is_not_us(name, own):
    with listening() as server:
        server.settimeout(30)
        command = [sys.executable, "-S", "-c", CONNECT, str(server.getsockname()[1]), name]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
            accepted, _ = server.accept()
            with accepted:
                assert peer.identify(*ends(accepted)).own is own
            child.communicate()


HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def table(folder, state="01", uid=None, inode="4711"):
    """Write a table with one connection from 127.0.0.1:5000 to 127.0.0.1:8501 as another machine would show it."""
    (folder / "net").mkdir()
    address = f"{int.from_bytes(bytes([127, 0, 0, 1]), sys.byteorder):08X}"
    uid = os.geteuid() if uid is None else uid
    row = f"   0: {address}:1388 {address}:2135 {state} 00000000:00000000 00:00000000 00000000 {uid:>5} 0 {inode} 1\n"
    (folder / "net" / "tcp").write_text(HEADER + row)
    return ("127.0.0.1", 5000), ("127.0.0.1", 8501)


def hold(folder, inode="4711", name="firefox"):
    (folder / "77" / "fd").mkdir(parents=True)
    (folder / "77" / "comm").write_text(name + "\n")
    os.symlink(f"socket:[{inode}]", folder / "77" / "fd" / "9")


def test_a_socket_that_no_visible_process_holds_is_not_us(tmp_path):
    """A port forwarder of another process namespace connects under our number, and we cannot see it."""
    both = table(tmp_path)
    assert peer.identify(*both, proc=tmp_path) == peer.Peer("127.0.0.1", own=False, uid=os.geteuid())
    hold(tmp_path)
    assert peer.identify(*both, proc=tmp_path).own


@pytest.mark.parametrize(("state", "inode"), [("06", "0"), ("06", "4711"), ("01", "0"), ("04", "4711"), ("0A", "4711")])
def test_only_an_established_and_held_socket_counts(tmp_path, state, inode):
    both = table(tmp_path, state=state, uid=0, inode=inode)
    hold(tmp_path, inode)
    assert peer.identify(*both, proc=tmp_path) == peer.Peer("127.0.0.1")


def test_the_number_of_all_unknown_accounts_is_nobodys(tmp_path):
    both = table(tmp_path)
    hold(tmp_path)
    (tmp_path / "sys" / "kernel").mkdir(parents=True)
    (tmp_path / "sys" / "kernel" / "overflowuid").write_text(f"{os.geteuid()}\n")
    assert not peer.identify(*both, proc=tmp_path).own


def test_where_there_is_no_table_the_processes_are_asked(tmp_path):
    with listening() as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            assert peer.identify(*ends(accepted), proc=tmp_path).own
            assert not peer.identify((client.getsockname()[0], 1), accepted.getsockname(), proc=tmp_path).own
