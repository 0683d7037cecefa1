/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_pipeline.cpp - threads that turn memory into chunks of the file.
 *
 * A worker takes a slot with two buffers and the next job, fills the slot and queues it for
 * storing. The next free worker, usually the same one, stores the chunk and frees the slot.
 * Memory of stopped processes is read before anything is stored. So the many small regions of
 * a process are read in one go, and the process can resume early.
 *
 * The bytes in flight are limited, with a separate limit for stopped processes. One more
 * worker is started than PipelineOptions::threads says, so that at least one worker never
 * stores; storing may block.
 */
#include "config.h"
#include "image/write/chunk_pipeline.hpp"

#include "common/background.hpp"
#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/invariant.hpp"
#include "image/io/direct_io.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

namespace ckpt
{

namespace
{

/* The minimum limit of bytes in flight. */
constexpr std::size_t least_budget = 16u << 20;

/* Bytes of the two buffers that a job needs. */
std::size_t need_of(const ChunkJob &job)
{
    return 2 * static_cast<std::size_t>(job.size);
}

} // namespace

struct ChunkPipeline::Slot {
    std::size_t capacity = 0; /* bytes of each buffer */
    AlignedBuffer input;
    AlignedBuffer output;
    const ChunkJob *job = nullptr;
    EncodedChunk encoded;

    /* The encoded bytes followed by `room` bytes of the same buffer. */
    std::span<std::byte> place(std::size_t room) const
    {
        std::byte *bytes = encoded.bytes.data() == input.get() ? input.get() : output.get();
        return {bytes, encoded.bytes.size() + room};
    }
};

/* The state of one run(). */
struct ChunkPipeline::Stream {
    Stream(ChunkSource &source, const ChunkPlan &plan, Turn turn, const Store &store)
        : source(source), plan(plan), turn(turn), store(store),
          is_taken(plan.jobs.size(), false), untaken(plan.jobs.size()),
          unread(plan.jobs.size()), left(plan.jobs.size())
    {
    }

    /* Returns the next job in order, starting where the source wants it; nothing when all
     * jobs are taken. */
    std::optional<std::size_t> next();
    /* Returns the index of a job that the application waits for. */
    std::optional<std::size_t> urgent();

    ChunkSource &source;
    const ChunkPlan &plan;
    const Turn turn;
    const Store &store;
    std::condition_variable wakeup; /* of the thread in wait_for() */
    /* To be stored; the last one, still in the cache, comes first. */
    std::vector<Slot *> read;
    std::size_t from = 0;       /* the last result of source.following() */
    std::size_t position = 0;   /* all jobs from `from` to here are taken */
    std::vector<bool> is_taken; /* by job */
    std::size_t untaken;
    std::size_t unread;
    std::size_t left;        /* not yet stored */
    std::size_t at_work = 0; /* jobs that workers are processing */
    std::exception_ptr failure;
};

std::optional<std::size_t> ChunkPipeline::Stream::next()
{
    const std::size_t wanted = source.following();
    if (wanted != from) {
        position = from = wanted;
    }
    while (untaken > 0 && is_taken[position]) {
        position = (position + 1) % plan.jobs.size();
    }
    return untaken > 0 ? std::optional(position) : std::nullopt;
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
    CKPT_EXPECT(options_.cancelled != nullptr && options_.chunk_size > 0);
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

/* Starts the workers. If the system cannot create more threads, one is enough. */
void ChunkPipeline::start()
{
    try {
        for (unsigned i = 0; i <= options_.threads; i++) {
            workers_.emplace_back([this] { work(); });
        }
    } catch (const std::system_error &) {
        if (workers_.empty()) {
            throw;
        }
    }
}

/* Returns nothing if the limit of bytes in flight leaves no room for the job now. */
std::optional<ChunkPipeline::Work> ChunkPipeline::take(Stream &stream, std::size_t job)
{
    const ChunkJob &wanted = stream.plan.jobs[job];
    std::size_t &in_flight = in_flight_[static_cast<std::size_t>(stream.turn)];
    if (in_flight > 0 && in_flight + need_of(wanted) > budget_) {
        return std::nullopt;
    }
    in_flight += need_of(wanted);
    stream.is_taken[job] = true;
    stream.untaken--;
    stream.at_work++;
    if (free_.empty()) {
        free_.push_back(&slots_.emplace_back());
    }
    Slot *slot = free_.back();
    free_.pop_back();
    slot->job = &wanted;
    return Work{&stream, slot, false};
}

/* Looks at the streams in order, up to the last with this turn. */
std::optional<ChunkPipeline::Work>
ChunkPipeline::next_read(std::optional<std::size_t> (Stream::*which)(), Turn last)
{
    for (Stream *stream : streams_) {
        if (stream->failure || stream->turn > last) {
            continue;
        }
        std::optional<std::size_t> job = (stream->*which)();
        std::optional<Work> work;
        if (job && (work = take(*stream, *job))) {
            return work;
        }
    }
    return std::nullopt;
}

std::optional<ChunkPipeline::Work> ChunkPipeline::next_store()
{
    if (storing_ >= std::max(1u, options_.threads)) {
        return std::nullopt;
    }
    for (Stream *stream : streams_) {
        if (!stream->failure && !stream->read.empty()) {
            Slot *slot = stream->read.back();
            stream->read.pop_back();
            stream->at_work++;
            storing_++;
            return Work{stream, slot, true};
        }
    }
    return std::nullopt;
}

std::optional<ChunkPipeline::Work> ChunkPipeline::next_work()
{
    std::optional<Work> work = next_read(&Stream::urgent, Turn::running);
    if (!work) {
        work = next_read(&Stream::next, Turn::standing);
    }
    if (!work) {
        work = next_store();
    }
    return work ? work : next_read(&Stream::next, Turn::running);
}

/* Waits for the next work; returns nothing when the pipeline stops. */
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
        slot.input = make_aligned_buffer(job.size + options_.room);
        slot.output = make_aligned_buffer(job.size + options_.room);
        slot.capacity = job.size;
    }
    CKPT_INVARIANT(slot.capacity >= job.size);
    stream.source.read(stream.plan, job, {slot.input.get(), job.size});
    stream.source.release(stream.plan, job);
}

