/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_service.hpp - the agent's ckpt-world: the PMIx server of the worlds in which ranks of this
 * node go on after a failure. The next world is registered while the ranks run in another one.
 */
#pragma once

#include "agent/base/settings.hpp"
#include "agent/base/spawned_process.hpp"
#include "common/event_loop.hpp"
#include "world/channel.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ckpt
{

/* A registered world that no rank has entered. */
struct NextWorld {
    std::string name;
    /* By rank: the whole environment of its process. */
    std::map<int, std::vector<std::string>> environments;
};

class WorldService
{
  public:
    struct Hooks {
        /* A rank of the world that was entered last has called MPI_Abort. */
        std::function<void(int rank, int code)> aborted;
    };

    /* settings must live longer. Context of all functions: normal, in the loop's thread. */
    WorldService(EventLoop &loop, const Settings &settings, Hooks hooks);
    /* The server stays for the ranks that it serves, and ends after them. */
    ~WorldService();
    WorldService(const WorldService &) = delete;
    WorldService &operator=(const WorldService &) = delete;

    /* Starts the server if it does not run, and has the next world registered, in the background.
     * library: the PMIx library of the server. Errors are logged, and obstacle() tells them. */
    void prepare(int rank_count, const std::string &library);
    /* Why no world can be entered now; "": one can. */
    std::string obstacle() const;
    /* Whether a world is about to be registered, so that it is worth waiting for. */
    bool is_coming() const { return is_coming_; }

    /* The ranks enter the next world. Call it only if obstacle() is empty. */
    NextWorld enter();
    /* This process is the rank in the world that was entered last. */
    void process_of(int rank, pid_t process);
    /* All ranks have left the worlds before the one that was entered last. */
    void forget_former();

  private:
    void start(const std::string &library);
    void register_next();
    void received(const world::Message &message);
    void gone(const std::string &why);
    bool send(const world::Message &message);

    EventLoop &loop_;
    const Settings &settings_;
    Hooks hooks_;
    int rank_count_ = 0;
    int count_ = 0; /* of worlds that were registered */
    std::optional<NextWorld> next_;
    std::vector<std::string> former_; /* names of worlds, the last entered one at the end */
    /* why there is no next world, while there is none */
    std::string trouble_ = "there is no ckpt-world";
    bool is_coming_ = false;
    std::filesystem::path directory_; /* of the server, with one for each world */
    std::optional<SpawnedProcess> process_;
    std::optional<world::Channel> channel_;
};

} // namespace ckpt
