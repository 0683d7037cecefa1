/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * none.cpp - implements fabric/endpoint.hpp for programs without libfabric: no endpoint can
 * be created.
 */
#include "fabric/endpoint.hpp"

namespace ckpt::fabric
{

bool is_linked()
{
    return false;
}

class Endpoint::Parts
{
  public:
    const std::string provider;
};

Endpoint::Endpoint(const Choice &, const std::string &)
{
    throw Failure("this program has no libfabric", ENODEV);
}

/* Never called, because no object exists. */
Endpoint::~Endpoint() = default;

const std::string &Endpoint::provider() const
{
    return parts_->provider;
}

std::unique_ptr<Endpoint::Loan> Endpoint::lend(std::span<const std::byte>)
{
    return nullptr;
}

void Endpoint::read(const Lent &, std::uint64_t, std::span<std::byte>,
                    std::chrono::milliseconds, const std::atomic<bool> &)
{
}

void Endpoint::progress()
{
}

int Endpoint::descriptor() const
{
    return -1;
}

bool Endpoint::may_wait()
{
    return true;
}

} // namespace ckpt::fabric
