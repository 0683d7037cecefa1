# SPDX-License-Identifier: BSD-3-Clause
"""explanations.py - why a conclusion of 1993 need not hold today, by its key.

The reasons follow from differences between the machines and the software. The report shows them
where a rule finds that a conclusion does not hold; they prove nothing by themselves.
"""

REASONS = {
    "heap": "Small heaps differ by less than what a request and a commit take.",
    "sequential": "Disks were slow and copies cheap; today a write goes into memory first,"
    " so that a copy costs as much as the write it saves.",
    "memory-adds": "Reading a process to compress or write it takes as long as copying it"
    " into fresh memory, which the kernel has to clear first.",
    "cow-adds": "What was copied was less than what had to be written to a disk of 320 KB/s."
    " Today a fault costs some microseconds for each page, merge sort writes to all of"
    " them, and the write of a page is as fast as its copy; and with two processors the"
    " agent takes the one that the program does not use, but not its share of memory"
    " bandwidth.",
    "concurrent": "A checkpoint takes a fraction of a second, so its fixed parts count: the"
    " stop, and the faults of pages that are used at once.",
    "optimal": "A checkpoint takes a fraction of a second, so its fixed parts count.",
    "stop": "The initial stop is the kernel's part for each page.",
    "cow-stop": "The copy of page tables takes some 50 ms for each GiB.",
    "heap-only": "Memory that has never been written to is not saved, and pages of zeros are"
    " not written; programs of one size differ in these.",
    "worst": "The overhead of programs with small heaps is within what a request costs.",
    "equal": "A checkpoint of a small instance takes milliseconds, most of them the"
    " agreement on the cut, in which the algorithms differ; in 1993 writing took seconds.",
    "grows": "SMALL, MED and LARGE have zeros, and pages of zeros are not written: a"
    " checkpoint has to look at them, but not to store them.",
    "sns-adds": "All ranks of one node stand still for milliseconds to agree; the agent"
    " reads one rank after the other anyway. With two ranks there is hardly anybody to wait"
    " for.",
    "stagger-time": "The agent of a node reads its ranks one after the other, staggered or"
    " not.",
    "stagger-loose": "Ranks shared four disks in 1993. Here two ranks share an agent, which"
    " never writes two at once, so there is no contention to take away.",
    "stagger-tight": "The wait for a staggered rank is milliseconds here, less than the"
    " noise of a run.",
    "ns-staggers": "On one node network sweeping has no other node to sweep to; both"
    " algorithms are staggered by the agent in the same way.",
    "memory-time": "The copy is made at the speed of memory and written meanwhile.",
    "memory-fits": "A stopped rank is written into the memory of the page cache, as fast as"
    " it can be copied; there is no disk to be spared from.",
    "memory-large": "There are gigabytes of memory for copies: LARGE fits here, and is saved"
    " in one piece. In 1993 it did not fit.",
    "zeros": "Pages of zeros are not written with any codec: what compression gained in 1993"
    " is had without it.",
    "random": "LZ4 passes quickly over what does not compress, and the rest of the address"
    " space gets smaller; the hash codec of 1993 went through all of it, bit by bit.",
    "compressed-stagger": "The codec is not slower than the write, so it does not add to the"
    " time between one rank and the next.",
    "recovery": "A restart launches the job anew; mpirun takes longer than reading the"
    " image.",
    "recovery-compressed": "There is hardly anything to read, as pages of zeros are not"
    " written; mpirun takes longer.",
    "ns-best": "With two ranks on one node the algorithms differ by milliseconds.",
    "ideal": "Table 4.3 is for slow disks that all share, and little memory: compression and"
    " staggering gained seconds there. Here they gain or cost milliseconds.",
}
