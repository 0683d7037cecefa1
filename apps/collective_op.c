/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective_op.c - begins one nonblocking collective of any kind, and checks it.
 */
#include "collective_op.h"

#if !defined PERSISTENT
#define BEGIN(name, Name, ...) MPI_I##name(__VA_ARGS__, op->comm, &op->request)
#elif OMPI_MAJOR_VERSION >= 5
#define BEGIN(name, Name, ...) \
    MPI_##Name##_init(__VA_ARGS__, op->comm, MPI_INFO_NULL, &op->request)
#else
#include <mpi-ext.h>
#define MPI_Barrier_init MPIX_Barrier_init
#define BEGIN(name, Name, ...) \
    MPIX_##Name##_init(__VA_ARGS__, op->comm, MPI_INFO_NULL, &op->request)
#endif

#define GAP 1 /* elements between blocks */
static const struct element untouched = {0xdead, 0xbeef};

static struct element value(const struct collective_op *op, int from, int to,
                            int index)
{
    uint64_t number = mix4(op->data, (uint64_t)from, (uint64_t)to,
                           (uint64_t)index);

    return (struct element){(uint32_t)number | 1, (uint32_t)(number >> 32)};
}

static int equal(struct element one, struct element other)
{
    return one.a == other.a && one.b == other.b;
}

static struct element compose(struct element f, struct element g)
{
    return (struct element){f.a * g.a, f.a * g.b + f.b};
}

static void compose_all(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) {
        ((struct element *)inout)[i] = compose(((struct element *)in)[i],
                                               ((struct element *)inout)[i]);
    }
}

/* Composes the operands of the members from the first to `last`, in order. */
static struct element folded(const struct collective_op *op, int last, int index)
{
    struct element result = value(op, 0, 0, index);

    for (int i = 1; i <= last; i++) {
        result = compose(result, value(op, i, 0, index));
    }
    return result;
}

/* For unequal blocks: the length of the block that goes from one member to another (or the same
 * block to all). Symmetric, and sometimes zero. */
static int varying(const struct collective_op *op, int from, int to)
{
    return (int)((op->key + (uint64_t)(from + to)) % (uint64_t)(op->count + 1));
}

static int is_vector(enum collective what)
{
    return what == GATHERV || what == SCATTERV || what == ALLGATHERV ||
           what == ALLTOALLV || what == ALLTOALLW || what == REDUCE_SCATTER ||
           what == NEIGHBOR_ALLGATHERV || what == NEIGHBOR_ALLTOALLV ||
           what == NEIGHBOR_ALLTOALLW;
}

static int is_personal(enum collective what)
{
    return what == SCATTER || what == SCATTERV ||
           (what >= ALLTOALL && what <= ALLTOALLW) ||
           (what >= NEIGHBOR_ALLTOALL && what <= NEIGHBOR_ALLTOALLW);
}

/* Elements that this rank sends to, or receives from, another rank. */
static int length(const struct collective_op *op, int receives, int other)
{
    int from = receives ? other : op->rank, to = receives ? op->rank : other;

    if (!is_vector(op->what)) {
        return op->count;
    }
    switch (op->what) {
    case ALLTOALLV:
    case ALLTOALLW:
    case NEIGHBOR_ALLTOALLV:
    case NEIGHBOR_ALLTOALLW:
        return varying(op, from, to);
    case SCATTERV:
        return varying(op, to, to);
    case REDUCE_SCATTER:
        return varying(op, other, other);
    default:
        return varying(op, from, from);
    }
}

static int stride(const struct collective_op *op)
{
    return is_vector(op->what) && op->what != REDUCE_SCATTER ? op->count + GAP
                                                             : op->count;
}

static void find_neighbours(struct collective_op *op)
{
    int kind;

    MPI_Topo_test(op->comm, &kind);
    if (kind == MPI_CART) {
        op->sources = op->destinations = 2;
        MPI_Cart_shift(op->comm, 0, 1, &op->source[0], &op->source[1]);
        memcpy(op->destination, op->source, 2 * sizeof(int));
    } else if (kind == MPI_GRAPH) {
        MPI_Graph_neighbors_count(op->comm, op->rank, &op->sources);
        MPI_Graph_neighbors(op->comm, op->rank, op->sources, op->source);
        op->destinations = op->sources;
        memcpy(op->destination, op->source, (size_t)op->sources * sizeof(int));
    } else {
        int weighted, weights[2][8];

        CHECK(kind == MPI_DIST_GRAPH);
        MPI_Dist_graph_neighbors_count(op->comm, &op->sources,
                                       &op->destinations, &weighted);
        CHECK(op->sources <= 8 && op->destinations <= 8);
        MPI_Dist_graph_neighbors(op->comm, op->sources, op->source, weights[0],
                                 op->destinations, op->destination, weights[1]);
    }
}

