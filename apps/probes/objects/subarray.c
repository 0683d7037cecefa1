/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * subarray.c - a subarray type made before the checkpoint and used after it.
 */
#include "probes/probe.h"

#define ROWS    12
#define COLUMNS 10

int main(int argc, char **argv)
{
    const int sizes[2] = {ROWS, COLUMNS}, part[2] = {4, 3}, start[2] = {5, 6};
    int matrix[ROWS][COLUMNS];
    MPI_Datatype window;

    probe_begin(argc, argv, 2);
    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT,
                             &window);
    MPI_Type_commit(&window);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        matrix[i / COLUMNS][i % COLUMNS] = probe_rank == 1 ? i : -1;
    }
    if (probe_rank == 1) {
        MPI_Send(matrix, 1, window, 0, 1, MPI_COMM_WORLD);
    }
    probe_gate_together();
    if (probe_rank == 0) {
        MPI_Recv(matrix, 1, window, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            int row = i / COLUMNS, column = i % COLUMNS;
            int inside = row >= 5 && row < 9 && column >= 6 && column < 9;

            CHECK(matrix[row][column] == (inside ? i : -1));
        }
    }
    MPI_Type_free(&window);
    return probe_end();
}
