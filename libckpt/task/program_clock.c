/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_clock.c - implements program_clock.h.
 *
 * After a restart the saved vDSO consists only of jumps to this kernel's vDSO (process/vdso.c).
 * The jump of clock_gettime is redirected to read_clock() here.
 */
#include "task/program_clock.h"

#include "base/invariant.h"
#include "memory/regions.h"
#include "sys/syscall.h"
#include "process/vdso.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <sys/mman.h>

#define NANOSECONDS   INT64_C(1000000000)
#define PAGE          4096u
#define VDSO_FUNCTION "__vdso_clock_gettime"

/* Groups of clocks whose differences must not change. */
enum group {
    GROUP_NONE,
    GROUP_MONOTONIC,
    GROUP_RAW,
    GROUP_BOOT,
    GROUPS
};

#define CLOCKS 12 /* the kernel's clocks; others are processor time or a device */
static const unsigned char group_of_clock[CLOCKS] = {
    [CLOCK_MONOTONIC] = GROUP_MONOTONIC,
    [CLOCK_MONOTONIC_COARSE] = GROUP_MONOTONIC,
    [CLOCK_MONOTONIC_RAW] = GROUP_RAW,
    [CLOCK_BOOTTIME] = GROUP_BOOT,
    [CLOCK_BOOTTIME_ALARM] = GROUP_BOOT,
};

/* Clocks that every kernel can read: CLOCK_BOOTTIME_ALARM needs a device. */
static const clockid_t read_clocks[] = {
    CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC_RAW,
    CLOCK_BOOTTIME};
#define READ_CLOCKS (sizeof(read_clocks) / sizeof(read_clocks[0]))

typedef int clock_function(clockid_t clock, struct timespec *time);

static struct {
    int64_t offset[GROUPS];
    struct timespec parts[GROUPS]; /* `offset` as timespec; 0 <= tv_nsec < NANOSECONDS */
    int64_t change[GROUPS];        /* of the offset, by the last restart */
    int64_t stopped[READ_CLOCKS];  /* program time at the checkpoint */
    clock_function *kernel;        /* function in the kernel's vDSO; NULL: use the system call */
    uint64_t vdso_start, vdso_end; /* the kernel's vDSO, since the last restart */
} state;

/* interpose/syscall.S reads this, too. */
uint32_t ckpt_clock_restart_count __attribute__((visibility("hidden")));

/* Returns an index for the tables: other clocks are treated as CLOCK_REALTIME. */
static enum group group_of(clockid_t clock)
{
    return (enum group)
        group_of_clock[clock >= 0 && clock < CLOCKS ? clock : CLOCK_REALTIME];
}

int64_t ckpt_clock_offset(clockid_t clock)
{
    return state.offset[group_of(clock)];
}

int64_t ckpt_clock_change(clockid_t clock)
{
    return state.change[group_of(clock)];
}

uint32_t ckpt_clock_restarts(void)
{
    return __atomic_load_n(&ckpt_clock_restart_count, __ATOMIC_RELAXED);
}

static int64_t kernel_time(clockid_t clock)
{
    struct timespec now = {0, 0};

    ckpt_sys_clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NANOSECONDS + now.tv_nsec;
}

int64_t ckpt_clock_now(void)
{
    return kernel_time(CLOCK_MONOTONIC) + ckpt_clock_offset(CLOCK_MONOTONIC);
}

/* Adds without checks; normalises tv_nsec. */
static struct timespec add(const struct timespec *time, int64_t nanoseconds)
{
    struct timespec sum = {
        time->tv_sec + nanoseconds / NANOSECONDS,
        time->tv_nsec + nanoseconds % NANOSECONDS,
    };

    if (sum.tv_nsec < 0) {
        sum.tv_nsec += NANOSECONDS;
        sum.tv_sec--;
    } else if (sum.tv_nsec >= NANOSECONDS) {
        sum.tv_nsec -= NANOSECONDS;
        sum.tv_sec++;
    }
    return sum;
}

struct timespec ckpt_clock_add(const struct timespec *time, int64_t nanoseconds)
{
    const struct timespec earliest = {0, 1};
    struct timespec sum;

    if (nanoseconds == 0 || time->tv_sec < 0 || time->tv_sec > LONG_MAX / 2 ||
        time->tv_nsec < 0 || time->tv_nsec >= NANOSECONDS) {
        return *time;
    }
    sum = add(time, nanoseconds);
    return sum.tv_sec < 0 || (sum.tv_sec == 0 && sum.tv_nsec == 0) ? earliest
                                                                   : sum;
}

struct timespec ckpt_clock_to_kernel(clockid_t clock,
                                     const struct timespec *program)
{
    return ckpt_clock_add(program, -ckpt_clock_offset(clock));
}

void ckpt_clock_stop(void)
{
    for (size_t i = 0; i < READ_CLOCKS; i++) {
        state.stopped[i] =
            kernel_time(read_clocks[i]) + ckpt_clock_offset(read_clocks[i]);
    }
}

/*
 * Sets each group's offset so that none of its clocks goes back. The coarse clock lags by up to
 * a tick, and by another part of a tick on another host.
 */
