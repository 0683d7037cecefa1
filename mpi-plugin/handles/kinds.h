/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kinds.h - how each kind of object is recorded and rebuilt.
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

/* Attaches the application's buffer (MPI_Buffer_attach) to a new lower half. */
int ckpt_buffer_rebuild(void);

/* Frees a communicator's object and all that it owns. */
void ckpt_communicator_destroy(MPI_Comm communicator);

/* The live lists (handles.c). */
struct ckpt_handle *ckpt_live_next(const struct ckpt_handle *handle);
struct ckpt_handle *ckpt_live_last(enum ckpt_kind kind);
struct ckpt_handle *ckpt_live_previous(const struct ckpt_handle *handle);
void ckpt_handle_link(struct ckpt_handle *handle);
void ckpt_handle_unlink(struct ckpt_handle *handle);

/* Returns the live object of a kind with this lower handle, or NULL. Context:
 * any, also in an operation, without the lock of runtime/lane.h. */
void *ckpt_live_find(enum ckpt_kind kind, const void *lower);

/* Records all missing recipes. Returns 0 or -errno and a reason. */
struct ckpt_failure;
int ckpt_recipes_record(struct ckpt_failure *failure);
/* Returns 1 if ckpt_recipes_record has nothing to do. Context: any. */
int ckpt_recipes_complete(void);
/* Called when an object without a recipe was made: see ckpt_recipes_missing. */
void ckpt_recipes_expect(enum ckpt_kind kind);
/* Rebuilds everything except requests, in order. Returns 0 or -errno and a
 * reason. */
int ckpt_recipes_rebuild(struct ckpt_failure *failure);

/* Returns the first live object that cannot be made again, or NULL. Context:
 * any. */
struct ckpt_handle *ckpt_first_unsavable(void);

#endif
