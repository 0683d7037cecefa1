/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timerfd.c - timerfds: recreated with their remaining time, as in task/timers.c, and with the
 * expirations not yet read. They start last, just before the program continues.
 *
 * The kernel reports most values in fdinfo: "clockid: 1", "ticks: 0", "settime flags: 01"
 * (octal). timerfd_gettime() reports the times. It also restarts a periodic timer with an
 * unread expiration. A timer that is due at that moment has 0 left, like a disarmed timer.
 */
#include "files/file_kind.h"

#include "base/descriptor_info.h"
#include "base/text.h"
#include "sys/syscall.h"
#include "sys/time_of_day.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>

#ifndef TFD_IOC_SET_TICKS
#define TFD_IOC_SET_TICKS _IOW('T', 0, uint64_t)
#endif

static int matches(const struct ckpt_file_probe *probe)
{
    return ckpt_text_equal(probe->path, "anon_inode:[timerfd]");
}

/* Maximum attempts for a timer that expires faster than this code reads it. */
enum {
    MOST_LOOKS = 4
};

static int is_zero(const struct timespec *time)
{
    return time->tv_sec == 0 && time->tv_nsec == 0;
}

/* Reads times and expirations of the same moment. Returns 0 if the kernel does not report
 * them. */
static int look(int fd, char *info, size_t size, struct itimerspec *left, uint64_t *ticks)
{
    uint64_t before;

    ckpt_syscall3(SYS_timerfd_gettime, fd, (long)left, 0); /* restarts a periodic timer */
    for (int i = 0; i < MOST_LOOKS; i++) {
        (void)ckpt_descriptor_info(fd, info, size);
        if (!ckpt_file_info_value(info, "ticks:", 0, &before)) {
            return 0;
        }
        ckpt_syscall3(SYS_timerfd_gettime, fd, (long)left, 0);
        (void)ckpt_descriptor_info(fd, info, size);
        if (!ckpt_file_info_value(info, "ticks:", 0, ticks)) {
            return 0;
        }
        if (*ticks == before && !is_zero(&left->it_value)) {
            return 1;
        }
    }
    if (*ticks > 0 && is_zero(&left->it_value)) { /* ticks: it has not been disarmed, it is due */
        left->it_value = left->it_interval;       /* now; a one-shot timer has no interval */
    }
    return 1;
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    struct ckpt_timerfd *timer = ckpt_file_payload(file, sizeof *timer);
    uint64_t flags = 0;
    struct itimerspec left;
    char info[1024];

    (void)save;
    if (timer == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no memory to save descriptor %d",
                         probe->fd);
    }
    if (!look(probe->fd, info, sizeof info, &left, &timer->ticks) ||
        !ckpt_file_info_value(info, "clockid:", 0, &file->value) ||
        !ckpt_file_info_value(info, "settime flags:", 0, &flags)) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MISSING_KERNEL_FEATURE, -ENOTSUP,
                           "descriptor %d (%s) cannot be saved: the kernel does "
                           "not tell its time",
                           probe->fd, probe->path);
    }
    if (ckpt_is_time_of_day((int)file->value) &&
        (flags & TFD_TIMER_ABSTIME) != 0) {
        ckpt_make_absolute((int)file->value, &left.it_value);
        file->detail =
            (uint32_t)flags & (TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
    }
    timer->seconds = (uint64_t)left.it_value.tv_sec;
    timer->nanoseconds = (uint64_t)left.it_value.tv_nsec;
    timer->interval_seconds = (uint64_t)left.it_interval.tv_sec;
    timer->interval_nanoseconds = (uint64_t)left.it_interval.tv_nsec;
    return 0;
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    const int nonblocking =
        (file->status_flags & O_NONBLOCK) != 0 ? TFD_NONBLOCK : 0;
    int fd = timerfd_create((int)file->value, TFD_CLOEXEC | nonblocking);

    return fd >= 0 ? fd
                   : ckpt_file_lost(restore, file, -errno, strerror(errno),
                                    failure);
}

/* Sets the recreated timer to the saved state. Returns 0 or -errno. */
static long start(const struct ckpt_file *file)
{
    struct ckpt_timerfd *timer =
        (struct ckpt_timerfd *)(uintptr_t)file->payload;
    const struct itimerspec time = {
        .it_value = {(time_t)timer->seconds, (long)timer->nanoseconds},
        .it_interval = {(time_t)timer->interval_seconds,
                        (long)timer->interval_nanoseconds},
    };
    long error = ckpt_syscall4(SYS_timerfd_settime, file->descriptor,
                               file->detail, (long)&time, 0);

    if (error == 0 && timer->ticks != 0) {
        error = ckpt_sys_ioctl(file->descriptor, TFD_IOC_SET_TICKS,
                               &timer->ticks);
    }
    return error;
}

int ckpt_file_timers_start(const struct ckpt_file *files, size_t count,
                           struct ckpt_failure *failure)
{
    for (size_t i = 0; i < count; i++) {
        long error = 0;

        if (files[i].kind == CKPT_FILE_TIMERFD && files[i].same_as < 0) {
            error = start(&files[i]);
        }
        if (error != 0) {
            return ckpt_fail(failure, (int)error,
                             "the timer of descriptor %d cannot be set: error "
                             "%l",
                             files[i].descriptor, -error);
        }
    }
    return 0;
}

const struct ckpt_file_ops ckpt_file_timerfd = {
    .kind = CKPT_FILE_TIMERFD,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = restore,
};
