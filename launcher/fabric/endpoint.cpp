/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoint.cpp - a libfabric endpoint for reliable unconnected datagrams (FI_EP_RDM),
 * including the memory registration modes of the providers (fi_mr(3)).
 */
#include "config.h"
#include "fabric/endpoint.hpp"

#include "common/fault_injection.hpp"
#include "common/invariant.hpp"
#include "fabric/provider.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sodium.h>

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

namespace ckpt::fabric
{

namespace
{

using std::chrono::steady_clock;

/* Maximum delay until a waiting reader notices a cancellation. */
constexpr int longest_wait_ms = 50;

struct Closer {
    template <typename Object>
    void operator()(Object *object) const
    {
        (void)fi_close(&object->fid);
    }
};
template <typename Object>
using Closed = std::unique_ptr<Object, Closer>;

[[noreturn]] void fail_with(const std::string &what, ssize_t code)
{
    throw Failure(fmt::format("{}: {}", what, fi_strerror(static_cast<int>(-code))));
}

void check(ssize_t code, const char *what)
{
    if (code < 0) {
        fail_with(what, code);
    }
}

/* Calls open(&object), which returns an error code. */
template <typename Object, typename Open>
Closed<Object> opened(const char *what, Open open)
{
    Object *object = nullptr;

    check(open(&object), what);
    return Closed<Object>(object);
}

/* Memory of another process, in libfabric's terms. */
struct Remote {
    fi_addr_t peer;
    std::uint64_t address, key;
};

/* Limits a wait by time and cancellation. */
struct Limit {
    steady_clock::time_point end;
    const std::atomic<bool> &cancelled;

    void check(const char *complaint) const
    {
        if (cancelled) {
            fail("reading was cancelled");
        }
        if (steady_clock::now() > end) {
            throw Failure(fmt::format("{} over the fabric", complaint));
        }
    }
};

/* The key has as many bytes as the provider supports. */
std::uint64_t random_key(std::size_t bytes)
{
    std::uint64_t key = 0;

    randombytes_buf(&key, std::min(bytes, sizeof key));
    return key;
}

} // namespace

/* The members are in the order in which libfabric objects must be created. */
class Endpoint::Parts
{
  public:
    Parts(const Choice &choice, const std::string &local)
        : info(find_provider(choice, local)), name(info->fabric_attr->prov_name),
          fabric(opened<fid_fabric>(
              "no fabric",
              [&](fid_fabric **object) { return fi_fabric(info->fabric_attr, object, nullptr); })),
          domain(opened<fid_domain>("no domain",
                                    [&](fid_domain **object) {
                                        return fi_domain(fabric.get(), info.get(), object, nullptr);
                                    })),
          queue(new_queue()), addresses(new_addresses()),
          endpoint(opened<fid_ep>("no endpoint", [&](fid_ep **object) {
              return fi_endpoint(domain.get(), info.get(), object, nullptr);
          }))
    {
        check(fi_ep_bind(endpoint.get(), &queue->fid, FI_TRANSMIT | FI_RECV), "no queue");
        check(fi_ep_bind(endpoint.get(), &addresses->fid, 0), "no addresses");
        check(fi_enable(endpoint.get()), "the endpoint cannot be used");
    }

    bool has(int mode) const { return (info->domain_attr->mr_mode & mode) != 0; }

    /* access: FI_READ or FI_REMOTE_READ */
    Closed<fid_mr> add_memory(std::span<const std::byte> memory, std::uint64_t access)
    {
        const std::uint64_t key =
            has(FI_MR_PROV_KEY) ? 0 : random_key(info->domain_attr->mr_key_size);
        auto region = opened<fid_mr>("memory cannot be used", [&](fid_mr **object) {
            return fi_mr_reg(domain.get(), memory.data(), memory.size(), access, 0, key, 0,
                             object, nullptr);
        });
        if (has(FI_MR_ENDPOINT)) {
            check(fi_mr_bind(region.get(), &endpoint->fid, 0), "memory cannot be used");
            check(fi_mr_enable(region.get()), "memory cannot be used");
        }
        return region;
    }

    std::string address() const
    {
        std::string address(256, '\0');
        std::size_t size = address.size();

        check(fi_getname(&endpoint->fid, address.data(), &size), "no address");
        address.resize(size);
        return address;
    }

    fi_addr_t peer(const std::string &address)
    {
        auto found = peers_.find(address);

        if (found == peers_.end()) {
            fi_addr_t peer = FI_ADDR_UNSPEC;
            /* The provider would read beyond the end of an address that is too short. */
            if (address.size() != this->address().size() ||
                fi_av_insert(addresses.get(), address.data(), 1, &peer, 0, nullptr) != 1) {
                throw Failure("an address that is none of this fabric");
            }
            found = peers_.emplace(address, peer).first;
        }
        return found->second;
    }

    /* local: descriptor for FI_MR_LOCAL, or null */
    void read(const Remote &from, std::span<std::byte> into, void *local, const Limit &limit);
    /* Takes the completion of the current operation; returns false if it is still in
     * progress. */
    bool take_completion(int wait_ms);

    const Info info;
    const std::string name;
    int descriptor = -1; /* of the completion queue; -1: none */
    bool can_sleep = false;
    Closed<fid_fabric> fabric;
    Closed<fid_domain> domain;
    Closed<fid_cq> queue;
    Closed<fid_av> addresses;
    Closed<fid_ep> endpoint;
    fi_context2 context{}; /* of the current operation */