static void find_partners(struct collective_op *op)
{
    const size_t most = (size_t)op->size + 2;

    op->source = calloc(most, sizeof(int));
    op->destination = calloc(most, sizeof(int));
    if (op->what >= PLAIN_COLLECTIVES) {
        find_neighbours(op);
        return;
    }
    op->sources = op->destinations = op->size;
    for (int i = 0; i < op->size; i++) {
        op->source[i] = op->destination[i] = i;
    }
}

static void make_arguments(struct collective_op *op)
{
    for (int side = 0; side < 2; side++) {
        const int blocks = side == 0 ? op->destinations : op->sources;
        const int *partner = side == 0 ? op->destination : op->source;

        op->counts[side] = calloc((size_t)blocks + 1, sizeof(int));
        op->displs[side] = calloc((size_t)blocks + 1, sizeof(int));
        op->wide_displs[side] = calloc((size_t)blocks + 1, sizeof(MPI_Aint));
        for (int i = 0; i < blocks; i++) {
            op->counts[side][i] = length(op, side, partner[i]);
            op->displs[side][i] = i * stride(op);
            if (op->what == ALLTOALLW || op->what == NEIGHBOR_ALLTOALLW) {
                op->wide_displs[side][i] =
                    op->displs[side][i] * (MPI_Aint)sizeof(struct element);
                op->displs[side][i] = (int)op->wide_displs[side][i];
            }
        }
    }
}

/* Returns the start of block i. The blocks of a reduce-scatter are contiguous. */
static struct element *block(const struct collective_op *op,
                             struct element *buffer, int i)
{
    int at = i * stride(op);

    if (op->what == REDUCE_SCATTER) {
        at = 0;
        for (int j = 0; j < i; j++) {
            at += op->counts[0][j];
        }
    }
    return buffer + at;
}

static void put(struct collective_op *op, struct element *buffer, int i, int to)
{
    struct element *elements = block(op, buffer, i);

    for (int j = 0; j < length(op, 0, to); j++) {
        int index = j;

        if (op->what == REDUCE_SCATTER || op->what == REDUCE_SCATTER_BLOCK) {
            index = (int)(elements - buffer) + j;
        }
        elements[j] = value(op, op->rank, is_personal(op->what) ? to : 0, index);
    }
}

/* Writes the input into the buffer that the call reads. */
static void fill_input(struct collective_op *op)
{
    struct element *buffer = op->in_place ? op->receive : op->send;

    switch (op->what) {
    case BARRIER:
        break;
    case BCAST:
        if (op->rank == op->root) {
            put(op, op->receive, 0, 0);
        }
        break;
    case GATHER:
    case GATHERV:
    case ALLGATHER:
    case ALLGATHERV:
        put(op, buffer, op->in_place ? op->rank : 0, op->rank);
        break;
    case REDUCE:
    case ALLREDUCE:
    case SCAN:
    case EXSCAN:
    case NEIGHBOR_ALLGATHER:
    case NEIGHBOR_ALLGATHERV:
        put(op, buffer, 0, op->rank);
        break;
    default:
        buffer = op->what == SCATTER || op->what == SCATTERV ? op->send : buffer;
        for (int i = 0; i < op->destinations; i++) {
            if (op->destination[i] >= 0) {
                put(op, buffer, i, op->destination[i]);
            }
        }
        break;
    }
}

/* Rooted collectives can be in place at the root only, and some collectives not at all. */
static int may_be_in_place(const struct collective_op *op)
{
    switch (op->what) {
    case BARRIER:
    case BCAST:
        return 0;
    case GATHER:
    case GATHERV:
    case SCATTER:
    case SCATTERV:
    case REDUCE:
        return op->rank == op->root;
    default:
        return op->what < PLAIN_COLLECTIVES;
    }
}

static void begin_barrier(struct collective_op *op)
{
#ifdef PERSISTENT
    MPI_Barrier_init(op->comm, MPI_INFO_NULL, &op->request);
#else
    MPI_Ibarrier(op->comm, &op->request);
#endif
}

