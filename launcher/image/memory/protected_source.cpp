/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protected_source.cpp - memory of a process that runs while it is saved.
 *
 * Why the content is that of the cut: a write to a protected page waits until the page
 * has been read, and reading does not disturb that. Why the memory was still there when
 * it was read: allow() succeeds only if no loss was in progress after the read. The
 * serving thread has recorded, under the mutex, all losses reported before that.
 */
#include "config.h"
#include "image/memory/protected_source.hpp"

#include "common/fault_injection.hpp"
#include "common/invariant.hpp"
#include "common/parallel.hpp"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::uint64_t page_size = 4096;

/* Bytes that one call protects: enough to hide the cost of a call, but few enough to give
 * several threads work. */
constexpr std::uint64_t protected_at_once = 32u << 20;

/* The application waits for this thread. If permitted, the thread gets real-time
 * priority, so that it runs at once even if all processors are busy. */
void run_first()
{
    sched_param lowest{};
    lowest.sched_priority = ::sched_get_priority_min(SCHED_RR);
    (void)::pthread_setschedparam(::pthread_self(), SCHED_RR, &lowest);
}

} // namespace

ProtectedSource::ProtectedSource(std::shared_ptr<WriteProtection> protection,
                                 const RemoteMemory &memory, ChunkPlan plan,
                                 const PageRanges &mappings, PagePool &pool,
                                 unsigned threads)
    : protection_(std::move(protection)), memory_(memory), plan_(std::move(plan)),
      pool_(pool), granules_(plan_, pool.granule()),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      states_(granules_.count(), State::waiting)
{
    if (!wakeup_) {
        fail_errno(errno, "no eventfd");
    }
    try {
        protect(mappings, threads);
        server_ = std::thread([this] { serve_faults(); });
    } catch (const std::system_error &problem) {
        protection_->end();
        fail_errno(problem.code().value(), "cannot create a thread that serves page faults");
    } catch (...) {
        protection_->end();
        throw;
    }
}

ProtectedSource::~ProtectedSource()
{
    {
        std::lock_guard lock(mutex_);
        ends_ = true;
        (void)::eventfd_write(wakeup_.get(), 1);
    }
    server_.join();
    protection_->end();
    pool_.forget(wakeup_.get());
    for (auto &[granule, place] : places_) {
        pool_.give_back(place);
    }
}

void ProtectedSource::protect(const PageRanges &mappings, unsigned threads) const
{
    PageRanges pieces;
    for (const ckpt_range &run : plan_.runs) {
        for (std::uint64_t at = run.start; at < run.end; at += protected_at_once) {
            pieces.push_back({at, std::min(run.end, at + protected_at_once)});
        }
    }
    for (const ckpt_range &mapping : mappings) {
        protection_->watch(mapping);
    }
    parallel_for(pieces.size(), threads,
                 [&](std::size_t i) { protection_->protect(pieces[i]); });
}

/* ---- The pipeline -------------------------------------------------------------- */

void ProtectedSource::require_kept(Granule granule) const
{
    require_sound();
    if (states_[granule] == State::lost) {
        throw MemoryGivenBack(
            fmt::format("the program has given back memory at {:#x} before it was saved",
                        granules_.start(granule)));
    }
}

/* Claims the granules of a chunk that are not read yet, and copies the others from the
 * pool. If a granule is lost, throws before it takes any buffer out of places_, so that the
 * destructor returns them all to the pool. */
std::vector<ProtectedSource::Granule> ProtectedSource::claim(const ChunkJob &job,
                                                             std::span<std::byte> chunk)
{
    std::vector<Granule> claimed;
    std::vector<std::pair<Granule, std::byte *>> pooled;
    auto [first, end] = granules_.of(job);
    CKPT_EXPECT(chunk.size() == job.size);
    claimed.reserve(end - first);
    pooled.reserve(end - first);
    {
        std::lock_guard lock(mutex_);
        for (Granule granule = first; granule < end; granule++) {
            require_kept(granule);
            CKPT_INVARIANT(states_[granule] == State::waiting || states_[granule] == State::pooled);
        }
        for (Granule granule = first; granule < end; granule++) {
            if (states_[granule] == State::pooled) {
                CKPT_INVARIANT(places_.contains(granule));
                pooled.emplace_back(granule, places_.extract(granule).mapped());
                states_[granule] = State::saved;
            } else {
                states_[granule] = State::reading;
                claimed.push_back(granule);
            }
        }
    }
    for (auto [granule, place] : pooled) {
        std::span part = chunk.subspan((granule - first) * granules_.size());
        std::copy_n(place, std::min(part.size(), granules_.size()), part.begin());
        pool_.give_back(place);
    }
    return claimed;
}

/* Reads adjacent granules with one call. */
void ProtectedSource::read_granules(const ChunkJob &job,
                                    std::span<const Granule> claimed,
                                    std::span<std::byte> chunk) const
{
    for (auto next = claimed.begin(); next != claimed.end();) {
        auto from = next++;
        while (next != claimed.end() && *next == *std::prev(next) + 1) {
            ++next;
        }
        std::size_t start = (*from - granules_.of(job).first) * granules_.size();
        std::size_t length = static_cast<std::size_t>(next - from) * granules_.size();
        std::span part = chunk.subspan(start, std::min(length, chunk.size() - start));
        granules_.read(memory_, *from, part);
    }
}

