/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology.c - communicators with a topology (MPI 3.1, chapter 7).
 *
 * The lower half keeps the structure; this code keeps the data to make it again.
 */
#include "base/invariant.h"
#include "cut/collectives/collective.h"
#include "handles/communicator.h"
#include "handles/wrapper.h"

#include <stdlib.h>

static struct ckpt_topology *topology_new(int kind, int first, int second,
                                          int words)
{
    size_t size = sizeof(struct ckpt_topology) + (size_t)words * sizeof(int);
    struct ckpt_topology *topology = calloc(1, size);

    if (topology != NULL) {
        topology->kind = kind;
        topology->counts[0] = first;
        topology->counts[1] = second;
        topology->size = size;
    }
    return topology;
}

static int read_cart(MPI_Comm comm)
{
    struct ckpt_topology *topology;
    int code, dimensions = 0;
    int *coords;

    CKPT_CALL(code, Cartdim_get, CKPT_LOWER(comm), &dimensions);
    topology = topology_new(MPI_CART, dimensions, 0, 3 * dimensions);
    if (code != MPI_SUCCESS || topology == NULL) {
        free(topology);
        return code != MPI_SUCCESS ? code : MPI_ERR_NO_MEM;
    }
    coords = topology->data + 2 * dimensions; /* Cart_get requires it */
    CKPT_CALL(code, Cart_get, CKPT_LOWER(comm), dimensions, topology->data,
              topology->data + dimensions, coords);
    comm->topology = topology;
    return code;
}

static int read_graph(MPI_Comm comm)
{
    struct ckpt_topology *topology;
    int code, nodes = 0, edges = 0;

    CKPT_CALL(code, Graphdims_get, CKPT_LOWER(comm), &nodes, &edges);
    topology = topology_new(MPI_GRAPH, nodes, edges, nodes + edges);
    if (code != MPI_SUCCESS || topology == NULL) {
        free(topology);
        return code != MPI_SUCCESS ? code : MPI_ERR_NO_MEM;
    }
    CKPT_CALL(code, Graph_get, CKPT_LOWER(comm), nodes, edges, topology->data,
              topology->data + nodes);
    comm->topology = topology;
    return code;
}

static int read_dist_graph(MPI_Comm comm)
{
    struct ckpt_topology *topology;
    int code, in = 0, out = 0, weighted = 0;
    int *data;

    CKPT_CALL(code, Dist_graph_neighbors_count, CKPT_LOWER(comm), &in, &out,
              &weighted);
    topology = topology_new(MPI_DIST_GRAPH, in, out, 2 * (in + out));
    if (code != MPI_SUCCESS || topology == NULL) {
        free(topology);
        return code != MPI_SUCCESS ? code : MPI_ERR_NO_MEM;
    }
    topology->weighted = weighted;
    data = topology->data;
    CKPT_CALL(code, Dist_graph_neighbors, CKPT_LOWER(comm), in, data,
              weighted ? data + in : MPI_UNWEIGHTED, out, data + 2 * in,
              weighted ? data + 2 * in + out : MPI_UNWEIGHTED);
    comm->topology = topology;
    return code;
}

/* Adopts a communicator that a topology call has made. */
static int adopt(const struct ckpt_new_communicator *fresh, MPI_Comm parent,
                 int (*read)(MPI_Comm), const char *creator, void *site,
                 MPI_Comm *comm_p)
{
    MPI_Comm comm = ckpt_communicator_adopt(fresh, parent, creator, site);

    if (comm == NULL) {
        return MPI_ERR_NO_MEM;
    }
    CKPT_INVARIANT(comm == MPI_COMM_NULL || comm->topology == NULL);
    *comm_p = comm;
    return comm == MPI_COMM_NULL ? MPI_SUCCESS : read(comm);
}

/* A wrapper for a topology constructor: `call` is its lower call. */
#define TOPOLOGY_WRAPPER(parent, call, name, read, new_comm)            \
    do {                                                                \
        struct ckpt_new_communicator fresh_;                            \
        uintptr_t upper_;                                               \
        int made_;                                                      \
        CKPT_COLLECTIVE_ENTRY();                                        \
        ckpt_collective_set((parent), CKPT_COLLECTIVE_REDO);            \
        upper_ = ckpt_enter_to_wait();                                  \
        made_ = call;                                                   \
        if (made_ == MPI_SUCCESS) {                                     \
            made_ = ckpt_communicator_agree(&fresh_);                   \
        }                                                               \
        ckpt_clock_leave((parent)->clock);                              \
        ckpt_leave(upper_);                                             \
        ckpt_state = CKPT_STATE_CRITICAL;                               \
        if (made_ == MPI_SUCCESS) {                                     \
            made_ = adopt(&fresh_, (parent), (read), (name), CKPT_SITE, \
                          (new_comm));                                  \
        }                                                               \
        CKPT_RETURN((parent), made_, (name));                           \
    } while (0)

