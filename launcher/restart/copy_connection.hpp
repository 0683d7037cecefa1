/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_connection.hpp - gives the orders by which a frozen copy comes to life (docs/protocol.md,
 * section 14).
 */
#pragma once

#include "common/fd.hpp"
#include "image/memory/copy_packet.hpp"

#include "ckpt/copy_orders.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ckpt::restart
{

/* What the copy needs besides its descriptors. The descriptors stay the caller's. */
struct ThawParts {
    int environment;
    int agent;
    int directory;
    std::uint64_t started; /* CLOCK_REALTIME, ns */
    std::string checkpoint;
};

/* What the copy needs to stand. */
struct StandParts {
    int environment;
    int directory;
    std::string checkpoint;
};

class CopyConnection
{
  public:
    explicit CopyConnection(Fd connection);

    int descriptor() const { return connection_.get(); }

    /*
     * Each call waits for the answer. Throws Error, with the identity that the copy gives, if the
     * copy refuses or has ended.
     */
    void prepare(std::uint64_t snapshot) const;
    /* Passes descriptors of this process. Each has its number in the program; all are below
     * `above`. */
    void pass(std::span<const ckpt_copy_descriptor> descriptors, int above) const;
    /* Orders the copy to live. From then on it no longer obeys. */
    void thaw(const ThawParts &parts) const;
    /* Orders the copy to stand; and waits until it does. */
    void stand(const StandParts &parts) const;
    void await_standing() const;
    /* Orders the copy that stands to go on. The descriptors stay the caller's. started: as above */
    void go(int agent, int directory, std::uint64_t started) const;

  private:
    void order(ckpt_copy_order_type type, std::uint64_t value, std::span<const std::byte> tail,
               std::span<const int> passed) const;
    CopyPacket receive() const;

    Fd connection_;
    std::uint64_t serial_; /* answers to an earlier process have another one */
};

} // namespace ckpt::restart
