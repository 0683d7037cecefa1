/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * discard_subject.c - part of lower_subject: discards lower halves and checks its own process.
 */
#include "config.h"
#include "tests/lower_subject.h"

#include "lower/discard.h"
#include "lower/mappings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* What a process has that must not grow. */
struct extent {
    int mappings, threads, descriptors;
    long resident; /* pages */
};

static int count_entries(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;

    CHECK(directory != NULL, "%s", path);
    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count;
}

static struct extent measure(void)
{
    struct extent extent = {.threads = count_entries("/proc/self/task"),
                            .descriptors = count_entries("/proc/self/fd")};
    FILE *file = fopen("/proc/self/maps", "r");
    int c;

    while ((c = fgetc(file)) != EOF) {
        extent.mappings += c == '\n';
    }
    fclose(file);
    file = fopen("/proc/self/statm", "r");
    CHECK(fscanf(file, "%*d %ld", &extent.resident) == 1, "statm");
    fclose(file);
    return extent;
}

static int upper_pipe[2];
static volatile long upper_turns;

static void *upper_reads(void *argument)
{
    char byte;

    CHECK(read(upper_pipe[0], &byte, 1) == 1 && byte == 'u', "another byte");
    return argument;
}

static void *upper_turns_on(void *argument)
{
    while (!upper_stop) {
        upper_turns++;
    }
    return argument;
}

static void shared_path(char path[64], const char *name)
{
    snprintf(path, 64, "/dev/shm/ckpt-test-%s.%d", name, getpid());
}

/* Loads the guest, has it make what it can, and discards it. */
static void discard_once(const char *mapped, const char *written, const char *others)
{
    typedef const char *(*settle_t)(const char *, const char *, const char *);
    struct ckpt_failure failure = {.text = ""};
    const char *wrong;
    uintptr_t lent;

    CHECK(load("./lower_guest.so", &failure) == 0, "%s", failure.text);
    wrong = BELOW(((settle_t)function[GUEST_SETTLE])(mapped, written, others));
    CHECK(wrong == NULL, "%s", wrong);
    CHECK(BELOW(lower.lend(&lent)) == 0, "lend");
    CHECK(ckpt_discard_prepare(&lower, &failure) == 0, "%s", failure.text);
    CHECK(ckpt_discard(&lower, &failure) == 0, "%s", failure.text);
    CHECK(lower.thread_pointer == 0 && lower.owns_thread == NULL, "the table is not cleared");
    CHECK(access(mapped, F_OK) != 0, "%s is left", mapped);
    CHECK(access(written, F_OK) == 0 && access(others, F_OK) == 0, "a file is gone");
    CHECK(unlink(written) == 0, "%s", written);
}

void mode_discard(void)
{
    static struct open_file before[DESCRIPTORS];
    char mapped[64], written[64], others[64], *block = malloc(1 << 20);
    struct signal_state signals, signals_now;
    struct extent early, late;
    pthread_t threads[4];
    long turns;

    shared_path(mapped, "mapped");
    shared_path(written, "written");
    shared_path(others, "others");
    CHECK(truncate(others, 1 << 20) != 0 && close(open(others, O_CREAT | O_RDWR, 0600)) == 0 &&
              truncate(others, 1 << 20) == 0,
          "%s", others);
    memset(block, 7, 1 << 20);
    signal(SIGUSR1, handler);
    CHECK(pipe(upper_pipe) == 0, "pipe");
    pthread_create(&threads[0], NULL, upper_turns_on, NULL);
    for (int i = 1; i < 4; i++) {
        pthread_create(&threads[i], NULL, upper_reads, NULL);
    }
    alone = 1; /* our threads map none */
    for (int i = 0; i < 5; i++) {
        discard_once(mapped, written, others);
    }
    read_descriptors(before);
    read_signals(&signals);
    early = measure();
    for (int i = 0; i < 200; i++) {
        discard_once(mapped, written, others);
    }
    late = measure();
    printf("mappings %d %d, threads %d %d, descriptors %d %d, resident %ld %ld pages\n",
           early.mappings, late.mappings, early.threads, late.threads, early.descriptors,
           late.descriptors, early.resident, late.resident);
    CHECK(late.mappings <= early.mappings && late.threads == early.threads &&
              late.descriptors == early.descriptors && late.resident < early.resident + 64,
          "they grow");
    check_same_descriptors(before);
    read_signals(&signals_now);
    CHECK(memcmp(&signals, &signals_now, sizeof(signals)) == 0, "signals");
    turns = upper_turns;
    while (upper_turns == turns) {
        sched_yield();
    }
    upper_stop = 1;
    CHECK(write(upper_pipe[1], "uuu", 3) == 3, "write");
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 1 << 20; i++) {
        CHECK(block[i] == 7, "memory of the application, byte %d", i);
    }
    CHECK(unlink(others) == 0, "%s", others);
}

