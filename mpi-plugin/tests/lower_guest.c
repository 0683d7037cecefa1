/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lower_guest.c - stands for the MPI library and tries what the lower half may and may not do. Each
 * function returns NULL, or an error text.
 *
 * Loaded by lower_subject; with GUEST_ENDS set it exits while it is loaded.
 */
#include "config.h"

#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define GUEST   __attribute__((visibility("default")))
#define TEXT(x) #x
#define LINE(x) TEXT(x)
#define TRY(condition)                                              \
    do {                                                            \
        if (!(condition)) {                                         \
            return "lower_guest.c:" LINE(__LINE__) ": " #condition; \
        }                                                           \
    } while (0)

#define MIB ((size_t)1 << 20)

/* Symbols that ckpt-host looks up; no test calls them. */
GUEST int PMPI_Isend(void)
{
    return 1;
}
GUEST int PMPI_Issend(void)
{
    return 1;
}
GUEST int PMPI_Irecv(void)
{
    return 1;
}
GUEST int PMPI_Test(void)
{
    return 1;
}

__attribute__((constructor)) static void end(void)
{
    const char *how = getenv("GUEST_ENDS");

    if (how != NULL && strcmp(how, "exit") == 0) {
        exit(3);
    }
    if (how != NULL && strcmp(how, "abort") == 0) {
        abort();
    }
}

static char *map(size_t size, int fd)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE,
                fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
}

/* Returns 1 if every page is mapped, by either half. */
static int is_occupied(char *address, size_t size)
{
    unsigned char resident;

    for (size_t i = 0; i < size; i += 4096) {
        if (mincore(address + i, 1, &resident) != 0) {
            return 0;
        }
    }
    return 1;
}

GUEST const char *guest_memory(int (*is_lower)(const void *, size_t))
{
    char *a, *b, *file;
    int fd, id;

    a = map(8 * MIB, -1);
    TRY(a != MAP_FAILED && is_lower(a, 8 * MIB));
    a[4 * MIB] = 7;
    /* An unmapped range stays lower: no other code can get the address. */
    TRY(munmap(a + MIB, MIB) == 0 && is_lower(a, 8 * MIB));
    TRY(is_occupied(a + MIB, MIB) && a[4 * MIB] == 7);
    b = map(MIB, -1);
    TRY(b != MAP_FAILED && is_lower(b, MIB) && b[0] == 0);
    /* mremap() shrinks in place, and does not grow a mapping. */
    TRY(mremap(a + 3 * MIB, 2 * MIB, MIB, 0) == a + 3 * MIB);
    TRY(mremap(a + 3 * MIB, MIB, 64 * MIB, MREMAP_MAYMOVE) == MAP_FAILED);
    /* A mapping outside of the range moves to the given address, also inside the range. */
    file = (char *)syscall(SYS_mmap, NULL, 2 * MIB, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    TRY(file != MAP_FAILED && !is_lower(file, MIB));
    file[5] = 'y';
    TRY(mremap(file, MIB, MIB, MREMAP_MAYMOVE | MREMAP_FIXED, file + MIB) == file + MIB);
    TRY(file[MIB + 5] == 'y' && !is_occupied(file, MIB) && !is_lower(file + MIB, MIB));
    TRY(mremap(file + MIB, MIB, MIB, MREMAP_MAYMOVE | MREMAP_FIXED, a + MIB) == a + MIB);
    TRY(a[MIB + 5] == 'y' && is_lower(a + MIB, MIB));
    TRY(munmap(a, 8 * MIB) == 0 && munmap(b, MIB) == 0);
    TRY(is_occupied(a, 8 * MIB) && is_occupied(b, MIB));
    TRY(munmap(a + 1, MIB) == -1);
    /* More than one reservation can hold. */
    a = map(3000 * MIB, -1);
    TRY(a != MAP_FAILED && is_lower(a, 3000 * MIB));
    a[2999 * MIB] = 1;
    TRY(munmap(a, 3000 * MIB) == 0);

    fd = memfd_create("guest", 0);
    TRY(fd >= 0 && ftruncate(fd, MIB) == 0);
    file = map(MIB, fd);
    TRY(file != MAP_FAILED && is_lower(file, MIB));
    b = map(MIB, fd);
    TRY(b != MAP_FAILED && b != file);
    file[5] = 'x';
    TRY(b[5] == 'x');
    TRY(map(MIB, 1000) == MAP_FAILED); /* no such descriptor */
    TRY(munmap(file, MIB) == 0 && munmap(b, MIB) == 0 && close(fd) == 0);
    TRY(is_occupied(file, MIB));

    id = shmget(IPC_PRIVATE, MIB, 0600);
    TRY(id >= 0);
    a = shmat(id, NULL, 0);
    TRY(shmctl(id, IPC_RMID, NULL) == 0);
    TRY(a != (char *)-1 && is_lower(a, MIB));
    a[0] = 1;
    TRY(shmdt(a) == 0 && shmdt(a) == -1 && is_occupied(a, MIB));

    TRY(sbrk(4096) == (void *)-1 && brk(a) == -1 && sbrk(0) != (void *)-1);
    for (size_t size = 1; size < 64 * MIB; size *= 3) {
        a = malloc(size);
        TRY(a != NULL && is_lower(a, size));
        free(a);
    }
    return NULL;
}

static int expected_flags(int fd, int flags)
{
    return fd >= 192 && fcntl(fd, F_GETFD) == flags;
}

/* A program started by the lower half gets the intended environment and descriptors. */
static const char *inheritance(void)
{
    char command[128];
    int given[2], kept[2], status;
    pid_t child;

    TRY(pipe(given) == 0 && pipe2(kept, O_CLOEXEC) == 0);
    TRY(expected_flags(given[0], 0) && expected_flags(kept[0], FD_CLOEXEC));
    snprintf(command, sizeof(command),
             "test -e /proc/self/fd/%d && test ! -e /proc/self/fd/%d", given[0],
             kept[0]);
    child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    TRY(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    TRY(fcntl(given[0], F_SETFD, FD_CLOEXEC) == 0);
    TRY(expected_flags(given[0], FD_CLOEXEC));
    TRY(close(given[0]) == 0 && close(given[1]) == 0 && close(given[1]) == -1);
    TRY(close(kept[0]) == 0 && close(kept[1]) == 0);
    return NULL;
}

/* A descriptor that comes in a message. */
static const char *passed(void)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    char byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    int ends[2], fd;

    memset(&control, 0, sizeof(control));
    TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    TRY(expected_flags(ends[0], 0) && expected_flags(ends[1], 0));
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.header), &ends[0], sizeof(int));
    TRY(sendmsg(ends[0], &message, 0) == 1);
    TRY(recvmsg(ends[1], &message, 0) == 1);
    memcpy(&fd, CMSG_DATA(&control.header), sizeof(int));
    TRY(fd != ends[0] && expected_flags(fd, 0));
    TRY(close(fd) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
    return NULL;
}

