/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.cpp [STEPS [WORKERS]] - C++ threads compute while main calls MPI.
 *
 * At each step the main thread hands a task to every worker, passes a token
 * round the ring while they compute, then waits for the results and reduces
 * them. Each rank can compute the result of every worker of every rank.
 */
#include "selfcheck.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace
{

constexpr int rounds = 200000; /* of a task: about half a millisecond */
constexpr long steps_per_line = 10;

std::uint64_t compute(std::uint64_t key)
{
    std::uint64_t value = key;
    for (int i = 0; i < rounds; i++) {
        value = mix(value);
    }
    return value;
}

std::uint64_t task_of(long step, int rank, int worker)
{
    return mix4(static_cast<std::uint64_t>(step),
                static_cast<std::uint64_t>(rank),
                static_cast<std::uint64_t>(worker), 9);
}

/* Threads that each compute one task per step. */
class Workers
{
  public:
    Workers(int count, int rank)
        : rank_(rank), results_(count)
    {
        for (int i = 0; i < count; i++) {
            threads_.emplace_back([this, i] { run(i); });
        }
    }

    ~Workers()
    {
        start(-1);
        for (std::thread &thread : threads_) {
            thread.join();
        }
    }

    /* Begins a step; -1 ends the threads. */
    void start(long step)
    {
        std::lock_guard lock(mutex_);
        step_ = step;
        generation_++;
        busy_ = static_cast<int>(threads_.size());
        begun_.notify_all();
    }

    /* Waits for the end of the step; returns the sum of the results. */
    std::uint64_t wait()
    {
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
        std::uint64_t sum = 0;
        for (std::uint64_t result : results_) {
            sum += result;
        }
        return sum;
    }

  private:
    void run(int index)
    {
        thread_local std::uint64_t tasks_done = 0;
        for (std::uint64_t seen = 0;; seen++) {
            std::unique_lock lock(mutex_);
            begun_.wait(lock, [&] { return generation_ > seen; });
            if (step_ < 0) {
                CHECK(tasks_done == seen);
                return;
            }
            long step = step_;
            lock.unlock();
            std::uint64_t result = compute(task_of(step, rank_, index));
            tasks_done++;
            lock.lock();
            results_[static_cast<std::size_t>(index)] = result;
            if (--busy_ == 0) {
                done_.notify_one();
            }
        }
    }

    const int rank_;
    std::mutex mutex_;
    std::condition_variable begun_, done_;
    long step_ = 0;
    std::uint64_t generation_ = 0;
    int busy_ = 0;
    std::vector<std::uint64_t> results_;
    std::vector<std::thread> threads_;
};

/* Passes a token around the ring, while the workers compute. */
std::uint64_t pass_token(std::uint64_t token, int rank, int size)
{
    std::uint64_t received = 0;
    for (int turn = 0; turn < 10; turn++) {
        MPI_Sendrecv(&token, 1, MPI_UINT64_T, (rank + 1) % size, turn,
                     &received, 1, MPI_UINT64_T, (rank + size - 1) % size, turn,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token = mix(received);
    }
    return token;
}

/* Returns the sum of the results of all workers of all ranks. */
std::uint64_t expected_sum(long step, int size, int workers)
{
    std::uint64_t sum = 0;
    for (int rank = 0; rank < size; rank++) {
        for (int worker = 0; worker < workers; worker++) {
            sum += compute(task_of(step, rank, worker));
        }
    }
    return sum;
}

} // namespace

int main(int argc, char **argv)
{
    int provided, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    CHECK(provided >= MPI_THREAD_FUNNELED);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const long steps = number_argument(argc, argv, 1, 200);
    const int count = static_cast<int>(number_argument(argc, argv, 2, 3));

    std::uint64_t sum = 0, token = static_cast<std::uint64_t>(rank);
    {
        Workers workers(count, rank);
        for (long step = 0; step < steps; step++) {
            if (rank == 0 && step % steps_per_line == 0) {
                std::printf("step %ld\n", step);
                std::fflush(stdout);
            }
            workers.start(step);
            token = pass_token(token, rank, size);
            std::uint64_t mine = workers.wait(), all = 0;
            MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM,
                          MPI_COMM_WORLD);
            if (step % size == rank) { /* they take turns in checking */
                CHECK(all == expected_sum(step, size, count));
            }
            sum += all ^ token;
        }
    }
    print_answer(sum);
    MPI_Finalize();
    return 0;
}
