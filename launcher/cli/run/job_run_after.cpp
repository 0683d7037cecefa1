/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_run_after.cpp - what follows a launch: the end of the job, or the next launch.
 */
#include "cli/run/job_run.hpp"

#include "cli/jobs/jobs.hpp"
#include "agent/supervision/member_table.hpp"
#include "common/invariant.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ckpt::cli
{

namespace
{

constexpr const char *components_variable = "CKPT_COMPONENTS";

} // namespace

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool may_pass(int code)
{
    constexpr std::array passing = {EIO, ESTALE, EINTR, EAGAIN, ETIMEDOUT, EHOSTDOWN,
                                    EROFS, ENOSPC, EDQUOT, EREMOTEIO, ENOTCONN, ENOLCK};

    return std::ranges::find(passing, code) != passing.end();
}

std::uint64_t JobRun::newest_number() const
{
    auto tiers = Tiers::open(options_.directories);
    auto newest = tiers ? tiers->newest_committed(options_.job) : std::nullopt;
    return newest ? newest->number : 0;
}

/* Returns the number of the newest checkpoint. If there is none, or the directory is unusable,
 * which this function prints, returns 0. */
std::uint64_t JobRun::newest_if_readable() const
{
    try {
        return newest_number();
    } catch (const Error &problem) {
        fmt::print(stderr, "ckpt: {}\n", problem.what());
        return 0;
    }
}

int JobRun::after_warning(const Ending &ending, bool is_saved) const
{
    const bool gets_on = newest_if_readable() > newest_;

    return batch_.end(ending, is_saved, gets_on, options_.job);
}

std::optional<Invocation> JobRun::after_last(const Ending &ending, int &code)
{
    CKPT_EXPECT(ending.last);
    const LastCheckpoint &last = *ending.last;

    if (last.purpose == LastCheckpoint::For::warning) {
        code = after_warning(ending, last.name.has_value());
        return std::nullopt;
    }
    if (!last.name) { /* the job ended before the checkpoint was committed */
        return code == 0 || ending.by_user ? std::nullopt : after_failure(ending);
    }
    nodes_are_free(last);
    if (last.purpose == LastCheckpoint::For::end) {
        fmt::print(stderr, "ckpt: the job was ended, as it was asked for; ckpt restart {} goes "
                           "on from there\n",
                   *last.name);
        code = exit_resume;
        return std::nullopt;
    }
    if (!last.nodes.empty()) {
        nodes_.use_only(last.nodes);
    } else if (last.purpose == LastCheckpoint::For::migration) {
        nodes_.move(last.from, last.to);
    } else if (!last.is_resumed && !wait_until_resumed()) {
        code = exit_resume;
        return std::nullopt;
    }
    const auto next = start_from_newest(code);
    if (!next && code == 0) { /* the launch ended after its checkpoint, not by itself */
        code = exit_failed;
    }
    return next;
}

/* Once the directory is usable again, the job can continue from its newest checkpoint there. */
int JobRun::after_unprotected(int code) const
{
    const std::uint64_t newest = newest_if_readable();

    if (newest == 0) {
        return code;
    }
    fmt::print(stderr, "ckpt: ckpt restart {} goes on from {}/{}\n", options_.job, options_.job,
               newest);
    return exit_resume;
}

void JobRun::await_last_agent() const
{
    if (auto tiers = Tiers::open(options_.directories)) {
        wait_for_last_agent(*tiers, options_.job, last_agent_ms);
    }
}

/* Tells the requester that the nodes are free. */
void JobRun::nodes_are_free(const LastCheckpoint &last)
{
    CKPT_EXPECT(requests_);
    await_last_agent();
    if (auto tiers = Tiers::open(options_.directories)) {
        wait_for_end_of_agent(*tiers, options_.job, last_agent_ms);
    }
    if (last.client != 0) {
        requests_->reply(last.client, last.answer);
    }
}

Prospects JobRun::prospects() const
{
    return {before_, not_on_nodes_, lost_nodes_, not_replayed_, options_.files};
}

std::optional<Checkpoint> JobRun::checkpoint_to_restart()
{
    return repeat_while_unusable([this] { return look_for_checkpoint(); });
}

std::optional<Checkpoint> JobRun::look_for_checkpoint()
{
    /* The checkpoint of a failed restart gets a full check, because a quick one may miss
     * damage. */
    const bool is_once_more =
        last_ > 0 && newest_number() == last_;

    await_last_agent();
    try {
        return newest_usable(options_.directories, options_.job,
                             prospects(),
                             is_once_more ? Verification::full : Verification::quick);
    } catch (const Error &problem) {
        if (may_pass(problem.code())) {
            throw; /* a checkpoint may exist, so the job must not start from the beginning */
        }
        return std::nullopt; /* all unusable checkpoints were named on stderr */
    }
}

/* If damaged files are the reason that no checkpoint is usable, the job does not start from the
 * beginning, because that would repeat all of its work. */
bool JobRun::may_start_over()
{
    return !repeat_while_unusable([this] {
        return has_damaged(options_.directories, options_.job, prospects());
    });
}

/* Starts the job again without counting another failure of it: after a swap or a migration, or
 * if the last checkpoint could not be gathered. code: of the last launch. */
std::optional<Invocation> JobRun::start_from_newest(int code)
{
    const auto checkpoint = checkpoint_to_restart();

    if (!checkpoint && (!policy_.limits().fresh_start || !may_start_over())) {
        say_end(code, "there is no checkpoint to restart from");
        return std::nullopt;
    }
    if (!checkpoint) {
        fmt::print(stderr, "ckpt: no checkpoint is left; the job starts from the beginning\n");
        last_ = 0;
        return start_over();
    }
    last_ = checkpoint->number;
    fmt::print(stderr, "ckpt: the job goes on from {}\n", checkpoint->name());
    return restart(*checkpoint);
}

bool JobRun::has_enough_nodes() const
{
    CKPT_INVARIANT(nodes_.left() <= nodes_.all());
    return !nodes_.is_known() || nodes_.left() >= std::max<std::size_t>(options_.min_nodes, 1);
}

/* A rank that fails during its replay behaves differently than before, and would fail again;
 * the failing rank may not be known yet. The cause remains the failure that led to the
 * replay. */
Failure JobRun::cause_of(const Ending &ending)
{
    Failure failure = ending.failure.value_or(Failure());

    failure.exit_code = ending.exit_code;
    if (newest_number() != last_ || !salvage_) {
        salvage_.reset();
    } else if (failure.kind == Failure::Kind::rank_ended && !failure.is_from_outside() &&
               (failure.rank < 0 || failure.rank == salvage_->rank)) {
        not_replayed_.insert(last_);
        failure = *salvage_;
        failure.salvaged = 0;
    }
    if (failure.salvaged != 0) {
        salvage_ = failure;
    }
    CKPT_INVARIANT(failure.salvaged == 0 || salvage_);
    return failure;
}

/* A restart whose ranks did not even come back may have failed because of the components that the
 * ranks named to their MPI library: they may be of no use any more. Then the next restart from this
 * checkpoint lets the library search. */
void JobRun::suspect_components()
{
    const auto setting = options_.settings.find(components_variable);
    const bool can_be_named = launcher_of(options_.command.at(0)) == Launcher::open_mpi &&
                              (setting == options_.settings.end() || setting->second != "search");

    if (have_ranks_come_ || !next_from_ || !can_be_named || last_ <= failed_to_come_) {
        return;
    }
    CKPT_INVARIANT(next_from_->number == last_);
    failed_to_come_ = last_;
    fmt::print(stderr, "ckpt: no rank has come back; in the next restart the MPI library searches "
                       "for its components\n");
}

std::optional<Invocation> JobRun::after_failure(const Ending &ending)
{
    Failure failure = repeat_while_unusable([&] { return cause_of(ending); });
    for (const std::string &host : ending.lost) {
        nodes_.lose(host);
        lost_nodes_.insert(host);
    }
    const auto checkpoint = checkpoint_to_restart();
    if (!has_enough_nodes()) {
        say_end(ending.exit_code, fmt::format("{} of {} nodes are left", nodes_.left(),
                                              nodes_.all()));
        return std::nullopt;
    }
    if (!checkpoint && !may_start_over()) {
        say_end(ending.exit_code, "there is no checkpoint to restart from");
        return std::nullopt;
    }
    const auto decision = policy_.after(failure, checkpoint ? checkpoint->number : 0);
    if (!decision.restart) {
        say_end(ending.exit_code, decision.why_not);
        return std::nullopt;
    }
    CKPT_INVARIANT(policy_.restarts() <= policy_.limits().restarts);
    suspect_components();
    fmt::print(stderr, "ckpt: {}; restart {} of at most {}, from {}\n",
               ending.failure ? failure.text()
                              : fmt::format("the job ended with code {}", ending.exit_code),
               policy_.restarts(), policy_.limits().restarts,
               checkpoint ? checkpoint->name() : "the beginning");
    if (!rest(std::max(decision.delay, time_to_fence(ending)))) {
        return std::nullopt;
    }
    last_ = checkpoint ? checkpoint->number : 0;
    return checkpoint ? restart(*checkpoint) : start_over();
}

/* Returns the time until all ranks on cut-off nodes have ended (fencing). */
milliseconds JobRun::time_to_fence(const Ending &ending)
{
    using std::chrono::ceil;

    if (!ending.silent_since) {
        return milliseconds(0);
    }
    return ceil<milliseconds>(*ending.silent_since + fencing_time - steady_clock::now());
}

void JobRun::say_end(int code, const std::string &why) const
{
    fmt::print(stderr, "ckpt: the job ended with code {}; {}\n", code, why);
}

} // namespace ckpt::cli
