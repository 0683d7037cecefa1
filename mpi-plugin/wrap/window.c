/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.c - create and free windows (MPI 3.1, section 11.2).
 */
#include "handles/window.h"

#include "cut/collectives/collective.h"
#include "base/invariant.h"
#include "handles/attribute.h"
#include "handles/info.h"
#include "handles/kinds.h"
#include "handles/window_shared.h"
#include "independent/page.h"
#include "independent/window.h"
#include "wrap/window_wrapper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

/* Checks the arguments that all calls have. Returns an MPI error code. */
static int wrong_argument(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                          const MPI_Win *win)
{
    if (comm->inter) {
        return MPI_ERR_COMM;
    }
    if (info == NULL) {
        return MPI_ERR_INFO;
    }
    if (win == NULL) {
        return MPI_ERR_WIN;
    }
    if (size < 0) {
        return MPI_ERR_SIZE;
    }
    return unit <= 0 ? MPI_ERR_DISP : MPI_SUCCESS;
}

/* Runs the steps that all members take together, with the lower thread
 * pointer. */
static int open_together(MPI_Win win, MPI_Comm parent,
                         struct ckpt_new_communicator *fresh)
{
    int code = CKPT_FUNCTION(Comm_dup)(CKPT_LOWER(parent), &fresh->lower);

    if (code == MPI_SUCCESS) {
        code = ckpt_communicator_agree(fresh);
    }
    if (code == MPI_SUCCESS) {
        code = ckpt_window_open(win, fresh->lower);
        if (code != MPI_SUCCESS) {
            (void)CKPT_FUNCTION(Comm_free)(&fresh->lower);
        }
    }
    return code;
}

/* Adopts our own communicator; its calls return their errors. */
static int adopt_communicator(MPI_Win win,
                              const struct ckpt_new_communicator *fresh)
{
    win->comm = ckpt_communicator_adopt(fresh, NULL, win->handle.creator,
                                        win->handle.site);
    if (win->comm == NULL) {
        return MPI_ERR_NO_MEM;
    }
    ckpt_drop(win->comm->errhandler);
    win->comm->errhandler = MPI_ERRORS_RETURN;
    win->locked = calloc((size_t)win->comm->size, sizeof(*win->locked));
    return win->locked == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/* Allocates memory of this process for the window: zeroed, in whole pages. */
static int allocate(MPI_Win win)
{
    size_t room = ((size_t)win->size + PAGE) & ~(size_t)(PAGE - 1);
    void *base = mmap(NULL, room, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED) {
        return MPI_ERR_NO_MEM;
    }
    CKPT_INVARIANT(room > (size_t)win->size && room % PAGE == 0);
    win->base = base;
    win->room = room;
    return MPI_SUCCESS;
}

/* Completes the object before the lower half creates anything. Between begin
 * and end. */
static int prepare(MPI_Win win, MPI_Info info, MPI_Comm comm)
{
    const int allocates = win->flavor == MPI_WIN_FLAVOR_ALLOCATE;

    CKPT_INVARIANT(win->handle.lower == NULL && win->comm == NULL && win->shared == NULL);
    win->infos = ckpt_info_pairs(CKPT_LOWER(info), &win->infos_size);
    if (win->infos == NULL) {
        return MPI_ERR_INFO;
    }
    if (!allocates && win->flavor != MPI_WIN_FLAVOR_SHARED) {
        return MPI_SUCCESS;
    }
    win->shared = ckpt_shared_new(
        comm->size,
        allocates || ckpt_info_is_true(win->infos, "alloc_shared_noncontig"),
        !allocates && ckpt_independent != NULL);
    if (win->shared == NULL) {
        return MPI_ERR_NO_MEM;
    }
    /* The number of nodes of the members is not known yet. */
    return allocates ? allocate(win) : MPI_SUCCESS;
}

/* Replaces memory of this process by the memory that all members share, if they
 * do. */
static int take_memory(MPI_Win win)
{
    uintptr_t upper;
    int code;

    if (win->shared == NULL || !win->shared->mapped) {
        ckpt_shared_free(win->shared);
        win->shared = NULL;
        return MPI_SUCCESS;
    }
    CKPT_INVARIANT(win->shared->start == NULL); /* ours is not mapped yet */
    if (win->room != 0) {
        (void)munmap(win->base, win->room);
        win->room = 0;
    }
    upper = ckpt_enter_to_wait();
    code = ckpt_shared_map(win);
    ckpt_leave(upper);
    if (code == MPI_SUCCESS) {
        win->base = ckpt_shared_base(win, win->comm->rank);
        code = ckpt_independent_adopt(win);
    }
    return code;
}

static void destroy(MPI_Win win)
{
    ckpt_independent_forget(win);
    ckpt_window_destroy(win);
}

/*
 * Opens a window and gives it to the application; on failure frees the object.
 * Called between begin and end, and ends that section.
 */
static int finish(MPI_Win win, MPI_Info info, MPI_Comm comm, MPI_Win *win_p)
{
    const char *name = win->handle.creator;
    struct ckpt_new_communicator fresh;
    int code = prepare(win, info, comm);

    if (code == MPI_SUCCESS) {
        ckpt_end();
        CKPT_COLLECTIVE_SECTION(code, comm, open_together, win, comm, &fresh);
    }
    if (code == MPI_SUCCESS) {
        code = adopt_communicator(win, &fresh);
    }
    if (code == MPI_SUCCESS) {
        code = take_memory(win);
    }
    ckpt_handle_link(&win->handle);
    if (code == MPI_SUCCESS) {
        *win_p = win;
    } else {
        destroy(win);
        *win_p = MPI_WIN_NULL;
    }
    CKPT_RETURN(comm, code, name);
}

#define REQUIRE(name, size, unit, info, comm, win)                      \
    do {                                                                \
        int wrong_;                                                     \
        if (!ckpt_communicator_valid(comm)) {                           \
            return ckpt_error(NULL, MPI_ERR_COMM, (name));              \
        }                                                               \
        wrong_ = wrong_argument((size), (unit), (info), (comm), (win)); \
        if (wrong_ != MPI_SUCCESS) {                                    \
            return ckpt_error((comm), wrong_, (name));                  \
        }                                                               \
    } while (0)

int PMPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info,
                    MPI_Comm comm, MPI_Win *win_p)
{
    MPI_Win win;

    REQUIRE("MPI_Win_create", size, unit, info, comm, win_p);
    ckpt_begin();
    win = ckpt_window_new(MPI_WIN_FLAVOR_CREATE, "MPI_Win_create", CKPT_SITE);
    if (win == NULL) {
        CKPT_RETURN(comm, MPI_ERR_NO_MEM, "MPI_Win_create");
    }
    win->base = base;
    win->size = size;
    win->unit = unit;
    return finish(win, info, comm, win_p);
}
CKPT_ALIAS(Win_create);

