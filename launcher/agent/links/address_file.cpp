/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address_file.cpp - an agent's address, on disk.
 */
#include "agent/links/address_file.hpp"

#include "common/files/files.hpp"

#include <unistd.h>

#include <utility>

namespace ckpt
{

namespace
{

constexpr const char *what = "address of the agent";

} // namespace

AddressFile::AddressFile(std::filesystem::path path)
    : path_(std::move(path)) {}

AddressFile::~AddressFile()
{
    ::unlink(path_.c_str());
}

PeerAddress AddressFile::address() const
{
    if (std::filesystem::exists(path_)) {
        if (auto kept = PeerAddress::parse(read_secret_text_file(path_, what))) {
            return *kept;
        }
    }
    return PeerAddress::make();
}

void AddressFile::keep(const PeerAddress &address) const
{
    write_text_file_atomically(path_, address.text(), what);
}

} // namespace ckpt
