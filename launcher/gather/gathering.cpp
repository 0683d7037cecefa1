/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gathering.cpp - gathers the pieces of a checkpoint, on the side of the
 * command.
 */
#include "gather/gathering.hpp"

#include "agent/supervision/supervisor_file.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "gather/gather_identity.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace ckpt::gather
{

using nlohmann::json;
using std::chrono::steady_clock;

Gathering::Gathering(EventLoop &loop, std::filesystem::path file, std::string host,
                     NodeRecord record, Done done)
    : file_(std::move(file)), record_(std::move(record)), done_(std::move(done))
{
    listener_ = std::make_unique<PeerListener>(
        loop, gathers_as(host), PeerAddress::make(), rejected_,
        [this](std::unique_ptr<FrameStream> stream, const std::string &from,
               const std::string &) { accept(std::move(stream), from); });
    make_private_directory(file_.parent_path());
    SupervisorFile{0, listener_->address()}.write(file_);
}

Gathering::~Gathering()
{
    ::unlink(file_.c_str());
}

void Gathering::accept(std::unique_ptr<FrameStream> stream, const std::string &host)
{
    Rank &rank = ranks_.emplace_back();
    rank.host = host;
    rank.stream = std::move(stream);
    rank.stream->handle({[this, &rank](const json &frame) { said(rank, frame); },
                         [this, &rank] { lost(rank); }});
    if (!failure_.empty()) {
        rank.stream->send({{"type", "failed"}, {"reason", failure_}});
    }
}

/* A rank that disconnects before all are done makes the gathering fail. */
void Gathering::lost(Rank &rank)
{
    rank.stream.reset();
    if (!is_done_ && failure_.empty()) {
        fail_all(fmt::format("rank {} on {} has gone", rank.rank, rank.host));
    }
}

void Gathering::said(Rank &rank, const json &frame)
{
    const std::string type = frame.at("type");

    if (type == "here") {
        arrived(rank, frame);
    } else if (type == "holds") {
        Holder &node = nodes_[rank.host];
        frame.at("place").get_to(node.place);
        frame.at("files").get_to(node.files);
    } else if (type == "gathered") {
        rank.is_working = false;
    } else if (type == "failed") {
        fail_all(fmt::format("{}: {}", rank.host, frame.at("reason").get<std::string>()));
    } /* else: a message of a newer version */
    if (is_planned_) {
        finish();
    } else {
        plan();
    }
}

void Gathering::arrived(Rank &rank, const json &frame)
{
    frame.at("rank").get_to(rank.rank);
    const bool is_first = !nodes_.contains(rank.host);

    nodes_[rank.host].ranks.insert(rank.rank);
    if (is_first) {
        rank.leads = true;
        rank.stream->send({{"type", "lead"}});
    }
}

/* Plans when all ranks have connected and their nodes have reported their
 * files. */
void Gathering::plan()
{
    std::size_t count = 0;
    bool is_complete = true;

    for (const auto &[host, node] : nodes_) {
        count += node.ranks.size();
        is_complete = is_complete && !node.place.empty();
    }
    is_complete =
        is_complete && count == static_cast<std::size_t>(record_.manifest.rank_count);

    if (!is_complete || !failure_.empty()) {
        return;
    }
    try {
        const auto plan = plan_tasks(record_, nodes_);
        CKPT_INVARIANT(plan.size() == nodes_.size());
        is_planned_ = true;
        planned_at_ = steady_clock::now();
        for (Rank &rank : ranks_) {
            if (rank.leads) {
                const Tasks &tasks = plan.at(rank.host);
                pieces_ += tasks.fetch.size() + tasks.rebuild.size();
                rank.is_working = true;
                rank.stream->send({{"type", "gather"},
                                   {"manifest", record_.manifest.text()},
                                   {"tasks", to_json(tasks)}});
            }
        }
    } catch (const Error &error) {
        fail_all(error.what());
    }
}

/* All nodes stay until every node has what it needs, because they may read from
 * each other. */
void Gathering::finish()
{
    if (!is_done_ && failure_.empty() &&
        std::ranges::none_of(ranks_, &Rank::is_working)) {
        CKPT_INVARIANT(is_planned_);
        is_done_ = true;
        tell_all({{"type", "go"}});
        done_(pieces_,
              std::chrono::duration<double>(steady_clock::now() - planned_at_).count());
    }
}

void Gathering::fail_all(const std::string &why)
{
    failure_ = why;
    tell_all({{"type", "failed"}, {"reason", why}});
}

void Gathering::tell_all(const json &frame)
{
    for (Rank &rank : ranks_) {
        if (rank.stream) {
            rank.stream->send(frame);
        }
    }
}

} // namespace ckpt::gather
