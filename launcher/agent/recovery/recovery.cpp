/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recovery.cpp - the steps from a rank's death to the moment at which all ranks compute again.
 */
#include "agent/recovery/recovery.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/invariant.hpp"
#include "common/pidfd.hpp"
#include "common/processes.hpp"
#include "world/pmix_library.hpp"
#include "world/rank_environment.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace ckpt
{

namespace
{

/* From the order to live to the last HELLO. MPI_Init of a new world has no limit of its own. */
constexpr auto longest_thaw = std::chrono::seconds(30);
/* For the survivors' processes to become shells. Those that do not are ended. */
constexpr auto longest_shell = std::chrono::seconds(2);
/* For the survivors to end, for a checkpoint under way, and for the next world to be registered. */
constexpr auto longest_end = std::chrono::seconds(30);
/* From `recovering` to the answer. */
constexpr auto longest_answer = std::chrono::seconds(5);

/* Worlds that the ranks try to enter after one failure. */
constexpr int most_attempts = 3;
/* Recoveries from one checkpoint. A program that fails in the same place each time is left to `ckpt
 * run`, which gives it up. */
constexpr int most_times = 5;

constexpr const char *no_process_left = "mpirun ends with its last process";

/* ckpt-launch sets it: it goes on when ranks end, and takes the copies as its children. */
constexpr const char *library_variable = "CKPT_WORLD_LIBRARY";

std::string library_of_environment()
{
    const char *library = std::getenv(library_variable);

    return library == nullptr ? std::string() : std::string(library);
}

} // namespace

Recovery::Recovery(EventLoop &loop, LocalNode &local, const Settings &settings, Hooks hooks)
    : loop_(loop), local_(local), settings_(settings), hooks_(std::move(hooks)),
      library_(library_of_environment()), uses_shells_(library_.empty()),
      worlds_(loop, settings, {[this](int rank, int code) { hooks_.aborted(rank, code); }}),
      timer_(loop, [this] {
          is_overdue_ = phase_ == Phase::ending;
          trouble_ = phase_ == Phase::awaiting ? "ckpt run does not answer"
                     : is_overdue_             ? "the processes of the ranks do not end"
                                               : "the copies of the ranks do not come to life";
      })
{
}

Recovery::~Recovery()
{
    for (const auto &[rank, known] : processes_) {
        if (known.process) {
            loop_.forget(known.process.get());
        }
    }
}

/* ---- Between failures ------------------------------------------------------------ */

void Recovery::rank_here(const RankSession &rank)
{
    if (!settings_.keeps_copies) {
        return;
    }
    Process &known = processes_[rank.rank()];

    if (known.process) {
        loop_.forget(known.process.get());
    }
    rank_count_ = rank.rank_count();
    known.process = Fd(fcntl(rank.process_descriptor(), F_DUPFD_CLOEXEC, 0));
    take_streams(known);
    watch_end_of(rank.rank());
    if (phase_ == Phase::thawing && thawing_.contains(rank.rank())) {
        thawing_.at(rank.rank())->connected();
    } else if (phase_ == Phase::awaiting && rank.rank() == dead_) {
        hooks_.news({SalvageEvent::Kind::recovered, dead_, 0, 0, {}}); /* it executed a program */
        settle();
    }
}

void Recovery::watch_end_of(int rank)
{
    const Fd &process = processes_.at(rank).process;

    if (process) {
        loop_.watch(process.get(), EPOLLIN, [this, rank](std::uint32_t) { ended(rank); });
    }
}

/* A rank that has just connected may not let this process trace it yet. */
void Recovery::take_streams(Process &known) const
{
    if (known.process) {
        auto streams = streams_of(known.process.get());
        if (streams) {
            known.streams = std::move(streams);
        }
    }
}

void Recovery::ended(int rank)
{
    Process &known = processes_.at(rank);

    loop_.forget(known.process.get());
    known.process.reset();
    has_streams_of_ended_ = true;
}

/* Readers of an ended rank's output may wait for its end. Until it is clear whether the rank comes
 * back its streams are needed. */
void Recovery::close_streams()
{
    if (phase_ != Phase::idle || !has_streams_of_ended_) {
        return;
    }
    has_streams_of_ended_ = false;
    for (auto &[rank, known] : processes_) {
        const bool is_gone = !local_.ranks().contains(rank);
        if (!known.process && is_gone) {
            known.streams.reset();
        } else if (!known.process) {
            has_streams_of_ended_ = true; /* rank_gone() comes */
        }
    }
}

void Recovery::committed()
{
    for (auto &[rank, known] : processes_) {
        if (!known.streams) {
            take_streams(known);
        }
    }
    find_library();
    if (!library_.empty() && !is_stopped_) {
        worlds_.prepare(rank_count_, library_);
    }
}

/* Under mpirun the ranks have loaded the PMIx library of their MPI library. */
void Recovery::find_library()
{
    if (!settings_.keeps_copies || world::uses_mpich(world::environment_without_launcher())) {
        library_.clear();
    } else if (library_.empty() && !local_.ranks().empty()) {
        library_ = world::pmix_library_of(local_.ranks().begin()->second->pid());
    }
}

/* ---- A rank dies -------------------------------------------------------------------- */

/* Returns why the job cannot recover in place when this rank dies; "": it can. */
std::string Recovery::obstacle(int rank) const
{
    if (local_.kept_copies().number() == 0) {
        return "no checkpoint whose copies are kept has been committed";
    }
    if (library_.empty()) {
        return "only jobs of Open MPI can";
    }
    if (uses_shells_ && local_.shells().empty() && local_.ranks().empty()) {
        return no_process_left;
    }
    if (!local_.kept_copies().is_complete(rank_count_)) {
        return "copies of ranks have ended";
    }
    if (!hooks_.is_supervised()) {
        return "ckpt run has gone";
    }
    if (times_ >= most_times && local_.kept_copies().number() == number_) {
        return fmt::format("it has gone back to checkpoint {} {} times", number_, times_);
    }
    if (std::ranges::any_of(processes_, [](const auto &entry) { return !entry.second.streams; })) {
        return "the standard streams of a rank cannot be had";
    }
    const std::string why = local_.obstacle_without(rank);
    return why.empty() && !worlds_.is_coming() ? worlds_.obstacle() : why;
}

void Recovery::rank_gone(int rank)
{
    if (!settings_.keeps_copies || is_stopped_ || phase_ != Phase::idle ||
        local_.has_finished(rank)) {
        return;
    }
    const std::string why = obstacle(rank);
    if (!why.empty()) {
        spdlog::warn("no recovery in place from the death of rank {}: {}", rank, why);
        hooks_.news({SalvageEvent::Kind::not_recovered, rank, 0, 0, why});
        return;
    }
    began_ = Clock::now();
    dead_ = rank;
    phase_ = Phase::awaiting;
    is_allowed_ = false;
    timer_.start(longest_answer);
    hooks_.news({SalvageEvent::Kind::recovering, rank, 0, 0, {}});
}

/* A program that is asked to end may still write its last results. */
void Recovery::answered(bool is_allowed)
{
    if (phase_ == Phase::awaiting && !is_allowed) {
        fail("the end of the job was requested");
    }
    is_allowed_ = is_allowed;
    if (phase_ == Phase::awaiting) {
        timer_.stop();
    }
}

/* The survivors' state is of no use any more. They must have ended before files are rolled back. */
void Recovery::end_others()
{
    phase_ = Phase::ending;
    spdlog::info("rank {} has died; all ranks go back in place", dead_);
    fault_kill("agent-at-recovery");
    awaits_shells_ = false;
    for (const auto &[rank, known] : processes_) {
        if (known.process) {
            end_process(rank);
        }
    }
    timer_.start(awaits_shells_ ? longest_shell : longest_end);
}

/* A process that the launcher has started becomes a shell. A rank that has come back has one. */
void Recovery::end_process(int rank)
{
    const auto copy = local_.kept_copies().kept().find(rank);

    if (uses_shells_ && !local_.shells().has(rank) && local_.ranks().contains(rank) &&
        copy != local_.kept_copies().kept().end()) {
        awaits_shells_ = true;
        local_.become_shell(rank, copy->second.process->pid());
    } else {
        send_signal(processes_.at(rank).process, SIGKILL);
    }
}

void Recovery::rank_is_shell(int rank)
{
    if (const auto known = processes_.find(rank); known != processes_.end()) {
        ended(rank);
    }
}

/* The launcher is to see the end of the rank. If the rank may come back, nothing has ended yet. */
void Recovery::rank_exited(int rank, int status)
{
    if (phase_ == Phase::idle) {
        local_.shells().end(rank, exit_code_of(status));
    }
}

/* A process cannot become a shell in a system call that does not end, for example. */
void Recovery::overdue()
{
    if (!std::exchange(awaits_shells_, false)) {
        fail(worlds_.is_coming() ? worlds_.obstacle() : std::exchange(trouble_, {}));
        return;
    }
    trouble_.clear();
    for (const auto &[rank, known] : processes_) {
        if (known.process) {
            spdlog::warn("the process of rank {} does not become a shell: it is ended", rank);
            send_signal(known.process, SIGKILL);
        }
    }
    timer_.start(longest_end);
}

bool Recovery::all_have_ended() const
{
    return local_.ranks().empty() &&
           std::ranges::none_of(processes_,
                                [](const auto &entry) {
                                    return static_cast<bool>(entry.second.process);
                                }) &&
           std::ranges::none_of(thawing_,
                                [](const auto &entry) { return entry.second->is_alive(); });
}

void Recovery::look()
{
    if (phase_ == Phase::awaiting && !trouble_.empty()) {
        fail(std::exchange(trouble_, {}));
    }
    if (phase_ == Phase::awaiting && is_allowed_ && !processes_.at(dead_).process) {
        end_others();
    }
    if (phase_ == Phase::ending && std::exchange(is_overdue_, false)) {
        overdue();
    }
    if (phase_ == Phase::ending && all_have_ended() && hooks_.is_settled() &&
        !worlds_.is_coming()) {
        timer_.stop();
        if (uses_shells_ && local_.shells().empty()) {
            fail(no_process_left);
        } else {
            roll_back();
        }
    }
    if (phase_ == Phase::thawing && !trouble_.empty()) {
        attempt_failed(std::exchange(trouble_, {}));
    }
    if (phase_ == Phase::thawing &&
        std::ranges::all_of(thawing_,
                            [](const auto &entry) { return entry.second->is_connected(); })) {
        done();
    }
    close_streams();
}

/* ---- The way back --------------------------------------------------------------------- */

/* A checkpoint that was under way may have been committed meanwhile, so its copies count. */
void Recovery::roll_back()
{
    if (!local_.kept_copies().is_complete(rank_count_)) {
        fail("copies of ranks have ended");
        return;
    }
    phase_ = Phase::rolling_back;
    thawing_.clear(); /* of an attempt before */
    times_ = local_.kept_copies().number() == number_ ? times_ : 0;
    number_ = local_.kept_copies().number();
    hooks_.roll_back(number_, [this](const std::string &why) {
        if (phase_ != Phase::rolling_back) {
            return; /* the end of the job was requested meanwhile */
        }
        if (!why.empty()) {
            fail(why);
            return;
        }
        try {
            thaw();
        } catch (const std::exception &problem) {
            fail(problem.what());
        }
    });
}

void Recovery::thaw()
{
    const std::string obstacle = worlds_.obstacle();
    if (!obstacle.empty()) {
        ckpt::fail("{}", obstacle);
    }
    phase_ = Phase::thawing;
    attempts_++;
    trouble_.clear();
    fault_kill("agent-at-thaw");
    NextWorld world = worlds_.enter();
    local_.recovered_from(number_);
    timer_.start(longest_thaw);
    for (auto &[rank, copy] : local_.kept_copies().take()) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
            fail_errno(errno, "no connection to rank {}", rank);
        }
        Fd own(ends[0]);
        Thawing::Order order{rank, copy, hooks_.name(number_),
                             std::move(world.environments.at(rank)),
                             *processes_.at(rank).streams, Fd(ends[1])};
        const auto [place, is_new] = thawing_.emplace(
            rank, std::make_unique<Thawing>(loop_, std::move(order),
                                            Thawing::Hooks{[this](const std::string &why) {
                                                trouble_ = trouble_.empty() ? why : trouble_;
                                            }}));
        CKPT_INVARIANT(is_new);
        local_.accept(std::move(own), place->second->pid());
        local_.shells().follow(rank, place->second->pid());
        worlds_.process_of(rank, place->second->pid());
    }
}

