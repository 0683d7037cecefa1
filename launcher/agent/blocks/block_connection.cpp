/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_connection.cpp - a socket with a time limit, the ranges that were requested, and blocks
 * that come through the socket or a fabric.
 */
#include "agent/blocks/block_connection.hpp"

#include "agent/blocks/block_request.hpp"
#include "agent/blocks/block_tags.hpp"
#include "agent/links/frame_seal.hpp"
#include "agent/links/handshake.hpp"
#include "agent/base/rejected_frames.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/json_bytes.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

namespace ckpt::redundancy
{

/* ---- Bytes ------------------------------------------------------------------------ */

namespace
{

/* A blocking socket with a time limit. */
class TimedSocket
{
  public:
    TimedSocket(Fd socket, std::chrono::milliseconds timeout)
        : socket_(std::move(socket))
    {
        const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
        const timeval wait = {seconds.count(),
                              std::chrono::microseconds(timeout - seconds).count()};
        const int on = 1;

        const int flags = ::fcntl(socket_.get(), F_GETFL);
        if (::fcntl(socket_.get(), F_SETFL, flags & ~O_NONBLOCK) < 0 ||
            ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) < 0 ||
            ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) < 0 ||
            ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) {
            fail_errno(errno, "cannot prepare a connection");
        }
    }

    void send(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const ssize_t size =
                ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            require_progress(size);
            bytes.remove_prefix(static_cast<std::size_t>(size));
        }
    }

    void receive(std::span<std::byte> first, std::span<std::byte> second = {})
    {
        while (!first.empty() || !second.empty()) {
            iovec parts[] = {{first.data(), first.size()}, {second.data(), second.size()}};
            msghdr message{};
            message.msg_iov = parts;
            message.msg_iovlen = 2;
            const ssize_t size = ::recvmsg(socket_.get(), &message, MSG_WAITALL);
            require_progress(size);
            const auto got = static_cast<std::size_t>(size);
            const std::size_t of_first = std::min(got, first.size());
            first = first.subspan(of_first);
            second = second.subspan(got - of_first);
        }
    }

    const std::atomic<bool> &is_cancelled() const { return is_cancelled_; }

    /* May be called from any thread: a thread that waits gets an Error. */
    void cancel()
    {
        is_cancelled_ = true;
        ::shutdown(socket_.get(), SHUT_RDWR);
    }

  private:
    void require_progress(ssize_t size) const
    {
        if (is_cancelled_) {
            fail("reading was cancelled");
        }
        if (size == 0) {
            fail("the connection has ended");
        }
        if (size < 0) {
            fail("{}", errno == EAGAIN ? "nothing comes" : std::strerror(errno));
        }
    }

    Fd socket_;
    std::atomic<bool> is_cancelled_ = false;
};

/* Receives one frame, and no byte of what follows it. */
Frame receive_frame(TimedSocket &socket)
{
    FrameReader reader(longest_handshake);
    std::string bytes(sizeof(FrameHeader), '\0');
    FrameHeader header;

    socket.receive(std::as_writable_bytes(std::span(bytes)));
    reader.add(bytes);
    std::memcpy(&header, bytes.data(), sizeof header);
    auto frame = reader.next(); /* checks the header; a frame without payload is complete */
    if (!frame) {
        bytes.resize(header.length);
        socket.receive(std::as_writable_bytes(std::span(bytes)));
        reader.add(bytes);
        frame = reader.next();
    }
    return frame.value();
}

SessionKeys shake_hands(TimedSocket &socket, const PeerAddress &address,
                        const PeerIdentity &self)
{
    CallerHandshake handshake(address, self, block_purpose);

    socket.send(handshake.call(receive_frame(socket)));
    return handshake.accept(receive_frame(socket));
}

} // namespace

/* ---- Ranges ------------------------------------------------------------------------ */

class BlockConnection::Parts
{
  public:
    Parts(Fd socket, const PeerAddress &address, const PeerIdentity &self,
          std::chrono::milliseconds timeout, const OpenFabric &open_fabric)
        : socket_(std::move(socket), timeout), keys_(shake_hands(socket_, address, self)),
          outgoing_(keys_.from_caller), incoming_(keys_.from_listener),
          tags_(keys_.from_listener.derive(block_purpose)), timeout_(timeout),
          fabric_(open_fabric()), provider_(fabric_ ? fabric_->provider() : "")
    {
    }

    std::uint64_t size(const std::string &path)
    {
        require_order(ranges_.empty());
        ask(path, 0, 0);
        return take_answer().size;
    }

    void ask(const std::string &path, std::uint64_t offset, std::uint64_t bytes)
    {
        socket_.send(outgoing_.seal(
            dump_json(nlohmann::json(
                BlockRequest{path, offset, bytes, bytes > 0 ? provider_ : ""}))));
        ranges_.push_back({{path, offset, offset + bytes}, {}, {}});
    }

    /* Reads from the first range: a block, the rest of one, or zeros. */
    std::size_t read_some(const std::string &path, std::uint64_t offset,
                          std::span<std::byte> into)
    {
        if (ranges_.empty()) {
            ask(path, offset, into.size());
        }
        require_order(ranges_.front().path == path && ranges_.front().next == offset);
        if (!ranges_.front().there) {
            (void)take_answer();
        }
        Coming &range = ranges_.front();
        CKPT_INVARIANT(range.there && *range.there <= range.end);
        const auto wanted =
            into.first(std::min<std::uint64_t>(into.size(), range.end - range.next));
        const std::size_t got =
            range.next < *range.there ? take_block(wanted, range) : zeros(wanted);
        range.next += got;
        CKPT_INVARIANT(range.next <= range.end && (got > 0 || into.empty()));
        if (range.next == range.end) {
            ranges_.pop_front();
        }
        return got;
    }

