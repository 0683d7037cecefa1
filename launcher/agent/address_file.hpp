/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address_file.hpp - keeps an agent's address and key, so that one that takes the place
 * of an agent that has died is found where that was: the ranks still say so.
 */
#pragma once

#include "agent/peer_address.hpp"

#include <filesystem>

namespace ckpt
{

class AddressFile
{
  public:
    /* In a directory that only we can change. */
    explicit AddressFile(std::filesystem::path path);
    ~AddressFile(); /* removes it */
    AddressFile(const AddressFile &) = delete;
    AddressFile &operator=(const AddressFile &) = delete;

    /* What it has; a new one if it is not there. Throws Error, also for a file of
     * another user, or that others can read. */
    PeerAddress address() const;
    /* Readable for this user only. Throws Error. */
    void keep(const PeerAddress &address) const;

  private:
    std::filesystem::path path_;
};

} // namespace ckpt