/* If one thread does not halt, the lower half works on; so does it after a cancelled discard. */
void mode_keep(void)
{
    typedef const char *(*guest_t)(int (*)(const void *, size_t));
    char mapped[64], written[64], others[64];
    struct ckpt_failure failure = {.text = ""};
    const char *wrong;

    shared_path(mapped, "mapped");
    shared_path(written, "written");
    shared_path(others, "others");
    CHECK(load("./lower_guest.so", &failure) == 0, "%s", failure.text);
    wrong = BELOW(((const char *(*)(const char *, const char *, const char *))
                       function[GUEST_SETTLE])(mapped, written, others));
    CHECK(wrong == NULL, "%s", wrong);
    CHECK(BELOW(((void_t)function[GUEST_DEAF])()) > 0, "no deaf thread");
    CHECK(ckpt_discard_prepare(&lower, &failure) == -ETIMEDOUT, "it halts");
    CHECK(strstr(failure.text, "1 of ") != NULL, "%s", failure.text);
    CHECK(BELOW(((void_t)function[GUEST_HEAR])()) == 0, "the deaf thread does not end");
    for (int i = GUEST_MEMORY; i <= GUEST_SIGNALS; i++) {
        wrong = BELOW(((guest_t)function[i])(is_lower));
        CHECK(wrong == NULL, "%s: %s", function_names[i], wrong);
    }
    CHECK(ckpt_discard_prepare(&lower, &failure) == 0, "%s", failure.text);
    ckpt_discard_cancel();
    wrong = BELOW(((guest_t)function[GUEST_THREADS])(is_lower));
    CHECK(wrong == NULL, "%s", wrong);
    CHECK(ckpt_discard_prepare(&lower, &failure) == 0, "%s", failure.text);
    CHECK(ckpt_discard(&lower, &failure) == 0, "%s", failure.text);
    CHECK(access(mapped, F_OK) != 0, "%s", mapped);
    (void)unlink(written);
    (void)unlink(others);
}

/* An MPI library in use is discarded: nothing of it stays, and no file in /dev/shm that it made. */
void mode_discard_mpi(void)
{
    static struct ckpt_range before[RANGES], now[RANGES];
    static struct open_file files[DESCRIPTORS];
    struct ckpt_failure failure = {.text = ""};
    uint64_t residue = 0;
    int before_count, count;

    read_descriptors(files);
    before_count = ckpt_mappings_read(before, RANGES);
    load_and_init();
    barrier();
    CHECK(ckpt_discard_prepare(&lower, &failure) == 0, "%s", failure.text);
    CHECK(ckpt_discard(&lower, &failure) == 0, "%s", failure.text);
    count = ckpt_mappings_read(now, RANGES);
    for (int i = 0; i < count; i++) {
        residue += outside(before, before_count, now[i].start, now[i].end);
    }
    CHECK(residue < RESIDUE_MAX, "residue %lu bytes", residue);
    check_same_descriptors(files);
    CHECK(count_entries("/proc/self/task") == 3, "threads");
    printf("discarded, residue %lu bytes\n", residue);
}
