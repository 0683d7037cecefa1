/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoint.hpp - this process on a fabric: reads memory that others lend, straight to where
 * it is wanted, and lends its own.
 *
 * There is no authenticity on a fabric: who reads has to make sure of what it has got
 * (docs/levels.md). Used by one thread at a time, in normal context. The file that
 * implements it is endpoint.cpp, or none.cpp in programs without libfabric.
 */
#pragma once

#include "common/error.hpp"
#include "fabric/choice.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ckpt::fabric
{

/* Whether this program is linked with libfabric: else there is never an endpoint. */
bool is_linked();

/* What can be done without the fabric is to be done so. */
class Failure : public Error
{
  public:
    using Error::Error;
};

/* Memory of another process. */
struct Lent {
    std::string address; /* of its endpoint, as the provider has it */
    std::uint64_t key = 0;
    std::uint64_t base = 0; /* of the first byte */
};

class Endpoint
{
  public:
    /* local: numeric address of an interface on which the others are known to be reached;
     * it is taken if the provider knows it. Throws Failure, as all functions do; with the
     * code ENODEV: there is no such provider here. */
    Endpoint(const Choice &choice, const std::string &local);
    ~Endpoint();
    Endpoint(const Endpoint &) = delete;
    Endpoint &operator=(const Endpoint &) = delete;

    /* Name of the provider: the other side needs the same one. */
    const std::string &provider() const;

    /* As long as it exists others can read the memory, which must stay mapped. The endpoint
     * must live longer. */
    class Loan
    {
      public:
        virtual ~Loan() = default;
        virtual Lent lent() const = 0;
    };
    std::unique_ptr<Loan> lend(std::span<const std::byte> memory);

    /* Reads `into.size()` bytes from `offset` of what was lent. patience: so long no part of
     * it may need. When it has thrown, which it does soon after `cancelled` is set, the
     * endpoint is closed and nothing comes into `into` any more. */
    void read(const Lent &lent, std::uint64_t offset, std::span<std::byte> into,
              std::chrono::milliseconds patience, const std::atomic<bool> &cancelled);

    /* Most providers do what others want of this process only while it asks them to. */
    void progress();
    /* Readable when there is reason for progress(); -1 if the provider has none, and
     * progress() must be called all the time. */
    int descriptor() const;
    /* Whether one may wait for the descriptor now; else progress() comes first. */
    bool may_wait();

  private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace ckpt::fabric
