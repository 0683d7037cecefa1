/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v.c - System V objects after a restart.
 *
 * They belong to a node. This code does not check which ranks used the same
 * objects: all ranks of a node that used any must be on one node again.
 */
#include "cut/image/system_v.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/communicator.h"
#include "ipc/system_v.h"
#include "runtime/crossing.h"
#include "runtime/state.h"

#include <errno.h>

/* The node on which a rank had such objects, and the node where it is now. */
struct place {
    struct ckpt_system_v_place saved;
    uint64_t now;
};

static int is_later(const struct place *all, int one, int other)
{
    return all[one].saved.time != all[other].saved.time
               ? all[one].saved.time > all[other].saved.time
               : one > other;
}

/* Returns how many ranks of its node come before a rank. */
static int turn_of(const struct place *all, int rank)
{
    int turn = 0;

    for (int i = 0; i < MPI_COMM_WORLD->size; i++) {
        turn += all[i].saved.node == all[rank].saved.node && i != rank &&
                is_later(all, rank, i);
    }
    return turn;
}

static int check_places(const struct place *all, struct ckpt_failure *failure)
{
    const struct place *mine = &all[MPI_COMM_WORLD->rank];

    for (int i = 0; i < MPI_COMM_WORLD->size; i++) {
        if (all[i].saved.node == mine->saved.node && all[i].now != mine->now) {
            return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_PLACEMENT, -EINVAL,
                               "ranks that use System V semaphores or queues "
                               "must be on one node: rank %d is on another one",
                               i);
        }
    }
    return 0;
}

/* Restores the objects of one rank after another. The last is the rank that
 * saved last, because all others stood still by then. */
static int restore_in_turn(const struct place *all, int64_t since,
                           struct ckpt_failure *failure)
{
    const struct place *mine = &all[MPI_COMM_WORLD->rank];
    const int has = mine->saved.node != 0;
    int turn = has ? turn_of(all, MPI_COMM_WORLD->rank) : -1;
    int error = has ? check_places(all, failure) : 0;
    int last = 0, code = MPI_SUCCESS;

    CKPT_CALL(code, Allreduce, &turn, &last, 1, CKPT_LOWER(MPI_INT),
              CKPT_LOWER(MPI_MAX), CKPT_LOWER(MPI_COMM_WORLD));
    CKPT_INVARIANT(code != MPI_SUCCESS || last >= turn);
    for (int i = 0; i <= last && error == 0 && code == MPI_SUCCESS; i++) {
        if (i == turn) {
            error = ckpt_system_v_restore(
                mine->now == mine->saved.node ? 0 : since, failure);
        }
        if (error == 0) {
            CKPT_CALL(code, Barrier, CKPT_LOWER(MPI_COMM_WORLD));
        }
    }
    return code == MPI_SUCCESS ? error
                               : ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                                             "the ranks cannot come together "
                                             "(MPI error %d)",
                                             code);
}

/* had: where this rank had objects that it has no more; node 0: none. */
static int rejoin(const struct ckpt_system_v_place *had, int64_t since,
                  struct ckpt_failure *failure)
{
    const struct place mine = {*had, ckpt_system_v_node()};
    const size_t size = (size_t)MPI_COMM_WORLD->size * sizeof mine;
    int has = mine.saved.node != 0, any = 0;
    struct place *all;
    int code, error;

    if (ckpt_non_mpi) {
        return has ? ckpt_system_v_restore(
                         mine.now == mine.saved.node ? 0 : since, failure)
                   : 0;
    }
    CKPT_CALL(code, Allreduce, &has, &any, 1, CKPT_LOWER(MPI_INT),
              CKPT_LOWER(MPI_MAX), CKPT_LOWER(MPI_COMM_WORLD));
    if (code == MPI_SUCCESS && !any) {
        return 0;
    }
    all = ckpt_memory_alloc(size);
    if (all == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no memory for %l bytes", (long)size);
    }
    CKPT_CALL(code, Allgather, &mine, (int)sizeof mine, CKPT_LOWER(MPI_BYTE),
              all, (int)sizeof mine, CKPT_LOWER(MPI_BYTE),
              CKPT_LOWER(MPI_COMM_WORLD));
    error = code != MPI_SUCCESS ? ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                                              "the ranks cannot tell where they "
                                              "are (MPI error %d)",
                                              code)
                                : restore_in_turn(all, since, failure);
    ckpt_memory_free(all, size);
    return error;
}

int ckpt_system_v_rejoin(int64_t since, struct ckpt_failure *failure)
{
    const struct ckpt_system_v_place had = ckpt_system_v_saved_at();

    return rejoin(&had, since, failure);
}

int ckpt_system_v_attend(struct ckpt_failure *failure)
{
    const struct ckpt_system_v_place none = {0};

    CKPT_INVARIANT(!ckpt_non_mpi);
    return rejoin(&none, 0, failure);
}
