/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckpt.hpp - ckpt.h for C++17 and later, as classes that act for their scope. See ckpt(3).
 *
 * Only functions that say so throw. Like ckpt.h it links no library, and does nothing if
 * the process has no checkpointer.
 */
#ifndef CKPT_HPP
#define CKPT_HPP

#include "ckpt.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <utility>

namespace ckpt
{

/* While such an object exists, this process is not saved, whichever thread created the
 * object. */
class NoCheckpoint
{
  public:
    NoCheckpoint() noexcept { ckpt_disable(); }
    ~NoCheckpoint() { ckpt_enable(); }
    NoCheckpoint(const NoCheckpoint &) = delete;
    NoCheckpoint &operator=(const NoCheckpoint &) = delete;
};

/* While such an object exists, the whole pages in this memory are not saved. Its lifetime
 * must end before the memory's: declare it after the owner of the memory. */
class Excluded
{
  public:
    Excluded() noexcept = default;
    /* Throws std::bad_alloc if there are too many ranges. */
    Excluded(const volatile void *address, std::size_t size)
        : address_(address), size_(size)
    {
        if (ckpt_exclude(address, size) != 0) {
            throw std::bad_alloc();
        }
    }
    /* Takes any container with data() and size(): excludes its present elements. */
    template <typename Container>
    explicit Excluded(const Container &container)
        : Excluded(container.data(), container.size() * sizeof(*container.data()))
    {
    }
    Excluded(Excluded &&other) noexcept
        : address_(other.address_), size_(std::exchange(other.size_, 0))
    {
    }
    Excluded &operator=(Excluded &&other) noexcept
    {
        std::swap(address_, other.address_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Excluded() { (void)ckpt_include(address_, size_); }

  private:
    const volatile void *address_ = nullptr;
    std::size_t size_ = 0;
};

/* While such an object exists, this process is saved only at its safe points. These
 * objects do not nest. */
class OnlyAtSafePoints
{
  public:
    OnlyAtSafePoints() noexcept { ckpt_only_at_safe_points(1); }
    ~OnlyAtSafePoints() { ckpt_only_at_safe_points(0); }
    OnlyAtSafePoints(const OnlyAtSafePoints &) = delete;
    OnlyAtSafePoints &operator=(const OnlyAtSafePoints &) = delete;
};

/* While such an object exists, these functions run around checkpoints, as ckpt_hooks_add()
 * describes. `before` returns true if the checkpoint may be taken; `after` gets
 * CKPT_TAKEN, CKPT_RESTARTED or CKPT_REFUSED. Neither may throw. */
class Hooks
{
  public:
    using Before = std::function<bool()>;
    using After = std::function<void(int)>;

    /* Throws std::bad_alloc if there are too many hooks. */
    Hooks(Before before, After after)
        : functions_(std::make_unique<Functions>(
              Functions{std::move(before), std::move(after)}))
    {
        const ckpt_hooks hooks = {run_before, run_after, functions_.get()};
        id_ = ckpt_hooks_add(&hooks);
        if (id_ < 0) {
            throw std::bad_alloc();
        }
    }
    ~Hooks() { ckpt_hooks_remove(id_); }
    Hooks(const Hooks &) = delete;
    Hooks &operator=(const Hooks &) = delete;

  private:
    struct Functions {
        Before before;
        After after;
    };

    static int run_before(void *data)
    {
        auto *functions = static_cast<Functions *>(data);
        return functions->before == nullptr || functions->before() ? 0 : 1;
    }
    static void run_after(int answer, void *data)
    {
        auto *functions = static_cast<Functions *>(data);
        if (functions->after != nullptr) {
            functions->after(answer);
        }
    }

    std::unique_ptr<Functions> functions_; /* the hooks contain its address */
    int id_ = 0;
};

} // namespace ckpt

#endif
