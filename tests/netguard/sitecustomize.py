"""Record every attempt to reach another machine, in this process and its children.

Python imports this module at start when its folder is on PYTHONPATH. Attempts are refused and
written, one line each, to the file that UNDERSTUDY_NETGUARD names.
"""

import os
import socket
import sys

LOG = os.environ.get("UNDERSTUDY_NETGUARD")
LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")


def _refuse(what, address):
    with open(LOG, "a", encoding="utf-8") as log:
        log.write(f"{os.path.basename(sys.argv[0]) if sys.argv else '?'} {what} {address}\n")
    raise OSError("netguard: only loopback is allowed in this test")


def _guard(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = str(arguments[1][0])
        if not host.startswith(LOOPBACK):
            _refuse("connect", arguments[1])
    elif event == "socket.getaddrinfo":
        host = arguments[0]
        host = host.decode() if isinstance(host, bytes) else host
        if host and not host.startswith(LOOPBACK) and host != socket.gethostname():
            _refuse("getaddrinfo", host)
    elif event == "socket.sendto" and isinstance(arguments[1], tuple) and not str(arguments[1][0]).startswith(LOOPBACK):
        _refuse("sendto", arguments[1])


if LOG:
    sys.addaudithook(_guard)
