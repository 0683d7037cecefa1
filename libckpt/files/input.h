/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input.h - the relay of a standard input (ckpt/input.h), as the program sees it.
 */
#ifndef CKPT_FILES_INPUT_H
#define CKPT_FILES_INPUT_H

#include "ckpt/failure.h"
#include "ckpt/input.h"

#include <stddef.h>
#include <stdint.h>

/* What a relay begins with. */
struct ckpt_input_start {
    const char *program; /* path of the relay's executable */
    int source;          /* the launcher's input; -1: it has ended */
    uint64_t position;   /* bytes that the program has read */
    const void *bytes;   /* what follows them */
    size_t size;
    uint64_t skip; /* bytes of `source` to drop */
    int is_kept;   /* CKPT_INPUT_KEPT */
};

/*
 * Starts a relay. It is not a child of the caller. It ends when no process has the
 * program's end of its pipe.
 * Returns that end, close-on-exec, or -errno with the reason. The caller keeps
 * `source`. Context: normal.
 */
int ckpt_input_start(const struct ckpt_input_start *start,
                     struct ckpt_failure *failure);

/* A relay that stands still. */
struct ckpt_input_held {
    int page_fd; /* -1: there is no relay */
    struct ckpt_relay_page *page;
    uint64_t position; /* bytes that the program has read */
    uint64_t size;     /* bytes that follow them, and are there already */
    uint64_t flags;    /* CKPT_INPUT_ENDED, CKPT_INPUT_KEPT */
};

/*
 * Has the relay of the pipe `fd` stand still. No process may read from the pipe.
 * Returns 1; 0 if the pipe has no relay; or -errno with the reason. After 1 the
 * caller calls ckpt_input_release(). Context: quiesced.
 */
int ckpt_input_hold(int fd, struct ckpt_input_held *held,
                    struct ckpt_failure *failure);

/* Copies the bytes that follow: held->size of them. 0 or -errno. Context:
 * quiesced. */
int ckpt_input_read(const struct ckpt_input_held *held, void *bytes);

/* The relay goes on. Context: quiesced. */
void ckpt_input_release(struct ckpt_input_held *held);

/*
 * At the start of a program, in the first process of the launch that has our
 * library: CKPT_INPUT is set. If the launcher's input is a pipe or a socket, a
 * relay comes between. Takes the variable out of the environment. Notes in
 * CKPT_OUTPUT which files the launcher gave as standard output and error.
 * Context: normal, before other threads exist.
 */
void ckpt_input_open(void);

/* The text of CKPT_OUTPUT for descriptors 1 and 2 of this process. Context: any. */
void ckpt_output_text(char text[CKPT_OUTPUT_SIZE]);

#endif
