/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_opening.cpp - opens the job's directories on a separate thread, as their file system
 * may hang. The job begins without them, and requests wait for a while.
 */
#include "agent/coordinator/coordinator.hpp"

#include "common/durations.hpp"
#include "common/invariant.hpp"
#include "image/seal/image_key.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace ckpt
{

namespace
{

using std::chrono::steady_clock;

} // namespace

/* Ranks wait meanwhile: for a short time this is better than to start without the directories. */
void Coordinator::open_at_start()
{
    begin_opening();
    opening_.wait();
    take_opened();
    tick_opening(steady_clock::now());
}

/* Whether files would have no mark. The journal is made for the first checkpoint. */
bool Coordinator::lacks_journal() const
{
    return file_journal_.empty() && !image_key();
}

/* Tries again at each request: the user may have freed space or changed permissions. */
void Coordinator::begin_opening()
{
    const bool with_journal = !unopened_.empty() && lacks_journal();

    opening_.begin(
        [this, job = job_, is_open = store_.has_value(), with_journal] {
            JobOpening::Opened opened;
            if (!is_open) {
                opened.job = opener_.open(job);
            }
            if (with_journal) {
                opened.journal = opener_.open_journal(is_open ? job : opened.job->name);
            }
            return opened;
        },
        steady_clock::now());
}

void Coordinator::take_opened()
{
    bool has_looked_for_journal = false;

    if (!opening_.is_done()) {
        return; /* the result was taken already, and another attempt may be under way */
    }
    try {
        JobOpening::Opened opened = opening_.take();
        store_error_ = {};
        if (opened.job) {
            use(std::move(*opened.job));
        }
        if (opened.journal) {
            has_looked_for_journal = true;
            file_journal_ = opened.journal->directory;
            files_mark_ = opened.journal->greatest_mark;
        }
    } catch (const std::exception &error) {
        store_error_ = refusal_of(error, CKPT_REFUSAL_UNUSABLE_DIRECTORY);
        spdlog::error("{}", store_error_.text());
        statistics_.note_unprotected(store_error_, steady_clock::now());
    }
    if (store_ && lacks_journal() && !has_looked_for_journal && !unopened_.empty()) {
        begin_opening();
    } else {
        start_unopened();
    }
}

void Coordinator::use(OpenedJob job)
{
    CKPT_EXPECT(job.ownership != nullptr && !store_);
    job_ = std::move(job.name);
    store_ = std::move(job.store);
    ownership_ = std::move(job.ownership);
    if (job.earlier) {
        earlier_ = *job.earlier;
        interval_.observe(earlier_);
    }
    salvaged_ = job.salvaged;
    if (job.slow) {
        least_number_ = job.least_number;
        use_slow_store(std::move(*job.slow), job.redundant);
    }
    spdlog::info("job {} of {} ranks, checkpoints in {}", job_, machine_.rank_count(),
                 settings_.directory.string());
}

void Coordinator::wait_until_opened(std::vector<Waiting> clients, Protocol protocol)
{
    CKPT_EXPECT(!clients.empty());
    unopened_.add({std::move(clients), protocol}, steady_clock::now());
    if (!opening_.is_under_way()) {
        begin_opening();
    } else if (opening_.is_late()) {
        tell_unopened();
    }
}

/* Starts one checkpoint for all requests that have waited. */
void Coordinator::start_unopened()
{
    auto waiting = unopened_.take();

    if (!waiting) {
        return;
    }
    const Refusal why_not = obstacle();
    if (!why_not.empty() || !store_) {
        refuse(waiting->clients, why_not.empty() ? store_error_ : why_not);
    } else {
        begin(std::move(waiting->clients), steady_clock::now(), waiting->protocol);
    }
}

/* The program runs on meanwhile. A request is refused when its time is over, or as soon as an
 * obstacle makes the checkpoint impossible. */
void Coordinator::tick_opening(Time now)
{
    if (!opening_.is_under_way()) {
        return;
    }
    if (opening_.turns_late(now)) {
        store_error_ = no_answer();
        spdlog::error("{}", store_error_.text());
        statistics_.note_unprotected(store_error_, now);
        tell_unopened();
    }
    const Refusal why_not = unopened_.empty() ? Refusal() : obstacle();
    while (auto clients = unopened_.take_overdue(why_not.empty() ? now : Time::max())) {
        Refusal reason = why_not;
        if (reason.empty()) {
            const std::chrono::duration<double> longest = settings_.timeout;
            reason = no_answer().after(
                fmt::format("not done after {}: ", format_seconds(longest.count())));
            statistics_.count_failed(reason);
            statistics_.note_unprotected(reason, now);
        }
        refuse(*clients, reason);
    }
}

Refusal Coordinator::no_answer() const
{
    return refusal(CKPT_REFUSAL_SILENT_FILE_SYSTEM, "the file system of {} does not answer",
                   opener_.directories());
}

/* Tells the clients why they wait. */
void Coordinator::tell_unopened()
{
    control::Reply reply;

    reply.event = "progress";
    reply.progress.phase = "queued";
    reply.progress.waits_for = no_answer().text();
    reply.progress.rank_count = machine_.rank_count();
    for (const Waiting &client : unopened_.clients()) {
        answer(client, reply);
    }
}

} // namespace ckpt
