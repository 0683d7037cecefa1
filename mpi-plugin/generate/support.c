/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * support.c - what the generated wrappers need besides wrap/wrapper.h.
 */
#include "generate/support.h"

#include "runtime/crossing.h"

#include <stdio.h>
#include <unistd.h>

/* Neighbours in a graph: index[r] is where the edges of rank r end. */
static int graph_degree(const struct ckpt_topology *graph, int rank)
{
    const int *index = graph->data;

    return rank == 0 ? index[0] : index[rank] - index[rank - 1];
}

/* direction: 0 in, 1 out. */
static int degree(MPI_Comm comm, int direction)
{
    const struct ckpt_topology *topology = comm->topology;

    if (topology == NULL) {
        return 0;
    }
    switch (topology->kind) {
    case MPI_CART:
        return 2 * topology->counts[0];
    case MPI_GRAPH:
        return graph_degree(topology, comm->rank);
    default:
        return topology->counts[direction];
    }
}

int ckpt_in_degree(MPI_Comm comm)
{
    return degree(comm, 0);
}

int ckpt_out_degree(MPI_Comm comm)
{
    return degree(comm, 1);
}

int ckpt_cvar_bound(int index)
{
    int code, bind = MPI_T_BIND_NO_OBJECT;

    CKPT_CALL(code, T_cvar_get_info, index, NULL, NULL, NULL, NULL, NULL, NULL,
              NULL, &bind, NULL);
    return code == MPI_SUCCESS && bind != MPI_T_BIND_NO_OBJECT;
}

int ckpt_pvar_bound(int index)
{
    int code, bind = MPI_T_BIND_NO_OBJECT;

    CKPT_CALL(code, T_pvar_get_info, index, NULL, NULL, NULL, NULL, NULL, NULL,
              NULL, NULL, &bind, NULL, NULL, NULL);
    return code == MPI_SUCCESS && bind != MPI_T_BIND_NO_OBJECT;
}

/* Stands for all handles of MPI_T; references counts the open calls. */
static struct ckpt_handle tool = {.creator = "MPI_T_init_thread"};

void ckpt_tool_opened(void *site)
{
    if (tool.references++ == 0) {
        tool.site = site;
    }
}

void ckpt_tool_closed(void)
{
    if (tool.references > 0) {
        tool.references--;
    }
}

struct ckpt_handle *ckpt_tool_in_use(void)
{
    return tool.references > 0 ? &tool : NULL;
}

void ckpt_unsupported(const char *function, const char *what)
{
    fprintf(stderr, "ckpt: %s was called: %s: not supported yet\n", function,
            what);
    _exit(1);
}
