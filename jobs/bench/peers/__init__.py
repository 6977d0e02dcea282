"""Other queues, measured by the same steps as ours.

Each is a module that runs as a process of its own (`python -m jobs.bench.peers.NAME VERB …`), so that a peer that is
not installed breaks nothing, and so that no two share an event loop.
"""
