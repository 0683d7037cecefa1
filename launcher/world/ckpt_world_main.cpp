/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckpt_world_main.cpp - serves worlds for the ranks of one node.
 *
 *     ckpt-world --host NAME --directory DIR [--remove-directory] [--pmix LIBRARY] <>SOCKET
 *
 * Standard input is the socket of the client (world_message.hpp). When the client goes, the
 * server stays for the processes of ranks that it knows, and ends after them. Then it removes its
 * directory, if the client has asked for that.
 */
#include "config.h"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/pidfd.hpp"
#include "world/channel.hpp"
#include "world/pmi_server.hpp"
#include "world/pmix_server.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace ckpt::world
{

namespace
{

struct Options {
    std::string host;
    std::filesystem::path directory;
    bool removes_directory = false;
    /* When the client has gone, missing ranks do not come, and others wait for them in MPI_Init. */
    bool ends_lone_ranks = false;
    std::string library = "libpmix.so.2";
};

/* Events on the way from threads of libpmix to the thread of the loop. */
using Event = std::variant<RankEvent, FencePart>;

class EventQueue
{
  public:
    EventQueue()
        : news_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
        if (!news_) {
            fail_errno(errno, "cannot make an eventfd");
        }
    }

    int descriptor() const { return news_.get(); }

    /* Thread-safe. */
    void add(Event event)
    {
        const std::lock_guard lock(mutex_);
        events_.push_back(std::move(event));
        (void)eventfd_write(news_.get(), 1); /* cannot fail before 2^64 - 1 events */
    }

    std::vector<Event> take()
    {
        const std::lock_guard lock(mutex_);
        eventfd_t count = 0;
        (void)eventfd_read(news_.get(), &count); /* EAGAIN: taken before */
        return std::exchange(events_, {});
    }

  private:
    Fd news_;
    std::mutex mutex_;
    std::vector<Event> events_;
};

using Rank = std::pair<std::string, int>; /* name of the world, rank */

class WorldService
{
  public:
    explicit WorldService(const Options &options)
        : server_(
              options.library, options.directory, options.host,
              [this](const RankEvent &event) { events_.add(event); },
              [this](FencePart part) { events_.add(std::move(part)); }),
          channel_(
              loop_, Fd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)),
              [this](const Message &message) { take(message); },
              [this, ends = options.ends_lone_ranks](const std::string &why) {
                  if (!why.empty()) {
                      fmt::print(stderr, "ckpt-world: {}\n", why);
                  }
                  server_.fail_fences(); /* the parts of other nodes do not come any more */
                  if (ends) {
                      end_lone_ranks();
                  }
              })
    {
        loop_.watch(events_.descriptor(), EPOLLIN, [this](std::uint32_t) { pass_on(); });
    }

    void run()
    {
        say(Started{PACKAGE_VERSION, server_.version()});
        while (channel_.is_open() || !processes_.empty()) {
            loop_.turn(std::chrono::steady_clock::now() + std::chrono::hours(1));
        }
    }

  private:
    /* A client that has gone needs no answer. */
    void say(const Message &message) { (void)channel_.send(message); }

    void take(const Message &message)
    {
        if (const auto *order = std::get_if<Register>(&message)) {
            take(*order);
        } else if (const auto *process = std::get_if<Process>(&message)) {
            take(*process);
        } else if (const auto *end = std::get_if<Forget>(&message)) {
            to_forget_.insert(end->name);
            forget_closed();
        } else if (const auto *result = std::get_if<FenceResult>(&message)) {
            take(*result);
        } else {
            fail("the client sends a message of the server");
        }
    }

    /* Ends the ranks of worlds that some ranks have not entered. */
    void end_lone_ranks()
    {
        pass_on();
        for (const auto &[rank, process] : processes_) {
            if (!awaited_[rank.first].empty()) {
                send_signal(process, SIGKILL);
            }
        }
    }

    void take(const Register &order)
    {
        try {
            awaited_[order.world.name].insert(order.world.here().ranks.begin(),
                                              order.world.here().ranks.end());
            say(Registered{order.world.name,
                           order.has_pmi ? add_pmi(order.world) : server_.add(order.world)});
        } catch (const Error &problem) {
            say(Refused{order.world.name, problem.what()});
        }
    }

    std::map<int, std::vector<std::string>> add_pmi(const World &world)
    {
        std::map<int, std::vector<std::string>> environments;

        require_valid(world);
        const auto [place, is_new] = pmi_.try_emplace(
            world.name, loop_, world, [this](const RankEvent &event) { events_.add(event); });
        if (!is_new) {
            fail("world {} is known already", world.name);
        }
        for (int rank : world.here().ranks) {
            const Fd endpoint = place->second.take_endpoint(rank);
            (void)channel_.send(Endpoint{world.name, rank}, endpoint.get());
            environments[rank] = pmi_variables(world, rank);
        }
        return environments;
    }

    /* Forgets the worlds without open connections. If libpmix 4.2 has not noticed the end of one,
     * it closes it all the same, and does not watch the next one with the same descriptor. */
    void forget_closed()
    {
        std::erase_if(to_forget_, [this](const std::string &name) {
            const bool is_closed = std::ranges::none_of(
                open_, [&](const Rank &rank) { return rank.first == name; });
            if (is_closed) {
                forget(name);
            }
            return is_closed;
        });
    }

    void forget(const std::string &name)
    {
        try {
            if (pmi_.erase(name) == 0) {
                server_.remove(name);
            }
            awaited_.erase(name);
            std::erase_if(connected_, [&](const Rank &rank) { return rank.first == name; });
            say(Forgotten{name});
        } catch (const Error &problem) {
            say(Refused{name, problem.what()});
        }
    }

    /* The world may have been forgotten meanwhile. */
    void take(const FenceResult &result)
    {
        try {
            server_.end_fence(result);
        } catch (const Error &problem) {
            fmt::print(stderr, "ckpt-world: {}\n", problem.what());
        }
    }

    void take(const Process &process)
    {
        const Rank rank{process.name, process.rank};
        Fd descriptor = open_pidfd(process.pid);

        if (!descriptor) {
            ended(rank); /* the client has reaped it already */
            return;
        }
        loop_.watch(descriptor.get(), EPOLLIN, [this, rank](std::uint32_t) {
            loop_.forget(processes_.at(rank).get());
            processes_.erase(rank);
            ended(rank);
        });
        const auto [place, is_new] = processes_.emplace(rank, std::move(descriptor));
        CKPT_INVARIANT(is_new); /* the client says it once */
    }

    /* libpmix answers MPI_Finalize after its callback. So the events of an ended process are in
     * the queue. */
    void ended(const Rank &rank)
    {
        pass_on();
        if (connected_.erase(rank) != 0) {
            say(RankEvent{RankEvent::Kind::lost, rank.first, rank.second, 0, ""});
        }
    }

    void pass_on()
    {
        for (const Event &event : events_.take()) {
            if (const auto *part = std::get_if<FencePart>(&event)) {
                say(*part);
            } else {
                pass_on(std::get<RankEvent>(event));
            }
        }
        forget_closed();
    }

    void pass_on(const RankEvent &event)
    {
        const Rank rank{event.name, event.rank};
        if (event.kind == RankEvent::Kind::closed) {
            open_.erase(rank);
            return;
        }
        if (event.kind == RankEvent::Kind::connected) {
            connected_.insert(rank);
            if (!pmi_.contains(rank.first)) {
                open_.insert(rank);
            }
            awaited_[event.name].erase(event.rank);
        } else {
            connected_.erase(rank);
        }
        if (event.kind == RankEvent::Kind::finalized) {
            open_.erase(rank); /* libpmix does not tell of its end */
        }
        say(event);
    }

    EventLoop loop_;
    EventQueue events_;
    std::set<Rank> connected_;
    std::map<std::string, std::set<int>> awaited_; /* by world: ranks that have never connected */
    std::set<Rank> open_;                          /* libpmix has not closed their connection */
    std::set<std::string> to_forget_;              /* names of worlds */
    std::map<Rank, Fd> processes_;                 /* pidfds of those that run */
    PmixServer server_;
    std::map<std::string, PmiServer> pmi_; /* by name of the world */
    Channel channel_;
};

