# SPDX-License-Identifier: BSD-3-Clause
"""fuzzing.py - libFuzzer on each decoder of launcher/fuzz: a build with clang, seeds from ckpt's
own encoders, and the coverage and findings of each run."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from .settings import BUILD, TOP

CLANG = "16"  # 14, which is Debian's default, cannot compile the C++ of the tools
PACKAGES = {f"clang++-{CLANG}": f"clang-{CLANG} libclang-rt-{CLANG}-dev"}
INSTRUMENTED = "fuzzer-no-link,address,undefined"
LONGEST_INPUT = 4096  # bytes
MOST_MEMORY = 1500  # MiB

# Sanitizers need fixed addresses, which randomised mappings may occupy.
SAME_ADDRESSES = ["setarch", "--addr-no-randomize"]


class Missing(Exception):
    """A program is not installed; names the package that has it."""


@dataclass
class Run:
    """The result for one decoder."""

    decoder: str
    executions: int
    edges: int
    features: int
    finding: str  # the first line of its report, empty without a finding


def require_programs():
    """Raises Missing for the first program that is not installed."""
    for program, packages in PACKAGES.items():
        if shutil.which(program) is None:
            raise Missing(f"{program} is missing: apt-get install {packages}")


def build(directory, jobs):
    """Builds and returns the fuzzer. This instruments libckpt, too, which no other program uses
    here. The usual compiler builds the restorer, which needs that compiler's options."""
    directory.mkdir(parents=True, exist_ok=True)
    make = ["make", "-s", f"-j{jobs}"]
    if not (directory / "config.status").exists():
        call = [TOP / "configure", "-q", f"--prefix={directory}/inst"]
        call += [f"--enable-sanitizers={INSTRUMENTED}"]
        call += [f"CC=clang-{CLANG}", f"CXX=clang++-{CLANG}", "CXXFLAGS=-O1 -g"]
        call += [f"CFLAGS=-O1 -g -fsanitize={INSTRUMENTED}"]
        call += [f"PYTHON={BUILD}/venv/bin/python"]
        subprocess.run(call, cwd=directory, check=True)
    for arguments in (
        ["-C", "libckpt", "CC=gcc", "restore/blob.bin"],
        ["-C", "libckpt", "libckpt.a"],
        ["-C", "launcher", "fuzz/decoders"],
    ):
        subprocess.run([*make, *arguments], cwd=directory, check=True)
    return directory / "launcher/fuzz/decoders"


def write_seeds(fuzzer, directory):
    """Writes the seeds of each decoder to its own directory; returns the decoders' names."""
    directory.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [*SAME_ADDRESSES, fuzzer],
        env={**os.environ, "CKPT_FUZZ_SEEDS": str(directory)},
        check=True,
    )
    return sorted(path.name for path in directory.iterdir())


def numbers(output):
    """Returns executions, edges and features from libFuzzer's last line about them."""
    lines = re.findall(r"^#(\d+)\s.*cov: (\d+) ft: (\d+)", output, re.MULTILINE)
    return [int(number) for number in lines[-1]] if lines else [0, 0, 0]


def finding(output):
    """Returns the first error line of the sanitizers or libFuzzer."""
    found = re.search(r"^.*(ERROR: |runtime error: ).*$", output, re.MULTILINE)
    return found.group(0) if found else ""


def fuzz(fuzzer, decoder, directory, seconds, seed):
    """Runs one decoder. Its corpus stays for the next run; failing inputs are saved beside it."""
    corpus = directory / "corpus" / decoder
    found = directory / "found"
    for path in (corpus, found):
        path.mkdir(parents=True, exist_ok=True)
    options = {
        "max_total_time": seconds,
        "max_len": LONGEST_INPUT,
        "rss_limit_mb": MOST_MEMORY,
        "timeout": 20,
        "seed": seed + 1,  # 0 would be a random one
        "artifact_prefix": f"{found}/{decoder}-",
    }
    call = ["nice", "-n", "19", *SAME_ADDRESSES, fuzzer]
    call += [f"-{name}={value}" for name, value in options.items()]
    call += [corpus, directory / "seeds" / decoder]
    result = subprocess.run(
        call,
        env={
            **os.environ,
            "CKPT_FUZZ_DECODER": decoder,
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
            "TMPDIR": str(directory),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = result.stdout.decode(errors="replace")
    (directory / f"{decoder}.txt").write_text(output)
    what = finding(output)
    if result.returncode != 0 and not what:
        what = f"it ended with {result.returncode}"
    return Run(decoder, *numbers(output), what)
