/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c - sessions, and groups from their process sets (MPI 4.0, sections
 * 11.3 and 7.3.2).
 */
#include "handles/session.h"

#include "base/invariant.h"
#include "handles/communicator.h"
#include "handles/kinds.h"
#include "handles/wrapper.h"
#include "wrap/init.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The process sets that every MPI has. */
static const char *const process_sets[] = {"mpi://WORLD", "mpi://SELF"};
_Static_assert(COUNT(process_sets) == 2, "members_of() knows each");

static const struct {
    const char *name;
    int level;
} levels[] = {
    {"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
    {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
    {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
    {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE},
};

#define REQUIRE(session, name) \
    CKPT_REQUIRE(ckpt_session_valid(session), NULL, MPI_ERR_SESSION, (name))

/* Returns the thread level that the info asks for. */
static int wanted_level(MPI_Info info)
{
    char value[64] = "";
    int length = sizeof(value), flag = 0;

    if (info == NULL || info == MPI_INFO_NULL ||
        PMPI_Info_get_string(info, "thread_level", &length, value, &flag) !=
            MPI_SUCCESS ||
        !flag) {
        return MPI_THREAD_SINGLE;
    }
    for (int i = 0; i < COUNT(levels); i++) {
        if (strcmp(levels[i].name, value) == 0) {
            return levels[i].level;
        }
    }
    return MPI_THREAD_SINGLE;
}

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
                      MPI_Session *session_p)
{
    MPI_Session session;

    if (session_p == NULL || errhandler == NULL) {
        return MPI_ERR_ARG; /* no object, and maybe no MPI, to report it to */
    }
    ckpt_init_session(wanted_level(info));
    ckpt_begin();
    session = ckpt_handle_create(CKPT_SESSION, sizeof(*session), NULL,
                                 "MPI_Session_init", CKPT_SITE);
    if (session != NULL) {
        session->errhandler = errhandler == MPI_ERRHANDLER_NULL
                                  ? MPI_ERRORS_ARE_FATAL
                                  : errhandler;
        ckpt_retain(session->errhandler);
        *session_p = session;
    }
    CKPT_RETURN(NULL, session == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS,
                "MPI_Session_init");
}
CKPT_ALIAS(Session_init);

int PMPI_Session_finalize(MPI_Session *session)
{
    CKPT_REQUIRE(session != NULL, NULL, MPI_ERR_ARG, "MPI_Session_finalize");
    REQUIRE(*session, "MPI_Session_finalize");
    ckpt_begin();
    CKPT_INVARIANT((*session)->handle.references == 1); /* nothing else retains a session */
    ckpt_drop((*session)->errhandler);
    ckpt_release(*session);
    *session = MPI_SESSION_NULL;
    CKPT_RETURN(NULL, MPI_SUCCESS, "MPI_Session_finalize");
}
CKPT_ALIAS(Session_finalize);

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *count)
{
    (void)info;
    REQUIRE(session, "MPI_Session_get_num_psets");
    CKPT_REQUIRE(count != NULL, session, MPI_ERR_ARG,
                 "MPI_Session_get_num_psets");
    *count = COUNT(process_sets);
    return MPI_SUCCESS;
}
CKPT_ALIAS(Session_get_num_psets);

int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n,
                              int *length, char *name)
{
    static const char function[] = "MPI_Session_get_nth_pset";

    (void)info;
    REQUIRE(session, function);
    CKPT_REQUIRE(n >= 0 && n < COUNT(process_sets) && length != NULL, session,
                 MPI_ERR_ARG, function);
    CKPT_REQUIRE(name != NULL || *length == 0, session, MPI_ERR_ARG, function);
    if (*length > 0) {
        snprintf(name, (size_t)*length, "%s", process_sets[n]);
    }
    *length = (int)strlen(process_sets[n]) + 1;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Session_get_nth_pset);

/* Returns the communicator with the members of a process set, or NULL. */
static MPI_Comm members_of(const char *name)
{
    if (strcasecmp(name, process_sets[0]) == 0) {
        return MPI_COMM_WORLD;
    }
    return strcasecmp(name, process_sets[1]) == 0 ? MPI_COMM_SELF : NULL;
}

/* Makes an info with one key. */
static int make_info(const char *key, const char *value, MPI_Info *info,
                     const char *function, void *site)
{
    MPI_Info lower = NULL;
    int code;

    CKPT_CALL(code, Info_create, &lower);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Info_set, lower, key, value);
    }
    if (code == MPI_SUCCESS) {
        *info = ckpt_adopt(CKPT_INFO, lower, function, site);
    }
    return code;
}

int PMPI_Session_get_pset_info(MPI_Session session, const char *name,
                               MPI_Info *info)
{
    static const char function[] = "MPI_Session_get_pset_info";
    MPI_Comm members;
    char size[16];
    int code;

    REQUIRE(session, function);
    CKPT_REQUIRE(name != NULL && info != NULL, session, MPI_ERR_ARG, function);
    members = members_of(name);
    CKPT_REQUIRE(members != NULL, session, MPI_ERR_ARG, function);
    snprintf(size, sizeof(size), "%d", members->size);
    ckpt_begin();
    code = make_info(MPI_INFO_KEY_SESSION_PSET_SIZE, size, info, function,
                     CKPT_SITE);
    CKPT_RETURN(session, code, function);
}
CKPT_ALIAS(Session_get_pset_info);

int PMPI_Session_get_info(MPI_Session session, MPI_Info *info)
{
    static const char function[] = "MPI_Session_get_info";
    const char *level = levels[0].name;
    int provided = MPI_THREAD_SINGLE, code;

    REQUIRE(session, function);
    CKPT_REQUIRE(info != NULL, session, MPI_ERR_ARG, function);
    (void)PMPI_Query_thread(&provided);
    for (int i = 0; i < COUNT(levels); i++) {
        level = levels[i].level == provided ? levels[i].name : level;
    }
    ckpt_begin();
    code = make_info("thread_level", level, info, function, CKPT_SITE);
    CKPT_RETURN(session, code, function);
}
CKPT_ALIAS(Session_get_info);

/* The hints are accepted and ignored. */
int PMPI_Session_set_info(MPI_Session session, MPI_Info info)
{
    REQUIRE(session, "MPI_Session_set_info");
    CKPT_REQUIRE(info != NULL && info != MPI_INFO_NULL, session, MPI_ERR_INFO,
                 "MPI_Session_set_info");
    return MPI_SUCCESS;
}
CKPT_ALIAS(Session_set_info);

int PMPI_Group_from_session_pset(MPI_Session session, const char *name,
                                 MPI_Group *group)
{
    static const char function[] = "MPI_Group_from_session_pset";
    MPI_Group lower = NULL;
    MPI_Comm members;
    int code;

    REQUIRE(session, function);
    CKPT_REQUIRE(name != NULL && group != NULL, session, MPI_ERR_ARG, function);
    members = members_of(name);
    CKPT_REQUIRE(members != NULL, session, MPI_ERR_ARG, function);
    ckpt_begin();
    CKPT_CALL(code, Comm_group, CKPT_LOWER(members), &lower);
    if (code == MPI_SUCCESS) {
        *group = ckpt_adopt(CKPT_GROUP, lower, function, CKPT_SITE);
    }
    CKPT_RETURN(session, code, function);
}
CKPT_ALIAS(Group_from_session_pset);
