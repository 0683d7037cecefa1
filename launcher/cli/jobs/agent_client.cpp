/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_client.cpp - the client's side of the control protocol.
 */
#include "cli/jobs/agent_client.hpp"

#include "common/error.hpp"
#include "common/fd.hpp"
#include "common/invariant.hpp"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace ckpt::cli
{

namespace
{

constexpr int tick_ms = 100;

/* Returns nothing if no process listens at `path`. */
std::optional<Fd> connect_to(const std::filesystem::path &path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.native().size() >= sizeof(address.sun_path)) {
        fail("the path of the agent's socket is too long: {}", path.string());
    }
    std::strcpy(address.sun_path, path.c_str());

    Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) {
        fail_errno(errno, "cannot make a socket");
    }
    if (connect(fd.get(), reinterpret_cast<sockaddr *>(&address),
                sizeof(address)) < 0) {
        if (errno == ECONNREFUSED || errno == ENOENT) {
            return std::nullopt;
        }
        fail_errno(errno, "cannot talk to the agent at {}", path.string());
    }
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
        fail_errno(errno, "cannot see who listens at {}", path.string());
    }
    if (peer.uid != geteuid()) {
        fail("the agent at {} belongs to uid {}, not to you", path.string(),
             peer.uid);
    }
    return fd;
}

void send_line(int fd, const std::string &line)
{
    CKPT_EXPECT(line.ends_with('\n'));
    std::size_t sent = 0;
    while (sent < line.size()) {
        ssize_t put = send(fd, line.data() + sent, line.size() - sent,
                           MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0 && (errno == EPIPE || errno == ECONNRESET)) {
            throw AgentDied();
        }
        if (put < 0) {
            fail_errno(errno, "cannot write to the agent");
        }
        sent += static_cast<std::size_t>(put);
    }
}

/* Splits the stream from an agent into lines. */
class LineReader
{
  public:
    explicit LineReader(int fd)
        : fd_(fd) {}

    /* Returns the next line, or nothing if none arrived within a tick. */
    std::optional<std::string> next()
    {
        for (;;) {
            std::size_t end = buffer_.find('\n');
            if (end != buffer_.npos) {
                std::string line = buffer_.substr(0, end);
                buffer_.erase(0, end + 1);
                return line;
            }
            if (buffer_.size() > control::line_limit) {
                fail("the agent's answer is too long");
            }
            pollfd wanted = {fd_, POLLIN, 0};
            int ready = poll(&wanted, 1, tick_ms);
            if (ready == 0 || (ready < 0 && errno == EINTR)) {
                return std::nullopt;
            }
            receive();
        }
    }

  private:
    void receive()
    {
        char bytes[4096];
        ssize_t got = read(fd_, bytes, sizeof(bytes));
        if (got == 0 || (got < 0 && errno == ECONNRESET)) {
            throw AgentDied();
        }
        if (got < 0) {
            fail_errno(errno, "cannot read from the agent");
        }
        buffer_.append(bytes, static_cast<std::size_t>(got));
    }

    int fd_;
    std::string buffer_;
};

} // namespace

std::optional<control::Reply>
ask_agent(const std::filesystem::path &socket, const control::Request &request,
          int silence_ms,
          const std::function<void(const control::Progress &)> &progress)
{
    auto fd = connect_to(socket);
    if (!fd) {
        return std::nullopt;
    }
    send_line(fd->get(), control::encode_line(request));

    LineReader reader(fd->get());
    control::Reply reply;
    int silent_ms = 0;
    for (;;) {
        auto line = reader.next();
        std::string error;
        if (line && !control::decode_reply(*line, reply, error)) {
            fail("cannot understand the agent: {}", error);
        }
        if (line && reply.event != "progress") {
            return reply;
        }
        silent_ms = line ? 0 : silent_ms + tick_ms;
        if (silence_ms >= 0 && silent_ms >= silence_ms) {
            fail("the agent at {} does not answer", socket.string());
        }
        if (progress && reply.event == "progress") {
            progress(reply.progress);
        }
    }
}

} // namespace ckpt::cli
