/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state.c - what every folder may know of the checkpoint under way.
 */
#include "runtime/state.h"

struct ckpt_checkpoint ckpt_checkpoint;
int ckpt_rank_cut_open;
int ckpt_non_mpi;
int ckpt_resumed;
