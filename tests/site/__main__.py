"""`python -m tests.site --port 8090`: the site to crawl by hand, until Ctrl-C."""

import argparse
import threading

from tests.site.server import SPECIALS, Site


def main() -> None:
    options = argparse.ArgumentParser(description="A test web site on loopback.")
    options.add_argument("--port", type=int, default=8090, help="default 8090; 0 takes any free port")
    options.add_argument("--pages", type=int, default=300, help="ordinary pages, default 300")
    options.add_argument("--plain", action="store_true", help="ordinary pages only, nothing that is hard")
    options.add_argument("--crawl-delay", type=float, help="what robots.txt asks for, in seconds")
    chosen = options.parse_args()
    special = () if chosen.plain else SPECIALS
    with Site(chosen.pages, special=special, port=chosen.port, crawl_delay=chosen.crawl_delay) as site:
        print(f"{chosen.pages} pages and {len(special)} special ones at {site.url} (Ctrl-C ends it)", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print(f"{len(site.hits)} requests were answered")


main()
