/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_between_ranks.c - POSIX shared memory, memory files and semaphores of two ranks: with and
 * without names, with and without open descriptors, mapped at different addresses; and a sealed
 * memory file. Meanwhile one rank waits for the other by these objects.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE 4096ul

struct room {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_barrier_t barrier;
    int step;
};

static struct room *room;
static sem_t *semaphore;
static int *common, *part, *unnamed;
static const int *view;
static const char *constant;
static int open_object, memory_file, sealed_file;
static char name[64];

static void *map(int fd, size_t size, long offset, int protection)
{
    void *memory = mmap(NULL, size, protection, MAP_SHARED, fd, offset);

    CHECK(memory != MAP_FAILED);
    return memory;
}

static int open_shared(const char *suffix, size_t size, mode_t mode)
{
    int fd;

    snprintf(name + strcspn(name, "."), 16, ".%s", suffix);
    fd = shm_open(name, O_CREAT | O_RDWR, mode);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
    return fd;
}

/* Makes a memory file in rank 0; rank 1 opens it through /proc. */
static int share_memory_file(size_t size, unsigned flags)
{
    int fd = memfd_create("probe", flags);
    int place[2] = {(int)getpid(), fd};
    char path[64];

    CHECK(ftruncate(fd, (off_t)size) == 0);
    MPI_Bcast(place, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (probe_rank == 1) {
        close(fd);
        snprintf(path, sizeof path, "/proc/%d/fd/%d", place[0], place[1]);
        fd = open(path, O_RDWR);
        CHECK(fd >= 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return fd;
}

static void share_memory_files(void)
{
    memory_file = share_memory_file(2 * PAGE, 0);
    sealed_file = share_memory_file(8, MFD_ALLOW_SEALING);
    if (probe_rank == 0) {
        CHECK(write(sealed_file, "constant", 8) == 8);
        CHECK(fcntl(sealed_file, F_ADD_SEALS,
                    F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    constant = map(sealed_file, PAGE, 0, PROT_READ);
}

static void make_room(void)
{
    int fd = open_shared("room", sizeof *room, 0600);
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    pthread_barrierattr_t barrier;

    room = map(fd, sizeof *room, 0, PROT_READ | PROT_WRITE);
    close(fd);
    if (probe_rank == 0) {
        pthread_mutexattr_init(&mutex);
        pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
        pthread_condattr_init(&condition);
        pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
        pthread_barrierattr_init(&barrier);
        pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
        CHECK(pthread_mutex_init(&room->mutex, &mutex) == 0);
        CHECK(pthread_cond_init(&room->changed, &condition) == 0);
        CHECK(pthread_barrier_init(&room->barrier, &barrier, 2) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void make_objects(void)
{
    int number = (int)getpid();
    int fd;

    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/ckpt-probe-%d.", number);
    open_object = open_shared("open", 3 * PAGE, 0640);
    common = map(open_object, (probe_rank + 1) * PAGE, 0,
                 PROT_READ | PROT_WRITE);
    part = map(open_object, PAGE, 2 * PAGE, PROT_READ | PROT_WRITE);
    view = map(open_object, 3 * PAGE, 0, PROT_READ);
    fd = open_shared("lost", 100, 0600);
    unnamed = map(fd, PAGE, 0, PROT_READ | PROT_WRITE);
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(probe_rank != 0 || shm_unlink(name) == 0);
    snprintf(name + strcspn(name, "."), 16, ".sem");
    semaphore = sem_open(name, O_CREAT, 0600, 0);
    CHECK(semaphore != SEM_FAILED);
    share_memory_files();
    make_room();
}

static void put_marks(void)
{
    common[probe_rank] = 100 + probe_rank;
    part[probe_rank] = 200 + probe_rank;
    unnamed[probe_rank] = 300 + probe_rank;
    CHECK(pwrite(memory_file, &"ab"[probe_rank], 1,
                 (off_t)PAGE + probe_rank) == 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One rank waits for a change that the other makes when the gate is open. */
static void wait_for_each_other(void)
{
    int result;

    if (probe_rank == 0) {
        probe_gate();
        CHECK(sem_post(semaphore) == 0);
        pthread_mutex_lock(&room->mutex);
        room->step = 1;
        pthread_cond_signal(&room->changed);
        pthread_mutex_unlock(&room->mutex);
    } else {
        CHECK(sem_wait(semaphore) == 0);
        pthread_mutex_lock(&room->mutex);
        while (room->step == 0) {
            pthread_cond_wait(&room->changed, &room->mutex);
        }
        pthread_mutex_unlock(&room->mutex);
    }
    result = pthread_barrier_wait(&room->barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

/* Each rank sees the other's stores. */
static void check_objects(void)
{
    struct stat status;
    char bytes[2];

    CHECK(fstat(open_object, &status) == 0 &&
          status.st_size == 3 * (off_t)PAGE && (status.st_mode & 0777) == 0640);
    CHECK(pread(memory_file, bytes, 2, PAGE) == 2 && bytes[0] == 'a' &&
          bytes[1] == 'b');
    for (int i = 0; i < 2; i++) {
        CHECK(common[i] == 100 + i && view[i] == 100 + i);
        CHECK(part[i] == 200 + i && unnamed[i] == 300 + i);
    }
    CHECK(memcmp(constant, "constant", 8) == 0);
    CHECK(write(sealed_file, "x", 1) < 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (probe_rank == 0) {
        common[0] = 1;
        unnamed[0] = 3;
    } else {
        part[1] = 2;
        CHECK(pwrite(memory_file, "x", 1, 5) == 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(common[0] == 1 && view[2 * PAGE / sizeof(int) + 1] == 2);
    CHECK(unnamed[0] == 3 && pread(memory_file, bytes, 1, 5) == 1 &&
          bytes[0] == 'x');
}

static void remove_names(void)
{
    static const char *const suffixes[] = {"open", "room"};

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; probe_rank == 0 && i < 2; i++) {
        snprintf(name + strcspn(name, "."), 16, ".%s", suffixes[i]);
        CHECK(shm_unlink(name) == 0);
    }
    snprintf(name + strcspn(name, "."), 16, ".sem");
    CHECK(probe_rank != 0 || sem_unlink(name) == 0);
}

int main(int argc, char **argv)
{
    probe_begin(argc, argv, 2);
    make_objects();
    put_marks();
    wait_for_each_other();
    check_objects();
    remove_names();
    return probe_end();
}
