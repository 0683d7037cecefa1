/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_gatherer.cpp - fills a node's directory with the pieces that its ranks
 * need.
 */
#include "gather/node_gatherer.hpp"

#include "agent/blocks/group_members.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "gather/gather_identity.hpp"
#include "image/store/job_directory.hpp"
#include "image/store/manifest.hpp"
#include "redundancy/rebuild.hpp"

#include <sys/epoll.h>

#include <chrono>
#include <exception>
#include <utility>

namespace ckpt::gather
{

namespace fs = std::filesystem;
using nlohmann::json;

namespace
{

/* Returns the files of the checkpoint, with their sizes. */
json files_in(const fs::path &directory)
{
    json files = json::object();
    std::error_code error;

    for (const auto &entry : fs::directory_iterator(directory, error)) {
        if (entry.is_regular_file(error)) {
            files[entry.path().filename()] = entry.file_size();
        }
    }
    return files;
}

} // namespace

NodeGatherer::NodeGatherer(fs::path directory, std::string host, int rank,
                           const SupervisorFile &command, fabric::Choice fabric)
    : directory_(std::move(directory)), host_(std::move(host)), rank_(rank),
      key_(command.address.key), fabric_(std::move(fabric))
{
    loop_.watch(worker_.descriptor(), EPOLLIN,
                [this](std::uint32_t) { worker_.run_replies(); });
    loop_.watch(working_.descriptor(), EPOLLIN,
                [this](std::uint32_t) { working_.run_replies(); });
    command_ = std::make_unique<PeerConnection>(
        loop_, worker_, gathers_as(host_), command.address, "gather", rejected_,
        PeerConnection::Handlers{
            [this] { command_->send({{"type", "here"}, {"rank", rank_}}); },
            [this](const json &frame) { said(frame); },
            [this] { over("the command that restarts the job has gone"); },
            [this] { over("the command that restarts the job cannot be reached"); }});
}

NodeGatherer::~NodeGatherer()
{
    cancelled_ = true;
    working_.stop();
    worker_.stop();
}

void NodeGatherer::run()
{
    command_->connect();
    while (!end_) {
        loop_.turn(std::chrono::steady_clock::now() + std::chrono::hours(1));
    }
    if (!end_->empty()) {
        fail("{}", *end_);
    }
}

void NodeGatherer::over(const std::string &failure)
{
    if (!end_) {
        end_ = failure;
    }
}

void NodeGatherer::said(const json &frame)
{
    const std::string type = frame.at("type");

    if (type == "lead") {
        lead();
    } else if (type == "gather") {
        gather(frame);
    } else if (type == "go") {
        over("");
    } else if (type == "failed") {
        over(frame.at("reason"));
    } /* else: a message of a newer version */
}

/* Serves the files of this node, because other nodes may need them. */
void NodeGatherer::lead()
{
    try {
        make_checkpoint_directory(directory_);
        server_ = std::make_unique<redundancy::BlockServer>(
            gathers_as(host_), key_, directory_.parent_path().parent_path(), rejected_,
            fabric_.choice());
        command_->send({{"type", "holds"},
                        {"place", server_->address().place()},
                        {"files", files_in(directory_)}});
    } catch (const std::exception &error) {
        command_->send({{"type", "failed"}, {"reason", error.what()}});
    }
}

void NodeGatherer::gather(const json &frame)
{
    working_.run([this, tasks = tasks_from(frame.at("tasks")),
                  manifest = frame.at("manifest").get<std::string>()] {
        json answer = {{"type", "gathered"}};
        try {
            do_tasks(tasks, manifest);
        } catch (const std::exception &error) {
            answer = {{"type", "failed"}, {"reason", error.what()}};
        }
        working_.reply([this, answer] {
            if (command_->connected()) {
                command_->send(answer);
            }
        });
    });
}

/* The manifest is written last, as for every checkpoint. */
void NodeGatherer::do_tasks(const Tasks &tasks, const std::string &manifest)
{
    using Unreachable = GroupMembers::Unreachable;

    for (const Fetch &fetch : tasks.fetch) {
        const GroupMembers from(directory_, {fetch.place}, key_, gathers_as(host_),
                                Unreachable::is_an_error, fabric_);
        CKPT_INVARIANT(from.sources().size() == 1);
        redundancy::fetch_piece(fetch.piece, directory_, *from.sources()[0]);
    }
    for (const Rebuild &rebuild : tasks.rebuild) {
        const GroupMembers members(directory_, rebuild.places, key_, gathers_as(host_),
                                   Unreachable::is_lost, fabric_);
        redundancy::rebuild_piece(rebuild.group, rebuild.lost, directory_, members.sources(),
                                  cancelled_);
    }
    Manifest::parse(manifest, "manifest of the command").write(directory_);
}

} // namespace ckpt::gather
