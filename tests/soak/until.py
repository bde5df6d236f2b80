"""The one way in which a soak waits: for a condition, and at most so long."""

import time


def until(condition, seconds, every=0.05):
    """Whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(every)
    return True
