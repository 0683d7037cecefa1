/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * relieved.c PLACE [FILE [MIB]] - the ranks never end by themselves: another process is to take
 * their place. Each says "ready" when it is at PLACE:
 *
 *   compute     in its own code, outside MPI
 *   allocate    in malloc and free
 *   receive     rank 0 in MPI_Recv, for a message that is never sent
 *   barrier     rank 0 in MPI_Barrier, without the others
 *   duplicate   rank 0 in MPI_Comm_dup, without the others
 *   threads     three threads in MPI_Recv at once (MPI_THREAD_MULTIPLE)
 *   write       a second thread appends to FILE.RANK, and forks a child that appends to
 *               FILE.RANK.child
 *   lock        with locks of fcntl(2) on FILE.RANK and, by standard input, on FILE.RANK.input
 *   timers      with timers of all kinds, and a semaphore (FILE.RANK has its id) to be undone
 *   deaf        with all signals blocked, by a system call
 *   memory      with MIB of memory
 *   finalized   after MPI_Finalize
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3

static int rank, size;
static char file[4096];
static volatile uint64_t sink;

static void check(int holds, const char *what)
{
    if (!holds) {
        perror(what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void ready(void)
{
    printf("ready %d\n", rank);
    fflush(stdout);
}

static void compute(void)
{
    for (;;) {
        sink++;
    }
}

static void allocate(void)
{
    for (;;) {
        void *volatile memory = malloc((size_t)(sink++ % 5000) + 1);

        free(memory);
    }
}

static void *receive(void *tag)
{
    int nothing;

    MPI_Recv(&nothing, 1, MPI_INT, size - 1, (int)(intptr_t)tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return tag;
}

/* Rank 0 is in the call, the others are not. */
static void wait_for_nobody(const char *place)
{
    MPI_Comm comm;

    if (rank != 0) {
        compute();
    } else if (strcmp(place, "receive") == 0) {
        receive(NULL);
    } else if (strcmp(place, "barrier") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
}

static void start(void *(*run)(void *), void *argument)
{
    pthread_t thread;

    check(pthread_create(&thread, NULL, run, argument) == 0, "pthread_create");
}

static void receive_in_threads(void)
{
    for (intptr_t i = 1; i < THREADS; i++) {
        start(receive, (void *)i);
    }
    receive(NULL);
}

static void append(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

    check(fd >= 0, path);
    for (;;) {
        check(write(fd, "x", 1) == 1, "write");
    }
}

static void *append_in_thread(void *unused)
{
    append(file);
    return unused;
}

static void write_files(void)
{
    char path[sizeof(file) + 8];

    snprintf(path, sizeof(path), "%s.child", file);
    if (fork() == 0) {
        append(path);
    }
    start(append_in_thread, NULL);
    compute();
}

static void lock(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    check(fcntl(fd, F_SETLK, &all) == 0, "fcntl");
}

static void lock_files(void)
{
    char path[sizeof(file) + 8];
    const int fd = open(file, O_RDWR | O_CREAT, 0600);

    snprintf(path, sizeof(path), "%s.input", file);
    check(fd >= 0 && close(STDIN_FILENO) == 0, file);
    check(open(path, O_RDWR | O_CREAT, 0600) == STDIN_FILENO, path);
    lock(fd);
    lock(STDIN_FILENO);
    ready();
    compute();
}

static void count_signal(int number)
{
    sink += (uint64_t)number;
}

static void use_timers(void)
{
    const struct itimerval often = {{0, 10000}, {0, 10000}};
    const struct itimerspec often_too = {{0, 10000000}, {0, 10000000}};
    struct sembuf up = {.sem_num = 0, .sem_op = 5, .sem_flg = SEM_UNDO};
    const int set = semget(IPC_PRIVATE, 1, 0600);
    FILE *name = fopen(file, "w");
    timer_t timer;

    check(set >= 0 && semop(set, &up, 1) == 0, "semop");
    check(name != NULL && fprintf(name, "%d\n", set) > 0 && fclose(name) == 0, file);
    signal(SIGALRM, count_signal);
    signal(SIGVTALRM, count_signal);
    signal(SIGPROF, count_signal);
    check(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0, "timer_create");
    check(timer_settime(timer, 0, &often_too, NULL) == 0, "timer_settime");
    check(setitimer(ITIMER_REAL, &often, NULL) == 0, "setitimer");
    check(setitimer(ITIMER_VIRTUAL, &often, NULL) == 0, "setitimer");
    check(setitimer(ITIMER_PROF, &often, NULL) == 0, "setitimer");
    ready();
    compute();
}

/* By the instruction: libc's functions do not block the signal by which ranks are stopped. */
static void be_deaf(void)
{
    const uint64_t all = ~UINT64_C(0);
    register long size_of_set __asm__("r10") = sizeof(all);
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_rt_sigprocmask), "D"(SIG_SETMASK), "S"(&all), "d"(NULL),
                       "r"(size_of_set)
                     : "rcx", "r11", "memory");
    check(result == 0, "rt_sigprocmask");
    ready();
    compute();
}

static void use_memory(size_t mib)
{
    char *memory = malloc(mib << 20);

    check(memory != NULL, "malloc");
    memset(memory, rank + 1, mib << 20);
    ready();
    for (;;) {
        sink += (uint64_t)memory[sink % (mib << 20)];
    }
}

static void finalize(void)
{
    MPI_Finalize();
    ready();
    compute();
}

static void go_to(const char *place, size_t mib)
{
    if (strcmp(place, "lock") == 0) {
        lock_files();
    } else if (strcmp(place, "timers") == 0) {
        use_timers();
    } else if (strcmp(place, "deaf") == 0) {
        be_deaf();
    } else if (strcmp(place, "memory") == 0) {
        use_memory(mib);
    } else if (strcmp(place, "finalized") == 0) {
        finalize();
    }
    ready();
    if (strcmp(place, "compute") == 0) {
        compute();
    } else if (strcmp(place, "allocate") == 0) {
        allocate();
    } else if (strcmp(place, "threads") == 0) {
        receive_in_threads();
    } else if (strcmp(place, "write") == 0) {
        write_files();
    } else {
        wait_for_nobody(place);
    }
}

int main(int argc, char **argv)
{
    const char *place = argc > 1 ? argv[1] : "compute";
    const int level = strcmp(place, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int provided;

    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check(provided >= level, "MPI_Init_thread");
    snprintf(file, sizeof(file), "%s.%d", argc > 2 ? argv[2] : "file", rank);
    go_to(place, argc > 3 ? strtoul(argv[3], NULL, 10) : 1);
    return 1; /* a message that is never sent has come */
}
