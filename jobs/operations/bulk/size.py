"""How many rows a batch takes: as many as are over before anybody notices that they are locked."""

from dataclasses import dataclass

SMALLEST, FIRST, LARGEST = 10, 50, 500
BATCH_SECONDS, TOO_LONG_SECONDS = 0.065, 0.095
# What a slow batch taught is forgotten by two fifths with each batch: sizes follow the slow ones, not the mean.
FORGOTTEN = 0.6


@dataclass
class Size:
    """The size of the next batch, steered by how long the last ones took."""

    rows: int = FIRST
    _seconds_each: float = 0.0

    def took(self, rows: int, seconds: float) -> None:
        """A batch of so many rows took so long."""
        self._seconds_each = max(seconds / max(rows, 1), self._seconds_each * FORGOTTEN)
        most = self.rows // 2 if seconds > TOO_LONG_SECONDS else self.rows * 2
        self.rows = max(SMALLEST, min(int(BATCH_SECONDS / self._seconds_each), most, LARGEST))

    def halve(self) -> None:
        """Somebody was in the way: fewer rows are in fewer ways."""
        self.rows = max(SMALLEST, self.rows // 2)
