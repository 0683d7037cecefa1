/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_coverage_calls.c - calls through generated wrappers, with checks of their results. Prints
 * "all right" on rank 0, with the real library and with the stand-in alike. Runs on 2 or more
 * ranks.
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                  \
    do {                                                                  \
        if (!(condition)) {                                               \
            printf("rank %d, line %d: %s\n", rank, __LINE__, #condition); \
            failures++;                                                   \
        }                                                                 \
    } while (0)

#define MOST_RANKS 64

static int rank, size, failures;
static MPI_Comm world;
static MPI_Datatype derived; /* one int */
static const MPI_Datatype nowhere = (MPI_Datatype)0x1234567;

/* Arguments of the vector collectives: one int for each rank. */
static int ones[MOST_RANKS], places[MOST_RANKS], offsets[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];
static int to[MOST_RANKS], from[MOST_RANKS];

static void prepare(void)
{
    MPI_Type_contiguous(1, MPI_INT, &derived);
    MPI_Type_commit(&derived);
    for (int i = 0; i < size; i++) {
        ones[i] = 1;
        places[i] = i;
        offsets[i] = i * (int)sizeof(int);
        types[i] = i % 2 == 0 ? MPI_INT : derived;
        to[i] = 100 * rank + i;
    }
}

static void clear(void)
{
    memset(from, 0, sizeof(from));
}

static int ranks_sum(void)
{
    return size * (size - 1) / 2;
}

static int came_from_all(void)
{
    for (int i = 0; i < size; i++) {
        if (from[i] != 100 * i + rank) {
            return 0;
        }
    }
    return 1;
}

static void test_rooted(void)
{
    int value = rank == 0 ? 42 : 0;

    MPI_Bcast(&value, 1, derived, 0, world);
    CHECK(value == 42);
    /* Arguments that are significant only at the root may have any value elsewhere. */
    MPI_Gather(&rank, 1, MPI_INT, rank == 0 ? from : NULL, 1,
               rank == 0 ? derived : nowhere, 0, world);
    CHECK(rank != 0 || from[size - 1] == size - 1);
    MPI_Scatter(rank == 0 ? from : NULL, 1, rank == 0 ? MPI_INT : nowhere,
                &value, 1, derived, 0, world);
    CHECK(value == rank);
    MPI_Scatterv(from, ones, places, rank == 0 ? derived : nowhere,
                 rank == 0 ? MPI_IN_PLACE : &value, 1, derived, 0, world);
    CHECK(rank == 0 || value == rank);
    MPI_Reduce(&rank, &value, 1, MPI_INT, MPI_MAX, 0, world);
    CHECK(rank != 0 || value == size - 1);
}

static void test_all_to_all(void)
{
    MPI_Alltoall(to, 1, MPI_INT, from, 1, derived, world);
    CHECK(came_from_all());
    clear();
    MPI_Alltoallv(to, ones, places, derived, from, ones, places, derived, world);
    CHECK(came_from_all());
    clear();
    MPI_Alltoallw(to, ones, offsets, types, from, ones, offsets, types, world);
    CHECK(came_from_all());
    memcpy(from, to, sizeof(from));
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, from, ones, offsets, types,
                  world);
    CHECK(came_from_all());
}

static void add(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < *count; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

static void test_reductions(void)
{
    int value = rank;
    MPI_Op op;

    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, world);
    CHECK(value == ranks_sum());
    MPI_Scan(&rank, &value, 1, MPI_INT, MPI_SUM, world);
    CHECK(value == rank * (rank + 1) / 2);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&rank, &value, 1, MPI_INT, op, world);
    CHECK(value == ranks_sum());
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
}

/* The operation is freed before the request completes. */
static void test_nonblocking(void)
{
    MPI_Request requests[3];
    MPI_Op op;
    int value = 0;

    clear();
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(&rank, &value, 1, MPI_INT, op, world, &requests[0]);
    MPI_Op_free(&op);
    MPI_Ialltoallw(to, ones, offsets, types, from, ones, offsets, types, world,
                   &requests[1]);
    MPI_Ibarrier(world, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(value == ranks_sum());
    CHECK(came_from_all());
}

static void test_neighbors(void)
{
    const int periods[2] = {1, 1}, counts[4] = {1, 1, 1, 1};
    const MPI_Aint places_here[4] = {0, 4, 8, 12};
    const MPI_Datatype kinds[4] = {MPI_INT, derived, MPI_INT, derived};
    int out[4] = {rank, rank, rank, rank}, in[4] = {-1, -1, -1, -1};
    int dimensions[2] = {0, 0}, before, after;
    MPI_Request request;
    MPI_Comm grid;

    MPI_Dims_create(size, 2, dimensions);
    MPI_Cart_create(world, 2, dimensions, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &before, &after);
    MPI_Neighbor_alltoallw(out, counts, places_here, kinds, in, counts,
                           places_here, kinds, grid);
    CHECK(in[0] == before && in[1] == after);
    in[0] = in[1] = -1;
    MPI_Ineighbor_alltoallw(out, counts, places_here, kinds, in, counts,
                            places_here, kinds, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in[0] == before && in[1] == after);
    MPI_Comm_free(&grid);
}

static void test_types(void)
{
    const int lengths[2] = {1, 2};
    const MPI_Aint where[2] = {0, 8};
    const MPI_Datatype parts[2] = {derived, MPI_DOUBLE};
    int bytes, integers, addresses, datatypes, combiner;
    MPI_Aint lower_bound, extent;
    MPI_Datatype structure;

    MPI_Type_create_struct(2, lengths, where, parts, &structure);
    MPI_Type_size(structure, &bytes);
    MPI_Type_get_extent(structure, &lower_bound, &extent);
    CHECK(bytes == 20 && lower_bound == 0 && extent == 24);
    MPI_Type_get_envelope(structure, &integers, &addresses, &datatypes,
                          &combiner);
    CHECK(datatypes == 2 && combiner == MPI_COMBINER_STRUCT);
    MPI_Type_free(&structure);
    CHECK(structure == MPI_DATATYPE_NULL);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &structure);
    MPI_Type_size(structure, &bytes);
    CHECK(bytes == 4);
}

