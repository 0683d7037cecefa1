/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_sweep.cpp - a node of the sweep, with its connections.
 *
 * It connects once to each neighbour that it sends to, and keeps the connection for later
 * checkpoints. Messages for a sweep that is not open here yet wait.
 */
#include "agent/ranks/node_sweep.hpp"

#include "agent/links/clock_probe.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace ckpt
{

using nlohmann::json;

namespace
{

/* Limit of waiting messages. The job has only one sweep at a time, so it never needs more. */
constexpr std::size_t most_early = 4096;

RankCounts counts_from(const json &list)
{
    std::vector<RankCounts::Run> runs;

    for (const json &entry : list) {
        runs.push_back({entry.at(0), entry.at(1), entry.at(2)});
        if (runs.back().end < runs.back().begin) {
            fail("a run of ranks from {} to {}", runs.back().begin, runs.back().end);
        }
    }
    return RankCounts(runs);
}

json to_frame(const SweepMessage &message, std::uint64_t epoch)
{
    json counts = json::array();

    for (const RankCounts::Run &run : message.counts.runs()) {
        counts.push_back({run.begin, run.end, run.value});
    }
    return {{"type", "sweep"},
            {"epoch", epoch},
            {"from", message.from},
            {"to", message.to},
            {"dimension", message.dimension},
            {"counts", counts}};
}

} // namespace

NodeSweep::NodeSweep(EventLoop &loop, WorkerThread &worker,
                     const Settings &settings, RejectedFrames &rejected, Hooks hooks)
    : loop_(loop), worker_(worker), settings_(settings), rejected_(rejected),
      hooks_(std::move(hooks))
{
}

/* ---- The network ----------------------------------------------------------- */

std::unique_ptr<NodeSweep::Network>
NodeSweep::network_of(const SweepPlan &plan)
{
    std::vector<std::uint32_t> ranks_of_node;
    std::vector<std::uint32_t> numbers(plan.rank_count());
    std::uint32_t next = 0;

    for (const SweepPlan::Member &member : plan.members) {
        ranks_of_node.push_back(member.rank_count());
        for (auto [first, last] : member.ranks) {
            for (int rank = first; rank <= last; rank++) {
                numbers.at(rank) = next++;
            }
        }
    }
    CKPT_INVARIANT(next == numbers.size());
    auto nodes = static_cast<Node>(plan.members.size());
    return std::make_unique<Network>(
        Network{SweepTopology(nodes, plan.sides), SweepRanks(ranks_of_node),
                std::move(numbers)});
}

void NodeSweep::set_plan(SweepPlan plan)
{
    sweep_.reset(); /* the sweep refers to the network */
    network_ = network_of(plan);
    plan_ = std::move(plan);
}

/* Returns the other nodes that this node sends messages to. */
std::set<NodeSweep::Node> NodeSweep::receivers() const
{
    const SweepTopology &topology = network_->topology;
    std::set<Node> nodes;

    for (SweepTopology::Place place : topology.places_of(plan_.self)) {
        for (unsigned d = 0; d < topology.dimensions(); d++) {
            for (auto direction : {SweepTopology::Direction::up,
                                   SweepTopology::Direction::down}) {
                if (topology.sends(place, d, direction)) {
                    nodes.insert(
                        topology.host(topology.next(place, d, direction)));
                }
            }
        }
    }
    nodes.erase(plan_.self);
    return nodes;
}

PeerConnection &NodeSweep::connection_to(Node node)
{
    CKPT_EXPECT(node < plan_.members.size() && node != plan_.self);
    const SweepPlan::Member &member = plan_.members[node];
    auto &call = calls_[member.address];

    if (call == nullptr) {
        auto address = job_key_ ? PeerAddress::at(member.address, *job_key_)
                                : std::nullopt;
        if (!address) {
            fail("the agent of {} has no address", member.host);
        }
        auto lost = [this, host = member.host] {
            fail_sweep(fmt::format("the agent of {} cannot be reached", host));
        };
        call = std::make_unique<PeerConnection>(
            loop_, worker_, settings_.identity(), std::move(*address), "neighbour", rejected_,
            PeerConnection::Handlers{[this] { examine_connections(); },
                                     [](const json &) { fail("an answer to a sweep"); }, lost,
                                     lost});
    }
    return *call;
}

void NodeSweep::accept(std::unique_ptr<FrameStream> stream)
{
    FrameStream *caller = stream.get();

    callers_.push_back(std::move(stream));
    caller->handle({[this](const json &frame) { receive(frame); },
                    [this, caller] {
                        std::erase_if(callers_, [caller](const auto &owner) {
                            return owner.get() == caller;
                        });
                        fail_sweep("a neighbour's agent was lost");
                    }});
}

/* ---- One sweep --------------------------------------------------------------- */

void NodeSweep::open(std::uint64_t epoch)
{
    if (network_ == nullptr) {
        fail("a sweep without a plan");
    }
    epoch_ = epoch;
    seen_.clear();
    cut_.clear();
    sweep_ = std::make_unique<Sweep>(network_->topology, network_->ranks,
                                     plan_.self);
    opening_ = true;
    try {
        for (Node node : receivers()) {
            connection_to(node).connect();
        }
    } catch (const Error &error) {
        fail_sweep(error.what());
        return;
    }
    examine_connections();
}

void NodeSweep::examine_connections()
{
    if (!opening_) {
        return;
    }
    for (Node node : receivers()) {
        if (!connection_to(node).connected()) {
            return;
        }
    }
    opening_ = false;
    hooks_.opened();
    try {
        for (const json &frame : std::exchange(early_, {})) {
            receive(frame);
        }
    } catch (const std::exception &error) { /* the sender may be gone */
        fail_sweep(error.what());
    }
}

void NodeSweep::cut(int rank, std::uint64_t epoch,
                    const std::vector<std::uint64_t> &sent)
{
    if (sweep_ == nullptr || epoch != epoch_ || !cut_.insert(rank).second) {
        return;
    }
    try {
        std::vector<std::uint64_t> counts(sent.size());
        for (std::size_t to = 0; to < sent.size(); to++) {
            counts.at(network_->numbers.at(to)) = sent[to];
        }
        sweep_->add(RankCounts::dense(counts));
        go_on();
    } catch (const std::exception &error) { /* the rank's connection must stay */
        fail_sweep(error.what());
    }
}

void NodeSweep::receive(const json &frame)
{
    if (frame.at("type") != "sweep") {
        fail("a neighbour sends '{}'", frame.at("type").get<std::string>());
    }
    std::uint64_t epoch = frame.at("epoch");
    if (epoch > epoch_ || (epoch == epoch_ && opening_)) {
        std::erase_if(early_, [this](const json &other) {
            return other.at("epoch") < epoch_;
        });
        if (early_.size() < most_early) {
            early_.push_back(frame);
        }
        CKPT_INVARIANT(early_.size() <= most_early);
    } else if (epoch == epoch_ && sweep_ != nullptr) {
        take(frame);
    } /* else: its sweep is over, or was given up */
}

void NodeSweep::take(const json &frame)
{
    CKPT_EXPECT(sweep_ != nullptr);
    SweepMessage message{frame.at("from"), frame.at("to"),
                         frame.at("dimension"),
                         counts_from(frame.at("counts"))};

    auto [from, to, dimension] =
        std::tuple(message.from, message.to, message.dimension);
    sweep_->receive(std::move(message)); /* which checks the message */
    note(from, to, dimension, false);
    go_on();
}

void NodeSweep::go_on()
{
    CKPT_EXPECT(sweep_ != nullptr && network_ != nullptr);
    for (const SweepMessage &message : sweep_->take_messages()) {
        send(message);
        if (sweep_ == nullptr) {
            return;
        }
    }
    if (!sweep_->complete()) {
        return;
    }
    std::unique_ptr<Sweep> done = std::move(sweep_);
    for (auto [first, last] : plan_.members[plan_.self].ranks) {
        for (int rank = first; rank <= last; rank++) {
            hooks_.swept(rank, done->expected().at(network_->numbers[rank]));
        }
    }
}

void NodeSweep::send(const SweepMessage &message)
{
    PeerConnection &call = connection_to(network_->topology.host(message.to));

    if (!call.connected()) {
        fail_sweep("a neighbour's agent was lost");
        return;
    }
    note(message.from, message.to, message.dimension, true);
    call.send(to_frame(message, epoch_));
}

void NodeSweep::note(SweepTopology::Place from, SweepTopology::Place to,
                     std::uint32_t dimension, bool sent)
{
    const SweepTopology &topology = network_->topology;

    seen_.push_back({topology.host(from), topology.host(to), dimension, sent,
                     monotonic_nanoseconds()});
}

void NodeSweep::fail_sweep(const std::string &reason)
{
    if (sweep_ == nullptr) {
        return; /* lost between two checkpoints; the next open() connects again */
    }
    sweep_.reset();
    opening_ = false;
    hooks_.failed(reason);
}

} // namespace ckpt
