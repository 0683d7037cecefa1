/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_id.c - libc calls that return or take the id of this process.
 *
 * libckpt/task/process_id.h gives the reason. Each call goes on to libc.
 *
 * Context of all functions: normal, or a signal handler.
 */
#include "config.h"

#include "interpose/next.h"
#include "sys/syscall.h"
#include "task/process_id.h"

#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(sizeof(pid_t) == sizeof(int) && sizeof(id_t) == sizeof(int), "an id is an int");

CKPT_INTERPOSE pid_t getpid(void)
{
    return ckpt_process_id_shown(ckpt_sys_getpid());
}

CKPT_INTERPOSE pid_t getppid(void)
{
    return ckpt_process_id_shown(CKPT_NEXT(getppid)());
}

CKPT_INTERPOSE pid_t gettid(void)
{
    return ckpt_thread_id_shown(ckpt_sys_gettid());
}

CKPT_INTERPOSE int kill(pid_t process, int signal)
{
    return CKPT_NEXT(kill)(ckpt_process_id_of_kernel(process), signal);
}

CKPT_INTERPOSE int tgkill(pid_t process, pid_t thread, int signal)
{
    return CKPT_NEXT(tgkill)(ckpt_process_id_of_kernel(process),
                             ckpt_thread_id_of_kernel(thread), signal);
}

CKPT_INTERPOSE int sigqueue(pid_t process, int signal, const union sigval value)
{
    return CKPT_NEXT(sigqueue)(ckpt_process_id_of_kernel(process), signal,
                               value);
}

CKPT_INTERPOSE int pidfd_open(pid_t process, unsigned flags)
{
    return CKPT_NEXT(pidfd_open)(ckpt_process_id_of_kernel(process), flags);
}

CKPT_INTERPOSE pid_t getpgid(pid_t process)
{
    return CKPT_NEXT(getpgid)(ckpt_process_id_of_kernel(process));
}

CKPT_INTERPOSE int setpgid(pid_t process, pid_t group)
{
    return CKPT_NEXT(setpgid)(ckpt_process_id_of_kernel(process),
                              ckpt_process_id_of_kernel(group));
}

CKPT_INTERPOSE pid_t getsid(pid_t process)
{
    return CKPT_NEXT(getsid)(ckpt_process_id_of_kernel(process));
}

/* ---- Calls that take a thread's id --------------------------------------- */

static id_t of_thread(int kind, id_t id)
{
    return kind == PRIO_PROCESS ? (id_t)ckpt_thread_id_of_kernel((int)id) : id;
}

CKPT_INTERPOSE int getpriority(__priority_which_t kind, id_t id)
{
    return CKPT_NEXT(getpriority)(kind, of_thread((int)kind, id));
}

CKPT_INTERPOSE int setpriority(__priority_which_t kind, id_t id, int priority)
{
    return CKPT_NEXT(setpriority)(kind, of_thread((int)kind, id), priority);
}

CKPT_INTERPOSE int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *set)
{
    return CKPT_NEXT(sched_getaffinity)(ckpt_thread_id_of_kernel(thread), size,
                                        set);
}

CKPT_INTERPOSE int sched_setaffinity(pid_t thread, size_t size,
                                     const cpu_set_t *set)
{
    return CKPT_NEXT(sched_setaffinity)(ckpt_thread_id_of_kernel(thread), size,
                                        set);
}

CKPT_INTERPOSE int sched_getscheduler(pid_t thread)
{
    return CKPT_NEXT(sched_getscheduler)(ckpt_thread_id_of_kernel(thread));
}

CKPT_INTERPOSE int sched_setscheduler(pid_t thread, int policy,
                                      const struct sched_param *parameter)
{
    return CKPT_NEXT(sched_setscheduler)(ckpt_thread_id_of_kernel(thread),
                                         policy, parameter);
}

CKPT_INTERPOSE int sched_getparam(pid_t thread, struct sched_param *parameter)
{
    return CKPT_NEXT(sched_getparam)(ckpt_thread_id_of_kernel(thread),
                                     parameter);
}

CKPT_INTERPOSE int sched_setparam(pid_t thread,
                                  const struct sched_param *parameter)
{
    return CKPT_NEXT(sched_setparam)(ckpt_thread_id_of_kernel(thread),
                                     parameter);
}

/* ---- Limits and memory --------------------------------------------------- */

CKPT_INTERPOSE int prlimit(pid_t process, __rlimit_resource_t resource,
                           const struct rlimit *limit, struct rlimit *old)
{
    return CKPT_NEXT(prlimit)(ckpt_process_id_of_kernel(process), resource,
                              limit, old);
}

CKPT_INTERPOSE int prlimit64(pid_t process, __rlimit_resource_t resource,
                             const struct rlimit64 *limit,
                             struct rlimit64 *old)
{
    return CKPT_NEXT(prlimit64)(ckpt_process_id_of_kernel(process), resource,
                                limit, old);
}

CKPT_INTERPOSE ssize_t process_vm_readv(pid_t process, const struct iovec *own,
                                        unsigned long own_count,
                                        const struct iovec *its,
                                        unsigned long its_count,
                                        unsigned long flags)
{
    return CKPT_NEXT(process_vm_readv)(ckpt_process_id_of_kernel(process), own,
                                       own_count, its, its_count, flags);
}

CKPT_INTERPOSE ssize_t process_vm_writev(pid_t process, const struct iovec *own,
                                         unsigned long own_count,
                                         const struct iovec *its,
                                         unsigned long its_count,
                                         unsigned long flags)
{
    return CKPT_NEXT(process_vm_writev)(ckpt_process_id_of_kernel(process), own,
                                        own_count, its, its_count, flags);
}
