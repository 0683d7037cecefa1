/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timed_waits.c - threads in calls with a time-out: a checkpoint ends none of
 * the calls, and none ends early.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#define MILLISECONDS 700

static const struct timespec duration = {0, MILLISECONDS * 1000000l};
static int epoll, timed_socket[2], semaphores;
static volatile int is_over;

/* Returns the time of day: the other clocks do not count the time until a
 * restart, and some of the waits are for a time of day. */
static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct timespec later(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    time.tv_nsec += duration.tv_nsec;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* Each function waits for an event that never comes; returns 1 if the call
 * reports the time-out. */

static int do_nanosleep(void)
{
    return nanosleep(&duration, NULL) == 0;
}

static int do_usleep(void)
{
    return usleep(MILLISECONDS * 1000) == 0;
}

static int do_sleep(void)
{
    return sleep(1) == 0;
}

static int do_clock_nanosleep(void)
{
    struct timespec end = later(CLOCK_REALTIME);

    return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, NULL) == 0;
}

static int do_poll(void)
{
    return poll(NULL, 0, MILLISECONDS) == 0;
}

static int do_select(void)
{
    struct timeval time = {0, MILLISECONDS * 1000};

    return select(0, NULL, NULL, NULL, &time) == 0;
}

static int do_epoll_wait(void)
{
    struct epoll_event event;

    return epoll_wait(epoll, &event, 1, MILLISECONDS) == 0;
}

static int do_recv(void)
{
    char byte;

    return recv(timed_socket[0], &byte, 1, 0) < 0 && errno == EAGAIN;
}

static int do_semtimedop(void)
{
    struct sembuf take = {0, -1, 0};

    return semtimedop(semaphores, &take, 1, &duration) < 0 && errno == EAGAIN;
}

static int do_sem_timedwait(void)
{
    struct timespec end = later(CLOCK_REALTIME);
    sem_t semaphore;

    sem_init(&semaphore, 0, 0);
    return sem_timedwait(&semaphore, &end) < 0 && errno == ETIMEDOUT;
}

static int do_condition(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec end = later(CLOCK_REALTIME);
    int result;

    pthread_mutex_lock(&mutex);
    /* POSIX allows spurious wake-ups. */
    do {
        result = pthread_cond_timedwait(&condition, &mutex, &end);
    } while (result == 0);
    pthread_mutex_unlock(&mutex);
    return result == ETIMEDOUT;
}

static int do_futex(void)
{
    int word = 1;

    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &duration, NULL,
                   0) < 0 &&
           errno == ETIMEDOUT;
}

static int do_sigtimedwait(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return sigtimedwait(&set, NULL, &duration) < 0 && errno == EAGAIN;
}

static int (*const waits[])(void) = {
    do_nanosleep,
    do_usleep,
    do_sleep,
    do_clock_nanosleep,
    do_poll,
    do_select,
    do_epoll_wait,
    do_recv,
    do_semtimedop,
    do_sem_timedwait,
    do_condition,
    do_futex,
    do_sigtimedwait,
};
#define COUNT (sizeof waits / sizeof waits[0])

static void *wait_again_and_again(void *wait)
{
    long rounds = 0;

    while (!is_over || rounds == 0) {
        double start = now();

        CHECK((*(int (*const *)(void))wait)());
        CHECK(now() - start >= 1e-3 * (MILLISECONDS - 1));
        rounds++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct timeval time = {0, MILLISECONDS * 1000};
    pthread_t threads[COUNT];

    probe_begin(argc, argv, 2);
    epoll = epoll_create1(0);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    CHECK(epoll >= 0 && semaphores >= 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, timed_socket) == 0);
    CHECK(setsockopt(timed_socket[0], SOL_SOCKET, SO_RCVTIMEO, &time,
                     sizeof time) == 0);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(pthread_create(&threads[i], NULL, wait_again_and_again,
                             (void *)&waits[i]) == 0);
    }
    probe_gate();
    is_over = 1;
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(semctl(semaphores, 0, IPC_RMID) == 0);
    return probe_end();
}
