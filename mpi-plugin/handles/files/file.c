/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file.c - the objects behind MPI_File: this rank's state of each open file.
 */
#include "handles/files/file.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/info.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"
#include "sys/syscall.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removes a prefix that names the file system's kind, as in "ufs:data". */
static const char *without_prefix(const char *name)
{
    const char *colon = strchr(name, ':');
    struct stat status;

    if (colon == NULL || stat(name, &status) == 0 ||
        stat(colon + 1, &status) != 0) {
        return name;
    }
    return colon + 1;
}

void ckpt_mpi_file_identify(struct ckpt_open_file *open)
{
    struct stat status = {0};

    (void)ckpt_sys_stat(open->path, &status);
    open->device = status.st_dev;
    open->inode = status.st_ino;
}

static struct ckpt_open_file *open_file(const char *name, int mode)
{
    const char *plain = without_prefix(name);
    char *directory = *plain == '/' ? strdup("") : getcwd(NULL, 0);
    struct ckpt_open_file *open = NULL;

    if (directory != NULL) {
        open = calloc(1, sizeof(*open) + strlen(directory) + strlen(plain) + 2);
    }
    if (open != NULL) {
        strcpy(open->path, directory);
        strcat(open->path, *plain == '/' ? "" : "/");
        strcat(open->path, plain);
        CKPT_INVARIANT(open->path[0] == '/'); /* a restart may begin in another directory */
        open->mode = mode;
        open->shared_position = -1;
        ckpt_mpi_file_identify(open);
        /* Both file pointers are at the end of the file then. */
        open->shares_pointer = (mode & MPI_MODE_APPEND) != 0;
    }
    free(directory);
    return open;
}

MPI_File ckpt_mpi_file_adopt(MPI_File lower, MPI_Comm communicator,
                             const char *name, int mode, const char *creator,
                             void *site)
{
    struct ckpt_open_file *open = open_file(name, mode);
    MPI_File file = ckpt_handle_new(CKPT_FILE, sizeof(*file), lower, creator,
                                    site);

    if (open == NULL || file == NULL) {
        free(open);
        free(file);
        return NULL;
    }
    CKPT_INVARIANT(communicator->handle.references == 1); /* the file's own, and only its */
    open->communicator = communicator;
    file->open = open;
    file->errhandler = MPI_FILE_NULL->errhandler;
    if (file->errhandler != NULL) {
        ckpt_retain(file->errhandler);
    }
    ckpt_handle_link(&file->handle);
    return file;
}

static void forget_view(struct ckpt_file_view *view)
{
    CKPT_INVARIANT((view->etype == NULL) == (view->filetype == NULL));
    if (view->etype != NULL) {
        ckpt_drop(view->etype);
        ckpt_drop(view->filetype);
    }
    view->etype = NULL;
    view->filetype = NULL;
}

void ckpt_mpi_file_release(MPI_File file)
{
    struct ckpt_open_file *open = file->open;

    CKPT_INVARIANT(open != NULL && open->communicator != NULL); /* not released before */
    forget_view(&open->view);
    if (open->hints != NULL) {
        ckpt_memory_free(open->hints, open->hints_size);
    }
    if (file->errhandler != NULL) {
        ckpt_drop(file->errhandler);
    }
    ckpt_release(open->communicator);
    free(open);
    file->open = NULL;
    file->errhandler = NULL;
    ckpt_handle_destroy(&file->handle);
}

/* Returns where the view of a sequential file begins that was set at "the
 * current position". Frees the types that the library returns with it. */
static MPI_Offset current_displacement(MPI_File file)
{
    char representation[MPI_MAX_DATAREP_STRING + 1];
    MPI_Offset displacement = 0;
    MPI_Datatype types[2];
    int code;

    CKPT_CALL(code, File_get_view, CKPT_LOWER(file), &displacement, &types[0],
              &types[1], representation);
    for (int i = 0; i < 2 && code == MPI_SUCCESS; i++) {
        if (ckpt_predefined_find(types[i]) == NULL) {
            CKPT_CALL(code, Type_free, &types[i]);
        }
    }
    return displacement;
}

void ckpt_mpi_file_view(MPI_File file, MPI_Offset displacement,
                        MPI_Datatype etype, MPI_Datatype filetype,
                        const char *representation)
{
    struct ckpt_file_view *view = &file->open->view;

    ckpt_retain(etype);
    ckpt_retain(filetype);
    forget_view(view);
    if (displacement == MPI_DISPLACEMENT_CURRENT) {
        displacement = current_displacement(file);
    }
    view->displacement = displacement;
    view->etype = etype;
    view->filetype = filetype;
    strncpy(view->representation, representation,
            sizeof(view->representation) - 1);
}

void ckpt_mpi_file_hint(MPI_File file, MPI_Info info)
{
    struct ckpt_open_file *open = file->open;
    MPI_Info lower;
    int code;

    if (info != NULL && info != MPI_INFO_NULL) {
        CKPT_CALL(code, File_get_info, CKPT_LOWER(file), &lower);
        if (code == MPI_SUCCESS) {
            ckpt_info_take(&open->hints, &open->hints_size, &lower);
        }
    }
}

void ckpt_mpi_file_moved(MPI_File file)
{
    struct ckpt_open_file *open = file->open;
    MPI_Offset position;
    int code;

    if ((open->mode & MPI_MODE_SEQUENTIAL) != 0) {
        return; /* a sequential file has no individual pointer */
    }
    CKPT_CALL(code, File_get_position, CKPT_LOWER(file), &position);
    if (code == MPI_SUCCESS) {
        open->position = position;
    }
}

int ckpt_mpi_file_split_begin(MPI_File file)
{
    return file->open->split == NULL ? MPI_SUCCESS : MPI_ERR_OTHER;
}

void ckpt_mpi_file_split_began(MPI_File file, const char *name,
                               const MPI_Status *status)
{
    file->open->split = name;
    file->open->split_status = *status;
}

int ckpt_mpi_file_split_end(MPI_File file, const char *name, MPI_Status *status)
{
    struct ckpt_open_file *open = file->open;

    if (open->split == NULL || strcmp(open->split, name) != 0) {
        return MPI_ERR_OTHER;
    }
    open->split = NULL;
    if (status != MPI_STATUS_IGNORE) {
        int error = status->MPI_ERROR;

        *status = open->split_status;
        status->MPI_ERROR = error;
    }
    return MPI_SUCCESS;
}

int ckpt_mpi_file_complete(MPI_File file)
{
    return !file->open->shares_pointer;
}

int ckpt_mpi_file_record(MPI_File file)
{
    struct ckpt_open_file *open = file->open;
    int code;

    open->shared_position = -1;
    ckpt_mpi_file_moved(file); /* a nonblocking access is complete by now */
    if (!open->shares_pointer) {
        return 0;
    }
    CKPT_CALL(code, File_get_position_shared, CKPT_LOWER(file),
              &open->shared_position);
    if (code != MPI_SUCCESS) {
        open->shared_position = -1;
    }
    /* A file opened to append need not have a shared pointer. */
    return code == MPI_SUCCESS || (open->mode & MPI_MODE_APPEND) != 0 ? 0 : -EIO;
}
