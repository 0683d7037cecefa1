/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file.h - open files (MPI 3.1, chapter 13), and the state that a restart needs
 * to open them again.
 *
 * Each open file has its own communicator, a duplicate of the one it was opened
 * on. Collective calls on the file count on that communicator's clock, and a
 * restart opens the file on it. The state that a rank can know by itself (view,
 * individual pointer, hints) is up to date after each call, so a rank can be
 * saved at any time. The rank asks for the shared pointer at the cut.
 * cut/image/file_content.h handles the bytes of the file.
 */
#ifndef CKPT_MPI_FILE_H
#define CKPT_MPI_FILE_H

#include "base/invariant.h"
#include "ckpt/failure.h"
#include "handles/communicator.h"
#include "handles/handles.h"

/* Arguments of MPI_File_set_view; etype NULL: never called. */
struct ckpt_file_view {
    MPI_Offset displacement;
    MPI_Datatype etype; /* the file holds a reference until the next view */
    MPI_Datatype filetype;
    char representation[MPI_MAX_DATAREP_STRING];
};

/* A rank's share of the bytes of a file, while it is being saved or restored
 * (cut/image/file_content.c). */
struct ckpt_file_share {
    void *bytes;        /* a mapping, or NULL */
    uint64_t size;      /* of the mapping */
    uint64_t file_size; /* as this rank saw it */
    uint32_t mode;      /* permissions of the file */
};

struct ckpt_open_file {
    MPI_Comm communicator; /* ours */
    int mode;              /* MPI_MODE_*, as given */
    int atomic;
    int shares_pointer;         /* this rank has used the shared pointer */
    MPI_Offset position;        /* individual pointer, in etypes of the view */
    MPI_Offset shared_position; /* recorded at the cut, or -1 */
    struct ckpt_file_view view;
    char *hints; /* pairs as in handles/info.h, or NULL */
    size_t hints_size;
    const char *split; /* the split collective that has begun, or NULL */
    MPI_Status split_status;
    struct ckpt_file_share share;
    uint64_t device, inode; /* of the file under its name, when opened */
    char path[];            /* absolute */
};

static inline int ckpt_mpi_file_writable(const struct ckpt_open_file *open)
{
    return (open->mode & MPI_MODE_RDONLY) == 0;
}

/* Returns the open file behind a handle; NULL for MPI_FILE_NULL. */
static inline struct ckpt_open_file *ckpt_mpi_file_of(MPI_File file)
{
    return file == NULL ? NULL : file->open;
}

/* Returns the communicator whose clock counts the file's collectives; NULL if
 * the file is not open. */
static inline MPI_Comm ckpt_mpi_file_communicator(MPI_File file)
{
    struct ckpt_open_file *open = ckpt_mpi_file_of(file);

    CKPT_INVARIANT(open == NULL || open->communicator != NULL);
    return open == NULL ? NULL : open->communicator;
}

/*
 * Returns the object for a file that was just opened. communicator: the file's
 * own, which the object then owns; name: as the application passed it. Returns
 * NULL if out of memory. Context: normal, between ckpt_begin and ckpt_end.
 */
MPI_File ckpt_mpi_file_adopt(MPI_File lower, MPI_Comm communicator,
                             const char *name, int mode, const char *creator,
                             void *site);

/* Frees the object of a closed file. Same context. */
void ckpt_mpi_file_release(MPI_File file);

/* Notes which file has the name at present. Context: any. */
void ckpt_mpi_file_identify(struct ckpt_open_file *open);

/* Records a view that the lower half has just accepted. Same context. */
void ckpt_mpi_file_view(MPI_File file, MPI_Offset displacement,
                        MPI_Datatype etype, MPI_Datatype filetype,
                        const char *representation);

/* Called after a call that takes hints (ours, or none): records the library's
 * present hints for the file. Same context. */
void ckpt_mpi_file_hint(MPI_File file, MPI_Info info);

/* Called after a call that moves the individual pointer: records its position.
 * Same context. */
void ckpt_mpi_file_moved(MPI_File file);

/* Called after a call that uses the shared pointer. Context: normal. */
static inline void ckpt_mpi_file_shares(MPI_File file)
{
    file->open->shares_pointer = 1;
}

/*
 * A split collective (MPI 3.1, section 13.4.5). Its begin call does all of it,
 * which the standard allows, so none is under way at a cut. begin: returns
 * MPI_SUCCESS if none has begun on this file; began: keeps the outcome; end:
 * returns it. `name` is the collective's, for example "write_all". Context:
 * normal.
 */
int ckpt_mpi_file_split_begin(MPI_File file);
void ckpt_mpi_file_split_began(MPI_File file, const char *name,
                               const MPI_Status *status);
int ckpt_mpi_file_split_end(MPI_File file, const char *name,
                            MPI_Status *status);

/* Records the shared pointer, which a rank can only ask for at the cut. Returns
 * 0 or -errno. Context: place for lower-half calls. */
int ckpt_mpi_file_record(MPI_File file);

/* Returns 1 if ckpt_mpi_file_record() has nothing to do. Context: any. */
int ckpt_mpi_file_complete(MPI_File file);

/* Registers all data representations in a new lower half. If the library
 * refuses one, a view that uses it fails later. Context: quiesced. */
void ckpt_representations_rebuild(void);

/*
 * Opens all files again in a new lower half. First calls restore(), which brings back their
 * bytes, on all ranks if any rank has a file.
 * Collective over MPI_COMM_WORLD; communicators, infos and datatypes exist.
 * Returns 0 or -errno with a reason. Context: quiesced.
 */
int ckpt_mpi_files_rebuild(int (*restore)(struct ckpt_failure *failure),
                           struct ckpt_failure *failure);

#endif
