/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * locks.c - locks on files.
 *
 * A flock() lock is part of a descriptor's description. A process loses its
 * fcntl() locks whenever it closes any descriptor of the file. So they are
 * recorded in saved memory, and the saved code takes them again.
 *
 * A lock shows in fdinfo as
 * "lock:\t1: POSIX  ADVISORY  WRITE 4711 fe:00:1234 0 EOF".
 */
#include "files/files.h"

#include "files/file_kind.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#define LOCK "lock:\t"

/* An fcntl() lock, in the arena of the save. */
struct range_lock {
    struct range_lock *next;
    struct flock range;
    int descriptor;
    int is_of_file; /* 1: owned by the open file (OFD lock), not by the
                       process */
};

static struct range_lock *range_locks;

void ckpt_file_forget_locks(void)
{
    range_locks = NULL;
}

/* Returns the word with index `n` in the line at `text`, or "". */
static const char *word(const char *text, int n)
{
    while (n-- > 0) {
        while (*text != ' ' && *text != '\t' && *text != '\n' &&
               *text != '\0') {
            text++;
        }
        while (*text == ' ' || *text == '\t') {
            text++;
        }
    }
    return *text == '\n' ? "" : text;
}

/* Indices of the words in a line: "lock:", number, class, kind, access,
 * process, file, first and last byte. */
enum {
    CLASS = 2,
    ACCESS = 4,
    FIRST = 7,
    LAST = 8
};

static int parse_range(const char *line, struct flock *range)
{
    uint64_t first, last;

    *range = (struct flock){
        .l_type = ckpt_text_starts(word(line, ACCESS), "WRITE") ? F_WRLCK
                                                                : F_RDLCK,
        .l_whence = SEEK_SET,
    };
    if (ckpt_text_decimal(word(line, FIRST), &first) == NULL) {
        return 0;
    }
    range->l_start = (off_t)first;
    if (ckpt_text_starts(word(line, LAST), "EOF")) {
        return 1;
    }
    if (ckpt_text_decimal(word(line, LAST), &last) == NULL || last < first) {
        return 0;
    }
    range->l_len = (off_t)(last - first + 1);
    return 1;
}

static int note_range(const struct ckpt_file_save *save,
                      const struct ckpt_file_probe *probe, const char *line,
                      int is_of_file, struct ckpt_failure *failure)
{
    struct range_lock *lock =
        (struct range_lock *)ckpt_arena_alloc(save->arena, sizeof *lock);

    if (lock == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for the locks of files");
    }
    if (!parse_range(line, &lock->range)) {
        return ckpt_fail(failure, -EINVAL,
                         "/proc/self/fdinfo/%d is not understood", probe->fd);
    }
    lock->descriptor = probe->fd;
    lock->is_of_file = is_of_file;
    lock->next = range_locks;
    range_locks = lock;
    return 0;
}

static int save_lock(const struct ckpt_file_save *save,
                     const struct ckpt_file_probe *probe, const char *line,
                     struct ckpt_file *file, struct ckpt_failure *failure)
{
    const char *class = word(line, CLASS);

    if (ckpt_text_starts(class, "FLOCK")) {
        file->detail =
            ckpt_text_starts(word(line, ACCESS), "WRITE") ? LOCK_EX : LOCK_SH;
        return 0;
    }
    if (ckpt_text_starts(class, "POSIX") || ckpt_text_starts(class, "OFDLCK")) {
        return note_range(save, probe, line, *class == 'O', failure);
    }
    return ckpt_file_refuse(probe, "a file with a lease", failure);
}

int ckpt_file_save_locks(const struct ckpt_file_save *save,
                         const struct ckpt_file_probe *probe,
                         struct ckpt_file *file, struct ckpt_failure *failure)
{
    const char *line = strstr(probe->info, LOCK);
    int error = 0;

    if (line != NULL &&
        ckpt_text_length(probe->info) == sizeof probe->info - 1) {
        return ckpt_file_refuse(probe, "a file with too many locks", failure);
    }
    while (line != NULL && error == 0) {
        error = save_lock(save, probe, line, file, failure);
        line = strstr(line + 1, LOCK);
    }
    return error;
}

int ckpt_files_lock(struct ckpt_failure *failure)
{
    for (struct range_lock *lock = range_locks; lock != NULL;
         lock = lock->next) {
        long result =
            ckpt_sys_fcntl(lock->descriptor,
                           lock->is_of_file ? F_OFD_SETLK : F_SETLK,
                           (long)&lock->range);

        if (result < 0) {
            return ckpt_refuse(failure, CKPT_REFUSAL_CHANGED_FILE, (int)result,
                               "descriptor %d cannot lock its file again: %s",
                               lock->descriptor,
                               result == -EAGAIN || result == -EACCES
                                   ? "another process has locked it"
                                   : "the system does not allow it");
        }
    }
    return 0;
}
