/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * communicator.c - the objects behind MPI_Comm.
 *
 * All members agree on an id when a communicator is made. The order of ids is
 * the same everywhere, so a restart can make the communicators again one after
 * another without a deadlock. The restart makes each from its list of members,
 * whatever calls created it.
 */
#include "handles/communicator.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/attribute.h"
#include "handles/channels.h"
#include "handles/hints.h"
#include "handles/kinds.h"
#include "handles/message_log.h"
#include "link/rank_page.h"
#include "runtime/crossing.h"
#include "runtime/free_later.h"

#include <stdlib.h>
#include <string.h>

/* Number of ids made here: the lowest member of a new communicator makes its
 * id. */
static uint64_t made_here;

/* Messages counted on communicators that were freed. */
static struct ckpt_peer *retired;

/* Clock of communicators without other members: its gate never shuts. */
static struct ckpt_clock private_clock = {.target = UINT64_MAX};

static uint64_t fresh_id(void)
{
    return ((uint64_t)(uint32_t)(MPI_COMM_WORLD->rank + 1) << 32) |
           __atomic_add_fetch(&made_here, 1, __ATOMIC_RELAXED);
}

/* For an intercommunicator each side learns the other's id, and both take the
 * smaller. */
static int agree_inter(struct ckpt_new_communicator *fresh, int rank)
{
    uint64_t mine = rank == 0 ? fresh_id() : 0, theirs = 0, own = 0;
    int code;

    code = CKPT_FUNCTION(Allreduce)(&mine, &theirs, 1, CKPT_LOWER(MPI_UINT64_T),
                                    CKPT_LOWER(MPI_MAX), fresh->lower);
    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Allreduce)(&theirs, &own, 1, CKPT_LOWER(MPI_UINT64_T),
                                        CKPT_LOWER(MPI_MAX), fresh->lower);
    }
    fresh->id = own < theirs ? own : theirs;
    return code;
}

int ckpt_communicator_agree(struct ckpt_new_communicator *fresh)
{
    int code, rank, inter;

    fresh->id = 0;
    fresh->second = NULL;
    if (fresh->lower == CKPT_LOWER(MPI_COMM_NULL)) {
        return MPI_SUCCESS;
    }
    /* Our own calls report errors by their result, on every communicator. */
    code = CKPT_FUNCTION(Comm_set_errhandler)(fresh->lower,
                                              CKPT_LOWER(MPI_ERRORS_RETURN));
    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Comm_rank)(fresh->lower, &rank);
    }
    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Comm_test_inter)(fresh->lower, &inter);
    }
    if (code == MPI_SUCCESS) {
        code = ckpt_channels_make(fresh->lower, &fresh->second);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (inter) {
        return agree_inter(fresh, rank);
    }
    if (rank == 0) {
        fresh->id = fresh_id();
    }
    return CKPT_FUNCTION(Bcast)(&fresh->id, (int)sizeof(fresh->id),
                                CKPT_LOWER(MPI_BYTE), 0, fresh->lower);
}

/* Returns the ranks in MPI_COMM_WORLD of a lower group's members; MPI_UNDEFINED
 * for a member outside. Frees the group. Context: normal. */
static int *members_of(MPI_Group lower_group, int size)
{
    MPI_Group world;
    int *ranks = malloc(2 * (size_t)size * sizeof(int));
    int *members = ranks == NULL ? NULL : ranks + size;
    int code, i;

    if (ranks == NULL) {
        return NULL;
    }
    for (i = 0; i < size; i++) {
        ranks[i] = i;
    }
    CKPT_CALL(code, Comm_group, CKPT_LOWER(MPI_COMM_WORLD), &world);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Group_translate_ranks, lower_group, size, ranks, world,
                  members);
        CKPT_CALL(code, Group_free, &world);
    }
    memcpy(ranks, members, (size_t)size * sizeof(int));
    CKPT_CALL(code, Group_free, &lower_group);
    return ranks;
}

static int has_foreign(const int *members, int size)
{
    for (int i = 0; i < size; i++) {
        if (members[i] == MPI_UNDEFINED) {
            return 1;
        }
    }
    return 0;
}