static void begin_plain(struct collective_op *op, MPI_Datatype type)
{
    const int root = op->root, count = op->count;
    const void *send = op->in_place ? MPI_IN_PLACE : op->send;
    void *receive = op->receive;

    switch (op->what) {
    case BARRIER:
        begin_barrier(op);
        break;
    case BCAST:
        BEGIN(bcast, Bcast, receive, count, type, root);
        break;
    case GATHER:
        BEGIN(gather, Gather, send, count, type, receive, count, type, root);
        break;
    case GATHERV:
        BEGIN(gatherv, Gatherv, send, length(op, 0, op->rank), type, receive,
              op->counts[1], op->displs[1], type, root);
        break;
    case SCATTER:
        BEGIN(scatter, Scatter, op->send, count, type,
              op->in_place ? MPI_IN_PLACE : receive, count, type, root);
        break;
    case SCATTERV:
        BEGIN(scatterv, Scatterv, op->send, op->counts[0], op->displs[0], type,
              op->in_place ? MPI_IN_PLACE : receive, length(op, 1, op->root),
              type, root);
        break;
    case ALLGATHER:
        BEGIN(allgather, Allgather, send, count, type, receive, count, type);
        break;
    case ALLGATHERV:
        BEGIN(allgatherv, Allgatherv, send, length(op, 0, op->rank), type,
              receive, op->counts[1], op->displs[1], type);
        break;
    case ALLTOALL:
        BEGIN(alltoall, Alltoall, send, count, type, receive, count, type);
        break;
    case ALLTOALLV:
        BEGIN(alltoallv, Alltoallv, send, op->counts[0], op->displs[0], type,
              receive, op->counts[1], op->displs[1], type);
        break;
    default:
        BEGIN(alltoallw, Alltoallw, send, op->counts[0], op->displs[0],
              op->types, receive, op->counts[1], op->displs[1], op->types);
        break;
    }
}

static void begin_reduction(struct collective_op *op, MPI_Datatype type)
{
    const int count = op->count;
    const void *send = op->in_place ? MPI_IN_PLACE : op->send;
    void *receive = op->receive;
    MPI_Op function;

    MPI_Op_create(compose_all, 0, &op->function);
    function = op->function;
    switch (op->what) {
    case REDUCE:
        BEGIN(reduce, Reduce, send, receive, count, type, function, op->root);
        break;
    case ALLREDUCE:
        BEGIN(allreduce, Allreduce, send, receive, count, type, function);
        break;
    case REDUCE_SCATTER:
        BEGIN(reduce_scatter, Reduce_scatter, send, receive, op->counts[0],
              type, function);
        break;
    case REDUCE_SCATTER_BLOCK:
        BEGIN(reduce_scatter_block, Reduce_scatter_block, send, receive, count,
              type, function);
        break;
    case SCAN:
        BEGIN(scan, Scan, send, receive, count, type, function);
        break;
    default:
        BEGIN(exscan, Exscan, send, receive, count, type, function);
        break;
    }
}

static void free_used(struct collective_op *op)
{
    MPI_Type_free(&op->type);
    if (op->function != MPI_OP_NULL) {
        MPI_Op_free(&op->function);
    }
}

static void begin_neighbours(struct collective_op *op, MPI_Datatype type)
{
    const int count = op->count;

    switch (op->what) {
    case NEIGHBOR_ALLGATHER:
        BEGIN(neighbor_allgather, Neighbor_allgather, op->send, count, type,
              op->receive, count, type);
        break;
    case NEIGHBOR_ALLGATHERV:
        BEGIN(neighbor_allgatherv, Neighbor_allgatherv, op->send,
              length(op, 0, op->rank), type, op->receive, op->counts[1],
              op->displs[1], type);
        break;
    case NEIGHBOR_ALLTOALL:
        BEGIN(neighbor_alltoall, Neighbor_alltoall, op->send, count, type,
              op->receive, count, type);
        break;
    case NEIGHBOR_ALLTOALLV:
        BEGIN(neighbor_alltoallv, Neighbor_alltoallv, op->send, op->counts[0],
              op->displs[0], type, op->receive, op->counts[1], op->displs[1],
              type);
        break;
    default:
        BEGIN(neighbor_alltoallw, Neighbor_alltoallw, op->send, op->counts[0],
              op->wide_displs[0], op->types, op->receive, op->counts[1],
              op->wide_displs[1], op->types);
        break;
    }
}

static size_t buffer_elements(const struct collective_op *op)
{
    return ((size_t)op->size + 2) * (size_t)(op->count + GAP);
}

static void fill_buffer(const struct collective_op *op, struct element *buffer)
{
    for (size_t i = 0; i < buffer_elements(op); i++) {
        buffer[i] = untouched;
    }
}

static struct element *make_buffer(const struct collective_op *op)
{
    struct element *buffer = malloc(buffer_elements(op) * sizeof(*buffer));

    CHECK(buffer != NULL);
    fill_buffer(op, buffer);
    return buffer;
}

