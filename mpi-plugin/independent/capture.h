/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * capture.h - what a rank has stored directly to shared windows is found and logged when an
 * interval ends (docs/windows.md, section 5).
 *
 * A page that has been stored to is logged as a whole, as the memory is then, under the
 * mutex of the window, and gets the next number of the order of all deliveries. So a page
 * with a higher number was taken later, and of each word it has what the rank that takes
 * part in the present saw then: of two captures the higher number is the better one,
 * whoever made them, and words of others in a page do no harm.
 *
 * A page that is as in the released image needs no capture. What is in the image has been
 * captured, and its interval closed: whoever acquires from this rank afterwards knows that
 * one, too, as vector times are read in the page of all ranks. (With times that come in
 * messages this would be wrong.)
 */
#ifndef CKPT_INDEPENDENT_CAPTURE_H
#define CKPT_INDEPENDENT_CAPTURE_H

#pragma GCC visibility push(hidden)

/*
 * Captures what this rank has stored to shared windows since the last time; what it has
 * staged for them is delivered before. An interval ends with each record. In a replay the
 * pages come from the log. To be called before every release, so that whoever acquires
 * finds the stores; and before every acquire, so that captures of others that have been
 * made before this one have lower numbers. Between begin and end, which may be left and
 * entered meanwhile.
 */
void ckpt_capture(void);

/* From now on it is not known which pages this rank has stored to: the next capture looks
 * at all of them. Context: quiesced. */
void ckpt_capture_forget(void);

/* A restart, which has brought back none of our descriptors. Context: quiesced. */
void ckpt_capture_restarted(void);

/* Ours are never saved. Context: any. */
int ckpt_capture_owns_descriptor(int fd);

#pragma GCC visibility pop

#endif
