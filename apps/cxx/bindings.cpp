// SPDX-License-Identifier: BSD-3-Clause
// bindings.cpp - the C++ bindings, which MPI 3 removed and Open MPI 4 still has: operations, error
// handlers that throw, attributes and generalized requests with functions in C++, all in use at a
// checkpoint (see probes/probe.h).
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#define CHECK(condition)                                                \
    do {                                                                \
        if (!(condition)) {                                             \
            std::printf("FAILED: line %d: %s\n", __LINE__, #condition); \
            std::fflush(stdout);                                        \
            MPI::COMM_WORLD.Abort(1);                                   \
        }                                                               \
    } while (0)

namespace
{

int copies, deletions, errors, queries, frees;
char state; // its address is the extra state of all functions

void multiply(const void *left, void *right, int count,
              const MPI::Datatype &type)
{
    const int *a = static_cast<const int *>(left);
    int *b = static_cast<int *>(right);

    CHECK(type.Get_size() == 4 * (int)sizeof(int));
    for (int i = 0; i < count; i++, a += 4, b += 4) {
        const int product[4] = {
            a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
            a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        std::memcpy(b, product, sizeof product);
    }
}

int copy(const MPI::Comm &comm, int, void *extra, void *in, void *out,
         bool &flag)
{
    CHECK(extra == &state);
    CHECK(comm.Get_size() == 2);
    copies++;
    *static_cast<void **>(out) = static_cast<char *>(in) + 1;
    flag = true;
    return MPI::SUCCESS;
}

int discard(MPI::Comm &, int, void *, void *extra)
{
    CHECK(extra == &state);
    deletions++;
    return MPI::SUCCESS;
}

struct Thrown {
    int code;
};

void handle(MPI::Comm &comm, int *code, ...)
{
    CHECK(comm.Get_size() == 2);
    errors++;
    throw Thrown{*code};
}

int query(void *extra, MPI::Status &status)
{
    CHECK(extra == &state);
    queries++;
    status.Set_elements(MPI::INT, 7);
    status.Set_cancelled(false);
    status.Set_source(3);
    status.Set_tag(4);
    return MPI::SUCCESS;
}

int release(void *)
{
    frees++;
    return MPI::SUCCESS;
}

int cancel(void *, bool)
{
    return MPI::SUCCESS;
}

void gate(const char *file, int rank)
{
    if (rank == 0) {
        std::puts("READY");
    }
    for (long tick = 1; access(file, F_OK) != 0; tick++) {
        usleep(20000);
        if (rank == 0 && tick % 5 == 0) {
            std::printf("waiting %ld\n", tick);
            std::fflush(stdout);
        }
    }
}

void check_operation(const MPI::Op &op, const MPI::Datatype &matrix,
                     MPI::Intracomm &comm)
{
    const int mine[4] = {1, comm.Get_rank(), comm.Get_rank() + 1, 3};
    const int product[4] = {1, 1, 7, 10};
    int all[4];

    comm.Allreduce(mine, all, 1, matrix, op);
    CHECK(std::memcmp(all, product, sizeof all) == 0);
}

template <class Error>
bool throws(MPI::Comm &comm)
{
    int value = 0;

    try {
        comm.Send(&value, 1, MPI::INT, 5, 0); // rank 5 does not exist
    } catch (const Error &) {
        return true;
    }
    return false;
}

void check_attributes(MPI::Intracomm &comm, int keyval)
{
    static char data[4];
    void *value = nullptr;
    int *bound = nullptr;

    comm.Set_attr(keyval, data);
    MPI::Intracomm other = comm.Dup();
    CHECK(other.Get_attr(keyval, &value) && value == data + 1);
    other.Free();
    comm.Delete_attr(keyval);
    CHECK(MPI::COMM_WORLD.Get_attr(MPI::TAG_UB, &bound) && *bound >= 32767);
}

} // namespace

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    const int rank = MPI::COMM_WORLD.Get_rank(), peer = 1 - rank;
    int received = -1;
    MPI::Status status;

    CHECK(argc >= 2 && MPI::COMM_WORLD.Get_size() == 2);
    MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
    MPI::Op op;
    op.Init(multiply, false);
    MPI::Datatype matrix = MPI::INT.Create_contiguous(4);
    matrix.Commit();
    int keyval = MPI::Comm::Create_keyval(copy, discard, &state);
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(handle);
    MPI::Grequest general = MPI::Grequest::Start(query, release, cancel, &state);
    MPI::Request receive = comm.Irecv(&received, 1, MPI::INT, peer, 1);
    const int dimensions[1] = {2};
    const bool periods[1] = {true};
    MPI::Cartcomm cart = comm.Create_cart(1, dimensions, periods, false);
    check_operation(op, matrix, comm);

    gate(argv[1], rank);

    check_operation(op, matrix, comm);
    comm.Send(&rank, 1, MPI::INT, peer, 1);
    receive.Wait(status);
    CHECK(received == peer && status.Get_tag() == 1);
    check_attributes(comm, keyval);
    CHECK(copies == 1 && deletions == 2);
    comm.Set_errhandler(handler);
    CHECK(throws<Thrown>(comm) && errors == 1);
    comm.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    MPI::mpi_errno = MPI::SUCCESS; /* for calls in which it does not throw */
    CHECK(throws<MPI::Exception>(comm) || MPI::mpi_errno != MPI::SUCCESS);
    CHECK(errors == 1);
    general.Complete();
    general.Wait(status);
    CHECK(queries == 1 && frees == 1 && status.Get_count(MPI::INT) == 7);
    int source, destination;
    cart.Shift(0, 1, source, destination);
    CHECK(source == peer && destination == peer);
    MPI::Comm &clone = cart.Clone();
    CHECK(dynamic_cast<MPI::Cartcomm *>(&clone) != nullptr);
    clone.Free();
    delete &clone;
    handler.Free();
    op.Free();
    matrix.Free();
    cart.Free();
    comm.Free();
    MPI::Comm::Free_keyval(keyval);
    MPI::COMM_WORLD.Barrier();
    if (rank == 0) {
        std::puts("OK 3");
    }
    MPI::Finalize();
    return 0;
}
