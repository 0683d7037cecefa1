/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric_host.hpp - lends this node's memory to the others of the job, on the thread of a
 * BlockServer: opens the endpoint when somebody asks for it, and drives it.
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
    /* The loop must live longer, and this longer than what it has lent. */
    FabricHost(EventLoop &loop, fabric::Choice choice)
        : loop_(loop), choice_(std::move(choice))
    {
    }
    ~FabricHost();

    /* To one who has an endpoint of that provider. local: address on which it has called.
     * Throws fabric::Failure, from the first failure on always. */
    std::unique_ptr<fabric::Endpoint::Loan> lend(std::span<const std::byte> memory,
                                                 const std::string &provider,
                                                 const std::string &local);

    /* Before each turn of the loop: does what others want. Whether the loop may wait then.
     * is_lent: whether anything that was lent is still so. */
    bool drive(bool is_lent);

  private:
    void open(const std::string &local);
    void end(const std::string &why);

    EventLoop &loop_;
    const fabric::Choice choice_;
    std::unique_ptr<fabric::Endpoint> endpoint_;
    std::optional<std::string> failure_; /* that has ended it */
    int descriptor_ = -1;                /* of the endpoint, watched */
    bool is_still_ = false;              /* a fault */
};

} // namespace ckpt::redundancy
