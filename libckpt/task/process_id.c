/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_id.c - the id of this process at its first start, and its present id.
 */
#include "task/process_id.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"
#include "task/threads.h"

#include <sys/stat.h>

#define PROC "/proc/"
#define SELF "/proc/self"
#define TASK "/task/"

/* Both are 0 before the first checkpoint. A child inherits its parent's
 * values. */
static struct {
    int kernel, shown;
    int restarted;
} id;

void ckpt_process_id_save(void)
{
    const int kernel = ckpt_sys_getpid();

    if (id.kernel != kernel) {
        id.kernel = id.shown = kernel;
    }
}

void ckpt_process_id_restore(void)
{
    id.kernel = ckpt_sys_getpid();
    id.restarted = 1;
}

int ckpt_process_id_shown(int kernel_id)
{
    return kernel_id == id.kernel ? id.shown : kernel_id;
}

int ckpt_process_id_of_kernel(int shown_id)
{
    return shown_id == id.shown ? id.kernel : shown_id;
}

/* Returns the kernel's id of the process's first thread. */
static int first_thread(void)
{
    const int tid = ckpt_threads_remembered(id.shown);

    return tid > 0 ? tid : id.kernel;
}

int ckpt_thread_id_shown(int kernel_id)
{
    if (id.kernel != id.shown && kernel_id == first_thread()) {
        return id.shown;
    }
    return ckpt_threads_remembered_of(kernel_id);
}

int ckpt_thread_id_of_kernel(int shown_id)
{
    int tid;

    if (id.kernel != id.shown && shown_id == id.shown) {
        return first_thread();
    }
    tid = ckpt_threads_remembered(shown_id);
    return tid > 0 ? tid : shown_id;
}

void ckpt_process_id_show_sender(siginfo_t *info)
{
    const int code = info->si_code;

    if (code == SI_USER || code == SI_QUEUE || code == SI_TKILL) {
        info->si_pid = ckpt_process_id_shown(info->si_pid);
    }
}

/* Returns 1 if the process has a thread with this number. */
static int has_thread(int number)
{
    char path[64];
    struct stat status;

    ckpt_text_format(path, sizeof path, SELF TASK "%d", number);
    return ckpt_sys_stat(path, &status) == 0;
}

/* Returns the kernel's id of the thread that the application means in a path.
 * The application may remember the id of a thread from before a restart. */
static int thread_in_path(int shown_id)
{
    int thread = ckpt_thread_id_of_kernel(shown_id);

    if (thread == shown_id && !has_thread(shown_id)) {
        thread = ckpt_threads_remembered(shown_id);
        if (thread < 0) {
            thread = ckpt_threads_renumbered(shown_id);
        }
    }
    return thread < 0 ? shown_id : thread;
}

/* Parses a path component that is a number. Returns the text after it, or
 * NULL. */
static const char *number_in_path(const char *text, int *number_p)
{
    uint64_t number;
    const char *rest = ckpt_text_decimal(text, &number);

    if (rest == NULL || (*rest != '/' && *rest != '\0') || number > INT32_MAX) {
        return NULL;
    }
    *number_p = (int)number;
    return rest;
}

const char *ckpt_process_path(const char *path, char *buffer, size_t capacity)
{
    const char *rest, *behind;
    int number = 0, thread;
    size_t length;

    if (!id.restarted || path == NULL || !ckpt_text_starts(path, PROC)) {
        return path;
    }
    if (ckpt_text_starts(path, SELF "/")) {
        rest = path + sizeof(SELF) - 1;
        length = ckpt_text_copy(buffer, capacity, SELF);
    } else {
        rest = number_in_path(path + sizeof(PROC) - 1, &number);
        if (rest == NULL || number != id.shown) {
            return path;
        }
        length = ckpt_text_format(buffer, capacity, PROC "%d", id.kernel);
    }
    CKPT_INVARIANT(length < capacity);
    if (ckpt_text_starts(rest, TASK)) {
        behind = number_in_path(rest + sizeof(TASK) - 1, &thread);
        if (behind != NULL) {
            rest = behind;
            length += ckpt_text_format(buffer + length, capacity - length,
                                       TASK "%d", thread_in_path(thread));
        }
    }
    CKPT_INVARIANT(length < capacity);
    length += ckpt_text_copy(buffer + length, capacity - length, rest);
    return length + 1 < capacity ? buffer : path;
}

const char *ckpt_process_path_at(int directory, const char *path, char *buffer,
                                 size_t capacity)
{
    char link[64], place[64], tasks[64];
    const char *rest;
    int number;
    long length;

    if (!id.restarted || path == NULL || path[0] == '/') {
        return ckpt_process_path(path, buffer, capacity);
    }
    rest = number_in_path(path, &number);
    if (rest == NULL || directory < 0) {
        return path;
    }
    ckpt_text_format(link, sizeof link, SELF "/fd/%d", directory);
    length = ckpt_sys_readlink(link, place, sizeof place - 1);
    place[length > 0 ? length : 0] = '\0';
    ckpt_text_format(tasks, sizeof tasks, PROC "%d/task", id.kernel);
    if (ckpt_text_equal(place, tasks)) {
        number = thread_in_path(number);
    } else if (ckpt_text_equal(place, "/proc")) {
        number = ckpt_process_id_of_kernel(number);
    } else {
        return path;
    }
    length = (long)ckpt_text_format(buffer, capacity, "%d%s", number, rest);
    return (size_t)length + 1 < capacity ? buffer : path;
}