void collective_begin(struct collective_op *op, enum collective what,
                      MPI_Comm comm, int root, int count, int in_place,
                      uint64_t key)
{
    *op = (struct collective_op){.what = what,
                                 .comm = comm,
                                 .root = root,
                                 .count = count,
                                 .key = key,
                                 .data = key,
                                 .function = MPI_OP_NULL};
    MPI_Comm_rank(comm, &op->rank);
    MPI_Comm_size(comm, &op->size);
    op->in_place = in_place && may_be_in_place(op);
    op->send = make_buffer(op);
    op->receive = make_buffer(op);
    find_partners(op);
    make_arguments(op);
    fill_input(op);
    MPI_Type_contiguous(2, MPI_UINT32_T, &op->type);
    MPI_Type_commit(&op->type);
    op->types = malloc(((size_t)op->size + 2) * sizeof(*op->types));
    for (int i = 0; i < op->size + 2; i++) {
        op->types[i] = op->type;
    }
    if (what >= PLAIN_COLLECTIVES) {
        begin_neighbours(op, op->type);
    } else if (what >= REDUCE) {
        begin_reduction(op, op->type);
    } else {
        begin_plain(op, op->type);
    }
#ifndef PERSISTENT
    free_used(op);
#endif
}

/* Checks block i of the result, which came from one member. */
static void check_block(const struct collective_op *op, int i, int from)
{
    const struct element *elements = block(op, op->receive, i);

    for (int j = 0; j < length(op, 1, from); j++) {
        CHECK(equal(elements[j],
                    value(op, from, is_personal(op->what) ? op->rank : 0, j)));
    }
}

/* Checks `count` elements, composed from elements of members 0 to `last`; `index` is the index of
 * the first element. */
static void check_folded(const struct collective_op *op, int last, int index,
                         int count)
{
    for (int j = 0; j < count; j++) {
        CHECK(equal(op->receive[j], folded(op, last, index + j)));
    }
}

static void check_reduction(const struct collective_op *op)
{
    const int all = op->size - 1;
    const struct element *own = block(op, op->receive, op->rank);

    switch (op->what) {
    case REDUCE:
        if (op->rank == op->root) {
            check_folded(op, all, 0, op->count);
        }
        break;
    case ALLREDUCE:
        check_folded(op, all, 0, op->count);
        break;
    case SCAN:
        check_folded(op, op->rank, 0, op->count);
        break;
    case EXSCAN:
        if (op->rank > 0) {
            check_folded(op, op->rank - 1, 0, op->count);
        }
        break;
    default:
        check_folded(op, all, (int)(own - op->receive),
                     length(op, 0, op->rank));
        break;
    }
}

static void check_result(const struct collective_op *op)
{
    switch (op->what) {
    case BARRIER:
        break;
    case BCAST:
        check_block(op, 0, op->root);
        break;
    case SCATTER:
    case SCATTERV:
        if (!op->in_place) {
            check_block(op, 0, op->root);
        }
        break;
    case GATHER:
    case GATHERV:
        for (int i = 0; i < op->size && op->rank == op->root; i++) {
            check_block(op, i, i);
        }
        break;
    case REDUCE:
    case ALLREDUCE:
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK:
    case SCAN:
    case EXSCAN:
        check_reduction(op);
        break;
    default:
        for (int i = 0; i < op->sources; i++) {
            if (op->source[i] >= 0) {
                check_block(op, i, op->source[i]);
            } else {
                CHECK(equal(*block(op, op->receive, i), untouched));
            }
        }
        break;
    }
}

void collective_check(const struct collective_op *op)
{
#ifdef PERSISTENT
    CHECK(op->request != MPI_REQUEST_NULL);
#else
    CHECK(op->request == MPI_REQUEST_NULL);
#endif
    check_result(op);
}

#ifdef PERSISTENT
void collective_start(struct collective_op *op, uint64_t data)
{
    op->data = data;
    fill_buffer(op, op->send);
    fill_buffer(op, op->receive);
    fill_input(op);
    MPI_Start(&op->request);
}
#endif

void collective_end(struct collective_op *op)
{
    collective_check(op);
#ifdef PERSISTENT
    MPI_Request_free(&op->request);
    free_used(op);
    CHECK(op->request == MPI_REQUEST_NULL);
#endif
    memset(op->send, 0x55, (size_t)op->count * sizeof(*op->send));
    memset(op->receive, 0x55, (size_t)op->count * sizeof(*op->receive));
    for (int side = 0; side < 2; side++) {
        free(op->counts[side]);
        free(op->displs[side]);
        free(op->wide_displs[side]);
    }
    free(op->types);
    free(op->source);
    free(op->destination);
    free(op->send);
    free(op->receive);
}
