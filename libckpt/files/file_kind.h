/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_kind.h - what a kind of descriptor has to know: to recognise itself, to
 * describe itself, and to be made again.
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

/* One descriptor as the save finds it. */
struct ckpt_file_probe {
    int fd;
    int status_flags; /* O_* as F_GETFL gives them */
    struct stat status;
    char path[PATH_MAX]; /* by /proc/self/fd, or "pipe:[1]" and the like */
    char info[PATH_MAX]; /* text of /proc/self/fdinfo, cut if longer */
};

/* A save in progress. */
struct ckpt_file_save {
    struct ckpt_arena *arena;
    const int *descriptors; /* all of the application, ascending */
    size_t descriptor_count;
    struct ckpt_file *files; /* described so far, ascending */
    size_t count;
};

/* Descriptors that a restore makes on the way, for several of the saved ones
 * that lead to the same thing: the ends of a pipe, a file without a name. */
struct ckpt_file_made {
    uint32_t kind;
    uint64_t device; /* as in struct ckpt_file: what it stands for */
    uint64_t inode;
    int fds[2]; /* above first_free; the second may be -1 */
};

/* A restore in progress. */
struct ckpt_file_restore {
    struct ckpt_saved_files saved;
    int first_free;    /* above all saved numbers */
    int streams[3];    /* the launcher's 0, 1, 2, above first_free, or -1 */
    struct ckpt_file_made *made;
    size_t made_count;
    struct ckpt_file_new_name *new_names; /* of missing.c, newest first */
};

