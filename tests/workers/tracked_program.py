"""A program of somebody's that does its work itself: `python -m tests.workers.tracked_program WHAT`."""

import os
import sys
import time

import django


def main(what: str) -> None:
    django.setup()
    from detiq_admin import lifeline
    from jobs.tracked import tracked_job

    with tracked_job("STEPS", "acme", config={"n": 3, "pause": 0.01}) as job:
        job.save_checkpoint({"done": 1})
        print(job.id, flush=True)
        lifeline.ready()
        if what == "fork":
            child = os.fork()
            if child == 0:
                with tracked_job("NOOP", "acme") as inner:
                    inner.set_result("of the child")
                return
            os.waitpid(child, 0)
        while what == "wait":
            time.sleep(0.1)


if __name__ == "__main__":
    main(sys.argv[1])
