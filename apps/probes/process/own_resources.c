/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_resources.c - one rank with a thread, timers, a pending signal, descriptors that lead to
 * itself, a locked file, and attributes of its process.
 *
 * argv[2]: MiB of memory that it fills. argv[3]: what else it has: `multiple`
 * (MPI_THREAD_MULTIPLE), `shared` (memory for its children), `mapped` (a file of its own),
 * `signals` (by epoll).
 */
#include "probes/probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

#define FILE_NAME "own_resources.txt"
#define TEXT      "0123456789"
#define HIGH      200 /* number of a descriptor */
#define WORD      512 /* one word of memory in so many is checked */

static volatile sig_atomic_t ticks; /* of the POSIX timer */
static volatile long turns;         /* of the thread */
static volatile int ends;

static struct {
    pthread_t thread;
    timer_t timer;
    int pipe[2], pair[2], counter, clock, epoll, written, read, status, task;
    uint64_t *memory;
    size_t words;
    pid_t pid;
    char directory[4096], score[16];
    struct timespec before;
} own;

static void tick(int signal)
{
    (void)signal;
    ticks++;
}

static void *turn(void *argument)
{
    while (!ends) {
        turns++;
        usleep(1000);
    }
    return argument;
}

static void read_score(char score[16])
{
    const int fd = open("/proc/self/oom_score_adj", O_RDONLY);
    const ssize_t size = read(fd, score, 15);

    CHECK(fd >= 0 && size > 0);
    score[size] = '\0';
    close(fd);
}

static void fill_memory(long mebibytes)
{
    own.words = (size_t)mebibytes * 1024 * 1024 / sizeof(*own.memory);
    own.memory = malloc(own.words * sizeof(*own.memory) + 1);
    CHECK(own.memory != NULL);
    for (size_t i = 0; i < own.words; i += WORD) {
        own.memory[i] = i * 7;
    }
}

static void watch(int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    CHECK(epoll_ctl(own.epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void make_descriptors(void)
{
    const struct itimerspec often = {{0, 10000000}, {0, 10000000}};
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 4};
    int fd;

    CHECK(pipe(own.pipe) == 0 && write(own.pipe[1], "piped", 5) == 5);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, own.pair) == 0);
    CHECK(write(own.pair[0], "paired", 6) == 6);
    own.counter = eventfd(5, EFD_CLOEXEC);
    fd = timerfd_create(CLOCK_MONOTONIC, 0);
    own.clock = dup2(fd, HIGH);
    close(fd);
    own.epoll = epoll_create1(0);
    CHECK(own.counter >= 0 && own.clock == HIGH && own.epoll >= 0);
    watch(own.counter);
    watch(own.pipe[0]);
    CHECK(timerfd_settime(own.clock, 0, &often, NULL) == 0);
    own.written = open(FILE_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    own.read = open(FILE_NAME, O_RDONLY);
    CHECK(write(own.written, TEXT, 10) == 10 && lseek(own.read, 3, SEEK_SET) == 3);
    CHECK(fcntl(own.written, F_SETLK, &lock) == 0);
    own.status = open("/proc/self/status", O_RDONLY);
    own.task = open("/proc/thread-self/comm", O_RDONLY);
    CHECK(own.status >= 0 && own.task >= 0);
}

static void make_signals(void)
{
    const struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    const struct itimerspec often = {{0, 10000000}, {0, 10000000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};

    CHECK(sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 42}) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &own.timer) == 0);
    CHECK(timer_settime(own.timer, 0, &often, NULL) == 0);
}

