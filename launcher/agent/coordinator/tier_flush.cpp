/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tier_flush.cpp - copies checkpoints from the fast tier to the slow one.
 */
#include "agent/coordinator/tier_flush.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/pieces/piece_fold.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

namespace ckpt
{

std::string copier_of(const std::string &writer, const std::string &own,
                      const std::vector<std::string> &hosts,
                      const std::set<std::string> &apart)
{
    const auto has_agent = [&](const std::string &host) {
        return std::ranges::find(hosts, host) != hosts.end();
    };

    if (has_agent(writer)) {
        return writer;
    }
    if (apart.contains(writer)) {
        return {}; /* only the writer sees the piece */
    }
    if (has_agent(own)) {
        return own;
    }
    const auto other = std::ranges::find_if(
        hosts, [&](const std::string &host) { return !apart.contains(host); });
    return other == hosts.end() ? std::string() : *other;
}

TierFlush::TierFlush(WorkerThread &worker, std::filesystem::path fast, Store slow,
                     std::string job, std::size_t keep, Hooks hooks,
                     std::chrono::nanoseconds interval)
    : worker_(worker), fast_(std::move(fast)), slow_(std::move(slow)), job_(std::move(job)),
      keep_(keep), hooks_(std::move(hooks)), interval_(interval)
{
}

void TierFlush::want(std::uint64_t number, Then then)
{
    uncertain_ = number;
    if (number == flushed_) {
        if (then) {
            then({});
        }
        return;
    }
    if (then) {
        then_.emplace_back(number, std::move(then));
    }
    begin();
}

void TierFlush::committed(std::uint64_t number)
{
    {
        std::lock_guard lock(mutex_);
        newest_ = number;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!due_since_ || now - *due_since_ >= interval_) {
        due_since_ = now;
        due_ = number;
        want(number);
    }
}

void TierFlush::replace(std::uint64_t number, const Piece &folded)
{
    folded_.emplace_back(number, folded);
    begin();
}

void TierFlush::forget(std::uint64_t number)
{
    if (uncertain_ == number) {
        uncertain_ = 0;
    }
    if (target_ != 0) {
        forgotten_.insert(number);
    } else if (flushed_ == number) {
        flushed_ = 0;
        remove(number);
    }
}

TierFlush::Needed TierFlush::needed() const
{
    Needed needed;
    std::set<std::uint64_t> numbers;
    {
        std::lock_guard lock(mutex_);
        needed.newest = newest_;
        numbers = {newest_, target_ != 0 ? target_ : newest_};
    }
    for (std::uint64_t number : numbers) {
        needed.stay.merge(chain_of(fast_, number));
    }
    return needed;
}

/* ---- One checkpoint after another -------------------------------------------- */

void TierFlush::begin()
{
    if (target_ != 0 || wanted() == 0) {
        return;
    }
    CKPT_INVARIANT(copies_.empty() && copying_.empty());
    {
        std::lock_guard lock(mutex_);
        target_ = wanted();
    }
    failure_.clear();
    begun_ = std::chrono::steady_clock::now();
    thread_.run([this, number = target_, slow = slow_.directory() / job_,
                 folded = std::exchange(folded_, {})] {
        put_into_place(folded);
        try {
            auto plan = plan_tier_copies(fast_, slow, number);
            worker_.reply([this, plan = std::move(plan)] {
                copies_.assign(plan.begin(), plan.end());
                next();
            });
        } catch (const std::exception &error) {
            worker_.reply([this, reason = std::string(error.what())] { failed(reason); });
        }
    });
}

void TierFlush::put_into_place(const std::vector<Folded> &folded) const
{
    for (const auto &[number, piece] : folded) {
        try {
            replace_piece(fast_ / checkpoint_directory_name(number), piece);
        } catch (const std::exception &error) {
            spdlog::warn("{}", error.what());
        }
    }
}

void TierFlush::next()
{
    if (copies_.empty()) {
        end();
    } else {
        copy_pieces(copies_.front());
    }
}

void TierFlush::copy_pieces(const TierCopy &copy)
{
    CKPT_EXPECT(copying_.empty() && target_ != 0);
    for (const Piece &piece : copy.pieces) {
        const std::string host = hooks_.copy(copy, piece);
        if (host.empty()) {
            failure_ = fmt::format("there is no agent for the piece of {}", piece.host);
        } else {
            copying_.emplace(host, piece.file);
        }
    }
    all_answered();
}

void TierFlush::copied(const std::string &host, const std::string &file,
                       const std::string &error)
{
    if (copying_.erase({host, file}) == 0) {
        return; /* an answer to an earlier coordinator */
    }
    if (!error.empty()) {
        failure_ = fmt::format("{}: {}", host, error);
    }
    all_answered();
}

void TierFlush::host_gone(const std::string &host)
{
    if (std::erase_if(copying_, [&](auto &copying) { return copying.first == host; }) > 0) {
        failure_ = fmt::format("the agent of {} was lost", host);
        all_answered();
    }
}

void TierFlush::all_answered()
{
    if (!copying_.empty()) {
        return;
    }
    if (failure_.empty()) {
        publish();
    } else {
        failed(failure_);
    }
}

void TierFlush::publish()
{
    CKPT_EXPECT(!copies_.empty() && copying_.empty());
    thread_.run([this, copy = copies_.front()] {
        try {
            copy.publish();
            worker_.reply([this] {
                spdlog::info("checkpoint {}/{} is in {}", job_, copies_.front().number,
                             slow_.directory().string());
                copies_.pop_front();
                next();
            });
        } catch (const std::exception &error) {
            worker_.reply([this, reason = std::string(error.what())] { failed(reason); });
        }
    });
}

/* Files without a manifest only take space, so they are removed. */
void TierFlush::failed(const std::string &reason)
{
    failure_ = reason;
    if (!copies_.empty()) {
        run([to = copies_.front().to] { remove_unpublished(to); });
    }
    copies_.clear();
    end();
}

void TierFlush::end()
{
    CKPT_EXPECT(target_ != 0 && copies_.empty() && copying_.empty());
    const std::uint64_t number = target_;
    {
        std::lock_guard lock(mutex_);
        target_ = 0;
    }
    error_ = failure_;
    if (error_.empty()) {
        flushed_ = number;
        seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_)
                       .count();
        collect_garbage();
    } else {
        spdlog::error("checkpoint {}/{} is not copied to {}: {}", job_, number,
                      slow_.directory().string(), error_);
        due_since_.reset(); /* the next checkpoint is copied at once */
    }
    for (std::uint64_t forgotten : std::exchange(forgotten_, {})) {
        remove(forgotten);
    }
    auto is_newer = [number](const auto &entry) { return entry.first > number; };
    auto waits = std::ranges::stable_partition(then_, is_newer);
    std::vector<std::pair<std::uint64_t, Then>> told(waits.begin(), waits.end());
    then_.erase(waits.begin(), waits.end());
    for (const auto &[wanted, then] : told) {
        then(error_);
    }
    hooks_.over();
    if (!folded_.empty() || wanted() > number) {
        begin();
    }
}

/* ---- The slow directory -------------------------------------------------------- */

void TierFlush::remove(std::uint64_t number)
{
    run([this, number] { slow_.remove(job_, number); });
}

void TierFlush::collect_garbage()
{
    run([this] { slow_.collect_garbage(keep_, job_); });
}

void TierFlush::write_job_state(const JobState &state)
{
    run([this, state] { slow_.write_job_state(state); });
}

/* Runs a task whose failure is only logged. */
void TierFlush::run(std::function<void()> task)
{
    thread_.run([this, task = std::move(task)] {
        try {
            task();
        } catch (const std::exception &error) {
            spdlog::warn("{}", error.what());
        }
        worker_.reply([] {}); /* makes the loop check whether the agent has finished */
    });
}

} // namespace ckpt
