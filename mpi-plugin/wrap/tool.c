/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tool.c - the functions of the tool information interface that use handles (MPI 3.1,
 * section 14.3). They are allowed before MPI_Init; their errors do not call an error
 * handler.
 */
#include "handles/recipes/tool.h"

#include "base/invariant.h"
#include "handles/wrapper.h"
#include "runtime/runtime.h"
#include "wrap/support.h"

/* Runs a lower-half call and ends the function with its code. */
#define FORWARD(name, ...)                   \
    do {                                     \
        int code_;                           \
        ckpt_begin();                        \
        CKPT_CALL(code_, name, __VA_ARGS__); \
        ckpt_end();                          \
        return code_;                        \
    } while (0)

#define REQUIRE(condition, code) \
    do {                         \
        if (!(condition)) {      \
            return (code);       \
        }                        \
    } while (0)

#define REQUIRE_OPEN() \
    REQUIRE(ckpt_tool_is_open(), MPI_T_ERR_NOT_INITIALIZED)

static void *lower_of(const void *handle)
{
    return handle != NULL ? ((const struct ckpt_tool *)handle)->lower : NULL;
}

int PMPI_T_init_thread(int required, int *provided)
{
    int code;

    REQUIRE(ckpt_runtime_phase() != CKPT_RUNTIME_FINALIZED, MPI_T_ERR_CANNOT_INIT);
    ckpt_runtime_need_library();
    ckpt_begin();
    CKPT_CALL(code, T_init_thread, required, provided);
    if (code == MPI_SUCCESS) {
        ckpt_tool_opened();
    }
    ckpt_end();
    return code;
}
CKPT_ALIAS(T_init_thread);

int PMPI_T_finalize(void)
{
    int code;

    REQUIRE_OPEN();
    ckpt_begin();
    CKPT_CALL(code, T_finalize);
    if (code == MPI_SUCCESS) {
        ckpt_tool_closed();
    }
    ckpt_end();
    return code;
}
CKPT_ALIAS(T_finalize);

/* ---- Control variables ---------------------------------------------------- */

int PMPI_T_cvar_get_info(int index, char *name, int *name_len, int *verbosity,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc,
                         int *desc_len, int *bind, int *scope)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum choices = MPI_T_ENUM_NULL;
    int code;

    REQUIRE_OPEN();
    ckpt_begin();
    CKPT_CALL(code, T_cvar_get_info, index, name, name_len, verbosity,
              CKPT_UNLESS_NULL(datatype, &type),
              CKPT_UNLESS_NULL(enumtype, &choices), desc, desc_len, bind, scope);
    if (code == MPI_SUCCESS && datatype != NULL) {
        *datatype = ckpt_adopt(CKPT_DATATYPE, type, "MPI_T_cvar_get_info", CKPT_SITE);
    }
    if (code == MPI_SUCCESS && enumtype != NULL) {
        *enumtype = ckpt_tool_enum(CKPT_TOOL_CVAR_ENUM, choices, index);
    }
    ckpt_end();
    return code;
}
CKPT_ALIAS(T_cvar_get_info);

/* Keeps a handle if the library made it. Returns MPI_SUCCESS or MPI_T_ERR_*. */
static int keep(int code, enum ckpt_tool_kind kind, void *lower, int index,
                void *bound, struct ckpt_tool *session, void *handle_p)
{
    struct ckpt_tool *tool;

    if (code != MPI_SUCCESS) {
        return code;
    }
    tool = ckpt_tool_keep(kind, lower, index);
    if (tool == NULL) {
        return MPI_T_ERR_OUT_OF_HANDLES;
    }
    if (bound != NULL) {
        ckpt_retain(bound);
        tool->bound = bound;
    }
    CKPT_INVARIANT((session != NULL) == (kind == CKPT_TOOL_PVAR)); /* see ckpt_tool_rebuild() */
    tool->session = session;
    *(void **)handle_p = tool;
    return MPI_SUCCESS;
}

