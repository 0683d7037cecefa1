/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_source.cpp - connects to a server, and connects again without the fabric if that fails.
 */
#include "agent/blocks/remote_source.hpp"

#include "agent/blocks/block_connection.hpp"
#include "agent/links/reach.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace ckpt::redundancy
{

namespace
{

/* Adds the name of the file and of the host to errors. */
template <typename Action>
auto naming(const std::string &what, const std::string &host, Action action)
try {
    return action();
} catch (const Error &error) {
    fail("{} of {}: {}", what, host, error.what());
} catch (const nlohmann::json::exception &error) {
    fail("{} of {}: {}", what, host, error.what());
}

} // namespace

RemoteSource::RemoteSource(const PeerAddress &address, const PeerIdentity &self,
                           std::string directory, std::chrono::milliseconds timeout,
                           FabricUse *fabric)
    : address_(address), self_(self),
      host_(address.hosts.empty() ? "a node without addresses" : address.hosts.front()),
      directory_(std::move(directory)), timeout_(timeout), fabric_(fabric)
{
    connection_ = naming("checkpoints", host_, [&] { return connect(fabric_); });
}

/* Tries all addresses: the first address that answers may belong to another machine, as on a
 * private network. */
std::unique_ptr<BlockConnection> RemoteSource::connect(FabricUse *fabric) const
{
    std::string failure = "it cannot be reached";

    for (std::size_t host = 0; host < address_.hosts.size(); host++) {
        Reached reached = reach(address_, host);
        if (!reached.socket || reached.host < host) {
            break;
        }
        host = reached.host;
        try {
            auto open = [&, local = local_host(reached.socket.get())] {
                return fabric == nullptr ? nullptr : fabric->open(host_, local);
            };
            return std::make_unique<BlockConnection>(std::move(reached.socket), address_,
                                                     self_, timeout_, open);
        } catch (const Error &error) {
            failure = error.what();
        }
    }
    fail("{}", failure);
}

RemoteSource::~RemoteSource() = default;

std::uint64_t RemoteSource::size(const std::string &file)
{
    return naming(file, host_, [&] { return connection_->size(path_of(file)); });
}

void RemoteSource::read(const std::string &file, std::uint64_t offset,
                        std::span<std::byte> into)
{
    naming(file, host_, [&] {
        while (!into.empty()) {
            const std::size_t got = read_some(path_of(file), offset, into);
            CKPT_INVARIANT(got > 0 && got <= into.size());
            into = into.subspan(got);
            offset += got;
        }
    });
    if (fabric_ != nullptr) {
        tell_fabric();
    }
}

std::size_t RemoteSource::read_some(const std::string &path, std::uint64_t offset,
                                    std::span<std::byte> into)
try {
    return connection_->read_some(path, offset, into);
} catch (const fabric::Failure &failure) {
    go_on_without_fabric(failure.what());
    return connection_->read_some(path, offset, into);
}

/* Requests the pending ranges again over the new connection. If there is none, the node counts
 * as lost, whatever the fabric has reported. */
void RemoteSource::go_on_without_fabric(const std::string &why)
{
    auto plain = connect(nullptr);

    for (const BlockConnection::Range &range : connection_->pending()) {
        plain->ask(range.path, range.next, range.end - range.next);
    }
    fabric_->give_up(host_, why);
    const std::lock_guard lock(mutex_);
    if (is_cancelled_) {
        fail("reading was cancelled");
    }
    connection_ = std::move(plain);
}

void RemoteSource::tell_fabric()
{
    if (const std::string why = connection_->take_refusal(); !why.empty()) {
        fabric_->give_up(host_, why);
    }
    if (connection_->has_used_fabric()) {
        fabric_->tell_use();
    }
}

void RemoteSource::announce(const std::string &file, std::uint64_t offset,
                            std::uint64_t bytes)
{
    if (bytes > 0) {
        naming(file, host_, [&] { connection_->ask(path_of(file), offset, bytes); });
    }
}

std::string RemoteSource::path_of(const std::string &file) const
{
    return directory_ + "/" + file;
}

void RemoteSource::cancel()
{
    const std::lock_guard lock(mutex_);

    is_cancelled_ = true;
    connection_->cancel();
}

} // namespace ckpt::redundancy
