/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tool.c - handles of the tool information interface, recorded for a restart.
 */
#include "handles/recipes/tool.h"

#include "base/invariant.h"
#include "handles/handles.h"
#include "runtime/crossing.h"

#include <stdlib.h>

static struct ckpt_tool *first; /* oldest */
static int open_count;

void ckpt_tool_opened(void)
{
    open_count++;
}

void ckpt_tool_closed(void)
{
    CKPT_INVARIANT(open_count > 0);
    if (--open_count > 0) {
        return;
    }
    while (first != NULL) {
        ckpt_tool_forget(first);
    }
}

int ckpt_tool_is_open(void)
{
    return open_count > 0;
}

static int is_pvar(enum ckpt_tool_kind kind)
{
    return kind == CKPT_TOOL_PVAR || kind == CKPT_TOOL_PVAR_ENUM;
}

/* Reads the name of a variable, and the class of a performance variable. */
static int describe(struct ckpt_tool *tool, int index)
{
    int code = MPI_SUCCESS, length = sizeof(tool->name);

    if (is_pvar(tool->kind)) {
        CKPT_CALL(code, T_pvar_get_info, index, tool->name, &length, NULL,
                  &tool->class, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    } else if (tool->kind != CKPT_TOOL_SESSION) {
        CKPT_CALL(code, T_cvar_get_info, index, tool->name, &length, NULL, NULL,
                  NULL, NULL, NULL, NULL, NULL);
    }
    return code;
}

struct ckpt_tool *ckpt_tool_keep(enum ckpt_tool_kind kind, void *lower, int index)
{
    struct ckpt_tool *tool = calloc(1, sizeof(*tool)), **end = &first;

    if (tool == NULL) {
        return NULL;
    }
    tool->kind = kind;
    tool->lower = lower;
    if (describe(tool, index) != MPI_SUCCESS) {
        free(tool);
        return NULL;
    }
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = tool;
    return tool;
}

void ckpt_tool_forget(struct ckpt_tool *tool)
{
    struct ckpt_tool **link = &first;

    while (*link != NULL) {
        struct ckpt_tool *here = *link;

        if (here != tool && here->session != tool) {
            link = &here->next;
            continue;
        }
        *link = here->next;
        if (here->bound != NULL) {
            ckpt_drop(here->bound);
        }
        if (here != tool) {
            free(here);
        }
    }
    free(tool);
}

int ckpt_tool_cvar_bound(int index)
{
    int code, bind = MPI_T_BIND_NO_OBJECT;

    CKPT_CALL(code, T_cvar_get_info, index, NULL, NULL, NULL, NULL, NULL, NULL,
              NULL, &bind, NULL);
    return code == MPI_SUCCESS && bind != MPI_T_BIND_NO_OBJECT;
}

int ckpt_tool_pvar_bound(int index)
{
    int code, bind = MPI_T_BIND_NO_OBJECT;

    CKPT_CALL(code, T_pvar_get_info, index, NULL, NULL, NULL, NULL, NULL, NULL,
              NULL, NULL, &bind, NULL, NULL, NULL);
    return code == MPI_SUCCESS && bind != MPI_T_BIND_NO_OBJECT;
}

MPI_T_enum ckpt_tool_enum(enum ckpt_tool_kind kind, MPI_T_enum lower, int index)
{
    struct ckpt_tool *tool = first;

    if (lower == MPI_T_ENUM_NULL) {
        return MPI_T_ENUM_NULL;
    }
    while (tool != NULL && (tool->kind != kind || tool->lower != lower)) {
        tool = tool->next;
    }
    return (MPI_T_enum)(tool != NULL ? tool : ckpt_tool_keep(kind, lower, index));
}

void ckpt_tool_run(struct ckpt_tool *session, MPI_T_pvar_handle handle, int running)
{
    for (struct ckpt_tool *tool = first; tool != NULL; tool = tool->next) {
        if (tool == (void *)handle ||
            (handle == MPI_T_PVAR_ALL_HANDLES && tool->session == session)) {
            tool->running = running;
        }
    }
}

static int rebuild_cvar(struct ckpt_tool *tool, int index)
{
    void *bound = tool->bound != NULL ? CKPT_LOWER(tool->bound) : NULL;
    int code, count;

    if (tool->kind == CKPT_TOOL_CVAR_ENUM) {
        CKPT_CALL(code, T_cvar_get_info, index, NULL, NULL, NULL, NULL,
                  (MPI_T_enum *)&tool->lower, NULL, NULL, NULL, NULL);
    } else {
        CKPT_CALL(code, T_cvar_handle_alloc, index, bound != NULL ? &bound : NULL,
                  (MPI_T_cvar_handle *)&tool->lower, &count);
    }
    return code;
}

static int rebuild_pvar(struct ckpt_tool *tool, int index)
{
    void *bound = tool->bound != NULL ? CKPT_LOWER(tool->bound) : NULL;
    int code, count, started;

    if (tool->kind == CKPT_TOOL_PVAR_ENUM) {
        CKPT_CALL(code, T_pvar_get_info, index, NULL, NULL, NULL, NULL, NULL,
                  (MPI_T_enum *)&tool->lower, NULL, NULL, NULL, NULL, NULL, NULL);
        return code;
    }
    CKPT_INVARIANT(tool->session != NULL && tool->session->kind == CKPT_TOOL_SESSION);
    CKPT_CALL(code, T_pvar_handle_alloc, tool->session->lower, index,
              bound != NULL ? &bound : NULL, (MPI_T_pvar_handle *)&tool->lower,
              &count);
    if (code == MPI_SUCCESS && tool->running) {
        /* fails for a continuous variable of a session that was started as a
         * whole */
        CKPT_CALL(started, T_pvar_start, tool->session->lower, tool->lower);
        (void)started;
    }
    return code;
}

static int rebuild(struct ckpt_tool *tool)
{
    int code, index;

    if (tool->kind == CKPT_TOOL_SESSION) {
        CKPT_CALL(code, T_pvar_session_create, (MPI_T_pvar_session *)&tool->lower);
        return code;
    }
    if (is_pvar(tool->kind)) {
        CKPT_CALL(code, T_pvar_get_index, tool->name, tool->class, &index);
        return code == MPI_SUCCESS ? rebuild_pvar(tool, index) : code;
    }
    CKPT_CALL(code, T_cvar_get_index, tool->name, &index);
    return code == MPI_SUCCESS ? rebuild_cvar(tool, index) : code;
}

int ckpt_tool_rebuild(const char **name)
{
    int code = MPI_SUCCESS, provided;

    *name = "MPI_T_init_thread";
    for (int i = 0; i < open_count && code == MPI_SUCCESS; i++) {
        CKPT_CALL(code, T_init_thread, MPI_THREAD_SINGLE, &provided);
    }
    for (struct ckpt_tool *tool = first; tool != NULL && code == MPI_SUCCESS;
         tool = tool->next) {
        *name = tool->name;
        code = rebuild(tool);
    }
    return code;
}