int PMPI_T_cvar_handle_alloc(int index, void *object, MPI_T_cvar_handle *handle,
                             int *count)
{
    void *lower = NULL, *bound, *lower_object;
    int code;

    REQUIRE_OPEN();
    ckpt_begin();
    bound = object != NULL && ckpt_tool_cvar_bound(index) ? *(void **)object : NULL;
    lower_object = CKPT_LOWER(bound);
    CKPT_CALL(code, T_cvar_handle_alloc, index, bound ? &lower_object : object,
              (MPI_T_cvar_handle *)CKPT_UNLESS_NULL(handle, &lower), count);
    code = keep(code, CKPT_TOOL_CVAR, lower, index, bound, NULL, handle);
    ckpt_end();
    return code;
}
CKPT_ALIAS(T_cvar_handle_alloc);

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    MPI_T_cvar_handle lower;
    int code;

    REQUIRE_OPEN();
    REQUIRE(handle != NULL && *handle != MPI_T_CVAR_HANDLE_NULL,
            MPI_T_ERR_INVALID_HANDLE);
    ckpt_begin();
    lower = lower_of(*handle);
    CKPT_CALL(code, T_cvar_handle_free, &lower);
    if (code == MPI_SUCCESS) {
        ckpt_tool_forget((void *)*handle);
        *handle = MPI_T_CVAR_HANDLE_NULL;
    }
    ckpt_end();
    return code;
}
CKPT_ALIAS(T_cvar_handle_free);

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *value)
{
    REQUIRE_OPEN();
    REQUIRE(handle != MPI_T_CVAR_HANDLE_NULL, MPI_T_ERR_INVALID_HANDLE);
    FORWARD(T_cvar_read, lower_of(handle), value);
}
CKPT_ALIAS(T_cvar_read);

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *value)
{
    REQUIRE_OPEN();
    REQUIRE(handle != MPI_T_CVAR_HANDLE_NULL, MPI_T_ERR_INVALID_HANDLE);
    FORWARD(T_cvar_write, lower_of(handle), value);
}
CKPT_ALIAS(T_cvar_write);

/* ---- Enumerations --------------------------------------------------------- */

int PMPI_T_enum_get_info(MPI_T_enum choices, int *count, char *name, int *name_len)
{
    REQUIRE_OPEN();
    REQUIRE(choices != MPI_T_ENUM_NULL, MPI_T_ERR_INVALID_HANDLE);
    FORWARD(T_enum_get_info, lower_of(choices), count, name, name_len);
}
CKPT_ALIAS(T_enum_get_info);

int PMPI_T_enum_get_item(MPI_T_enum choices, int index, int *value, char *name,
                         int *name_len)
{
    REQUIRE_OPEN();
    REQUIRE(choices != MPI_T_ENUM_NULL, MPI_T_ERR_INVALID_HANDLE);
    FORWARD(T_enum_get_item, lower_of(choices), index, value, name, name_len);
}
CKPT_ALIAS(T_enum_get_item);

/* ---- Performance variables ------------------------------------------------ */

int PMPI_T_pvar_get_info(int index, char *name, int *name_len, int *verbosity,
                         int *var_class, MPI_Datatype *datatype,
                         MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind,
                         int *readonly, int *continuous, int *atomic)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum choices = MPI_T_ENUM_NULL;
    int code;

    REQUIRE_OPEN();
    ckpt_begin();
    CKPT_CALL(code, T_pvar_get_info, index, name, name_len, verbosity, var_class,
              CKPT_UNLESS_NULL(datatype, &type),
              CKPT_UNLESS_NULL(enumtype, &choices), desc, desc_len, bind, readonly,
              continuous, atomic);
    if (code == MPI_SUCCESS && datatype != NULL) {
        *datatype = ckpt_adopt(CKPT_DATATYPE, type, "MPI_T_pvar_get_info", CKPT_SITE);
    }
    if (code == MPI_SUCCESS && enumtype != NULL) {
        *enumtype = ckpt_tool_enum(CKPT_TOOL_PVAR_ENUM, choices, index);
    }
    ckpt_end();
    return code;
}
CKPT_ALIAS(T_pvar_get_info);

int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    void *lower = NULL;
    int code;

    REQUIRE_OPEN();
    ckpt_begin();
    CKPT_CALL(code, T_pvar_session_create,
              (MPI_T_pvar_session *)CKPT_UNLESS_NULL(session, &lower));
    code = keep(code, CKPT_TOOL_SESSION, lower, 0, NULL, NULL, session);
    ckpt_end();
    return code;
}
CKPT_ALIAS(T_pvar_session_create);

