/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image_fault.h - a place where a test can damage a rank's description of itself.
 */
#ifndef CKPT_IMAGE_FAULT_H
#define CKPT_IMAGE_FAULT_H

#include "ckpt/snapshot.h"

#include <stddef.h>

/* CKPT_FAULT=rank-unsound[:COUNT][@RANK]: once, when COUNT - 1 checkpoints of this launch have
 * been committed (default: none), exchanges the first two regions of that rank's list (default:
 * of each). A rank may describe itself several times in a checkpoint. The agents have already
 * refused malformed values. Context: quiesced. */
void ckpt_image_fault(struct ckpt_region *regions, size_t count, int rank);

#endif