struct ckpt_file_ops {
    enum ckpt_file_kind kind;
    /* 1: descriptors that share an open file go on sharing it. */
    int shared;
    /* 1 if the descriptor is of this kind. Context: quiesced. */
    int (*matches)(const struct ckpt_file_probe *probe);
    /* Fills what is the kind's own in *file; number, flags, identity and path
     * are there already. 0 or -errno with the reason. Context: quiesced. */
    int (*save)(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure);
    /* Whether it can be restored, as far as that can be seen. Changes nothing. May
     * be NULL. 0 or -errno with the reason. Context: normal. */
    int (*check)(const struct ckpt_file_restore *restore,
                 const struct ckpt_file *file, struct ckpt_failure *failure);
    /* When all have been checked: makes the name that restore() opens. May be
     * NULL. 0 or -errno with the reason. Context: normal. */
    int (*prepare)(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure);
    /* Returns a new descriptor with any number, or -errno with the reason.
     * Context: normal. */
    int (*restore)(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure);
    /* What needs all other descriptors under their numbers; may be NULL. Also
     * called for descriptors that share their open file with another one.
     * 0 or -errno with the reason. Context: normal. */
    int (*finish)(struct ckpt_file_restore *restore,
                  const struct ckpt_file *file, struct ckpt_failure *failure);
    /* Last, when nothing else can fail: changes the content of the file. May be
     * NULL. 0 or -errno with the reason. Context: normal. */
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

/* process_file.c: see ckpt_files_open_late(). strings: of the save's arena. */
int ckpt_file_open_late(const struct ckpt_file *files, size_t count,
                        const char *strings, struct ckpt_failure *failure);

/* content.c: reads CKPT_FILE_LIMIT. Context: normal. */
void ckpt_file_limit_open(void);

/* content.c: the next part of the file, from `from` on, that is no hole; empty at the end. If
 * the file system does not know holes, all is one part. Moves the position. Quiesced. */
struct ckpt_range ckpt_file_next_data(int fd, uint64_t from, uint64_t size);

/*
 * mapped_content.c: makes a mapping of the file (file->size bytes of it) the payload. fd: to
 * read it by; its position is moved. 1, 0 if it cannot be mapped, or -errno with the reason.
 * Context: quiesced.
 */
int ckpt_file_map_content(const struct ckpt_file_save *save, int fd, struct ckpt_file *file,
                          struct ckpt_failure *failure);

/* mapped_content.c: in the saved code after a restart: such memory has not come back. Context:
 * quiesced. */
void ckpt_file_contents_gone(void);

/*
 * content.c: puts the file's bytes (file->size of them) into the payload, once
 * for all descriptors of a file. what: for "it is WHAT, and its N bytes exceed
 * CKPT_FILE_LIMIT". 0 or -errno with the reason. Context: quiesced.
 */
int ckpt_file_save_content(const struct ckpt_file_save *save,
                           const struct ckpt_file_probe *probe,
                           struct ckpt_file *file, const char *what,
                           struct ckpt_failure *failure);

/* content.c: writes them into `fd` at their places, except where they are there
 * already: a file that is as it was keeps its time. fd: for writing; also for
 * reading, or all bytes are written. 0 or -errno. Normal. */
int ckpt_file_write_content(const struct ckpt_file_restore *restore,
                            const struct ckpt_file *file, int fd);

/*
 * info.c: all of /proc/self/fdinfo/FD, in the arena. 0 or -errno with the reason. Context:
 * quiesced.
 */
int ckpt_file_whole_info(const struct ckpt_file_save *save, int fd,
                         char **text, struct ckpt_failure *failure);

/* info.c: the number after `name` and blanks in such a text. 1 if there is one.
 * Context: any. */
int ckpt_file_info_value(const char *info, const char *name, int is_hexadecimal,
                         uint64_t *value_p);

/* "descriptor N (path) cannot be saved: it is `what`". Returns -ENOTSUP. */
int ckpt_file_refuse(const struct ckpt_file_probe *probe, const char *what,
                     struct ckpt_failure *failure);

/* "descriptor N (path) cannot be restored: `why`". Returns `error`. */
int ckpt_file_lost(const struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, int error, const char *why,
                   struct ckpt_failure *failure);

/*
 * Memory for `size` saved bytes of *file, valid until the next save; sets
 * payload and payload_size. NULL if there is none. Context: quiesced.
 */
void *ckpt_file_payload(struct ckpt_file *file, size_t size);

/* The saved bytes of *file, or NULL if there are none. Context: normal. */
const void *ckpt_file_saved_bytes(const struct ckpt_file_restore *restore,
                                  const struct ckpt_file *file);

/* Opens the path of *file again with its status flags and `flags`: checked to
 * be of the given type (S_IFREG ...). Returns the descriptor, or -errno with
 * the reason. Context: normal. */
int ckpt_file_reopen(const struct ckpt_file_restore *restore,
                     const struct ckpt_file *file, mode_t type, int flags,
                     struct ckpt_failure *failure);

/*
 * content.c: a new open file of one that has no name, at its position. The
 * file is made once, or given. Returns a descriptor or -errno with the reason.
 * Context: normal.
 */
int ckpt_file_restore_content(struct ckpt_file_restore *restore,
                              const struct ckpt_file *file,
                              struct ckpt_failure *failure);

/* missing.c: 1 if nothing has the file's name. Context: normal. */
int ckpt_file_is_missing(const struct ckpt_file_restore *restore,
                         const struct ckpt_file *file);

/* missing.c: 1 if the image has the content of a regular file, perhaps by way of
 * another descriptor. Context: any. */
int ckpt_file_has_content(const struct ckpt_file_restore *restore,
                          const struct ckpt_file *file);

/* missing.c: whether a file of this name, and the directories above it that are
 * not there, can be made. 0 or -errno. Context: normal. */
int ckpt_file_check_place(const char *path);

/* missing.c: makes an empty file, or a link to its other name, and the directories
 * above it. 0 or -errno. Context: normal. */
int ckpt_file_make_again(struct ckpt_file_restore *restore,
                         const struct ckpt_file *file);

/* missing.c: 1 if a file that may be made again is below `directory`. Context:
 * any. */
int ckpt_file_is_made_below(const struct ckpt_file_restore *restore,
                            const char *directory);

/* missing.c: gives a file that this restore has made its mode and owner. 0 or
 * -errno. Context: normal. */
int ckpt_file_give_mode(const struct ckpt_file_restore *restore,
                        const struct ckpt_file *file);

/* missing.c: at the end of a restore; remove_them: it has failed. Context:
 * normal. */
void ckpt_file_forget_names(struct ckpt_file_restore *restore, int remove_them);

/* memfd.c, unnamed.c: an empty file instead of the one that `path` was. A
 * descriptor or -errno. Context: normal. */
int ckpt_file_make_memory(const char *path);
int ckpt_file_make_deleted(const char *path);

/* locks.c: notes the locks of a file; the mode of flock() goes into
 * file->detail. 0 or -errno with the reason. Context: quiesced. */
int ckpt_file_save_locks(const struct ckpt_file_save *save,
                         const struct ckpt_file_probe *probe,
                         struct ckpt_file *file, struct ckpt_failure *failure);
void ckpt_file_forget_locks(void);

/* files.c: 1 if both descriptors lead to the same open file. Context: quiesced. */
int ckpt_file_share_open(int a, int b);

/* pipe.c: copies what is in a pipe into the payload. 0 or -errno with the reason.
 * Context: quiesced. */
int ckpt_pipe_save_bytes(const struct ckpt_file_probe *probe,
                         struct ckpt_file *file, struct ckpt_failure *failure);

/* pipe.c: sets the size of the pipe and puts the saved bytes of *file into it.
 * 0 or -errno. Context: normal. */
int ckpt_pipe_fill(const struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, int fd);

/* socket_restore.c: the queue of a socket whose two ends were given. 0 or
 * -errno. Context: normal. */
int ckpt_socket_fill_given(const struct ckpt_file_restore *restore,
                           const struct ckpt_file *file);

/* What was made for the thing that *file leads to, or NULL. Context: normal. */
struct ckpt_file_made *ckpt_file_find_made(const struct ckpt_file_restore *,
                                           const struct ckpt_file *file);

/* Remembers first and second (-1: none), moved above all saved numbers, for
 * the thing that *file leads to; they are closed at the end of the restore.
 * NULL if there is no room; they are closed then. Context: normal. */
struct ckpt_file_made *ckpt_file_add_made(struct ckpt_file_restore *restore,
                                          const struct ckpt_file *file,
                                          int first, int second);

/* The descriptor that the caller has given for a file of several processes, or
 * -1. Context: normal. */
int ckpt_file_given(const struct ckpt_file_restore *restore, uint64_t inode,
                    const char *path);

/* A new open file of what `fd` leads to (no socket), with the status flags of
 * *file. The descriptor, or -errno. Context: normal. */
int ckpt_file_open_anew(const struct ckpt_file *file, int fd);

/* fd moved above all saved numbers, close-on-exec. -errno. Context: normal. */
int ckpt_file_lift(const struct ckpt_file_restore *restore, int fd);

#endif
