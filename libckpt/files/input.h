/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input.h - the program's interface to the relay of its standard input (ckpt/input.h).
 */
#ifndef CKPT_FILES_INPUT_H
#define CKPT_FILES_INPUT_H

#include "ckpt/failure.h"
#include "ckpt/input.h"

#include <stddef.h>
#include <stdint.h>

/* The initial state of a relay. */
struct ckpt_input_start {
    const char *program; /* path of the relay's executable */
    int source;          /* the launcher's input; -1: the input has ended */
    uint64_t position;   /* bytes that the program has already read */
    const void *bytes;   /* the `size` bytes of input after `position` */
    size_t size;
    uint64_t skip; /* bytes of `source` to drop */
    int is_kept;   /* CKPT_INPUT_KEPT */
};

/*
 * Starts a relay, which is not a child of the caller. The relay ends when no process has the
 * program's end of its pipe.
 * Returns that end, close-on-exec, or -errno with the reason. `source` remains the caller's.
 * Context: normal.
 */
int ckpt_input_start(const struct ckpt_input_start *start,
                     struct ckpt_failure *failure);

/* A paused relay. */
struct ckpt_input_held {
    int page_fd; /* -1: no relay */
    struct ckpt_relay_page *page;
    uint64_t position; /* bytes that the program has already read */
    uint64_t size;     /* bytes after `position` that the relay has received */
    uint64_t flags;    /* CKPT_INPUT_ENDED, CKPT_INPUT_KEPT */
};

/*
 * Pauses the relay of the pipe `fd`. No process may read from the pipe meanwhile. Returns 1; 0
 * if the pipe has no relay; or -errno with the reason. After 1 the caller calls
 * ckpt_input_release(). Context: quiesced.
 */
int ckpt_input_hold(int fd, struct ckpt_input_held *held,
                    struct ckpt_failure *failure);

/* Copies the held->size unread bytes to `bytes`. Returns 0 or -errno. Context: quiesced. */
int ckpt_input_read(const struct ckpt_input_held *held, void *bytes);

/* Resumes the relay. Context: quiesced. */
void ckpt_input_release(struct ckpt_input_held *held);

/*
 * Called at the start of a program, in the first process of the launch that has our library
 * (CKPT_INPUT is set). If the launcher's input is a pipe or a socket, puts a relay before
 * it. Removes CKPT_INPUT from the environment. Records in CKPT_OUTPUT the files that the
 * launcher gave as standard output and error. Context: normal, before other threads exist.
 */
void ckpt_input_open(void);

/* Writes the value of CKPT_OUTPUT for descriptors 1 and 2 of this process. Context: any. */
void ckpt_output_text(char text[CKPT_OUTPUT_SIZE]);

#endif
