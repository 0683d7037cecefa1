/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redundancy_writer.cpp - serves this node's pieces, and writes redundancy for those of other
 * nodes.
 */
#include "agent/blocks/redundancy_writer.hpp"

#include "agent/blocks/group_members.hpp"
#include "common/background.hpp"
#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/invariant.hpp"
#include "image/store/checkpoint_files.hpp"
#include "redundancy/protect.hpp"

#include <spdlog/spdlog.h>

#include <unistd.h>

#include <exception>
#include <utility>

namespace ckpt
{

namespace
{

/* Second name of an older parity file, beside the newest one. */
std::filesystem::path room_beside(const std::filesystem::path &parity)
{
    return parity.empty() ? parity : std::filesystem::path(parity.string() + ".room");
}

} // namespace

void RedundancyWriter::serve(const MessageKey &key)
{
    if (settings_.slow_directory.empty() || (server_ && key == key_)) {
        return;
    }
    try {
        key_ = key;
        server_.reset();
        server_ = std::make_unique<redundancy::BlockServer>(
            settings_.identity(), key, settings_.directory, rejected_, settings_.fabric);
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

std::string RedundancyWriter::try_to_write(const RedundancyOrder &order)
{
    try {
        fault_kill("agent-during-redundancy");
        CKPT_EXPECT(order.self < order.places.size());
        CKPT_EXPECT(order.places.size() == order.group.members.size());
        std::vector<std::string> places = order.places;
        places[order.self].clear(); /* a node does not read from itself */
        const GroupMembers members(order.directory, places, key_, settings_.identity(),
                                   GroupMembers::Unreachable::is_an_error, fabric_);
        WriteLimit limit(settings_.write_limit);
        redundancy::write_parity(order.group, order.self, order.directory,
                                 members.sources(), &limit, cancelled_, room_beside(last_));
        keep_room(order);
        return {};
    } catch (const std::exception &error) {
        return error.what();
    }
}

/*
 * New pages of memory are the most expensive part of a file in memory. So the next parity file
 * reuses the space of the parity file that this one replaces. The old file gets a second name
 * beside the new one. When the second name is the only one left, the file is not needed any more.
 * As it is in a checkpoint's directory, it is removed with that checkpoint even if this agent dies.
 * If there is no such file, or the file system has no second names, the next parity is a new file.
 */
void RedundancyWriter::keep_room(const RedundancyOrder &order)
{
    const std::filesystem::path before = std::exchange(
        last_, order.directory /
                   parity_file_name(order.group.members.at(order.self).host));

    if (!before.empty() && before != last_) {
        (void)::link(before.c_str(), room_beside(last_).c_str());
    }
}

void RedundancyWriter::stop()
{
    cancelled_ = true;
    thread_.reset();
    server_.reset();
}

} // namespace ckpt
