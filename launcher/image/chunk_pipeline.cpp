/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_pipeline.cpp - threads that turn memory into chunks for the file.
 *
 * A worker takes a slot with two buffers and the next job, fills the slot and
 * puts it on the done list; the calling thread stores it and frees the slot.
 * The bytes in flight are limited, not the number of slots: the many small
 * regions of a process are all read at once, so that it can go on.
 */
#include "config.h"
#include "image/chunk_pipeline.hpp"

#include "common/error.hpp"
#include "common/fault.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace ckpt
{

namespace
{

/* The least that may be in flight. */
constexpr std::size_t least_budget = 16u << 20;

struct Slot {
    std::size_t capacity = 0; /* of each buffer */
    std::unique_ptr<std::byte[]> input;
    std::unique_ptr<std::byte[]> output;
    const ChunkJob *job = nullptr;
    EncodedChunk encoded;
};

class Pipeline
{
  public:
    Pipeline(ChunkSource &source, const ChunkPlan &plan,
             const PipelineOptions &options)
        : source_(source), plan_(plan), options_(options),
          is_taken_(plan.jobs.size(), false), unread_(plan.jobs.size())
    {
        std::size_t largest = 0;
        for (const ChunkJob &job : plan.jobs) {
            largest = std::max<std::size_t>(largest, job.size);
        }
        workers_ = std::clamp<std::size_t>(plan.jobs.size(), 1,
                                           std::max(1u, options.threads));
        budget_ = std::max(least_budget, (2 * workers_ + 2) * 2 * largest);
    }

    void run(const std::function<void(const StoredChunk &)> &store,
             const std::function<void()> &captured);

  private:
    void work();
    void stop();
    Slot *take_job();
    const ChunkJob *next_job();
    void free_slot(Slot *slot);
    void read_chunk(Slot &slot);

    ChunkSource &source_;
    const ChunkPlan &plan_;
    const PipelineOptions &options_;
    std::size_t workers_ = 0;
    std::size_t budget_ = 0; /* bytes */

    std::mutex mutex_; /* all that follows */
    std::condition_variable worker_wakeup_;
    std::condition_variable caller_wakeup_;
    std::deque<Slot> slots_;
    std::vector<Slot *> free_; /* last in, first out: stays in the cache */
    std::deque<Slot *> done_;
    std::size_t in_flight_ = 0; /* bytes */
    std::size_t first_left_ = 0; /* all jobs before it are taken */
    std::vector<bool> is_taken_; /* by job */
    std::size_t unread_;
    bool stopped_ = false;
    std::exception_ptr failure_;
};

/* Bytes that a job needs for its two buffers. */
std::size_t need_of(const ChunkJob &job)
{
    return 2 * static_cast<std::size_t>(job.size);
}

/* In order, unless somebody waits for one; null when there is no more to do. */
const ChunkJob *Pipeline::next_job()
{
    while (first_left_ < plan_.jobs.size() && is_taken_[first_left_]) {
        first_left_++;
    }
    if (stopped_ || first_left_ == plan_.jobs.size()) {
        return nullptr;
    }
    std::size_t wanted = source_.urgent().value_or(first_left_);
    return &plan_.jobs[is_taken_[wanted] ? first_left_ : wanted];
}

/* Waits until the next job fits into the budget and gives it a slot; null when
 * there is no more to do. */
Slot *Pipeline::take_job()
{
    std::unique_lock lock(mutex_);
    const ChunkJob *job = nullptr;
    worker_wakeup_.wait(lock, [this, &job] {
        job = next_job();
        return job == nullptr || in_flight_ + need_of(*job) <= budget_;
    });
    if (job == nullptr) {
        return nullptr;
    }
    is_taken_[static_cast<std::size_t>(job - plan_.jobs.data())] = true;
    if (free_.empty()) {
        free_.push_back(&slots_.emplace_back());
    }
    Slot *slot = free_.back();
    free_.pop_back();
    slot->job = job;
    in_flight_ += need_of(*slot->job);
    return slot;
}

void Pipeline::free_slot(Slot *slot)
{
    std::lock_guard lock(mutex_);
    in_flight_ -= need_of(*slot->job);
    free_.push_back(slot);
    worker_wakeup_.notify_all();
}

void Pipeline::read_chunk(Slot &slot)
{
    const ChunkJob &job = *slot.job;
    if (slot.capacity < job.size) {
        slot.input = std::make_unique_for_overwrite<std::byte[]>(job.size);
        slot.output = std::make_unique_for_overwrite<std::byte[]>(job.size);
        slot.capacity = job.size;
    }
    source_.read(plan_, job, {slot.input.get(), job.size});
    source_.release(plan_, job);
}

void Pipeline::work()
{
    try {
        Compressor compressor(options_.codec, options_.choice);
        while (Slot *slot = take_job()) {
            if (options_.cancelled->load(std::memory_order_relaxed)) {
                fail("the checkpoint was cancelled");
            }
            fault_kill("image-during-capture");
            read_chunk(*slot);
            {
                std::lock_guard lock(mutex_);
                if (--unread_ == 0) {
                    caller_wakeup_.notify_one();
                }
            }
            slot->encoded =
                encode_chunk({slot->input.get(), slot->job->size},
                             {slot->output.get(), slot->capacity}, compressor);
            std::lock_guard lock(mutex_);
            done_.push_back(slot);
            caller_wakeup_.notify_one();
        }
    } catch (...) {
        std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        caller_wakeup_.notify_one();
    }
}

void Pipeline::stop()
{
    std::lock_guard lock(mutex_);
    stopped_ = true;
    worker_wakeup_.notify_all();
}

void Pipeline::run(const std::function<void(const StoredChunk &)> &store,
                   const std::function<void()> &captured)
{
    std::vector<std::jthread> threads;
    /* Declared after the threads: on the way out they are told, then joined. */
    std::unique_ptr<Pipeline, void (*)(Pipeline *)> stopper(
        this, [](Pipeline *pipeline) { pipeline->stop(); });
    for (std::size_t i = 0; i < workers_; i++) {
        threads.emplace_back([this] { work(); });
    }

    bool told = false;
    for (std::size_t stored = 0; stored < plan_.jobs.size();) {
        std::unique_lock lock(mutex_);
        caller_wakeup_.wait(lock, [&] {
            return failure_ || !done_.empty() || (unread_ == 0 && !told);
        });
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        bool tell = unread_ == 0 && !told;
        Slot *slot = nullptr;
        if (!tell) {
            slot = done_.front();
            done_.pop_front();
        }
        lock.unlock();
        if (tell) {
            told = true;
            captured();
            continue;
        }
        if (!slot->encoded.bytes.empty()) {
            store({*slot->job, slot->encoded});
        }
        stored++;
        free_slot(slot);
    }
}

} // namespace

void run_chunk_pipeline(ChunkSource &source, const ChunkPlan &plan,
                        const PipelineOptions &options,
                        const std::function<void(const StoredChunk &)> &store,
                        const std::function<void()> &captured)
{
    if (plan.jobs.empty()) {
        captured();
        return;
    }
    Pipeline(source, plan, options).run(store, captured);
}

} // namespace ckpt
