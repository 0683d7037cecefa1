/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inotify.c - inotify descriptors: recreated, with the same paths watched under the same
 * numbers.
 *
 * The kernel lists the watches in fdinfo, one per line, with hexadecimal numbers: "inotify wd:3
 * ino:3c4b9 sdev:fe00000 mask:100 ignored_mask:0 fhandle-bytes:8 ...". It does not report the
 * paths; files/watched.h records them. Events cannot be read without being consumed, and cannot
 * be put back. So a descriptor with unread events is refused.
 */
#include "files/inotify.h"

#include "base/descriptor_info.h"
#include "base/invariant.h"
#include "base/text.h"
#include "files/watched.h"
#include "sys/syscall.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>

#define LINE          "inotify wd:"
#define LARGEST_WATCH (1 << 20) /* the largest number that a restart reaches within a few \
                                   seconds */
_Static_assert(sizeof(struct ckpt_inotify_watch) % 8 == 0, "records stay aligned");

/* A watch, as fdinfo reports it. */
struct line {
    int watch;
    uint32_t mask;
    const char *what; /* the rest of the line */
    size_t what_size;
};

static int matches(const struct ckpt_file_probe *probe)
{
    return ckpt_text_equal(probe->path, "anon_inode:inotify") ||
           ckpt_text_equal(probe->path, "anon_inode:[inotify]");
}

/* Parses the next watch in a text of fdinfo. Returns 1, 0 at the end, or -EINVAL. */
static int next_line(const char **text_p, struct line *line)
{
    const char *at = strstr(*text_p, LINE);
    const char *mask, *end;
    uint64_t value;

    if (at == NULL) {
        return 0;
    }
    at = ckpt_text_hexadecimal(at + ckpt_text_length(LINE), &value);
    end = at == NULL ? NULL : strchr(at, '\n');
    mask = end == NULL ? NULL : strstr(at, " mask:");
    if (mask == NULL || mask > end || value == 0 || value > INT_MAX) {
        return -EINVAL;
    }
    line->watch = (int)value;
    if (ckpt_text_hexadecimal(mask + ckpt_text_length(" mask:"), &value) ==
        NULL) {
        return -EINVAL;
    }
    line->mask = (uint32_t)value & IN_ALL_EVENTS;
    line->what = at;
    line->what_size = (size_t)(end - at);
    *text_p = end;
    return 1;
}

/* Returns 1 if a watch on `call`'s path with this mask gives the same fdinfo line. other: an
 * inotify descriptor of ours without watches, used for the test. */
static int leads_there(int other, const struct ckpt_watched *call,
                       const struct line *line)
{
    char text[1024];
    const char *at = text;
    struct line found;
    long watch;
    int same;

    watch = ckpt_syscall3(SYS_inotify_add_watch, other, (long)call->path,
                          (long)(line->mask | call->flags));
    if (watch < 0) {
        return 0;
    }
    (void)ckpt_descriptor_info(other, text, sizeof text);
    same = next_line(&at, &found) == 1 && found.what_size == line->what_size &&
           memcmp(found.what, line->what, line->what_size) == 0;
    ckpt_syscall3(SYS_inotify_rm_watch, other, watch, 0);
    return same;
}

/* Returns the call that made a watch: preferably one with the same descriptor number. */
static const struct ckpt_watched *find_call(int fd, int other,
                                            const struct line *line)
{
    const int ways[] = {fd, -1};

    for (int i = 0; i < 2; i++) {
        const struct ckpt_watched *call;
        size_t after = 0;

        while ((call = ckpt_watched_find(ways[i], line->watch, &after)) !=
               NULL) {
            if (leads_there(other, call, line)) {
                return call;
            }
        }
    }
    return NULL;
}

static size_t record_size(const struct ckpt_watched *call)
{
    const size_t size =
        sizeof(struct ckpt_inotify_watch) + ckpt_text_length(call->path) + 1;

    return (size + 7) / 8 * 8;
}

