/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coverage_exit.c - for tests/coverage: a child of a test writes its counts before _exit(), which
 * otherwise loses them. Linked with -Wl,--wrap=_exit.
 */
#include <sys/resource.h>

void __gcov_dump(void); /* of libgcov */
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

/* A journal would record the files with the counts. Not every test has one. */
__attribute__((weak)) void ckpt_journal_suspend(void);

/* Context: normal. */
_Noreturn void __wrap__exit(int status)
{
    struct rlimit limit;
    int is_limited = 1;

    if (ckpt_journal_suspend) {
        ckpt_journal_suspend();
    }
    /* A test of that limit may have lowered it; a part of the counts would spoil those of others.
     */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        is_limited = setrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_max != RLIM_INFINITY;
    }
    if (!is_limited) {
        __gcov_dump();
    }
    __real__exit(status);
}
