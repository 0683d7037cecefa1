/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * access.c - puts, accumulates and gets. Puts and accumulates are staged; puts to direct
 * windows are also placed at once. Gets are done at once, and the bytes they read are
 * logged for this rank's own replay.
 */
#include "independent/calls/access.h"

#include "base/invariant.h"
#include "handles/kinds.h"
#include "independent/direct.h"
#include "independent/interval.h"
#include "independent/overhead.h"
#include "independent/replay.h"
#include "independent/staging.h"

#include <stdlib.h>

/* Long operations run in pieces of whole elements: every element has a power of two
 * bytes. */
_Static_assert((CKPT_STAGE_PIECE & (CKPT_STAGE_PIECE - 1)) == 0, "a piece has whole elements");

static uint64_t piece_of(uint64_t left)
{
    return left < CKPT_STAGE_PIECE ? left : CKPT_STAGE_PIECE;
}

/* ---- Puts and accumulates --------------------------------------------------- */

/* Stages an operation. op: NULL for a put. */
static int stage_all(const char *from, const struct ckpt_transfer *transfer, int rank,
                     MPI_Op op, MPI_Win win)
{
    const struct ckpt_layout *target = &transfer->target;
    MPI_Datatype element = op == NULL ? NULL : transfer->element;
    struct ckpt_log_record *record;

    CKPT_INVARIANT(transfer->origin.bytes >= target->bytes);
    for (uint64_t skip = 0; skip < target->bytes; skip += CKPT_STAGE_PIECE) {
        const uint64_t bytes = piece_of(target->bytes - skip);
        const uint64_t began = ckpt_overhead_begin();

        record = ckpt_stage(win, rank, target, transfer->start, skip, bytes);
        if (record == NULL) {
            return MPI_ERR_NO_MEM;
        }
        ckpt_layout_read(&transfer->origin, skip, bytes, from, ckpt_log_bytes(record));
        if (ckpt_stage_commit(win, record, op, element) != 0) {
            return MPI_ERR_NO_MEM;
        }
        ckpt_overhead_end(began);
        ckpt_overhead_payload(bytes);
        if (op == NULL) {
            ckpt_direct_put(win, record);
        }
    }
    return MPI_SUCCESS;
}

int ckpt_access_put(const void *origin, int origin_count, MPI_Datatype origin_type,
                    int target, MPI_Aint place, int target_count, MPI_Datatype target_type,
                    MPI_Win win)
{
    struct ckpt_transfer transfer;
    int code = ckpt_transfer_open(&transfer, origin_count, origin_type, target, place,
                                  target_count, target_type, win);

    if (code == MPI_SUCCESS) {
        code = stage_all(origin, &transfer, target, NULL, win);
    }
    ckpt_transfer_close(&transfer);
    return code;
}

int ckpt_access_accumulate(const void *origin, int origin_count, MPI_Datatype origin_type,
                           int target, MPI_Aint place, int target_count,
                           MPI_Datatype target_type, MPI_Op op, MPI_Win win)
{
    struct ckpt_transfer transfer;
    int code;

    if (!ckpt_is_operation(op)) {
        return CKPT_ACCESS_WRONG;
    }
    code = ckpt_transfer_open(&transfer, origin_count, origin_type, target, place,
                              target_count, target_type, win);
    if (code == MPI_SUCCESS && op != MPI_NO_OP) {
        code = stage_all(origin, &transfer, target, op, win);
    }
    ckpt_transfer_close(&transfer);
    return code;
}

/* ---- Gets ------------------------------------------------------------------- */

/* Reads through a log record; only that takes two copies instead of one. */
static int read_live(char *to, const struct ckpt_transfer *transfer, const char *memory,
                     uint64_t skip, uint64_t bytes)
{
    const uint64_t began = ckpt_overhead_begin();
    struct ckpt_log_record *event = ckpt_event_reserve(CKPT_LOGGED_READ, bytes);
    char *read = event != NULL ? ckpt_event_bytes(event) : malloc(bytes);

    if (read == NULL) {
        return MPI_ERR_NO_MEM;
    }
    ckpt_layout_read(&transfer->target, skip, bytes, memory + transfer->start, read);
    ckpt_overhead_end(began);
    ckpt_overhead_payload(bytes);
    ckpt_layout_write(&transfer->origin, skip, bytes, read, to);
    if (event != NULL) {
        ckpt_event_commit(event);
    } else {
        free(read);
    }
    return MPI_SUCCESS;
}

/* The same in a replay: returns what the program read then. */
static void read_again(char *to, const struct ckpt_transfer *transfer, uint64_t skip,
                       uint64_t bytes)
{
    struct ckpt_log_record *event = ckpt_replay_event(CKPT_LOGGED_READ);

    CKPT_INVARIANT(event->size >= sizeof(*event) + bytes);
    ckpt_layout_write(&transfer->origin, skip, bytes, ckpt_event_bytes(event), to);
}

static int read_all(char *to, const struct ckpt_transfer *transfer, const char *memory)
{
    const uint64_t all = transfer->target.bytes;
    int code = MPI_SUCCESS;

    for (uint64_t skip = 0; skip < all && code == MPI_SUCCESS; skip += CKPT_STAGE_PIECE) {
        const uint64_t bytes = piece_of(all - skip);

        ckpt_replay_look();
        if (ckpt_replaying) {
            read_again(to, transfer, skip, bytes);
        } else {
            code = read_live(to, transfer, memory, skip, bytes);
        }
    }
    return code;
}

int ckpt_access_get(void *to, int origin_count, MPI_Datatype origin_type, int rank,
                    MPI_Aint place, int target_count, MPI_Datatype target_type, MPI_Win win)
{
    struct ckpt_transfer transfer;
    int code = ckpt_transfer_open(&transfer, origin_count, origin_type, rank, place,
                                  target_count, target_type, win);

    if (code == MPI_SUCCESS) {
        code = read_all(to, &transfer, ckpt_independent_memory(win, rank));
    }
    ckpt_transfer_close(&transfer);
    return code;
}
