/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator.cpp - one job's checkpoints, from request to manifest.
 */
#include "config.h"
#include "agent/coordinator.hpp"

#include "agent/log.hpp"
#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/fault.hpp"
#include "image/message_log.hpp"
#include "protocol/sweep_topology.hpp"

#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

namespace ckpt
{

namespace
{

using std::chrono::steady_clock;

/* While ranks align, their pages are looked at this often. */
constexpr auto align_tick = std::chrono::milliseconds(2);
/* Ranks that are to log messages are reminded this often. */
constexpr auto moving_tick = std::chrono::milliseconds(10);
constexpr auto progress_tick = std::chrono::milliseconds(100);
constexpr auto periodic_retry = std::chrono::seconds(1);
constexpr std::size_t longest_program_name = 100;

CutProtocol::Options machine_options(const Settings &settings)
{
    CutProtocol::Options options;
    options.timeout =
        std::chrono::duration_cast<CutProtocol::Duration>(settings.timeout);
    return options;
}

/* What the trace is good for is not worth a checkpoint. */
void write_trace(const CheckpointTrace &trace,
                 const std::filesystem::path &directory)
{
    try {
        trace.write(directory);
    } catch (const std::exception &error) {
        spdlog::warn("{}", error.what());
    }
}

/* A word that can be part of a job's name. */
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
                         Answer answer)
    : settings_(settings), worker_(worker), answer_(std::move(answer)),
      facts_(facts), where_(rank_count),
      machine_(rank_count, *this, machine_options(settings)),
      choice_(CutChoice::protocol_from(settings.protocol),
              CutChoice::stagger_from(settings.stagger)),
      epoch_(settings.restart_number), started_(now_nanoseconds())
{
    choose_name(facts);
    if (open_store()) {
        spdlog::info("job {} of {} ranks, checkpoints in {}", job_, rank_count,
                     settings_.directory.string());
    }
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

/* Tries again at each request: the user may have made room or rights. */
bool Coordinator::open_store()
{
    if (store_) {
        return true;
    }
    try {
        Store store = Store::create(settings_.directory);
        auto state = store.job_state(job_);
        /* The same socket: of an agent of this launch that has died. */
        bool taken = settings_.restart_job.empty() && store.is_live(job_) &&
                     state && state->agent_socket != rank_socket();
        if (taken) { /* another running job has this name */
            job_ += "-" + std::to_string(getpid());
        }
        for (const Checkpoint &checkpoint : store.checkpoints(job_)) {
            if (checkpoint.state == Checkpoint::State::incomplete) {
                store.remove(checkpoint); /* of an agent that died */
            }
        }
        store_ = std::move(store);
        write_job_state("running");
        open_log(store_->directory() / job_, settings_.host);
        store_error_.clear();
    } catch (const std::exception &error) {
        store_.reset();
        store_error_ = error.what();
        spdlog::error("{}", store_error_);
    }
    return store_.has_value();
}

std::string Coordinator::rank_socket() const
{
    return settings_.run_directory /
           (control::namespace_hash(settings_.launch_namespace) + ".sock");
}

void Coordinator::write_job_state(const char *text)
{
    JobState state;

    state.name = job_;
    state.state = text;
    state.host = settings_.host;
    state.launcher_pid = facts_.launcher_pid;
    state.agent_pid = getpid();
    state.agent_socket = rank_socket();
    state.started = started_;
    store_->write_job_state(state);
}

void Coordinator::end()
{
    if (!store_) {
        return;
    }
    try {
        write_job_state("ended");
    } catch (const std::exception &error) {
        spdlog::error("{}", error.what());
    }
    spdlog::info("job {} has ended", job_);
}

/* ---- Requests ------------------------------------------------------------- */

void Coordinator::answer(ClientId client, const control::Reply &reply)
{
    if (client != 0) { /* 0: a periodic checkpoint */
        answer_(client, reply);
    }
}

void Coordinator::answer_error(ClientId client, const std::string &text)
{
    control::Reply reply;

    reply.event = "error";
    reply.error = text;
    answer(client, reply);
}

void Coordinator::request(ClientId client, bool kill)
{
    if (machine_.phase() == Phase::idle) {
        start({{client, kill}}, steady_clock::now(), cut_plan());
    } else if (machine_.may_join()) {
        machine_.join(kill);
        clients_.push_back({client, kill});
        tell_progress(true);
    } else {
        queue_.push_back({client, kill});
        control::Reply reply;
        reply.event = "progress";
        reply.progress.phase = "queued";
        reply.progress.rank_count = machine_.rank_count();
        answer(client, reply);
    }
}

void Coordinator::client_gone(ClientId client)
{
    auto is = [client](const Waiting &waiting) {
        return waiting.client == client;
    };
    std::erase_if(clients_, is);
    std::erase_if(queue_, is);
}

void Coordinator::start(std::vector<Waiting> clients, Time now, CutPlan plan)
{
    std::string obstacle = machine_.obstacle();

    if (obstacle.empty() && !open_store()) {
        obstacle = store_error_;
    }
    if (!obstacle.empty()) {
        for (const Waiting &waiting : clients) {
            answer_error(waiting.client, obstacle);
        }
        return;
    }
    bool kill = std::any_of(clients.begin(), clients.end(),
                            [](const Waiting &waiting) { return waiting.kill; });
    clients_ = std::move(clients);
    attempt_ = {};
    attempt_.stagger = choice_.stagger();
    told_phase_ = Phase::idle;
    spdlog::info("checkpoint requested, epoch {}", epoch_ + 1);
    for (Node *node : std::set<Node *>(where_.begin(), where_.end())) {
        node->compare_clocks();
    }
    trace_.begin("sns", machine_.rank_count(), nodes_to_trace(), now);
    machine_.request(++epoch_, kill, now, std::move(plan));
    perform();
}

CutPlan Coordinator::cut_plan() const
{
    return {choice_.protocol(), lanes()};
}

std::vector<int> Coordinator::lanes() const
{
    const std::vector<Node *> list = nodes();
    std::vector<int> lanes;

    if (choice_.stagger() == Stagger::no) {
        return lanes;
    }
    for (Node *node : where_) {
        auto at = std::find(list.begin(), list.end(), node) - list.begin();
        lanes.push_back(choice_.stagger() == Stagger::job ? 0
                                                          : static_cast<int>(at));
    }
    return lanes;
}

void Coordinator::start_waiting()
{
    if (machine_.phase() == Phase::idle && !queue_.empty()) {
        start(std::exchange(queue_, {}), steady_clock::now(), cut_plan());
    }
}

bool Coordinator::idle() const
{
    return machine_.phase() == Phase::idle && queue_.empty();
}

/* ---- Time ------------------------------------------------------------------ */

void Coordinator::tick(Time now)
{
    if (machine_.phase() != Phase::idle) {
        machine_.tick(now);
        perform();
        tell_progress(false);
        return;
    }
    if (settings_.interval.count() > 0 && last_end_ &&
        now >= *last_end_ + settings_.interval) {
        if (machine_.obstacle().empty()) {
            start({{0, false}}, now, cut_plan());
        }
        if (machine_.phase() == Phase::idle) { /* not possible now */
            last_end_ = now - settings_.interval + periodic_retry;
        }
    }
}

Coordinator::Time Coordinator::next_tick(Time now) const
{
    if (machine_.phase() == Phase::align) {
        return now + align_tick;
    }
    if (machine_.is_moving()) {
        return now + moving_tick;
    }
    if (machine_.phase() != Phase::idle) {
        Time soon = now + progress_tick;
        return std::min(soon, machine_.deadline().value_or(soon));
    }
    if (settings_.interval.count() > 0 && last_end_) {
        return *last_end_ +
               std::chrono::duration_cast<steady_clock::duration>(
                   settings_.interval);
    }
    return now + std::chrono::hours(1);
}

/* ---- Events of the nodes --------------------------------------------------- */

void Coordinator::rank_here(Node &node, int rank, int rank_count, pid_t,
                            const RankCut &cut)
{
    if (rank_count != machine_.rank_count() || rank < 0 ||
        rank >= machine_.rank_count()) {
        spdlog::warn("rank {} of {} on {} is no rank of this job", rank,
                     rank_count, node.host());
        return;
    }
    if (machine_.phase() != Phase::idle) { /* and came back */
        rank_lost(rank);
    }
    where_[rank] = &node;
    epoch_ = std::max(epoch_, cut.epoch);
    machine_.hello(rank, cut, steady_clock::now());
    perform();
    if (machine_.present() == machine_.rank_count()) {
        spdlog::info("all {} ranks are here", machine_.rank_count());
        last_end_ = steady_clock::now();
    }
}

void Coordinator::rank_said(int rank, const ckpt_message &message)
{
    Time now = steady_clock::now();
    bool of_attempt = machine_.phase() != Phase::idle &&
                      !machine_.is_settling() && message.epoch == epoch_;

    if (of_attempt) {
        trace_.answered(rank, message, now);
    }
    if (of_attempt && message.type == CKPT_MSG_LOGGED) {
        trace_.seen_by(rank, where_[rank]->seen(rank, epoch_),
                       where_[rank]->clock());
    }
    machine_.message(rank, message, now);
    if (of_attempt) {
        trace_.stands_still(rank, machine_.stands_still(rank), now);
    }
    perform();
}

void Coordinator::rank_finished(int rank)
{
    machine_.goodbye(rank, steady_clock::now());
    perform();
}

void Coordinator::rank_gone(int rank)
{
    machine_.gone(rank, steady_clock::now());
    perform();
    where_[rank] = nullptr;
}

/* It may live, and come back. */
void Coordinator::rank_lost(int rank)
{
    machine_.lost(rank, steady_clock::now());
    perform();
    where_[rank] = nullptr;
}

void Coordinator::node_gone(Node &node)
{
    for (int rank = 0; rank < machine_.rank_count(); rank++) {
        if (where_[rank] == &node) {
            rank_lost(rank);
        }
    }
    attempt_.snapshots.erase(&node);
    told_plan_ = {};
    if (attempt_.writing.erase(&node) > 0 &&
        machine_.phase() >= Phase::open) {
        machine_.failed(fmt::format("the agent of {} was lost", node.host()),
                        steady_clock::now());
        perform();
    }
    undone(node);
    sweep_opened(node); /* nobody waits for it */
}

void Coordinator::captured(int rank)
{
    Time now = steady_clock::now();

    if (machine_.phase() == Phase::write || machine_.is_moving()) {
        trace_.captured(rank, now);
    }
    machine_.captured(rank, now);
    perform();
    tell_progress(true);
}

void Coordinator::written(const Piece &piece, std::uint64_t memory)
{
    if (machine_.phase() != Phase::write) {
        return;
    }
    trace_.written(piece.host, steady_clock::now());
    attempt_.pieces.push_back(piece);
    attempt_.memory += memory;
    write_next_piece();
    if (attempt_.pieces.size() == attempt_.writing.size()) {
        machine_.written();
        perform();
    }
}

void Coordinator::failed(const std::string &reason)
{
    machine_.failed(reason, steady_clock::now());
    perform();
}

void Coordinator::undone(Node &node)
{
    if (attempt_.undoing.erase(&node) > 0 && attempt_.undoing.empty()) {
        remove_attempt();
    }
}

/* By their first ranks. */
std::vector<Node *> Coordinator::nodes() const
{
    std::vector<Node *> list;

    for (Node *node : where_) {
        if (std::find(list.begin(), list.end(), node) == list.end()) {
            list.push_back(node);
        }
    }
    return list;
}

/* Those that have ranks, and which. */
std::vector<TraceNode> Coordinator::nodes_to_trace() const
{
    std::vector<TraceNode> nodes;
    std::map<const Node *, std::size_t> index;

    for (int rank = 0; rank < machine_.rank_count(); rank++) {
        auto [entry, is_new] = index.try_emplace(where_[rank], nodes.size());
        if (is_new) {
            nodes.emplace_back().host = where_[rank]->host();
        }
        auto &runs = nodes[entry->second].ranks;
        if (!runs.empty() && runs.back().second == rank - 1) {
            runs.back().second = rank;
        } else {
            runs.emplace_back(rank, rank);
        }
    }
    return nodes;
}

/* ---- Pages ----------------------------------------------------------------- */

std::vector<ckpt_clock> Coordinator::clocks(int rank) const
{
    return where_[rank] == nullptr ? std::vector<ckpt_clock>()
                                   : where_[rank]->clocks(rank);
}

std::uint64_t Coordinator::sent(int from, int to) const
{
    return where_[from] == nullptr ? 0 : where_[from]->sent(from, to);
}

std::uint64_t Coordinator::received(int to, int from) const
{
    return where_[to] == nullptr ? 0 : where_[to]->received(to, from);
}

/* ---- Actions --------------------------------------------------------------- */

void Coordinator::perform()
{
    for (const Action &next : machine_.take_actions()) {
        if (auto *set = std::get_if<action::SetTargets>(&next)) {
            if (Node *node = where_[set->rank]) {
                node->set_targets(set->rank, set->targets);
            }
        } else if (auto *set = std::get_if<action::SetExpected>(&next)) {
            if (Node *node = where_[set->rank]) {
                node->set_expected(set->rank, set->expected);
            }
        } else if (auto *send = std::get_if<action::Send>(&next)) {
            perform(*send);
        } else if (std::holds_alternative<action::OpenPieces>(next)) {
            perform(action::OpenPieces{});
        } else if (auto *add = std::get_if<action::AddToPiece>(&next)) {
            if (Node *node = where_[add->rank]) {
                node->add_to_piece(add->rank, add->snapshot);
            }
        } else if (std::holds_alternative<action::ClosePieces>(next)) {
            perform(action::ClosePieces{});
        } else if (auto *capture = std::get_if<action::Capture>(&next)) {
            perform(*capture);
        } else if (auto *commit = std::get_if<action::Commit>(&next)) {
            perform(*commit);
        } else if (auto *undo = std::get_if<action::Undo>(&next)) {
            perform(*undo);
        } else if (std::holds_alternative<action::Kill>(next)) {
            for (Node *node :
                 std::set<Node *>(where_.begin(), where_.end())) {
                if (node != nullptr) {
                    node->kill();
                }
            }
        } else if (auto *finish = std::get_if<action::Finish>(&next)) {
            perform(*finish);
        } else if (std::holds_alternative<action::Settled>(next)) {
            spdlog::info("all ranks are beyond the cut of epoch {}",
                         machine_.epoch());
            worker_.reply([this] { start_waiting(); });
        }
    }
    if (machine_.phase() != told_phase_) {
        fault_in_phase();
        tell_progress(true);
    }
}

void Coordinator::fault_in_phase() const
{
    if (machine_.phase() != Phase::idle && !machine_.is_settling()) {
        fault_kill(fmt::format("agent-in-{}", phase_name(machine_.phase())));
    }
}

void Coordinator::perform(const action::Send &given)
{
    action::Send order = given;

    if (order.type == CKPT_MSG_CUT && !machine_.is_settling()) { /* where the rank writes its log */
        order.text = message_log_path(attempt_.directory, order.rank);
    }
    if (Node *node = where_[order.rank]) {
        node->send(order, machine_.epoch());
        trace(order);
    }
}

void Coordinator::trace(const action::Send &order)
{
    Time now = steady_clock::now();

    if (machine_.phase() != Phase::idle && !machine_.is_settling()) {
        trace_.ordered(order, now);
        trace_.stands_still(order.rank, machine_.stands_still(order.rank), now);
    }
}

void Coordinator::perform(const action::Capture &capture)
{
    Snapshots by_node;

    for (int rank = 0; rank < machine_.rank_count(); rank++) {
        by_node[where_[rank]][rank] = capture.snapshots[rank];
    }
    for (auto &[node, snapshots] : by_node) {
        attempt_.writing.insert(node);
    }
    worker_.run([this, by_node, store = *store_, job = job_] {
        try {
            std::uint64_t number = store.next_number(job);
            auto directory = store.begin_checkpoint(job, number);
            worker_.reply([this, number, directory, by_node] {
                attempt_.number = number;
                attempt_.directory = directory;
                write_pieces(by_node);
            });
        } catch (const std::exception &error) {
            worker_.reply([this, reason = std::string(error.what())] {
                failed(reason);
            });
        }
    });
}

void Coordinator::write_pieces(Snapshots snapshots)
{
    if (machine_.phase() != Phase::write) {
        return; /* given up meanwhile */
    }
    attempt_.snapshots = std::move(snapshots);
    std::erase_if(attempt_.snapshots, [this](const auto &entry) {
        return attempt_.writing.count(entry.first) == 0; /* lost meanwhile */
    });
    while (!attempt_.snapshots.empty()) {
        write_next_piece();
        if (attempt_.stagger == Stagger::job) {
            break; /* the next one when this one has been written */
        }
    }
}

void Coordinator::write_next_piece()
{
    auto next = attempt_.snapshots.begin();

    if (next != attempt_.snapshots.end()) {
        auto [node, snapshots] = *next;
        attempt_.snapshots.erase(next);
        node->capture(attempt_.directory, snapshots);
    }
}

void Coordinator::perform(const action::OpenPieces &)
{
    for (Node *node : where_) {
        attempt_.writing.insert(node);
    }
    worker_.run([this, store = *store_, job = job_] {
        try {
            std::uint64_t number = store.next_number(job);
            auto directory = store.begin_checkpoint(job, number);
            worker_.reply([this, number, directory] {
                attempt_.number = number;
                attempt_.directory = directory;
                open_pieces();
            });
        } catch (const std::exception &error) {
            worker_.reply([this, reason = std::string(error.what())] {
                failed(reason);
            });
        }
    });
}

void Coordinator::open_pieces()
{
    if (machine_.phase() != Phase::open) {
        return; /* given up meanwhile */
    }
    for (Node *node : attempt_.writing) {
        node->open_piece(attempt_.directory);
    }
    if (machine_.is_sweeping()) {
        open_sweeps();
    }
    finish_opening();
}

SweepPlan Coordinator::sweep_plan() const
{
    SweepPlan plan;
    std::vector<TraceNode> ranks = nodes_to_trace();
    std::vector<Node *> list = nodes();
    auto count = static_cast<SweepTopology::Node>(list.size());

    for (std::size_t i = 0; i < list.size(); i++) {
        plan.members.push_back(
            {list[i]->host(), list[i]->address(), ranks[i].ranks});
    }
    plan.sides = (settings_.sweep_dimensions == 0
                      ? SweepTopology::hypercube(count)
                      : SweepTopology::cube(count, settings_.sweep_dimensions))
                     .sides();
    return plan;
}

void Coordinator::open_sweeps()
{
    std::vector<Node *> list = nodes();
    SweepPlan plan = sweep_plan();

    trace_.set_sides(plan.sides);
    if (plan != told_plan_) {
        told_plan_ = plan;
        for (std::size_t i = 0; i < list.size(); i++) {
            plan.self = static_cast<std::uint32_t>(i);
            list[i]->set_sweep_plan(plan);
        }
    }
    attempt_.opening = {list.begin(), list.end()};
    for (Node *node : list) {
        node->open_sweep(machine_.epoch());
    }
}

void Coordinator::sweep_opened(Node &node)
{
    if (attempt_.opening.erase(&node) > 0) {
        finish_opening();
    }
}

/* The ranks will be told the counts from here. */
void Coordinator::sweep_failed(Node &node, const std::string &reason)
{
    spdlog::warn("no sweep: {}", reason);
    machine_.sweep_failed();
    perform();
    sweep_opened(node);
}

void Coordinator::finish_opening()
{
    if (attempt_.opening.empty()) {
        machine_.opened(steady_clock::now());
        perform();
    }
}

void Coordinator::perform(const action::ClosePieces &)
{
    std::map<Node *, std::vector<int>> by_node;

    for (int rank = 0; rank < machine_.rank_count(); rank++) {
        by_node[where_[rank]].push_back(rank);
    }
    for (auto &[node, ranks] : by_node) {
        if (node != nullptr) {
            node->close_piece(ranks);
        }
    }
}

Manifest Coordinator::manifest() const
{
    Manifest manifest;
    const CutProtocol::Times &times = machine_.times();

    manifest.job = job_;
    manifest.number = attempt_.number;
    manifest.created = now_nanoseconds();
    manifest.epoch = machine_.epoch();
    for (const Piece &piece : attempt_.pieces) {
        manifest.hosts.push_back(piece.host);
    }
    manifest.rank_count = machine_.rank_count();
    manifest.pieces = attempt_.pieces;
    manifest.launch = launch_record(facts_, environ);
    manifest.timings.request_to_stop = times.request_to_stop;
    manifest.timings.stop = times.stop;
    manifest.timings.drain = times.drain;
    manifest.timings.capture = times.capture;
    manifest.protocol = protocol_name(machine_.protocol());
    manifest.cost = attempt_.result.cost;
    manifest.codec = settings_.codec.text();
    manifest.software = PACKAGE_STRING;
    return manifest;
}

void Coordinator::perform(const action::Commit &)
{
    trace_.set_protocol(protocol_name(machine_.protocol()));
    trace_.commit(steady_clock::now());
    attempt_.result.cost = trace_.cost();
    auto trace = std::make_shared<CheckpointTrace>(
        trace_.finish(job_, attempt_.number));
    worker_.run([this, manifest = manifest(), trace,
                 directory = attempt_.directory] {
        write_trace(*trace, directory);
        try {
            fault_kill("agent-before-manifest");
            manifest.write(directory);
            worker_.reply([this, bytes = manifest.bytes()] {
                attempt_.result.bytes = bytes;
                machine_.committed(steady_clock::now());
                perform();
            });
        } catch (const std::exception &error) {
            worker_.reply([this, reason = std::string(error.what())] {
                failed(reason);
            });
        }
    });
}

void Coordinator::perform(const action::Undo &)
{
    attempt_.undoing = attempt_.writing;
    if (attempt_.undoing.empty()) {
        remove_attempt();
    }
    for (Node *node : std::set<Node *>(attempt_.undoing)) {
        node->undo();
    }
}

/* No node writes any more. Nobody has been told that this checkpoint exists,
 * so it must not, even if its manifest was written before the error. */
void Coordinator::remove_attempt()
{
    worker_.run([this, store = *store_, job = job_, number = attempt_.number] {
        std::string error;
        try {
            for (const Checkpoint &checkpoint : store.checkpoints(job)) {
                if (checkpoint.state == Checkpoint::State::incomplete ||
                    checkpoint.number == number) {
                    store.remove(checkpoint);
                }
            }
        } catch (const std::exception &problem) {
            error = problem.what();
        }
        worker_.reply([this, error] {
            if (!error.empty()) {
                spdlog::warn("{}", error);
            }
            machine_.undone(steady_clock::now());
            perform();
        });
    });
}

control::Timings Coordinator::timings() const
{
    const CutProtocol::Times &times = machine_.times();
    control::Timings timings;

    timings.request_to_stop = times.request_to_stop;
    timings.stop = times.stop;
    timings.drain = times.drain;
    timings.capture = times.capture;
    timings.commit = times.commit;
    timings.total = times.total;
    return timings;
}

void Coordinator::perform(const action::Finish &finish)
{
    std::vector<Waiting> clients = std::exchange(clients_, {});
    control::Reply reply;

    if (finish.retry && !finish.committed && !clients.empty()) {
        spdlog::info("once more with Sync-and-Stop: {}", finish.reason);
        worker_.reply([this, clients] {
            start(clients, steady_clock::now(), CutPlan{});
        });
        return;
    }
    if (finish.committed) {
        control::Result &result = attempt_.result;
        result.job = job_;
        result.number = attempt_.number;
        result.name = fmt::format("{}/{}", job_, attempt_.number);
        result.path = attempt_.directory;
        result.memory_bytes = attempt_.memory;
        result.rank_count = machine_.rank_count();
        result.protocol = protocol_name(machine_.protocol());
        result.logged_messages = machine_.logged().messages;
        result.logged_bytes = machine_.logged().bytes;
        result.timings = timings();
        reply.event = "result";
        reply.result = last_ = result;
        committed_count_++;
        learn();
        spdlog::info("checkpoint {} committed: {} in {}, stopped for {}",
                     result.name, format_bytes(result.bytes),
                     format_seconds(result.timings.total),
                     format_seconds(result.timings.stop));
        worker_.run([store = *store_, job = job_, keep = settings_.keep] {
            try {
                store.collect_garbage(keep, job);
            } catch (const std::exception &error) {
                spdlog::warn("{}", error.what());
            }
        });
    } else {
        reply.event = "error";
        reply.error = finish.reason;
        failed_count_++;
        last_error_ = finish.reason;
        spdlog::error("checkpoint failed: {}", finish.reason);
    }
    for (const Waiting &waiting : clients) {
        answer(waiting.client, reply);
    }
    last_end_ = steady_clock::now();
    /* After the actions that are still to be done. */
    worker_.reply([this] { start_waiting(); });
}

/* Of the protocols that a choice is made among. */
void Coordinator::learn()
{
    if (machine_.protocol() != Protocol::sync_and_stop) {
        choice_.learn({attempt_.stagger, machine_.rank_count(),
                       machine_.waiting_at_cut(), attempt_.memory,
                       machine_.logged().bytes});
    }
}

/* ---- What others want to know ----------------------------------------------- */

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
    reply.progress.phase = phase_name(phase);
    reply.progress.number = attempt_.number;
    reply.progress.ranks_done = machine_.ranks_done();
    reply.progress.rank_count = machine_.rank_count();
    reply.progress.bytes_done = attempt_.memory;
    reply.progress.seconds = machine_.elapsed(now);
    for (const Waiting &waiting : clients_) {
        answer(waiting.client, reply);
    }
}

void Coordinator::fill(control::Status &status) const
{
    status.job = job_;
    status.coordinator = true;
    status.rank_count = machine_.rank_count();
    status.phase = phase_name(machine_.phase());
    if (machine_.phase() == Phase::idle) {
        status.phase = machine_.ending()              ? "ending"
                       : machine_.obstacle().empty() ? "running"
                                                     : "starting";
    }
    for (control::RankStatus &rank : status.ranks) {
        rank.state = machine_.state_name(rank.rank);
    }
    status.started = static_cast<double>(started_) * 1e-9;
    status.committed = committed_count_;
    status.failed = failed_count_;
    status.last_error = store_error_.empty() ? last_error_ : store_error_;
    status.last = last_;
    if (settings_.interval.count() > 0 && last_end_ &&
        machine_.phase() == Phase::idle) {
        auto left = *last_end_ + settings_.interval - steady_clock::now();
        status.next_in =
            std::max(0.0, std::chrono::duration<double>(left).count());
    }
}

} // namespace ckpt
