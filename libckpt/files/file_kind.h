/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_kind.h - the operations of a kind of descriptor: recognise it, describe it, recreate it.
 */
#ifndef CKPT_FILE_KIND_H
#define CKPT_FILE_KIND_H

#include "base/arena.h"
#include "ckpt/failure.h"
#include "ckpt/snapshot.h"
#include "files/files.h"

#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>

/* A descriptor that is being saved. */
struct ckpt_file_probe {
    int fd;
    int status_flags; /* O_* as F_GETFL returns them */
    struct stat status;
    char path[PATH_MAX]; /* target of the link in /proc/self/fd; "pipe:[1]" and the like */
    char info[PATH_MAX]; /* text of /proc/self/fdinfo, truncated if longer */
};

/* A save in progress. */
struct ckpt_file_save {
    struct ckpt_arena *arena;
    const int *descriptors; /* all descriptors of the application, ascending */
    size_t descriptor_count;
    struct ckpt_file *files; /* descriptions made so far, ascending */
    size_t count;
};

/* Helper descriptors of a restore, shared by several saved descriptors that lead to the same
 * object: the ends of a pipe, a file without a name. */
struct ckpt_file_made {
    uint32_t kind;
    uint64_t device; /* identity of the object, as in struct ckpt_file */
    uint64_t inode;
    int fds[2]; /* numbers from first_free on; the second may be -1 */
};

/* A restore in progress. */
struct ckpt_file_restore {
    struct ckpt_saved_files saved;
    int first_free; /* lowest number above all saved numbers */
    int streams[3]; /* duplicates of the launcher's descriptors 0, 1, 2, from first_free on,
                       or -1 */
    struct ckpt_file_made *made;
    size_t made_count;
    struct ckpt_file_new_name *new_names; /* list of missing.c, newest first */
};

struct ckpt_file_ops {
    enum ckpt_file_kind kind;
    /* 1: descriptors that share an open file share it again after a restore. */
    int shared;
    /* Returns 1 if the descriptor is of this kind. Context: quiesced. */
    int (*matches)(const struct ckpt_file_probe *probe);
    /* Fills in the fields of *file that depend on the kind; the caller has set number, flags,
     * identity and path. Returns 0 or -errno with the reason. Context: quiesced. */
    int (*save)(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure);
    /* Checks whether the file can be restored, as far as possible without changes. May be NULL.
     * Returns 0 or -errno with the reason. Context: normal. */
    int (*check)(const struct ckpt_file_restore *restore,
                 const struct ckpt_file *file, struct ckpt_failure *failure);
    /* Called after all checks: creates the name that restore() opens. May be NULL. Returns 0 or
     * -errno with the reason. Context: normal. */
    int (*prepare)(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure);
    /* Returns a new descriptor with any number, or -errno with the reason. Context: normal. */
    int (*restore)(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure);
    /* Does the steps that need all descriptors under their numbers. Also called for descriptors
     * that share their open file with another one. May be NULL. Returns 0 or -errno with the
     * reason. Context: normal. */
    int (*finish)(struct ckpt_file_restore *restore,
                  const struct ckpt_file *file, struct ckpt_failure *failure);
    /* The last step, when nothing else can fail: changes the content of the file. May be NULL.
     * Returns 0 or -errno with the reason. Context: normal. */
    int (*change)(struct ckpt_file_restore *restore,
                  const struct ckpt_file *file, struct ckpt_failure *failure);
};

extern const struct ckpt_file_ops ckpt_file_stream;
extern const struct ckpt_file_ops ckpt_file_regular;
extern const struct ckpt_file_ops ckpt_file_directory;
extern const struct ckpt_file_ops ckpt_file_pipe;
extern const struct ckpt_file_ops ckpt_file_eventfd;
extern const struct ckpt_file_ops ckpt_file_device;
extern const struct ckpt_file_ops ckpt_file_unnamed;
extern const struct ckpt_file_ops ckpt_file_memfd;
extern const struct ckpt_file_ops ckpt_file_epoll;
extern const struct ckpt_file_ops ckpt_file_socket;
extern const struct ckpt_file_ops ckpt_file_inotify;
extern const struct ckpt_file_ops ckpt_file_signalfd;
extern const struct ckpt_file_ops ckpt_file_timerfd;
extern const struct ckpt_file_ops ckpt_file_process;