int PMPI_Cart_create(MPI_Comm comm, int dimensions, const int dims[],
                     const int periods[], int reorder, MPI_Comm *new_comm)
{
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Cart_create");
    CKPT_REQUIRE(new_comm != NULL, comm, MPI_ERR_ARG, "MPI_Cart_create");
    TOPOLOGY_WRAPPER(comm,
                     CKPT_FUNCTION(Cart_create)(CKPT_LOWER(comm), dimensions,
                                                dims, periods, reorder,
                                                &fresh_.lower),
                     "MPI_Cart_create", read_cart, new_comm);
}
CKPT_ALIAS(Cart_create);

int PMPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *new_comm)
{
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Cart_sub");
    CKPT_REQUIRE(new_comm != NULL, comm, MPI_ERR_ARG, "MPI_Cart_sub");
    TOPOLOGY_WRAPPER(
        comm, CKPT_FUNCTION(Cart_sub)(CKPT_LOWER(comm), remain, &fresh_.lower),
        "MPI_Cart_sub", read_cart, new_comm);
}
CKPT_ALIAS(Cart_sub);

int PMPI_Graph_create(MPI_Comm comm, int nodes, const int index[],
                      const int edges[], int reorder, MPI_Comm *new_comm)
{
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Graph_create");
    CKPT_REQUIRE(new_comm != NULL, comm, MPI_ERR_ARG, "MPI_Graph_create");
    TOPOLOGY_WRAPPER(comm,
                     CKPT_FUNCTION(Graph_create)(CKPT_LOWER(comm), nodes, index,
                                                 edges, reorder, &fresh_.lower),
                     "MPI_Graph_create", read_graph, new_comm);
}
CKPT_ALIAS(Graph_create);

/* Open MPI, at least up to 5.0, sends the edges under the tags -50 and -51 and receives them from
 * any source, on the parent communicator. Its nonblocking collectives count tags downwards, from
 * about -27. A faster rank may already be in one of the first 25 collectives, which create the
 * communicator. A slower rank would receive that message as edges, and the ranks hang. So 25
 * collectives of our own run before. */
enum {
    COLLECTIVES_UNDER_TAGS_OF_EDGES = 25
};

/* Takes part in nonblocking collectives of all members. Context: normal, with the lower thread
 * pointer. */
static int pass_tags_of_edges(MPI_Comm lower)
{
    MPI_Request requests[COLLECTIVES_UNDER_TAGS_OF_EDGES];
    int code = MPI_SUCCESS, begun = 0, ended;

    while (code == MPI_SUCCESS && begun < COLLECTIVES_UNDER_TAGS_OF_EDGES) {
        code = CKPT_FUNCTION(Ibarrier)(lower, &requests[begun]);
        begun += code == MPI_SUCCESS;
    }
    ended = CKPT_FUNCTION(Waitall)(begun, requests, MPI_STATUSES_IGNORE);
    return code != MPI_SUCCESS ? code : ended;
}

/* As MPI_Dist_graph_create, with lower handles. */
static int create_dist_graph(MPI_Comm lower, int count, const int nodes[], const int degrees[],
                             const int targets[], const int weights[], MPI_Info info,
                             int reorder, MPI_Comm *graph)
{
    int code = pass_tags_of_edges(lower);

    return code != MPI_SUCCESS
               ? code
               : CKPT_FUNCTION(Dist_graph_create)(lower, count, nodes, degrees, targets, weights,
                                                  info, reorder, graph);
}

int PMPI_Dist_graph_create(MPI_Comm comm, int count, const int nodes[],
                           const int degrees[], const int targets[],
                           const int weights[], MPI_Info info, int reorder,
                           MPI_Comm *new_comm)
{
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Dist_graph_create");
    CKPT_REQUIRE(new_comm != NULL, comm, MPI_ERR_ARG, "MPI_Dist_graph_create");
    TOPOLOGY_WRAPPER(comm,
                     create_dist_graph(CKPT_LOWER(comm), count, nodes, degrees,
                                       targets, weights, CKPT_LOWER(info),
                                       reorder, &fresh_.lower),
                     "MPI_Dist_graph_create", read_dist_graph, new_comm);
}
CKPT_ALIAS(Dist_graph_create);

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int sources[],
                                    const int in_weights[], int out,
                                    const int destinations[],
                                    const int out_weights[], MPI_Info info,
                                    int reorder, MPI_Comm *new_comm)
{
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Dist_graph_create_adjacent");
    CKPT_REQUIRE(new_comm != NULL, comm, MPI_ERR_ARG,
                 "MPI_Dist_graph_create_adjacent");
    TOPOLOGY_WRAPPER(comm,
                     CKPT_FUNCTION(Dist_graph_create_adjacent)(
                         CKPT_LOWER(comm), in, sources, in_weights, out,
                         destinations, out_weights, CKPT_LOWER(info), reorder,
                         &fresh_.lower),
                     "MPI_Dist_graph_create_adjacent", read_dist_graph,
                     new_comm);
}
CKPT_ALIAS(Dist_graph_create_adjacent);
