"""Who a process is."""

import os
import secrets
import socket


def new_worker_id() -> str:
    """`host:pid:nonce`: containers may all have the same host name and process id 1."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
