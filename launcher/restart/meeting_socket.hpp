/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meeting_socket.hpp - packets with descriptors between processes of one user.
 */
#pragma once

#include "common/fd.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::restart
{

/* How the names of listeners in the run directory end. */
inline constexpr const char *meeting_ending = ".meeting";

/* One end of a connection. No packet is lost. Functions throw Error, also when the other end
 * has gone. */
class MeetingSocket
{
  public:
    explicit MeetingSocket(Fd socket) : socket_(std::move(socket)) {}

    /* To the listener in `directory`. */
    static MeetingSocket connect(const std::filesystem::path &directory, const std::string &name);

    int fd() const { return socket_.get(); }

    /* With at most most_descriptors. */
    static constexpr std::size_t most_descriptors = 2;
    void send(const void *packet, std::size_t size, const std::vector<int> &fds);
    /* Waits for a packet of `size` bytes; returns what came along. */
    std::vector<Fd> receive(void *packet, std::size_t size);

  private:
    Fd socket_;
};

/* A place to connect to. Its directory is private to the user, so the others are his. It has its
 * name, of at most 80 bytes, as long as this lives. */
class MeetingListener
{
  public:
    /* Nothing if another process listens there, or has listened and died. Removes what hosts
     * under other names *.meeting that died have left in the directory. */
    static std::optional<MeetingListener> open(const std::filesystem::path &directory,
                                               const std::string &name);
    ~MeetingListener();
    MeetingListener(MeetingListener &&other) noexcept;
    MeetingListener &operator=(MeetingListener &&) = delete;

    MeetingSocket accept();

  private:
    MeetingListener(std::filesystem::path path, Fd socket);

    std::filesystem::path path_; /* empty: moved from */
    Fd socket_;
};

} // namespace ckpt::restart
