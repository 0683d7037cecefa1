/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file.c - open and close files, and set their state (MPI 3.1, chapter 13). The generated
 * wrappers do the accesses.
 */
#include "handles/files/file.h"

#include "base/text.h"
#include "cut/collectives/collective.h"
#include "handles/wrapper.h"
#include "journal/journal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define NAME_SIZE (PATH_MAX + 16) /* with a ROMIO file-system prefix */

#define REQUIRE(file, name)                                         \
    do {                                                            \
        if (ckpt_mpi_file_of(file) == NULL) {                       \
            return ckpt_error(MPI_FILE_NULL, MPI_ERR_FILE, (name)); \
        }                                                           \
    } while (0)

/* Duplicates the communicator and opens the file on the duplicate, so that the file outlives
 * the communicator it was given. Collective. Runs with the lower thread pointer. */
static inline int open_lower(MPI_Comm comm, const char *name, int mode,
                             MPI_Info info, struct ckpt_new_communicator *fresh,
                             MPI_File *lower)
{
    int code = CKPT_FUNCTION(Comm_dup)(comm, &fresh->lower);

    if (code == MPI_SUCCESS) {
        code = ckpt_communicator_agree(fresh);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    code = CKPT_FUNCTION(File_open)(fresh->lower, name, mode, info, lower);
    if (code != MPI_SUCCESS) {
        (void)CKPT_FUNCTION(Comm_free)(&fresh->lower);
    }
    return code;
}

/* Returns the lower half's error for a communicator on which no file can be opened. */
static int refuse_open(MPI_Comm comm, const char *name, int mode, MPI_Info info)
{
    MPI_File lower;
    int code;

    ckpt_begin();
    CKPT_CALL(code, File_open, CKPT_LOWER(comm), name, mode, CKPT_LOWER(info),
              &lower);
    CKPT_RETURN(MPI_FILE_NULL, code == MPI_SUCCESS ? MPI_ERR_COMM : code,
                "MPI_File_open");
}

/* Returns the path in a name, which may begin with a ROMIO file-system prefix. */
static const char *path_in(const char *name)
{
    static const char prefix[] = "ufs:";
    const size_t length = sizeof(prefix) - 1;

    return strncmp(name, prefix, length) == 0 ? name + length : name;
}

/* Writes the name by which the MPI library opens the file to `lower`[NAME_SIZE]: another name
 * if the file is concealed. A name that is too long stays too long. */
static void name_for_lower(const char *name, int mode, char *lower)
{
    const size_t prefix = name == NULL ? 0 : (size_t)(path_in(name) - name);

    ckpt_text_copy(lower, NAME_SIZE, name == NULL ? "" : name);
    if (name != NULL && ckpt_journal_conceals() && strlen(name) < PATH_MAX) {
        ckpt_journal_mpi_path(name + prefix, (mode & MPI_MODE_RDONLY) == 0,
                              (mode & MPI_MODE_CREATE) != 0, lower + prefix);
    }
}

/* One member journals the file's contents. It does so before it enters the duplication of the
 * communicator, so the other members open the file only afterwards. */
static void before_open(MPI_Comm comm, const char *name, int mode)
{
    if (comm->rank != 0 || name == NULL || (mode & MPI_MODE_RDONLY) != 0) {
        return;
    }
    ckpt_journal_before_mpi_write(path_in(name), (mode & MPI_MODE_CREATE) != 0);
    if ((mode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
        ckpt_journal_before_mpi_delete(path_in(name));
    }
}

static int adopt(const struct ckpt_new_communicator *fresh, MPI_File lower,
                 const char *name, int mode, void *site, MPI_File *file)
{
    MPI_Comm own = ckpt_communicator_adopt(fresh, NULL, "MPI_File_open", site);

    *file = own == NULL ? NULL
                        : ckpt_mpi_file_adopt(lower, own, name, mode,
                                              "MPI_File_open", site);
    return *file == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

int PMPI_File_open(MPI_Comm comm, const char *filename, int amode,
                   MPI_Info info, MPI_File *fh)
{
    /* With MPI_MODE_EXCL a restart must not enter the call again: it would find the file it
     * made. */
    const int redo = (amode & MPI_MODE_EXCL) != 0 ? CKPT_COLLECTIVE_ONCE
                                                  : CKPT_COLLECTIVE_REDO;
    struct ckpt_new_communicator fresh;
    char name[NAME_SIZE];
    MPI_File lower;
    uintptr_t upper;
    int code;

    name_for_lower(filename, amode, name);
    if (!ckpt_communicator_valid(comm) || comm->inter) {
        return refuse_open(comm, name, amode, info);
    }
    before_open(comm, name, amode);
    CKPT_COLLECTIVE_ENTRY();
    ckpt_collective_set(comm, redo);
    upper = ckpt_enter_to_wait();
    code = open_lower(CKPT_LOWER(comm), name, amode, CKPT_LOWER(info),
                      &fresh, &lower);
    ckpt_clock_leave(comm->clock);
    ckpt_leave(upper);
    ckpt_state = CKPT_STATE_CRITICAL;
    if (code == MPI_SUCCESS) {
        code = adopt(&fresh, lower, name, amode, CKPT_SITE, fh);
    }
    if (code == MPI_SUCCESS) {
        ckpt_mpi_file_hint(*fh, info);
        ckpt_mpi_file_moved(*fh); /* at the end, in append mode */
    } else {
        *fh = MPI_FILE_NULL;
    }
    CKPT_RETURN(MPI_FILE_NULL, code, "MPI_File_open");
}
CKPT_ALIAS(File_open);

int PMPI_File_close(MPI_File *fh)
{
    CKPT_REQUIRE(fh != NULL && *fh != NULL, MPI_FILE_NULL, MPI_ERR_FILE,
                 "MPI_File_close");
    MPI_File file = *fh;
    MPI_Comm comm = ckpt_mpi_file_communicator(file);
    int code;

    REQUIRE(file, "MPI_File_close");
    /* Closing again would need the file open, and a deleted file cannot be opened. */
    CKPT_COLLECTIVE_CALL(code, comm, CKPT_COLLECTIVE_ONCE, File_close,
                         (MPI_File *)&file->handle.lower);
    if (code == MPI_SUCCESS) {
        ckpt_mpi_file_release(file);
        *fh = MPI_FILE_NULL;
    }
    CKPT_RETURN(code == MPI_SUCCESS ? NULL : file, code, "MPI_File_close");
}
CKPT_ALIAS(File_close);

/* The lower half removes the file. Errors go to the handler of MPI_FILE_NULL (MPI 3.1, section
 * 13.7). */
int PMPI_File_delete(const char *filename, MPI_Info info)
{
    int code;

    if (filename != NULL && ckpt_journal_conceals()) {
        code = unlink(path_in(filename)) == 0 ? MPI_SUCCESS
               : errno == ENOENT              ? MPI_ERR_NO_SUCH_FILE
               : errno == EACCES              ? MPI_ERR_ACCESS
                                              : MPI_ERR_IO;
        CKPT_RETURN(MPI_FILE_NULL, code, "MPI_File_delete");
    }
    if (filename != NULL) {
        ckpt_journal_before_mpi_delete(path_in(filename));
    }
    ckpt_begin();
    CKPT_CALL(code, File_delete, filename, CKPT_LOWER(info));
    CKPT_RETURN(MPI_FILE_NULL, code, "MPI_File_delete");
}
CKPT_ALIAS(File_delete);

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype,
                       MPI_Datatype filetype, const char *datarep,
                       MPI_Info info)
{
    MPI_Comm comm = ckpt_mpi_file_communicator(fh);
    int code;

    REQUIRE(fh, "MPI_File_set_view");
    CKPT_COLLECTIVE_CALL(code, comm, CKPT_COLLECTIVE_REDO, File_set_view,
                         CKPT_LOWER(fh), disp, CKPT_LOWER(etype),
                         CKPT_LOWER(filetype), datarep, CKPT_LOWER(info));
    if (code == MPI_SUCCESS) {
        ckpt_mpi_file_view(fh, disp, etype, filetype, datarep);
        ckpt_mpi_file_hint(fh, info);
        ckpt_mpi_file_moved(fh);
    }
    CKPT_RETURN(fh, code, "MPI_File_set_view");
}
CKPT_ALIAS(File_set_view);

int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
    MPI_Comm comm = ckpt_mpi_file_communicator(fh);
    int code;

    REQUIRE(fh, "MPI_File_set_info");
    CKPT_COLLECTIVE_CALL(code, comm, CKPT_COLLECTIVE_REDO, File_set_info,
                         CKPT_LOWER(fh), CKPT_LOWER(info));
    if (code == MPI_SUCCESS) {
        ckpt_mpi_file_hint(fh, info);
    }
    CKPT_RETURN(fh, code, "MPI_File_set_info");
}
CKPT_ALIAS(File_set_info);

int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
    MPI_Comm comm = ckpt_mpi_file_communicator(fh);
    int code;

    REQUIRE(fh, "MPI_File_set_atomicity");
    CKPT_COLLECTIVE_CALL(code, comm, CKPT_COLLECTIVE_REDO, File_set_atomicity,
                         CKPT_LOWER(fh), flag);
    if (code == MPI_SUCCESS) {
        fh->open->atomic = flag != 0;
    }
    CKPT_RETURN(fh, code, "MPI_File_set_atomicity");
}
CKPT_ALIAS(File_set_atomicity);

/* Returns the application's mode: a restart opens the file in another mode. */
int PMPI_File_get_amode(MPI_File fh, int *amode)
{
    CKPT_REQUIRE(fh != NULL && fh->open != NULL, MPI_FILE_NULL, MPI_ERR_FILE,
                 "MPI_File_get_amode");
    CKPT_REQUIRE(amode != NULL, fh, MPI_ERR_ARG, "MPI_File_get_amode");
    REQUIRE(fh, "MPI_File_get_amode");
    *amode = fh->open->mode;
    return MPI_SUCCESS;
}
CKPT_ALIAS(File_get_amode);