/* Finds the call of each line and stores it in calls[]. */
static int find_calls(const struct ckpt_file_probe *probe, const char *text,
                      int other, const struct ckpt_watched **calls,
                      size_t *size_p, struct ckpt_failure *failure)
{
    struct line line;

    for (*size_p = 0; next_line(&text, &line) > 0; calls++) {
        *calls = find_call(probe->fd, other, &line);
        if (*calls == NULL) {
            const struct ckpt_watched *call;
            size_t after = 0;

            call = ckpt_watched_find(probe->fd, line.watch, &after);
            return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_DESCRIPTOR, -ENOTSUP,
                               "descriptor %d (%s) cannot be saved: what its "
                               "watch %d leads to is not known by its path, or "
                               "no longer%s%s",
                               probe->fd, probe->path, line.watch,
                               call == NULL ? "" : ": ",
                               call == NULL ? "" : call->path);
        }
        *size_p += record_size(*calls);
    }
    return 0;
}

/* Writes the watches into the payload, in the order of their lines. */
static int write_watches(const char *text, struct ckpt_file *file,
                         const struct ckpt_watched *const *calls, size_t size,
                         struct ckpt_failure *failure)
{
    char *to = size == 0 ? NULL : (char *)ckpt_file_payload(file, size);
    struct line line;

    if (size != 0 && to == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for what inotify watches");
    }
    for (; next_line(&text, &line) > 0; calls++) {
        struct ckpt_inotify_watch *watch = (struct ckpt_inotify_watch *)to;

        watch->watch = line.watch;
        watch->mask = line.mask | (*calls)->flags;
        watch->size = (uint32_t)record_size(*calls);
        watch->reserved = 0;
        ckpt_text_copy(to + sizeof *watch, watch->size - sizeof *watch,
                       (*calls)->path);
        CKPT_INVARIANT(to + watch->size <= (char *)(uintptr_t)file->payload + file->payload_size);
        to += watch->size;
    }
    return 0;
}

/* Counts the watches; sets file->value to the last watch number assigned. */
static int count_watches(const struct ckpt_file_probe *probe, const char *text,
                         struct ckpt_file *file, size_t *count_p,
                         struct ckpt_failure *failure)
{
    struct line line;
    int more;

    file->value = (uint64_t)ckpt_watched_last(probe->fd);
    for (*count_p = 0; (more = next_line(&text, &line)) > 0; ++*count_p) {
        if ((uint64_t)line.watch > file->value) {
            file->value = (uint64_t)line.watch;
        }
    }
    if (more < 0) {
        return ckpt_fail(failure, more,
                         "/proc/self/fdinfo/%d is not understood", probe->fd);
    }
    if (file->value > LARGEST_WATCH) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_DESCRIPTOR, -ENOTSUP,
                           "descriptor %d (%s) cannot be saved: it has had %l "
                           "watches, more than a restart can count again",
                           probe->fd, probe->path, (long)file->value);
    }
    return 0;
}

static int save_watches(const struct ckpt_file_save *save,
                        const struct ckpt_file_probe *probe, const char *text,
                        struct ckpt_file *file, struct ckpt_failure *failure)
{
    const struct ckpt_watched **calls;
    size_t count, size;
    int error = count_watches(probe, text, file, &count, failure);
    int other;

    if (error != 0 || count == 0) {
        return error;
    }
    calls = (const struct ckpt_watched **)ckpt_arena_alloc(
        save->arena, count * sizeof(const struct ckpt_watched *));
    if (calls == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for what inotify watches");
    }
    other = (int)ckpt_syscall3(SYS_inotify_init1, IN_CLOEXEC, 0, 0);
    if (other < 0) {
        return ckpt_fail(failure, other,
                         "descriptor %d (%s) cannot be saved: no inotify "
                         "descriptor to compare it with: error %d",
                         probe->fd, probe->path, -other);
    }
    error = find_calls(probe, text, other, calls, &size, failure);
    ckpt_sys_close(other);
    return error != 0 ? error : write_watches(text, file, calls, size, failure);
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    char *text;
    int unread = 0;
    long result = ckpt_sys_ioctl(probe->fd, FIONREAD, &unread);

    if (result < 0 || unread != 0) {
        return ckpt_file_refuse(probe, "an inotify descriptor with events "
                                       "that have not been read",
                                failure);
    }
    result = ckpt_file_whole_info(save, probe->fd, &text, failure);
    return result != 0 ? (int)result
                       : save_watches(save, probe, text, file, failure);
}

const struct ckpt_file_ops ckpt_file_inotify = {
    .kind = CKPT_FILE_INOTIFY,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = ckpt_inotify_restore,
    .finish = ckpt_inotify_finish,
};
