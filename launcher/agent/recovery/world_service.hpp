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
    /* By rank: the launcher's variables. */
    std::map<int, std::vector<std::string>> variables;
};

class WorldService
{
  public:
    struct Hooks {
        /* A rank of the world that was entered last has called MPI_Abort. */
        std::function<void(int rank, int code)> aborted;
        /* The server has ended. */
        std::function<void()> gone = [] {};
        /* This world is about to be registered, and prepare() has given its nodes. */
        std::function<void(const world::World &)> registers = [](const world::World &) {};
        /* Ranks of this node wait for those of others. */
        std::function<void(const world::FencePart &)> fence = [](const world::FencePart &) {};
        /* All ranks have left this world, or none enters it. */
        std::function<void(const std::string &name)> forgets = [](const std::string &) {};
    };

    /* settings must live longer. Context of all functions: normal, in the loop's thread. */
    WorldService(EventLoop &loop, const Settings &settings, Hooks hooks);
    /* The server stays for the ranks that it serves, and ends after them. */
    ~WorldService();
    WorldService(const WorldService &) = delete;
    WorldService &operator=(const WorldService &) = delete;

    /* Starts the server if it does not run, and has the next world registered, in the background.
     * nodes: those of the world; empty: prepare_as() names the worlds. library: the PMIx library of
     * the server. Errors are logged, and obstacle() tells them. */
    void prepare(const std::vector<world::WorldNode> &nodes, const std::string &library);
    /* The next world is this one, as soon as the server runs, instead of one that no rank has
     * entered. Throws Error if this node has no rank of the world. */
    void prepare_as(const std::string &name, const std::vector<world::WorldNode> &nodes);
    /* The nodes of the next world. */
    const std::vector<world::WorldNode> &nodes() const { return nodes_; }
    /* Name of the next world; "": none is registered. */
    std::string next() const { return next_ ? next_->name : std::string(); }
    /* Why no world can be entered now; "": one can. */
    std::string obstacle() const;
    /* Whether a world is about to be registered, so that it is worth waiting for. */
    bool is_coming() const { return is_coming_; }

    /* Gives the next world away, and has another one registered. Call it only if obstacle() is
     * empty. */
    NextWorld take();
    /* The ranks enter the next world: take() and entered(). Throws Error with the obstacle. */
    NextWorld enter();
    /* This process is the rank, or is to be the rank, in this world. */
    void process_of(const std::string &world, int rank, pid_t process);
    /* The ranks enter this world, or have entered it as copies that stand. */
    void entered(const std::string &world);
    /* All processes of a world that the ranks have not entered have ended. */
    void forget(const std::string &world);
    /* Whether the server is forgetting a world. Its connections may still be open. */
    bool is_forgetting() const { return forgetting_ > 0; }
    /* All ranks have left the former worlds, except the newest. */
    void forget_former();
    /* The answer to Hooks::fence. */
    void end_fence(const world::FenceResult &result) { (void)send(result); }

  private:
    void start(const std::string &library);
    void register_next();
    void name_next();
    std::size_t own_node() const;
    void received(const world::Message &message);
    void gone(const std::string &why);
    bool send(const world::Message &message);

    EventLoop &loop_;
    const Settings &settings_;
    Hooks hooks_;
    std::vector<world::WorldNode> nodes_; /* of the next world */
    bool names_worlds_ = false;           /* else prepare_as() does */
    std::string wanted_;                  /* name of the world to register next; "": none */
    int count_ = 0;                       /* of worlds that were named here */
    std::optional<NextWorld> next_;
    std::vector<std::string> former_; /* names of worlds, the last entered one at the end */
    /* why there is no next world, while there is none */
    std::string trouble_ = "there is no ckpt-world";
    bool is_coming_ = false;
    int forgetting_ = 0;              /* answers to Forget that have not come */
    bool has_started_ = false;        /* the server */
    std::filesystem::path directory_; /* of the server, with one for each world */
    int directories_ = 0;             /* of worlds */
    std::optional<SpawnedProcess> process_;
    std::optional<world::Channel> channel_;
};

} // namespace ckpt
