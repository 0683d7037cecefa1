/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * communicator.c - create and free communicators (MPI 3.1, chapter 6).
 *
 * Creating a communicator is a collective on its parent. The lower-half calls that
 * create it and agree on its id run inside the clocked section. The bookkeeping follows
 * after the collective is left.
 */
#include "base/invariant.h"
#include "cut/collectives/collective.h"
#include "cut/collectives/nonblocking.h"
#include "handles/attribute.h"
#include "handles/channels.h"
#include "handles/hints.h"
#include "handles/kinds.h"
#include "handles/request.h"
#include "handles/wrapper.h"
#include "wrap/persistent.h"

#include <stdlib.h>
#include <string.h>

/*
 * Runs the lower call `name` and the agreement on the id inside a clocked
 * collective on `parent`; `fresh` and `code` are local variables.
 */
#define MAKE(code, fresh, parent, name, ...)                       \
    do {                                                           \
        uintptr_t upper_;                                          \
        CKPT_COLLECTIVE_ENTRY();                                   \
        ckpt_collective_set((parent), CKPT_COLLECTIVE_REDO);       \
        upper_ = ckpt_enter_to_wait();                             \
        (code) = CKPT_FUNCTION(name)(__VA_ARGS__, &(fresh).lower); \
        if ((code) == MPI_SUCCESS) {                               \
            (code) = ckpt_communicator_agree(&(fresh));            \
        }                                                          \
        ckpt_clock_leave((parent)->clock);                         \
        ckpt_leave(upper_);                                        \
        ckpt_state = CKPT_STATE_CRITICAL;                          \
    } while (0)

static int adopt(const struct ckpt_new_communicator *fresh, MPI_Comm parent,
                 const char *creator, void *site, MPI_Comm *comm_p)
{
    MPI_Comm comm = ckpt_communicator_adopt(fresh, parent, creator, site);

    if (comm == NULL) {
        return MPI_ERR_NO_MEM;
    }
    CKPT_INVARIANT(comm == MPI_COMM_NULL || ckpt_communicator_valid(comm));
    *comm_p = comm;
    return MPI_SUCCESS;
}

static int copy_topology(MPI_Comm from, MPI_Comm to)
{
    CKPT_INVARIANT(from != to && to->topology == NULL);
    if (from->topology != NULL) {
        size_t size = from->topology->size;

        to->topology = malloc(size);
        if (to->topology == NULL) {
            return MPI_ERR_NO_MEM;
        }
        memcpy(to->topology, from->topology, size);
    }
    return MPI_SUCCESS;
}

int ckpt_communicator_duplicate(MPI_Comm comm, MPI_Comm *copy,
                                const char *function, void *site)
{
    struct ckpt_new_communicator fresh;
    int code;

    MAKE(code, fresh, comm, Comm_dup, CKPT_LOWER(comm));
    if (code == MPI_SUCCESS) {
        code = adopt(&fresh, comm, function, site, copy);
    }
    return code == MPI_SUCCESS ? copy_topology(comm, *copy) : code;
}

/* Copies the contents that MPI_Comm_dup copies: attributes and topology. */
static int copy_contents(MPI_Comm from, MPI_Comm to)
{
    int code = copy_topology(from, to);

    return code == MPI_SUCCESS ? ckpt_attributes_copy(&from->handle, &to->handle)
                               : code;
}

/* Ends a wrapper that duplicates: callbacks run outside the critical section. If a
 * callback fails, the call fails (MPI 3.1, section 6.7.2) and the copy is freed, with
 * its attributes. `code`: MPI_SUCCESS if there is a copy. */
static int finish_dup(int code, MPI_Comm from, MPI_Comm *to, const char *name)
{
    ckpt_end();
    if (code == MPI_SUCCESS) {
        code = copy_contents(from, *to);
        if (code != MPI_SUCCESS) {
            (void)PMPI_Comm_free(to);
        }
    }
    if (code != MPI_SUCCESS) {
        *to = MPI_COMM_NULL;
    }
    return code == MPI_SUCCESS ? code : ckpt_error(from, code, name);
}

