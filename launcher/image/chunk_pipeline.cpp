/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_pipeline.cpp - threads that turn memory into chunks for the file.
 *
 * A worker takes a slot with two buffers and the next job, fills the slot and
 * puts it on the done list of its stream; the thread that runs the stream stores it and
 * frees the slot. The bytes in flight are limited, not the number of slots: the many
 * small regions of a process are all read at once, so that it can go on. What stands
 * still has a limit of its own, and so does not wait until others' chunks are stored.
 */
#include "config.h"
#include "image/chunk_pipeline.hpp"

#include "common/error.hpp"
#include "common/fault.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace ckpt
{

namespace
{

/* The least that may be in flight. */
constexpr std::size_t least_budget = 16u << 20;

/* Bytes that a job needs for its two buffers. */
std::size_t need_of(const ChunkJob &job)
{
    return 2 * static_cast<std::size_t>(job.size);
}

} // namespace

struct ChunkPipeline::Slot {
    std::size_t capacity = 0; /* of each buffer */
    std::unique_ptr<std::byte[]> input;
    std::unique_ptr<std::byte[]> output;
    const ChunkJob *job = nullptr;
    EncodedChunk encoded;
};

/* The jobs of one run(). */
struct ChunkPipeline::Stream {
    Stream(ChunkSource &source, const ChunkPlan &plan, Turn turn)
        : source(source), plan(plan), turn(turn), is_taken(plan.jobs.size(), false),
          unread(plan.jobs.size())
    {
    }

    /* In order, or one that somebody waits for; none when there is no more to do. */
    std::optional<std::size_t> next();
    std::optional<std::size_t> urgent();

    ChunkSource &source;
    const ChunkPlan &plan;
    const Turn turn;
    std::condition_variable wakeup; /* of the thread that stores */
    std::deque<Slot *> done;
    std::size_t first_left = 0; /* all jobs before it are taken */
    std::vector<bool> is_taken; /* by job */
    std::size_t unread;
    std::size_t at_work = 0; /* jobs that a worker has */
    std::exception_ptr failure;
};

std::optional<std::size_t> ChunkPipeline::Stream::next()
{
    while (first_left < plan.jobs.size() && is_taken[first_left]) {
        first_left++;
    }
    return first_left < plan.jobs.size() ? std::optional(first_left) : std::nullopt;
}

std::optional<std::size_t> ChunkPipeline::Stream::urgent()
{
    std::optional<std::size_t> job = source.urgent();
    return job && !is_taken[*job] ? job : std::nullopt;
}

ChunkPipeline::ChunkPipeline(const PipelineOptions &options)
    : options_(options),
      budget_(std::max(least_budget, (2 * std::max<std::size_t>(1, options.threads) + 2) *
                                         2 * options.chunk_size))
{
}

ChunkPipeline::~ChunkPipeline()
{
    {
        std::lock_guard lock(mutex_);
        stopped_ = true;
        wakeup_.notify_all();
    }
    workers_.clear();
}

/* ---- Workers ------------------------------------------------------------------- */

void ChunkPipeline::start()
{
    for (unsigned i = 0; workers_.empty() || i < options_.threads; i++) {
        workers_.emplace_back([this] { work(); });
    }
}

/* None if there is no room for it now. */
std::optional<ChunkPipeline::Work> ChunkPipeline::take(Stream &stream, std::size_t job)
{
    const ChunkJob &wanted = stream.plan.jobs[job];
    std::size_t &in_flight = in_flight_[static_cast<std::size_t>(stream.turn)];
    if (in_flight > 0 && in_flight + need_of(wanted) > budget_) {
        return std::nullopt;
    }
    in_flight += need_of(wanted);
    stream.is_taken[job] = true;
    stream.at_work++;
    if (free_.empty()) {
        free_.push_back(&slots_.emplace_back());
    }
    Slot *slot = free_.back();
    free_.pop_back();
    slot->job = &wanted;
    return Work{&stream, slot};
}

std::optional<ChunkPipeline::Work> ChunkPipeline::next_work()
{
    for (auto which : {&Stream::urgent, &Stream::next}) {
        for (Stream *stream : streams_) {
            if (stream->failure) {
                continue;
            }
            std::optional<std::size_t> job = (stream->*which)();
            std::optional<Work> work;
            if (job && (work = take(*stream, *job))) {
                return work;
            }
        }
    }
    return std::nullopt;
}

/* Waits for the next; none when all is over. */
std::optional<ChunkPipeline::Work> ChunkPipeline::take_work()
{
    std::unique_lock lock(mutex_);
    std::optional<Work> work;
    wakeup_.wait(lock, [&] { return stopped_ || (work = next_work()); });
    return work;
}

void ChunkPipeline::read_chunk(const Work &work) const
{
    Slot &slot = *work.slot;
    const ChunkJob &job = *slot.job;
    Stream &stream = *work.stream;
    if (slot.capacity < job.size) {
        slot.input = std::make_unique_for_overwrite<std::byte[]>(job.size);
        slot.output = std::make_unique_for_overwrite<std::byte[]>(job.size);
        slot.capacity = job.size;
    }
    stream.source.read(stream.plan, job, {slot.input.get(), job.size});
    stream.source.release(stream.plan, job);
}

void ChunkPipeline::do_work(const Work &work, std::optional<Compressor> &compressor)
{
    Slot &slot = *work.slot;
    if (options_.cancelled->load(std::memory_order_relaxed)) {
        fail("the checkpoint was cancelled");
    }
    if (!compressor) {
        compressor.emplace(options_.codec, options_.choice);
    }
    fault_kill("image-during-capture");
    read_chunk(work);
    {
        std::lock_guard lock(mutex_);
        if (--work.stream->unread == 0) {
            work.stream->wakeup.notify_one();
        }
    }
    slot.encoded = encode_chunk({slot.input.get(), slot.job->size},
                                {slot.output.get(), slot.capacity}, *compressor);
}

void ChunkPipeline::work()
{
    std::optional<Compressor> compressor;
    while (std::optional<Work> work = take_work()) {
        std::exception_ptr failure;
        try {
            do_work(*work, compressor);
        } catch (...) {
            failure = std::current_exception();
        }
        std::lock_guard lock(mutex_);
        Stream &stream = *work->stream;
        if (failure && !stream.failure) {
            stream.failure = failure;
        }
        stream.at_work--;
        stream.done.push_back(work->slot);
        stream.wakeup.notify_one();
    }
}

/* ---- Those who run them ---------------------------------------------------------- */

void ChunkPipeline::free_slot(Stream &stream, Slot *slot)
{
    std::lock_guard lock(mutex_);
    in_flight_[static_cast<std::size_t>(stream.turn)] -= need_of(*slot->job);
    free_.push_back(slot);
    wakeup_.notify_all();
}

void ChunkPipeline::store_all(Stream &stream, const Store &store,
                              const std::function<void()> &captured)
{
    bool told = false;
    for (std::size_t stored = 0; stored < stream.plan.jobs.size();) {
        std::unique_lock lock(mutex_);
        stream.wakeup.wait(lock, [&] {
            return stream.failure || !stream.done.empty() ||
                   (stream.unread == 0 && !told);
        });
        if (stream.failure) {
            std::rethrow_exception(stream.failure);
        }
        if (stream.unread == 0 && !std::exchange(told, true)) {
            lock.unlock();
            captured();
            continue;
        }
        Slot *slot = stream.done.front();
        lock.unlock();
        if (!slot->encoded.bytes.empty()) {
            store({*slot->job, slot->encoded});
        }
        lock.lock();
        stream.done.pop_front();
        lock.unlock();
        stored++;
        free_slot(stream, slot);
    }
}

std::size_t ChunkPipeline::runs() const
{
    std::lock_guard lock(mutex_);
    return streams_.size();
}

/* Also in the middle, after an error: when no worker has anything of it. */
void ChunkPipeline::leave(Stream &stream)
{
    std::unique_lock lock(mutex_);
    streams_.remove(&stream);
    stream.wakeup.wait(lock, [&] { return stream.at_work == 0; });
    for (Slot *slot : stream.done) {
        in_flight_[static_cast<std::size_t>(stream.turn)] -= need_of(*slot->job);
        free_.push_back(slot);
    }
    wakeup_.notify_all();
}

void ChunkPipeline::run(ChunkSource &source, const ChunkPlan &plan, Turn turn,
                        const Store &store, const std::function<void()> &captured)
{
    if (plan.jobs.empty()) {
        captured();
        return;
    }
    Stream stream(source, plan, turn);
    std::unique_ptr<Stream, std::function<void(Stream *)>> leaver(
        &stream, [this](Stream *leaving) { leave(*leaving); });
    {
        std::lock_guard lock(mutex_);
        if (workers_.empty()) {
            start();
        }
        auto place = std::ranges::find_if(streams_, [turn](const Stream *other) {
            return turn < other->turn;
        });
        streams_.insert(place, &stream);
        wakeup_.notify_all();
    }
    store_all(stream, store, captured);
}

} // namespace ckpt
