/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redundancy_writer.cpp - serves this node's pieces, and writes redundancy for others'.
 */
#include "agent/redundancy_writer.hpp"

#include "agent/group_members.hpp"
#include "common/background.hpp"
#include "common/error.hpp"
#include "common/fault.hpp"
#include "redundancy/protect.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace ckpt
{

void RedundancyWriter::serve(const MessageKey &key)
{
    if (settings_.slow_directory.empty() || (server_ && key == key_)) {
        return;
    }
    try {
        key_ = key;
        server_.reset();
        server_ = std::make_unique<redundancy::BlockServer>(settings_.identity(), key,
                                                            settings_.directory, refusals_);
    } catch (const std::exception &error) {
        spdlog::error("{}", error.what());
    }
}

std::string RedundancyWriter::place() const
{
    return server_ ? server_->address().place() : std::string();
}

void RedundancyWriter::write(RedundancyOrder order,
                             std::function<void(const std::string &error)> then)
{
    if (!thread_) {
        thread_ = std::make_unique<WorkerThread>();
        thread_->run(step_back);
    }
    thread_->run([this, order = std::move(order), then = std::move(then)] {
        then(try_to_write(order));
    });
}

std::string RedundancyWriter::try_to_write(const RedundancyOrder &order) const
{
    try {
        fault_kill("agent-during-redundancy");
        std::vector<std::string> places = order.places;
        places[order.self].clear(); /* nobody reads from itself */
        const GroupMembers members(order.directory, places, key_, settings_.identity(),
                                   GroupMembers::Unreachable::is_an_error);
        WriteLimit limit(settings_.write_limit);
        redundancy::write_parity(order.group, order.self, order.directory,
                                 members.sources(), &limit, cancelled_);
        return {};
    } catch (const std::exception &error) {
        return error.what();
    }
}

void RedundancyWriter::stop()
{
    cancelled_ = true;
    thread_.reset();
    server_.reset();
}

} // namespace ckpt
