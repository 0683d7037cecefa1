/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_link.cpp - this node's ranks, for a coordinator elsewhere.
 */
#include "agent/coordinator_link.hpp"

#include "agent/frames.hpp"
#include "common/error.hpp"

#include <spdlog/spdlog.h>

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace ckpt
{

using nlohmann::json;

namespace
{

constexpr auto retry_after = std::chrono::seconds(1);
constexpr auto clock_tick = std::chrono::milliseconds(5);
constexpr int connect_timeout_ms = 3000;

/* Connects within the timeout; an invalid descriptor if that is not possible. */
Fd connect_to(const addrinfo &address)
{
    Fd socket(::socket(address.ai_family,
                       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    pollfd ready = {socket.get(), POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;

    if (!socket ||
        (connect(socket.get(), address.ai_addr, address.ai_addrlen) < 0 &&
         errno != EINPROGRESS) ||
        poll(&ready, 1, connect_timeout_ms) != 1 ||
        getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) < 0 ||
        error != 0) {
        return {};
    }
    return socket;
}

Fd connect_to(const PeerAddress &address)
{
    for (const std::string &host : address.hosts) {
        addrinfo hints{}, *list = nullptr;
        hints.ai_socktype = SOCK_STREAM;
        if (getaddrinfo(host.c_str(), std::to_string(address.port).c_str(),
                        &hints, &list) != 0) {
            continue;
        }
        Fd socket;
        for (addrinfo *entry = list; entry != nullptr && !socket;
             entry = entry->ai_next) {
            socket = connect_to(*entry);
        }
        freeaddrinfo(list);
        if (socket) {
            return socket;
        }
    }
    return {};
}

} // namespace

CoordinatorLink::CoordinatorLink(EventLoop &loop, WorkerThread &worker,
                                 LocalNode &local, const Settings &settings,
                                 PeerAddress address)
    : loop_(loop), worker_(worker), local_(local), settings_(settings),
      address_(std::move(address))
{
    connect();
}

CoordinatorLink::~CoordinatorLink()
{
    local_.attach(nullptr);
}

/* ---- The connection -------------------------------------------------------- */

void CoordinatorLink::connect()
{
    connecting_ = true;
    worker_.run([this, address = address_] {
        int socket = connect_to(address).release();
        worker_.reply([this, socket] {
            connected_to(Fd(socket), socket < 0 ? "cannot be reached" : "");
        });
    });
}

void CoordinatorLink::connected_to(Fd socket, const std::string &error)
{
    connecting_ = false;
    if (!socket) {
        spdlog::warn("the coordinating agent {}", error);
        retry_at_ = std::chrono::steady_clock::now() + retry_after;
        return;
    }
    welcome_ = false;
    stream_ = std::make_unique<FrameStream>(loop_, std::move(socket),
                                            "the coordinating agent");
    stream_->handle({[this](const json &frame) { on_frame(frame); },
                     [this] { lost(); }});
    stream_->send({{"type", "agent"},
                   {"key", address_.caller_key},
                   {"namespace", settings_.launch_namespace},
                   {"host", settings_.host}});
}

/* Whatever was under way is off: nobody will tell the ranks to go on but us. */
void CoordinatorLink::lost()
{
    spdlog::warn("the connection to the coordinating agent is lost");
    stream_.reset();
    local_.attach(nullptr);
    aligning_ = false;
    for (auto &[rank, session] : local_.ranks()) {
        local_.send({rank, CKPT_MSG_RESUME, false, 1,
                     "the coordinating agent was lost"},
                    epoch_);
    }
    local_.undo();
    retry_at_ = std::chrono::steady_clock::now() + retry_after;
}

void CoordinatorLink::tick(Time now)
{
    if (stream_ == nullptr && !connecting_ && now >= retry_at_) {
        connect();
    }
    if (connected() && aligning_) {
        send_clocks();
    }
}

CoordinatorLink::Time CoordinatorLink::next_tick(Time now) const
{
    if (connected() && aligning_) {
        return now + clock_tick;
    }
    return stream_ == nullptr && !connecting_ ? retry_at_
                                              : now + std::chrono::hours(1);
}

/* ---- Orders ----------------------------------------------------------------- */

void CoordinatorLink::on_frame(const json &frame)
{
    std::string type = frame.at("type");

    if (!welcome_) {
        if (type != "welcome" || !same_key(frame.at("key").get<std::string>(),
                                           address_.answer_key)) {
            fail("this is not the agent of our job");
        }
        welcome_ = true;
        stream_->trust();
        told_clocks_.clear();
        local_.attach(this);
        return;
    }
    order(type, frame);
}

void CoordinatorLink::order(const std::string &type, const json &frame)
{
    if (type == "targets") {
        local_.set_targets(frame.at("rank"), frame.at("targets"));
    } else if (type == "expected") {
        local_.set_expected(frame.at("rank"), frame.at("expected"));
    } else if (type == "send") {
        auto message = frame.at("message").get<std::uint32_t>();
        action::Send order{frame.at("rank"),
                           static_cast<ckpt_message_type>(message),
                           frame.at("signal"), frame.at("argument"),
                           frame.at("text")};
        epoch_ = frame.at("epoch");
        cutting_ = message == CKPT_MSG_CUT ||
                   (cutting_ && message != CKPT_MSG_REQUEST);
        if (message == CKPT_MSG_REQUEST || message == CKPT_MSG_RUN) {
            aligning_ = true;
        } else if (message == CKPT_MSG_STOP || message == CKPT_MSG_CUT ||
                   message == CKPT_MSG_RESUME) {
            aligning_ = false;
        }
        local_.send(order, epoch_);
    } else if (type == "clock") {
        stream_->send({{"type", "clock"},
                       {"asked", frame.at("asked")},
                       {"there", monotonic_nanoseconds()}});
    } else if (type == "capture") {
        std::map<int, std::uint64_t> snapshots;
        for (const json &entry : frame.at("snapshots")) {
            snapshots[entry.at(0)] = entry.at(1);
        }
        local_.capture(frame.at("directory").get<std::string>(), snapshots);
    } else if (type == "open_piece") {
        local_.open_piece(frame.at("directory").get<std::string>());
    } else if (type == "add_to_piece") {
        local_.add_to_piece(frame.at("rank"), frame.at("snapshot"));
    } else if (type == "close_piece") {
        local_.close_piece(frame.at("ranks"));
    } else if (type == "undo") {
        local_.undo();
    } else if (type == "kill") {
        local_.kill();
    } else {
        fail("an order of type '{}'", type);
    }
}

/* ---- Events ------------------------------------------------------------------ */

/* The coordinator cannot look into our ranks' pages: tells it what changed. */
void CoordinatorLink::send_clocks()
{
    for (auto &[rank, session] : local_.ranks()) {
        json clocks = to_frame(session->clocks());
        json &told = told_clocks_[rank];
        if (clocks != told) {
            stream_->send(
                {{"type", "clocks"}, {"rank", rank}, {"clocks", clocks}});
            told = std::move(clocks);
        }
    }
}

void CoordinatorLink::rank_here(Node &, int rank, int rank_count, pid_t pid)
{
    stream_->send({{"type", "here"},
                   {"rank", rank},
                   {"count", rank_count},
                   {"pid", pid}});
    json clocks = to_frame(local_.clocks(rank));
    stream_->send({{"type", "clocks"}, {"rank", rank}, {"clocks", clocks}});
}

void CoordinatorLink::rank_said(int rank, const ckpt_message &message)
{
    const RankSession &session = *local_.ranks().at(rank);
    json frame = {{"type", "said"},
                  {"rank", rank},
                  {"message", to_frame(message)},
                  {"clocks", to_frame(session.clocks())}};

    const bool has_left = message.type == CKPT_MSG_REPORT &&
                          message.arg[0] == CKPT_PLACE_FREE &&
                          message.arg[3] != 0;
    const bool is_cut = cutting_ && (message.type == CKPT_MSG_READY ||
                                     message.type == CKPT_MSG_REFUSED);
    if (message.type == CKPT_MSG_STOPPED || has_left || is_cut) {
        for (int peer = 0; peer < session.rank_count(); peer++) {
            frame["sent"].push_back(session.sent(peer));
            frame["received"].push_back(session.received(peer));
        }
    }
    if (message.type == CKPT_MSG_LOGGED) {
        frame["seen"] = to_frame(session.seen());
    }
    stream_->send(frame);
}

void CoordinatorLink::rank_finished(int rank)
{
    stream_->send({{"type", "finished"}, {"rank", rank}});
}

void CoordinatorLink::rank_gone(int rank)
{
    stream_->send({{"type", "gone"}, {"rank", rank}});
}

void CoordinatorLink::captured(int rank)
{
    stream_->send({{"type", "captured"}, {"rank", rank}});
}

void CoordinatorLink::written(const Piece &piece, std::uint64_t memory)
{
    stream_->send({{"type", "written"},
                   {"piece", to_frame(piece)},
                   {"memory", memory}});
}

void CoordinatorLink::failed(const std::string &reason)
{
    stream_->send({{"type", "failed"},
                   {"reason", settings_.host + ": " + reason}});
}

void CoordinatorLink::undone(Node &)
{
    stream_->send({{"type", "undone"}});
}

} // namespace ckpt
