/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * from_groups.c - communicators from groups only (MPI 4.0, sections 7.4.2 and
 * 7.6.2), for sessions. All ranks are in MPI_COMM_WORLD of the lower half,
 * which therefore creates the communicators there. The tag distinguishes
 * simultaneous creations.
 */
#include "base/invariant.h"
#include "handles/communicator.h"
#include "handles/kinds.h"
#include "handles/wrapper.h"

#include <string.h>

/* FNV-1a hash, reduced to the tags that every library supports. */
static int tag_of(const char *text)
{
    uint32_t hash = 2166136261u;

    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    }
    return (int)((hash ^ hash >> 15) & 0x7fff);
}

/* Runs with the lower thread pointer; so does make_inter. */
static int make_intra(MPI_Group group, int tag, MPI_Info info,
                      struct ckpt_new_communicator *fresh)
{
    int code = CKPT_FUNCTION(Comm_create_group)(
        CKPT_LOWER(MPI_COMM_WORLD), CKPT_LOWER(group), tag, &fresh->lower);

    if (code == MPI_SUCCESS && fresh->lower != CKPT_LOWER(MPI_COMM_NULL) &&
        info != MPI_INFO_NULL) {
        (void)CKPT_FUNCTION(Comm_set_info)(fresh->lower, CKPT_LOWER(info));
    }
    return code;
}

/* The arguments of MPI_Intercomm_create_from_groups. */
struct sides {
    MPI_Group local;
    int local_leader;
    MPI_Group remote;
    int remote_leader;
};

/* Finds the other leader's rank in MPI_COMM_WORLD; only this side's leader
 * needs it. */
static int find_leader(const struct sides *sides, int *rank)
{
    MPI_Group world;
    int code = CKPT_FUNCTION(Comm_group)(CKPT_LOWER(MPI_COMM_WORLD), &world);

    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Group_translate_ranks)(
            CKPT_LOWER(sides->remote), 1, &sides->remote_leader, world, rank);
        (void)CKPT_FUNCTION(Group_free)(&world);
    }
    return code == MPI_SUCCESS && *rank < 0 ? MPI_ERR_RANK : code;
}

static int make_inter(const struct sides *sides, int tag, MPI_Info info,
                      struct ckpt_new_communicator *fresh)
{
    struct ckpt_new_communicator local;
    int code, own = -1, leader = 0;

    code = CKPT_FUNCTION(Group_rank)(CKPT_LOWER(sides->local), &own);
    if (code == MPI_SUCCESS && own == sides->local_leader) {
        code = find_leader(sides, &leader);
    }
    if (code == MPI_SUCCESS) {
        code = make_intra(sides->local, tag, info, &local);
    }
    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Intercomm_create)(
            local.lower, sides->local_leader, CKPT_LOWER(MPI_COMM_WORLD), leader,
            tag, &fresh->lower);
        (void)CKPT_FUNCTION(Comm_free)(&local.lower);
    }
    return code;
}

/* Creates the communicator. Between ckpt_begin and ckpt_end. Only some ranks
 * take part, so there is no clock: a checkpoint waits for a rank inside it. */
static int make(const struct sides *sides, const char *text, MPI_Info info,
                MPI_Errhandler errhandler, MPI_Comm *comm_p, const char *creator,
                void *site)
{
    struct ckpt_new_communicator fresh = {.lower = NULL};
    const int tag = tag_of(text);
    MPI_Comm comm;
    uintptr_t upper;
    int code;

    ckpt_let_others();
    upper = ckpt_enter_to_wait();
    code = sides->remote == NULL ? make_intra(sides->local, tag, info, &fresh)
                                 : make_inter(sides, tag, info, &fresh);
    if (code == MPI_SUCCESS) {
        code = ckpt_communicator_agree(&fresh);
    }
    ckpt_leave(upper);
    if (code != MPI_SUCCESS) {
        return code;
    }
    CKPT_INVARIANT(fresh.id != 0 || fresh.lower == CKPT_LOWER(MPI_COMM_NULL));
    comm = ckpt_communicator_adopt(&fresh, NULL, creator, site);
    if (comm == NULL) {
        return MPI_ERR_NO_MEM;
    }
    if (comm != MPI_COMM_NULL && errhandler != MPI_ERRHANDLER_NULL) {
        ckpt_drop(comm->errhandler);
        comm->errhandler = errhandler;
        ckpt_retain(errhandler);
    }
    *comm_p = comm;
    return MPI_SUCCESS;
}

#define REQUIRE_ALL(text, info, errhandler, comm, name)                        \
    do {                                                                       \
        CKPT_REQUIRE((text) != NULL && (errhandler) != NULL && (comm) != NULL, \
                     NULL, MPI_ERR_ARG, (name));                               \
        CKPT_REQUIRE((info) != NULL, NULL, MPI_ERR_INFO, (name));              \
    } while (0)

int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag,
                                MPI_Info info, MPI_Errhandler errhandler,
                                MPI_Comm *newcomm)
{
    static const char name[] = "MPI_Comm_create_from_group";
    const struct sides sides = {.local = group};
    int code;

    REQUIRE_ALL(stringtag, info, errhandler, newcomm, name);
    CKPT_REQUIRE(group != NULL && group != MPI_GROUP_NULL, NULL, MPI_ERR_GROUP,
                 name);
    if (group == MPI_GROUP_EMPTY) {
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    ckpt_begin();
    code = make(&sides, stringtag, info, errhandler, newcomm, name, CKPT_SITE);
    ckpt_end();
    return ckpt_error_of(errhandler, code, name);
}
CKPT_ALIAS(Comm_create_from_group);

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                      MPI_Group remote_group, int remote_leader,
                                      const char *stringtag, MPI_Info info,
                                      MPI_Errhandler errhandler,
                                      MPI_Comm *newintercomm)
{
    static const char name[] = "MPI_Intercomm_create_from_groups";
    const struct sides sides = {local_group, local_leader, remote_group,
                                remote_leader};
    int code;

    REQUIRE_ALL(stringtag, info, errhandler, newintercomm, name);
    CKPT_REQUIRE(local_group != NULL && local_group != MPI_GROUP_NULL &&
                     remote_group != NULL,
                 NULL, MPI_ERR_GROUP, name);
    ckpt_begin();
    code = make(&sides, stringtag, info, errhandler, newintercomm, name,
                CKPT_SITE);
    ckpt_end();
    return ckpt_error_of(errhandler, code, name);
}
CKPT_ALIAS(Intercomm_create_from_groups);
