/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scratch.hpp - files with given bytes, for decoders that read files.
 */
#pragma once

#include "common/fd.hpp"

#include <filesystem>
#include <string>

namespace ckpt::fuzz
{

/* A file in memory. */
class MemoryFile
{
  public:
    explicit MemoryFile(const std::string &bytes);

    int descriptor() const { return fd_.get(); }

  private:
    Fd fd_;
};

/* Returns a directory of this process; it is removed at exit. */
const std::filesystem::path &scratch_directory();

} // namespace ckpt::fuzz
