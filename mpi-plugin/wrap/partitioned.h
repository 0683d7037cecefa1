/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partitioned.h - what completion.c needs of partitioned requests.
 */
#ifndef CKPT_PARTITIONED_H
#define CKPT_PARTITIONED_H

#include "handles/request.h"

/* MPI_Request_free of one. Context: normal, between ckpt_begin and ckpt_end.
 * Returns an MPI error code. */
int ckpt_partitioned_free(MPI_Request *request);

#endif
