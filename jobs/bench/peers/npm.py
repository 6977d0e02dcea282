"""Queues that live in Node, where npm is found: exact versions, installed into the bench's own folder and gone with it."""

import shutil
import subprocess
from pathlib import Path

from jobs.bench.peers.known import Known
from jobs.bench.server import Lab

SCRIPTS = Path(__file__).parent / "node"
# The newest that run on Node 20.
VERSIONS = {"graphile-worker": "0.16.6", "pg-boss": "10.4.2"}


def node_peers(lab: Lab) -> tuple[tuple[Known, ...], str]:
    """The peers, and a line that says why there are none."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return (), f"{' and '.join(VERSIONS)} were not measured: npm is not on this machine"
    folder = lab.folder / "node"
    shutil.copytree(SCRIPTS, folder)
    wanted = [f"{name}@{version}" for name, version in VERSIONS.items()]
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return (), f"{' and '.join(VERSIONS)} were not measured: npm says {done.stderr.strip()[-300:]}"
    return tuple(_peer(name, version, node, folder) for name, version in VERSIONS.items()), ""


def _peer(name: str, version: str, node: str, folder: Path) -> Known:
    script = folder / f"{name.replace('-', '_')}.mjs"
    ahead = " (batch 500)" if name == "pg-boss" else ""
    return Known(f"{name} {version}{ahead}", name, command=(node, str(script)))
