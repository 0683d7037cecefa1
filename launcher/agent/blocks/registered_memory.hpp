/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * registered_memory.hpp - the files that another node may read directly from this node's memory, as
 * long as its connection lasts.
 */
#pragma once

#include "agent/blocks/fabric_host.hpp"
#include "agent/blocks/served_file.hpp"

#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <string>

namespace ckpt::redundancy
{

class RegisteredMemory
{
  public:
    /* host: must live longer. local: this node's address on the connection. */
    RegisteredMemory(FabricHost &host, std::string local)
        : host_(host), local_(std::move(local)) {}
    ~RegisteredMemory();
    RegisteredMemory(const RegisteredMemory &) = delete;
    RegisteredMemory &operator=(const RegisteredMemory &) = delete;

    /* Maps a file of at least one byte, for a node whose endpoint uses `provider`. Throws
     * fabric::Failure. */
    fabric::Lent lend(const ServedFile &file, const std::string &provider);

    bool empty() const { return files_.empty(); }

  private:
    class Mapping
    {
      public:
        explicit Mapping(const ServedFile &file);
        ~Mapping();
        Mapping(const Mapping &) = delete;
        std::span<const std::byte> bytes() const { return bytes_; }

      private:
        std::span<const std::byte> bytes_;
    };
    struct LentFile {
        LentFile(const ServedFile::Identity &which, const ServedFile &file)
            : identity(which), mapping(file)
        {
        }
        const ServedFile::Identity identity;
        const Mapping mapping;
        std::unique_ptr<fabric::Endpoint::Loan> loan; /* ends before its mapping */
    };

    FabricHost &host_;
    const std::string local_;
    std::list<LentFile> files_;
};

} // namespace ckpt::redundancy
