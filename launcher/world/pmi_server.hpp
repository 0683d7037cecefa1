/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmi_server.hpp - the connections of MPICH's ranks to the server of their world.
 */
#pragma once

#include "common/event_loop.hpp"
#include "world/pmi_space.hpp"
#include "world/world_message.hpp"

#include <functional>
#include <map>
#include <string>

namespace ckpt::world
{

class PmiServer
{
  public:
    using Happened = std::function<void(const RankEvent &event)>;

    /* Serves the ranks of one world. `loop` must outlive this object. Throws Error. */
    PmiServer(EventLoop &loop, const World &world, Happened happened);
    ~PmiServer();
    PmiServer(const PmiServer &) = delete;
    PmiServer &operator=(const PmiServer &) = delete;

    /* Returns the rank's end of its connection, to be inherited by its process. Only once for
     * each rank. */
    Fd take_endpoint(int rank);

  private:
    struct Connection {
        Fd socket;
        Fd endpoint; /* the rank's end until it is taken */
        std::string received;
    };

    void read(int rank);
    void obey(int rank, const std::string &line);
    void answer(int rank, const std::string &line);
    void close(int rank);

    EventLoop &loop_;
    const std::string name_;
    PmiSpace space_;
    Happened happened_;
    std::map<int, Connection> connections_; /* by rank */
};

} // namespace ckpt::world