#define REQUIRE(comm, name)                                \
    do {                                                   \
        if (!ckpt_communicator_valid(comm)) {              \
            return ckpt_error(NULL, MPI_ERR_COMM, (name)); \
        }                                                  \
    } while (0)

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *new_comm)
{
    REQUIRE(comm, "MPI_Comm_dup");
    CKPT_REQUIRE(new_comm != NULL, comm, MPI_ERR_ARG, "MPI_Comm_dup");
    struct ckpt_new_communicator fresh;
    int code;

    MAKE(code, fresh, comm, Comm_dup, CKPT_LOWER(comm));
    if (code == MPI_SUCCESS) {
        code = adopt(&fresh, comm, "MPI_Comm_dup", CKPT_SITE, new_comm);
    }
    if (code == MPI_SUCCESS) {
        ckpt_hints_inherit(comm, *new_comm);
    }
    return finish_dup(code, comm, new_comm, "MPI_Comm_dup");
}
CKPT_ALIAS(Comm_dup);

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *new_comm)
{
    REQUIRE(comm, "MPI_Comm_dup_with_info");
    CKPT_REQUIRE(new_comm != NULL, comm, MPI_ERR_ARG, "MPI_Comm_dup_with_info");
    CKPT_REQUIRE(info != NULL, comm, MPI_ERR_INFO, "MPI_Comm_dup_with_info");
    struct ckpt_new_communicator fresh;
    int code;

    MAKE(code, fresh, comm, Comm_dup_with_info, CKPT_LOWER(comm),
         CKPT_LOWER(info));
    if (code == MPI_SUCCESS) {
        code = adopt(&fresh, comm, "MPI_Comm_dup_with_info", CKPT_SITE, new_comm);
    }
    if (code == MPI_SUCCESS) {
        ckpt_hints_note(*new_comm);
    }
    return finish_dup(code, comm, new_comm, "MPI_Comm_dup_with_info");
}
CKPT_ALIAS(Comm_dup_with_info);

/* Begins the duplication. A library before MPI 4.0 does not get the hints here. */
static int begin_idup(const struct ckpt_nonblocking *call, MPI_Request *request)
{
    const MPI_Comm from = CKPT_LOWER(call->communicator);
    MPI_Comm *to = (MPI_Comm *)&call->twin->handle.lower;
    int code = MPI_ERR_UNSUPPORTED_OPERATION;
    MPI_Info info;

    CKPT_INVARIANT(call->twin->id != call->communicator->id);
    if (call->twin->hints != NULL &&
        ckpt_hints_info(call->twin, &info) == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Comm_idup_with_info)(from, info, to, request);
        (void)CKPT_FUNCTION(Info_free)(&info);
    }
    if (code == MPI_ERR_UNSUPPORTED_OPERATION) {
        code = CKPT_FUNCTION(Comm_idup)(from, to, request);
    }
    return code == MPI_SUCCESS
               ? ckpt_channels_begin(call->communicator, call->twin)
               : code;
}

