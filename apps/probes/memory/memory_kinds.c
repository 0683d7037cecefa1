/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_kinds.c - memory of every kind: guard pages, locked, huge, not inherited by children,
 * grown stack, mapped files, generated code, a library loaded late.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PAGE 4096ul
#define HUGE (2ul << 20)

static char *guarded, *locked, *huge, *forked, *file, *beyond, *shared;
static int (*made)(void);
static double (*cosine)(double);
static sigjmp_buf after_fault;

static char *map(size_t size, int flags, int fd)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

    CHECK(memory != MAP_FAILED);
    return memory;
}

static void map_file(void)
{
    char name[64];
    int fd;

    snprintf(name, sizeof name, "mapped.%d", probe_rank);
    fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);
    CHECK(fd >= 0 && ftruncate(fd, 3 * PAGE) == 0);
    CHECK(pwrite(fd, "from the file", 14, PAGE) == 14);
    file = map(3 * PAGE, MAP_PRIVATE, fd);
    strcpy(file, "written");
    close(fd);
    fd = open(name, O_RDONLY);
    CHECK(fd >= 0);
    /* A mapping beyond the end of the file; the part there is a separate mapping. */
    beyond = mmap(NULL, 16 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(beyond != MAP_FAILED);
    CHECK(madvise(beyond + 8 * PAGE, 4 * PAGE, MADV_RANDOM) == 0);
    close(fd);
}

/* The file grows, and the mapping beyond its former end shows it. */
static void check_beyond(void)
{
    char name[64];
    int fd;

    CHECK(strcmp(beyond + PAGE, "from the file") == 0);
    snprintf(name, sizeof name, "mapped.%d", probe_rank);
    fd = open(name, O_RDWR);
    CHECK(fd >= 0 && pwrite(fd, "grown", 6, 9 * PAGE) == 6);
    CHECK(strcmp(beyond + 9 * PAGE, "grown") == 0);
    CHECK(ftruncate(fd, 3 * PAGE) == 0);
    close(fd);
}

/* mov $42 + rank, %eax; ret */
static void make_code(void)
{
    unsigned char code[] = {0xb8, (unsigned char)(42 + probe_rank), 0, 0, 0,
                            0xc3};
    char *memory = map(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

    memcpy(memory, code, sizeof code);
    CHECK(mprotect(memory, PAGE, PROT_READ | PROT_EXEC) == 0);
    made = (int (*)(void))memory;
}

static void make_memory(void)
{
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    void *library;

    guarded = map(3 * PAGE, anonymous, -1);
    CHECK(mprotect(guarded + PAGE, PAGE, PROT_NONE) == 0);
    locked = map(PAGE, anonymous, -1);
    CHECK(mlock(locked, PAGE) == 0);
    huge = map(3 * HUGE, anonymous, -1);
    CHECK(madvise(huge, 3 * HUGE, MADV_HUGEPAGE) == 0);
    memset(huge, 'h', 3 * HUGE);
    forked = map(2 * PAGE, anonymous, -1);
    /* Some libraries with their own system calls do this. */
    CHECK(syscall(SYS_madvise, forked, PAGE, MADV_WIPEONFORK) == 0);
    forked[0] = forked[PAGE] = 'f';
    shared = map(PAGE, MAP_SHARED | MAP_ANONYMOUS, -1);
    strcpy(shared, "shared");
    map_file();
    make_code();
    library = dlopen("libm.so.6", RTLD_NOW);
    CHECK(library != NULL);
    cosine = (double (*)(double))dlsym(library, "cos");
    CHECK(cosine != NULL);
}

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(after_fault, 1);
}

static int faults(char *address)
{
    if (sigsetjmp(after_fault, 1) != 0) {
        return 1;
    }
    *(volatile char *)address = 1;
    return 0;
}

/* Returns 1 if the mapping of `address` has this flag in smaps. */
static int has_flag(const void *address, const char *flag)
{
    FILE *smaps = fopen("/proc/self/smaps", "r");
    unsigned long start, end;
    char line[4096];
    int inside = 0, found = 0;

    CHECK(smaps != NULL);
    while (fgets(line, sizeof line, smaps) != NULL) {
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2) {
            inside = start <= (unsigned long)address &&
                     end > (unsigned long)address;
        } else if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            found = strstr(line, flag) != NULL;
        }
    }
    fclose(smaps);
    return found;
}

static void check_memory(void)
{
    int status;
    pid_t child;

    signal(SIGSEGV, on_fault);
    CHECK(!faults(guarded) && faults(guarded + PAGE));
    CHECK(!faults(guarded + 2 * PAGE) && faults((char *)made));
    CHECK(made() == 42 + probe_rank && cosine(0.0) == 1.0);
    CHECK(has_flag(locked, " lo") && !has_flag(guarded, " lo"));
    CHECK(has_flag(huge, " hg"));
    for (size_t i = 0; i < 3 * HUGE; i += 1000) {
        CHECK(huge[i] == 'h');
    }
    CHECK(strcmp(file, "written") == 0);
    CHECK(strcmp(file + PAGE, "from the file") == 0);
    CHECK(strcmp(shared, "shared") == 0);
    check_beyond();
    child = fork();
    if (child == 0) {
        strcat(shared, " with a child");
        _exit(forked[0] == 0 && forked[PAGE] == 'f' ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(strcmp(shared, "shared with a child") == 0);
}

/* Uses far more stack than before the checkpoint. */
static int deep(int levels)
{
    char *block = alloca(100000);

    memset(block, levels, 100000);
    return levels == 0 ? 0 : deep(levels - 1) + block[99999] - levels;
}

int main(int argc, char **argv)
{
    probe_begin(argc, argv, 2);
    make_memory();
    CHECK(deep(20) == 0);
    probe_gate();
    check_memory();
    CHECK(deep(60) == 0);
    return probe_end();
}