void remove_directory(const std::filesystem::path &directory)
{
    std::error_code error;
    std::filesystem::remove_all(directory, error);
    if (error) {
        fmt::print(stderr, "ckpt-world: cannot remove {}: {}\n", directory.string(),
                   error.message());
    }
}

/* Signals of the terminal are for the launcher, which ends this server. */
void ignore_signals()
{
    for (int number : {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGPIPE}) {
        (void)std::signal(number, SIG_IGN); /* fails only for other signals */
    }
}

} // namespace

} // namespace ckpt::world

int main(int argc, char **argv)
{
    int code = 1;
    ckpt::world::Options options;
    try {
        CLI::App app("Serves the ranks of a node. Started by ckpt.");
        app.add_option("--host", options.host, "Name of this node")->required();
        app.add_option("--directory", options.directory, "Directory for temporary files")
            ->required();
        app.add_flag("--remove-directory", options.removes_directory, "Remove it at the end");
        app.add_flag("--end-lone-ranks", options.ends_lone_ranks,
                     "End the ranks of a world that is not complete when the client ends");
        app.add_option("--pmix", options.library, "The PMIx library");
        app.set_version_flag("--version", PACKAGE_STRING);
        CLI11_PARSE(app, argc, argv);
        ckpt::world::ignore_signals();
        ckpt::world::WorldService(options).run();
        code = 0;
    } catch (const std::exception &problem) {
        fmt::print(stderr, "ckpt-world: {}\n", problem.what());
    }
    if (options.removes_directory) {
        ckpt::world::remove_directory(options.directory);
    }
    return code;
}
