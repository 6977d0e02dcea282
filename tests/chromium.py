"""Where Chromium is, and the line that installs it."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
INSTALL = "apt-get install -y chromium"


def find_chromium() -> str | None:
    """The browser's path, if there is one."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or (MACOS if shutil.which(MACOS) else None)
