/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coverage_exit.c - for tests/coverage: a child of a test writes its counts before _exit(), which
 * otherwise loses them. Linked with -Wl,--wrap=_exit.
 */
void __gcov_dump(void); /* of libgcov */
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

/* Context: normal. */
_Noreturn void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
