/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_session.hpp - one rank of this node: its connection and its page.
 */
#pragma once

#include "agent/rank_page.hpp"
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
    /* What became of one attempt to read a message. */
    enum class Received { message, nothing, end };

    /* `socket` is a connected, nonblocking SOCK_SEQPACKET socket. */
    explicit RankSession(Fd socket);
    RankSession(const RankSession &) = delete;
    RankSession &operator=(const RankSession &) = delete;

    int descriptor() const { return socket_.get(); }
    /* Readable when the process has ended; -1 before HELLO. */
    int process_descriptor() const { return process_.get(); }

    /* Reads one message, and what descriptor comes along. Throws Refused for a
     * message that is none. */
    Received receive(ckpt_message &message);
    /* The descriptor that came last, once. */
    Fd take_passed() { return std::move(passed_); }
    /* The session is over: its process_descriptor() is the caller's now. */
    Fd take_process() { return std::move(process_); }

    /* Checks HELLO and maps the page. Throws Refused for what is wrong in it, Error
     * otherwise. */
    void hello(const ckpt_message &message);

    bool introduced() const { return page_ != nullptr; }
    int rank() const { return rank_; }
    int rank_count() const { return rank_count_; }
    pid_t pid() const { return pid_; }
    /* Who answers, and the signal that it is to look for a message. */
    pid_t thread() const { return tid_; }
    int signal_number() const { return signal_; }

    /* A rank that does not read loses its connection: false. KICK, which tells nothing,
     * is not sent while the rank has not read what was sent before. */
    bool send(ckpt_message_type type, std::uint64_t epoch,
              std::uint64_t argument0 = 0, std::uint64_t argument1 = 0,
              std::string_view text = {});
    /* Whether the rank has yet to read something. */
    bool has_unread() const;
    /* The checkpoint signal to the thread that calls MPI. */
    void signal() const;
    void kill() const;

    /* Whether it has been cut, as far as it has told. */
    const RankCut &cut() const { return cut_.cut(); }

    /* After HELLO. */
    RankPage &page() const { return *page_; }
    /* For who needs it beyond the session. */
    std::shared_ptr<RankPage> shared_page() const { return page_; }

  private:
    Fd socket_;
    Fd process_;
    Fd passed_;
    std::shared_ptr<RankPage> page_;
    int rank_ = -1;
    int rank_count_ = 0;
    pid_t pid_ = 0;
    pid_t tid_ = 0;
    int signal_ = 0;
    RankCutWatch cut_;
};

} // namespace ckpt
