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
#include "common/sockets/descriptor_passing.hpp"
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

/* From the order to live to the last HELLO. In a new world MPI_Init has no time limit. */
constexpr auto longest_thaw = std::chrono::seconds(30);
/* For the survivors' processes to become shells. Those that do not are ended. */
constexpr auto longest_shell = std::chrono::seconds(2);
/* From `recovering` to the answer. */
constexpr auto longest_answer = std::chrono::seconds(5);

/* Recoveries from one checkpoint. A program that fails in the same place each time is left to `ckpt
 * run`, which gives it up. */
constexpr int most_times = 5;

constexpr const char *no_library = "only jobs of Open MPI can";

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
      can_have_worlds_(settings.keeps_copies &&
                       !world::uses_mpich(world::environment_without_launcher())),
      library_(can_have_worlds_ ? library_of_environment() : std::string()),
      uses_shells_(library_of_environment().empty()), partners_(settings.host, partner_hooks()),
      worlds_(loop, settings,
              {[this](int rank, int code) { aborted(rank, code); },
               [this] { standby_.end(); },
               [this](const world::World &world) { partners_.registers(world); },
               [this](const world::FencePart &part) { partners_.fence(part); },
               [this](const std::string &name) { partners_.forget(name); }}),
      standby_(loop, worlds_,
               {[this](pid_t copy) { local_.note_segments(copy); }, [this] { stand_again(); }}),
      replay_(loop, local, worlds_, replay_hooks()), timer_(loop, [this] {
          is_overdue_ = phase_ == Phase::ending;
          trouble_ = phase_ == Phase::awaiting
                         ? (is_allowed_ ? "not all agents answer" : "ckpt run does not answer")
                     : is_overdue_ ? "the processes of the ranks do not end"
                                   : "the copies of the ranks do not come to life";
      })
{
    if (settings.keeps_copies && settings.keeps_only_with_room) {
        pressure_.emplace(loop, "memory", [this] { memory_is_short(); });
    }
}

ReplayInPlace::Hooks Recovery::replay_hooks()
{
    ReplayInPlace::Hooks hooks;

    hooks.streams = [this](int rank) {
        const auto known = processes_.find(rank);
        return known == processes_.end() || !known->second.streams ? nullptr
                                                                   : &*known->second.streams;
    };
    hooks.is_supervised = hooks_.is_supervised;
    hooks.news = hooks_.news;
    hooks.goes_on = hooks_.goes_on;
    hooks.save_instead = hooks_.save_instead;
    return hooks;
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
    replay_.rank_here(rank.rank());
    if (phase_ == Phase::thawing && thawing_.contains(rank.rank())) {
        thawing_.at(rank.rank())->connected();
    } else if (phase_ == Phase::awaiting && rank.rank() == dead_) {
        has_returned();
    }
}

/* The rank that disconnected has executed a program. */
void Recovery::has_returned()
{
    if (partners_.follows()) {
        report(RecoveryReport::Step::returned);
    } else {
        partners_.order({.step = RecoveryOrder::Step::give_up, .why = "nothing has ended"});
        hooks_.news({SalvageEvent::Kind::recovered, dead_, 0, 0, {}});
    }
    settle();
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
    if (is_under_way() || local_.salvage().is_under_way() || !has_streams_of_ended_) {
        return;
    }
    has_streams_of_ended_ = false;
    if (local_.ranks().empty()) {
        launcher_streams_.reset();
    }
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
    take_launcher_streams();
    standby_.end(); /* copies of the checkpoint before */
    late_ = 0;
    if (library_.empty() && settings_.keeps_copies && settings_.keeps_only_with_room) {
        local_.kept_copies().are_of_no_use(no_library);
        local_.kept_copies().drop(no_library);
    }
    if (!library_.empty() && !is_stopped_) {
        const auto nodes = partners_.follows() ? std::vector<world::WorldNode>() : hooks_.nodes();
        if (partners_.follows() || !nodes.empty()) {
            worlds_.prepare(nodes, library_);
        }
    }
}