/* Makes the object at once; the lower half sets its handle later. */
static int duplicate_nonblocking(MPI_Comm comm, MPI_Info info,
                                 MPI_Comm *new_comm, MPI_Request *request,
                                 const char *name, void *site)
{
    struct ckpt_nonblocking call = {
        .begin = begin_idup, .communicator = comm};
    int code;

    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM, name);
    CKPT_REQUIRE(new_comm != NULL && request != NULL, comm, MPI_ERR_ARG, name);
    ckpt_begin();
    call.twin = ckpt_communicator_twin(comm, name, site);
    code = call.twin == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (code == MPI_SUCCESS && info != NULL) {
        code = ckpt_hints_expect(call.twin, info);
    }
    *new_comm = call.twin;
    code = finish_dup(code, comm, new_comm, name);
    if (code != MPI_SUCCESS) {
        return code;
    }
    return ckpt_nonblocking_start(&call, request, name, site);
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *new_comm, MPI_Request *request)
{
    return duplicate_nonblocking(comm, NULL, new_comm, request, "MPI_Comm_idup",
                                 CKPT_SITE);
}
CKPT_ALIAS(Comm_idup);

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *new_comm,
                             MPI_Request *request)
{
    CKPT_REQUIRE(info != NULL, comm, MPI_ERR_INFO, "MPI_Comm_idup_with_info");
    return duplicate_nonblocking(comm, info, new_comm, request,
                                 "MPI_Comm_idup_with_info", CKPT_SITE);
}
CKPT_ALIAS(Comm_idup_with_info);

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *new_comm)
{
    REQUIRE(comm, "MPI_Comm_create");
    CKPT_REQUIRE(new_comm != NULL, comm, MPI_ERR_ARG, "MPI_Comm_create");
    struct ckpt_new_communicator fresh;
    int code;

    MAKE(code, fresh, comm, Comm_create, CKPT_LOWER(comm), CKPT_LOWER(group));
    if (code == MPI_SUCCESS) {
        code = adopt(&fresh, comm, "MPI_Comm_create", CKPT_SITE, new_comm);
    }
    CKPT_RETURN(comm, code, "MPI_Comm_create");
}
CKPT_ALIAS(Comm_create);

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *new_comm)
{
    REQUIRE(comm, "MPI_Comm_split");
    CKPT_REQUIRE(new_comm != NULL, comm, MPI_ERR_ARG, "MPI_Comm_split");
    struct ckpt_new_communicator fresh;
    int code;

    MAKE(code, fresh, comm, Comm_split, CKPT_LOWER(comm), color, key);
    if (code == MPI_SUCCESS) {
        code = adopt(&fresh, comm, "MPI_Comm_split", CKPT_SITE, new_comm);
    }
    CKPT_RETURN(comm, code, "MPI_Comm_split");
}
CKPT_ALIAS(Comm_split);

int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                         MPI_Comm *new_comm)
{
    REQUIRE(comm, "MPI_Comm_split_type");
    CKPT_REQUIRE(new_comm != NULL, comm, MPI_ERR_ARG, "MPI_Comm_split_type");
    struct ckpt_new_communicator fresh;
    int code;

    MAKE(code, fresh, comm, Comm_split_type, CKPT_LOWER(comm), type, key,
         CKPT_LOWER(info));
    if (code == MPI_SUCCESS) {
        code = adopt(&fresh, comm, "MPI_Comm_split_type", CKPT_SITE, new_comm);
    }
    CKPT_RETURN(comm, code, "MPI_Comm_split_type");
}
CKPT_ALIAS(Comm_split_type);

/* A call that is collective over only some members has no clock: the checkpoint waits
 * for a rank inside it (CKPT_STATE_CRITICAL in the lower half). */
#define MAKE_UNCLOCKED(code, fresh, name, ...)                     \
    do {                                                           \
        uintptr_t upper_;                                          \
        ckpt_begin();                                              \
        ckpt_let_others();                                         \
        upper_ = ckpt_enter_to_wait();                             \
        (code) = CKPT_FUNCTION(name)(__VA_ARGS__, &(fresh).lower); \
        if ((code) == MPI_SUCCESS) {                               \
            (code) = ckpt_communicator_agree(&(fresh));            \
        }                                                          \
        ckpt_leave(upper_);                                        \
    } while (0)

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag,
                           MPI_Comm *new_comm)
{
    REQUIRE(comm, "MPI_Comm_create_group");
    CKPT_REQUIRE(new_comm != NULL, comm, MPI_ERR_ARG, "MPI_Comm_create_group");
    struct ckpt_new_communicator fresh;
    int code;

    MAKE_UNCLOCKED(code, fresh, Comm_create_group, CKPT_LOWER(comm),
                   CKPT_LOWER(group), tag);
    if (code == MPI_SUCCESS) {
        code = adopt(&fresh, comm, "MPI_Comm_create_group", CKPT_SITE, new_comm);
    }
    CKPT_RETURN(comm, code, "MPI_Comm_create_group");
}
CKPT_ALIAS(Comm_create_group);

