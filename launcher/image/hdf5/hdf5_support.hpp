/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hdf5_support.hpp - HDF5's C interface with owned handles and ckpt's errors.
 *
 * Only one thread at a time calls HDF5: the holder of a Hdf5Lock.
 */
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace ckpt
{

/* Serialises HDF5, silences its error output in this thread, and registers
 * ckpt's filters. */
class Hdf5Lock
{
  public:
    Hdf5Lock();

  private:
    std::unique_lock<std::recursive_mutex> lock_;
};

/* Owns an HDF5 id of any kind. */
class Hdf5Id
{
  public:
    Hdf5Id() = default;
    explicit Hdf5Id(hid_t id) noexcept
        : id_(id) {}
    Hdf5Id(Hdf5Id &&other) noexcept
        : id_(std::exchange(other.id_, -1)) {}
    Hdf5Id &operator=(Hdf5Id &&other) noexcept
    {
        if (this != &other) {
            reset();
            id_ = std::exchange(other.id_, -1);
        }
        return *this;
    }
    ~Hdf5Id() { reset(); }

    hid_t get() const noexcept { return id_; }
    explicit operator bool() const noexcept { return id_ >= 0; }
    hid_t release() noexcept { return std::exchange(id_, -1); }
    void reset() noexcept; /* takes the Hdf5Lock itself */

  private:
    hid_t id_ = -1;
};

/* Returns the texts of HDF5's error stack, outermost first, and empties the
 * stack. */
std::string take_hdf5_errors();

/* Throws Error "WHAT: errors of HDF5" if `result` is negative. */
[[noreturn]] void fail_hdf5(std::string_view what);

template <typename T>
T require_hdf5(T result, std::string_view what)
{
    if (result < 0) {
        fail_hdf5(what);
    }
    return result;
}

} // namespace ckpt
