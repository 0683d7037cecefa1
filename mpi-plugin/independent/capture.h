/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * capture.h - find and log a rank's direct stores to shared windows when an interval ends
 * (docs/windows.md, section 5).
 *
 * A page that was stored to is logged as a whole, with its contents at that time, under the
 * mutex of the window. It gets the next number in the order of all deliveries. So a page
 * with a higher number was captured later, and contains each word as the live rank saw it
 * then. Of two captures the higher number is the better one, whichever rank made it, and
 * other ranks' words in a page do no harm.
 *
 * A page that equals the released image needs no capture. The image's contents have been
 * captured by a rank whose interval is closed. A rank that acquires from this rank
 * afterwards knows that interval, too, as vector times are read in the shared page. (If
 * times came in messages this would be wrong.)
 */
#ifndef CKPT_INDEPENDENT_CAPTURE_H
#define CKPT_INDEPENDENT_CAPTURE_H

#pragma GCC visibility push(hidden)

/*
 * Captures this rank's stores to shared windows since the last capture. First delivers
 * the records staged for them. An interval ends with each record. In a replay the pages
 * come from the log. Call it before every release, so that a rank that acquires finds the
 * stores. Also call it before every acquire, so that earlier captures of other ranks have
 * lower numbers. Between begin and end, which it may leave and enter again.
 */
void ckpt_capture(void);

/* Forgets the list of written pages: the next capture checks all of them.
 * Context: quiesced. */
void ckpt_capture_forget(void);

/* Called after a restart, which has not restored our descriptors. Context: quiesced. */
void ckpt_capture_restarted(void);

/* Returns 1 for our descriptors, which are never saved. Context: any. */
int ckpt_capture_owns_descriptor(int fd);

#pragma GCC visibility pop

#endif
