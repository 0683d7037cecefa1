/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_level.cpp - protects checkpoints on the nodes against the loss of some nodes.
 */
#include "agent/coordinator/node_level.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/store/node_record.hpp"
#include "image/store/store.hpp"
#include "redundancy/groups.hpp"
#include "redundancy/protection.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace ckpt
{

using std::chrono::steady_clock;

namespace
{

/* A record that cannot be read does not count. */
bool is_protected(const std::filesystem::path &records, std::uint64_t number)
{
    try {
        return !NodeRecord::load(records, number).protection.is_null();
    } catch (const Error &) {
        return false;
    }
}

} // namespace

std::uint64_t newest_protected(const std::filesystem::path &records)
{
    const auto noted = NodeRecord::numbers(records);
    const auto newest = std::find_if(noted.rbegin(), noted.rend(), [&](std::uint64_t number) {
        return is_protected(records, number);
    });

    return newest == noted.rend() ? 0 : *newest;
}

NodeLevel::NodeLevel(WorkerThread &worker, std::filesystem::path fast,
                     std::filesystem::path records, std::uint64_t redundant,
                     redundancy::Scheme scheme, std::filesystem::path domains, Hooks hooks)
    : worker_(worker), fast_(std::move(fast)), records_(std::move(records)),
      scheme_(scheme), domains_(std::move(domains)), hooks_(std::move(hooks)),
      redundant_(redundant)
{
}

void NodeLevel::committed(const Manifest &manifest, Then then)
{
    {
        std::lock_guard lock(mutex_);
        newest_ = manifest.number;
    }
    if (protects()) {
        next_ = manifest;
        next_then_ = std::move(then);
        begin();
    }
}

std::set<std::uint64_t> NodeLevel::needed() const
{
    std::lock_guard lock(mutex_);
    return {newest_, target_ != 0 ? target_ : newest_,
            redundant_ != 0 ? redundant_ : newest_};
}

/* ---- One checkpoint after another -------------------------------------------- */

void NodeLevel::begin()
{
    if (target_ != 0 || !next_) {
        return;
    }
    CKPT_INVARIANT(writing_.empty());
    manifest_ = std::exchange(next_, std::nullopt);
    then_ = std::exchange(next_then_, {});
    {
        std::lock_guard lock(mutex_);
        target_ = manifest_->number;
    }
    failure_.clear();
    begun_ = steady_clock::now();
    thread_.run([this, pieces = manifest_->pieces] {
        try {
            auto groups = redundancy::groups_of(pieces, scheme_, domains_);
            worker_.reply([this, groups = std::move(groups)] { order(groups); });
        } catch (const std::exception &error) {
            worker_.reply([this, reason = std::string(error.what())] { end(reason); });
        }
    });
}

void NodeLevel::order(const std::vector<redundancy::Group> &groups)
{
    CKPT_EXPECT(target_ != 0 && manifest_ && writing_.empty());
    groups_ = groups;
    for (const redundancy::Group &group : groups_) {
        RedundancyOrder order;
        order.number = target_;
        order.directory = fast_ / checkpoint_directory_name(target_);
        order.group = group;
        for (const redundancy::Member &member : group.members) {
            order.places.push_back(hooks_.place(member.host));
            if (order.places.back().empty()) {
                failure_ = fmt::format("there is no agent on {}", member.host);
            }
        }
        for (order.self = 0; failure_.empty() && order.self < group.members.size();
             order.self++) {
            const std::string &host = group.members[order.self].host;
            writing_.insert(host);
            hooks_.write(host, order);
        }
    }
    all_answered();
}

void NodeLevel::written(const std::string &host, std::uint64_t number,
                        const std::string &error)
{
    if (number != target_ || writing_.erase(host) == 0) {
        return; /* an answer to an earlier coordinator */
    }
    if (!error.empty()) {
        failure_ = fmt::format("{}: {}", host, error);
    }
    all_answered();
}

void NodeLevel::host_gone(const std::string &host)
{
    if (writing_.erase(host) > 0) {
        failure_ = fmt::format("the agent of {} was lost", host);
        all_answered();
    }
}

void NodeLevel::all_answered()
{
    if (!writing_.empty()) {
        return;
    }
    if (failure_.empty()) {
        note();
    } else {
        end(failure_);
    }
}

/* Writes the record. The checkpoint counts as protected only from then on. */
void NodeLevel::note()
{
    CKPT_EXPECT(manifest_ && manifest_->number == target_ && writing_.empty());
    NodeRecord record{*manifest_, fast_ / checkpoint_directory_name(target_),
                      redundancy::protection_json(scheme_, groups_)};

    thread_.run([this, record = std::move(record)] {
        std::string error;
        try {
            require_sound();
            record.write(records_);
        } catch (const std::exception &problem) {
            error = problem.what();
        }
        worker_.reply([this, error] { end(error); });
    });
}

void NodeLevel::end(const std::string &error)
{
    CKPT_EXPECT(target_ != 0 && writing_.empty());
    const std::uint64_t number = target_;
    {
        std::lock_guard lock(mutex_);
        target_ = 0;
        redundant_ = error.empty() ? number : redundant_;
    }
    error_ = error;
    if (error.empty()) {
        seconds_ = std::chrono::duration<double>(steady_clock::now() - begun_).count();
        spdlog::info("checkpoint {} survives the loss of nodes ({})", number,
                     scheme_.text());
    } else {
        spdlog::error("checkpoint {} does not survive the loss of nodes: {}", number, error);
    }
    if (auto then = std::exchange(then_, {})) {
        then(error);
    }
    hooks_.over();
    begin();
}

} // namespace ckpt
