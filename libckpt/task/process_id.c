/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_id.c - the id of this process at its first start, and now.
 */
#include "task/process_id.h"

#include "base/text.h"
#include "sys/syscall.h"
#include "task/threads.h"

#define PROC "/proc/"

/* Both 0 before the first checkpoint. A child has the ids of its parent. */
static struct {
    int kernel, shown;
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
}

int ckpt_process_id_shown(int kernel_id)
{
    return kernel_id == id.kernel ? id.shown : kernel_id;
}

int ckpt_process_id_of_kernel(int shown_id)
{
    return shown_id == id.shown ? id.kernel : shown_id;
}

/* The kernel's id of the thread that was the first one of the process. */
static int first_thread(void)
{
    const int tid = ckpt_threads_remembered(id.shown);

    return tid > 0 ? tid : id.kernel;
}

int ckpt_thread_id_shown(int kernel_id)
{
    return id.kernel != id.shown && kernel_id == first_thread() ? id.shown
                                                                : kernel_id;
}

int ckpt_thread_id_of_kernel(int shown_id)
{
    return id.kernel != id.shown && shown_id == id.shown ? first_thread()
                                                         : shown_id;
}

void ckpt_process_id_show_sender(siginfo_t *info)
{
    const int code = info->si_code;

    if (code == SI_USER || code == SI_QUEUE || code == SI_TKILL) {
        info->si_pid = ckpt_process_id_shown(info->si_pid);
    }
}

const char *ckpt_process_path(const char *path, char *buffer, size_t capacity)
{
    const char *rest;
    uint64_t number;
    size_t length;

    if (id.kernel == id.shown || path == NULL ||
        !ckpt_text_starts(path, PROC)) {
        return path;
    }
    rest = ckpt_text_decimal(path + sizeof(PROC) - 1, &number);
    if (rest == NULL || (*rest != '/' && *rest != '\0') ||
        number != (uint64_t)id.shown) {
        return path;
    }
    length = ckpt_text_format(buffer, capacity, PROC "%d%s", id.kernel, rest);
    return length + 1 < capacity ? buffer : path;
}
