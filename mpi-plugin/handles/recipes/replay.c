/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.c - make the communicators of all ranks again, in order of their ids.
 *
 * MPI_Comm_free need not synchronise, so at the cut some members may have freed
 * a communicator that others still hold. Making it again takes all members. So
 * a member that holds it describes it to the others. These make a *placeholder*,
 * which is freed when all communicators exist.
 */
#include "handles/recipes/replay.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/channels.h"
#include "handles/hints.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"

#include <string.h>

/* Numbers of each rank of MPI_COMM_WORLD, concatenated in rank order. */
struct gathered {
    uint64_t *numbers;
    int *counts;  /* [world size] */
    int *offsets; /* [world size] */
    uint64_t total;
};

/* A communicator as numbers: this header, then the ranks of the local group,
 * the ranks of the remote group, and the words of the topology. */
struct description {
    uint64_t id;
    uint64_t inter;
    uint64_t hinted;
    uint64_t size;
    uint64_t peers;
    uint64_t kind; /* of the topology; 0: none */
    uint64_t weighted;
    uint64_t counts[2];
    uint64_t words;
    uint64_t follow[]; /* [size + (inter ? peers : 0) + words] */
};

_Static_assert(sizeof(struct description) % sizeof(uint64_t) == 0,
               "the numbers follow the header without a gap");

#define HEADER (sizeof(struct description) / sizeof(uint64_t))

static uint64_t follow_count(const struct description *told)
{
    return told->size + (told->inter ? told->peers : 0) + told->words;
}

static void *take(size_t size)
{
    void *memory = ckpt_memory_alloc(size);

    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

static void gathered_free(struct gathered *all)
{
    const size_t ranks = (size_t)MPI_COMM_WORLD->size;

    ckpt_memory_free(all->numbers, all->total * sizeof(uint64_t) + 1);
    ckpt_memory_free(all->counts, ranks * sizeof(int));
    ckpt_memory_free(all->offsets, ranks * sizeof(int));
}

/* Gathers `count` numbers of each rank; collective over MPI_COMM_WORLD. */
static int gather(const uint64_t *numbers, int count, struct gathered *all)
{
    const size_t ranks = (size_t)MPI_COMM_WORLD->size;
    MPI_Comm world = CKPT_LOWER(MPI_COMM_WORLD);
    int code;

    *all = (struct gathered){.counts = take(ranks * sizeof(int)),
                             .offsets = take(ranks * sizeof(int))};
    if (all->counts == NULL || all->offsets == NULL) {
        return MPI_ERR_NO_MEM;
    }
    CKPT_CALL(code, Allgather, &count, 1, CKPT_LOWER(MPI_INT), all->counts, 1,
              CKPT_LOWER(MPI_INT), world);
    for (size_t i = 0; i < ranks; i++) {
        all->offsets[i] = (int)all->total;
        all->total += (uint64_t)all->counts[i];
    }
    if (code != MPI_SUCCESS || all->total == 0) {
        return code;
    }
    all->numbers = take(all->total * sizeof(uint64_t) + 1);
    if (all->numbers == NULL || all->total > INT32_MAX) {
        return MPI_ERR_NO_MEM;
    }
    CKPT_CALL(code, Allgatherv, numbers, count, CKPT_LOWER(MPI_UINT64_T),
              all->numbers, all->counts, all->offsets,
              CKPT_LOWER(MPI_UINT64_T), world);
    return code;
}

static int holds(const struct gathered *ids, int rank, uint64_t id)
{
    const uint64_t *of_rank = ids->numbers + ids->offsets[rank];

    for (int i = 0; i < ids->counts[rank]; i++) {
        if (of_rank[i] == id) {
            return 1;
        }
    }
    return 0;
}

/* Gathers the ids of each rank's communicators that have other members. */
static int gather_ids(struct gathered *ids)
{
    struct ckpt_handle *handle;
    int count = 0, code;
    size_t size = sizeof(uint64_t);
    uint64_t *mine;

    for (handle = ckpt_live(CKPT_COMM); handle != NULL;
         handle = ckpt_live_next(handle)) {
        size += sizeof(uint64_t);
    }
    mine = take(size);
    if (mine == NULL) {
        return MPI_ERR_NO_MEM;
    }
    for (handle = ckpt_live(CKPT_COMM); handle != NULL;
         handle = ckpt_live_next(handle)) {
        MPI_Comm comm = (MPI_Comm)handle;

        if (comm->size > 1 || comm->inter) {
            mine[count++] = comm->id;
        }
    }
    CKPT_INVARIANT((size_t)count * sizeof(*mine) < size);
    code = gather(mine, count, ids);
    ckpt_memory_free(mine, size);
    return code;
}

/* Examines one group of a communicator: finds the lowest rank that holds the
 * communicator, and whether a member lacks it. */
static void look_at(const struct gathered *ids, uint64_t id, const int *members,
                    int size, int *lowest, int *lacking)
{
    for (int i = 0; i < size; i++) {
        if (!holds(ids, members[i], id)) {
            *lacking = 1;
        } else if (*lowest < 0 || members[i] < *lowest) {
            *lowest = members[i];
        }
    }
}

/* Returns whether this rank must describe its communicator to others. */
static int must_tell(const struct gathered *ids, MPI_Comm comm)
{
    int lowest = -1, lacking = 0;

    if (comm->size == 1 && !comm->inter) {
        return 0;
    }
    look_at(ids, comm->id, comm->local_members, comm->size, &lowest, &lacking);
    if (comm->inter) {
        look_at(ids, comm->id, comm->members, comm->peers, &lowest, &lacking);
    }
    return lacking && lowest == MPI_COMM_WORLD->rank;
}

static struct description header_of(MPI_Comm comm)
{
    const struct ckpt_topology *topology = comm->topology;
    struct description told = {.id = comm->id,
                               .inter = (uint64_t)comm->inter,
                               .hinted = (uint64_t)comm->hinted,
                               .size = (uint64_t)comm->size,
                               .peers = (uint64_t)comm->peers};

    if (topology != NULL) {
        told.kind = (uint64_t)topology->kind;
        told.weighted = (uint64_t)topology->weighted;
        /* A rank's own neighbours are useless to another rank. */
        if (topology->kind != MPI_DIST_GRAPH) {
            told.counts[0] = (uint64_t)topology->counts[0];
            told.counts[1] = (uint64_t)topology->counts[1];
            CKPT_INVARIANT(topology->size >= sizeof(*topology));
            told.words = (topology->size - sizeof(*topology)) / sizeof(int);
        }
    }
    return told;
}

static uint64_t *put(uint64_t *to, const int *numbers, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        *to++ = (uint64_t)numbers[i];
    }
    return to;
}