int PMPI_Intercomm_create(MPI_Comm local, int local_leader, MPI_Comm peer,
                          int remote_leader, int tag, MPI_Comm *new_comm)
{
    struct ckpt_new_communicator fresh;
    int code;

    REQUIRE(local, "MPI_Intercomm_create");
    if (local->rank != local_leader) {
        peer = MPI_COMM_NULL; /* ignored on other ranks; may be invalid */
    }
    MAKE_UNCLOCKED(code, fresh, Intercomm_create, CKPT_LOWER(local),
                   local_leader, CKPT_LOWER(peer), remote_leader, tag);
    if (code == MPI_SUCCESS) {
        code = adopt(&fresh, local, "MPI_Intercomm_create", CKPT_SITE, new_comm);
    }
    CKPT_RETURN(local, code, "MPI_Intercomm_create");
}
CKPT_ALIAS(Intercomm_create);

int PMPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *new_comm)
{
    struct ckpt_new_communicator fresh;
    int code;

    REQUIRE(comm, "MPI_Intercomm_merge");
    MAKE(code, fresh, comm, Intercomm_merge, CKPT_LOWER(comm), high);
    if (code == MPI_SUCCESS) {
        code = adopt(&fresh, comm, "MPI_Intercomm_merge", CKPT_SITE, new_comm);
    }
    CKPT_RETURN(comm, code, "MPI_Intercomm_merge");
}
CKPT_ALIAS(Intercomm_merge);

/* The result of MPI_Comm_get_parent: the same handle in every call. */
static MPI_Comm parent_known;

static int free_communicator(MPI_Comm *comm_p, const char *name)
{
    MPI_Comm comm = *comm_p;
    int code;

    REQUIRE(comm, name);
    if (comm->handle.flags & CKPT_HANDLE_PREDEFINED) {
        return ckpt_error(comm, MPI_ERR_COMM, name);
    }
    code = ckpt_attributes_delete(&comm->handle);
    if (code != MPI_SUCCESS) {
        return ckpt_error(comm, code, name);
    }
    if (comm == parent_known) {
        parent_known = NULL; /* the library forgets it, too */
    }
    ckpt_begin();
    ckpt_release(comm);
    *comm_p = MPI_COMM_NULL;
    ckpt_end();
    return MPI_SUCCESS;
}

int PMPI_Comm_free(MPI_Comm *comm)
{
    return free_communicator(comm, "MPI_Comm_free");
}
CKPT_ALIAS(Comm_free);

int PMPI_Comm_disconnect(MPI_Comm *comm_p)
{
    MPI_Comm comm = *comm_p;
    int code;

    REQUIRE(comm, "MPI_Comm_disconnect");
    ckpt_begin();
    ckpt_nonblocking_disconnect(comm);
    CKPT_CALL(code, Comm_disconnect, (MPI_Comm *)&comm->handle.lower);
    if (code != MPI_SUCCESS) {
        CKPT_RETURN(comm, code, "MPI_Comm_disconnect");
    }
    comm->handle.lower = NULL; /* so free_communicator frees nothing below */
    ckpt_end();
    return free_communicator(comm_p, "MPI_Comm_disconnect");
}
CKPT_ALIAS(Comm_disconnect);

