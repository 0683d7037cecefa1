/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * files.h - save and restore the open descriptors of the application.
 *
 * Each kind has one source file with an ops struct. files.c only walks the descriptor table and
 * asks each kind in turn.
 */
#ifndef CKPT_FILES_H
#define CKPT_FILES_H

#include "base/arena.h"
#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

/*
 * Records which files descriptors 0, 1 and 2 are at the start, so that later saves recognise
 * duplicates of the launcher's streams. Reads CKPT_FILE_LIMIT: the maximum bytes that the image
 * takes of a file that is open for reading and writing. Context: normal.
 */
void ckpt_files_open(void);

/* Sets the directory of the checkpoints, as in CKPT_DIR (DIR or FAST,SLOW, with "\\," for a
 * comma in a name); NULL: unknown. Without CKPT_FILE_LIMIT the free space there is the limit.
 * Copies the text. Context: quiesced. */
void ckpt_files_keep_in(const char *directories);

/*
 * Describes every descriptor for which is_lower(fd) is 0. Flushes files that are open for
 * writing to disk (fdatasync: takes as long as the disk needs for what the program has written
 * since the last flush). Saved bytes stay in memory until the next call. That memory is new, so
 * scan the regions after this call, not before. Large files are mapped instead
 * (ckpt_files_content_regions()).
 * Returns 0, or -ENOTSUP with the descriptor's number and path in `failure`. The descriptors do
 * not change. Context: quiesced.
 */
int ckpt_files_save(struct ckpt_arena *arena, int (*is_lower)(int fd),
                    struct ckpt_file **files_p, size_t *count_p,
                    struct ckpt_failure *failure);

/* Maximum number of regions with file content. */
#define CKPT_FILES_CONTENT_REGIONS 1024

/*
 * Returns the regions in which the agent can read file content, from ckpt_files_save() until
 * ckpt_files_release(). The caller adds them to its list of regions. The regions of one file
 * are adjacent. The result is their number. Context: quiesced.
 */
size_t ckpt_files_content_regions(const struct ckpt_region **regions_p);

/* Allows or forbids mappings for large content (allowed by default). Forbid them if a copy of
 * the process holds the content while the program runs on and changes the files. Context:
 * quiesced. */
void ckpt_files_allow_mappings(int allowed);

/* Unmaps that memory: the agent has read it, or will not read it. Context: quiesced. */
void ckpt_files_release(void);

/*
 * In the saved code after a restart: records the new launcher's streams, from the descriptors
 * that the last ckpt_files_save() found to be streams. Without this the next save would not
 * recognise them. Call it before the next save's arena is used. Context: quiesced.
 */
void ckpt_files_resume(void);

/*
 * In the saved code after a restart, when the program's descriptors are no longer closed: takes
 * the fcntl() locks again that were held at the last ckpt_files_save().
 * Returns 0 or -errno with the descriptor in `failure`. Context: quiesced.
 */
int ckpt_files_lock(struct ckpt_failure *failure);

/* A file shared by several processes, which the caller has made. */
struct ckpt_given_file {
    uint64_t inode; /* as in struct ckpt_file */
    const char *path;
    int fd; /* above all saved numbers, for reading and writing; the file has its saved size; or
               a connected end of a connection */
};

/* The files of a saved process, for a restart. */
struct ckpt_saved_files {
    const struct ckpt_file *files;
    size_t count;
    const char *strings; /* the snapshot's string table */
    /* Returns the saved bytes of a file, copied from the image. */
    const void *(*payload)(void *argument, uint64_t address, uint64_t size);
    /* Reports that the restore has written saved bytes to their file and no longer needs them;
     * may be NULL. */
    void (*written)(void *argument, uint64_t address, uint64_t size);
    void *argument;
    /* Files without a name, and ends of connections, that the caller has already made. */
    const struct ckpt_given_file *given;
    size_t given_count;
};

/*
 * Returns 1 if the last ckpt_files_save() found a connection to another process. The
 * description of such a connection is valid only if the other end was stopped, too. Context:
 * quiesced.
 */
int ckpt_files_lead_out(void);

/* The ends of a connection where the program still has a listening socket. */
#define CKPT_FIRST_LISTENS  1u
#define CKPT_SECOND_LISTENS 2u

/*
 * In the restart program: makes both ends of a connection from their descriptions, in the same
 * order. The sockets are empty and have default options. Waits for a port where the program
 * listens while the kernel still reserves it. Returns 0 or -errno. Context: normal.
 */
int ckpt_files_connect(const struct ckpt_socket *a, const struct ckpt_socket *b,
                       uint32_t listening, int ends[2]);

/* Returns 1 if the program listens at the port of a TCP socket. Context: any. */
int ckpt_files_listens(const struct ckpt_socket *listener,
                       const struct ckpt_socket *socket);

/*
 * Makes an empty pipe; creates a named pipe if its name does not exist. value: of struct
 * ckpt_file. Returns a descriptor for reading and writing, or -errno. Context: normal.
 */
int ckpt_files_make_pipe(const char *path, uint64_t value);

/*
 * Writes the saved bytes of sockets and pipes between processes (those with a `size`) into the
 * given descriptors. For a socket it writes through the other end, which is also given. Call it
 * before any process shuts down an end, so before ckpt_files_restore() in every process. Result
 * and context: as ckpt_files_restore().
 */
int ckpt_files_fill(const struct ckpt_saved_files *saved,
                    struct ckpt_failure *failure);

/*
 * In the saved code after a restart, after ckpt_threads_recreate(): opens the files of threads
 * and descriptors below /proc/self that did not exist in the restart program.
 * Returns 0 or -errno with the descriptor in `failure`. Context: quiesced.
 */
int ckpt_files_open_late(struct ckpt_failure *failure);

/*
 * In the saved code after a restart, just before the program continues: starts the timers of
 * timerfds, with their remaining time. Returns 0 or -errno with the descriptor in `failure`.
 * Context: quiesced.
 */
int ckpt_files_start_timers(struct ckpt_failure *failure);

/*
 * In the restart program: recreates the descriptors under their old numbers. Closes all others
 * except `keep[]` and the given ones, also 0, 1 or 2 if the program had closed them.
 * Returns 0 or -errno with the path and the error in `failure`. Context: normal,
 * single-threaded.
 */
int ckpt_files_restore(const struct ckpt_saved_files *saved, const int *keep,
                       size_t keep_count, struct ckpt_failure *failure);

/*
 * Creates an empty file in place of a file without a name; `path` is the path that the kernel
 * shows for that file. The new file is a memory file if `path` is one. Otherwise it is a
 * deleted file in the same directory, or in the directory for temporary files. Returns a
 * descriptor for reading and writing, or -errno. Context: normal.
 */
int ckpt_files_make_unnamed(const char *path);

#endif
