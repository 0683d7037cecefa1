/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * relay.hpp - passes a standard input on to a program, and keeps the bytes that the program
 * has not read (ckpt/input.h).
 */
#pragma once

#include "common/fd.hpp"

#include "ckpt/input.h"

#include <cstdint>
#include <vector>

namespace ckpt::input
{

class Relay
{
  public:
    /* source: the launcher's input. sink: the program's pipe. page: the memory file, with a
     * ckpt_relay_page at its start. Throws Error. */
    Relay(Fd source, Fd sink, Fd page);
    ~Relay();
    Relay(const Relay &) = delete;
    Relay &operator=(const Relay &) = delete;

    /* Returns when the program has received all of the input, or when no process can read
     * from the pipe any more. Throws Error. */
    void run();

  private:
    bool wants_input() const;
    bool has_output() const;
    void enter();
    void leave();
    void receive();
    void drop(std::uint64_t size);
    bool give();
    void forget_read_bytes();

    Fd source_;
    Fd sink_;
    Fd file_;
    ckpt_relay_page *page_ = nullptr;
    std::vector<std::byte> buffer_;
    std::uint64_t forgotten_ = 0; /* bytes whose memory has been released */
};

} // namespace ckpt::input
