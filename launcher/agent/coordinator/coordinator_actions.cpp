/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_actions.cpp - performs the actions that the state machine
 * requests, up to writing the manifest.
 */
#include "config.h"
#include "agent/coordinator/coordinator.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "common/parallel.hpp"
#include "common/processes.hpp"
#include "image/nodefile/message_log.hpp"
#include "image/store/node_record.hpp"
#include "image/pieces/piece_fold.hpp"
#include "protocol/sweep_topology.hpp"

#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <variant>

namespace ckpt
{

namespace
{

using std::chrono::steady_clock;

constexpr auto longest_undo = std::chrono::seconds(2);

/* Whether the pieces hold each rank of the job once. */
bool hold_all_ranks(const std::vector<Piece> &pieces, int rank_count)
{
    std::vector<int> ranks;
    for (const Piece &piece : pieces) {
        ranks.insert(ranks.end(), piece.ranks.begin(), piece.ranks.end());
    }
    std::ranges::sort(ranks);
    return std::ssize(ranks) == rank_count && ranks.front() == 0 &&
           ranks.back() == rank_count - 1 && std::ranges::adjacent_find(ranks) == ranks.end();
}

/* Writes the trace. A checkpoint does not fail because of its trace. */
void write_trace(const CheckpointTrace &trace,
                 const std::filesystem::path &directory)
{
    try {
        trace.write(directory);
    } catch (const std::exception &error) {
        spdlog::warn("{}", error.what());
    }
}

/* Returns the hosts whose pieces cannot be seen from this node. */
std::set<std::string> hosts_apart(const Manifest &manifest,
                                  const std::filesystem::path &directory)
{
    std::set<std::string> hosts;
    for (const Piece &piece : manifest.pieces) {
        if (!path_exists(directory / piece.file)) {
            hosts.insert(piece.host);
        }
    }
    return hosts;
}

/* Writes a record of a checkpoint that is on the nodes, in the slow directory, which all nodes
 * see. If the write fails, the slow tier gets no copy either, and `ckpt status` reports that. */
bool note(const Manifest &manifest, const std::filesystem::path &directory,
          const std::filesystem::path &records)
{
    try {
        NodeRecord{manifest, directory, nullptr}.write(records);
        return true;
    } catch (const std::exception &error) {
        spdlog::error("checkpoint {} is not noted: {}", manifest.number, error.what());
        return false;
    }
}

} // namespace

/* ---- Actions --------------------------------------------------------------- */

void Coordinator::perform()
{
    std::ranges::move(machine_.take_actions(), std::back_inserter(due_));
    while (!due_.empty()) { /* the others stay due if one throws */
        const Action next = std::move(due_.front());
        due_.pop_front();
        std::visit([this](const auto &action) { perform(action); }, next);
    }
    if (std::string_view(phase_name(machine_.phase())) != phase_name(told_phase_)) {
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

void Coordinator::perform(const action::SetTargets &set)
{
    if (Node *node = places_.node_of(set.rank)) {
        node->set_targets(set.rank, set.targets);
    }
}

void Coordinator::perform(const action::SetExpected &set)
{
    if (Node *node = places_.node_of(set.rank)) {
        node->set_expected(set.rank, set.expected);
    }
}

void Coordinator::perform(const action::AddToPiece &add)
{
    if (Node *node = places_.node_of(add.rank)) {
        node->add_to_piece(add.rank, add.snapshot);
    }
}

void Coordinator::perform(const action::Settled &)
{
    spdlog::info("all ranks are beyond the cut of epoch {}", machine_.epoch());
    worker_.reply([this] { start_waiting(); });
}

/* Returns the text of a REQUEST: the directory of the file journal. Ranks of `ckpt run` know it
 * from their start. */
std::string Coordinator::directory_of_files() const
{
    std::string directory = file_journal_.string();

    return directory.size() < sizeof(ckpt_message::text) ? directory : "";
}

void Coordinator::perform(const action::Send &given)
{
    action::Send order = given;

    CKPT_EXPECT(order.rank >= 0 && order.rank < machine_.rank_count());
    if (order.type == CKPT_MSG_CUT && !machine_.is_settling()) { /* the file for the rank's log */
        order.text = message_log_path(attempt_.directory, order.rank);
    }
    if (order.type == CKPT_MSG_REQUEST && attempt_.files_mark != 0) {
        order.body.request.files_mark = attempt_.files_mark;
        order.text = directory_of_files();
    }
    if (places_.send(order, machine_.epoch())) {
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

/* All nodes are about to write a piece. */
void Coordinator::begin_writing()
{
    const std::vector<Node *> list = places_.nodes();

    attempt_.writing = {list.begin(), list.end()};
}

void Coordinator::perform(const action::Capture &capture)
{
    if (attempt_.replayed >= 0 && hooks_.replays(attempt_.replayed)) {
        attempt_.unsaved = capture;
    } else {
        save(capture);
    }
}

void Coordinator::save(const action::Capture &capture)
{
    CKPT_EXPECT(attempt_.pieces.empty() && attempt_.writing.empty());
    const bool is_staggered = !attempt_.lanes.empty();
    const Lanes lanes = is_staggered ? attempt_.lanes : places_.lanes(Stagger::node);
    attempt_.turns = {lanes, places_.by_rank(), capture.snapshots};
    begin_writing();
    make_directory([this] { write_pieces(); });
}

/* Makes the directory on the worker's thread. `then` runs on the loop's thread, if that
 * succeeds. */
void Coordinator::make_directory(std::function<void()> then)
{
    worker_.run([this, then = std::move(then), store = *store_, job = job_,
                 least = least_number_] {
        try {
            std::uint64_t number = std::max(store.next_number(job), least);
            auto directory = store.begin_checkpoint(job, number);
            worker_.reply([this, number, directory, then] {
                CKPT_EXPECT(number >= least_number_ && attempt_.number == 0);
                attempt_.number = number;
                attempt_.directory = directory;
                if (flush_) {
                    least_number_ = number + 1; /* the number may be in use on the slow tier */
                }
                then();
            });
        } catch (const std::exception &error) {
            worker_.reply([this, reason = refusal_of(error, CKPT_REFUSAL_UNUSABLE_DIRECTORY)] {
                failed(reason);
            });
        }
    });
}

void Coordinator::write_pieces()
{
    if (machine_.phase() != Phase::write) {
        return; /* given up meanwhile */
    }
    attempt_.turns.begin(attempt_.directory);
}

void Coordinator::perform(const action::OpenPieces &)
{
    CKPT_EXPECT(attempt_.pieces.empty() && attempt_.writing.empty());
    begin_writing();
    make_directory([this] { open_pieces(); });
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
    std::vector<TraceNode> ranks = places_.to_trace();
    std::vector<Node *> list = places_.nodes();
    CKPT_INVARIANT(ranks.size() == list.size());
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
    std::vector<Node *> list = places_.nodes();
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

/* Instead of the sweep, the coordinator tells the ranks the message counts. */
void Coordinator::sweep_failed(Node &node, const std::string &reason)
{
    spdlog::warn("no sweep: {}", reason);
    machine_.sweep_failed();
    perform();
    sweep_opened(node);
}

void Coordinator::finish_opening()
{
    CKPT_INVARIANT(attempt_.opening.size() <= places_.agents().size());
    if (attempt_.opening.empty()) {
        machine_.opened(steady_clock::now());
        perform();
    }
}

void Coordinator::perform(const action::ClosePieces &)
{
    for (Node *node : places_.nodes()) {
        node->close_piece(places_.ranks_on(*node));
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
    manifest.files_mark = attempt_.files_mark;
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
    manifest.snapshot = snapshot_method_name(settings_.snapshot);
    manifest.standing = attempt_.standing;
    manifest.software = PACKAGE_STRING;
    if (attempt_.replayed >= 0) {
        manifest.replayed = {attempt_.replayed};
    }
    return manifest;
}

void Coordinator::perform(const action::Commit &)
{
    CKPT_EXPECT(attempt_.number > 0 && attempt_.pieces.size() == attempt_.writing.size());
    CKPT_INVARIANT(hold_all_ranks(attempt_.pieces, machine_.rank_count()));
    trace_.set_protocol(protocol_name(machine_.protocol()));
    trace_.commit(steady_clock::now());
    attempt_.result.cost = trace_.cost();
    attempt_.result.cost.faults = attempt_.faults;
    auto trace = std::make_shared<CheckpointTrace>(
        trace_.finish(job_, attempt_.number));
    worker_.run([this, manifest = manifest(), trace, directory = attempt_.directory,
                 records = records(), ownership = ownership_, may_be_apart = flush_ != nullptr,
                 is_on_nodes = settings_.redundancy.kind != redundancy::Scheme::Kind::none] {
        write_trace(*trace, directory);
        try {
            auto apart = hosts_apart(manifest, directory);
            if (!apart.empty() && !may_be_apart) {
                ckpt::refuse(CKPT_REFUSAL_UNSHARED_DIRECTORY,
                             "{} is not the same directory on {}", directory.string(),
                             *apart.begin());
            }
            fault_kill("agent-before-manifest");
            ownership->require_ours();
            require_sound();
            manifest.write(directory);
            const bool is_noted = may_be_apart && (is_on_nodes || !apart.empty()) &&
                                  note(manifest, directory, records);
            worker_.reply([this, manifest, apart, is_noted] {
                places_.set_apart(apart);
                attempt_.result.bytes = manifest.bytes();
                if (is_noted) {
                    attempt_.on_nodes = manifest;
                }
                written_down();
            });
        } catch (const std::exception &error) {
            worker_.reply([this, reason = refusal_of(error, CKPT_REFUSAL_WRITE_FAILED)] {
                failed(reason);
            });
        }
    });
}

/* The manifest is written. */
void Coordinator::written_down()
{
    CKPT_EXPECT(attempt_.number > 0);
    if (flush_ && machine_.will_kill()) {
        secure_before_kill();
    } else {
        machine_.committed(steady_clock::now());
        perform();
    }
}

void Coordinator::perform(const action::Undo &)
{
    attempt_.undoing = attempt_.writing;
    wait_for_undo(steady_clock::now());
    if (attempt_.undoing.empty()) {
        remove_attempt();
    }
    for (Node *node : std::set<Node *>(attempt_.undoing)) {
        node->undo();
    }
}

/* A request that comes after the others have got their answers waits for the same time again.
 * The file system may just have begun to answer. */
void Coordinator::wait_for_undo(Time since)
{
    attempt_.undo_until = since + longest_undo;
}

/* The ranks run again, but the nodes cannot remove their files while the file system hangs. So
 * the clients get their answer now. */
void Coordinator::tick_undo(Time now)
{
    if (machine_.phase() != Phase::undo || !attempt_.undo_until || now < *attempt_.undo_until) {
        return;
    }
    std::vector<Waiting> waiting = std::exchange(clients_, {});
    waiting.insert(waiting.end(), queue_.begin(), queue_.end());
    queue_.clear();
    for (const Waiting &one : waiting) {
        answer_refusal(one, {machine_.reason().identity(),
                             fmt::format("{}; the file system of {} does not answer",
                                         machine_.reason().detail(),
                                         store_->directory().string())});
    }
}

/* No node writes any more. No client has been told that this checkpoint
 * exists, so it must be removed, even if its manifest was written before the
 * error. */
void Coordinator::remove_attempt()
{
    if (flush_) {
        flush_->forget(attempt_.number);
    }
    worker_.run([this, store = *store_, job = job_, number = attempt_.number,
                 records = attempt_.on_nodes ? records() : std::filesystem::path()] {
        std::string error;
        try {
            if (!records.empty()) {
                NodeRecord::remove(records, number);
            }
            for (const Checkpoint &checkpoint : store.checkpoints(job)) {
                if (opener_.is_leftover(checkpoint) || checkpoint.number == number) {
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

/* Tells the supervisor first, so that it does not take the end of these ranks for a failure. */
void Coordinator::perform(const action::Kill &)
{
    killed_ = attempt_.replayed < 0; /* else the job has failed */
    if (killed_) {
        hooks_.ends(checkpoint_name());
    }
    for (Node *node : places_.nodes()) {
        node->kill();
    }
}

std::string Coordinator::checkpoint_name() const
{
    return fmt::format("{}/{}", job_, attempt_.number);
}

/* Tries the attempt again after its failure, at once or when the ranks allow it. Returns false if
 * the request is over. */
bool Coordinator::try_again(const action::Finish &finish, std::vector<Waiting> &clients)
{
    if (finish.retry && !clients.empty()) {
        spdlog::info("once more with Sync-and-Stop: {}", finish.reason.text());
        statistics_.note_attempt(finish.reason);
        start_once_more(std::move(clients), Protocol::sync_and_stop);
        return true;
    }
    if (attempt_.once_more && !clients.empty()) {
        spdlog::warn("once more: {}", finish.reason.text());
        statistics_.note_attempt(finish.reason);
        start_once_more(std::move(clients), choice_.protocol());
        return true;
    }
    if (attempt_.replayed < 0 && held_.is_refused() && machine_.obstacle().empty() && proxy_ < 0) {
        statistics_.attempt_is_over();
        statistics_.note_attempt(finish.reason);
        hold(std::move(clients));
        return true;
    }
    return false;
}

void Coordinator::perform(const action::Finish &finish)
{
    std::vector<Waiting> clients = std::exchange(clients_, {});

    if (!finish.committed && try_again(finish, clients)) {
        return;
    }
    if (attempt_.replayed >= 0) {
        end_salvage(finish.committed ? attempt_.number : 0, finish.reason);
    }
    end_held();
    statistics_.attempt_is_over();
    if (finish.committed) {
        has_committed(clients);
    } else if (!attempt_.is_in_place) {
        has_failed(finish.reason);
    }
    const control::Reply reply =
        finish.committed ? result_reply() : control::error_reply(finish.reason);
    for (const Waiting &waiting : clients) {
        answer(waiting, reply);
    }
    last_end_ = steady_clock::now();
    /* Runs after the actions that are still to be performed. */
    worker_.reply([this] { start_waiting(); });
}

/* Returns the answer to the clients of a committed checkpoint. */
control::Reply Coordinator::result_reply() const
{
    control::Reply reply;

    reply.event = "result";
    reply.result = attempt_.result;
    return reply;
}

/* Completes the result of the attempt. */
void Coordinator::complete_result()
{
    control::Result &result = attempt_.result;

    result.job = job_;
    result.number = attempt_.number;
    result.name = checkpoint_name();
    result.path = attempt_.directory;
    result.memory_bytes = attempt_.memory;
    result.rank_count = machine_.rank_count();
    result.snapshot = snapshot_method_name(settings_.snapshot);
    result.standing = attempt_.standing;
    result.protocol = protocol_name(machine_.protocol());
    result.logged_messages = machine_.logged().messages;
    result.logged_bytes = machine_.logged().bytes;
    result.timings = timings();
}

/* The checkpoint is committed and the request is over: tells everybody but the clients. */
void Coordinator::has_committed(const std::vector<Waiting> &clients)
{
    CKPT_INVARIANT(attempt_.number > 0 && !attempt_.pieces.empty());
    complete_result();
    const control::Result &result = attempt_.result;
    statistics_.count_committed(result);
    logs_.committed(clients, result.number);
    committed_ = attempt_.number;
    committed_mark_ = attempt_.files_mark;
    for (Node *node : places_.nodes()) {
        node->committed(attempt_.number);
    }
    learn();
    interval_.learn(cost_of_last());
    note_progress();
    spdlog::info("checkpoint {} committed: {} in {}, stopped for {}",
                 result.name, format_bytes(result.bytes),
                 format_seconds(result.timings.total),
                 format_seconds(result.timings.stop));
    if (flush_) {
        flush_->committed(attempt_.number);
        if (attempt_.on_nodes) {
            node_level_->committed(*attempt_.on_nodes);
        }
    }
    collect_garbage();
}

/* The checkpoint has failed and the request is over. */
void Coordinator::has_failed(const Refusal &reason)
{
    statistics_.count_failed(reason);
    statistics_.count_refusal(reason);
    statistics_.note_unprotected(reason, steady_clock::now());
    spdlog::error("checkpoint failed: {}", reason.text());
}

/*
 * Returns by how many seconds the latest checkpoint delays the program's end. This is the time that
 * the ranks were stopped, and the CPU time that the agent took from them afterwards. The page
 * faults that a copy of the process causes in the ranks are not included.
 */
double Coordinator::cost_of_last() const
{
    CKPT_EXPECT(process_cpu_seconds() >= attempt_.cpu_before);
    const double stood = attempt_.result.cost.stood_still.median;
    const double beside = std::max(0.0, attempt_.result.timings.total - stood) /
                          std::max(attempt_.result.timings.total, 1e-9);
    const double computed = process_cpu_seconds() - attempt_.cpu_before;

    return stood + beside * computed / online_cpus();
}

/* Writes the state now, in case the agent is lost together with the job. */
void Coordinator::note_progress()
{
    const JobState state = job_state("running");

    worker_.run([store = *store_, ownership = ownership_, state] {
        try {
            ownership->require_ours();
            store.write_job_state(state);
        } catch (const std::exception &error) {
            spdlog::warn("{}", error.what());
        }
    });
    if (flush_) {
        flush_->write_job_state(state);
    }
}

/* Gives the results to the choice between protocols. */
void Coordinator::learn()
{
    if (machine_.protocol() != Protocol::sync_and_stop) {
        choice_.learn({attempt_.stagger, machine_.rank_count(),
                       machine_.waiting_at_cut(), attempt_.memory,
                       machine_.logged().bytes});
    }
}

} // namespace ckpt
