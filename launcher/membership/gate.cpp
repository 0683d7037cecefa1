/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gate.cpp - accepts the datagrams of this job's present incarnation, each once.
 */
#include "membership/gate.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <utility>

namespace ckpt::membership
{

namespace
{

/* Number of processes of a member whose messages are still checked for replays. */
constexpr std::size_t most_processes = 4;
constexpr int most_refusals = 16; /* per second */
static_assert(static_cast<std::size_t>(Drop::malformed) + 1 == drop_reasons);

} // namespace

bool Gate::Window::accept(std::uint64_t sequence)
{
    constexpr std::uint64_t bits = 64;

    if (sequence == 0) {
        return false;
    }
    if (sequence > highest_) {
        const std::uint64_t step = sequence - highest_;
        seen_ = (step < bits ? seen_ << step : 0) | 1;
        highest_ = sequence;
        return true;
    }
    const std::uint64_t age = highest_ - sequence;
    if (age >= bits || (seen_ >> age & 1) != 0) {
        return false;
    }
    seen_ |= std::uint64_t{1} << age;
    CKPT_INVARIANT((seen_ & 1) != 0); /* the highest number was seen */
    return true;
}

Gate::Gate(const Identity &identity)
    : identity_(identity), key_(identity.key.derive("ckpt membership datagram 1")),
      sent_(identity.members), senders_(identity.members)
{
    if (identity.incarnation == 0) {
        fail("incarnations of a job count from 1");
    }
}

std::vector<std::byte> Gate::seal(MemberId to, std::uint64_t view,
                                  const Message &message)
{
    CKPT_EXPECT(to < identity_.members && to != identity_.self);
    DatagramHeader header{};

    header.incarnation = identity_.incarnation;
    header.sequence = ++sent_.at(to);
    header.view = view;
    header.from = identity_.self;
    header.to = to;
    header.life = identity_.life;
    return encode(header, message, key_);
}

Gate::Opened Gate::drop(Drop reason)
{
    Opened opened;

    CKPT_EXPECT(static_cast<std::size_t>(reason) < drop_reasons);
    dropped_[static_cast<std::size_t>(reason)]++;
    opened.dropped = reason;
    return opened;
}

/* Answers only senders that have the key, with few more bytes than they sent, and not often. The
 * answer only says that this incarnation exists. */
Gate::Opened Gate::answer_older(const DatagramHeader &theirs, Time now)
{
    Opened opened = drop(Drop::older);

    if (now >= refusals_since_ + std::chrono::seconds(1)) {
        refusals_since_ = now;
        refusals_ = 0;
    }
    if (theirs.incarnation == 0 || ++refusals_ > most_refusals) {
        return opened;
    }
    DatagramHeader header{};
    header.incarnation = identity_.incarnation;
    header.from = identity_.self;
    header.to = theirs.from;
    header.life = identity_.life;
    opened.refusal = encode(header, message::Refusal{theirs.incarnation}, key_);
    return opened;
}

std::optional<Drop> Gate::examine(const DatagramHeader &header)
{
    if (header.to != identity_.self || header.from == identity_.self ||
        header.from >= identity_.members || header.life < first_life) {
        return Drop::misdirected;
    }
    Sender &sender = senders_[header.from];
    if (header.life < sender.floor) {
        return Drop::former;
    }
    if (!sender.windows[header.life].accept(header.sequence)) {
        return Drop::replayed;
    }
    if (sender.windows.size() > most_processes) {
        sender.floor = sender.windows.begin()->first + 1;
        sender.windows.erase(sender.windows.begin());
    }
    CKPT_INVARIANT(sender.windows.size() <= most_processes);
    return header.life < sender.floor ? std::optional(Drop::former) : std::nullopt;
}

Gate::Opened Gate::open(std::span<const std::byte> datagram, Time now)
{
    Opened opened;
    const auto header = decode_header(datagram);

    if (!header) {
        return drop(Drop::foreign);
    }
    if (!is_authentic(datagram, key_)) {
        return drop(Drop::forged);
    }
    if (header->incarnation < identity_.incarnation) {
        return answer_older(*header, now);
    }
    if (header->incarnation > identity_.incarnation) {
        auto message = decode_message(datagram, identity_.members);
        auto *refusal = message ? std::get_if<message::Refusal>(&*message) : nullptr;
        if (refusal == nullptr || refusal->incarnation != identity_.incarnation ||
            header->to != identity_.self) {
            return drop(Drop::newer);
        }
        opened.superseded_by = header->incarnation;
        return opened;
    }
    if (auto reason = examine(*header)) {
        return drop(*reason);
    }
    auto message = decode_message(datagram, identity_.members);
    if (!message || std::holds_alternative<message::Refusal>(*message)) {
        return drop(Drop::malformed);
    }
    opened.content = Opened::Content{{header->from, header->life, header->view},
                                     std::move(*message)};
    return opened;
}

} // namespace ckpt::membership