GUEST const char *guest_descriptors(void)
{
    int fds[8], count = 0;
    const char *wrong;
    FILE *file;
    DIR *directory;
    char name[] = "/tmp/guest-XXXXXX";

    fds[count++] = open("/dev/null", O_RDWR);
    fds[count++] = dup(fds[0]);
    fds[count++] = fcntl(fds[0], F_DUPFD, 3);
    fds[count++] = epoll_create1(0);
    fds[count++] = eventfd(0, 0);
    fds[count++] = socket(AF_UNIX, SOCK_STREAM, 0);
    fds[count++] = mkstemp(name);
    unlink(name);
    for (int i = 0; i < count; i++) {
        TRY(expected_flags(fds[i], 0));
        TRY(close(fds[i]) == 0);
    }
    TRY(open("/nonexistent/file", O_RDONLY) == -1);
    file = fopen("/dev/null", "w+e");
    TRY(file != NULL && expected_flags(fileno(file), FD_CLOEXEC));
    TRY(fclose(file) == 0);
    TRY(fopen("/dev/null", "z") == NULL);
    directory = opendir("/");
    TRY(directory != NULL && expected_flags(dirfd(directory), FD_CLOEXEC));
    TRY(readdir(directory) != NULL && closedir(directory) == 0);
    wrong = inheritance();
    return wrong != NULL ? wrong : passed();
}

static const void *stack_seen;
static uint64_t mask_seen;

static void *look(void *argument)
{
    sigset_t set;
    int here;

    stack_seen = &here;
    /* The lower half's library sees no signal as blocked. */
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    mask_seen = sigismember(&set, SIGUSR1) ? 1 : 0;
    return argument;
}

GUEST const char *guest_threads(int (*is_lower)(const void *, size_t))
{
    const void *first;
    pthread_attr_t attributes;
    pthread_t thread;
    void *result;

    TRY(pthread_create(&thread, NULL, look, &attributes) == 0);
    TRY(pthread_join(thread, &result) == 0 && result == &attributes);
    TRY(is_lower(stack_seen, 1) && mask_seen == 0);
    first = stack_seen;
    /* A stack is used again, whatever the number of threads. */
    for (int i = 0; i < 3000; i++) {
        TRY(pthread_create(&thread, NULL, look, NULL) == 0);
        TRY(pthread_join(thread, NULL) == 0 && stack_seen == first);
    }
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    for (int i = 0; i < 3000; i++) {
        TRY(pthread_create(&thread, &attributes, look, NULL) == 0);
    }
    pthread_attr_destroy(&attributes);
    return NULL;
}