void Recovery::twins_made()
{
    wants_standby_ = settings_.stands_by && !library_.empty() && !is_stopped_ &&
                     !partners_.follows() && hooks_.nodes().size() == 1;
}

/* The processors may have been too busy. */
void Recovery::stand_again()
{
    if (!is_under_way() && ++late_ < most_attempts) {
        local_.make_twins();
    }
}

/* Second copies begin MPI while the ranks run, but not while another world is entered. */
void Recovery::stand_by()
{
    standby_.look();
    if (!wants_standby_ || phase_ != Phase::idle || worlds_.is_coming() ||
        worlds_.is_forgetting() || standby_.is_ending()) {
        return;
    }
    wants_standby_ = false;
    if (!worlds_.obstacle().empty()) {
        return; /* told by the service */
    }
    auto twins = local_.kept_copies().take_twins();
    if (!twins.empty()) {
        const std::uint64_t number = local_.kept_copies().number();
        standby_.begin(std::move(twins), number, hooks_.name(number));
    }
}

/* Under mpirun the ranks have loaded the PMIx library of their MPI library. */
void Recovery::find_library()
{
    if (can_have_worlds_ && library_.empty() && !local_.ranks().empty()) {
        library_ = world::pmix_library_of(local_.ranks().begin()->second->pid());
    }
}

/* During a recovery the memory of the old processes is about to be free. */
void Recovery::memory_is_short()
{
    if (phase_ != Phase::idle || local_.kept_copies().number() == 0) {
        return;
    }
    spdlog::warn("programs wait for memory: the copies of the ranks end");
    wants_standby_ = false;
    standby_.end();
    local_.kept_copies().drop("programs have waited for memory");
}

/* ---- A rank dies -------------------------------------------------------------------- */

/* Returns why the job cannot recover in place when this rank dies; "": it can. */
std::string Recovery::obstacle(int rank) const
{
    if (local_.kept_copies().number() == 0) {
        return "no checkpoint whose copies are kept has been committed";
    }
    if (library_.empty()) {
        return no_library;
    }
    if (!copies_are_complete()) {
        return "copies of ranks have ended";
    }
    if (const std::string why = obstacle_of_job(); !why.empty()) {
        return why;
    }
    if (times_ >= most_times && local_.kept_copies().number() == number_) {
        return fmt::format("it has gone back to checkpoint {} {} times", number_, times_);
    }
    if (std::ranges::any_of(processes_, [](const auto &entry) { return !entry.second.streams; })) {
        return "the standard streams of a rank cannot be had";
    }
    const std::string why = local_.obstacle_to_going_back(rank);
    return why.empty() && !worlds_.is_coming() ? worlds_.obstacle() : why;
}

void Recovery::rank_gone(int rank)
{
    replay_.rank_gone(rank);
    if (!settings_.keeps_copies_of_all() || is_stopped_ || phase_ != Phase::idle ||
        local_.has_finished(rank)) {
        return;
    }
    const std::string why = obstacle(rank);
    if (partners_.follows()) {
        died(rank, why);
    } else if (why.empty()) {
        begin(rank);
    } else {
        not_begun(rank, why);
    }
}

void Recovery::begin(int rank)
{
    began_ = Clock::now();
    dead_ = rank;
    phase_ = Phase::awaiting;
    is_allowed_ = false;
    timer_.start(longest_answer);
    partners_.order({.step = RecoveryOrder::Step::ask,
                     .rank = rank,
                     .number = local_.kept_copies().number()});
    hooks_.news({SalvageEvent::Kind::recovering, rank, 0, 0, {}});
}

void Recovery::not_begun(int rank, const std::string &why)
{
    spdlog::warn("no recovery in place from the death of rank {}: {}", rank, why);
    partners_.order({.step = RecoveryOrder::Step::give_up, .why = why});
    hooks_.news({SalvageEvent::Kind::not_recovered, rank, 0, 0, why});
}

/* A program that is asked to end may still write its last results. */
void Recovery::answered(bool is_allowed)
{
    replay_.answered(is_allowed);
    if (phase_ == Phase::awaiting && !is_allowed) {
        fail("the end of the job was requested");
    }
    is_allowed_ = is_allowed;
}

