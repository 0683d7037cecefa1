/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * syscall.h - raw x86-64 Linux system calls.
 *
 * Each ckpt_sys_X makes the kernel's call X and returns its result, or -errno.
 * No libc, no errno, no TLS, no cancellation point, no restart after EINTR.
 * Context: any, freestanding included.
 *
 *   number   rax          argument 1  rdi     argument 4  r10
 *   result   rax          argument 2  rsi     argument 5  r8
 *   lost     rcx, r11     argument 3  rdx     argument 6  r9
 */
#ifndef CKPT_SYSCALL_H
#define CKPT_SYSCALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h> /* libc's: put libckpt on the path with -iquote */

#ifndef __x86_64__
#error "raw system calls exist for x86-64 only"
#endif

static inline long ckpt_syscall6(long number, long a1, long a2, long a3,
                                 long a4, long a5, long a6)
{
    long result;
    register long r10 __asm__("r10") = a4;
    register long r8 __asm__("r8") = a5;
    register long r9 __asm__("r9") = a6;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a1), "S"(a2), "d"(a3), "r"(r10),
                       "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long ckpt_syscall4(long number, long a1, long a2, long a3,
                                 long a4)
{
    long result;
    register long r10 __asm__("r10") = a4;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a1), "S"(a2), "d"(a3), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long ckpt_syscall3(long number, long a1, long a2, long a3)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a1), "S"(a2), "d"(a3)
                     : "rcx", "r11", "memory");
    return result;
}

/* Files and descriptors. */

static inline long ckpt_sys_openat(int directory, const char *path, int flags,
                                   int mode)
{
    return ckpt_syscall4(SYS_openat, directory, (long)path, flags, mode);
}

static inline long ckpt_sys_open(const char *path, int flags, int mode)
{
    return ckpt_syscall3(SYS_open, (long)path, flags, mode);
}

static inline long ckpt_sys_close(int fd)
{
    return ckpt_syscall3(SYS_close, fd, 0, 0);
}

static inline long ckpt_sys_close_range(unsigned first, unsigned last,
                                        unsigned flags)
{
    return ckpt_syscall3(SYS_close_range, first, last, flags);
}

static inline long ckpt_sys_read(int fd, void *buffer, size_t size)
{
    return ckpt_syscall3(SYS_read, fd, (long)buffer, (long)size);
}

static inline long ckpt_sys_write(int fd, const void *buffer, size_t size)
{
    return ckpt_syscall3(SYS_write, fd, (long)buffer, (long)size);
}

static inline long ckpt_sys_pread(int fd, void *buffer, size_t size,
                                  int64_t offset)
{
    return ckpt_syscall4(SYS_pread64, fd, (long)buffer, (long)size, offset);
}

static inline long ckpt_sys_pwrite(int fd, const void *buffer, size_t size,
                                   int64_t offset)
{
    return ckpt_syscall4(SYS_pwrite64, fd, (long)buffer, (long)size, offset);
}

static inline long ckpt_sys_lseek(int fd, int64_t offset, int whence)
{
    return ckpt_syscall3(SYS_lseek, fd, offset, whence);
}

static inline long ckpt_sys_ftruncate(int fd, int64_t size)
{
    return ckpt_syscall3(SYS_ftruncate, fd, size, 0);
}

/* `status` is the struct stat of libc: on x86-64 it has the kernel's layout. */
struct stat;

static inline long ckpt_sys_fstat(int fd, struct stat *status)
{
    return ckpt_syscall3(SYS_fstat, fd, (long)status, 0);
}

static inline long ckpt_sys_stat(const char *path, struct stat *status)
{
    return ckpt_syscall3(SYS_stat, (long)path, (long)status, 0);
}

static inline long ckpt_sys_readlink(const char *path, char *buffer,
                                     size_t size)
{
    return ckpt_syscall3(SYS_readlink, (long)path, (long)buffer, (long)size);
}

static inline long ckpt_sys_getdents64(int fd, void *buffer, size_t size)
{
    return ckpt_syscall3(SYS_getdents64, fd, (long)buffer, (long)size);
}

static inline long ckpt_sys_fcntl(int fd, int command, long argument)
{
    return ckpt_syscall3(SYS_fcntl, fd, command, argument);
}

static inline long ckpt_sys_ioctl(int fd, unsigned long request, void *argument)
{
    return ckpt_syscall3(SYS_ioctl, fd, (long)request, (long)argument);
}

static inline long ckpt_sys_dup3(int from, int to, int flags)
{
    return ckpt_syscall3(SYS_dup3, from, to, flags);
}

static inline long ckpt_sys_pipe2(int ends[2], int flags)
{
    return ckpt_syscall3(SYS_pipe2, (long)ends, flags, 0);
}

static inline long ckpt_sys_eventfd2(unsigned value, int flags)
{
    return ckpt_syscall3(SYS_eventfd2, value, flags, 0);
}

static inline long ckpt_sys_memfd_create(const char *name, unsigned flags)
{
    return ckpt_syscall3(SYS_memfd_create, (long)name, flags, 0);
}

struct pollfd;

static inline long ckpt_sys_poll(struct pollfd *files, unsigned long count,
                                 int timeout_ms)
{
    return ckpt_syscall3(SYS_poll, (long)files, (long)count, timeout_ms);
}

struct msghdr;

static inline long ckpt_sys_recvmsg(int fd, struct msghdr *message, int flags)
{
    return ckpt_syscall3(SYS_recvmsg, fd, (long)message, flags);
}

/* Memory. Mapping calls return the address, or -errno in [-4095, -1]. */

static inline int ckpt_sys_failed(long result)
{
    return (unsigned long)result > -4096ul;
}