/* Queries that the upper half can answer do not cross. */

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    CKPT_INSIDE("MPI_Comm_rank");
    REQUIRE(comm, "MPI_Comm_rank");
    CKPT_REQUIRE(rank != NULL, comm, MPI_ERR_ARG, "MPI_Comm_rank");
    *rank = comm->rank;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Comm_rank);

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    CKPT_INSIDE("MPI_Comm_size");
    REQUIRE(comm, "MPI_Comm_size");
    CKPT_REQUIRE(size != NULL, comm, MPI_ERR_ARG, "MPI_Comm_size");
    *size = comm->size;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Comm_size);

int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    CKPT_INSIDE("MPI_Comm_remote_size");
    REQUIRE(comm, "MPI_Comm_remote_size");
    CKPT_REQUIRE(size != NULL, comm, MPI_ERR_ARG, "MPI_Comm_remote_size");
    int code;

    if (comm->inter) {
        *size = comm->peers;
        return MPI_SUCCESS;
    }
    ckpt_begin(); /* erroneous: each library answers differently */
    CKPT_CALL(code, Comm_remote_size, CKPT_LOWER(comm), size);
    CKPT_RETURN(comm, code, "MPI_Comm_remote_size");
}
CKPT_ALIAS(Comm_remote_size);

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    CKPT_INSIDE("MPI_Comm_test_inter");
    REQUIRE(comm, "MPI_Comm_test_inter");
    CKPT_REQUIRE(flag != NULL, comm, MPI_ERR_ARG, "MPI_Comm_test_inter");
    *flag = comm->inter;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Comm_test_inter);

int PMPI_Comm_compare(MPI_Comm first, MPI_Comm second, int *result)
{
    int code;

    REQUIRE(first, "MPI_Comm_compare");
    REQUIRE(second, "MPI_Comm_compare");
    ckpt_begin();
    CKPT_CALL(code, Comm_compare, CKPT_LOWER(first), CKPT_LOWER(second), result);
    CKPT_RETURN(first, code, "MPI_Comm_compare");
}
CKPT_ALIAS(Comm_compare);

static int group_of(MPI_Comm comm, int remote, MPI_Group *group, const char *name,
                    void *site)
{
    MPI_Group lower = NULL;
    int code;

    REQUIRE(comm, name);
    ckpt_begin();
    if (remote) {
        CKPT_CALL(code, Comm_remote_group, CKPT_LOWER(comm), &lower);
    } else {
        CKPT_CALL(code, Comm_group, CKPT_LOWER(comm), &lower);
    }
    if (code == MPI_SUCCESS) {
        *group = ckpt_adopt(CKPT_GROUP, lower, name, site);
    }
    CKPT_RETURN(comm, code, name);
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Comm_group");
    CKPT_REQUIRE(group != NULL, comm, MPI_ERR_ARG, "MPI_Comm_group");
    return group_of(comm, 0, group, "MPI_Comm_group", CKPT_SITE);
}
CKPT_ALIAS(Comm_group);

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Comm_remote_group");
    CKPT_REQUIRE(group != NULL, comm, MPI_ERR_ARG, "MPI_Comm_remote_group");
    return group_of(comm, 1, group, "MPI_Comm_remote_group", CKPT_SITE);
}
CKPT_ALIAS(Comm_remote_group);

/* Dynamic processes (MPI 3.1, chapter 10): their communicators work, but the job cannot
 * be checkpointed while they exist. */

static int adopt_foreign(MPI_Comm lower, const char *creator, void *site,
                         MPI_Comm *comm_p)
{
    const struct ckpt_new_communicator fresh = {.lower = lower, .id = 0};
    int code;

    if (lower != CKPT_LOWER(MPI_COMM_NULL)) {
        CKPT_CALL(code, Comm_set_errhandler, lower,
                  CKPT_LOWER(MPI_ERRORS_RETURN));
        (void)code;
    }
    return adopt(&fresh, NULL, creator, site, comm_p);
}

