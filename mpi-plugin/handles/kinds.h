/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kinds.h - how each kind of object is freed, recorded and rebuilt.
 *
 * record: writes down the recipe while the old lower half still lives; called
 *     at a place where lower-half calls are allowed. Skips an object
 *     that has a recipe. Returns 0 or -errno.
 * rebuild: makes the object in a new lower half. Context: quiesced (no malloc).
 *     Returns 0 or an MPI error code.
 */
#ifndef CKPT_KINDS_H
#define CKPT_KINDS_H

#include "handles/communicator.h"
#include "handles/handles.h"
#include "handles/request.h"

int ckpt_group_record(MPI_Group group);
int ckpt_group_rebuild(MPI_Group group);

int ckpt_datatype_record(MPI_Datatype datatype);
int ckpt_datatype_rebuild(MPI_Datatype datatype);

int ckpt_info_record(MPI_Info info);
int ckpt_info_rebuild(MPI_Info info);

int ckpt_op_rebuild(MPI_Op op);
/*
 * MPI_Op_create for a function in any language; `site` is the caller in the
 * application. Context: normal, outside of begin/end.
 */
int ckpt_op_create(MPI_User_function *function, enum ckpt_language language,
                   int commutes, MPI_Op *op, void *site);
/* Frees the lower-half entry point of a freed operation. */
void ckpt_op_close(MPI_Op op);

/*
 * MPI_X_create_errhandler for a function in any language; `kind` is X's,
 * `creator` the MPI function, `site` its caller in the application. Context:
 * normal, outside of begin/end.
 */
int ckpt_errhandler_create(enum ckpt_kind kind, void *function,
                           enum ckpt_language language, MPI_Errhandler *handler,
                           const char *creator, void *site);

/* Frees a communicator's object and all that it owns. */
void ckpt_communicator_destroy(MPI_Comm communicator);

/* How objects of a kind are made and freed. Context: between ckpt_begin and ckpt_end. */
struct ckpt_kind_calls {
    size_t size;     /* bytes of an object that ckpt_adopt() makes */
    int is_recorded; /* its recipe is read from the lower half: handles/recipes/recipes.c */
    /* The last use has ended: free_lower frees a lower object that may outlive the
     * application's free call (NULL: the wrapper has freed it), destroy our object. */
    void (*free_lower)(struct ckpt_handle *handle);
    void (*destroy)(struct ckpt_handle *handle);
};
extern struct ckpt_kind_calls ckpt_kind_calls[CKPT_KIND_COUNT]
    __attribute__((visibility("hidden")));

/* Fills the table. Context: normal, before the first object. */
void ckpt_kind_calls_fill(void);

/* The live lists (handles.c). */
struct ckpt_handle *ckpt_live_next(const struct ckpt_handle *handle);
struct ckpt_handle *ckpt_live_last(enum ckpt_kind kind);
struct ckpt_handle *ckpt_live_previous(const struct ckpt_handle *handle);
void ckpt_handle_link(struct ckpt_handle *handle);
void ckpt_handle_unlink(struct ckpt_handle *handle);

/* Returns the live object of a kind with this lower handle, or NULL. Context:
 * any, also in an operation, without the lock of runtime/thread_context.h. */
void *ckpt_live_find(enum ckpt_kind kind, const void *lower);

/* Sets is_recorded of the kinds that have recipes to record. */
void ckpt_recipes_mark(void);

/* Records all missing recipes. Returns 0 or -errno and a reason. */
struct ckpt_failure;
int ckpt_recipes_record(struct ckpt_failure *failure);
/* Returns 1 if ckpt_recipes_record has nothing to do. Context: any. */
int ckpt_recipes_complete(void);
/* 1 if the recipes of new objects are not recorded yet. A rank inside a collective
 * cannot record recipes, so ckpt_recipes_catch_up() does it before the collective. */
extern int ckpt_recipes_missing __attribute__((visibility("hidden")));
void ckpt_recipes_catch_up(void);

/* Returns the first live object that cannot be made again, or NULL. Context:
 * any. */
struct ckpt_handle *ckpt_first_unsavable(void);

#endif
