"""Ours, fed by another program with plain SQL."""

from jobs.bench.peers.base import main
from jobs.bench.peers.detiq import DetiqPlain

if __name__ == "__main__":
    main(DetiqPlain)