/* Reads the object's members from the lower communicator. */
static int complete(MPI_Comm comm)
{
    MPI_Comm lower = CKPT_LOWER(comm);
    MPI_Group group;
    int code;

    CKPT_CALL(code, Comm_rank, lower, &comm->rank);
    CKPT_CALL(code, Comm_size, lower, &comm->size);
    CKPT_CALL(code, Comm_test_inter, lower, &comm->inter);
    comm->peers = comm->size;
    CKPT_CALL(code, Comm_group, lower, &group);
    comm->local_members = members_of(group, comm->size);
    comm->members = comm->local_members;
    if (comm->inter) {
        CKPT_CALL(code, Comm_remote_size, lower, &comm->peers);
        CKPT_CALL(code, Comm_remote_group, lower, &group);
        comm->members = members_of(group, comm->peers);
    }
    comm->sent = calloc(2 * (size_t)comm->peers, sizeof(uint64_t));
    if (code != MPI_SUCCESS || comm->sent == NULL ||
        comm->local_members == NULL || comm->members == NULL) {
        return MPI_ERR_NO_MEM;
    }
    comm->received = comm->sent + comm->peers;
    comm->foreign = has_foreign(comm->members, comm->peers);
    return MPI_SUCCESS;
}

static void take_clock(MPI_Comm comm)
{
    comm->slot = UINT32_MAX;
    if (comm->size > 1 || comm->inter) {
        /* A communicator from MPI_Comm_spawn, MPI_Comm_accept and the like has no id, whoever its
         * members are. It gets no clock, and there is no checkpoint while it exists. */
        comm->slot = comm->id == 0 ? UINT32_MAX : ckpt_rank_page_take(comm->id);
        comm->unclocked = comm->slot == UINT32_MAX;
    }
    comm->clock = comm->slot == UINT32_MAX ? &private_clock
                                           : ckpt_rank_page_clock(comm->slot);
}

MPI_Comm ckpt_communicator_adopt(const struct ckpt_new_communicator *fresh,
                                 MPI_Comm parent, const char *creator,
                                 void *site)
{
    MPI_Comm comm;

    if (fresh->lower == CKPT_LOWER(MPI_COMM_NULL)) {
        return MPI_COMM_NULL;
    }
    comm = ckpt_handle_new(CKPT_COMM, sizeof(*comm), fresh->lower, creator,
                           site);
    if (comm == NULL || complete(comm) != MPI_SUCCESS) {
        free(comm);
        return NULL;
    }
    CKPT_INVARIANT(comm->rank >= 0 && comm->rank < comm->size && comm->peers > 0);
    ckpt_channels_bind(comm, fresh->second);
    comm->id = fresh->id;
    comm->errhandler =
        parent == NULL ? MPI_ERRORS_ARE_FATAL : parent->errhandler;
    ckpt_retain(comm->errhandler);
    take_clock(comm);
    ckpt_handle_link(&comm->handle);
    return comm;
}

