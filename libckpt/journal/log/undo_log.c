/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * undo_log.c - appends records to the log of this process, in the order of the host.
 *
 * Each record is one write() with O_APPEND, so that a process and the children that it forks
 * can share a log. Written data survives in the kernel if the process is killed.
 */
#include "journal/log/undo_log.h"

#include "base/directory.h"
#include "base/invariant.h"
#include "base/text.h"
#include "journal/log/checksum.h"
#include "sys/descriptor.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>

#define PAGE_SIZE     4096u
#define GATHERED_SIZE (64u * 1024u)
#define RECORD_PARTS  5
#define CLOCK_PREFIX  "clock."
#define NANOSECONDS   1000000000u

static struct {
    char directory[CKPT_UNDO_PATH];
    char path[CKPT_UNDO_PATH]; /* path of the log; "" before the first record */
    char host[65];
    struct ckpt_journal_clock *clock;
    int fd;      /* descriptor of the log, or -1 */
    int process; /* pid of the process that owns this memory */
    int rank;
    uint64_t began; /* order of the first record */
    uint64_t kept;  /* number of kept files named so far */
    int warned;
    int gathers; /* 1: records are collected in `gathered` */
    size_t used; /* bytes used in `gathered` */
} log = {.fd = -1};

static char gathered[GATHERED_SIZE];

static uint64_t now(void)
{
    struct timespec time = {0, 0};

    ckpt_sys_clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec;
}

