/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address_file.hpp - keeps an agent's address and key on disk. If the agent dies, its successor
 * listens at the same address, which the ranks still hold.
 */
#pragma once

#include "agent/links/peer_address.hpp"

#include <filesystem>

namespace ckpt
{

class AddressFile
{
  public:
    /* path: in a directory that only this user can change. */
    explicit AddressFile(std::filesystem::path path);
    ~AddressFile(); /* removes the file */
    AddressFile(const AddressFile &) = delete;
    AddressFile &operator=(const AddressFile &) = delete;

    /* Returns the address in the file, or a new one if the file is missing. Throws Error, also if
     * another user owns the file or can read it. */
    PeerAddress address() const;
    /* Writes the file, readable for this user only. Throws Error. */
    void keep(const PeerAddress &address) const;

  private:
    std::filesystem::path path_;
};

} // namespace ckpt
