/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partitioned.h - functions of partitioned requests for completion.c.
 */
#ifndef CKPT_PARTITIONED_H
#define CKPT_PARTITIONED_H

#include "handles/request.h"

/* MPI_Request_free of a partitioned request. Context: normal, between
 * ckpt_begin and ckpt_end. Returns an MPI error code. */
int ckpt_partitioned_free(MPI_Request *request);

#endif