/* Returns the host's next order. */
static uint64_t next_order(void)
{
    uint64_t last = __atomic_load_n(&log.clock->last, __ATOMIC_RELAXED);
    const uint64_t time = now();
    uint64_t next;

    do {
        next = time > last ? time : last + 1;
    } while (!__atomic_compare_exchange_n(&log.clock->last, &last, next, 0,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return next;
}

static void advance_clock(uint64_t to)
{
    uint64_t last = __atomic_load_n(&log.clock->last, __ATOMIC_RELAXED);

    while (last < to &&
           !__atomic_compare_exchange_n(&log.clock->last, &last, to, 0,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
}

/* Returns the value of another host's clock, or 0. */
static uint64_t read_clock(const char *path)
{
    struct ckpt_journal_clock clock = {0};
    const int fd = (int)ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    long got;

    if (fd < 0) {
        return 0;
    }
    got = ckpt_sys_read(fd, &clock, sizeof(clock));
    ckpt_sys_close(fd);
    return got == (long)sizeof(clock) && clock.magic == CKPT_JOURNAL_MAGIC
               ? clock.last
               : 0;
}

static int advance_to(const struct ckpt_directory_entry *entry, void *argument)
{
    char path[CKPT_UNDO_PATH];

    (void)argument;
    if (ckpt_text_starts(entry->name, CLOCK_PREFIX)) {
        ckpt_text_format(path, sizeof(path), "%s/%s", log.directory, entry->name);
        advance_clock(read_clock(path));
    }
    return 0;
}

/* Allocates disk space for the clock, whichever process maps it first. A store into a file
 * without space, in a full file system, would end the program (SIGBUS). A byte after the clock
 * is in the same block. */
static int take_room(int fd)
{
    long done;

    do {
        done = ckpt_sys_pwrite(fd, "", 1, sizeof(struct ckpt_journal_clock));
    } while (done == -EINTR);
    if (done == -EFBIG) {
        ckpt_undo_take_size_signal();
    }
    return done == 1 ? 0 : done < 0 ? (int)done
                                    : -ENOSPC;
}

static int map_clock(void)
{
    char path[CKPT_UNDO_PATH];
    long memory;
    int fd;

    ckpt_text_format(path, sizeof(path), "%s/" CLOCK_PREFIX "%s", log.directory,
                     log.host);
    fd = (int)ckpt_sys_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return fd;
    }
    memory = take_room(fd);
    if (memory == 0) {
        memory = ckpt_sys_mmap(NULL, sizeof(struct ckpt_journal_clock),
                               PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    ckpt_sys_close(fd);
    if (ckpt_sys_failed(memory)) {
        return (int)memory;
    }
    log.clock = (struct ckpt_journal_clock *)memory;
    log.clock->magic = CKPT_JOURNAL_MAGIC;
    log.clock->version = CKPT_JOURNAL_VERSION;
    return 0;
}

static int open_log(int flags)
{
    const int fd = (int)ckpt_sys_open(
        log.path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);

    log.fd = ckpt_descriptor_raise(fd);
    return log.fd < 0 ? log.fd : 0;
}

int ckpt_undo_begin(const char *directory, int rank, struct ckpt_failure *failure)
{
    struct utsname system;
    int error = 0;

    if (log.clock != NULL) {
        return 0;
    }
    (void)ckpt_syscall3(SYS_uname, (long)&system, 0, 0);
    ckpt_text_copy(log.host, sizeof(log.host), system.nodename);
    if (directory[0] != '/') {
        error = -EINVAL;
    } else if (ckpt_text_copy(log.directory, sizeof(log.directory), directory) !=
               ckpt_text_length(directory)) {
        error = -ENAMETOOLONG;
    }
    log.rank = rank;
    log.process = ckpt_sys_getpid();
    if (error == 0) {
        error = map_clock();
    }
    if (error == 0) {
        /* A job that continues on another host continues with the order of the first host. */
        error = ckpt_directory_each(log.directory, advance_to, NULL);
    }
    if (error == 0) {
        log.began = next_order();
    } else {
        return ckpt_fail(failure, error,
                         "the file journal %s cannot be written (error %d)",
                         directory, -error);
    }
    return 0;
}

void ckpt_undo_lose(void)
{
    log.fd = -1;
    log.path[0] = '\0';
    log.clock = NULL;
    log.warned = 0;
    log.gathers = 0;
    log.used = 0;
}

CKPT_GENERAL_REGISTERS int ckpt_undo_owns_descriptor(int fd)
{
    return fd == log.fd && fd >= 0;
}

void ckpt_undo_closing(int fd)
{
    if (ckpt_undo_owns_descriptor(fd)) {
        log.fd = -1;
    }
}

const char *ckpt_undo_directory(void)
{
    return log.directory;
}

void ckpt_undo_kept_name(const char *directory, char *path)
{
    ckpt_text_format(path, CKPT_UNDO_PATH, "%s/%s-%d-%l-%l", directory,
                     log.host, ckpt_sys_getpid(), (long)(log.clock->last),
                     (long)++log.kept);
}

void ckpt_undo_describe(struct ckpt_journal_record *record,
                        const struct stat *status)
{
    record->device = status->st_dev;
    record->inode = status->st_ino;
    record->size = (uint64_t)status->st_size;
    record->modified = (int64_t)status->st_mtim.tv_sec * NANOSECONDS +
                       status->st_mtim.tv_nsec;
    record->changed = (int64_t)status->st_ctim.tv_sec * NANOSECONDS +
                      status->st_ctim.tv_nsec;
    record->mode = status->st_mode;
    record->owner = status->st_uid;
    record->group = status->st_gid;
}

void ckpt_undo_take_size_signal(void)
{
    const uint64_t signals = UINT64_C(1) << (SIGXFSZ - 1);
    const struct timespec at_once = {0, 0};

    (void)ckpt_syscall4(SYS_rt_sigtimedwait, (long)&signals, 0, (long)&at_once,
                        sizeof(signals));
}

/* Writes a record with one system call. Returns 0 or -errno. */
static int write_all(const struct iovec *part, int count, size_t length)
{
    long done;

    do {
        done = ckpt_syscall3(SYS_writev, log.fd, (long)part, count);
    } while (done == -EINTR);
    if (done == -EFBIG) {
        ckpt_undo_take_size_signal();
    }
    if (done < 0) {
        return (int)done;
    }
    CKPT_INVARIANT((size_t)done <= length);
    return (size_t)done == length ? 0 : -ENOSPC;
}

/* Fills in magic, lengths, checksum and a missing order. part: the record, path, other, data
 * and padding [5]. */
static void complete(struct ckpt_journal_record *record, const char *path,
                     const char *other, const void *data, struct iovec *part)
{
    static const char zeros[8];
    const size_t begins = offsetof(struct ckpt_journal_record, length);
    uint32_t checksum = CKPT_CHECKSUM_START;
    size_t length;

    record->path_size = path == NULL ? 0 : (uint32_t)ckpt_text_length(path) + 1;
    record->other_size =
        other == NULL ? 0 : (uint32_t)ckpt_text_length(other) + 1;
    length = sizeof(*record) + record->path_size + record->other_size +
             record->data_size;
    record->length = (length + 7) & ~(uint64_t)7;
    record->magic = CKPT_JOURNAL_MAGIC;
    if (record->order == 0) {
        record->order = next_order();
    }
    CKPT_INVARIANT(record->type >= CKPT_JOURNAL_BEGIN && record->type <= CKPT_JOURNAL_OUTPUT);
    CKPT_INVARIANT(record->path_size <= CKPT_UNDO_PATH && record->other_size <= CKPT_UNDO_PATH);
    CKPT_INVARIANT(record->order != 0 && record->length - length < sizeof(zeros));
    part[0] = (struct iovec){record, sizeof(*record)};
    part[1] = (struct iovec){(void *)path, record->path_size};
    part[2] = (struct iovec){(void *)other, record->other_size};
    part[3] = (struct iovec){(void *)data, record->data_size};
    part[4] = (struct iovec){(void *)zeros, record->length - length};
    checksum = ckpt_checksum(checksum, (const char *)record + begins,
                             sizeof(*record) - begins);
    for (int i = 1; i < RECORD_PARTS; i++) {
        checksum = ckpt_checksum(checksum, part[i].iov_base, part[i].iov_len);
    }
    record->checksum = ~checksum;
}

/* Creates the log. A process that changes nothing has no log. */
static int create_log(void)
{
    struct ckpt_journal_record record = {.type = CKPT_JOURNAL_BEGIN,
                                         .rank = log.rank};
    struct iovec part[RECORD_PARTS];
    int error;

    record.order = log.began;
    record.value = (uint64_t)ckpt_sys_getpid();
    ckpt_text_format(log.path, sizeof(log.path), "%s/%s-%d-%l.log",
                     log.directory, log.host, ckpt_sys_getpid(),
                     (long)log.began);
    error = open_log(O_CREAT | O_EXCL);
    if (error == 0) {
        complete(&record, log.host, NULL, NULL, part);
        error = write_all(part, RECORD_PARTS, record.length);
    }
    return error;
}

int ckpt_undo_create(void)
{
    return log.clock == NULL || log.fd >= 0 || log.path[0] != '\0' ? 0 : create_log();
}

/* Appends to the log; opens or creates it if necessary. */
static int write_out(const struct iovec *part, int count, size_t length)
{
    const int is_opened = log.fd < 0;
    int error = 0;

    if (is_opened) {
        error = log.path[0] == '\0' ? create_log() : open_log(0);
    }
    if (error == 0) {
        error = write_all(part, count, length);
    }
    /* A child of vfork() shares this memory but has its own descriptors. The descriptor that it
     * has opened does not exist in its parent. */
    if (is_opened && log.fd >= 0 && ckpt_sys_getpid() != log.process) {
        ckpt_sys_close(log.fd);
        log.fd = -1;
    }
    return error;
}

void ckpt_undo_forked(void)
{
    log.process = ckpt_sys_getpid();
}

int ckpt_undo_flush(void)
{
    const struct iovec part = {gathered, log.used};
    const size_t used = log.used;

    log.gathers = 0;
    log.used = 0;
    return used == 0 ? 0 : write_out(&part, 1, used);
}

void ckpt_undo_gather(void)
{
    CKPT_INVARIANT(!log.gathers); /* gathered records would be lost */
    log.gathers = 1;
    log.used = 0;
}

/* Appends the parts to the gathered records in memory. */
static int gather(const struct iovec *part, int count, size_t length)
{
    int error = 0;

    CKPT_INVARIANT(log.used <= GATHERED_SIZE && length <= GATHERED_SIZE);
    if (length > GATHERED_SIZE - log.used) {
        error = ckpt_undo_flush();
        ckpt_undo_gather();
    }
    for (int i = 0; i < count; i++) {
        if (part[i].iov_len > 0) { /* memcpy() must not get NULL */
            memcpy(gathered + log.used, part[i].iov_base, part[i].iov_len);
        }
        log.used += part[i].iov_len;
    }
    return error;
}

int ckpt_undo_append(struct ckpt_journal_record *record, const char *path,
                     const char *other, const void *data)
{
    struct iovec part[RECORD_PARTS];

    complete(record, path, other, data, part);
    if (log.gathers && record->length <= GATHERED_SIZE) {
        return gather(part, RECORD_PARTS, record->length);
    }
    return write_out(part, RECORD_PARTS, record->length);
}

void ckpt_undo_lost(const char *path, int error)
{
    static char line[CKPT_UNDO_PATH + 200];
    size_t length;

    if (log.clock == NULL) {
        return;
    }
    __atomic_store_n(&log.clock->lost_error, (uint64_t)-error, __ATOMIC_SEQ_CST);
    __atomic_store_n(&log.clock->lost, next_order(), __ATOMIC_SEQ_CST);
    if (!log.warned) {
        log.warned = 1;
        length = ckpt_text_format(
            line, sizeof(line),
            "ckpt: a change of %s is not in the file journal (error %d): files "
            "cannot be rolled back to checkpoints before this moment\n",
            path, -error);
        (void)ckpt_sys_write(2, line, length);
    }
}

struct ckpt_range ckpt_undo_clock(void)
{
    const uint64_t start = (uint64_t)(uintptr_t)log.clock;

    return log.clock == NULL ? (struct ckpt_range){0, 0}
                             : (struct ckpt_range){start, start + PAGE_SIZE};
}

uint64_t ckpt_undo_moves(void)
{
    return __atomic_load_n(&log.clock->moves, __ATOMIC_SEQ_CST);
}

void ckpt_undo_moved(void)
{
    (void)__atomic_fetch_add(&log.clock->moves, 1, __ATOMIC_SEQ_CST);
}
