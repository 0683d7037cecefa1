/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator.cpp - one job: its name and directory, requests for checkpoints, and the answers to
 * them.
 */
#include "agent/coordinator/coordinator.hpp"

#include "common/background.hpp"
#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"
#include "image/seal/image_key.hpp"
#include "image/nodefile/message_log.hpp"

#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <memory>
#include <utility>

namespace ckpt
{

namespace
{

using std::chrono::steady_clock;

/* Interval at which the coordinator reads the rank pages while ranks align. */
constexpr auto align_tick = std::chrono::milliseconds(2);
/* Interval at which ranks that must log messages are reminded. */
constexpr auto moving_tick = std::chrono::milliseconds(10);
/* Interval at which the coordinator reads the rank pages while ranks hold a request. */
constexpr auto held_tick = std::chrono::milliseconds(20);
constexpr auto progress_tick = std::chrono::milliseconds(100);
/* Interval at which the coordinator reads the page of ranks with independent checkpoints. */
constexpr auto cap_tick = std::chrono::milliseconds(250);
constexpr auto periodic_retry = std::chrono::seconds(1);
/* How long the survivors of a dead rank may take to stop. */
constexpr auto salvage_timeout = std::chrono::seconds(10);
constexpr std::size_t longest_program_name = 100;

CutProtocol::Options machine_options(const Settings &settings)
{
    CutProtocol::Options options;
    options.timeout =
        std::chrono::duration_cast<CutProtocol::Duration>(settings.timeout);
    return options;
}

steady_clock::duration whole(CheckpointInterval::Duration duration)
{
    return std::chrono::duration_cast<steady_clock::duration>(duration);
}

/* Returns `text` in a form that can be part of a job's name. */
std::string name_part(std::string text)
{
    for (char &letter : text) {
        bool good = std::isalnum(static_cast<unsigned char>(letter)) ||
                    letter == '.' || letter == '_' || letter == '-';
        letter = good ? letter : '_';
    }
    if (text.empty() || text.front() == '.') {
        text.insert(text.begin(), '_');
    }
    return text.substr(0, longest_program_name);
}

} // namespace

Coordinator::Coordinator(const Settings &settings, WorkerThread &worker,
                         const LaunchFacts &facts, int rank_count,
                         Answer answer, Hooks hooks)
    : settings_(settings), worker_(worker), answer_(std::move(answer)),
      hooks_(std::move(hooks)),
      facts_(facts), opener_(settings, facts.launcher_pid),
      unopened_(settings.timeout), places_(rank_count),
      machine_(rank_count, places_, machine_options(settings)),
      choice_(CutChoice::protocol_from(settings.protocol),
              CutChoice::stagger_from(settings.stagger)),
      epoch_(settings.restart_number), held_(rank_count, settings.timeout, held_hooks()),
      joint_(rank_count), interval_(settings.interval),
      statistics_(interval_.is_periodic()),
      opening_(worker, [this] { take_opened(); })
{
    CKPT_EXPECT(rank_count > 0);
    remover_.run(step_back);
    choose_name(facts);
    open_at_start();
}

/* ---- The job and its directory -------------------------------------------- */

void Coordinator::choose_name(const LaunchFacts &facts)
{
    job_ = settings_.restart_job.empty() ? settings_.name
                                         : settings_.restart_job;
    try {
        if (!job_.empty()) {
            require_job_name(job_);
            return;
        }
    } catch (const Error &error) {
        spdlog::warn("{}", error.what());
    }
    job_ = name_part(facts.program) + "-" +
           (facts.launcher_pid > 0
                ? std::to_string(facts.launcher_pid)
                : control::namespace_hash(settings_.launch_namespace));
}

JobState Coordinator::job_state(const char *text) const
{
    return opener_.state(job_, earlier_, text);
}

/* The lock in the slow store says who owns the job. TierFlush writes the state there on its own
 * thread. */
void Coordinator::write_job_state(const JobState &state)
{
    CKPT_EXPECT(store_ && ownership_ != nullptr);
    ownership_->require_ours(); /* a later launch writes its own state */
    store_->write_job_state(state);
    if (flush_) {
        flush_->write_job_state(state);
    }
}

void Coordinator::has_recovered()
{
    earlier_.failures++;
    interval_.observe(opener_.history(earlier_));
    if (store_) {
        note_progress();
    }
}

void Coordinator::end(bool is_asked_for)
{
    ended_as_ = killed_ || machine_.has_finished() ? "ended"
                : is_asked_for                     ? control::interrupted
                                                   : "failed";
    if (!store_) {
        return;
    }
    worker_.stop(); /* the worker may still have an older state to write */
    try {
        write_job_state(job_state(ended_as_.c_str()));
        ownership_->release();
    } catch (const std::exception &error) {
        spdlog::error("{}", error.what());
    }
    free_nodes();
    spdlog::info("job {} has ended{}", job_,
                 ended_as_ == control::interrupted ? ", on request" : "");
}

/* ---- Requests ------------------------------------------------------------- */

void Coordinator::answer(const Waiting &waiting, const control::Reply &reply)
{
    if (waiting.client != 0) { /* 0: a periodic checkpoint, or a rank */
        answer_(waiting.client, reply);
    }
    if (waiting.rank >= 0 && reply.event != "progress") {
        places_.send({waiting.rank,
                      CKPT_MSG_ANSWER,
                      true,
                      {.answer = {waiting.number}},
                      control::refusal_of(reply).text()},
                     epoch_);
    }
}

void Coordinator::answer_refusal(const Waiting &waiting, const Refusal &why)
{
    answer(waiting, control::error_reply(why));
}

void Coordinator::request(ClientId client, Then then)
{
    request({client, then});
}

void Coordinator::request(const Waiting &waiting)
{
    if (held_.is_holding()) {
        held_.add(waiting);
    } else if (machine_.phase() == Phase::idle) {
        start({waiting}, steady_clock::now(), choice_.protocol());
    } else if (machine_.may_join()) {
        attempt_.then = std::max(attempt_.then, waiting.then);
        machine_.join(waiting.then != Then::go_on);
        clients_.push_back(waiting);
        tell_progress(true);
    } else {
        if (queue_.empty()) {
            wait_for_undo(steady_clock::now());
        }
        queue_.push_back(waiting);
        control::Reply reply;
        reply.event = "progress";
        reply.progress.phase = "queued";
        reply.progress.rank_count = machine_.rank_count();
        answer(waiting, reply);
    }
}

void Coordinator::client_gone(ClientId client)
{
    auto is = [client](const Waiting &waiting) {
        return waiting.client == client;
    };
    std::erase_if(clients_, is);
    std::erase_if(queue_, is);
    unopened_.withdraw(client);
    if (held_.withdraw(client)) {
        drop_held({CKPT_REFUSAL_WITHDRAWN, "the request was withdrawn"});
    }
}

/* CUT names the log that a rank has to write. Returns whether that path fits into a message. */
bool Coordinator::can_name_logs() const
{
    const std::string any_number(std::numeric_limits<std::uint64_t>::digits10 + 1, '0');
    const auto log = message_log_path(store_->directory() / job_ / any_number,
                                      machine_.rank_count());

    return log.native().size() < sizeof(ckpt_message::text);
}

/* Returns why no checkpoint can be taken now, or nothing. */
Refusal Coordinator::obstacle() const
{
    const Refusal obstacle =
        is_unsound() ? refusal_of_violation() : machine_.obstacle();

    return obstacle.empty() ? places_.obstacle() : obstacle;
}

/* Lets the checkpoint under way fail, after a violated invariant of this agent. obstacle() refuses
 * all others. */
void Coordinator::give_up()
{
    CKPT_EXPECT(is_unsound());
    if (machine_.phase() != Phase::idle) {
        failed(refusal_of_violation());
    }
    statistics_.give_up(refusal_of_violation(), steady_clock::now());
}

void Coordinator::refuse(const std::vector<Waiting> &clients, const Refusal &why)
{
    statistics_.count_refusal(why);
    for (const Waiting &waiting : clients) {
        answer_refusal(waiting, why);
    }
    end_salvage(0, why);
    end_held();
    worker_.reply([this] { start_waiting(); }); /* if this attempt was a repetition */
}

void Coordinator::start(std::vector<Waiting> clients, Time now,
                        Protocol protocol)
{
    const Refusal why_not = obstacle();

    if (!why_not.empty()) {
        refuse(clients, why_not);
    } else if (!store_ || lacks_journal()) {
        wait_until_opened(std::move(clients), protocol);
    } else {
        begin(std::move(clients), now, protocol);
    }
}

/* Requires that obstacle() is empty and that the store is open. */
void Coordinator::begin(std::vector<Waiting> clients, Time now, Protocol protocol)
{
    CKPT_EXPECT(machine_.phase() == Phase::idle && store_ && ownership_ != nullptr);
    CKPT_EXPECT(places_.is_complete());
    if (protocol != Protocol::sync_and_stop && !can_name_logs()) {
        spdlog::warn("the path of {} is too long for other protocols than "
                     "Sync-and-Stop",
                     store_->directory().string());
        protocol = Protocol::sync_and_stop;
    }
    clients_ = std::move(clients);
    held_.attempt_begins();
    attempt_ = {};
    for (const Waiting &waiting : clients_) {
        attempt_.then = std::max(attempt_.then, waiting.then);
    }
    if (proxy_ >= 0) { /* the dead rank cannot run on, and so the others cannot either */
        attempt_.replayed = proxy_;
        attempt_.then = Then::kill;
        protocol = Protocol::sync_and_stop;
    }
    attempt_.cpu_before = process_cpu_seconds();
    attempt_.stagger = choice_.stagger();
    attempt_.lanes = places_.lanes(attempt_.stagger);
    const CutPlan plan{protocol, attempt_.lanes, attempt_.replayed, salvage_timeout,
                       attempt_.then != Then::go_on};
    told_phase_ = Phase::idle;
    statistics_.attempt_begins(now);
    spdlog::info("checkpoint requested, epoch {}", epoch_ + 1);
    if (!attempt_.lanes.empty()) {
        spdlog::info("ranks take turns, in {} lanes", attempt_.lanes.size());
    }
    for (Node *node : places_.nodes()) {
        node->compare_clocks();
    }
    trace_.begin("sns", machine_.rank_count(), places_.to_trace(), now);
    trace_.set_refusals(statistics_.earlier_attempts());
    attempt_.files_mark = next_files_mark();
    machine_.request(++epoch_, now, plan);
    CKPT_INVARIANT(machine_.epoch() == epoch_);
    perform();
}

/* Returns a mark that is greater than the marks of all checkpoints of all launches of the job.
 * Returns 0 for a checkpoint without a mark: the journal cannot be made or read, or could not be
 * trusted because the checkpoints are encrypted. */
std::uint64_t Coordinator::next_files_mark()
{
    if (image_key() || file_journal_.empty()) {
        return 0;
    }
    /* The clock alone is not enough: it may have been set back, or another host's clock ran
     * ahead. */
    files_mark_ = std::max(files_mark_ + 1, static_cast<std::uint64_t>(now_nanoseconds()));
    return files_mark_;
}

std::optional<journal::Wish> Coordinator::files_at(std::uint64_t number) const
{
    CKPT_EXPECT(number == committed_);
    if (image_key() || file_journal_.empty()) {
        return std::nullopt;
    }
    journal::Wish wish;
    wish.journal = file_journal_;
    wish.checkpoint = committed_mark_;
    wish.has_mark = committed_mark_ != 0;
    wish.name = fmt::format("checkpoint {}/{}", job_, number);
    wish.ranks = {machine_.rank_count(), {}};
    return wish;
}

/* Starts the attempt after all actions that are still to be performed. The next periodic
 * checkpoint cannot become due before, but another request may have come. */
void Coordinator::start_once_more(std::vector<Waiting> clients, Protocol protocol)
{
    last_end_ = steady_clock::now();
    worker_.reply([this, clients = std::move(clients), protocol] {
        if (machine_.phase() == Phase::idle && !held_.is_holding()) {
            start(clients, steady_clock::now(), protocol);
            return;
        }
        for (const Waiting &waiting : clients) {
            request(waiting);
        }
    });
}

void Coordinator::start_waiting()
{
    if (machine_.phase() == Phase::idle && !queue_.empty() && !held_.is_holding()) {
        start(std::exchange(queue_, {}), steady_clock::now(),
              choice_.protocol());
    }
}

bool Coordinator::idle() const
{
    return machine_.phase() == Phase::idle && queue_.empty() && !held_.is_holding() &&
           !opening_.is_under_way() && unopened_.empty() && remover_.idle() &&
           (!flush_ || flush_->idle()) && (!node_level_ || node_level_->idle());
}

/* ---- Time ------------------------------------------------------------------ */

Coordinator::Time Coordinator::next_periodic() const
{
    CKPT_EXPECT(last_end_);
    return *last_end_ + whole(interval_.value());
}

void Coordinator::tick_protection(Time now)
{
    const bool is_under_way = machine_.phase() != Phase::idle && !machine_.is_settling();

    if (auto news = statistics_.news(is_under_way, now, whole(interval_.value()))) {
        if (news->is_unprotected) {
            spdlog::error("the job is unprotected: {}", news->why);
        }
        hooks_.protection(*news);
    }
}

void Coordinator::tick(Time now)
{
    tick_opening(now);
    tick_protection(now);
    if (machine_.phase() != Phase::idle) {
        machine_.tick(now);
        perform();
        tick_undo(now);
        tick_flush(now);
        tell_progress(false);
        return;
    }
    if (store_ && std::exchange(leftover_due_, false)) {
        flush_leftover();
    }
    if (held_.is_holding()) {
        tick_held(now);
        return;
    }
    tick_cap(now);
    if (machine_.phase() == Phase::idle && interval_.is_periodic() && last_end_ &&
        now >= next_periodic()) {
        if (machine_.obstacle().empty() && unopened_.empty()) {
            start({{0}}, now, choice_.protocol());
        }
        if (machine_.phase() == Phase::idle) { /* impossible at present, or waits for the store */
            last_end_ = now - whole(interval_.value()) + periodic_retry;
        }
    }
}

/* Whether logs have a limit. All ranks have been present, and are on one node if there is a
 * page. */
bool Coordinator::watches_logs() const
{
    return settings_.protocol == CutChoice::independent && last_end_;
}

/* During a salvage the survivors are about to be saved anyway. */
void Coordinator::tick_cap(Time now)
{
    const Node *node = places_.node_of(0);

    if (!watches_logs() || proxy_ >= 0 || node == nullptr || !queue_.empty()) {
        return;
    }
    const auto state = node->independent();
    if (state && logs_.is_due(*state, now, *last_end_) && machine_.obstacle().empty()) {
        start({logs_.begin()}, now, choice_.protocol());
    }
}

Coordinator::Time Coordinator::next_tick(Time now) const
{
    const Time next = next_of_phase(now);

    return opening_.is_under_way()
               ? std::min({next, opening_.late_at(), unopened_.overdue_at()})
               : next;
}

Coordinator::Time Coordinator::next_of_phase(Time now) const
{
    if (machine_.phase() == Phase::align) {
        return now + align_tick;
    }
    if (machine_.is_moving()) {
        return now + moving_tick;
    }
    if (machine_.phase() == Phase::idle && store_ && leftover_due_) {
        return now;
    }
    if (machine_.phase() == Phase::idle && held_.is_holding()) {
        return std::min(now + held_tick, std::max(now, held_.due()));
    }
    if (machine_.phase() != Phase::idle) {
        Time soon = now + progress_tick;
        return std::min(soon, machine_.deadline().value_or(soon));
    }
    const Time idle = now + (watches_logs() ? Time::duration(cap_tick) : std::chrono::hours(1));
    return interval_.is_periodic() && last_end_ ? std::min(idle, next_periodic()) : idle;
}

/* ---- Status ----------------------------------------------------------------- */

control::Progress Coordinator::progress(Time now) const
{
    control::Progress progress;

    progress.phase = phase_name(machine_.phase());
    progress.number = attempt_.number;
    progress.ranks_done = machine_.ranks_done();
    progress.rank_count = machine_.rank_count();
    for (const Node *node : attempt_.writing) {
        progress.bytes_done += node == nullptr ? 0 : node->saved(attempt_.directory);
    }
    progress.seconds = machine_.elapsed(now);
    return progress;
}

void Coordinator::tell_progress(bool always)
{
    Time now = steady_clock::now();
    Phase phase = machine_.phase();

    if (phase == Phase::idle || (!always && now - last_progress_ < progress_tick)) {
        return;
    }
    told_phase_ = phase;
    last_progress_ = now;
    control::Reply reply;
    reply.event = "progress";
    reply.progress = progress(now);
    for (const Waiting &waiting : clients_) {
        answer(waiting, reply);
    }
}

void Coordinator::fill(control::Status &status) const
{
    status.job = job_;
    if (store_) {
        status.identities.push_back(store_->identity());
    }
    status.coordinator = true;
    status.rank_count = machine_.rank_count();
    status.phase = phase_name(machine_.phase());
    if (machine_.phase() == Phase::idle) {
        status.phase = machine_.ending()              ? "ending"
                       : !machine_.obstacle().empty() ? control::starting
                       : held_.is_holding()           ? "held"
                                                      : "running";
        status.waits_for = held_.is_holding() ? held_.reason().text() : std::string();
    } else {
        status.progress = progress(steady_clock::now());
    }
    if (!ended_as_.empty()) {
        status.phase = ended_as_;
    }
    for (control::RankStatus &rank : status.ranks) {
        rank.state = machine_.state_name(rank.rank);
    }
    status.started = static_cast<double>(opener_.started()) * 1e-9;
    statistics_.fill(status, steady_clock::now());
    if (!store_error_.empty()) {
        status.last_error = store_error_.detail();
        status.last_refusal = store_error_.name();
    }
    status.pmix = pmix_events_.version();
    status.salvaged = salvaged_;
    status.capped = logs_.capped();
    fill_tiers(status);
    fill_interval(status);
    places_.fill(status);
}

void Coordinator::fill_tiers(control::Status &status) const
{
    if (!flush_) {
        return;
    }
    status.identities.push_back(flush_->slow().identity());
    status.flushed = flush_->flushed();
    status.flushing = flush_->under_way();
    status.flush_error = flush_->error();
    status.flush_seconds = flush_->seconds();
    status.redundancy_seconds = node_level_->seconds();
    status.redundancy = settings_.redundancy.text();
    status.redundant = node_level_->redundant();
    status.redundancy_under_way = node_level_->under_way();
    status.redundancy_error = node_level_->error();
}

void Coordinator::fill_interval(control::Status &status) const
{
    status.interval = interval_.value().count();
    status.automatic = interval_.is_automatic();
    status.mtbf = interval_.mtbf();
    status.mtbf_is_given = interval_.mtbf_is_given();
    status.failures = earlier_.failures;
    status.cost = interval_.cost().value_or(0);
    if (interval_.is_periodic() && last_end_ && machine_.phase() == Phase::idle) {
        auto left = next_periodic() - steady_clock::now();
        status.next_in =
            std::max(0.0, std::chrono::duration<double>(left).count());
    }
}

Milestones Coordinator::milestones() const
{
    Milestones reached;

    reached.present = machine_.present();
    reached.agents = places_.agents().size();
    reached.is_saving = machine_.phase() != Phase::idle;
    reached.is_holding = held_.is_holding();
    statistics_.fill(reached);
    if (flush_) {
        reached.flushed = flush_->flushed();
        reached.flushing = flush_->under_way();
        reached.flush_error = flush_->error();
        reached.redundant = node_level_->redundant();
        reached.redundancy_error = node_level_->error();
    }
    return reached;
}

} // namespace ckpt