GUEST const char *guest_signals(void)
{
    struct itimerval timer = {{0, 0}, {1, 0}};
    struct sigaction action, old;
    sigset_t set, seen;

    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_IGN;
    TRY(sigaction(SIGTERM, &action, NULL) == 0);
    TRY(sigaction(SIGTERM, NULL, &old) == 0 && old.sa_handler == SIG_IGN);
    TRY(signal(SIGTERM, SIG_DFL) == SIG_IGN);
    TRY(sigaction(0, &action, NULL) == -1 && sigaction(65, NULL, &old) == -1);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    TRY(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    TRY(sigprocmask(SIG_SETMASK, NULL, &seen) == 0);
    TRY(sigismember(&seen, SIGTERM) == 1 && sigismember(&seen, SIGINT) == 0);
    TRY(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
    TRY(sigprocmask(SIG_SETMASK, NULL, &seen) == 0);
    TRY(sigismember(&seen, SIGTERM) == 0);
    TRY(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    return NULL;
}

/* Returns how often this thread slept during a hundred yields. */
GUEST int guest_yields(void)
{
    struct rusage before, after;

    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < 100; i++) {
        sched_yield();
    }
    getrusage(RUSAGE_THREAD, &after);
    return (int)(after.ru_nvcsw - before.ru_nvcsw);
}

/* ---- What a lower half has when it is discarded ------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t never;
    int pipe[2];
    int epoll;
    volatile int spins;
} busy = {.lock = PTHREAD_MUTEX_INITIALIZER, .never = PTHREAD_COND_INITIALIZER};

static void *wait_for_condition(void *argument)
{
    pthread_mutex_lock(&busy.lock);
    for (;;) {
        pthread_cond_wait(&busy.never, &busy.lock);
    }
    return argument;
}

static void *wait_for_input(void *argument)
{
    char byte;

    while (read(busy.pipe[0], &byte, 1) != 1 || byte != 'e') {
    }
    return argument;
}

static void *wait_for_event(void *argument)
{
    struct epoll_event event;

    for (;;) {
        (void)epoll_wait(busy.epoll, &event, 1, -1);
    }
    return argument;
}

static void *never_wait(void *argument)
{
    for (;;) {
        busy.spins++;
        free(malloc(5000));
    }
    return argument;
}

/* Blocks all signals by other means than libc's: it cannot be halted. */
static volatile int deaf_tid, deaf_ends;
static void *be_deaf(void *argument)
{
    const uint64_t all = ~UINT64_C(0);

    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
    deaf_tid = (int)syscall(SYS_gettid);
    while (!deaf_ends) {
        sched_yield();
    }
    return argument;
}

static pthread_t deaf;
GUEST int guest_deaf(void)
{
    deaf_ends = 0;
    deaf_tid = 0;
    if (pthread_create(&deaf, NULL, be_deaf, NULL) != 0) {
        return 0;
    }
    while (deaf_tid == 0) {
        sched_yield();
    }
    return deaf_tid;
}

GUEST int guest_hear(void)
{
    deaf_ends = 1;
    return pthread_join(deaf, NULL);
}

/* Starts a thread in each kind of wait, and one that never waits; makes a file in /dev/shm that it
 * maps, one that it only writes, and maps one of another process. The paths are the test's. */
GUEST const char *guest_settle(const char *mapped, const char *written, const char *others)
{
    static void *(*const waits[])(void *) = {wait_for_condition, wait_for_input, wait_for_event,
                                             never_wait};
    static struct aiocb control;
    const struct aiocb *list[] = {&control};
    static char byte = 'x';
    pthread_t thread;
    int fd, seen;

    TRY(pipe(busy.pipe) == 0);
    busy.epoll = epoll_create1(0);
    TRY(busy.epoll >= 0 && socket(AF_UNIX, SOCK_STREAM, 0) >= 0 && eventfd(0, 0) >= 0);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        TRY(pthread_create(&thread, NULL, waits[i], NULL) == 0);
    }
    for (seen = busy.spins; busy.spins == seen;) { /* it runs */
        sched_yield();
    }
    fd = open(mapped, O_CREAT | O_RDWR, 0600);
    TRY(fd >= 0 && ftruncate(fd, MIB) == 0 && map(MIB, fd) != MAP_FAILED && close(fd) == 0);
    fd = open(written, O_CREAT | O_RDWR, 0600);
    TRY(fd >= 0 && write(fd, "x", 1) == 1);
    control.aio_fildes = fd;
    control.aio_buf = &byte;
    control.aio_nbytes = 1;
    control.aio_sigevent.sigev_notify = SIGEV_NONE;
    TRY(aio_write(&control) == 0 && aio_suspend(list, 1, NULL) == 0);
    fd = open(others, O_CREAT | O_RDWR, 0600);
    TRY(fd >= 0 && map(MIB, fd) != MAP_FAILED);
    memset(malloc(4 * MIB), 1, 4 * MIB);
    return NULL;
}