void ChunkPipeline::do_work(const Work &work, std::optional<Compressor> &compressor)
{
    Slot &slot = *work.slot;
    if (options_.cancelled->load(std::memory_order_relaxed)) {
        fail("the checkpoint was cancelled");
    }
    if (work.is_read) {
        CKPT_INVARIANT(!slot.encoded.bytes.empty());
        work.stream->store({*slot.job, slot.encoded, slot.place(options_.room)});
        return;
    }
    if (!compressor) {
        compressor.emplace(options_.codec, options_.choice);
    }
    fault_kill("image-during-capture");
    read_chunk(work);
    {
        std::lock_guard lock(mutex_);
        CKPT_INVARIANT(work.stream->unread > 0);
        if (--work.stream->unread == 0) {
            work.stream->wakeup.notify_one();
        }
    }
    slot.encoded = encode_chunk({slot.input.get(), slot.job->size},
                                {slot.output.get(), slot.capacity}, *compressor,
                                options_.room == 0);
    CKPT_INVARIANT(slot.encoded.bytes.size() <= slot.capacity);
}

/* The caller holds the mutex. */
void ChunkPipeline::free_slot(Stream &stream, Slot *slot)
{
    in_flight_[static_cast<std::size_t>(stream.turn)] -= need_of(*slot->job);
    free_.push_back(slot);
    wakeup_.notify_all();
}

void ChunkPipeline::note_done(const Work &work, const std::exception_ptr &failure)
{
    std::lock_guard lock(mutex_);
    Stream &stream = *work.stream;
    stream.at_work--;
    storing_ -= work.is_read ? 1 : 0;
    if (failure && !stream.failure) {
        stream.failure = failure;
    }
    if (!failure && !work.is_read && !work.slot->encoded.bytes.empty()) {
        stream.read.push_back(work.slot);
        wakeup_.notify_one();
    } else {
        if (!failure && options_.saved != nullptr) {
            *options_.saved += work.slot->job->size;
        }
        stream.left--;
        free_slot(stream, work.slot);
    }
    stream.wakeup.notify_one();
}

void ChunkPipeline::work()
{
    run_in_short_slices();
    std::optional<Compressor> compressor;
    while (std::optional<Work> work = take_work()) {
        std::exception_ptr failure;
        try {
            do_work(*work, compressor);
        } catch (...) {
            failure = std::current_exception();
        }
        note_done(*work, failure);
    }
}

/* ---- Waiting for the workers ------------------------------------------------------ */

void ChunkPipeline::wait_for(Stream &stream, const std::function<void()> &captured)
{
    std::unique_lock lock(mutex_);
    stream.wakeup.wait(lock, [&] { return stream.failure || stream.unread == 0; });
    if (!stream.failure) {
        lock.unlock();
        captured();
        lock.lock();
    }
    stream.wakeup.wait(lock, [&] { return stream.failure || stream.left == 0; });
    if (stream.failure) {
        std::rethrow_exception(stream.failure);
    }
    CKPT_INVARIANT(stream.untaken == 0 && stream.unread == 0);
    CKPT_INVARIANT(stream.at_work == 0 && stream.read.empty());
}

std::size_t ChunkPipeline::runs() const
{
    std::lock_guard lock(mutex_);
    return streams_.size();
}

/* Removes the stream once no worker processes its jobs. After an error jobs may be left. */
void ChunkPipeline::leave(Stream &stream)
{
    std::unique_lock lock(mutex_);
    streams_.remove(&stream);
    stream.wakeup.wait(lock, [&] { return stream.at_work == 0; });
    for (Slot *slot : stream.read) {
        free_slot(stream, slot);
    }
}

void ChunkPipeline::run(ChunkSource &source, const ChunkPlan &plan, Turn turn,
                        const Store &store, const std::function<void()> &captured)
{
    if (plan.jobs.empty()) {
        captured();
        return;
    }
    Stream stream(source, plan, turn, store);
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
    wait_for(stream, captured);
}

} // namespace ckpt