int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    MPI_T_pvar_session lower;
    int code;

    REQUIRE_OPEN();
    REQUIRE(session != NULL && *session != MPI_T_PVAR_SESSION_NULL,
            MPI_T_ERR_INVALID_SESSION);
    ckpt_begin();
    lower = lower_of(*session);
    CKPT_CALL(code, T_pvar_session_free, &lower);
    if (code == MPI_SUCCESS) {
        ckpt_tool_forget((void *)*session);
        *session = MPI_T_PVAR_SESSION_NULL;
    }
    ckpt_end();
    return code;
}
CKPT_ALIAS(T_pvar_session_free);

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object,
                             MPI_T_pvar_handle *handle, int *count)
{
    void *lower = NULL, *bound, *lower_object;
    int code;

    REQUIRE_OPEN();
    REQUIRE(session != MPI_T_PVAR_SESSION_NULL, MPI_T_ERR_INVALID_SESSION);
    ckpt_begin();
    bound = object != NULL && ckpt_tool_pvar_bound(index) ? *(void **)object : NULL;
    lower_object = CKPT_LOWER(bound);
    CKPT_CALL(code, T_pvar_handle_alloc, lower_of(session), index,
              bound ? &lower_object : object,
              (MPI_T_pvar_handle *)CKPT_UNLESS_NULL(handle, &lower), count);
    code = keep(code, CKPT_TOOL_PVAR, lower, index, bound, (void *)session, handle);
    ckpt_end();
    return code;
}
CKPT_ALIAS(T_pvar_handle_alloc);

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    MPI_T_pvar_handle lower;
    int code;

    REQUIRE_OPEN();
    REQUIRE(handle != NULL && *handle != MPI_T_PVAR_HANDLE_NULL,
            MPI_T_ERR_INVALID_HANDLE);
    ckpt_begin();
    lower = lower_of(*handle);
    CKPT_CALL(code, T_pvar_handle_free, lower_of(session), &lower);
    if (code == MPI_SUCCESS) {
        ckpt_tool_forget((void *)*handle);
        *handle = MPI_T_PVAR_HANDLE_NULL;
    }
    ckpt_end();
    return code;
}
CKPT_ALIAS(T_pvar_handle_free);

/* The library checks whether a single handle belongs to the session. */
static int valid_session(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    REQUIRE_OPEN();
    REQUIRE(session != MPI_T_PVAR_SESSION_NULL ||
                handle != MPI_T_PVAR_ALL_HANDLES,
            MPI_T_ERR_INVALID_SESSION);
    REQUIRE(handle != MPI_T_PVAR_HANDLE_NULL, MPI_T_ERR_INVALID_HANDLE);
    return MPI_SUCCESS;
}

static MPI_T_pvar_handle lower_pvar(MPI_T_pvar_handle handle)
{
    return handle == MPI_T_PVAR_ALL_HANDLES ? handle : lower_of(handle);
}

/* Calls `name` for one handle or all of them; `running`: their state afterwards, or
 * -1. */
#define ON_VARIABLE(name, running, ...)                                                           \
    do {                                                                                          \
        int code_ = valid_session(session, handle);                                               \
        if (code_ != MPI_SUCCESS) {                                                               \
            return code_;                                                                         \
        }                                                                                         \
        ckpt_begin();                                                                             \
        CKPT_CALL(code_, name, lower_of(session), lower_pvar(handle) __VA_OPT__(, ) __VA_ARGS__); \
        if (code_ == MPI_SUCCESS && (running) >= 0) {                                             \
            ckpt_tool_run((void *)session, handle, (running));                                    \
        }                                                                                         \
        ckpt_end();                                                                               \
        return code_;                                                                             \
    } while (0)

int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    ON_VARIABLE(T_pvar_start, 1);
}
CKPT_ALIAS(T_pvar_start);

int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    ON_VARIABLE(T_pvar_stop, 0);
}
CKPT_ALIAS(T_pvar_stop);

int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    ON_VARIABLE(T_pvar_reset, -1);
}
CKPT_ALIAS(T_pvar_reset);

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                     void *value)
{
    ON_VARIABLE(T_pvar_read, -1, value);
}
CKPT_ALIAS(T_pvar_read);

int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                      const void *value)
{
    ON_VARIABLE(T_pvar_write, -1, value);
}
CKPT_ALIAS(T_pvar_write);

int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                          void *value)
{
    ON_VARIABLE(T_pvar_readreset, -1, value);
}
CKPT_ALIAS(T_pvar_readreset);
