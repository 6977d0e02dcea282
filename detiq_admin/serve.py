"""The console's process under `manage.py up`: uvicorn on a socket that the parent has opened already."""

import argparse
import asyncio
import os
import socket

import uvicorn

from detiq_admin import lifeline

# An open live page never ends by itself; longer than this a stop does not wait for it.
STOP_SECONDS = 3


class ConsoleServer(uvicorn.Server):
    """Says when it serves."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            lifeline.ready()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fd", type=int, required=True, help="a listening socket, inherited")
    listener = socket.socket(fileno=parser.parse_args().fd)
    lifeline.watch(STOP_SECONDS)

    from detiq_admin.asgi import application

    config = uvicorn.Config(
        application,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        # Only a proxy that was named may say where a request comes from: the audit trail keeps that address.
        proxy_headers="FORWARDED_ALLOW_IPS" in os.environ,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    asyncio.run(ConsoleServer(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main()
