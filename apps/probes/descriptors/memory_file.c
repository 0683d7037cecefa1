/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_file.c - a file of memfd_create(): content, position, seals.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <fcntl.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    char text[64] = "";
    const char *view;
    int fd, sealed;

    probe_begin(argc, argv, 2);
    fd = memfd_create("probe", MFD_CLOEXEC);
    sealed = memfd_create("sealed", MFD_ALLOW_SEALING);
    CHECK(fd >= 0 && sealed >= 0);
    CHECK(write(fd, "0123456789", 10) == 10 && lseek(fd, 4, SEEK_SET) == 4);
    CHECK(write(sealed, "constant", 8) == 8);
    CHECK(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW) == 0);
    view = mmap(NULL, 4096, PROT_READ, MAP_SHARED, sealed, 0);
    CHECK(view != MAP_FAILED);
    probe_gate();
    CHECK(memcmp(view, "constant", 8) == 0);
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(read(fd, text, sizeof text) == 6 && memcmp(text, "456789", 6) == 0);
    CHECK(pread(sealed, text, sizeof text, 0) == 8);
    CHECK(memcmp(text, "constant", 8) == 0);
    CHECK(write(sealed, "x", 1) < 0);
    CHECK(fcntl(sealed, F_GET_SEALS) == (F_SEAL_WRITE | F_SEAL_GROW));
    return probe_end();
}
