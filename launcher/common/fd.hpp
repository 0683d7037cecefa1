/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fd.hpp - a file descriptor that closes itself.
 */
#pragma once

#include <unistd.h>

#include <utility>

namespace ckpt
{

class Fd
{
  public:
    Fd() = default;
    explicit Fd(int fd) noexcept
        : fd_(fd) {}
    Fd(Fd &&other) noexcept
        : fd_(other.release()) {}
    Fd &operator=(Fd &&other) noexcept
    {
        if (this != &other) {
            reset(other.release());
        }
        return *this;
    }
    ~Fd() { reset(); }

    int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }

    /* Gives up ownership; the caller closes the descriptor. */
    int release() noexcept { return std::exchange(fd_, -1); }

    void reset(int fd = -1) noexcept
    {
        if (fd_ >= 0) {
            ::close(fd_);
        }
        fd_ = fd;
    }

  private:
    int fd_ = -1;
};

} // namespace ckpt