/* The survivors' state is of no use any more. They must have ended before files are rolled back. */
void Recovery::end_others()
{
    phase_ = Phase::ending;
    spdlog::info("{}; all ranks go back in place",
                 is_adopting_ ? "the launcher has ended" : fmt::format("rank {} has died", dead_));
    partners_.order_if_leading({.step = RecoveryOrder::Step::end});
    fault_kill("agent-at-recovery");
    awaits_shells_ = false;
    for (const auto &[rank, known] : processes_) {
        if (known.process) {
            end_process(rank);
        }
    }
    timer_.start(awaits_shells_ ? longest_shell : longest_end);
}

/* A process that the launcher has started becomes a shell. Any other one ends: a shell would keep
 * its connection to ckpt-world. */
void Recovery::end_process(int rank)
{
    const auto copy = local_.kept_copies().kept().find(rank);

    if (uses_shells_ && !processes_.at(rank).was_copy && local_.ranks().contains(rank) &&
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
    replay_.look();
    if (partners_.follows()) {
        look_as_follower();
        close_streams();
        return;
    }
    if (phase_ != Phase::idle && !partner_failure_.empty()) {
        partner_failed();
    }
    if (phase_ == Phase::awaiting && !trouble_.empty()) {
        fail(std::exchange(trouble_, {}));
    }
    if (phase_ == Phase::awaiting && is_allowed_ &&
        partners_.all_have(RecoveryReport::Step::able)) {
        timer_.stop();
        if (has_ended(dead_)) {
            end_others();
        }
    }
    if (phase_ == Phase::ending && std::exchange(is_overdue_, false)) {
        overdue();
    }
    if (phase_ == Phase::ending && all_have_ended() && hooks_.is_settled() &&
        !worlds_.is_coming() && !standby_.is_coming() &&
        partners_.all_have(RecoveryReport::Step::ended)) {
        timer_.stop();
        if (const std::string why = shells_are_missing() ? leave_launcher() : std::string();
            !why.empty()) {
            fail(why);
        } else {
            roll_back();
        }
    }
    if (phase_ == Phase::thawing && !trouble_.empty()) {
        attempt_failed(std::exchange(trouble_, {}));
    }
    if (phase_ == Phase::thawing &&
        std::ranges::all_of(thawing_,
                            [](const auto &entry) { return entry.second->is_connected(); }) &&
        partners_.all_have(RecoveryReport::Step::alive)) {
        done();
    }
    if (phase_ == Phase::idle && std::exchange(is_asked_to_adopt_, false)) {
        try_to_adopt();
    }
    close_streams();
    stand_by();
}

/* ---- The way back --------------------------------------------------------------------- */

/* A checkpoint that was under way may have been committed meanwhile, so its copies count. */
void Recovery::roll_back()
{
    if (!copies_are_complete()) {
        fail("copies of ranks have ended");
        return;
    }
    phase_ = Phase::rolling_back;
    thawing_.clear(); /* of an attempt before */
    times_ = local_.kept_copies().number() == number_ ? times_ : 0;
    number_ = local_.kept_copies().number();
    if (!partners_.follows()) {
        checkpoint_ = hooks_.name(number_);
    }
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
    phase_ = Phase::thawing;
    attempts_++;
    trouble_.clear();
    fault_kill("agent-at-thaw");
    local_.recovered_from(number_);
    timer_.start(longest_thaw);
    if (standby_.number() == number_) {
        wake_standing();
    } else {
        standby_.end();
        thaw_frozen();
    }
}

/* why: the first one counts; "": nothing has failed */
void Recovery::failed(const std::string &why)
{
    trouble_ = trouble_.empty() ? why : trouble_;
}

/* The process is the rank from now on. */
void Recovery::lead(int rank, std::unique_ptr<Thawing> thawing, Fd own)
{
    const auto [place, is_new] = thawing_.emplace(rank, std::move(thawing));

    CKPT_INVARIANT(is_new);
    processes_.at(rank).was_copy = true;
    local_.accept(std::move(own), place->second->pid());
    local_.shells().follow(rank, place->second->pid());
}

void Recovery::wake_standing()
{
    Standby::Standing standing = standby_.take([this](const std::string &why) { failed(why); });

    worlds_.entered(standing.world);
    for (auto &[rank, thawing] : standing.copies) {
        auto [own, theirs] = connected_pair(
            SOCK_SEQPACKET, fmt::format("no connection to rank {}", rank));
        failed(Standby::go(standing.controls.at(rank), theirs, *processes_.at(rank).streams));
        lead(rank, std::move(thawing), std::move(own));
    }
}

void Recovery::thaw_frozen()
{
    if (!entered_) {
        if (const std::string obstacle = worlds_.obstacle(); !obstacle.empty()) {
            ckpt::fail("{}", obstacle);
        }
        partners_.order_if_leading({.step = RecoveryOrder::Step::thaw,
                                    .number = number_,
                                    .checkpoint = checkpoint_,
                                    .world = worlds_.next()});
        entered_ = worlds_.enter();
    }
    NextWorld world = *std::exchange(entered_, std::nullopt);
    for (auto &[rank, copy] : local_.kept_copies().take()) {
        auto [own, theirs] = connected_pair(
            SOCK_SEQPACKET, fmt::format("no connection to rank {}", rank));
        Thawing::Order order{rank, copy, checkpoint_,
                             std::move(world.environments.at(rank)),
                             *processes_.at(rank).streams, std::move(theirs)};
        auto thawing = std::make_unique<Thawing>(
            loop_, std::move(order),
            Thawing::Hooks{[this](const std::string &why) { failed(why); }});
        worlds_.process_of(world.name, rank, thawing->pid());
        lead(rank, std::move(thawing), std::move(own));
    }
}

void Recovery::refused(pid_t process, const std::string &why, bool is_final)
{
    replay_.refused(process, why);
    for (const auto &[rank, thawing] : thawing_) {
        if (thawing->pid() == process) {
            trouble_ = fmt::format("rank {}: {}", rank, why);
            attempts_ = is_final ? most_attempts : attempts_;
        }
    }
}

void Recovery::done()
{
    CKPT_INVARIANT(thawing_.size() == processes_.size());
    times_++;
    if (!partners_.follows()) {
        tell_done();
    }
    worlds_.forget_former();
    local_.make_twins();
    settle();
}

void Recovery::tell_done()
{
    const std::chrono::duration<double> took = Clock::now() - began_;

    partners_.order({.step = RecoveryOrder::Step::done});
    spdlog::info("all ranks have gone back to {} in place, in {}", hooks_.name(number_),
                 format_seconds(took.count()));
    hooks_.news({SalvageEvent::Kind::recovered, dead_, number_, 0, {}, took.count()});
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
    if (attempts_ == most_attempts || !copies_are_complete()) {
        fail(why);
        return;
    }
    spdlog::warn("{}; another world is tried", why);
    partners_.order({.step = RecoveryOrder::Step::end});
    phase_ = Phase::ending;
    timer_.start(longest_end);
}

/* Nothing of this attempt may live on beside the ranks of a restart. */
void Recovery::clean_up(const std::string &why)
{
    end_copies();
    local_.kept_copies().drop(why);
    if (phase_ != Phase::awaiting) {
        local_.shells().kill(); /* their launcher ends, too */
    }
}

void Recovery::fail(const std::string &why)
{
    clean_up(why);
    spdlog::warn("no recovery in place: {}", why);
    if (partners_.follows()) {
        partners_.report({.step = RecoveryReport::Step::failed, .is_final = true, .why = why});
    } else {
        partners_.order({.step = RecoveryOrder::Step::give_up, .why = why});
        hooks_.news({SalvageEvent::Kind::not_recovered, dead_, 0, 0, why});
    }
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
    must_answer_ = false;
    has_reported_ = false;
    entered_.reset();
    partner_failure_.clear();
    dead_ = -1;
    is_adopting_ = false;
}

void Recovery::stop()
{
    is_stopped_ = true;
    wants_standby_ = false;
    standby_.end();
    replay_.stop();
    if (phase_ != Phase::idle) {
        fail("the end of the job was requested");
    }
}

} // namespace ckpt
