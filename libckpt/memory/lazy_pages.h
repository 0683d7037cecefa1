/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lazy_pages.h - memory that comes after a lazy restart has begun to run.
 *
 * The restart program leaves large private regions empty and registers them with a userfaultfd. A
 * page server, another process, fills a page when a thread touches it, and the rest behind that.
 * The rank keeps the userfaultfd open: without it, the kernel would give zeros instead of missing
 * pages if the page server died. It also keeps a stream socket to the page server, on which both
 * send single bytes: enum ckpt_lazy_pages (docs/protocol.md).
 */
#ifndef CKPT_LAZY_PAGES_H
#define CKPT_LAZY_PAGES_H

#include "ckpt/failure.h"

enum ckpt_lazy_pages {
    CKPT_LAZY_PAGES_REGISTERED = 'r', /* to the server: missing pages can be touched from now on */
    CKPT_LAZY_PAGES_RUNNING = 'g',    /* to the server: the program runs; fill the rest now */
    CKPT_LAZY_PAGES_AWAITED = 'a',    /* to the server: the rank waits until all pages are there */
    CKPT_LAZY_PAGES_COMPLETE = 'c',   /* to the rank: all are there, and nothing is registered */
};

/* Takes both descriptors of struct ckpt_resume_info, or -1. Context: quiesced. */
void ckpt_lazy_pages_begin(int faults, int page_server);

/* Tells the page server that the program runs. Context: quiesced. */
void ckpt_lazy_pages_running(void);

/*
 * Waits until all pages are there, and closes the descriptors. Returns at once if none is missing.
 * Returns 0, or -EPIPE with the reason if the page server has died, which ends this process soon.
 * Context: normal or quiesced.
 */
int ckpt_lazy_pages_await(struct ckpt_failure *failure);

/* Returns 1 if the descriptor is one of ours. Context: any. */
int ckpt_lazy_pages_own_descriptor(int fd);

/* Closes the descriptors in the child of a fork(), for which the page server has others. Context:
 * normal. */
void ckpt_lazy_pages_forget(void);

#endif