int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    CKPT_REQUIRE(parent != NULL, NULL, MPI_ERR_ARG, "MPI_Comm_get_parent");
    MPI_Comm lower = NULL;
    int code;

    if (parent_known != NULL) {
        *parent = parent_known;
        return MPI_SUCCESS;
    }
    ckpt_begin();
    CKPT_CALL(code, Comm_get_parent, &lower);
    if (code == MPI_SUCCESS) {
        code = adopt_foreign(lower, "MPI_Comm_get_parent", CKPT_SITE, parent);
    }
    if (code == MPI_SUCCESS) {
        parent_known = *parent;
    }
    CKPT_RETURN(NULL, code, "MPI_Comm_get_parent");
}
CKPT_ALIAS(Comm_get_parent);

/* The root's hints; on other ranks the argument may be invalid. */
static MPI_Info of_root(MPI_Comm comm, int root, MPI_Info info)
{
    return comm->rank == root ? info : MPI_INFO_NULL;
}

int PMPI_Comm_spawn(const char *command, char *argv[], int count, MPI_Info info,
                    int root, MPI_Comm comm, MPI_Comm *inter, int errors[])
{
    MPI_Comm lower = NULL;
    int code;

    REQUIRE(comm, "MPI_Comm_spawn");
    info = of_root(comm, root, info);
    ckpt_begin();
    CKPT_CALL(code, Comm_spawn, command, argv, count, CKPT_LOWER(info), root,
              CKPT_LOWER(comm), &lower, errors);
    if (code == MPI_SUCCESS) {
        code = adopt_foreign(lower, "MPI_Comm_spawn", CKPT_SITE, inter);
    }
    CKPT_RETURN(comm, code, "MPI_Comm_spawn");
}
CKPT_ALIAS(Comm_spawn);

int PMPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[],
                             const int counts[], const MPI_Info infos[],
                             int root, MPI_Comm comm, MPI_Comm *inter,
                             int errors[])
{
    void *few[16], **lower_infos;
    MPI_Comm lower = NULL;
    int code, infos_given; /* only the root's infos count */

    REQUIRE(comm, "MPI_Comm_spawn_multiple");
    ckpt_begin();
    infos_given = comm->rank == root ? count : 0;
    lower_infos = ckpt_translate(infos_given, (void *const *)infos, few, 16);
    if (lower_infos == NULL) {
        CKPT_RETURN(comm, MPI_ERR_NO_MEM, "MPI_Comm_spawn_multiple");
    }
    CKPT_CALL(code, Comm_spawn_multiple, count, commands, argvs, counts,
              (MPI_Info *)lower_infos, root, CKPT_LOWER(comm), &lower, errors);
    ckpt_translated_done(infos_given, lower_infos, few);
    if (code == MPI_SUCCESS) {
        code = adopt_foreign(lower, "MPI_Comm_spawn_multiple", CKPT_SITE, inter);
    }
    CKPT_RETURN(comm, code, "MPI_Comm_spawn_multiple");
}
CKPT_ALIAS(Comm_spawn_multiple);

static int rendezvous(int accept, const char *port, MPI_Info info, int root,
                      MPI_Comm comm, MPI_Comm *new_comm, const char *name,
                      void *site)
{
    MPI_Comm lower = NULL;
    int code;

    REQUIRE(comm, name);
    info = of_root(comm, root, info);
    ckpt_begin();
    if (accept) {
        CKPT_CALL(code, Comm_accept, port, CKPT_LOWER(info), root,
                  CKPT_LOWER(comm), &lower);
    } else {
        CKPT_CALL(code, Comm_connect, port, CKPT_LOWER(info), root,
                  CKPT_LOWER(comm), &lower);
    }
    if (code == MPI_SUCCESS) {
        code = adopt_foreign(lower, name, site, new_comm);
    }
    CKPT_RETURN(comm, code, name);
}

int PMPI_Comm_accept(const char *port, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm *new_comm)
{
    return rendezvous(1, port, info, root, comm, new_comm, "MPI_Comm_accept",
                      CKPT_SITE);
}
CKPT_ALIAS(Comm_accept);

