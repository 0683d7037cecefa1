/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datagram_decoders.cpp - decoders of datagrams between members of a job.
 */
#include "config.h"
#include "fuzz/decoders.hpp"
#include "fuzz/datagram_samples.hpp"

#include "membership/datagram.hpp"

#include <span>

namespace ckpt::fuzz
{

namespace
{

using namespace membership;

constexpr std::size_t members = 70; /* a set's last word is not full */

View some_view()
{
    View view{5, MemberSet::all(members), {}};

    view.members.erase(3);
    view.lives = {{1, 2}, {69, 77}};
    return view;
}

MessageKey fixed_key()
{
    return *MessageKey::parse(std::string(64, '1'));
}

std::string datagram_of(const Message &message)
{
    DatagramHeader header{};

    header.incarnation = 7;
    header.sequence = 1;
    header.life = 1;
    const auto bytes = encode(header, message, fixed_key());
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/* The sender has the key. An accepted datagram must equal what a member would
 * send. */
void decode_datagram(const std::string &text)
{
    const auto bytes = std::as_bytes(std::span(text));

    if (!decode_header(bytes)) {
        return;
    }
    (void)is_authentic(bytes, fixed_key());
    if (const auto message = decode_message(bytes, members)) {
        const std::string again = datagram_of(*message);
        const auto second = decode_message(std::as_bytes(std::span(again)), members);
        require(second == message, "a datagram that cannot be said again");
    }
}

} // namespace

std::vector<Decoder> datagram_decoders()
{
    std::vector<std::string> seeds;

    for (const Message &message : one_of_each(some_view())) {
        seeds.push_back(datagram_of(message));
    }
    return {{"datagram", seeds, decode_datagram}};
}

} // namespace ckpt::fuzz