  private:
    /* Creates the queue with a descriptor for waiting, if the provider supports one. */
    Closed<fid_cq> new_queue()
    {
        fi_cq_attr attributes{};
        fid_cq *made = nullptr;

        attributes.format = FI_CQ_FORMAT_CONTEXT;
        attributes.wait_obj = FI_WAIT_FD;
        if (fi_cq_open(domain.get(), &attributes, &made, nullptr) == 0) {
            can_sleep = true;
            if (fi_control(&made->fid, FI_GETWAIT, &descriptor) != 0) {
                descriptor = -1;
                can_sleep = false;
            }
            return Closed<fid_cq>(made);
        }
        attributes.wait_obj = FI_WAIT_NONE;
        return opened<fid_cq>("no queue", [&](fid_cq **object) {
            return fi_cq_open(domain.get(), &attributes, object, nullptr);
        });
    }

    Closed<fid_av> new_addresses()
    {
        fi_av_attr attributes{};

        attributes.type = FI_AV_UNSPEC;
        return opened<fid_av>("no addresses", [&](fid_av **object) {
            return fi_av_open(domain.get(), &attributes, object, nullptr);
        });
    }

    std::map<std::string, fi_addr_t> peers_;
};

bool Endpoint::Parts::take_completion(int wait_ms)
{
    fi_cq_entry entry{};
    const ssize_t count = can_sleep && wait_ms > 0
                              ? fi_cq_sread(queue.get(), &entry, 1, nullptr, wait_ms)
                              : fi_cq_read(queue.get(), &entry, 1);

    if (count == -FI_EAVAIL) {
        fi_cq_err_entry error{};
        (void)fi_cq_readerr(queue.get(), &error, 0);
        fail_with("memory of another node cannot be read", -error.err);
    }
    if (count < 0 && count != -FI_EAGAIN && count != -FI_ETIMEDOUT && count != -FI_EINTR) {
        fail_with("the fabric's queue cannot be read", count);
    }
    return count > 0;
}

void Endpoint::Parts::read(const Remote &from, std::span<std::byte> into, void *local,
                           const Limit &limit)
{
    ssize_t error = 0;

    /* With some providers the first request must wait for a connection. */
    while ((error = fi_read(endpoint.get(), into.data(), into.size(), local, from.peer,
                            from.address, from.key, &context)) == -FI_EAGAIN) {
        (void)take_completion(0);
        limit.check("no request can be made");
        std::this_thread::yield();
    }
    check(error, "memory of another node cannot be read");
    while (!take_completion(longest_wait_ms)) {
        limit.check("nothing comes");
        if (!can_sleep) {
            std::this_thread::yield();
        }
    }
    if (fault_strikes("fabric-read")) {
        throw Failure("memory of another node cannot be read: fault");
    }
}

/* ---- Memory that is lent ------------------------------------------------------------ */

namespace
{

class Region : public Endpoint::Loan
{
  public:
    Region(Closed<fid_mr> region, Lent lent)
        : region_(std::move(region)), lent_(std::move(lent))
    {
    }
    Lent lent() const override { return lent_; }

  private:
    Closed<fid_mr> region_;
    const Lent lent_;
};

} // namespace

std::unique_ptr<Endpoint::Loan> Endpoint::lend(std::span<const std::byte> memory)
{
    CKPT_EXPECT(!memory.empty() && parts_);
    if (fault_strikes("fabric-lend")) {
        throw Failure("memory cannot be used: fault");
    }
    auto region = parts_->add_memory(memory, FI_REMOTE_READ);
    Lent lent{parts_->address(), fi_mr_key(region.get()), 0};

    if (lent.key == FI_KEY_NOTAVAIL) {
        throw Failure("memory has no key that can be told");
    }
    if (parts_->has(FI_MR_VIRT_ADDR)) {
        lent.base = reinterpret_cast<std::uintptr_t>(memory.data());
    }
    return std::make_unique<Region>(std::move(region), std::move(lent));
}

bool is_linked()
{
    return true;
}

/* ---- An endpoint -------------------------------------------------------------------- */

Endpoint::Endpoint(const Choice &choice, const std::string &local)
{
    if (fault_strikes("fabric-open")) {
        throw Failure("no endpoint: fault");
    }
    parts_ = std::make_unique<Parts>(choice, local);
}

Endpoint::~Endpoint() = default;

const std::string &Endpoint::provider() const
{
    CKPT_EXPECT(parts_);
    return parts_->name;
}

void Endpoint::read(const Lent &lent, std::uint64_t offset, std::span<std::byte> into,
                    std::chrono::milliseconds timeout, const std::atomic<bool> &cancelled)
try {
    if (!parts_) {
        throw Failure("the endpoint is closed");
    }
    const auto local = parts_->has(FI_MR_LOCAL) ? parts_->add_memory(into, FI_READ) : nullptr;
    const Remote from{parts_->peer(lent.address), lent.base + offset, lent.key};
    const std::size_t most = parts_->info->ep_attr->max_msg_size;
    CKPT_INVARIANT(most > 0);

    for (std::size_t at = 0; at < into.size(); at += most) {
        const Limit limit{steady_clock::now() + timeout, cancelled};
        parts_->read({from.peer, from.address + at, from.key},
                     into.subspan(at, std::min(into.size() - at, most)),
                     local ? fi_mr_desc(local.get()) : nullptr, limit);
    }
} catch (...) {
    parts_.reset();
    throw;
}

void Endpoint::progress()
{
    CKPT_EXPECT(parts_);
    (void)parts_->take_completion(0);
}

int Endpoint::descriptor() const
{
    CKPT_EXPECT(parts_);
    return parts_->descriptor;
}

bool Endpoint::may_wait()
{
    CKPT_EXPECT(parts_);
    fid *queue = &parts_->queue->fid;

    return fi_trywait(parts_->fabric.get(), &queue, 1) == 0;
}

} // namespace ckpt::fabric