bool ProtectedSource::allow(const PageRanges &pages) const
{
    return std::ranges::all_of(pages, [this](const ckpt_range &range) {
        return protection_->allow(range);
    });
}

/* The granules have been read: the process may write there again. */
void ProtectedSource::settle(const ChunkJob &job, std::span<const Granule> claimed)
{
    while (!allow(granules_.content(job))) {
        std::this_thread::yield(); /* until the serving thread has received the event */
    }
    std::lock_guard lock(mutex_);
    for (Granule granule : claimed) {
        require_kept(granule);
        CKPT_INVARIANT(states_[granule] == State::reading);
        states_[granule] = State::saved;
    }
    if (!unserved_.empty()) { /* a fault may have come in between */
        (void)::eventfd_write(wakeup_.get(), 1);
    }
}

void ProtectedSource::read(const ChunkPlan &, const ChunkJob &job,
                           std::span<std::byte> chunk)
{
    std::vector<Granule> claimed = claim(job, chunk);
    if (claimed.empty()) {
        return;
    }
    try {
        read_granules(job, claimed, chunk);
    } catch (const Error &) {
        settle(job, claimed); /* throws a more precise error if the memory is lost */
        throw;
    }
    settle(job, claimed);
}

std::optional<std::size_t> ProtectedSource::urgent() const
{
    std::lock_guard lock(mutex_);
    auto fault = std::ranges::find_if(unserved_, &Fault::waits_for_pool);
    std::optional<Granule> granule;
    if (fault != unserved_.end()) {
        granule = granules_.find(fault->page);
    }
    return granule ? std::optional(granules_.number(*granule)) : std::nullopt;
}

std::size_t ProtectedSource::following() const
{
    std::lock_guard lock(mutex_);
    return last_written_;
}

/* ---- The serving thread ---------------------------------------------------------- */

/* After a violated invariant the ranks must not wait for ever: their pages are no longer protected,
 * and what was not read yet is lost. */
void ProtectedSource::serve_faults()
{
    run_first();
    try {
        serve_until_end();
    } catch (const InvariantViolated &) {
        std::lock_guard lock(mutex_);
        std::ranges::replace_if(
            states_,
            [](State state) { return state == State::waiting || state == State::reading; },
            State::lost);
        protection_->end();
    }
}

void ProtectedSource::serve_until_end()
{
    for (;;) {
        std::array<pollfd, 2> wanted{{{protection_->descriptor(), POLLIN, 0},
                                      {wakeup_.get(), POLLIN, 0}}};
        eventfd_t ignored;
        (void)::poll(wanted.data(), wanted.size(), -1);
        (void)::eventfd_read(wakeup_.get(), &ignored);

        std::lock_guard lock(mutex_);
        if (ends_) {
            return;
        }
        take_events();
        serve_all();
    }
}

void ProtectedSource::take_events()
{
    const Clock::time_point now = Clock::now();
    for (const WriteProtection::Event &event : protection_->next()) {
        if (event.kind == WriteProtection::Event::write) {
            fault_kill("agent-at-fault");
            unserved_.push_back({event.range.start, now, false});
        } else {
            lose(event.range);
        }
    }
}

/* Granules in the range that were not read yet are lost. That includes those being read,
 * because it is unknown how much was still there. */
void ProtectedSource::lose(const ckpt_range &range)
{
    auto [first, end] = granules_.within(range);
    for (Granule granule = first; granule < end; granule++) {
        State &state = states_[granule];
        if ((state == State::waiting || state == State::reading) &&
            granules_.has_wanted(granule, range)) {
            state = State::lost;
        }
    }
}

void ProtectedSource::serve_all()
{
    for (Fault &fault : std::exchange(unserved_, {})) {
        if (serve(fault)) {
            faults_.seconds.push_back(
                std::chrono::duration<float>(Clock::now() - fault.since).count());
        } else {
            unserved_.push_back(fault);
        }
    }
}

/* Returns false if the fault must be tried again after a later event. */
bool ProtectedSource::serve(Fault &fault)
{
    std::optional<Granule> granule = granules_.find(fault.page);
    if (!granule) {
        return protection_->allow({fault.page, fault.page + page_size});
    }
    const State state = states_[*granule];
    if (state == State::reading) {
        return false;
    }
    if (state != State::waiting) {
        return allow(granules_.content(*granule, *granule + 1));
    }
    std::byte *place = pool_.take(wakeup_.get());
    if (place == nullptr) {
        faults_.pool_waits += !std::exchange(fault.waits_for_pool, true);
        return false;
    }
    if (copy(*granule, place) && allow(granules_.content(*granule, *granule + 1))) {
        CKPT_INVARIANT(!places_.contains(*granule));
        places_[*granule] = place;
        states_[*granule] = State::pooled;
        last_written_ = granules_.number(*granule);
        return true;
    }
    pool_.give_back(place);
    return false;
}

/* Returns false if the memory is no longer there. */
bool ProtectedSource::copy(Granule granule, std::byte *place) const
{
    const ChunkJob &job = plan_.jobs[granules_.number(granule)];
    std::span destination(place, std::min<std::size_t>(granules_.size(),
                                                       job.size - granules_.offset(granule)));
    try {
        granules_.read(memory_, granule, destination);
        return true;
    } catch (const Error &) {
        return false;
    }
}

FaultTimes ProtectedSource::faults() const
{
    std::lock_guard lock(mutex_);
    return faults_;
}

} // namespace ckpt
