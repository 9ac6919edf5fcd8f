# SPDX-License-Identifier: GPL-2.0
"""What the tests in Python say: a line for each claim, as dev/report.sh has them."""

import sys

failed = False


def report(good, name, why=""):
    """Why is told of a claim that does not hold."""
    global failed
    failed = failed or not good
    print(f"ok {name}" if good else f"not ok {name}\n# {why}", flush=True)


def end():
    """Exit, with a failure if a claim did not hold."""
    sys.exit(failed)
