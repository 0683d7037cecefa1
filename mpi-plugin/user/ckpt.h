/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckpt.h - what a program may tell the checkpointer about itself, in C and C++
 * (ckpt.hpp, ckpt.f90 and ckpt.py are the same for other languages).
 *
 * A program that includes this needs nothing else: there is no library to link. The
 * functions look for the checkpointer in their own process; where there is none,
 * they do nothing. So one binary runs with ckpt, without it, and on machines that
 * have never heard of it. (With a libc older than glibc 2.34, link with -ldl.)
 *
 * Every function may be called by any thread, before MPI_Init and after
 * MPI_Finalize too, but not in a signal handler. None of them calls MPI. See
 * ckpt(3).
 */
#ifndef CKPT_H
#define CKPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a checkpoint. */
enum {
    CKPT_REFUSED = -1,   /* there is none; ckpt_reason() tells why */
    CKPT_ABSENT = 0,     /* nobody takes checkpoints; or none was due */
    CKPT_TAKEN = 1,      /* there is one, and this is the program that goes on */
    CKPT_RESTARTED = 2,  /* this is the program that came back from it */
    CKPT_ASKED = 3       /* it is asked for, and will be taken when it can be */
};

/* Flags of ckpt_checkpoint(). */
#define CKPT_WAIT 1u /* until it is on disk */
#define CKPT_ALL 2u  /* all ranks call this: the last one begins it */

/* What is to be done about a checkpoint; see ckpt_hooks_add(). */
struct ckpt_hooks {
    /* Before: 0, or anything else if it is not to be now. */
    int (*before)(void *data);
    /* After: CKPT_TAKEN, CKPT_RESTARTED, or CKPT_REFUSED if none was taken. May be
     * NULL, as may `before`. */
    void (*after)(int answer, void *data);
    void *data;
};

/* The functions of the checkpointer, in the process that it has been loaded into
 * under the name "ckpt_interface_1". For bindings; programs call what is below. */
struct ckpt_interface {
    uint32_t version; /* 1 */
    uint32_t size;    /* bytes of this structure: later versions append */
    int (*active)(void);
    uint64_t (*restarts)(void);
    uint64_t (*last)(void);
    int (*wanted)(void);
    int (*checkpoint)(unsigned flags);
    const char *(*reason)(void);
    void (*disable)(void);
    void (*enable)(void);
    int (*safe_point)(void);
    void (*only_at_safe_points)(int only);
    int (*exclude)(const volatile void *address, size_t size);
    int (*include)(const volatile void *address, size_t size);
    int (*hooks_add)(const struct ckpt_hooks *hooks);
    void (*hooks_remove)(int id);
};

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifndef CKPT_INTERFACE_ONLY

#include <dlfcn.h>

/* The checkpointer of this process, or NULL. */
static inline const struct ckpt_interface *ckpt_find_interface(void)
{
    static const char none = 0;
    static const void *known;
    const void *found = __atomic_load_n(&known, __ATOMIC_ACQUIRE);

    if (found == NULL) {
        /* NULL is RTLD_DEFAULT, which not every dlfcn.h shows. */
        found = dlsym(NULL, "ckpt_interface_1");
        if (found == NULL) {
            found = &none;
        }
        __atomic_store_n(&known, found, __ATOMIC_RELEASE);
    }
    return found != (const void *)&none ? (const struct ckpt_interface *)found : NULL;
}

/* 1 if checkpoints of this process can be taken: from MPI_Init to MPI_Finalize;
 * without MPI, always. */
static inline int ckpt_active(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->active() : 0;
}

/* How often this program has been restarted since it was first started. */
static inline uint64_t ckpt_restarts(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->restarts() : 0;
}

/* Number of the newest committed checkpoint of the job, as `ckpt list` shows it
 * behind the slash; that of the restart at first; 0: none. */
static inline uint64_t ckpt_last(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->last() : 0;
}

/* 1 if a checkpoint waits for ranks that cannot be saved just now: reach a safe
 * point soon. Costs a load. */
static inline int ckpt_wanted(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->wanted() : 0;
}

/*
 * Asks for a checkpoint of the job. flags: CKPT_WAIT, CKPT_ALL, or 0.
 * Returns CKPT_ASKED at once without CKPT_WAIT, else CKPT_TAKEN when it is on disk,
 * CKPT_RESTARTED in the program that comes back from it, or CKPT_ASKED if this rank
 * has to go on before it can be taken; CKPT_REFUSED; CKPT_ABSENT.
 */
static inline int ckpt_checkpoint(unsigned flags)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->checkpoint(flags) : (int)CKPT_ABSENT;
}

/* Why the last checkpoint that this process asked for was refused; "" if it was
 * not. Valid until the next one. */
static inline const char *ckpt_reason(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->reason() : "";
}

/* From here to the ckpt_enable() that belongs to it, in the same thread, this process
 * is not saved. They nest. */
static inline void ckpt_disable(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    if (ckpt != NULL) {
        ckpt->disable();
    }
}

/* Where the last thread leaves its outermost one is a safe point. */
static inline void ckpt_enable(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    if (ckpt != NULL) {
        ckpt->enable();
    }
}

/*
 * Here it is good to save this process. Returns CKPT_TAKEN when its memory has just
 * been saved (whether that is on disk, ckpt_last() will tell), CKPT_RESTARTED in the
 * program that comes back, else CKPT_ABSENT. Costs an addition when nothing is due.
 */
static inline int ckpt_safe_point(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->safe_point() : (int)CKPT_ABSENT;
}

/* only != 0: from now on this process is saved at its safe points, and nowhere
 * else. */
static inline void ckpt_only_at_safe_points(int only)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    if (ckpt != NULL) {
        ckpt->only_at_safe_points(only);
    }
}

/*
 * The whole pages in these `size` bytes need not be saved: after a restart they
 * are there and zero. For private memory (heap, stack, static data that is not a
 * file's, MAP_PRIVATE | MAP_ANONYMOUS); other memory is saved all the same. It is
 * the addresses that are excluded: include() them before the memory is freed.
 * Returns 0; -ENOSPC: there are too many ranges, and nothing was changed.
 */
static inline int ckpt_exclude(const volatile void *address, size_t size)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->exclude(address, size) : 0;
}

/* They are saved again: all pages that have a byte of these. As ckpt_exclude(). */
static inline int ckpt_include(const volatile void *address, size_t size)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->include(address, size) : 0;
}

/*
 * From now on this process is saved only at safe points, where `before` runs
 * first and `after` when that is over: in the thread that has reached the safe point,
 * as a part of the program like any other; by the order in which they were added, and
 * afterwards the other way round. They may do everything but reach a safe point,
 * ask for a checkpoint and wait, or add and remove hooks; MPI they had better leave
 * alone, as other ranks come to their hooks at other times. *hooks is copied.
 * Returns an id, above 0; 0 if nobody takes checkpoints; -ENOSPC.
 */
static inline int ckpt_hooks_add(const struct ckpt_hooks *hooks)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->hooks_add(hooks) : 0;
}

/* Removes them; an id of 0 or below does nothing. */
static inline void ckpt_hooks_remove(int id)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    if (ckpt != NULL) {
        ckpt->hooks_remove(id);
    }
}

#endif /* CKPT_INTERFACE_ONLY */

#endif
