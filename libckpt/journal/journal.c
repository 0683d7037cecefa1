/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.c - maps each diverted system call to the state that must be recorded.
 */
#include "journal/journal.h"

#include "base/invariant.h"
#include "base/text.h"
#include "journal/call.h"
#include "journal/concealed.h"
#include "journal/content.h"
#include "journal/descriptor.h"
#include "journal/held_output.h"
#include "journal/known.h"
#include "journal/listing.h"
#include "journal/name.h"
#include "journal/path.h"
#include "journal/log/record_locks.h"
#include "journal/redirect.h"
#include "journal/shadow.h"
#include "journal/sites.h"
#include "journal/streams.h"
#include "journal/watch.h"
#include "sys/syscall.h"
#include "task/busy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/uio.h>

static int is_open;

/* 0: free; 1: held; 2: held, and other threads wait. Signals are blocked while a thread holds
 * the lock. So a signal handler of this thread cannot need the lock, and a thread never parks
 * while it holds the lock. */
static uint32_t lock_word;
static uint64_t moves_seen;

static uint64_t lock(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint32_t expected = 0;
    uint64_t mask;

    ckpt_sys_sigprocmask(SIG_BLOCK, &all, &mask);
    ckpt_busy_hold();
    if (!__atomic_compare_exchange_n(&lock_word, &expected, 1, 0,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        while (__atomic_exchange_n(&lock_word, 2, __ATOMIC_ACQUIRE) != 0) {
            ckpt_sys_futex(&lock_word, FUTEX_WAIT_PRIVATE, 2, NULL);
        }
    }
    return mask;
}

static void unlock(uint64_t mask)
{
    CKPT_INVARIANT(lock_word != 0); /* this thread holds it */
    if (__atomic_exchange_n(&lock_word, 0, __ATOMIC_RELEASE) == 2) {
        ckpt_sys_futex(&lock_word, FUTEX_WAKE_PRIVATE, 1, NULL);
    }
    ckpt_busy_release();
    ckpt_sys_sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* Returns the bytes of a vector, up to its first unreadable part. */
static uint64_t vector_size(int64_t address, int64_t count)
{
    struct iovec part;
    struct iovec local = {&part, sizeof(part)};
    uint64_t size = 0;

    for (int64_t i = 0; i < count && i < IOV_MAX; i++) {
        struct iovec remote = {(struct iovec *)address + i, sizeof(part)};

        /* The program's pointer may be invalid. */
        if (ckpt_syscall6(SYS_process_vm_readv, ckpt_sys_getpid(), (long)&local,
                          1, (long)&remote, 1, 0) != sizeof(part)) {
            break;
        }
        size += part.iov_len;
    }
    return size;
}

static void before_vector(const struct ckpt_journal_call *call)
{
    const uint64_t size = vector_size(call->rsi, call->rdx);

    if (call->site->number == SYS_writev || call->r10 == -1) {
        ckpt_content_before_write_here((int)call->rdi, size);
    } else {
        ckpt_content_before_write((int)call->rdi, (uint64_t)call->r10,
                                  (uint64_t)call->r10 + size);
    }
}

/* `offset` is the program's pointer to an offset; NULL: the file position. */
static void before_copy(int fd, const int64_t *offset, uint64_t size)
{
    int64_t start;
    struct iovec local = {&start, sizeof(start)};
    struct iovec remote = {(void *)offset, sizeof(start)};

    if (offset == NULL) {
        ckpt_content_before_write_here(fd, size);
    } else if (ckpt_syscall6(SYS_process_vm_readv, ckpt_sys_getpid(),
                             (long)&local, 1, (long)&remote, 1,
                             0) == sizeof(start)) {
        ckpt_content_before_write(fd, (uint64_t)start, (uint64_t)start + size);
    }
}

static void before_allocate(const struct ckpt_journal_call *call)
{
    const int keeps = call->rsi == 0 || call->rsi == FALLOC_FL_KEEP_SIZE;
    const int moves = (call->rsi & (FALLOC_FL_COLLAPSE_RANGE |
                                    FALLOC_FL_INSERT_RANGE)) != 0;
    const uint64_t start = (uint64_t)call->rdx;

    /* Modes 0 and FALLOC_FL_KEEP_SIZE do not change existing bytes. */
    ckpt_content_before_write(
        (int)call->rdi, keeps ? start + (uint64_t)call->r10 : start,
        moves ? CKPT_TO_THE_END : start + (uint64_t)call->r10);
}

static void before_truncate(const char *path, int64_t size)
{
    static char found[CKPT_UNDO_PATH];
    struct stat status;

    if (size >= 0 &&
        ckpt_journal_path(AT_FDCWD, path, 1, found, &status) == 0 &&
        S_ISREG(status.st_mode)) {
        ckpt_content_before_cut_path(found, &status, (uint64_t)size);
        ckpt_watch_add(found, 1);
    }
}

static void before_attributes(int directory, const char *path, int follow)
{
    static char found[CKPT_UNDO_PATH];
    struct stat status;

    if (path == NULL) { /* called by futimens() */
        ckpt_content_before_attributes_of(directory);
    } else if (ckpt_journal_path(directory, path, follow, found, &status) == 0) {
        ckpt_content_before_attributes(found, &status);
    }
}

static void closing(int fd)
{
    struct ckpt_descriptor *entry = ckpt_descriptor_entry(fd);

    ckpt_undo_closing(fd);
    ckpt_concealed_closing(fd);
    if (entry != NULL && entry->flags != 0) {
        ckpt_listing_closing(fd);
        entry->flags = 0;
    }
}

/* dup2 and dup3 close the new descriptor, unless they fail or it is the old one. */
static void before_duplicate(int old, int new)
{
    if (old != new &&ckpt_sys_fcntl(old, F_GETFD, 0) >= 0) {
        closing(new);
    }
}

static void before_close_range(const struct ckpt_journal_call *call)
{
    const unsigned first = (unsigned)call->rdi, last = (unsigned)call->rsi;

    if (first > last || (call->rdx & CLOSE_RANGE_CLOEXEC) != 0) {
        return; /* closes nothing */
    }
    for (unsigned fd = first; fd <= last && fd < CKPT_DESCRIPTOR_CAPACITY; fd++) {
        closing((int)fd);
    }
}

/* Handles calls on descriptors, and writes through them. Returns 1 if it has handled the call. */
static int look_at_descriptor(const struct ckpt_journal_call *call)
{
    const int fd = (int)call->rdi;

    switch (call->site->number) {
    case SYS_close:
        closing(fd);
        return 1;
    case SYS_dup2:
    case SYS_dup3:
        before_duplicate(fd, (int)call->rsi);
        return 1;
    case SYS_lseek:
        return 1;
    case SYS_fcntl: /* ckpt_journal_fast() has checked the command */
        ckpt_record_locks_are_used = 1;
        return 1;
    case SYS_close_range:
        before_close_range(call);
        return 1;
    case SYS_write:
        ckpt_content_before_write_here(fd, (uint64_t)call->rdx);
        return 1;
    case SYS_pwrite64:
        ckpt_content_before_write(fd, (uint64_t)call->r10,
                                  (uint64_t)call->r10 + (uint64_t)call->rdx);
        return 1;
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
        before_vector(call);
        return 1;
    case SYS_sendfile:
        ckpt_content_before_write_here(fd, (uint64_t)call->r10);
        return 1;
    case SYS_copy_file_range:
    case SYS_splice:
        before_copy((int)call->rdx, (const int64_t *)call->r10,
                    (uint64_t)call->r8);
        return 1;
    case SYS_ftruncate:
        if (call->rsi >= 0) {
            ckpt_content_before_cut(fd, (uint64_t)call->rsi);
        }
        return 1;
    case SYS_fallocate:
        before_allocate(call);
        return 1;
    case SYS_fchmod:
    case SYS_fchown:
        ckpt_content_before_attributes_of(fd);
        return 1;
    default:
        return 0;
    }
}

static void look_at_names(const struct ckpt_journal_call *call)
{
    const char *first = (const char *)call->rdi, *second = (const char *)call->rsi;

    switch (call->site->number) {
    case SYS_open:
        ckpt_name_before_open(AT_FDCWD, first, (int)call->rsi);
        break;
    case SYS_creat:
        ckpt_name_before_open(AT_FDCWD, first, O_CREAT | O_WRONLY | O_TRUNC);
        break;
    case SYS_openat:
        ckpt_name_before_open((int)call->rdi, second, (int)call->rdx);
        break;
    case SYS_truncate:
        before_truncate(first, call->rsi);
        break;
    case SYS_rename:
        ckpt_name_before_rename(AT_FDCWD, first, AT_FDCWD, second, 0);
        break;
    case SYS_renameat:
    case SYS_renameat2:
        ckpt_name_before_rename(
            (int)call->rdi, second, (int)call->rdx, (const char *)call->r10,
            call->site->number == SYS_renameat2 ? (unsigned)call->r8 : 0);
        break;
    case SYS_symlink:
        ckpt_name_before_change(AT_FDCWD, second);
        break;
    case SYS_link:
        ckpt_name_before_link(AT_FDCWD, first, AT_FDCWD, second, 0);
        break;
    case SYS_linkat:
        ckpt_name_before_link((int)call->rdi, second, (int)call->rdx,
                              (const char *)call->r10,
                              ((int)call->r8 & AT_SYMLINK_FOLLOW) != 0);
        break;
    case SYS_symlinkat:
        ckpt_name_before_change((int)call->rsi, (const char *)call->rdx);
        break;
    case SYS_unlink:
    case SYS_rmdir:
    case SYS_mkdir:
        ckpt_name_before_change(AT_FDCWD, first);
        break;
    case SYS_unlinkat:
    case SYS_mkdirat:
    case SYS_mknodat:
        ckpt_name_before_change((int)call->rdi, second);
        break;
    case SYS_chmod:
    case SYS_chown:
        before_attributes(AT_FDCWD, first, 1);
        break;
    case SYS_lchown:
        before_attributes(AT_FDCWD, first, 0);
        break;
    case SYS_fchmodat:
        before_attributes((int)call->rdi, second, 1);
        break;
    case SYS_fchownat:
        before_attributes((int)call->rdi, second,
                          ((int)call->r8 & AT_SYMLINK_NOFOLLOW) == 0);
        break;
    case SYS_utimensat:
        before_attributes((int)call->rdi, second,
                          ((int)call->r10 & AT_SYMLINK_NOFOLLOW) == 0);
        break;
    default:
        break;
    }
}

/* Makes calls that the kernel must not get unchanged. */
static void meet_concealed(struct ckpt_journal_call *call)
{
    if (call->site->number == SYS_write || call->site->number == SYS_writev) {
        ckpt_held_write(call);
    } else if (call->site->number == SYS_lseek) {
        ckpt_listing_seek(call);
    } else {
        ckpt_redirect_call(call);
    }
}

/* Makes execve() without the lock, since the new program inherits the signal mask. `path` is on
 * the stack, since a child of vfork() shares all other memory. */
static __attribute__((noinline)) void execute(struct ckpt_journal_call *call)
{
    char path[CKPT_UNDO_PATH];
    const uint64_t mask = lock();
    const int is_elsewhere = is_open && ckpt_redirect_execute(call, path);

    unlock(mask);
    if (is_elsewhere) {
        call->result = ckpt_syscall3(SYS_execve, (long)path, call->rsi, call->rdx);
        call->is_done = 1;
    }
}

void ckpt_journal_slow(struct ckpt_journal_call *call)
{
    uint64_t mask;

    if (!__atomic_load_n(&is_open, __ATOMIC_ACQUIRE)) {
        return;
    }
    if (call->site->number == SYS_execve) {
        execute(call);
        return;
    }
    mask = lock();
    if (is_open && ckpt_undo_moves() != moves_seen) {
        moves_seen = ckpt_undo_moves();
        ckpt_known_forget_names();
    }
    if (is_open) {
        meet_concealed(call);
    }
    if (is_open && !call->is_done && !look_at_descriptor(call)) {
        look_at_names(call);
    }
    unlock(mask);
}

/* Returns 1 for calls that libc must contain; otherwise the journal would miss changes. */
int ckpt_journal_needs(long number)
{
    switch (number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_openat:
    case SYS_close:
    case SYS_lseek:
    case SYS_fcntl:
    case SYS_ftruncate:
    case SYS_truncate:
    case SYS_rename:
    case SYS_unlink:
        return 1;
    case SYS_newfstatat:
    case SYS_mkdir:
    case SYS_getdents64:
    case SYS_getcwd:
        return ckpt_concealed_is_on();
    default:
        return 0;
    }
}

int ckpt_journal_wants(long number)
{
    switch (number) {
    case SYS_open:
    case SYS_creat:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_close_range:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendfile:
    case SYS_copy_file_range:
    case SYS_splice:
    case SYS_fallocate:
    case SYS_fchmod:
    case SYS_fchown:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_link:
    case SYS_linkat:
    case SYS_symlink:
    case SYS_symlinkat:
    case SYS_unlinkat:
    case SYS_rmdir:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_mknodat:
    case SYS_chmod:
    case SYS_chown:
    case SYS_lchown:
    case SYS_fchmodat:
    case SYS_fchownat:
    case SYS_utimensat:
        return 1;
    default:
        return ckpt_journal_needs(number) ||
               (ckpt_concealed_is_on() && ckpt_redirect_wants(number));
    }
}

static void begin_generation(void)
{
    ckpt_known_forget();
    __atomic_fetch_add(&ckpt_journal_generation, 1, __ATOMIC_SEQ_CST);
}

/* Adds the files that the program has already opened. */
static void watch_open_files(int (*is_ours)(int fd))
{
    static char path[CKPT_UNDO_PATH];

    for (int fd = 0; fd < 1024; fd++) {
        const long flags = ckpt_sys_fcntl(fd, F_GETFL, 0);
        struct stat status;

        if (flags >= 0 && (is_ours == NULL || !is_ours(fd)) && ckpt_sys_fstat(fd, &status) == 0 &&
            S_ISREG(status.st_mode) &&
            ckpt_journal_descriptor_path(fd, path) == 0) {
            ckpt_record_locks_find(fd);
            ckpt_watch_add(path, (flags & O_ACCMODE) != O_RDONLY);
        }
    }
}

int ckpt_journal_open(const char *directory, int rank, int (*is_ours)(int fd),
                      struct ckpt_failure *failure)
{
    int error;

    if (is_open) {
        return 0;
    }
    error = ckpt_undo_begin(directory, rank, failure);
    if (error == 0) {
        error = ckpt_concealed_open(failure);
    }
    if (error == 0) { /* concealment decides which calls are diverted */
        error = ckpt_journal_sites_open(failure);
    }
    if (error == 0) {
        moves_seen = ckpt_undo_moves();
        begin_generation();
        watch_open_files(is_ours);
        __atomic_store_n(&is_open, 1, __ATOMIC_RELEASE);
    }
    return error;
}

int ckpt_journal_is_open(void)
{
    return is_open;
}

int ckpt_journal_mark(uint64_t number, int rank, struct ckpt_failure *failure)
{
    struct ckpt_journal_record record = {
        .type = CKPT_JOURNAL_MARK, .value = number, .rank = rank};
    int error;

    if (!is_open) {
        return 0;
    }
    CKPT_INVARIANT(lock_word == 0); /* no thread has parked with it */
    ckpt_journal_streams_mark();
    ckpt_held_mark();
    error = ckpt_listing_mark();
    if (error == 0) {
        error = ckpt_undo_append(&record, NULL, NULL, NULL);
    }
    if (error == 0) {
        error = ckpt_watch_record();
    }
    begin_generation();
    return error == 0 ? 0
                      : ckpt_fail(failure, error,
                                  "the file journal cannot be written (error %d)",
                                  -error);
}

void ckpt_journal_suspend(void)
{
    is_open = 0;
    lock_word = 0;
    ckpt_undo_lose();
    ckpt_concealed_lose();
}

void ckpt_journal_hold_output(const char *given)
{
    ckpt_held_open(given);
}

void ckpt_journal_held_output(char *name, size_t capacity)
{
    (void)ckpt_held_name(name, capacity);
}

int ckpt_journal_prepare(struct ckpt_failure *failure)
{
    ckpt_journal_streams_open();
    return ckpt_journal_sites_find(failure);
}

int ckpt_journal_resume(const char *directory, int rank, int (*is_ours)(int fd), int at_once,
                        struct ckpt_failure *failure)
{
    int error;

    ckpt_journal_streams_resume();
    ckpt_held_resume();
    if (directory == NULL || *directory == '\0') {
        return 0;
    }
    error = ckpt_journal_open(directory, rank, is_ours, failure);
    if (error == 0 && at_once && ckpt_undo_create() != 0) {
        error = ckpt_fail(failure, -EACCES, "no log can be made in the file journal %s",
                          directory);
    }
    return error;
}

struct ckpt_range ckpt_journal_excluded(void)
{
    return ckpt_undo_clock();
}

void ckpt_journal_forked(void)
{
    lock_word = 0;
    ckpt_undo_forked();
    ckpt_concealed_lose();
}

void ckpt_journal_mapped(int fd, uint64_t offset, uint64_t size)
{
    uint64_t mask;
    long flags;

    if (!is_open) {
        return;
    }
    flags = ckpt_sys_fcntl(fd, F_GETFL, 0);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDWR) {
        mask = lock();
        ckpt_content_mapped(fd, offset, offset + size);
        unlock(mask);
    }
}

void ckpt_journal_before_mpi_write(const char *path, int creates)
{
    static char found[CKPT_UNDO_PATH];
    struct stat status;
    uint64_t mask;
    int result;

    if (!is_open) {
        return;
    }
    mask = lock();
    result = ckpt_journal_path(AT_FDCWD, path, 1, found, &status);
    if (result == 0 && S_ISREG(status.st_mode)) {
        ckpt_content_before_rewriting(found, &status);
    } else if (result == -ENOENT && creates) {
        ckpt_name_before_change(AT_FDCWD, found);
    }
    if (result == 0 || result == -ENOENT) {
        ckpt_watch_exempt(found);
    }
    unlock(mask);
}

void ckpt_journal_mpi_path(const char *path, int writes, int creates, char *found)
{
    uint64_t mask;

    ckpt_text_copy(found, CKPT_UNDO_PATH, path);
    if (is_open && ckpt_concealed_is_on()) {
        mask = lock();
        ckpt_redirect_open(path, writes, creates, found);
        unlock(mask);
    }
}

int ckpt_journal_conceals(void)
{
    return is_open && ckpt_concealed_is_on();
}

int ckpt_journal_restored_path(const char *journal, const char *path, int writes,
                               char *found)
{
    const size_t prefix = ckpt_concealed_prefix(path);
    struct stat status;
    int error = -ENOENT;

    ckpt_text_copy(found, CKPT_UNDO_PATH, path);
    if (prefix == 0 || ckpt_sys_stat(path, &status) == 0) {
        return 0;
    }
    if (writes && journal != NULL) {
        error = ckpt_shadow_restore(journal, path, prefix);
    }
    if (error == -ENOENT) { /* outputs are no longer concealed */
        ckpt_concealed_strip(found);
    }
    return error == -ENOENT ? 0 : error;
}

void ckpt_journal_before_mpi_delete(const char *path)
{
    uint64_t mask;

    if (is_open) {
        mask = lock();
        ckpt_name_before_change(AT_FDCWD, path);
        unlock(mask);
    }
}

int ckpt_journal_owns_descriptor(int fd)
{
    return ckpt_undo_owns_descriptor(fd) || ckpt_concealed_owns_descriptor(fd);
}
