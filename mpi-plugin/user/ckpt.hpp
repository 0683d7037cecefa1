/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckpt.hpp - ckpt.h for C++17 and later: what begins ends with its scope. See ckpt(3).
 *
 * None of this throws but where it says so. Like ckpt.h it links nothing, and does
 * nothing where there is no checkpointer.
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

/* While one lives, this process is not saved, whichever thread has made it. */
class NoCheckpoint
{
  public:
    NoCheckpoint() noexcept { ckpt_disable(); }
    ~NoCheckpoint() { ckpt_enable(); }
    NoCheckpoint(const NoCheckpoint &) = delete;
    NoCheckpoint &operator=(const NoCheckpoint &) = delete;
};

/* While one lives, the whole pages in this memory are not saved. It ends before the memory
 * does: declare it behind what owns that. */
class Excluded
{
  public:
    Excluded() noexcept = default;
    /* Throws std::bad_alloc if there are too many. */
    Excluded(const volatile void *address, std::size_t size)
        : address_(address), size_(size)
    {
        if (ckpt_exclude(address, size) != 0) {
            throw std::bad_alloc();
        }
    }
    /* Anything with data() and size(): its elements, as they are now. */
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

/* From now on this process is saved at its safe points only, while one lives. They do not
 * nest. */
class OnlyAtSafePoints
{
  public:
    OnlyAtSafePoints() noexcept { ckpt_only_at_safe_points(1); }
    ~OnlyAtSafePoints() { ckpt_only_at_safe_points(0); }
    OnlyAtSafePoints(const OnlyAtSafePoints &) = delete;
    OnlyAtSafePoints &operator=(const OnlyAtSafePoints &) = delete;
};

/* While one lives, these functions run around checkpoints, as ckpt_hooks_add() tells.
 * `before` returns true if the checkpoint may be taken; `after` gets CKPT_TAKEN,
 * CKPT_RESTARTED or CKPT_REFUSED. Neither may throw. */
class Hooks
{
  public:
    using Before = std::function<bool()>;
    using After = std::function<void(int)>;

    /* Throws std::bad_alloc if there are too many. */
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

    std::unique_ptr<Functions> functions_; /* whose address the process keeps */
    int id_ = 0;
};

} // namespace ckpt

#endif
