"""Ids of jobs: UUIDv7 as text, so that ids made later sort later."""

import os
import time
import uuid


def new_id() -> str:
    """A fresh UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, then randomness."""
    value = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))
