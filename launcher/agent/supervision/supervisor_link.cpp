/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervisor_link.cpp - connects this node's ranks with `ckpt run`.
 */
#include "agent/supervision/supervisor_link.hpp"

#include "agent/ranks/local_node.hpp"
#include "common/invariant.hpp"
#include "common/pidfd.hpp"
#include "common/processes.hpp"
#include "agent/supervision/member_table.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace ckpt
{

using nlohmann::json;

namespace
{

/* Interval at which it tries to connect, and checks whether ranks are stopped. */
constexpr auto look_every = std::chrono::seconds(1);
/* From the death of a rank: `ckpt run` may just be connecting. */
constexpr auto longest_desertion = std::chrono::seconds(5);

json frame_of(const RankSession &rank)
{
    return {{"type", "here"},
            {"rank", rank.rank()},
            {"count", rank.rank_count()},
            {"pid", rank.pid()}};
}

json frame_of(const SalvageEvent &news)
{
    switch (news.kind) {
    case SalvageEvent::Kind::begun:
        return {{"type", "salvaging"}, {"rank", news.rank}};
    case SalvageEvent::Kind::done:
        return {{"type", "salvaged"},
                {"rank", news.rank},
                {"number", news.number},
                {"interval", news.interval}};
    case SalvageEvent::Kind::recovering:
        return {{"type", "recovering"}, {"rank", news.rank}};
    case SalvageEvent::Kind::recovered:
        return {{"type", "recovered"},
                {"rank", news.rank},
                {"number", news.number},
                {"seconds", news.seconds}};
    case SalvageEvent::Kind::replayed:
        return {{"type", "replayed"}, {"rank", news.rank}, {"seconds", news.seconds}};
    case SalvageEvent::Kind::not_recovered:
        return {{"type", "not_recovered"}, {"rank", news.rank}, {"why", news.why}};
    case SalvageEvent::Kind::failed:
        break;
    }
    return {{"type", "lost"}, {"rank", news.rank}, {"why", news.why}};
}

} // namespace

SupervisorLink::SupervisorLink(EventLoop &loop, WorkerThread &worker,
                               const LocalNode &local, const Settings &settings,
                               RejectedFrames &rejected, Hooks hooks)
    : loop_(loop), worker_(worker), local_(local), settings_(settings),
      rejected_(rejected), hooks_(std::move(hooks)),
      ended_(loop, {[this](int rank) { rank_has_ended(rank); },
                    [this](int rank, int status) {
                        send({{"type", "status"}, {"rank", rank}, {"status", status}});
                        hooks_.exited(rank, status);
                    }}),
      next_look_(std::chrono::steady_clock::now())
{
}

/* ---- The connection -------------------------------------------------------- */

/* Reads the file each time, as there may be another `ckpt run` by now. Its file system may hang. */
void SupervisorLink::connect()
{
    if (is_reading_ || (peer_ && (peer_->connecting() || peer_->open()))) {
        return;
    }
    is_reading_ = true;
    reader_.run([this, path = settings_.supervisor] {
        auto file = SupervisorFile::read(path);
        worker_.reply([this, file = std::move(file)] {
            is_reading_ = false;
            connect_to(file);
        });
    });
}

void SupervisorLink::connect_to(const std::optional<SupervisorFile> &file)
{
    CKPT_EXPECT(!is_reading_);
    if (!file) {
        return; /* `ckpt run` has gone; the job goes on without it */
    }
    if (file->incarnation != settings_.incarnation) {
        if (file->incarnation > settings_.incarnation) {
            over("another launch of it has begun");
        }
        return;
    }
    peer_ = std::make_unique<PeerConnection>(
        loop_, worker_, supervised_as(settings_.host, settings_.incarnation),
        file->address, "supervised", rejected_,
        PeerConnection::Handlers{[this] { introduce(); },
                                 [this](const json &frame) { order(frame); },
                                 [this] {
                                     awaits_cause_ = false;
                                     spdlog::warn("the connection to ckpt run is lost");
                                 },
                                 [] {}});
    peer_->connect();
}

void SupervisorLink::introduce()
{
    CKPT_EXPECT(peer_ && peer_->connected()); /* send() drops what is said before */
    spdlog::info("ckpt run knows of this node");
    if (!watch_) {
        offer_to_watch();
    }
    for (const auto &[rank, session] : local_.ranks()) {
        send(frame_of(*session));
        if (finished_.contains(rank)) {
            rank_finished(rank);
        }
    }
    for (int rank : stopped_) {
        send({{"type", "stopped"}, {"rank", rank}});
    }
    if (salvage_) {
        salvage(*salvage_);
    }
    if (coordinates_) {
        coordinates();
    }
    if (!ends_behind_.empty()) {
        ends_behind(ends_behind_);
    }
}

void SupervisorLink::order(const json &frame)
{
    const std::string type = frame.at("type");

    if (type == "await") {
        await(frame.at("ranks"));
    } else if (type == "members") {
        watch_nodes(frame.at("table"));
    } else if (type == "proven") {
        is_proven_ = true;
        spdlog::info("the nodes hear of each other: a node that falls silent counts as lost");
        if (!trouble_.empty()) {
            over(trouble_);
        }
    } else if (type == "unwatch") {
        if (frame.contains("for")) {
            spdlog::info("ckpt run is stopped, so no node watches another");
        } else {
            spdlog::warn("nodes do not hear of each other over UDP: those that fall silent "
                         "will not be noticed");
        }
        watch_.reset();
        is_proven_ = false;
        trouble_.clear();
    } else if (type == "watch") {
        offer_to_watch();
    } else if (type == "over") {
        awaits_cause_ = false;
        is_end_asked_for_ = frame.at("asked");
    } else if (type == "kill") {
        over("ckpt run ends it");
    } else {
        hooks_.order(frame);
    }
}

/* Reports the port at which this node receives datagrams. The list of members comes later. */
void SupervisorLink::offer_to_watch()
{
    socket_.emplace(0);
    send({{"type", "node"},
          {"member", to_frame(member_here(settings_.host, socket_->port()))}});
}

/* These ranks may never connect: they may be stopped, or have ended. */
void SupervisorLink::await(const std::map<int, pid_t> &ranks)
{
    for (const auto &[rank, process] : ranks) {
        if (local_.ranks().contains(rank) || finished_.contains(rank)) {
            continue;
        }
        if (Fd pidfd = open_pidfd(process)) {
            awaited_[rank] = process;
            ended_.watch(rank, std::move(pidfd));
        } else {
            send({{"type", "ended"}, {"rank", rank}});
        }
    }
}

void SupervisorLink::watch_nodes(const json &frame)
{
    auto table = table_from(frame);

    if (table && socket_ && !watch_) {
        watch_ = std::make_unique<NodeWatch>(
            worker_, std::move(*std::exchange(socket_, std::nullopt)), std::move(*table),
            NodeWatch::Handlers{[this] { send({{"type", "heard"}}); },
                                [this](const std::string &why) { trouble(why); }});
    }
}

/* Where UDP is blocked, every node looks dead although it is not. */
void SupervisorLink::trouble(const std::string &why)
{
    if (is_proven_) {
        over(why);
    } else {
        trouble_ = why;
    }
}

void SupervisorLink::over(const std::string &why)
{
    if (!std::exchange(is_over_, true)) {
        spdlog::warn("the ranks of this node are ended: {}", why);
        hooks_.over(why);
        ended_.kill();
    }
}

/* A frame that is not sent now is sent by introduce(), or would come too late anyway. */
void SupervisorLink::send(const json &frame)
{
    if (peer_ && peer_->connected()) {
        peer_->send(frame);
    }
}

/* ---- Ranks ------------------------------------------------------------------- */

void SupervisorLink::rank_here(const RankSession &rank)
{
    CKPT_EXPECT(rank.introduced());
    awaited_.erase(rank.rank());
    finished_.erase(rank.rank());
    if (salvage_ && salvage_->rank == rank.rank()) {
        salvage_.reset();
    }
    ended_.forget(rank.rank());
    send(frame_of(rank));
    if (is_over_) {
        rank.kill();
    }
}

void SupervisorLink::rank_finished(int rank)
{
    finished_.insert(rank);
    send({{"type", "finished"}, {"rank", rank}});
}

void SupervisorLink::rank_gone(int rank, Fd process)
{
    CKPT_EXPECT(rank >= 0 && process);
    ended_.watch(rank, std::move(process));
}

void SupervisorLink::rank_has_ended(int rank)
{
    stopped_.erase(rank);
    awaited_.erase(rank);
    send({{"type", "ended"}, {"rank", rank}});
    if (!is_connected() && !finished_.contains(rank) && !unanswered_ &&
        settings_.launcher_goes_on()) {
        unanswered_ = rank;
        unanswered_since_ = std::chrono::steady_clock::now();
    }
}

/* The launcher leaves it to `ckpt run` to end the other ranks. If that has gone, nobody else does
 * so. */
void SupervisorLink::look_whether_deserted(Time now)
{
    if (is_connected()) {
        unanswered_.reset();
    } else if (unanswered_ && now >= unanswered_since_ + longest_desertion) {
        over(fmt::format("rank {} has died, and ckpt run has gone", *unanswered_));
    }
}

void SupervisorLink::salvage(const SalvageEvent &news)
{
    CKPT_EXPECT(news.kind != SalvageEvent::Kind::done || news.number > 0);
    salvage_ = news;
    send(frame_of(news));
}

void SupervisorLink::look_at_ranks()
{
    for (const auto &[rank, session] : local_.ranks()) {
        look_at(rank, session->pid());
    }
    for (const auto &[rank, process] : awaited_) {
        look_at(rank, process);
    }
}

void SupervisorLink::look_at(int rank, pid_t process)
{
    CKPT_EXPECT(process > 0);
    const bool is_stopped = ckpt::is_stopped(process);

    if (is_stopped == stopped_.contains(rank)) {
        return;
    }
    if (is_stopped) {
        stopped_.insert(rank);
    } else {
        stopped_.erase(rank);
    }
    send({{"type", is_stopped ? "stopped" : "continued"}, {"rank", rank}});
}

void SupervisorLink::coordinates()
{
    coordinates_ = true;
    send({{"type", "coordinates"}});
}

void SupervisorLink::ends_behind(const std::string &checkpoint)
{
    CKPT_EXPECT(!checkpoint.empty()); /* "" stands for no end */
    ends_behind_ = checkpoint;
    send({{"type", "ends"}, {"checkpoint", checkpoint}});
}

void SupervisorLink::protection(const Unprotected::News &news)
{
    send({{"type", "protection"},
          {"unprotected", news.is_unprotected},
          {"overdue", news.is_overdue},
          {"why", news.why}});
}

void SupervisorLink::ask_about_end()
{
    awaits_cause_ = peer_ && peer_->connected();
    send({{"type", "over"}});
}

void SupervisorLink::tick(Time now)
{
    if (now < next_look_) {
        return;
    }
    next_look_ = now + look_every;
    connect();
    look_at_ranks();
    look_whether_deserted(now);
}

} // namespace ckpt
