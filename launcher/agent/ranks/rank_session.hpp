/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_session.hpp - one rank of this node: its connection and its page.
 */
#pragma once

#include "agent/ranks/rank_page.hpp"
#include "common/fd.hpp"
#include "protocol/rank_cut.hpp"

#include "ckpt/wire.h"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ckpt
{

class RankSession
{
  public:
    /* Result of one attempt to read a message. */
    enum class Received {
        message,
        nothing,
        end
    };

    /* `socket` is a connected SOCK_SEQPACKET socket. process: whose it is, if this process has made
     * the connection for it; otherwise 0, and the kernel knows. */
    explicit RankSession(Fd socket, pid_t process = 0);
    RankSession(const RankSession &) = delete;
    RankSession &operator=(const RankSession &) = delete;

    int descriptor() const { return socket_.get(); }
    /* Readable when the process has ended; -1 before HELLO. */
    int process_descriptor() const { return process_.get(); }

    /* Reads one message, and the descriptor that comes with it. Throws
     * Rejected for an invalid message. */
    Received receive(ckpt_message &message);
    /* Returns the latest descriptor, once. */
    Fd take_passed() { return std::move(passed_); }
    /* The session is over: the caller takes process_descriptor(). */
    Fd take_process() { return std::move(process_); }

    /* Checks HELLO and maps the page. Throws Rejected if HELLO is invalid, Error for other
     * failures. */
    void hello(const ckpt_message &message);

    /* The first message is SHELL: the process was a rank, and has found this agent. As hello(). */
    void shell(const ckpt_message &message);

    /* As given to the constructor. */
    pid_t owner() const { return owner_; }
    bool introduced() const { return page_ != nullptr; }
    int rank() const { return rank_; }
    int rank_count() const { return rank_count_; }
    pid_t pid() const { return pid_; }
    /* The thread that answers, and the signal that makes it read its messages. */
    pid_t thread() const { return tid_; }
    int signal_number() const { return signal_; }

    /* Returns false if the message cannot be sent, or has an invalid field: a rank that does
     * not read loses its connection. PROGRESS, which has no content, is not sent while earlier
     * messages are unread. */
    bool send(ckpt_message_type type, std::uint64_t epoch,
              const ckpt_message_body &body = {}, std::string_view text = {});
    /* Orders that the rank, which stands still, changes worlds. environment: a file with the
     * variables of its new launch (CHANGE_WORLD, docs/protocol.md). As send(). */
    bool change_world(const Fd &environment);
    /* Orders that the process becomes a shell, or names another successor to a shell. As send(). */
    bool become_shell(pid_t successor);
    /* Whether the rank has unread messages. */
    bool has_unread() const;
    /* Sends the checkpoint signal to the thread that calls MPI. */
    void signal() const;
    void kill() const;
    /* Sends SIGTERM to the process. */
    void terminate() const;

    /* Whether the rank has been cut, as far as its messages say. */
    const RankCut &cut() const { return cut_.cut(); }

    /* Requires HELLO. */
    RankPage &page() const { return *page_; }
    /* For users that outlive the session. */
    std::shared_ptr<RankPage> shared_page() const { return page_; }

  private:
    bool transmit(ckpt_message &message, int passed);
    pid_t peer() const;
    void take_sender(std::uint64_t pid, const char *message);

    Fd socket_;
    Fd process_;
    Fd passed_;
    std::shared_ptr<RankPage> page_;
    int rank_ = -1;
    int rank_count_ = 0;
    pid_t owner_;
    pid_t pid_ = 0;
    pid_t tid_ = 0;
    int signal_ = 0;
    RankCutWatch cut_;
};

} // namespace ckpt
