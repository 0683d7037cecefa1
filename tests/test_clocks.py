# SPDX-License-Identifier: BSD-3-Clause
"""Programs that wait by CLOCK_MONOTONIC are restarted on a host that was booted later or earlier:
the program's clock does not jump."""

import shutil
import subprocess
import sys

import pytest

from ckpttest import clocks, non_mpi, probes
from ckpttest.settings import APPS, TIMEOUT, TUNE, environment

pytestmark = pytest.mark.skipif(clocks.why_not() is not None, reason=str(clocks.why_not()))

# Seconds by which the new host's clock is ahead.
DIRECTIONS = {"back": -3000, "forward": 100_000}

ASYNCIO = """
import asyncio, pathlib, sys, time

async def main():
    began = time.monotonic()
    pending = [asyncio.create_task(asyncio.sleep(3 + i / 10)) for i in range(5)]
    print("READY", flush=True)
    while not pathlib.Path(sys.argv[1]).exists():
        await asyncio.sleep(0.005)
    day = time.time()
    await asyncio.wait_for(asyncio.gather(*pending), timeout=6)
    assert 3.4 <= time.monotonic() - began < 6, time.monotonic() - began
    assert time.time() - day < 6
    print("OK")

asyncio.run(main())
"""

THREADING = """
import pathlib, queue, select, sys, threading, time

hit = threading.Event()
began = time.monotonic()
threading.Timer(3, hit.set).start()
print("READY", flush=True)
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.02)

def takes(seconds, wait):
    day = time.time()
    assert not wait()
    assert seconds - 0.01 <= time.time() - day < seconds + 1.5, time.time() - day

def get():
    try:
        queue.Queue().get(timeout=0.3)
        return True
    except queue.Empty:
        return False

takes(0.3, lambda: threading.Event().wait(0.3))
takes(0.3, get)
takes(0.3, lambda: any(select.select([], [], [], 0.3)))
takes(0.3, lambda: time.sleep(0.3))
held = threading.Lock()
held.acquire()
takes(0.3, lambda: held.acquire(timeout=0.3))
assert hit.wait(6)
assert 3 <= time.monotonic() - began < 6, time.monotonic() - began
print("OK")
"""

NODE = """
const fs = require('fs');
const began = performance.now();
let ticks = 0, pending = 0;
const timer = setInterval(() => ticks++, 10);
setTimeout(() => { pending = performance.now() - began; }, 3000);
console.log('READY');
function wait() {
  if (!fs.existsSync(process.argv[2])) { setTimeout(wait, 20); return; }
  const day = Date.now(), before = ticks;
  setTimeout(() => {
    const took = Date.now() - day;
    if (took < 295 || took > 1800 || ticks - before < 10) {
      console.log('FAIL', took, ticks - before);
      process.exit(1);
    }
  }, 300);
  setTimeout(() => {
    clearInterval(timer);
    const good = pending >= 2990 && pending < 4500;
    console.log(good ? 'OK' : 'FAIL pending ' + pending);
    process.exit(good ? 0 : 1);
  }, 3000);
}
wait();
"""

JAVA = """
import java.nio.file.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;

public class Waits {
    static void check(String name, long ms, long wanted) {
        if (ms < wanted - 5 || ms > wanted + 1500) {
            System.out.println("FAIL " + name + " " + ms);
            System.exit(1);
        }
    }
    interface Wait { void run() throws Exception; }
    static void shortWait(String name, Wait wait) throws Exception {
        long day = System.currentTimeMillis();
        wait.run();
        check(name, System.currentTimeMillis() - day, 300);
    }
    public static void main(String[] words) throws Exception {
        long began = System.nanoTime();
        ScheduledExecutorService executor = Executors.newScheduledThreadPool(1);
        ScheduledFuture<Long> pending = executor.schedule(
            () -> (System.nanoTime() - began) / 1000000, 3, TimeUnit.SECONDS);
        System.out.println("READY");
        while (!Files.exists(Path.of(words[0]))) {
            Thread.sleep(20);
        }
        Object monitor = new Object();
        shortWait("sleep", () -> Thread.sleep(300));
        shortWait("wait", () -> { synchronized (monitor) { monitor.wait(300); } });
        shortWait("parkNanos", () -> {
            long end = System.nanoTime() + 300000000L;
            while (System.nanoTime() < end) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
        });
        LinkedBlockingQueue<Integer> empty = new LinkedBlockingQueue<>();
        shortWait("poll", () -> empty.poll(300, TimeUnit.MILLISECONDS));
        check("schedule", pending.get(6, TimeUnit.SECONDS), 3000);
        System.out.println("OK");
        System.exit(0);
    }
}
"""

