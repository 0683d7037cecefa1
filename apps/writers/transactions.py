# SPDX-License-Identifier: BSD-3-Clause
"""transactions.py JOURNAL_MODE STEPS - SQLite: a transaction for each step, and a new connection
for each tenth step. Row N is computed from row N - 1, so a missing or repeated step shows."""

import sqlite3
import sys
import time

mode, steps = sys.argv[1], int(sys.argv[2])
connection = None
for step in range(steps):
    if connection is None:
        connection = sqlite3.connect("numbers.db", isolation_level=None)
        assert connection.execute(f"pragma journal_mode={mode}").fetchone() == (mode,)
        connection.execute("create table if not exists numbers (step primary key, value, more)")
    last = connection.execute("select step, value from numbers order by step desc").fetchone()
    assert (last or (-1, 0))[0] == step - 1, f"BAD {last} before step {step}"
    value = ((last or (-1, 0))[1] * 31 + step) % 1000003
    connection.execute("begin immediate")
    connection.execute("insert into numbers values (?, ?, ?)", (step, value, "x" * (value % 3000)))
    if step % 7 == 6:
        connection.execute("delete from numbers where step = ?", (step - 6,))
    connection.execute("commit" if step % 11 else "rollback")
    if step % 11 == 0:  # once more
        connection.execute(
            "insert into numbers values (?, ?, ?)", (step, value, "x" * (value % 3000))
        )
    print("step", step, flush=True)
    time.sleep(0.005)
    if step % 10 == 9:
        connection.close()
        connection = None
print("OK", value)