    std::vector<Range> pending() const { return {ranges_.begin(), ranges_.end()}; }
    std::string take_refusal() { return std::exchange(refusal_, ""); }
    bool has_used_fabric() const { return has_used_fabric_; }
    void cancel() { socket_.cancel(); }

  private:
    /* A range that was requested. */
    struct Coming : Range {
        std::optional<std::uint64_t> there; /* where the server's bytes end; set by its answer */
        std::optional<fabric::Lent> lent;   /* the file that the server lends: it sends only tags */
    };

    static void require_order(bool condition)
    {
        if (!condition) {
            fail("the bytes read are not those that were announced");
        }
    }

    /* Takes the answer for the first range. Removes the range if no bytes follow the answer. */
    BlockAnswer take_answer()
    {
        const Frame frame = receive_frame(socket_);

        CKPT_EXPECT(!ranges_.empty());
        incoming_.check(frame);
        const auto answer = parse_json(frame.payload).get<BlockAnswer>();
        Coming &range = ranges_.front();
        if (answer.bytes > range.end - range.next) {
            fail("more comes than was asked for");
        }
        range.there = range.next + answer.bytes;
        range.lent = answer.lent;
        if (!answer.not_lent.empty()) {
            refusal_ = answer.not_lent;
            provider_.clear(); /* it is not asked again */
        }
        if (!answer.error.empty() || range.next == range.end) {
            ranges_.pop_front();
        }
        if (!answer.error.empty()) {
            fail("{}", answer.error);
        }
        return answer;
    }

    static std::size_t zeros(std::span<std::byte> into)
    {
        std::ranges::fill(into, std::byte{0});
        return into.size();
    }

    /* Receives straight into `into` if the whole block fits. */
    std::size_t take_block(std::span<std::byte> into, const Coming &range)
    {
        CKPT_EXPECT(range.there && range.next < *range.there);
        const std::size_t size =
            std::min<std::uint64_t>(block_bytes, *range.there - range.next);

        if (rest_.empty() && into.size() >= size) {
            receive_block(into.first(size), range);
            return size;
        }
        if (rest_.empty()) {
            spare_.resize(size);
            receive_block(spare_, range);
            rest_ = spare_;
        }
        const std::size_t part = std::min(into.size(), rest_.size());
        std::ranges::copy(rest_.first(part), into.begin());
        rest_ = rest_.subspan(part);
        return part;
    }

    /* Receives the range's next block, through the socket or the fabric. The block is accepted
     * if it has the tag that the server sent. */
    void receive_block(std::span<std::byte> block, const Coming &range)
    {
        BlockTags::Tag tag;
        const auto tag_bytes = std::as_writable_bytes(std::span(tag));

        if (range.lent) {
            socket_.receive(tag_bytes);
            read_lent(*range.lent, range.next, block);
        } else {
            socket_.receive(block, tag_bytes);
        }
        if (!tags_.is_next(block, tag)) {
            reject(Rejection::forged, "a block with a wrong tag");
        }
    }

    void read_lent(const fabric::Lent &lent, std::uint64_t offset, std::span<std::byte> block)
    {
        if (!fabric_) {
            fail("something was lent that was not asked for");
        }
        fabric_->read(lent, offset, block, timeout_, socket_.is_cancelled());
        has_used_fabric_ = true;
    }

    TimedSocket socket_;
    SessionKeys keys_;
    FrameSeal outgoing_, incoming_;
    BlockTags tags_;
    std::deque<Coming> ranges_;
    std::vector<std::byte> spare_; /* a block of which the caller wanted only a part */
    std::span<std::byte> rest_;    /* the part of `spare_` that is not read yet */

    const std::chrono::milliseconds timeout_;
    std::unique_ptr<fabric::Endpoint> fabric_;
    std::string provider_; /* provider to request lending with; empty: request none */
    std::string refusal_;
    bool has_used_fabric_ = false;
};

/* ---- A connection ------------------------------------------------------------------ */

BlockConnection::BlockConnection(Fd socket, const PeerAddress &address,
                                 const PeerIdentity &self, std::chrono::milliseconds timeout,
                                 const OpenFabric &open_fabric)
    : parts_(std::make_unique<Parts>(std::move(socket), address, self, timeout,
                                     open_fabric))
{
}

BlockConnection::~BlockConnection() = default;

std::uint64_t BlockConnection::size(const std::string &path)
{
    return parts_->size(path);
}

void BlockConnection::ask(const std::string &path, std::uint64_t offset, std::uint64_t bytes)
{
    parts_->ask(path, offset, bytes);
}

std::size_t BlockConnection::read_some(const std::string &path, std::uint64_t offset,
                                       std::span<std::byte> into)
{
    return parts_->read_some(path, offset, into);
}

std::vector<BlockConnection::Range> BlockConnection::pending() const
{
    return parts_->pending();
}

std::string BlockConnection::take_refusal()
{
    return parts_->take_refusal();
}

bool BlockConnection::has_used_fabric() const
{
    return parts_->has_used_fabric();
}

void BlockConnection::cancel()
{
    parts_->cancel();
}

} // namespace ckpt::redundancy