/* stream.c: see ckpt_files_open() and ckpt_files_resume(). */
void ckpt_file_streams_open(void);
void ckpt_file_streams_resume(const struct ckpt_file *files, size_t count);

/* timerfd.c: see ckpt_files_start_timers(). */
int ckpt_file_timers_start(const struct ckpt_file *files, size_t count,
                           struct ckpt_failure *failure);

/* process_file.c: see ckpt_files_open_late(). strings: string table of the save's arena. */
int ckpt_file_open_late(const struct ckpt_file *files, size_t count,
                        const char *strings, struct ckpt_failure *failure);

/* content.c: reads CKPT_FILE_LIMIT. Context: normal. */
void ckpt_file_limit_open(void);

/* content.c: returns the next range of data at or after `from`; an empty one at `size` if only
 * a hole follows. If the file system does not report holes, the range extends to `size`.
 * Changes the file position. Context: quiesced. */
struct ckpt_range ckpt_file_next_data(int fd, uint64_t from, uint64_t size);

/*
 * mapped_content.c: makes a mapping of the file (file->size bytes) the payload. fd: to read the
 * file by; its position changes. Returns 1, 0 if the file cannot be mapped, or -errno with the
 * reason. Context: quiesced.
 */
int ckpt_file_map_content(const struct ckpt_file_save *save, int fd, struct ckpt_file *file,
                          struct ckpt_failure *failure);

/* mapped_content.c: in the saved code after a restart: forgets these mappings, which a restart
 * does not restore. Context: quiesced. */
void ckpt_file_contents_gone(void);

/*
 * content.c: puts the file's bytes (file->size of them) into the payload, once for all
 * descriptors of a file. what: for the message "it is WHAT, and its N bytes exceed
 * CKPT_FILE_LIMIT". Returns 0 or -errno with the reason. Context: quiesced.
 */
int ckpt_file_save_content(const struct ckpt_file_save *save,
                           const struct ckpt_file_probe *probe,
                           struct ckpt_file *file, const char *what,
                           struct ckpt_failure *failure);

/* content.c: writes the saved bytes into `fd`. It does not write bytes that are already there,
 * so that an unchanged file keeps its time of modification. fd: for writing; if it cannot be
 * read, all bytes are written. Returns 0 or -errno. Context: normal. */
int ckpt_file_write_content(const struct ckpt_file_restore *restore,
                            const struct ckpt_file *file, int fd);

/*
 * info.c: reads all of /proc/self/fdinfo/FD into the arena. Returns 0 or -errno with the
 * reason. Context: quiesced.
 */
int ckpt_file_whole_info(const struct ckpt_file_save *save, int fd,
                         char **text, struct ckpt_failure *failure);

/* info.c: parses the number after `name` and blanks in such a text. Returns 1 if it finds one,
 * else 0. Context: any. */
int ckpt_file_info_value(const char *info, const char *name, int is_hexadecimal,
                         uint64_t *value_p);

/* Sets the reason "descriptor N (path) cannot be saved: it is `what`". Returns -ENOTSUP. */
int ckpt_file_refuse(const struct ckpt_file_probe *probe, const char *what,
                     struct ckpt_failure *failure);

/* Sets the reason "descriptor N (path) cannot be restored: `why`", a wrong image with -EINVAL.
 * Returns `error`. */
int ckpt_file_lost(const struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, int error, const char *why,
                   struct ckpt_failure *failure);

/*
 * Allocates `size` saved bytes of *file, valid until the next save; sets payload and
 * payload_size. Returns NULL if the memory is exhausted. Context: quiesced.
 */
void *ckpt_file_payload(struct ckpt_file *file, size_t size);

/* Frees the saved bytes of the last save. Context: quiesced. */
void ckpt_file_forget_payloads(void);

/* Returns the saved bytes of *file, or NULL. Context: normal. */
const void *ckpt_file_saved_bytes(const struct ckpt_file_restore *restore,
                                  const struct ckpt_file *file);

/* Opens the path of *file with its saved status flags and `flags`, and checks that the type is
 * `type` (S_IFREG ...). Returns the descriptor, or -errno with the reason. Context: normal. */
int ckpt_file_reopen(const struct ckpt_file_restore *restore,
                     const struct ckpt_file *file, mode_t type, int flags,
                     struct ckpt_failure *failure);

/*
 * content.c: returns a new open file for a file without a name, at the saved position. The file
 * is made once, or the caller has given it. Returns a descriptor or -errno with the reason.
 * Context: normal.
 */