# The Go program is linked with libc, as libckpt requires.
GO = """
package main

import "C"
import (
	"fmt"
	"os"
	"time"
)

func check(name string, took, wanted time.Duration) {
	if took < wanted-5*time.Millisecond || took > wanted+1500*time.Millisecond {
		fmt.Println("FAIL", name, took)
		os.Exit(1)
	}
}

// Reads the clock all the time, so that a checkpoint falls into a reading.
func read() {
	for last := time.Now(); ; {
		now := time.Now()
		if went := now.Sub(last); went < 0 || went > 3*time.Second {
			fmt.Println("FAIL it went", went)
			os.Exit(1)
		}
		last = now
	}
}

func main() {
	began := time.Now()
	go read()
	pending := time.After(3 * time.Second)
	fmt.Println("READY")
	for {
		if _, err := os.Stat(os.Args[1]); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	day := time.Now().UnixNano()
	time.Sleep(300 * time.Millisecond)
	check("Sleep", time.Duration(time.Now().UnixNano()-day), 300*time.Millisecond)
	<-pending
	check("After", time.Since(began), 3*time.Second)
	fmt.Println("OK")
}
"""


def waiter(*names):
    """Returns a function that makes the command of a program of apps/threaded."""
    return lambda lab, gate: [APPS / "threaded" / names[0], gate, *names[1:]]


def script(text):
    return lambda lab, gate: [sys.executable, "-c", text, gate]


def source(lab, name, text):
    path = lab.work / name
    path.write_text(text, encoding="ascii")
    return path


def build(lab, *words):
    done = subprocess.run(
        [str(word) for word in words],
        cwd=lab.work,
        env=environment(GO111MODULE="off", GOFLAGS="-mod=mod", CGO_ENABLED="1"),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def go(lab, gate):
    build(lab, "go", "build", "-o", "waits", source(lab, "waits.go", GO))
    return [lab.work / "waits", gate]


def java(lab, gate):
    build(lab, "javac", "-d", ".", source(lab, "Waits.java", JAVA))
    return ["java", "-Xshare:off", "-Xmx64m", "-cp", lab.work, "Waits", gate]


def node(lab, gate):
    return ["node", source(lab, "waits.js", NODE), gate]


NEEDS = {"go": ["go", "gcc"], "java": ["java", "javac"], "node": ["node"]}
PROGRAMS = {
    "c": waiter("clock_waits"),
    "cxx": waiter("clock_waits_cxx"),
    "asyncio": script(ASYNCIO),
    "threading": script(THREADING),
    "go": go,
    "java": java,
    "node": node,
}


def start(lab, command, **settings):
    """Starts a job on a host whose uptime is UP seconds longer than this one's."""
    run = [lab.ckpt_program, "run", "--name", non_mpi.name(lab), "--max-restarts", "0"]
    words = [*clocks.on_host(clocks.UP), *run, "--", *command]
    return lab._start(words, settings)  # pylint: disable=protected-access


def restart(lab, up):
    """Restarts the newest checkpoint on a host with another uptime."""
    words = [*clocks.on_host(up), lab.ckpt_program, "restart"]
    return lab._start(words, {})  # pylint: disable=protected-access


def save_and_kill(lab, job):
    non_mpi.process_of(lab, job)
    non_mpi.save(lab)
    non_mpi.kill(lab, job)
    job.finish()


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_goes_on_in_time(lab, name, direction):
    for tool in NEEDS.get(name, []):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} here")
    gate = lab.work / "gate"
    job = start(lab, PROGRAMS[name](lab, gate))
    job.wait_for("^READY")
    save_and_kill(lab, job)
    job = restart(lab, clocks.UP + DIRECTIONS[direction])
    gate.touch()
    assert "OK" in job.succeed()


@pytest.mark.parametrize("snapshot", ["stop", "memory", "cow"])
def test_three_restarts_in_a_row(lab, snapshot):
    """Back and forth: each restart has another offset, with each kind of snapshot."""
    gate = lab.work / "gate"
    job = start(lab, [APPS / "threaded/clock_waits", gate], CKPT_SNAPSHOT=snapshot)
    job.wait_for("^READY")
    for up in (100_000, -3000, 0):
        save_and_kill(lab, job)
        job = restart(lab, clocks.UP + up)
    gate.touch()
    assert "OK" in job.succeed()


@pytest.mark.parametrize("mode", ["reading", "handler"])
def test_a_clock_is_being_read(lab, mode):
    """Nearly each checkpoint interrupts a read of the clock."""
    gate = lab.work / "gate"
    job = start(lab, [APPS / "threaded/clock_waits", gate, mode])
    job.wait_for("^READY")
    for up in (100_000, -3000, 50_000, 0):
        save_and_kill(lab, job)
        job = restart(lab, clocks.UP + up)
    gate.touch()
    assert "OK" in job.succeed()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_ranks(lab, direction):
    """MPI_Wtime and the waits of ranks, also over a lower half that has the kernel's clock."""
    gate = lab.directory / "gate"
    for name in ("wtime", "timed_waits", "timers", "timer_descriptors"):
        program = probes.probe(name, gate)
        command = lab.mpirun_command(program, "--tune", TUNE)
        job = lab._start(  # pylint: disable=protected-access
            [*clocks.on_host(clocks.UP), *command], probes.ENVIRONMENT
        )
        job.wait_for("^READY")
        job.wait_for("^waiting")
        lab.checkpoint(job)
        job.kill()
        job = restart(lab, clocks.UP + DIRECTIONS[direction])
        job.wait_for("^waiting")
        gate.touch()
        assert any(line.startswith("OK ") for line in job.succeed())
        gate.unlink()
