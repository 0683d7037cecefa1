/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_files.c - memory that one rank shares with a file: a file written
 * through the mapping, unlinked POSIX shared memory, and a memory file mapped
 * twice, once to execute code.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE      4096ul
#define FILE_SIZE 10000

static char *written, *posix[2], *code;
static int (*run)(void);
static int shm, memory_file;
static char file_name[64];

static char *map(size_t size, int protection, int fd)
{
    void *memory = mmap(NULL, size, protection, MAP_SHARED, fd, 0);

    CHECK(memory != MAP_FAILED);
    return memory;
}

static void make_file(void)
{
    int fd;

    snprintf(file_name, sizeof file_name, "shared.%d", probe_rank);
    fd = open(file_name, O_CREAT | O_TRUNC | O_RDWR, 0600);
    CHECK(fd >= 0 && ftruncate(fd, FILE_SIZE) == 0);
    written = map(FILE_SIZE, PROT_READ | PROT_WRITE, fd);
    close(fd);
    strcpy(written + 8192, "by way of memory");
}

static void make_posix(void)
{
    char name[64];

    snprintf(name, sizeof name, "/ckpt-probe-%d-%d", (int)getpid(), probe_rank);
    shm = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
    CHECK(shm >= 0 && shm_unlink(name) == 0 && ftruncate(shm, 5 * PAGE) == 0);
    posix[0] = map(5 * PAGE, PROT_READ | PROT_WRITE, shm);
    posix[1] = map(5 * PAGE, PROT_READ, shm);
    strcpy(posix[0] + 3 * PAGE, "seen twice");
}

/* mov $rank + 7, %eax; ret */
static void make_code(int value)
{
    unsigned char bytes[] = {0xb8, (unsigned char)(value + probe_rank), 0, 0, 0,
                             0xc3};

    memcpy(code, bytes, sizeof bytes);
}

int main(int argc, char **argv)
{
    char text[64] = "";
    struct stat status;
    int fd;

    probe_begin(argc, argv, 2);
    make_file();
    make_posix();
    memory_file = memfd_create("code", MFD_CLOEXEC);
    CHECK(memory_file >= 0 && ftruncate(memory_file, PAGE) == 0);
    code = map(PAGE, PROT_READ | PROT_WRITE, memory_file);
    run = (int (*)(void))map(PAGE, PROT_READ | PROT_EXEC, memory_file);
    make_code(7);
    probe_gate();
    CHECK(strcmp(written + 8192, "by way of memory") == 0);
    strcpy(written, "again");
    fd = open(file_name, O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, sizeof text) == sizeof text);
    CHECK(strcmp(text, "again") == 0);
    CHECK(fstat(fd, &status) == 0 && status.st_size == FILE_SIZE);
    CHECK(strcmp(posix[1] + 3 * PAGE, "seen twice") == 0);
    strcpy(posix[0], "still");
    CHECK(strcmp(posix[1], "still") == 0);
    CHECK(pread(shm, text, 6, 0) == 6 && strcmp(text, "still") == 0);
    CHECK(run() == 7 + probe_rank);
    make_code(70);
    CHECK(run() == 70 + probe_rank);
    return probe_end();
}