static void make_process(void)
{
    struct rlimit limit;

    own.pid = getpid();
    CHECK(getcwd(own.directory, sizeof(own.directory)) != NULL);
    read_score(own.score);
    umask(027);
    CHECK(prctl(PR_SET_NAME, "own-name", 0, 0, 0) == 0);
    CHECK(getrlimit(RLIMIT_CORE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max = 0;
    CHECK(setrlimit(RLIMIT_CORE, &limit) == 0);
    clock_gettime(CLOCK_MONOTONIC, &own.before);
}

static void check_descriptors(void)
{
    struct epoll_event events[4];
    char bytes[16] = "";
    uint64_t number = 0;

    CHECK(epoll_wait(own.epoll, events, 4, 0) == 2);
    CHECK(read(own.pipe[0], bytes, sizeof(bytes)) == 5 && memcmp(bytes, "piped", 5) == 0);
    CHECK(write(own.pipe[1], "more", 4) == 4 && read(own.pipe[0], bytes, 4) == 4);
    CHECK(read(own.pair[1], bytes, sizeof(bytes)) == 6 && memcmp(bytes, "paired", 6) == 0);
    CHECK(read(own.counter, &number, sizeof(number)) == sizeof(number) && number == 5);
    CHECK((fcntl(own.counter, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK((fcntl(own.clock, F_GETFD) & FD_CLOEXEC) == 0);
    CHECK(read(own.clock, &number, sizeof(number)) == sizeof(number) && number > 0);
    CHECK(read(own.read, bytes, 4) == 4 && memcmp(bytes, "3456", 4) == 0);
    CHECK(lseek(own.written, 0, SEEK_CUR) == 10 && write(own.written, "ab", 2) == 2);
}

/* Another process sees the lock. */
static void check_lock(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        _exit(fcntl(own.written, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void check_signals(void)
{
    const struct timespec second = {1, 0};
    const sig_atomic_t seen = ticks;
    sigset_t blocked;
    siginfo_t info;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    CHECK(sigtimedwait(&blocked, &info, &second) == SIGUSR2);
    CHECK(info.si_value.sival_int == 42 && info.si_pid == own.pid);
    while (ticks == seen) {
        usleep(1000);
    }
    timer_delete(own.timer);
}

static void check_process(void)
{
    char text[4096] = "";
    struct rlimit limit;
    struct timespec now;

    CHECK(getpid() == own.pid);
    CHECK(getcwd(text, sizeof(text)) != NULL && strcmp(text, own.directory) == 0);
    read_score(text);
    CHECK(strcmp(text, own.score) == 0);
    CHECK(umask(022) == 027);
    CHECK(prctl(PR_GET_NAME, text, 0, 0, 0) == 0 && strcmp(text, "own-name") == 0);
    CHECK(pread(own.status, text, sizeof(text) - 1, 0) > 0);
    CHECK(strstr(text, "Umask:\t0022") != NULL);
    CHECK(pread(own.task, text, sizeof(text) - 1, 0) > 0 && strstr(text, "own-name") != NULL);
    CHECK(getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    CHECK(now.tv_sec > own.before.tv_sec ||
          (now.tv_sec == own.before.tv_sec && now.tv_nsec > own.before.tv_nsec));
}

static void check_memory(void)
{
    for (size_t i = 0; i < own.words; i += WORD) {
        CHECK(own.memory[i] == i * 7);
    }
}

static void map(int flags, int fd)
{
    CHECK(mmap(NULL, 4096, PROT_READ, flags, fd, 0) != MAP_FAILED);
}

static void make_more(const char *what)
{
    sigset_t set;
    int fd;

    if (strcmp(what, "shared") == 0) {
        map(MAP_SHARED | MAP_ANONYMOUS, -1);
    } else if (strcmp(what, "mapped") == 0) {
        map(MAP_PRIVATE, own.read);
    } else if (strcmp(what, "signals") == 0) {
        sigemptyset(&set);
        sigaddset(&set, SIGWINCH);
        fd = signalfd(-1, &set, 0);
        watch(fd);
    }
}

/* Threads of the MPI library inherit it. */
static void block_signal(void)
{
    sigset_t blocked;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &blocked, NULL) == 0);
}

int main(int argc, char **argv)
{
    const char *const what = argc > 3 ? argv[3] : "";
    long seen;
    int level;

    block_signal();
    if (strcmp(what, "multiple") == 0) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
        probe_begin_initialized(argc, argv, 1);
    } else {
        probe_begin(argc, argv, 1);
    }
    fill_memory(argc > 2 ? atol(argv[2]) : 1);
    make_process();
    make_descriptors();
    make_more(what);
    make_signals();
    CHECK(pthread_create(&own.thread, NULL, turn, NULL) == 0);
    probe_gate();
    check_descriptors();
    check_lock();
    check_signals();
    check_process();
    check_memory();
    for (seen = turns; turns == seen;) { /* the thread runs */
        usleep(1000);
    }
    ends = 1;
    pthread_join(own.thread, NULL);
    return probe_end();
}