/* Creates a window with memory that MPI provides. */
static int provide(int flavor, MPI_Aint size, int unit, MPI_Info info,
                   MPI_Comm comm, void *base_p, MPI_Win *win_p,
                   const char *name, void *site)
{
    MPI_Win win;
    int code;

    /* Open MPI accepts any unit for a shared window */
    REQUIRE(name, size, flavor == MPI_WIN_FLAVOR_SHARED ? 1 : unit, info, comm,
            win_p);
    ckpt_begin();
    win = ckpt_window_new(flavor, name, site);
    if (win == NULL) {
        CKPT_RETURN(comm, MPI_ERR_NO_MEM, name);
    }
    win->size = size;
    win->unit = unit;
    win->lenient = flavor == MPI_WIN_FLAVOR_SHARED || comm->size == 1;
    code = finish(win, info, comm, win_p);
    if (code == MPI_SUCCESS) {
        *(void **)base_p = win->base;
    }
    return code;
}

int PMPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                      void *base_p, MPI_Win *win_p)
{
    return provide(MPI_WIN_FLAVOR_ALLOCATE, size, unit, info, comm, base_p,
                   win_p, "MPI_Win_allocate", CKPT_SITE);
}
CKPT_ALIAS(Win_allocate);

int PMPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info,
                             MPI_Comm comm, void *base_p, MPI_Win *win_p)
{
    return provide(MPI_WIN_FLAVOR_SHARED, size, unit, info, comm, base_p, win_p,
                   "MPI_Win_allocate_shared", CKPT_SITE);
}
CKPT_ALIAS(Win_allocate_shared);

static int check_query(MPI_Win win, int rank)
{
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= win->comm->size)) {
        return MPI_ERR_RANK;
    }
    return win->flavor != MPI_WIN_FLAVOR_SHARED ? MPI_ERR_RMA_FLAVOR
                                                : MPI_SUCCESS;
}

int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *unit,
                          void *base_p)
{
    int first = 0;

    CKPT_REQUIRE_WINDOW(win, check_query(win, rank), "MPI_Win_shared_query");
    CKPT_INVARIANT(win->shared != NULL && win->shared->count == win->comm->size);
    if (rank == MPI_PROC_NULL) { /* the first rank with memory */
        while (first < win->shared->count - 1 &&
               win->shared->segment[first].size == 0) {
            first++;
        }
        rank = first;
    }
    *size = (MPI_Aint)win->shared->segment[rank].size;
    *unit = (int)win->shared->segment[rank].unit;
    *(void **)base_p = ckpt_shared_base(win, rank);
    return MPI_SUCCESS;
}
CKPT_ALIAS(Win_shared_query);

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win_p)
{
    MPI_Win win;

    REQUIRE("MPI_Win_create_dynamic", 0, 1, info, comm, win_p);
    ckpt_begin();
    win = ckpt_window_new(MPI_WIN_FLAVOR_DYNAMIC, "MPI_Win_create_dynamic",
                          CKPT_SITE);
    if (win == NULL) {
        CKPT_RETURN(comm, MPI_ERR_NO_MEM, "MPI_Win_create_dynamic");
    }
    return finish(win, info, comm, win_p);
}
CKPT_ALIAS(Win_create_dynamic);

