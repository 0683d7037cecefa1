/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric_host.hpp - lends this node's memory to other nodes of the job. It runs on the thread of a
 * BlockServer, opens the endpoint at the first request, and drives it.
 */
#pragma once

#include "common/event_loop.hpp"
#include "fabric/endpoint.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ckpt::redundancy
{

class FabricHost
{
  public:
    /* The loop must live longer than this, and this longer than all loans. */
    FabricHost(EventLoop &loop, fabric::Choice choice)
        : loop_(loop), choice_(std::move(choice))
    {
    }
    ~FabricHost();

    /* Lends memory to a node whose endpoint uses `provider`. local: this node's address of that
     * node's connection. Throws fabric::Failure; after a failure of the endpoint, always. */
    std::unique_ptr<fabric::Endpoint::Loan> lend(std::span<const std::byte> memory,
                                                 const std::string &provider,
                                                 const std::string &local);

    /* Call before each turn of the loop: serves what other nodes request. Returns whether the
     * loop may wait for events. is_lent: whether a loan is in use. */
    bool drive(bool is_lent);

  private:
    void open(const std::string &local);
    void end(const std::string &why);

    EventLoop &loop_;
    const fabric::Choice choice_;
    std::unique_ptr<fabric::Endpoint> endpoint_;
    std::optional<std::string> failure_; /* the failure that ended the endpoint */
    int descriptor_ = -1;                /* of the endpoint, watched by the loop */
    bool is_still_ = false;              /* fault injection: the endpoint makes no progress */
};

} // namespace ckpt::redundancy
