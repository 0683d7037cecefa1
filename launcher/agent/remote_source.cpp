/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_source.cpp - asks for ranges ahead, and takes them block by block.
 */
#include "agent/remote_source.hpp"

#include "agent/block_request.hpp"
#include "agent/block_tags.hpp"
#include "agent/frame_seal.hpp"
#include "agent/handshake.hpp"
#include "agent/reach.hpp"
#include "agent/refusals.hpp"
#include "common/error.hpp"

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
#include <vector>

namespace ckpt::redundancy
{

/* ---- Bytes ------------------------------------------------------------------------ */

namespace
{

/* A socket that waits, but not for ever. */
class PatientSocket
{
  public:
    PatientSocket(Fd socket, std::chrono::milliseconds patience)
        : socket_(std::move(socket))
    {
        const auto seconds = std::chrono::floor<std::chrono::seconds>(patience);
        const timeval wait = {seconds.count(),
                              std::chrono::microseconds(patience - seconds).count()};
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

    /* From any thread: whoever waits gets an Error. */
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

/* One frame, and no byte of what follows it. */
Frame receive_frame(PatientSocket &socket)
{
    FrameReader reader(longest_handshake);
    std::string bytes(sizeof(FrameHeader), '\0');
    FrameHeader header;

    socket.receive(std::as_writable_bytes(std::span(bytes)));
    reader.add(bytes);
    std::memcpy(&header, bytes.data(), sizeof header);
    auto frame = reader.next(); /* looks at the header; it may be all */
    if (!frame) {
        bytes.resize(header.length);
        socket.receive(std::as_writable_bytes(std::span(bytes)));
        reader.add(bytes);
        frame = reader.next();
    }
    return frame.value();
}

SessionKeys shake_hands(PatientSocket &socket, const PeerAddress &address,
                        const PeerIdentity &self)
{
    CallerHandshake handshake(address, self, block_purpose);

    socket.send(handshake.call(receive_frame(socket)));
    return handshake.accept(receive_frame(socket));
}

} // namespace

/* ---- Ranges ------------------------------------------------------------------------ */

class RemoteSource::Connection
{
  public:
    Connection(Fd socket, const PeerAddress &address, const PeerIdentity &self,
               std::chrono::milliseconds patience)
        : socket_(std::move(socket), patience), keys_(shake_hands(socket_, address, self)),
          outgoing_(keys_.from_caller), incoming_(keys_.from_listener),
          tags_(keys_.from_listener.derive(block_purpose))
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
            nlohmann::json(BlockRequest{path, offset, bytes})
                .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
        ranges_.push_back({path, offset, offset + bytes, {}});
    }

    void read(const std::string &path, std::uint64_t offset, std::span<std::byte> into)
    {
        if (ranges_.empty() && !into.empty()) {
            ask(path, offset, into.size());
        }
        while (!into.empty()) {
            require_order(!ranges_.empty() && ranges_.front().path == path &&
                          ranges_.front().next == offset);
            const std::size_t got = read_some(into);
            into = into.subspan(got);
            offset += got;
        }
    }

    void cancel() { socket_.cancel(); }

  private:
    /* That has been asked for. */
    struct Range {
        std::string path;
        std::uint64_t next, end;            /* what has not been handed out of it */
        std::optional<std::uint64_t> there; /* where what comes ends; after the answer */
    };

    static void require_order(bool condition)
    {
        if (!condition) {
            fail("something else is read than what was announced");
        }
    }

    /* Of the first range, which is gone if there is no more to come of it. */
    BlockAnswer take_answer()
    {
        const Frame frame = receive_frame(socket_);

        incoming_.check(frame);
        const auto answer = nlohmann::json::parse(frame.payload).get<BlockAnswer>();
        Range &range = ranges_.front();
        if (answer.bytes > range.end - range.next) {
            fail("more comes than was asked for");
        }
        range.there = range.next + answer.bytes;
        if (!answer.error.empty() || range.next == range.end) {
            ranges_.pop_front();
        }
        if (!answer.error.empty()) {
            fail("{}", answer.error);
        }
        return answer;
    }

    /* What the first range has: a block, or the rest of one, or zeros. */
    std::size_t read_some(std::span<std::byte> into)
    {
        if (!ranges_.front().there) {
            (void)take_answer();
        }
        Range &range = ranges_.front();
        const auto wanted =
            into.first(std::min<std::uint64_t>(into.size(), range.end - range.next));
        const std::size_t got = range.next < *range.there
                                    ? take_block(wanted, *range.there - range.next)
                                    : zeros(wanted);
        range.next += got;
        if (range.next == range.end) {
            ranges_.pop_front();
        }
        return got;
    }

    static std::size_t zeros(std::span<std::byte> into)
    {
        std::ranges::fill(into, std::byte{0});
        return into.size();
    }

    /* Straight to where it is wanted, if all of it is. to_come: bytes of the range */
    std::size_t take_block(std::span<std::byte> into, std::uint64_t to_come)
    {
        const std::size_t size = std::min<std::uint64_t>(block_bytes, to_come);

        if (rest_.empty() && into.size() >= size) {
            receive_block(into.first(size));
            return size;
        }
        if (rest_.empty()) {
            spare_.resize(size);
            receive_block(spare_);
            rest_ = spare_;
        }
        const std::size_t part = std::min(into.size(), rest_.size());
        std::ranges::copy(rest_.first(part), into.begin());
        rest_ = rest_.subspan(part);
        return part;
    }

    void receive_block(std::span<std::byte> block)
    {
        BlockTags::Tag tag;

        socket_.receive(block, std::as_writable_bytes(std::span(tag)));
        if (!tags_.is_next(block, tag)) {
            refuse(Refusal::forged, "a block with a wrong tag");
        }
    }

    PatientSocket socket_;
    SessionKeys keys_;
    FrameSeal outgoing_, incoming_;
    BlockTags tags_;
    std::deque<Range> ranges_;
    std::vector<std::byte> spare_; /* a block that was not wanted as a whole, */
    std::span<std::byte> rest_;    /* and what is left of it */
};

/* ---- A source ---------------------------------------------------------------------- */

namespace
{

/* Has errors say of whom they are. */
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
                           std::string directory, std::chrono::milliseconds patience)
    : host_(address.hosts.empty() ? "a node without addresses" : address.hosts.front()),
      directory_(std::move(directory))
{
    connection_ =
        naming("checkpoints", host_, [&] { return connect(address, self, patience); });
}

/* The first address that answers may be somebody else's, as on a private network. */
std::unique_ptr<RemoteSource::Connection>
RemoteSource::connect(const PeerAddress &address, const PeerIdentity &self,
                      std::chrono::milliseconds patience)
{
    std::string failure = "it cannot be reached";

    for (std::size_t host = 0; host < address.hosts.size(); host++) {
        Reached reached = reach(address, host);
        if (!reached.socket || reached.host < host) {
            break;
        }
        host = reached.host;
        try {
            return std::make_unique<Connection>(std::move(reached.socket), address, self,
                                                patience);
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
    naming(file, host_, [&] { connection_->read(path_of(file), offset, into); });
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
    connection_->cancel();
}

} // namespace ckpt::redundancy
