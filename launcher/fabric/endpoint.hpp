/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoint.hpp - this process on a fabric: it reads memory that other processes lend,
 * directly to its destination, and lends its own memory.
 *
 * A fabric does not authenticate data, so the reader must verify what it has read
 * (docs/levels.md). One thread at a time uses an endpoint, in normal context. The
 * implementation is endpoint.cpp, or none.cpp in programs without libfabric.
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

/* Whether this program is linked with libfabric; otherwise no endpoint can be created. */
bool is_linked();

/* An error of the fabric. The caller falls back to a way without the fabric, where there is
 * one. */
class Failure : public Error
{
  public:
    using Error::Error;
};

/* Memory of another process that it lends. */
struct Lent {
    std::string address; /* address of its endpoint, in the provider's form */
    std::uint64_t key = 0;
    std::uint64_t base = 0; /* address of the first byte */
};

class Endpoint
{
  public:
    /* local: numeric address of an interface on which the other nodes reach this one; used
     * if the provider knows it. All functions throw Failure; its code is ENODEV if no
     * suitable provider exists here. */
    Endpoint(const Choice &choice, const std::string &local);
    ~Endpoint();
    Endpoint(const Endpoint &) = delete;
    Endpoint &operator=(const Endpoint &) = delete;

    /* Returns the name of the provider; both sides must use the same one. */
    const std::string &provider() const;

    /* Other processes can read the memory as long as this object exists. The memory must
     * stay mapped, and the endpoint must outlive this object. */
    class Loan
    {
      public:
        virtual ~Loan() = default;
        virtual Lent lent() const = 0;
    };
    std::unique_ptr<Loan> lend(std::span<const std::byte> memory);

    /* Reads `into.size()` bytes at `offset` of lent memory. timeout: maximum time for each
     * part. Soon after `cancelled` is set, throws an Error that is not a Failure. After read()
     * has thrown, the endpoint is closed and does not write `into`. The caller then only destroys
     * the endpoint; another read() throws Failure. */
    void read(const Lent &lent, std::uint64_t offset, std::span<std::byte> into,
              std::chrono::milliseconds timeout, const std::atomic<bool> &cancelled);

    /* Most providers serve the requests of other processes only during this call. */
    void progress();
    /* Readable when progress() has work; -1 if the provider has no descriptor, and
     * progress() must be called continuously. */
    int descriptor() const;
    /* Whether the caller may wait for the descriptor now; if not, it must call progress()
     * first. */
    bool may_wait();

  private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace ckpt::fabric