/* splitmix64: a permutation that mixes all bits. */
static uint64_t mix(uint64_t number)
{
    number += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

/*
 * Makes the id of a duplicate. All members compute the same id without a
 * message, as they begin the duplications of a communicator in the same order.
 * The other ids are below 2^63. Among 16,384 such communicators
 * (CKPT_CLOCK_SLOTS), the probability that two have the same id is less than
 * 10^-10.
 */
static uint64_t twin_id(MPI_Comm comm)
{
    return mix(mix(comm->id) + ++comm->twins) | UINT64_C(1) << 63;
}

static void *copied(const void *from, size_t size)
{
    void *memory = malloc(size);

    return memory == NULL ? NULL : memcpy(memory, from, size);
}

MPI_Comm ckpt_communicator_twin(MPI_Comm comm, const char *creator, void *site)
{
    MPI_Comm twin =
        ckpt_handle_new(CKPT_COMM, sizeof(*twin), NULL, creator, site);

    if (twin == NULL) {
        return NULL;
    }
    CKPT_INVARIANT(comm->local_members[comm->rank] == MPI_COMM_WORLD->rank);
    twin->id = twin_id(comm);
    twin->rank = comm->rank;
    twin->size = comm->size;
    twin->peers = comm->peers;
    twin->inter = comm->inter;
    twin->foreign = comm->foreign;
    twin->local_members =
        copied(comm->local_members, (size_t)comm->size * sizeof(int));
    twin->members = twin->local_members;
    if (comm->inter) {
        twin->members = copied(comm->members, (size_t)comm->peers * sizeof(int));
    }
    twin->sent = calloc(2 * (size_t)comm->peers, sizeof(uint64_t));
    if (twin->local_members == NULL || twin->members == NULL ||
        twin->sent == NULL) {
        return NULL;
    }
    twin->received = twin->sent + twin->peers;
    twin->hinted = comm->hinted;
    twin->errhandler = comm->errhandler;
    ckpt_retain(twin->errhandler);
    take_clock(twin);
    return twin;
}

void ckpt_communicator_twin_made(MPI_Comm twin)
{
    int code;

    CKPT_CALL(code, Comm_set_errhandler, CKPT_LOWER(twin),
              CKPT_LOWER(MPI_ERRORS_RETURN));
    if (twin->channels[1] != NULL) {
        CKPT_CALL(code, Comm_set_errhandler, twin->channels[1],
                  CKPT_LOWER(MPI_ERRORS_RETURN));
    }
    (void)code; /* fails only for a null handle */
    ckpt_channels_bind(twin, twin->channels[1]);
    ckpt_hints_inherit(twin, twin);
    ckpt_handle_link(&twin->handle);
}

int ckpt_communicator_hidden(MPI_Comm *comm)
{
    struct ckpt_new_communicator fresh;
    uintptr_t upper = ckpt_enter();
    int code =
        CKPT_FUNCTION(Comm_dup)(CKPT_LOWER(MPI_COMM_WORLD), &fresh.lower);

    if (code == MPI_SUCCESS) {
        code = ckpt_communicator_agree(&fresh);
    }
    ckpt_leave(upper);
    if (code == MPI_SUCCESS) {
        *comm = ckpt_communicator_adopt(&fresh, NULL, "MPI_Init", NULL);
        code = *comm == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    }
    return code;
}

int ckpt_communicator_private(MPI_Comm comm, MPI_Comm *lower)
{
    int code;

    CKPT_CALL(code, Comm_dup, CKPT_LOWER(comm), lower);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Comm_set_errhandler, *lower,
                  CKPT_LOWER(MPI_ERRORS_RETURN));
    }
    return code;
}

static void open_predefined(MPI_Comm comm, uint64_t id)
{
    comm->id = id;
    (void)complete(comm);
    comm->errhandler = MPI_ERRORS_ARE_FATAL;
    take_clock(comm);
}

void ckpt_communicators_open(void)
{
    MPI_Comm world = MPI_COMM_WORLD;

    open_predefined(world, 1);
    open_predefined(MPI_COMM_SELF, 0);
    retired = calloc((size_t)world->size, sizeof(*retired));
}

static void retire_counters(MPI_Comm comm)
{
    for (int i = 0; i < comm->peers; i++) {
        if (comm->members[i] != MPI_UNDEFINED) {
            CKPT_INVARIANT(comm->members[i] >= 0 && comm->members[i] < MPI_COMM_WORLD->size);
            retired[comm->members[i]].sent += comm->sent[i];
            retired[comm->members[i]].received += comm->received[i];
        }
    }
}

static void discard_transfers(MPI_Comm comm)
{
    while (comm->made != NULL) {
        struct ckpt_made *entry = comm->made;

        comm->made = entry->next;
        ckpt_memory_free(entry, sizeof(*entry));
    }
}

void ckpt_communicator_destroy(MPI_Comm comm)
{
    CKPT_INVARIANT(comm->clock != NULL); /* not destroyed before */
    retire_counters(comm);
    ckpt_log_discard(comm);
    discard_transfers(comm);
    if (comm->slot != UINT32_MAX) {
        ckpt_rank_page_give(comm->slot);
    }
    if (comm->members != comm->local_members) {
        ckpt_free_later(comm->members);
    }
    ckpt_free_later(comm->local_members);
    ckpt_free_later(comm->sent);
    ckpt_free_later(comm->topology);
    if (comm->hints != NULL) {
        ckpt_memory_free(comm->hints, comm->hints_size);
    }
    ckpt_drop(comm->errhandler);
    comm->clock = NULL; /* not valid any more */
    ckpt_handle_destroy(&comm->handle);
}