int PMPI_Comm_connect(const char *port, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm *new_comm)
{
    return rendezvous(0, port, info, root, comm, new_comm, "MPI_Comm_connect",
                      CKPT_SITE);
}
CKPT_ALIAS(Comm_connect);

int PMPI_Comm_join(int fd, MPI_Comm *new_comm)
{
    MPI_Comm lower = NULL;
    int code;

    ckpt_begin();
    CKPT_CALL(code, Comm_join, fd, &lower);
    if (code == MPI_SUCCESS) {
        code = adopt_foreign(lower, "MPI_Comm_join", CKPT_SITE, new_comm);
    }
    CKPT_RETURN(NULL, code, "MPI_Comm_join");
}
CKPT_ALIAS(Comm_join);

/* Names and hints. */

static int set_name(struct ckpt_handle *handle, const char *name)
{
    char *copy = strndup(name, MPI_MAX_OBJECT_NAME - 1);

    if (copy == NULL) {
        return MPI_ERR_NO_MEM;
    }
    ckpt_guard();
    free(handle->name);
    handle->name = copy;
    ckpt_unguard();
    return MPI_SUCCESS;
}

static void get_name(const struct ckpt_handle *handle, const char *standard,
                     char *name, int *length)
{
    ckpt_guard();
    strcpy(name, handle->name != NULL ? handle->name : standard);
    ckpt_unguard();
    *length = (int)strlen(name);
}

int PMPI_Comm_set_name(MPI_Comm comm, const char *name)
{
    CKPT_INSIDE("MPI_Comm_set_name");
    REQUIRE(comm, "MPI_Comm_set_name");
    CKPT_REQUIRE(name != NULL, comm, MPI_ERR_ARG, "MPI_Comm_set_name");
    int code;

    code = set_name(&comm->handle, name);
    return code == MPI_SUCCESS ? code : ckpt_error(comm, code, "MPI_Comm_set_name");
}
CKPT_ALIAS(Comm_set_name);

int PMPI_Comm_get_name(MPI_Comm comm, char *name, int *length)
{
    CKPT_INSIDE("MPI_Comm_get_name");
    REQUIRE(comm, "MPI_Comm_get_name");
    CKPT_REQUIRE(name != NULL && length != NULL, comm, MPI_ERR_ARG,
                 "MPI_Comm_get_name");
    const char *standard = comm == MPI_COMM_WORLD  ? "MPI_COMM_WORLD"
                           : comm == MPI_COMM_SELF ? "MPI_COMM_SELF"
                                                   : "";

    if (comm == MPI_COMM_NULL) {
        strcpy(name, "MPI_COMM_NULL");
        *length = (int)strlen(name);
        return MPI_SUCCESS;
    }
    get_name(&comm->handle, standard, name, length);
    return MPI_SUCCESS;
}
CKPT_ALIAS(Comm_get_name);

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    int code;

    REQUIRE(comm, "MPI_Comm_set_info");
    ckpt_begin();
    CKPT_CALL(code, Comm_set_info, CKPT_LOWER(comm), CKPT_LOWER(info));
    if (code == MPI_SUCCESS) {
        ckpt_hints_note(comm);
    }
    CKPT_RETURN(comm, code, "MPI_Comm_set_info");
}
CKPT_ALIAS(Comm_set_info);

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info)
{
    REQUIRE(comm, "MPI_Comm_get_info");
    CKPT_REQUIRE(info != NULL, comm, MPI_ERR_INFO, "MPI_Comm_get_info");
    MPI_Info lower = NULL;
    int code;

    ckpt_begin();
    CKPT_CALL(code, Comm_get_info, CKPT_LOWER(comm), &lower);
    if (code == MPI_SUCCESS) {
        *info = ckpt_adopt(CKPT_INFO, lower, "MPI_Comm_get_info", CKPT_SITE);
    }
    CKPT_RETURN(comm, code, "MPI_Comm_get_info");
}
CKPT_ALIAS(Comm_get_info);
