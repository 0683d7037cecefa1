/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckpt.h - calls by which a program controls its checkpoints, in C and C++ (ckpt.hpp,
 * ckpt.f90 and ckpt.py are the same for other languages).
 *
 * A program that includes this header needs no library to link. The functions look
 * for the checkpointer in their own process; if there is none, they do nothing. So
 * one binary runs with ckpt, without it, and on machines where ckpt is not installed.
 * (With a libc older than glibc 2.34, link with -ldl.)
 *
 * Any thread may call the functions, also before MPI_Init and after MPI_Finalize, but
 * not in a signal handler. None of them calls MPI. See ckpt(3).
 */
#ifndef CKPT_H
#define CKPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a checkpoint request. */
enum {
    CKPT_REFUSED = -1,  /* none was taken; ckpt_reason() tells why */
    CKPT_ABSENT = 0,    /* checkpointing is inactive, or no checkpoint was due */
    CKPT_TAKEN = 1,     /* the checkpoint exists; this is the original run */
    CKPT_RESTARTED = 2, /* the program was restarted from the checkpoint */
    CKPT_ASKED = 3      /* requested; the checkpoint will be taken when possible */
};

/* Flags of ckpt_checkpoint(). */
#define CKPT_WAIT 1u /* return when the checkpoint is on disk */
#define CKPT_ALL  2u /* all ranks call this; the last call begins the checkpoint */

/* Functions to run around a checkpoint; see ckpt_hooks_add(). */
struct ckpt_hooks {
    /* Called before: returns 0, or non-zero to refuse the checkpoint for now. */
    int (*before)(void *data);
    /* Called after: `answer` is CKPT_TAKEN, CKPT_RESTARTED, or CKPT_REFUSED if no
     * checkpoint was taken. Both functions may be NULL. */
    void (*after)(int answer, void *data);
    void *data;
};

/* The functions of the checkpointer that is loaded into this process, exported as
 * "ckpt_interface_1". For language bindings; programs call the functions below. */
struct ckpt_interface {
    uint32_t version; /* 1 */
    uint32_t size;    /* bytes of this structure; later versions append members */
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

/* Returns the checkpointer of this process, or NULL. */
static inline const struct ckpt_interface *ckpt_find_interface(void)
{
    static const char none = 0;
    static const void *known;
    const void *found = __atomic_load_n(&known, __ATOMIC_ACQUIRE);

    if (found == NULL) {
        /* NULL is RTLD_DEFAULT, which not every dlfcn.h defines. */
        found = dlsym(NULL, "ckpt_interface_1");
        if (found == NULL) {
            found = &none;
        }
        __atomic_store_n(&known, found, __ATOMIC_RELEASE);
    }
    return found != (const void *)&none ? (const struct ckpt_interface *)found : NULL;
}

/* Returns 1 if this process can be checkpointed: from MPI_Init to MPI_Finalize, or
 * always if the program does not use MPI. */
static inline int ckpt_active(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->active() : 0;
}

/* Returns the number of restarts of this program since its first start. */
static inline uint64_t ckpt_restarts(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->restarts() : 0;
}

/* Returns the number of the job's newest committed checkpoint, as `ckpt list` shows
 * it behind the slash. After a restart it is at first the checkpoint restarted from.
 * 0: none. */
static inline uint64_t ckpt_last(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->last() : 0;
}

/* Returns 1 if a checkpoint waits for ranks that cannot be saved now: this rank
 * should reach a safe point soon. Costs a load. */
static inline int ckpt_wanted(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->wanted() : 0;
}

/*
 * Requests a checkpoint of the job. flags: CKPT_WAIT, CKPT_ALL, or 0. Without
 * CKPT_WAIT it returns CKPT_ASKED at once. With it, it returns CKPT_TAKEN when the
 * checkpoint is on disk, CKPT_RESTARTED in the program restarted from it, or
 * CKPT_ASKED if this rank must run on before the checkpoint can be taken. On failure
 * it returns CKPT_REFUSED; without a checkpointer CKPT_ABSENT.
 */
static inline int ckpt_checkpoint(unsigned flags)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->checkpoint(flags) : (int)CKPT_ABSENT;
}

/* Returns why the last checkpoint requested by this process was refused; "" if it was
 * not. Valid until the next request. */
static inline const char *ckpt_reason(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->reason() : "";
}

/* Begins a no-checkpoint region: this process is not saved until the matching
 * ckpt_enable() in the same thread. Regions nest. */
static inline void ckpt_disable(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    if (ckpt != NULL) {
        ckpt->disable();
    }
}

/* Ends a region. When the last thread leaves its outermost region, that is a safe
 * point. */
static inline void ckpt_enable(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    if (ckpt != NULL) {
        ckpt->enable();
    }
}

/*
 * Marks a place where this process may be saved. Returns CKPT_TAKEN when its memory
 * has just been saved (ckpt_last() tells when that is on disk), CKPT_RESTARTED in the
 * restarted program, else CKPT_ABSENT. Costs an addition when no checkpoint is due.
 */
static inline int ckpt_safe_point(void)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->safe_point() : (int)CKPT_ABSENT;
}

/* only != 0: from now on this process is saved only at its safe points. */
static inline void ckpt_only_at_safe_points(int only)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    if (ckpt != NULL) {
        ckpt->only_at_safe_points(only);
    }
}

/*
 * Excludes the whole pages within these `size` bytes from checkpoints: after a
 * restart they are mapped and zero. This works for private memory (heap, stack,
 * static data that no file backs, MAP_PRIVATE | MAP_ANONYMOUS); other memory is saved
 * all the same. The exclusion holds for the addresses: call ckpt_include() before the
 * memory is freed.
 * Returns 0, or -ENOSPC if there are too many ranges; then nothing is changed.
 */
static inline int ckpt_exclude(const volatile void *address, size_t size)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->exclude(address, size) : 0;
}

/* Undoes ckpt_exclude() for every page that overlaps the range. Returns as
 * ckpt_exclude(). */
static inline int ckpt_include(const volatile void *address, size_t size)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->include(address, size) : 0;
}

/*
 * Adds hooks. From now on this process is saved only at safe points, where `before`
 * runs before the save and `after` runs after it. Both run in the thread that reached
 * the safe point, as normal code of the program. The `before` functions run in the
 * order in which they were added, the `after` functions in reverse order. Hooks must
 * not reach a safe point, request a checkpoint and wait, or add and remove hooks.
 * They should not call MPI, as other ranks run their hooks at other times. *hooks is
 * copied.
 * Returns an id above 0; 0 without a checkpointer; -ENOSPC if there are too many
 * hooks.
 */
static inline int ckpt_hooks_add(const struct ckpt_hooks *hooks)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    return ckpt != NULL ? ckpt->hooks_add(hooks) : 0;
}

/* Removes the hooks with this id. Does nothing for an id of 0 or below. */
static inline void ckpt_hooks_remove(int id)
{
    const struct ckpt_interface *ckpt = ckpt_find_interface();

    if (ckpt != NULL) {
        ckpt->hooks_remove(id);
    }
}

#endif /* CKPT_INTERFACE_ONLY */

#endif
