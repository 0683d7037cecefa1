/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_session.cpp - requests in, answers and blocks out.
 */
#include "agent/blocks/block_session.hpp"

#include "agent/links/reach.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/json_bytes.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

namespace ckpt::redundancy
{

namespace
{

/* Most requests that one node may queue. A group of nodes has fewer members. */
constexpr std::size_t most_requests = 256;
/* After so many blocks other sessions have their turn. */
constexpr int blocks_at_once = 4;
/* Size of the send buffer in bytes, which limits the data in flight (the kernel doubles it). More
 * than a few blocks leave the processor's cache before they arrive, which costs a third more.
 * With a round trip of 0.1 ms this is enough for 5 GB/s on each connection. */
constexpr int send_buffer = 256 << 10;

} // namespace

BlockSession::BlockSession(EventLoop &loop, FrameStream::Released connection,
                           std::string peer, const std::filesystem::path &root,
                           RejectedFrames &rejected, FabricHost &fabric,
                           std::function<void()> end)
    : loop_(loop), connection_(std::move(connection)), peer_(std::move(peer)),
      root_(root), rejected_(rejected), end_(std::move(end)),
      reader_(longest_block_message), tags_(connection_.outgoing.derive(block_purpose)),
      lent_(fabric, local_host(connection_.socket.get()))
{
    (void)::setsockopt(connection_.socket.get(), SOL_SOCKET, SO_SNDBUF, &send_buffer,
                       sizeof send_buffer);
    loop_.watch(connection_.socket.get(), EPOLLIN,
                [this](std::uint32_t events) { on_event(events); });
}

BlockSession::~BlockSession()
{
    loop_.forget(connection_.socket.get());
}

void BlockSession::on_event(std::uint32_t events)
{
    bool open = false;

    try {
        open = ((events & EPOLLIN) == 0 || receive()) && send();
    } catch (const Rejected &error) {
        rejected_.count(error.why(), fmt::format("{}: {}", peer_, error.what()));
    } catch (const Error &error) { /* a file that is being sent was replaced */
        spdlog::error("{}: {}", peer_, error.what());
    }
    if (!open) {
        auto end = std::move(end_);
        end();
    }
}

/* ---- Requests -------------------------------------------------------------------- */

/* Returns false at the end of the connection. */
bool BlockSession::receive()
{
    char bytes[16384];
    const ssize_t size =
        recv(connection_.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);

    if (size < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    if (size == 0 && reader_.is_within()) {
        reject(Rejection::malformed, "a request that is cut off");
    }
    reader_.add({bytes, static_cast<std::size_t>(size)});
    while (auto frame = reader_.next()) {
        take(*frame);
    }
    return size > 0;
}

void BlockSession::take(const Frame &frame)
try {
    connection_.incoming.check(frame);
    requests_.push_back(parse_json(frame.payload).get<BlockRequest>());
    if (requests_.size() > most_requests) {
        reject(Rejection::malformed, "more than {} requests at once", most_requests);
    }
} catch (const nlohmann::json::exception &error) {
    reject(Rejection::malformed, "{}", error.what());
}

/* ---- Answers and blocks ----------------------------------------------------------- */

/* Returns false if the connection is broken. */
bool BlockSession::send()
{
    for (int blocks = 0; blocks < blocks_at_once;) {
        CKPT_INVARIANT(sent_ <= output_.size());
        if (sent_ == output_.size()) {
            if (!make_output()) {
                break;
            }
            blocks++;
        }
        const ssize_t size =
            ::send(connection_.socket.get(), output_.data() + sent_,
                   output_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno != EINTR && errno != EAGAIN) {
            return false;
        }
        if (size < 0 && errno == EAGAIN) {
            break;
        }
        sent_ += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    }
    const bool is_more = sent_ < output_.size() || next_ < range_end_ || !requests_.empty();
    loop_.change(connection_.socket.get(), is_more ? EPOLLIN | EPOLLOUT : EPOLLIN);
    return true;
}

/* Returns false if there is nothing to send. */
bool BlockSession::make_output()
{
    sent_ = 0;
    output_.clear();
    if (next_ < range_end_) {
        make_block();
    } else if (!requests_.empty()) {
        begin(requests_.front());
        requests_.pop_front();
    }
    return !output_.empty();
}

void BlockSession::begin(const BlockRequest &request)
{
    const std::string answer = connection_.outgoing.seal(
        dump_json(nlohmann::json(open(request))));
    const auto bytes = std::as_bytes(std::span(answer));

    output_.assign(bytes.begin(), bytes.end());
}

BlockAnswer BlockSession::open(const BlockRequest &request)
try {
    next_ = range_end_ = 0;
    is_lent_ = false;
    file_.emplace(root_, request.path);
    const std::uint64_t size = file_->size();
    const std::uint64_t bytes =
        std::min(request.bytes, size - std::min(size, request.offset));

    next_ = request.offset;
    range_end_ = request.offset + bytes;
    BlockAnswer answer{"", size, bytes, {}, {}};
    if (bytes > 0 && !request.fabric.empty()) {
        lend(request, answer);
    }
    return answer;
} catch (const Error &error) {
    return {error.what(), 0, 0, {}, {}};
}

/* Lends the file. If the fabric cannot lend it, the blocks are sent instead. */
void BlockSession::lend(const BlockRequest &request, BlockAnswer &answer)
try {
    answer.lent = lent_.lend(*file_, request.fabric);
    is_lent_ = true;
} catch (const fabric::Failure &failure) {
    answer.not_lent = failure.what();
}

void BlockSession::make_block()
{
    CKPT_EXPECT(file_ && next_ < range_end_);
    const std::size_t bytes = std::min<std::uint64_t>(block_bytes, range_end_ - next_);

    output_.resize(bytes);
    file_->read(next_, output_);
    const BlockTags::Tag tag = tags_.next(output_);
    output_.resize(is_lent_ ? 0 : bytes); /* a lent block is read through the fabric */
    const auto end = std::as_bytes(std::span(tag));
    output_.insert(output_.end(), end.begin(), end.end());
    next_ += bytes;
    CKPT_INVARIANT(next_ <= range_end_ && range_end_ <= file_->size());
}

} // namespace ckpt::redundancy
