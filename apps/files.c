/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * files.c - MPI files under constant change, checked by reading back: a file
 * that is rewritten in place through a view; a log with a shared pointer; a
 * file for each rank with accesses that are always pending; and a file with a
 * split collective that is always open. Each step depends on the content that
 * the previous step left.
 */
#include "selfcheck.h"

#include <unistd.h>

/* In numbers of type uint64_t: */
#define RECORD 24   /* one entry of the log */
#define OWN    1000 /* part of the own file that is written */
#define SPLIT  16   /* written by each rank to the split file */
#define ROWS   100  /* of the matrix, each with `width` numbers of each rank */

static int rank, size;
static int width;

static uint64_t cell(int owner, long step, long index)
{
    return mix4(1, (uint64_t)owner, (uint64_t)step, (uint64_t)index);
}

static MPI_File open_file(MPI_Comm comm, const char *name, int number, int mode)
{
    char path[64];
    MPI_File file;

    snprintf(path, sizeof(path), "files-%s-%d", name, number);
    CHECK(MPI_File_open(comm, path, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    return file;
}

/* The matrix: the ranks' cells alternate in each row. */

static MPI_File open_matrix(void)
{
    MPI_File file = open_file(MPI_COMM_WORLD, "matrix", 0,
                              MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype cells, mine;

    MPI_Type_contiguous(width, MPI_UINT64_T, &cells);
    MPI_Type_create_resized(cells, 0, size * width * (MPI_Aint)sizeof(uint64_t),
                            &mine);
    MPI_Type_commit(&mine);
    CHECK(MPI_File_set_view(file, rank * width * (MPI_Offset)sizeof(uint64_t),
                            MPI_UINT64_T, mine, "native",
                            MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Type_free(&mine);
    MPI_Type_free(&cells);
    return file;
}

static void write_matrix(MPI_File file, uint64_t *cells, long step)
{
    const int half = ROWS * width / 2;

    for (int i = 0; i < ROWS * width; i++) {
        cells[i] = cell(rank, step, i);
    }
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_write_all(file, cells, half, MPI_UINT64_T, MPI_STATUS_IGNORE);
    MPI_File_write(file, cells + half, ROWS * width - half, MPI_UINT64_T,
                   MPI_STATUS_IGNORE);
}

/* Checks this rank's cells through its view, and the next rank's cells by
 * offset. */
static void check_matrix(MPI_File file, MPI_File plain, uint64_t *cells,
                         long step)
{
    const int next = (rank + 1) % size;
    const int row = (int)(step % ROWS);

    MPI_File_read_at_all(file, 0, cells, ROWS * width, MPI_UINT64_T,
                         MPI_STATUS_IGNORE);
    for (int i = 0; i < ROWS * width; i++) {
        CHECK(cells[i] == cell(rank, step, i));
    }
    MPI_File_read_at(plain,
                     (row * size + next) * width * (MPI_Offset)sizeof(uint64_t),
                     cells, width, MPI_UINT64_T, MPI_STATUS_IGNORE);
    for (int i = 0; i < width; i++) {
        CHECK(cells[i] == cell(next, step, row * width + i));
    }
}

/* Writes the log: by turns each rank alone, and all in order. */

static void write_log(MPI_File file, long step)
{
    uint64_t record[RECORD];
    MPI_Offset position;

    for (int i = 0; i < RECORD; i++) {
        record[i] = i == 0 ? (uint64_t)step : cell(rank, step, -i);
    }
    if (step % 2 == 0) {
        MPI_File_write_shared(file, record, RECORD, MPI_UINT64_T,
                              MPI_STATUS_IGNORE);
    } else {
        MPI_File_write_ordered(file, record, RECORD, MPI_UINT64_T,
                               MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &position);
    CHECK(position == (step + 1) * size * RECORD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A checksum of all records that does not depend on their order in a step. */
static uint64_t check_log(MPI_File file, long steps)
{
    uint64_t record[RECORD], sum = 0;

    for (long i = rank; i < steps * size; i += size) {
        MPI_File_read_at(file, i * RECORD, record, RECORD, MPI_UINT64_T,
                         MPI_STATUS_IGNORE);
        CHECK(record[0] == (uint64_t)(i / size));
        if (record[0] % 2 == 1) {
            CHECK(record[1] == cell((int)(i % size), i / size, -1));
        }
        sum += checksum(0, record, sizeof(record));
    }
    return sum;
}

/* The own file: writes and reads are completed in the next step. */

struct own {
    MPI_File file;
    MPI_Request requests[2];
    uint64_t written[OWN], read_back[OWN];
};

static void start_own(struct own *own, long step)
{
    const MPI_Offset place = (step % 3) * (MPI_Offset)sizeof(own->written);

    MPI_File_set_size(own->file, place + (MPI_Offset)sizeof(own->written));
    for (int i = 0; i < OWN; i++) {
        own->written[i] = cell(rank, step, 1000000 + i);
    }
    MPI_File_iwrite_at(own->file, place, own->written, OWN, MPI_UINT64_T,
                       &own->requests[0]);
    own->requests[1] = MPI_REQUEST_NULL;
    /* The previous step's data is before it. */
    if (place > 0) {
        MPI_File_iread_at(own->file, place - (MPI_Offset)sizeof(own->written),
                          own->read_back, OWN, MPI_UINT64_T, &own->requests[1]);
    }
}

static void finish_own(struct own *own, long step)
{
    MPI_Status statuses[2];
    MPI_Offset length;
    int count;

    CHECK(MPI_Waitall(2, own->requests, statuses) == MPI_SUCCESS);
    MPI_Get_count(&statuses[0], MPI_UINT64_T, &count);
    CHECK(count == OWN);
    MPI_File_get_size(own->file, &length);
    CHECK(length == (1 + step % 3) * (MPI_Offset)sizeof(own->written));
    for (int i = 0; i < OWN && step % 3 != 0; i++) {
        CHECK(own->read_back[i] == cell(rank, step - 1, 1000000 + i));
    }
}

/* The split file: a collective is open, except in the middle of a step. */

static void begin_split(MPI_File file, uint64_t *cells, long step)
{
    for (int i = 0; i < SPLIT; i++) {
        cells[i] = cell(rank, step, 2000000 + i);
    }
    MPI_File_write_at_all_begin(file,
                                rank * SPLIT * (MPI_Offset)sizeof(uint64_t),
                                cells, SPLIT, MPI_UINT64_T);
}

static void end_split(MPI_File file, uint64_t *cells, long step)
{
    const int next = (rank + 1) % size;
    uint64_t found[SPLIT];

    MPI_File_write_at_all_end(file, cells, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, next * SPLIT * (MPI_Offset)sizeof(uint64_t), found,
                     SPLIT, MPI_UINT64_T, MPI_STATUS_IGNORE);
    for (int i = 0; i < SPLIT; i++) {
        CHECK(found[i] == cell(next, step, 2000000 + i));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* argv: STEPS [WIDTH OF THE MATRIX FOR EACH RANK [STOP_FILE]] */
int main(int argc, char **argv)
{
    static struct own own;
    MPI_File matrix, plain, log, split;
    const char *stop_file;
    uint64_t split_cells[SPLIT], *cells, sum;
    long steps, step;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = number_argument(argc, argv, 1, 100);
    width = (int)number_argument(argc, argv, 2, 16);
    stop_file = argc > 3 ? argv[3] : NULL;
    cells = malloc((size_t)ROWS * (size_t)width * sizeof(*cells));
    CHECK(cells != NULL);
    matrix = open_matrix();
    plain = open_file(MPI_COMM_WORLD, "matrix", 0, MPI_MODE_RDONLY);
    log = open_file(MPI_COMM_WORLD, "log", 0, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_view(log, 0, MPI_UINT64_T, MPI_UINT64_T, "native",
                      MPI_INFO_NULL);
    split = open_file(MPI_COMM_WORLD, "split", 0,
                      MPI_MODE_CREATE | MPI_MODE_RDWR);
    own.file = open_file(MPI_COMM_SELF, "own", rank,
                         MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (step = 0; has_another_step((uint64_t)step, steps, stop_file); step++) {
        start_own(&own, step);
        begin_split(split, split_cells, step);
        write_matrix(matrix, cells, step);
        write_log(log, step); /* also meets the other ranks */
        check_matrix(matrix, plain, cells, step);
        end_split(split, split_cells, step);
        finish_own(&own, step);
        if (rank == 0 && step % 10 == 0) {
            printf("step %ld\n", step);
            fflush(stdout);
        }
    }
    sum = check_log(log, step);
    MPI_File_close(&own.file);
    MPI_File_close(&split);
    MPI_File_close(&log);
    MPI_File_close(&plain);
    MPI_File_close(&matrix);
    free(cells);
    print_answer(stop_file == NULL ? sum : (uint64_t)rank);
    MPI_Finalize();
    return 0;
}
