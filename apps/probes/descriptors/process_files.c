/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_files.c - files below /proc of the process and of its threads, opened before a
 * checkpoint, or opened by a remembered id after it.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/stat.h>

#define NAME "the-other\n" /* of the other thread, as the kernel shows it */

static struct {
    int size, memory, first, other, twin, directory, tasks, itself, info;
} files;

static sem_t known, end;
static pid_t other_thread;

static void *run_other(void *argument)
{
    CHECK(pthread_setname_np(pthread_self(), "the-other") == 0);
    other_thread = gettid();
    CHECK(sem_post(&known) == 0);
    while (sem_wait(&end) != 0) {
        CHECK(errno == EINTR);
    }
    return argument;
}

/* /proc/PROCESS/task/THREAD/FILE; process 0: "self". */
static const char *task_path(pid_t process, pid_t thread, const char *file)
{
    static char path[128];
    char number[16] = "self";

    if (process != 0) {
        snprintf(number, sizeof number, "%d", (int)process);
    }
    snprintf(path, sizeof path, "/proc/%s/task/%d%s", number, (int)thread, file);
    return path;
}

static int opened(int directory, const char *path, int flags)
{
    const int fd = openat(directory, path, flags);

    CHECK(fd >= 0);
    return fd;
}

static void open_all(void)
{
    char path[64];

    files.size = opened(AT_FDCWD, "/proc/self/statm", O_RDONLY);
    files.memory = opened(AT_FDCWD, "/proc/self/mem", O_RDWR);
    files.first = opened(AT_FDCWD, task_path(0, getpid(), "/comm"), O_RDONLY);
    files.other = opened(AT_FDCWD, task_path(0, other_thread, "/comm"), O_RDONLY);
    files.twin = dup(files.other);
    CHECK(files.twin >= 0);
    files.directory = opened(AT_FDCWD, task_path(0, other_thread, ""), O_RDONLY);
    files.tasks = opened(AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY);
    files.itself = opened(AT_FDCWD, "/proc/self", O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", files.size);
    files.info = opened(AT_FDCWD, path, O_RDONLY);
}

static void check_text(int fd, const char *expected)
{
    char text[64] = "";

    CHECK(pread(fd, text, sizeof text - 1, 0) > 0);
    CHECK(strncmp(text, expected, strlen(expected)) == 0);
}

static void check_text_of(int directory, const char *path, const char *expected)
{
    const int fd = opened(directory, path, O_RDONLY);

    check_text(fd, expected);
    CHECK(close(fd) == 0);
}

static void check_open_ones(const char *own_name)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    static volatile int value;
    char text[64] = "";
    int copy = 0;

    value = 7 + probe_rank;
    CHECK(pread(files.memory, &copy, sizeof copy, (off_t)&value) == sizeof copy);
    CHECK(copy == value);
    copy = 11;
    CHECK(pwrite(files.memory, &copy, sizeof copy, (off_t)&value) == sizeof copy);
    CHECK(value == 11);
    CHECK(pread(files.size, text, sizeof text - 1, 0) > 0);
    CHECK(atol(text) > 0 && atol(text) < 1000 * pages);
    check_text(files.first, own_name);
    check_text(files.other, NAME);
    check_text(files.twin, NAME);
    check_text(files.info, "pos:\t0\n");
    check_text_of(files.directory, "comm", NAME);
    check_text_of(files.itself, "comm", own_name);
}

/* Checks names by the ids that the program has remembered. */
static void check_names(pid_t own, const char *own_name)
{
    char path[64];
    struct stat status, named;

    check_text_of(AT_FDCWD, task_path(0, own, "/comm"), own_name);
    check_text_of(AT_FDCWD, task_path(own, own, "/comm"), own_name);
    check_text_of(AT_FDCWD, task_path(own, other_thread, "/comm"), NAME);
    check_text_of(AT_FDCWD, task_path(0, other_thread, "/comm"), NAME);
    snprintf(path, sizeof path, "%d/comm", (int)own);
    check_text_of(files.tasks, path, own_name);
    CHECK(faccessat(files.tasks, path, R_OK, 0) == 0);
    snprintf(path, sizeof path, "%d/comm", (int)other_thread);
    check_text_of(files.tasks, path, NAME);
    CHECK(fstatat(files.tasks, path, &named, 0) == 0);
    CHECK(fstat(files.other, &status) == 0 && status.st_ino == named.st_ino);
    CHECK(stat(task_path(own, other_thread, "/comm"), &named) == 0);
    CHECK(status.st_ino == named.st_ino);
}

int main(int argc, char **argv)
{
    const pid_t own = getpid();
    char own_name[64] = "";
    pthread_t other;
    int fd;

    probe_begin(argc, argv, 2);
    CHECK(sem_init(&known, 0, 0) == 0 && sem_init(&end, 0, 0) == 0);
    CHECK(pthread_create(&other, NULL, run_other, NULL) == 0);
    while (sem_wait(&known) != 0) {
        CHECK(errno == EINTR);
    }
    open_all();
    fd = opened(AT_FDCWD, "/proc/self/comm", O_RDONLY);
    CHECK(read(fd, own_name, sizeof own_name - 1) > 0 && close(fd) == 0);
    probe_gate();
    check_open_ones(own_name);
    check_names(own, own_name);
    CHECK(sem_post(&end) == 0 && pthread_join(other, NULL) == 0);
    return probe_end();
}
