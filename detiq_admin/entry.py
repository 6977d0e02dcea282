"""What `manage.py` runs: Django's commands, with a setting that cannot be used said in one line."""

import os
import select
import sys

from django.core.management import execute_from_command_line

from detiq_admin.embedded import var_dir
from detiq_admin.secrets import lend
from jobs.domain.errors import SettingError

USAGE = 2


def main(argv: list[str]) -> None:
    """Runs the command; exits with 2 for a bad setting."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "detiq_admin.settings")
    os.environ.setdefault("DETIQ_PROCESS", "worker" if argv[1:2] in (["worker"], ["run_huey"]) else "command")
    try:
        if argv[1:2] in (["bench"], ["pins"], ["up"]):
            lend(os.environ, var_dir(os.environ))
        execute_from_command_line(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        if not _reader_is_gone():
            raise
    except SettingError as error:
        print(f"{argv[0]}: {error}", file=sys.stderr)
        sys.exit(USAGE)


def _reader_is_gone() -> bool:
    """Does nobody read our output any more, as after `| head`? It was enough: what is left goes nowhere."""
    pipe = select.poll()
    pipe.register(sys.stdout, 0)
    if not any(event & select.POLLERR for _, event in pipe.poll(0)):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True
