/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rendezvous_socket.hpp - exchanges packets with descriptors between processes of one user.
 */
#pragma once

#include "common/fd.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::restart
{

/* Suffix of the names of listeners in the run directory. */
inline constexpr const char *rendezvous_ending = ".rendezvous";

/* One end of a reliable connection. All functions throw Error, also when the other end is
 * closed. */
class RendezvousSocket
{
  public:
    explicit RendezvousSocket(Fd socket)
        : socket_(std::move(socket)) {}

    /* Connects to the listener in `directory`. */
    static RendezvousSocket connect(const std::filesystem::path &directory,
                                    const std::string &name);

    int fd() const { return socket_.get(); }

    /* Sends a packet with at most most_descriptors descriptors. */
    static constexpr std::size_t most_descriptors = 2;
    void send(const void *packet, std::size_t size, const std::vector<int> &fds);
    /* Waits for a packet of `size` bytes; returns the descriptors that came with it. */
    std::vector<Fd> receive(void *packet, std::size_t size);

  private:
    Fd socket_;
};

/* A listening socket. Its directory is private to the user, so only processes of the user
 * connect. Its name, of at most 80 bytes, exists as long as this object. */
class RendezvousListener
{
  public:
    /* Returns nothing if another process listens there, or did before it died. Also removes
     * other sockets *.rendezvous of dead hosts from the directory. */
    static std::optional<RendezvousListener> open(const std::filesystem::path &directory,
                                                  const std::string &name);
    ~RendezvousListener();
    RendezvousListener(RendezvousListener &&other) noexcept;
    RendezvousListener &operator=(RendezvousListener &&) = delete;

    /* Waits for a connection. Calls `check` at once and about once a second; an exception from it
     * ends the waiting. */
    RendezvousSocket accept(const std::function<void()> &check = [] {});

  private:
    RendezvousListener(std::filesystem::path path, Fd socket);

    std::filesystem::path path_; /* empty: moved from */
    Fd socket_;
};

} // namespace ckpt::restart
