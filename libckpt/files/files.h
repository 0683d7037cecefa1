/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * files.h - save and restore the open descriptors of the application.
 *
 * One kind, one source file, each with an ops struct; files.c only walks the
 * descriptor table and asks each kind in turn.
 */
#ifndef CKPT_FILES_H
#define CKPT_FILES_H

#include "base/arena.h"
#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

/*
 * Remembers what descriptors 0, 1 and 2 are at start, so that duplicates of
 * the launcher's streams are known as such. Reads CKPT_FILE_LIMIT: up to how
 * many bytes of a file that is open for reading and writing are put into the
 * image. Context: normal.
 */
void ckpt_files_open(void);

/* Where checkpoints go, as CKPT_DIR has it (DIR or FAST,SLOW, with "\\," for a comma in a name); NULL: not known. Without
 * CKPT_FILE_LIMIT what is free there is the limit. The text is copied. Context: quiesced. */
void ckpt_files_keep_in(const char *directories);

/*
 * Describes every descriptor for which is_lower(fd) is 0. Files open for
 * writing are flushed to disk (fdatasync: as long as the disk takes for what
 * the program has written since).
 * Saved bytes stay in memory until the next call; that memory is new, so scan
 * the regions after this, not before. Of large files they are mapped instead
 * (ckpt_files_content_regions()).
 * Returns 0, or -ENOTSUP with the descriptor's number and path in `failure`.
 * Nothing about the descriptors changes. Context: quiesced.
 */
int ckpt_files_save(struct ckpt_arena *arena, int (*is_lower)(int fd),
                    struct ckpt_file **files_p, size_t *count_p,
                    struct ckpt_failure *failure);

/* Most regions that files' content can be. */
#define CKPT_FILES_CONTENT_REGIONS 1024

/*
 * Memory that shows the agent what files hold, since ckpt_files_save() and until
 * ckpt_files_release(): regions, to be put into the list of them. Those of a file follow each
 * other. Returns their number. Context: quiesced.
 */
size_t ckpt_files_content_regions(const struct ckpt_region **regions_p);

/* Whether large content may be shown by mappings (it may at first): not if a copy of the process
 * is to hold it while the program goes on and changes the files. Context: quiesced. */
void ckpt_files_allow_mappings(int allowed);

/* Gives that memory back: the agent has read it, or will not. Context: quiesced. */
void ckpt_files_release(void);

/*
 * In the saved code after a restart: learns what the new launcher's streams
 * are, from the descriptors that the last ckpt_files_save() found to be
 * streams. Without it the next save would not know them. Before anything else
 * is put into that save's arena. Context: quiesced.
 */
void ckpt_files_resume(void);

/*
 * In the saved code after a restart, when no more files of the program will be
 * closed: takes the locks of fcntl() again that were held at the last
 * ckpt_files_save(), under the same condition as above.
 * Returns 0 or -errno with the descriptor in `failure`. Context: quiesced.
 */
int ckpt_files_lock(struct ckpt_failure *failure);

/* A file that the caller has made, as several processes share it. */
struct ckpt_given_file {
    uint64_t inode; /* as in struct ckpt_file */
    const char *path;
    int fd; /* above all saved numbers, for reading and writing; of its size; or
               an end of a connection, connected */
};

/* The files of a saved process, for a restart. */
struct ckpt_saved_files {
    const struct ckpt_file *files;
    size_t count;
    const char *strings; /* the snapshot's string table */
    /* Returns the saved bytes of a file, copied out of the image. */
    const void *(*payload)(void *argument, uint64_t address, uint64_t size);
    /* Tells that saved bytes are in their file, and not needed any longer; may be NULL. */
    void (*written)(void *argument, uint64_t address, uint64_t size);
    void *argument;
    /* Files without a name, and ends of connections, that are not to be made
     * anew. */
    const struct ckpt_given_file *given;
    size_t given_count;
};

/*
 * Whether the last ckpt_files_save() found a connection that leads out of the
 * process. Then what it says of the connection is true only if the other end
 * stood still, too. Context: quiesced.
 */
int ckpt_files_lead_out(void);

/* Of two ends of a connection: where the program still listens. */
#define CKPT_FIRST_LISTENS 1u
#define CKPT_SECOND_LISTENS 2u

/*
 * In the restart program: makes both ends of a connection whose ends were those
 * described, in the same order; empty, with default options. A port where the
 * program listens is waited for while the kernel still keeps it. 0 or -errno.
 * Context: normal.
 */
int ckpt_files_connect(const struct ckpt_socket *a, const struct ckpt_socket *b,
                       uint32_t listening, int ends[2]);

/* Whether the program listens at the port of a TCP socket. Context: any. */
int ckpt_files_listens(const struct ckpt_socket *listener,
                       const struct ckpt_socket *socket);

/*
 * Makes an empty pipe; one with a name is made if it is not there. value: of
 * struct ckpt_file. A descriptor for reading and writing, or -errno. Context:
 * normal.
 */
int ckpt_files_make_pipe(const char *path, uint64_t value);

/*
 * Puts what was in sockets and pipes between processes (those with a `size`)
 * into the given ones, of a socket by way of the other end, given, too; before
 * anybody shuts down an end, so before ckpt_files_restore() in any of the
 * processes. Result as there.
 */
int ckpt_files_fill(const struct ckpt_saved_files *saved,
                    struct ckpt_failure *failure);

/*
 * In the saved code after a restart, after ckpt_threads_recreate(): opens the
 * files below /proc/self of threads and of descriptors, which did not exist in
 * the restart program.
 * Returns 0 or -errno with the descriptor in `failure`. Context: quiesced.
 */
int ckpt_files_open_late(struct ckpt_failure *failure);

/*
 * In the saved code after a restart, when the program is about to go on: sets
 * the timers that are descriptors going, with the time that was left of them.
 * Returns 0 or -errno with the descriptor in `failure`. Context: quiesced.
 */
int ckpt_files_start_timers(struct ckpt_failure *failure);

/*
 * In the restart program: makes the descriptors again under their old numbers;
 * all others but `keep[]` and those given are closed, also 0, 1 or 2 if the
 * program had closed them.
 * Returns 0 or -errno with the path and what is wrong with it in `failure`.
 * Context: normal, single-threaded.
 */
int ckpt_files_restore(const struct ckpt_saved_files *saved, const int *keep,
                       size_t keep_count, struct ckpt_failure *failure);

/*
 * A new empty file instead of one without a name, which `path` is as the kernel
 * shows it: a memory file for one of these, else a deleted file in the same
 * directory or where temporary files go. Returns a descriptor for reading and
 * writing, or -errno. Context: normal.
 */
int ckpt_files_make_unnamed(const char *path);

#endif
