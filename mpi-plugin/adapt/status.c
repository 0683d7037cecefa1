/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status.c - convert statuses between the two libraries' layouts.
 */
#include "adapt/status.h"

#include "adapt/constants.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED INT_MIN

/* MPICH's count has 63 bits: the upper 31 share a word with the "cancelled"
 * bit. */
#define CANCELLED 1u
_Static_assert(((unsigned)UNTOUCHED & CANCELLED) == 0, "a marked count is not cancelled");

/* The header may be of another release than the library. */
_Static_assert(sizeof(MPI_Status) == 20 && offsetof(MPI_Status, MPI_SOURCE) == 8 &&
                   offsetof(MPI_Status, MPI_TAG) == 12 && offsetof(MPI_Status, MPI_ERROR) == 16,
               "layout of every release with libmpi.so.12");

/* Marks each field separately, as ROMIO sets only the count. The mark does not
 * contain the "cancelled" bit. */
static void mark(MPI_Status *mpich)
{
    mpich->count_lo = UNTOUCHED;
    mpich->count_hi_and_cancelled = UNTOUCHED;
    mpich->MPI_SOURCE = UNTOUCHED;
    mpich->MPI_TAG = UNTOUCHED;
    mpich->MPI_ERROR = UNTOUCHED;
}

static int has_count(const MPI_Status *mpich)
{
    return mpich->count_lo != UNTOUCHED ||
           (mpich->count_hi_and_cancelled & ~(int)CANCELLED) != UNTOUCHED;
}

MPI_Status *adapt_status_begin(const struct adapt_status *status,
                               MPI_Status *mpich)
{
    if (status == NULL) {
        return MPI_STATUS_IGNORE;
    }
    mark(mpich);
    return mpich;
}

void adapt_status_end(const MPI_Status *mpich, struct adapt_status *status)
{
    uint32_t high = (uint32_t)mpich->count_hi_and_cancelled;

    if (status == NULL) {
        return;
    }
    if (mpich->MPI_ERROR != UNTOUCHED) {
        status->error = adapt_code(mpich->MPI_ERROR);
    }
    if (mpich->MPI_SOURCE != UNTOUCHED) {
        status->source = adapt_rank_out(mpich->MPI_SOURCE);
    }
    if (mpich->MPI_TAG != UNTOUCHED) {
        status->tag = mpich->MPI_TAG;
    }
    if (mpich->count_hi_and_cancelled != UNTOUCHED) {
        status->cancelled = (high & CANCELLED) != 0;
    }
    if (has_count(mpich)) {
        status->count = (size_t)(high >> 1) << 32 | (uint32_t)mpich->count_lo;
    }
}

void adapt_status_in(const struct adapt_status *status, MPI_Status *mpich)
{
    uint32_t high = (uint32_t)(status->count >> 32) << 1;

    mpich->count_lo = (int)(uint32_t)status->count;
    mpich->count_hi_and_cancelled =
        (int)(high | (status->cancelled ? CANCELLED : 0));
    mpich->MPI_SOURCE = adapt_rank_in(status->source);
    mpich->MPI_TAG = status->tag;
    mpich->MPI_ERROR = adapt_constant_in(ADAPT_ERROR, status->error);
}

MPI_Status *adapt_statuses_begin(const struct adapt_status *statuses,
                                 int count)
{
    MPI_Status *mpich;

    if (statuses == NULL || count <= 0) {
        return MPI_STATUSES_IGNORE;
    }
    mpich = malloc((size_t)count * sizeof(*mpich));
    if (mpich == NULL) {
        return MPI_STATUSES_IGNORE;
    }
    for (int i = 0; i < count; i++) {
        mark(&mpich[i]);
    }
    return mpich;
}

void adapt_statuses_end(MPI_Status *mpich, struct adapt_status *statuses,
                        int count)
{
    if (mpich == MPI_STATUSES_IGNORE) {
        return;
    }
    for (int i = 0; i < count; i++) {
        adapt_status_end(&mpich[i], &statuses[i]);
    }
    free(mpich);
}

/* In Open MPI a Fortran status is the C structure. */

int adapt_Status_c2f(const struct adapt_status *status, MPI_Fint *fortran)
{
    memcpy(fortran, status, sizeof(*status));
    return MPI_SUCCESS;
}

int adapt_Status_f2c(const MPI_Fint *fortran, struct adapt_status *status)
{
    memcpy(status, fortran, sizeof(*status));
    return MPI_SUCCESS;
}