static uint64_t *describe(MPI_Comm comm, uint64_t *to)
{
    struct description told = header_of(comm);

    memcpy(to, &told, sizeof(told));
    to = put(to + HEADER, comm->local_members, told.size);
    if (comm->inter) {
        to = put(to, comm->members, told.peers);
    }
    return told.words == 0 ? to : put(to, comm->topology->data, told.words);
}

/* Gathers the communicators that members lack; one rank that holds it describes
 * each. */
static int gather_descriptions(const struct gathered *ids, struct gathered *all)
{
    struct ckpt_handle *handle;
    uint64_t count = 0, *mine, *end;
    int code;

    for (handle = ckpt_live(CKPT_COMM); handle != NULL;
         handle = ckpt_live_next(handle)) {
        if (must_tell(ids, (MPI_Comm)handle)) {
            struct description told = header_of((MPI_Comm)handle);

            count += HEADER + follow_count(&told);
        }
    }
    mine = end = take(count * sizeof(uint64_t) + 1);
    if (mine == NULL) {
        return MPI_ERR_NO_MEM;
    }
    for (handle = ckpt_live(CKPT_COMM); handle != NULL;
         handle = ckpt_live_next(handle)) {
        if (must_tell(ids, (MPI_Comm)handle)) {
            end = describe((MPI_Comm)handle, end);
        }
    }
    CKPT_INVARIANT(end == mine + count && count <= INT32_MAX);
    code = gather(mine, (int)count, all);
    ckpt_memory_free(mine, count * sizeof(uint64_t) + 1);
    return code;
}

/* Proxy, in their own list, linked by handle.next. */
static MPI_Comm placeholders;

static int *members_from(const uint64_t *numbers, uint64_t count)
{
    int *members = take(count * sizeof(int) + 1);

    for (uint64_t i = 0; i < count && members != NULL; i++) {
        members[i] = (int)numbers[i];
    }
    return members;
}

static int position(const int *members, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (members[i] == MPI_COMM_WORLD->rank) {
            return (int)i;
        }
    }
    return -1;
}

static int add_topology(MPI_Comm placeholder, const struct description *told)
{
    const size_t size = sizeof(struct ckpt_topology) + told->words * sizeof(int);
    const uint64_t *from = told->follow + told->size;

    if (told->kind == 0) {
        return MPI_SUCCESS;
    }
    placeholder->topology = take(size);
    if (placeholder->topology == NULL) {
        return MPI_ERR_NO_MEM;
    }
    placeholder->topology->kind = (int)told->kind;
    placeholder->topology->weighted = (int)told->weighted;
    placeholder->topology->counts[0] = (int)told->counts[0];
    placeholder->topology->counts[1] = (int)told->counts[1];
    placeholder->topology->size = size;
    for (uint64_t i = 0; i < told->words; i++) {
        placeholder->topology->data[i] = (int)from[i];
    }
    return MPI_SUCCESS;
}