int ckpt_file_restore_content(struct ckpt_file_restore *restore,
                              const struct ckpt_file *file,
                              struct ckpt_failure *failure);

/* missing.c: returns 1 if the file's name does not exist. Context: normal. */
int ckpt_file_is_missing(const struct ckpt_file_restore *restore,
                         const struct ckpt_file *file);

/* missing.c: returns 1 if the image has the content of a regular file, possibly as the payload
 * of another descriptor. Context: any. */
int ckpt_file_has_content(const struct ckpt_file_restore *restore,
                          const struct ckpt_file *file);

/* missing.c: checks whether a file of this name, and the missing directories above it, can be
 * created. Returns 0 or -errno. Context: normal. */
int ckpt_file_check_place(const char *path);

/* missing.c: creates an empty file, or a hard link to another name of the file, and the
 * directories above it. Returns 0 or -errno. Context: normal. */
int ckpt_file_make_again(struct ckpt_file_restore *restore,
                         const struct ckpt_file *file);

/* missing.c: returns 1 if the restore may create a missing file below `directory`. Context:
 * any. */
int ckpt_file_is_made_below(const struct ckpt_file_restore *restore,
                            const char *directory);

/* missing.c: sets mode and owner of a file that this restore has created. Returns 0 or -errno.
 * Context: normal. */
int ckpt_file_give_mode(const struct ckpt_file_restore *restore,
                        const struct ckpt_file *file);

/* missing.c: ends a restore. remove_them: the restore has failed, so the created names are
 * removed. Context: normal. */
void ckpt_file_forget_names(struct ckpt_file_restore *restore, int remove_them);

/* memfd.c, unnamed.c: create an empty file in place of the saved file `path`. Return a
 * descriptor or -errno. Context: normal. */
int ckpt_file_make_memory(const char *path);
int ckpt_file_make_deleted(const char *path);

/* locks.c: records the locks of a file; the mode of a flock() goes into file->detail. Returns 0
 * or -errno with the reason. Context: quiesced. */
int ckpt_file_save_locks(const struct ckpt_file_save *save,
                         const struct ckpt_file_probe *probe,
                         struct ckpt_file *file, struct ckpt_failure *failure);
void ckpt_file_forget_locks(void);

/* Returns 1 if both descriptors refer to the same open file. Context: quiesced. */
int ckpt_file_share_open(int a, int b);

/* pipe.c: copies the bytes in a pipe into the payload. Returns 0 or -errno with the reason.
 * Context: quiesced. */
int ckpt_pipe_save_bytes(const struct ckpt_file_probe *probe,
                         struct ckpt_file *file, struct ckpt_failure *failure);

/* pipe.c: sets the size of the pipe and writes the saved bytes of *file into it. Returns 0 or
 * -errno. Context: normal. */
int ckpt_pipe_fill(const struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, int fd);

/* socket_restore.c: refills the queue of a socket both ends of which the caller has given.
 * Returns 0 or -errno. Context: normal. */
int ckpt_socket_fill_given(const struct ckpt_file_restore *restore,
                           const struct ckpt_file *file);

/* Returns the helper made for the object that *file leads to, or NULL. Context: normal. */
struct ckpt_file_made *ckpt_file_find_made(const struct ckpt_file_restore *,
                                           const struct ckpt_file *file);

/* Moves first and second (-1: none) above all saved numbers and records them for the object
 * that *file leads to. The end of the restore closes them. Returns NULL without a free number
 * or memory; both are then closed. Context: normal. */
struct ckpt_file_made *ckpt_file_add_made(struct ckpt_file_restore *restore,
                                          const struct ckpt_file *file,
                                          int first, int second);

/* Returns the descriptor that the caller has given for a file of several processes, or -1.
 * Context: normal. */
int ckpt_file_given(const struct ckpt_file_restore *restore, uint64_t inode,
                    const char *path);

/* Opens the object that `fd` refers to (not a socket) once more, with the status flags of
 * *file. Returns the descriptor, or -errno. Context: normal. */
int ckpt_file_open_anew(const struct ckpt_file *file, int fd);

/* Moves fd above all saved numbers, close-on-exec. Returns the new number, or -errno. Context:
 * normal. */
int ckpt_file_lift(const struct ckpt_file_restore *restore, int fd);

#endif
