"""Percentiles from counts in buckets. Plain arithmetic; nothing is read here."""

import math
from collections.abc import Sequence

# The upper bounds of detiq_bucket(), in seconds; the last bucket has none.
BOUNDS = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0)
BUCKETS = len(BOUNDS) + 1
LOWEST, HIGHEST = 0.02, 14_400.0


def percentile(buckets: Sequence[int], share: float) -> float | None:
    """What `share` of them did not exceed, in seconds: interpolated within a bucket, evenly on a logarithmic scale.

    None when there are none.
    """
    total = sum(buckets)
    if total <= 0:
        return None
    wanted, below = share * total, 0
    for place, n in enumerate(buckets):
        if n > 0 and below + n >= wanted:
            low = BOUNDS[place - 1] if place else LOWEST
            high = BOUNDS[place] if place < len(BOUNDS) else HIGHEST
            return math.exp(math.log(low) + (math.log(high) - math.log(low)) * (wanted - below) / n)
        below += n
    return HIGHEST
