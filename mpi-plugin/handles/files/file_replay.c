/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_replay.c - open the files again, at a restart.
 *
 * First the bytes of all files come back, and no rank opens a file before. Then
 * the ranks open the files in the order of the ids of the files' communicators.
 * No rank goes on, and might change or delete a file, before all are open.
 */
#include "handles/files/file.h"

#include "base/invariant.h"
#include "handles/info.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"
#include "sys/syscall.h"

#include <errno.h>
#include <sys/syscall.h>

/* Modes left out when a file is opened again: actions of the first open only,
 * and modes that would prevent setting the pointers. */
#define ONLY_ONCE (MPI_MODE_EXCL | MPI_MODE_APPEND | MPI_MODE_SEQUENTIAL)

/* Returns the file whose communicator has the lowest id above `done`, or
 * NULL. */
static MPI_File next_after(uint64_t done)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_FILE);
    MPI_File next = NULL;

    for (; handle != NULL; handle = ckpt_live_next(handle)) {
        MPI_File file = (MPI_File)handle;
        const uint64_t id = file->open->communicator->id;

        CKPT_INVARIANT(id != 0 && (next == NULL || id != next->open->communicator->id));
        if (id > done &&
            (next == NULL || id < next->open->communicator->id)) {
            next = file;
        }
    }
    return next;
}

/* Computes the maximum of `mine` over the ranks of a communicator. */
static int largest(MPI_Comm comm, int64_t mine, int64_t *all)
{
    int code;

    CKPT_CALL(code, Allreduce, &mine, all, 1, CKPT_LOWER(MPI_INT64_T),
              CKPT_LOWER(MPI_MAX), CKPT_LOWER(comm));
    return code;
}

/* Truncates data written since the checkpoint. */
static int set_size(struct ckpt_open_file *open)
{
    int64_t size;
    int code = largest(open->communicator, (int64_t)open->share.file_size,
                       &size);

    CKPT_INVARIANT(code != MPI_SUCCESS || size >= 0);
    if (code == MPI_SUCCESS && open->communicator->rank == 0 &&
        ckpt_mpi_file_writable(open) &&
        ckpt_syscall3(SYS_truncate, (long)open->path, size, 0) < 0) {
        code = MPI_ERR_IO;
    }
    return code;
}

static int set_view(MPI_File file, MPI_Info hints)
{
    const struct ckpt_file_view *view = &file->open->view;
    int code = MPI_SUCCESS;

    if (view->etype != NULL) {
        CKPT_CALL(code, File_set_view, CKPT_LOWER(file), view->displacement,
                  CKPT_LOWER(view->etype), CKPT_LOWER(view->filetype),
                  view->representation, hints);
    }
    if (code == MPI_SUCCESS && file->open->atomic) {
        CKPT_CALL(code, File_set_atomicity, CKPT_LOWER(file), 1);
    }
    return code;
}

/* Sets the file pointers. Only the ranks that have used the shared pointer know
 * it. */
static int set_pointers(MPI_File file)
{
    struct ckpt_open_file *open = file->open;
    int64_t shared;
    int code;

    CKPT_INVARIANT(open->shared_position < 0 || open->shares_pointer);
    code = largest(open->communicator, open->shared_position, &shared);

    if (code == MPI_SUCCESS && shared >= 0) {
        CKPT_CALL(code, File_seek_shared, CKPT_LOWER(file), shared,
                  MPI_SEEK_SET);
    }
    if (code == MPI_SUCCESS && (open->mode & MPI_MODE_SEQUENTIAL) == 0) {
        CKPT_CALL(code, File_seek, CKPT_LOWER(file), open->position,
                  MPI_SEEK_SET);
    }
    return code;
}

static int reopen(MPI_File file)
{
    struct ckpt_open_file *open = file->open;
    MPI_Info hints = CKPT_LOWER(MPI_INFO_NULL);
    int code = MPI_SUCCESS, ignored;

    if (open->hints != NULL) {
        CKPT_CALL(code, Info_create, &hints);
        if (code == MPI_SUCCESS) {
            code = ckpt_info_set_pairs(hints, open->hints);
        }
    }
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, File_open, CKPT_LOWER(open->communicator), open->path,
                  open->mode & ~ONLY_ONCE, hints,
                  (MPI_File *)&file->handle.lower);
    }
    if (code == MPI_SUCCESS) {
        CKPT_INVARIANT(file->handle.lower != NULL && CKPT_LOWER(file) != CKPT_LOWER(MPI_FILE_NULL));
        code = set_view(file, hints);
    }
    if (code == MPI_SUCCESS) {
        code = set_pointers(file);
    }
    ckpt_mpi_file_identify(open);
    if (hints != CKPT_LOWER(MPI_INFO_NULL)) {
        CKPT_CALL(ignored, Info_free, &hints);
        (void)ignored;
    }
    return code;
}

static int fail(MPI_File file, int code, struct ckpt_failure *failure)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, ignored;

    CKPT_CALL(ignored, Error_string, code, text, &length);
    (void)ignored;
    return ckpt_refuse(failure, CKPT_REFUSAL_CHANGED_FILE, -EIO,
                       "the MPI file %s cannot be opened again: %s",
                       file->open->path, text);
}

/* Calls `work` for all files, in the order that their members share. Files of
 * MPI_COMM_SELF have ids too, with an order of their own. */
static int in_order(int (*work)(MPI_File), struct ckpt_failure *failure)
{
    MPI_File file = next_after(0);

    for (; file != NULL; file = next_after(file->open->communicator->id)) {
        int code = work(file);

        if (code != MPI_SUCCESS) {
            return fail(file, code, failure);
        }
    }
    return 0;
}

static int size_of(MPI_File file)
{
    return set_size(file->open);
}

static int meet(struct ckpt_failure *failure)
{
    int code;

    CKPT_CALL(code, Barrier, CKPT_LOWER(MPI_COMM_WORLD));
    return code == MPI_SUCCESS
               ? 0
               : ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                             "MPI_Barrier fails (error %d)", code);
}

int ckpt_mpi_files_rebuild(int (*restore)(struct ckpt_failure *failure),
                           struct ckpt_failure *failure)
{
    int64_t any = 0;
    int error;

    ckpt_representations_rebuild();
    if (largest(MPI_COMM_WORLD, ckpt_live(CKPT_FILE) != NULL, &any) !=
        MPI_SUCCESS) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO, "MPI_Allreduce fails");
    }
    if (!any) {
        return 0;
    }
    error = restore(failure);
    if (error == 0) {
        error = in_order(size_of, failure);
    }
    if (error == 0) {
        error = meet(failure);
    }
    if (error == 0) {
        error = in_order(reopen, failure);
    }
    return error == 0 ? meet(failure) : error;
}