static void test_groups_and_info(void)
{
    MPI_Group all, first, others, none;
    const int zero = 0;
    MPI_Info info, copy;
    char value[8];
    int count, found;

    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &zero, &first);
    MPI_Group_difference(all, first, &others);
    MPI_Group_size(others, &count);
    CHECK(count == size - 1);
    MPI_Group_intersection(others, first, &none);
    CHECK(none == MPI_GROUP_EMPTY);
    MPI_Group_free(&all);
    MPI_Group_free(&first);
    MPI_Group_free(&others);
    CHECK(others == MPI_GROUP_NULL);

    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_dup(info, &copy);
    MPI_Info_free(&info);
    MPI_Info_get(copy, "key", (int)sizeof(value) - 1, value, &found);
    CHECK(info == MPI_INFO_NULL && found && strcmp(value, "value") == 0);
    MPI_Info_free(&copy);
}

static int deleted;

static int count_deletion(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)win;
    (void)keyval;
    (void)value;
    (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void test_window(void)
{
    MPI_Request request;
    int *memory, keyval, value = -1, error;
    MPI_Win win;

    MPI_Alloc_mem(size * (MPI_Aint)sizeof(int), MPI_INFO_NULL, &memory);
    MPI_Win_create(memory, size * (MPI_Aint)sizeof(int), sizeof(int),
                   MPI_INFO_NULL, world, &win);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deletion, &keyval, NULL);
    MPI_Win_set_attr(win, keyval, &value);
    MPI_Win_fence(0, win);
    for (int i = 0; i < size; i++) {
        MPI_Put(&rank, 1, MPI_INT, i, rank, 1, derived, win);
    }
    MPI_Win_fence(0, win);
    CHECK(memory[size - 1] == size - 1);
    MPI_Win_lock_all(0, win);
    MPI_Rget(&value, 1, MPI_INT, (rank + 1) % size, 1, 1, derived, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    CHECK(value == 1);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    error = MPI_Put(&rank, 1, MPI_INT, size, 0, 1, MPI_INT, win);
    MPI_Error_class(error, &error);
    CHECK(error == MPI_ERR_RANK);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL && deleted == 1);
    MPI_Free_mem(memory);
}

static void test_file(const char *path)
{
    char representation[MPI_MAX_DATAREP_STRING];
    MPI_Datatype element, type;
    MPI_Request request;
    MPI_Status status;
    MPI_Offset start;
    MPI_File file;
    int value = -1, count, error;

    MPI_File_open(world, path,
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, derived, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, rank, &rank, 1, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 1);
    MPI_File_sync(file);
    MPI_Barrier(world);
    MPI_File_iread_at(file, (rank + 1) % size, &value, 1, derived, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(value == (rank + 1) % size);
    MPI_File_get_view(file, &start, &element, &type, representation);
    CHECK(element == MPI_INT && strcmp(representation, "native") == 0);
    MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL);
    /* Errors of MPI_File_open go to the handler of MPI_FILE_NULL, which returns. */
    error = MPI_File_open(world, "/nowhere/at/all", MPI_MODE_RDONLY,
                          MPI_INFO_NULL, &file);
    MPI_Error_class(error, &error);
    CHECK(error == MPI_ERR_NO_SUCH_FILE);
}

static void test_errors(void)
{
    int class, code, found;
    char text[MPI_MAX_ERROR_STRING];

    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    code = MPI_Bcast(&rank, 1, MPI_INT, size, world);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_ROOT);
    code = MPI_Barrier(MPI_COMM_NULL);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_COMM);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "an error of ours");
    MPI_Error_string(code, text, &found);
    CHECK(strcmp(text, "an error of ours") == 0);
    MPI_Error_class(code, &found);
    CHECK(found == class);
}

static void test_tools(void)
{
    int provided, variables, bytes, opened = 0;
    int verbosity, class, bind, readonly, continuous, atomic, count;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Datatype type;

    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&variables);
    for (int i = 0; i < variables; i++) {
        if (MPI_T_pvar_get_info(i, NULL, NULL, &verbosity, &class, &type, NULL,
                                NULL, NULL, &bind, &readonly, &continuous,
                                &atomic) != MPI_SUCCESS) {
            continue;
        }
        MPI_Type_size(type, &bytes);
        CHECK(bytes > 0);
        if (bind == MPI_T_BIND_MPI_COMM &&
            MPI_T_pvar_handle_alloc(session, i, &world, &handle, &count) ==
                MPI_SUCCESS) {
            MPI_T_pvar_handle_free(session, &handle);
            opened++;
        }
    }
    CHECK(opened > 0);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

int main(int argc, char **argv)
{
    int all_failures;

    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    if (argc != 2 || size < 2 || size > MOST_RANKS) {
        MPI_Abort(world, 2);
    }
    prepare();
    test_rooted();
    test_all_to_all();
    test_reductions();
    test_nonblocking();
    test_neighbors();
    test_types();
    test_groups_and_info();
    test_window();
    test_file(argv[1]);
    test_errors();
    test_tools();
    MPI_Type_free(&derived);
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, world);
    if (rank == 0 && all_failures == 0) {
        printf("all right\n");
    }
    MPI_Finalize();
    return all_failures != 0;
}
