/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * huge_pages.c - memory of hugetlbfs: private, shared with children, and a
 * memory file. Without huge pages, it uses small ones.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define HUGE (2ul << 20)

static char *map(int flags, int fd)
{
    char *memory = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, flags, fd, 0);

    if (memory == MAP_FAILED) {
        memory = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
                      flags & ~MAP_HUGETLB, fd, 0);
    }
    CHECK(memory != MAP_FAILED);
    return memory;
}

static void mark(char *memory)
{
    for (size_t i = 0; i < HUGE; i += 4096) {
        memory[i] = (char)(i / 4096 + (size_t)probe_rank);
    }
}

static void check(const char *memory)
{
    for (size_t i = 0; i < HUGE; i += 4096) {
        CHECK(memory[i] == (char)(i / 4096 + (size_t)probe_rank));
    }
}

/* Maps a memory file of huge pages and closes it. */
static char *map_file(void)
{
    int fd = memfd_create("huge", MFD_HUGETLB);
    char *memory;

    if (fd < 0 || ftruncate(fd, HUGE) != 0) {
        close(fd);
        fd = memfd_create("small", 0);
        CHECK(fd >= 0 && ftruncate(fd, HUGE) == 0);
    }
    memory = map(MAP_SHARED, fd);
    close(fd);
    return memory;
}

static void check_with_child(char *shared)
{
    pid_t child;
    int status;

    child = fork();
    if (child == 0) {
        shared[1] = 'c';
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(shared[1] == 'c');
}

int main(int argc, char **argv)
{
    char *private, *shared, *file;

    probe_begin(argc, argv, 2);
    private = map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
    shared = map(MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1);
    file = map_file();
    mark(private);
    mark(shared);
    mark(file);
    probe_gate();
    check(private);
    check(shared);
    check(file);
    check_with_child(shared);
    CHECK(munmap(private, HUGE) == 0 && munmap(file, HUGE) == 0);
    return probe_end();
}
