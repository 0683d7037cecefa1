/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_state.c - state of a process besides memory and MPI: open files,
 * pipes, event counters, signals, masks, directories.
 *
 * argv: GATE. Works in its current directory, which must be writable.
 */
#include "probes/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#define TEXT "0123456789"

static volatile sig_atomic_t usr1_count, alarm_count, on_alternate_stack;
static char alternate_stack[65536];

struct state {
    int reader, writer, appender, copy;
    int pipe[2], events, null, blocked[2];
    char directory[4096];
    pthread_t thread;
};

static void on_usr1(int signal, siginfo_t *info, void *context)
{
    char here;

    (void)signal, (void)info, (void)context;
    usr1_count++;
    on_alternate_stack = &here >= alternate_stack &&
                         &here < alternate_stack + sizeof alternate_stack;
}

static void on_alarm(int signal)
{
    (void)signal;
    alarm_count++;
}

/* A thread that is inside read() at the checkpoint. */
static void *read_byte(void *state)
{
    char byte = 0;
    ssize_t size = read(((struct state *)state)->blocked[0], &byte, 1);

    return (void *)(intptr_t)(size == 1 ? byte : -errno);
}

static int open_own(const char *name, int flags)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "%s.%d", name, probe_rank);
    fd = open(path, flags, 0666);
    CHECK(fd >= 0);
    return fd;
}

static void open_files(struct state *s)
{
    s->writer = open_own("written", O_CREAT | O_TRUNC | O_RDWR);
    CHECK(write(s->writer, TEXT TEXT, 20) == 20);
    CHECK(lseek(s->writer, 5, SEEK_SET) == 5);
    s->reader = open_own("written", O_RDONLY | O_CLOEXEC);
    CHECK(lseek(s->reader, 12, SEEK_SET) == 12);
    s->appender = open_own("appended", O_CREAT | O_TRUNC | O_WRONLY | O_APPEND);
    CHECK(write(s->appender, TEXT, 10) == 10);
    s->copy = dup(s->writer);
    CHECK(s->copy >= 0);
    CHECK(pipe(s->pipe) == 0 && pipe(s->blocked) == 0);
    CHECK(write(s->pipe[1], "in the pipe", 11) == 11);
    s->events = eventfd(7, EFD_NONBLOCK);
    CHECK(s->events >= 0);
    s->null = open("/dev/null", O_WRONLY);
    CHECK(s->null >= 0);
}

static void check_files(struct state *s)
{
    char text[64] = "";
    uint64_t count = 0;
    struct stat status;

    CHECK(lseek(s->copy, 0, SEEK_CUR) == 5); /* shares the writer's offset */
    CHECK(write(s->copy, "abc", 3) == 3);
    CHECK(lseek(s->writer, 0, SEEK_CUR) == 8);
    CHECK(pread(s->writer, text, 20, 0) == 20);
    CHECK(memcmp(text, "01234abc890123456789", 20) == 0);
    CHECK(read(s->reader, text, sizeof text) == 8);
    CHECK(memcmp(text, "23456789", 8) == 0);
    CHECK(fcntl(s->reader, F_GETFD) == FD_CLOEXEC);
    CHECK(fcntl(s->writer, F_GETFD) == 0);
    CHECK((fcntl(s->appender, F_GETFL) & (O_ACCMODE | O_APPEND)) ==
          (O_WRONLY | O_APPEND));
    CHECK(write(s->appender, "more", 4) == 4);
    CHECK(fstat(s->appender, &status) == 0 && status.st_size == 14);
    CHECK(read(s->pipe[0], text, sizeof text) == 11);
    CHECK(memcmp(text, "in the pipe", 11) == 0);
    CHECK(write(s->pipe[1], "x", 1) == 1 && read(s->pipe[0], text, 9) == 1);
    CHECK(read(s->events, &count, sizeof count) == sizeof count && count == 7);
    CHECK(read(s->events, &count, sizeof count) < 0 && errno == EAGAIN);
    CHECK(write(s->null, text, 5) == 5);
}

static void set_signals(void)
{
    const stack_t stack = {.ss_sp = alternate_stack,
                           .ss_size = sizeof alternate_stack};
    struct sigaction action = {.sa_sigaction = on_usr1,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigset_t blocked;

    CHECK(sigaltstack(&stack, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(signal(SIGALRM, on_alarm) != SIG_ERR);
    CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    CHECK(sigprocmask(SIG_BLOCK, &blocked, NULL) == 0);
}

static void check_signals(void)
{
    struct sigaction action;
    sigset_t blocked, pending;

    CHECK(sigaction(SIGUSR1, NULL, &action) == 0);
    CHECK(action.sa_sigaction == on_usr1);
    CHECK((action.sa_flags & SA_ONSTACK) != 0);
    CHECK(raise(SIGUSR1) == 0);
    CHECK(usr1_count == 1 && on_alternate_stack);
    CHECK(sigaction(SIGPIPE, NULL, &action) == 0);
    CHECK(action.sa_handler == SIG_IGN);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0);
    CHECK(sigismember(&blocked, SIGTERM) && !sigismember(&blocked, SIGUSR1));
    CHECK(raise(SIGTERM) == 0); /* stays pending */
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGTERM));
    alarm(1);
    while (alarm_count == 0) {
        pause();
    }
    CHECK(alarm_count == 1);
}

int main(int argc, char **argv)
{
    static struct state s;
    char directory[4096];
    void *result;

    probe_begin(argc, argv, 2);
    umask(027);
    CHECK(getcwd(s.directory, sizeof s.directory) != NULL);
    open_files(&s);
    set_signals();
    CHECK(pthread_create(&s.thread, NULL, read_byte, &s) == 0);
    probe_gate();
    check_files(&s);
    check_signals();
    CHECK(write(s.blocked[1], "!", 1) == 1);
    CHECK(pthread_join(s.thread, &result) == 0);
    CHECK((intptr_t)result == '!');
    CHECK(umask(0) == 027);
    CHECK(getcwd(directory, sizeof directory) != NULL);
    CHECK(strcmp(directory, s.directory) == 0);
    return probe_end();
}