static void count(MPI_Comm comm, struct ckpt_peer *peers)
{
    for (int i = 0; i < comm->peers; i++) {
        if (comm->members[i] != MPI_UNDEFINED) {
            CKPT_INVARIANT(comm->members[i] >= 0 && comm->members[i] < MPI_COMM_WORLD->size);
            peers[comm->members[i]].sent += comm->sent[i];
            peers[comm->members[i]].received += comm->received[i];
        }
    }
}

void ckpt_communicators_count(struct ckpt_peer *peers, int rank_count)
{
    struct ckpt_handle *handle;

    if (retired == NULL) { /* no counters exist yet */
        return;
    }
    CKPT_INVARIANT(rank_count == MPI_COMM_WORLD->size);
    for (int i = 0; i < rank_count; i++) {
        peers[i].sent = retired[i].sent;
        peers[i].received = retired[i].received;
    }
    count(MPI_COMM_WORLD, peers);
    count(MPI_COMM_SELF, peers);
    for (handle = ckpt_live(CKPT_COMM); handle != NULL;
         handle = ckpt_live_next(handle)) {
        count((MPI_Comm)handle, peers);
    }
}

/* Makes a lower intracommunicator of the given ranks of MPI_COMM_WORLD. */
static int create_from(const int *members, int size, int tag, MPI_Comm *lower_p)
{
    MPI_Comm world = CKPT_LOWER(MPI_COMM_WORLD);
    MPI_Group all, group;
    int code, ignored;

    CKPT_CALL(code, Comm_group, world, &all);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Group_incl, all, size, members, &group);
        if (code == MPI_SUCCESS) {
            CKPT_CALL(code, Comm_create_group, world, group, tag, lower_p);
            CKPT_CALL(ignored, Group_free, &group);
        }
        CKPT_CALL(ignored, Group_free, &all);
    }
    (void)ignored;
    return code;
}

/* Adds the Cartesian or graph structure to a plain lower communicator. */
static int add_topology(const struct ckpt_topology *topology, MPI_Comm *lower)
{
    MPI_Comm plain = *lower;
    const int *data = topology->data;
    int in = topology->counts[0], out = topology->counts[1];
    int code;

    switch (topology->kind) {
    case MPI_CART:
        CKPT_CALL(code, Cart_create, plain, in, data, data + in, 0, lower);
        break;
    case MPI_GRAPH:
        CKPT_CALL(code, Graph_create, plain, in, data, data + in, 0, lower);
        break;
    default:
        CKPT_CALL(code, Dist_graph_create_adjacent, plain, in, data,
                  topology->weighted ? data + in : MPI_UNWEIGHTED, out,
                  data + 2 * in,
                  topology->weighted ? data + 2 * in + out : MPI_UNWEIGHTED,
                  CKPT_LOWER(MPI_INFO_NULL), 0, lower);
        break;
    }
    CKPT_CALL(code, Comm_free, &plain);
    return code;
}

static int rebuild_inter(MPI_Comm comm, int tag, MPI_Comm *lower_p)
{
    MPI_Comm local;
    int code = create_from(comm->local_members, comm->size, tag, &local);

    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Intercomm_create, local, 0, CKPT_LOWER(MPI_COMM_WORLD),
                  comm->members[0], tag, lower_p);
        CKPT_CALL(code, Comm_free, &local);
    }
    return code;
}

int ckpt_communicator_rebuild(MPI_Comm comm)
{
    /* Any tag works: one communicator is made at a time. */
    const int tag = (int)(comm->id & 0x3fff);
    MPI_Comm lower = NULL;
    int code;

    CKPT_INVARIANT(comm->local_members != NULL && comm->members != NULL);
    if (comm->inter) {
        code = rebuild_inter(comm, tag, &lower);
    } else {
        code = create_from(comm->local_members, comm->size, tag, &lower);
    }
    if (code == MPI_SUCCESS && comm->topology != NULL) {
        code = add_topology(comm->topology, &lower);
    }
    if (code == MPI_SUCCESS && comm->hinted) {
        code = ckpt_hints_rebuild(comm, &lower);
    }
    if (code == MPI_SUCCESS) {
        comm->handle.lower = lower;
        CKPT_CALL(code, Comm_set_errhandler, lower,
                  CKPT_LOWER(MPI_ERRORS_RETURN));
    }
    return code == MPI_SUCCESS ? ckpt_channels_rebuild(comm) : code;
}