/* Makes a placeholder of the communicator, if this rank is a member. */
static int add_placeholder(const struct description *told)
{
    int *local = members_from(told->follow, told->size), *remote = local;
    int here, there = -1;
    MPI_Comm placeholder;

    if (told->inter) {
        remote = members_from(told->follow + told->size, told->peers);
    }
    placeholder = take(sizeof(*placeholder));
    if (local == NULL || remote == NULL || placeholder == NULL) {
        return MPI_ERR_NO_MEM;
    }
    here = position(local, told->size);
    if (told->inter) {
        there = position(remote, told->peers);
    }
    if (here < 0 && there < 0) {
        return MPI_SUCCESS;
    }
    placeholder->id = told->id;
    placeholder->inter = (int)told->inter;
    placeholder->hinted = (int)told->hinted;
    placeholder->rank = here >= 0 ? here : there;
    placeholder->size = (int)(here >= 0 ? told->size : told->peers);
    placeholder->peers = (int)(here >= 0 ? told->peers : told->size);
    placeholder->local_members = here >= 0 ? local : remote;
    placeholder->members = here >= 0 ? remote : local;
    placeholder->handle.next = (struct ckpt_handle *)placeholders;
    placeholders = placeholder;
    return add_topology(placeholder, told);
}

static int add_placeholders(const struct gathered *ids, const struct gathered *told)
{
    const uint64_t *next = told->numbers, *end = next + told->total;
    int code = MPI_SUCCESS;

    while (next < end && code == MPI_SUCCESS) {
        const struct description *one = (const struct description *)next;

        if (!CKPT_INVARIANT((uint64_t)(end - next) >= HEADER &&
                            follow_count(one) <= (uint64_t)(end - next) - HEADER)) {
            return MPI_ERR_INTERN;
        }
        if (!holds(ids, MPI_COMM_WORLD->rank, one->id)) {
            code = add_placeholder(one);
        }
        next += HEADER + follow_count(one);
    }
    return code;
}

static MPI_Comm earlier(MPI_Comm one, MPI_Comm other, uint64_t done)
{
    return other->id > done && (one == NULL || other->id < one->id) ? other : one;
}

/* Returns the communicator or placeholder with the lowest id above `done`, or
 * NULL. */
static MPI_Comm next_after(uint64_t done)
{
    struct ckpt_handle *handle;
    MPI_Comm placeholder, next = NULL;

    for (handle = ckpt_live(CKPT_COMM); handle != NULL;
         handle = ckpt_live_next(handle)) {
        next = earlier(next, (MPI_Comm)handle, done);
    }
    for (placeholder = placeholders; placeholder != NULL;
         placeholder = (MPI_Comm)placeholder->handle.next) {
        next = earlier(next, placeholder, done);
    }
    return next;
}

/* All members use the same order of ids, so there is never a deadlock. */
static int rebuild_in_order(void)
{
    MPI_Comm next = next_after(MPI_COMM_WORLD->id);
    int code = MPI_SUCCESS;

    for (; next != NULL && code == MPI_SUCCESS; next = next_after(next->id)) {
        code = ckpt_communicator_rebuild(next);
    }
    return code;
}

/* Frees the lower communicators. The placeholders' little memory from
 * ckpt_memory_alloc stays. */
static int free_placeholders(void)
{
    int first = MPI_SUCCESS, code;

    for (; placeholders != NULL; placeholders = (MPI_Comm)placeholders->handle.next) {
        CKPT_CALL(code, Comm_free, (MPI_Comm *)&placeholders->handle.lower);
        first = first == MPI_SUCCESS ? code : first;
        ckpt_channels_free(placeholders);
    }
    return first;
}

int ckpt_communicators_replay(void)
{
    struct gathered ids = {0}, told = {0};
    int code = gather_ids(&ids);

    if (code == MPI_SUCCESS) {
        code = gather_descriptions(&ids, &told);
    }
    if (code == MPI_SUCCESS) {
        code = add_placeholders(&ids, &told);
    }
    gathered_free(&told);
    gathered_free(&ids);
    if (code == MPI_SUCCESS) {
        code = ckpt_hints_rebuild_predefined();
    }
    if (code == MPI_SUCCESS) {
        code = rebuild_in_order();
    }
    return code == MPI_SUCCESS ? free_placeholders() : code;
}