static void set_offsets(void)
{
    const struct timespec zero = {0, 0};
    int64_t offset[GROUPS];

    for (int i = 0; i < GROUPS; i++) {
        offset[i] = i == GROUP_NONE ? 0 : INT64_MIN;
    }
    for (size_t i = 0; i < READ_CLOCKS; i++) {
        const enum group group = group_of(read_clocks[i]);
        const int64_t difference =
            state.stopped[i] - kernel_time(read_clocks[i]);

        if (difference > offset[group]) {
            offset[group] = difference;
        }
    }
    for (int i = 0; i < GROUPS; i++) {
        CKPT_INVARIANT(offset[i] != INT64_MIN); /* each group has a clock that was read */
        state.change[i] = offset[i] - state.offset[i];
        state.offset[i] = offset[i];
        state.parts[i] = add(&zero, offset[i]);
        CKPT_INVARIANT(state.parts[i].tv_nsec >= 0 && state.parts[i].tv_nsec < NANOSECONDS);
    }
}

/* In a separate section, so that ckpt_clock_is_reading() can recognise it. */
#define READING __attribute__((noinline, section("ckpt_clock_reading")))
extern const char __start_ckpt_clock_reading[] __attribute__((
    visibility("hidden")));
extern const char __stop_ckpt_clock_reading[] __attribute__((
    visibility("hidden")));

/*
 * The program's clock_gettime after a restart. It runs on any stack, with any thread pointer,
 * so it uses neither libc nor thread-local storage. If a handler interrupts it and a restart
 * happens in that handler, the reading is repeated.
 */
READING static int read_clock(clockid_t clock, struct timespec *time)
{
    const unsigned index =
        (unsigned)clock < CLOCKS ? (unsigned)clock : CLOCK_REALTIME;
    const volatile struct timespec *parts =
        &state.parts[group_of_clock[index]];
    struct timespec offset;
    int error;

    do {
        clock_function *kernel = *(clock_function *volatile *)&state.kernel;

        offset = (struct timespec){parts->tv_sec, parts->tv_nsec};
        error = kernel != NULL ? kernel(clock, time)
                               : (int)ckpt_sys_clock_gettime(clock, time);
    } while (offset.tv_sec != parts->tv_sec || offset.tv_nsec != parts->tv_nsec);
    if (error == 0) {
        time->tv_sec += offset.tv_sec;
        time->tv_nsec += offset.tv_nsec;
        if (time->tv_nsec >= NANOSECONDS) {
            time->tv_nsec -= NANOSECONDS;
            time->tv_sec++;
        }
    }
    return error;
}

int ckpt_clock_is_reading(uint64_t address)
{
    const struct ckpt_range vdso = ckpt_regions_vdso();

    return (address >= vdso.start && address < vdso.end) ||
           (address >= state.vdso_start && address < state.vdso_end) ||
           (address >= (uintptr_t)__start_ckpt_clock_reading &&
            address < (uintptr_t)__stop_ckpt_clock_reading);
}

/* Returns the end of the vDSO: the kernel maps whole pages of its only segment. */
static uint64_t end_of_vdso(uint64_t vdso)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)vdso;
    const Elf64_Phdr *segments;
    uint64_t size = 0;

    if (vdso == 0) {
        return 0;
    }
    segments = (const Elf64_Phdr *)(vdso + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0) {
            size = segments[i].p_memsz;
        }
    }
    return vdso + (size + PAGE - 1) / PAGE * PAGE;
}

/* Redirects the saved vDSO's clock_gettime to read_clock(). */
static int divert(struct ckpt_failure *failure)
{
    const struct ckpt_range saved = ckpt_regions_vdso();
    const size_t size = saved.end - saved.start;
    void *const image = (void *)saved.start;
    uint64_t target = 0;
    long closed, error = ckpt_sys_mprotect(image, size, PROT_READ | PROT_WRITE);

    CKPT_INVARIANT(saved.start % PAGE == 0 && size % PAGE == 0);
    if (error == 0) {
        error = ckpt_vdso_divert(image, size, VDSO_FUNCTION,
                                 (uintptr_t)read_clock, &target);
        if (error == 0) {
            state.kernel = (clock_function *)target;
        }
        closed = ckpt_sys_mprotect(image, size, PROT_READ | PROT_EXEC);
        error = error != 0 ? error : closed;
    }
    return error == 0
               ? 0
               : ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, (int)error,
                             "the program's vDSO at %x cannot be changed, so its "
                             "clocks would jump: error %l",
                             saved.start, -error);
}

int ckpt_clock_start(uint64_t vdso, struct ckpt_failure *failure)
{
    const struct ckpt_range saved = ckpt_regions_vdso();
    int error;

    if (saved.start == saved.end) {
        return 0; /* a kernel without a vDSO: the program sees that kernel's clocks */
    }
    error = divert(failure);
    if (error != 0) {
        return error;
    }
    state.vdso_start = vdso;
    state.vdso_end = end_of_vdso(vdso);
    CKPT_INVARIANT(state.vdso_start <= state.vdso_end && state.vdso_end % PAGE == 0);
    set_offsets();
    __atomic_fetch_add(&ckpt_clock_restart_count, 1, __ATOMIC_RELAXED);
    return 0;
}