void Recovery::refused(pid_t process, const std::string &why)
{
    for (const auto &[rank, thawing] : thawing_) {
        if (thawing->pid() == process) {
            trouble_ = fmt::format("rank {}: {}", rank, why);
            attempts_ = most_attempts; /* its twin would refuse, too */
        }
    }
}

void Recovery::done()
{
    const std::chrono::duration<double> took = Clock::now() - began_;

    CKPT_INVARIANT(std::ssize(thawing_) == rank_count_);
    times_++;
    spdlog::info("all ranks have gone back to {} in place, in {}", hooks_.name(number_),
                 format_seconds(took.count()));
    hooks_.news({SalvageEvent::Kind::recovered, dead_, number_, 0, {}, took.count()});
    worlds_.forget_former();
    local_.make_twins();
    settle();
}

void Recovery::end_copies() const
{
    for (const auto &[rank, thawing] : thawing_) {
        thawing->kill();
    }
}

/* Another rank may have died meanwhile. */
void Recovery::attempt_failed(const std::string &why)
{
    end_copies();
    timer_.stop();
    if (attempts_ == most_attempts || !local_.kept_copies().is_complete(rank_count_)) {
        fail(why);
        return;
    }
    spdlog::warn("{}; another world is tried", why);
    phase_ = Phase::ending;
    timer_.start(longest_end);
}

/* Nothing of this attempt may live on beside the ranks of a restart. */
void Recovery::fail(const std::string &why)
{
    end_copies();
    local_.kept_copies().drop();
    if (phase_ != Phase::awaiting) {
        local_.shells().kill(); /* their launcher ends, too */
    }
    spdlog::warn("no recovery in place: {}", why);
    hooks_.news({SalvageEvent::Kind::not_recovered, dead_, 0, 0, why});
    settle();
}

void Recovery::settle()
{
    timer_.stop();
    thawing_.clear();
    trouble_.clear();
    phase_ = Phase::idle;
    is_allowed_ = false;
    is_overdue_ = false;
    attempts_ = 0;
    dead_ = -1;
}

void Recovery::stop()
{
    is_stopped_ = true;
    if (phase_ != Phase::idle) {
        fail("the end of the job was requested");
    }
}

} // namespace ckpt