static inline long ckpt_sys_mmap(void *address, size_t size, int protection,
                                 int flags, int fd, int64_t offset)
{
    return ckpt_syscall6(SYS_mmap, (long)address, (long)size, protection, flags,
                         fd, offset);
}

static inline long ckpt_sys_munmap(void *address, size_t size)
{
    return ckpt_syscall3(SYS_munmap, (long)address, (long)size, 0);
}

static inline long ckpt_sys_mprotect(void *address, size_t size, int protection)
{
    return ckpt_syscall3(SYS_mprotect, (long)address, (long)size, protection);
}

static inline long ckpt_sys_mremap(void *from, size_t old_size, size_t new_size,
                                   int flags, void *to)
{
    return ckpt_syscall6(SYS_mremap, (long)from, (long)old_size, (long)new_size,
                         flags, (long)to, 0);
}

static inline long ckpt_sys_madvise(void *address, size_t size, int advice)
{
    return ckpt_syscall3(SYS_madvise, (long)address, (long)size, advice);
}

static inline long ckpt_sys_brk(void *address)
{
    return ckpt_syscall3(SYS_brk, (long)address, 0, 0);
}

/* Threads and processes. */

static inline int ckpt_sys_getpid(void)
{
    return (int)ckpt_syscall3(SYS_getpid, 0, 0, 0);
}

static inline int ckpt_sys_gettid(void)
{
    return (int)ckpt_syscall3(SYS_gettid, 0, 0, 0);
}

static inline long ckpt_sys_kill(int pid, int signal)
{
    return ckpt_syscall3(SYS_kill, pid, signal, 0);
}

static inline long ckpt_sys_tgkill(int pid, int tid, int signal)
{
    return ckpt_syscall3(SYS_tgkill, pid, tid, signal);
}

static inline long ckpt_sys_futex(volatile uint32_t *word, int operation,
                                  uint32_t value, const void *timeout)
{
    return ckpt_syscall4(SYS_futex, (long)word, operation, (long)value,
                         (long)timeout);
}

static inline long ckpt_sys_set_tid_address(void *address)
{
    return ckpt_syscall3(SYS_set_tid_address, (long)address, 0, 0);
}

static inline long ckpt_sys_set_robust_list(void *head, size_t size)
{
    return ckpt_syscall3(SYS_set_robust_list, (long)head, (long)size, 0);
}

static inline long ckpt_sys_get_robust_list(int tid, void **head_p,
                                            size_t *size_p)
{
    return ckpt_syscall3(SYS_get_robust_list, tid, (long)head_p, (long)size_p);
}

/* Number 334; older headers lack the name. */
static inline long ckpt_sys_rseq(void *area, uint32_t size, int flags,
                                 uint32_t signature)
{
    return ckpt_syscall4(334, (long)area, size, flags, signature);
}

static inline long ckpt_sys_prctl(int operation, unsigned long a2,
                                  unsigned long a3, unsigned long a4,
                                  unsigned long a5)
{
    return ckpt_syscall6(SYS_prctl, operation, (long)a2, (long)a3, (long)a4,
                         (long)a5, 0);
}

static inline long ckpt_sys_arch_prctl(int operation, unsigned long argument)
{
    return ckpt_syscall3(SYS_arch_prctl, operation, (long)argument, 0);
}

static inline __attribute__((noreturn)) void ckpt_sys_exit_group(int status)
{
    for (;;) {
        ckpt_syscall3(SYS_exit_group, status, 0, 0);
    }
}

/* Signals. The kernel's set has 64 bits: bit (signal - 1). */

#define CKPT_SIGNAL_COUNT       64
#define CKPT_SIGNAL_BIT(signal) (UINT64_C(1) << ((signal)-1))

/* The kernel's struct sigaction; `restorer` is valid with CKPT_SA_RESTORER. */
struct ckpt_sigaction {
    void *handler; /* function, SIG_DFL or SIG_IGN */
    uint64_t flags;
    void *restorer;
    uint64_t mask;
};
#define CKPT_SA_RESTORER 0x04000000ul

static inline long ckpt_sys_sigaction(int signal,
                                      const struct ckpt_sigaction *action,
                                      struct ckpt_sigaction *old)
{
    return ckpt_syscall4(SYS_rt_sigaction, signal, (long)action, (long)old,
                         sizeof(uint64_t));
}

/* how: SIG_BLOCK 0, SIG_UNBLOCK 1, SIG_SETMASK 2. */
static inline long ckpt_sys_sigprocmask(int how, const uint64_t *set,
                                        uint64_t *old)
{
    return ckpt_syscall4(SYS_rt_sigprocmask, how, (long)set, (long)old,
                         sizeof(uint64_t));
}

/* `stack` and `old` point to stack_t. */
static inline long ckpt_sys_sigaltstack(const void *stack, void *old)
{
    return ckpt_syscall3(SYS_sigaltstack, (long)stack, (long)old, 0);
}

/* Time; `time` points to struct timespec. These calls do not use the vDSO. */

static inline long ckpt_sys_clock_gettime(int clock, void *time)
{
    return ckpt_syscall3(SYS_clock_gettime, clock, (long)time, 0);
}

static inline long ckpt_sys_nanosleep(const void *time, void *left)
{
    return ckpt_syscall3(SYS_nanosleep, (long)time, (long)left, 0);
}

/* Other attributes of the process. */

static inline long ckpt_sys_getcwd(char *buffer, size_t size)
{
    return ckpt_syscall3(SYS_getcwd, (long)buffer, (long)size, 0);
}

static inline int ckpt_sys_umask(int mask)
{
    return (int)ckpt_syscall3(SYS_umask, mask, 0, 0);
}

static inline long ckpt_sys_personality(unsigned long persona)
{
    return ckpt_syscall3(SYS_personality, (long)persona, 0, 0);
}

#endif