int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    struct ckpt_attached *one;
    int code;

    ckpt_begin();
    one = malloc(sizeof(*one));
    if (one == NULL) {
        CKPT_RETURN(win, MPI_ERR_NO_MEM, "MPI_Win_attach");
    }
    CKPT_CALL(code, Win_attach, CKPT_LOWER(win), base, size);
    if (code == MPI_SUCCESS) {
        *one = (struct ckpt_attached){win->attached, base, size};
        win->attached = one;
    } else {
        free(one);
    }
    CKPT_RETURN(win, code, "MPI_Win_attach");
}
CKPT_ALIAS(Win_attach);

int PMPI_Win_detach(MPI_Win win, const void *base)
{
    struct ckpt_attached **link, *one;
    int code;

    ckpt_begin();
    CKPT_CALL(code, Win_detach, CKPT_LOWER(win), base);
    if (code == MPI_SUCCESS) {
        link = &win->attached;
        while (*link != NULL && (*link)->base != base) {
            link = &(*link)->next;
        }
        one = *link;
        if (one != NULL) {
            *link = one->next;
            free(one);
        }
    }
    CKPT_RETURN(win, code, "MPI_Win_detach");
}
CKPT_ALIAS(Win_detach);

int PMPI_Win_free(MPI_Win *win_p)
{
    CKPT_REQUIRE(win_p != NULL && ckpt_window_valid(*win_p), NULL, MPI_ERR_WIN,
                 "MPI_Win_free");
    MPI_Win win = *win_p;
    MPI_Comm comm;
    int code;

    if (!ckpt_window_valid(win)) {
        return ckpt_error(NULL, MPI_ERR_WIN, "MPI_Win_free");
    }
    code = ckpt_attributes_delete(&win->handle);
    if (code != MPI_SUCCESS) {
        return ckpt_error(win, code, "MPI_Win_free");
    }
    comm = win->comm;
    CKPT_COLLECTIVE_SECTION(code, comm, ckpt_window_close, win);
    if (code == MPI_SUCCESS) {
        destroy(win);
        ckpt_release(comm);
        *win_p = MPI_WIN_NULL;
    }
    CKPT_RETURN(*win_p, code, "MPI_Win_free");
}
CKPT_ALIAS(Win_free);

int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    int code;

    ckpt_begin();
    CKPT_CALL(code, Win_set_info, CKPT_LOWER(win), CKPT_LOWER(info));
    if (code == MPI_SUCCESS && ckpt_info_merge(&win->infos, &win->infos_size,
                                               CKPT_LOWER(info)) != 0) {
        code = MPI_ERR_NO_MEM;
    }
    CKPT_RETURN(win, code, "MPI_Win_set_info");
}
CKPT_ALIAS(Win_set_info);

/* The library shows more than the application gave, and another library may
 * differ after a restart. Our infos stay the same. */
int PMPI_Win_get_info(MPI_Win win, MPI_Info *info)
{
    MPI_Info lower = NULL;
    int code;

    CKPT_REQUIRE_WINDOW(win, info == NULL ? MPI_ERR_ARG : MPI_SUCCESS,
                        "MPI_Win_get_info");
    ckpt_begin();
    CKPT_CALL(code, Info_create, &lower);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Info_set, lower, "no_locks", "false");
    }
    if (code == MPI_SUCCESS) {
        code = ckpt_info_set_pairs(lower, win->infos);
    }
    if (code == MPI_SUCCESS) {
        *info = ckpt_adopt(CKPT_INFO, lower, "MPI_Win_get_info", CKPT_SITE);
    }
    CKPT_RETURN(win, code, "MPI_Win_get_info");
}
CKPT_ALIAS(Win_get_info);

int PMPI_Win_set_name(MPI_Win win, const char *name)
{
    char *copy;

    CKPT_REQUIRE_WINDOW(win, name == NULL ? MPI_ERR_ARG : MPI_SUCCESS,
                        "MPI_Win_set_name");
    copy = strndup(name, MPI_MAX_OBJECT_NAME - 1);
    if (copy == NULL) {
        return ckpt_error(win, MPI_ERR_NO_MEM, "MPI_Win_set_name");
    }
    free(win->handle.name);
    win->handle.name = copy;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Win_set_name);

int PMPI_Win_get_name(MPI_Win win, char *name, int *length)
{
    CKPT_REQUIRE_WINDOW(
        win, name == NULL || length == NULL ? MPI_ERR_ARG : MPI_SUCCESS,
        "MPI_Win_get_name");
    strcpy(name, win->handle.name == NULL ? "" : win->handle.name);
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}
CKPT_ALIAS(Win_get_name);
