/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datagram.cpp - messages between members as bytes.
 */
#include "membership/datagram.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

namespace ckpt::membership
{

namespace
{

/* ---- Writing ------------------------------------------------------------- */

class Writer
{
  public:
    explicit Writer(std::vector<std::byte> &bytes)
        : bytes_(bytes) {}

    template <typename Plain>
    void put(const Plain &plain)
    {
        static_assert(std::has_unique_object_representations_v<Plain>);
        auto bytes = std::as_bytes(std::span(&plain, 1));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }

    void put(const View &view)
    {
        CKPT_EXPECT(view.lives.size() <= most_lives && view.members.capacity() <= most_members);
        put(wire::View{view.number,
                       static_cast<std::uint32_t>(view.members.capacity()),
                       static_cast<std::uint32_t>(view.lives.size())});
        for (MemberSet::Word word : view.members.words()) {
            put(word);
        }
        for (auto [member, life] : view.lives) {
            put(wire::LifeOf{member, life});
        }
    }

    void put(std::uint64_t number, Ballot ballot)
    {
        put(wire::Vote{number, ballot.round, ballot.proposer});
    }

    void body(const message::Heartbeat &m) { put(wire::Heartbeat{m.probe, 0}); }
    void body(const message::Question &m) { put(wire::Question{m.about, 0}); }
    void body(const message::Answer &m)
    {
        put(wire::Answer{m.about, m.life, m.silent_ms, m.gone});
    }
    void body(const message::Accusation &m)
    {
        put(wire::Accusation{m.accused, m.life, static_cast<std::uint32_t>(m.reason),
                             m.stands});
    }
    void body(const message::Hello &) {}
    void body(const message::Prepare &m) { put(m.number, m.ballot); }
    void body(const message::Promise &m)
    {
        put(wire::Promise{{m.number, m.ballot.round, m.ballot.proposer},
                          m.accepted.round,
                          m.accepted.proposer});
        if (m.view) {
            put(*m.view);
        }
    }
    void body(const message::Proposal &m)
    {
        put(wire::Proposal{m.ballot.round, m.ballot.proposer});
        put(m.view);
    }
    void body(const message::Acceptance &m) { put(m.number, m.ballot); }
    void body(const message::Denial &m) { put(m.number, m.promised); }
    void body(const message::Decision &m) { put(m.view); }
    void body(const message::Link &m) { put(wire::Link{m.one, m.other, m.dead, 0}); }
    void body(const message::Refusal &m) { put(wire::Refusal{m.incarnation}); }

  private:
    std::vector<std::byte> &bytes_;
};

/* ---- Reading ------------------------------------------------------------- */

/* Each take() returns whether the bytes hold a valid value. Nothing may be left at the end. */
class Reader
{
  public:
    Reader(std::span<const std::byte> bytes, std::size_t members)
        : bytes_(bytes), members_(members)
    {
    }

    bool at_end() const { return bytes_.empty(); }

    bool take(message::Heartbeat &m)
    {
        wire::Heartbeat raw;
        return plain(raw) && raw.zero == 0 && boolean(raw.probe, m.probe);
    }
    bool take(message::Question &m)
    {
        wire::Question raw;
        return plain(raw) && raw.zero == 0 && member(raw.about, m.about);
    }
    bool take(message::Answer &m)
    {
        wire::Answer raw;
        if (!plain(raw)) {
            return false;
        }
        m.silent_ms = raw.silent_ms;
        return member(raw.about, m.about) && life(raw.life, m.life) &&
               boolean(raw.gone, m.gone);
    }
    bool take(message::Accusation &m)
    {
        wire::Accusation raw;
        if (!plain(raw) || raw.reason < static_cast<std::uint32_t>(Reason::silent) ||
            raw.reason > static_cast<std::uint32_t>(Reason::leaving)) {
            return false;
        }
        m.reason = static_cast<Reason>(raw.reason);
        return member(raw.accused, m.accused) && life(raw.life, m.life) &&
               boolean(raw.stands, m.stands);
    }
    bool take(message::Hello &) { return true; }
    bool take(message::Prepare &m) { return vote(m.number, m.ballot); }
    bool take(message::Promise &m)
    {
        wire::Promise raw;
        if (!plain(raw) || !vote(raw.vote, m.number, m.ballot)) {
            return false;
        }
        m.accepted = {raw.accepted_round, raw.accepted_proposer};
        if (m.accepted.round == 0) {
            return m.accepted.proposer == 0;
        }
        return m.accepted.proposer < members_ && view(m.view.emplace()) &&
               m.view->number == m.number;
    }
    bool take(message::Proposal &m)
    {
        wire::Proposal raw;
        return plain(raw) && ballot(raw.round, raw.proposer, m.ballot) && view(m.view);
    }
    bool take(message::Acceptance &m) { return vote(m.number, m.ballot); }
    bool take(message::Denial &m) { return vote(m.number, m.promised); }
    bool take(message::Decision &m) { return view(m.view); }
    bool take(message::Link &m)
    {
        wire::Link raw;
        return plain(raw) && raw.zero == 0 && member(raw.one, m.one) &&
               member(raw.other, m.other) && m.one != m.other &&
               boolean(raw.dead, m.dead);
    }
    bool take(message::Refusal &m)
    {
        wire::Refusal raw;
        m.incarnation = plain(raw) ? raw.incarnation : 0;
        return m.incarnation != 0;
    }

  private:
    template <typename Plain>
    bool plain(Plain &plain)
    {
        if (bytes_.size() < sizeof plain) {
            return false;
        }
        std::memcpy(&plain, bytes_.data(), sizeof plain);
        bytes_ = bytes_.subspan(sizeof plain);
        return true;
    }

    static bool boolean(std::uint32_t raw, bool &value)
    {
        value = raw == 1;
        return raw <= 1;
    }
    static bool life(std::uint32_t raw, Life &life)
    {
        life = raw;
        return raw >= first_life;
    }
    bool member(std::uint32_t raw, MemberId &member) const
    {
        member = raw;
        return raw < members_;
    }
    bool ballot(std::uint32_t round, std::uint32_t proposer, Ballot &ballot) const
    {
        ballot = {round, proposer};
        return round > 0 && proposer < members_;
    }
    bool vote(const wire::Vote &raw, std::uint64_t &number, Ballot &ballot) const
    {
        number = raw.number;
        return number > 0 && this->ballot(raw.round, raw.proposer, ballot);
    }
    bool vote(std::uint64_t &number, Ballot &ballot)
    {
        wire::Vote raw;
        return plain(raw) && vote(raw, number, ballot);
    }

    bool view(View &view)
    {
        wire::View raw;
        if (!plain(raw) || raw.number == 0 || raw.capacity != members_ ||
            raw.lives > most_lives) {
            return false;
        }
        view = {raw.number, MemberSet(members_), {}};
        for (MemberSet::Word &word : view.members.words()) {
            if (!plain(word)) {
                return false;
            }
        }
        const std::size_t used = members_ % MemberSet::word_bits;
        if (view.members.empty() ||
            (used != 0 && view.members.words().back() >> used != 0)) {
            return false;
        }
        return lives(raw.lives, view);
    }

    bool lives(std::uint32_t count, View &view)
    {
        for (std::uint32_t i = 0; i < count; i++) {
            wire::LifeOf raw;
            if (!plain(raw) || raw.life <= first_life ||
                !view.members.contains(raw.member) ||
                (!view.lives.empty() && raw.member <= view.lives.rbegin()->first)) {
                return false;
            }
            view.lives.emplace(raw.member, raw.life);
        }
        return true;
    }

    std::span<const std::byte> bytes_;
    std::size_t members_;
};

template <std::size_t... Kind>
std::optional<Message> take_kind(std::size_t kind, Reader reader,
                                 std::index_sequence<Kind...>)
{
    std::optional<Message> message;
    const auto take = [&]<std::size_t Index>() {
        std::variant_alternative_t<Index, Message> content;
        if (kind == Index + 1 && reader.take(content) && reader.at_end()) {
            message = std::move(content);
        }
    };

    (take.template operator()<Kind>(), ...);
    return message;
}

std::span<const std::byte> body_of(std::span<const std::byte> datagram)
{
    CKPT_EXPECT(datagram.size() >= sizeof(DatagramHeader) + tag_bytes);
    return datagram.subspan(sizeof(DatagramHeader),
                            datagram.size() - sizeof(DatagramHeader) - tag_bytes);
}

} // namespace

std::vector<std::byte> encode(DatagramHeader header, const Message &message,
                              const MessageKey &key)
{
    std::vector<std::byte> bytes(sizeof header);
    Writer writer(bytes);

    bytes.reserve(longest_datagram);
    std::visit([&](const auto &content) { writer.body(content); }, message);
    header.magic = datagram_magic;
    header.version = datagram_version;
    header.kind = static_cast<std::uint16_t>(message.index() + 1);
    header.body_bytes = static_cast<std::uint32_t>(bytes.size() - sizeof header);
    std::memcpy(bytes.data(), &header, sizeof header);
    const MessageKey::Tag tag = key.tag({bytes});
    bytes.insert(bytes.end(), tag.begin(), tag.begin() + tag_bytes);
    CKPT_INVARIANT(bytes.size() <= longest_datagram);
    return bytes;
}

std::optional<DatagramHeader> decode_header(std::span<const std::byte> datagram)
{
    DatagramHeader header;

    if (datagram.size() < sizeof header + tag_bytes ||
        datagram.size() > longest_datagram) {
        return std::nullopt;
    }
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.magic != datagram_magic || header.version != datagram_version ||
        header.body_bytes != body_of(datagram).size()) {
        return std::nullopt;
    }
    return header;
}

bool is_authentic(std::span<const std::byte> datagram, const MessageKey &key)
{
    CKPT_EXPECT(datagram.size() >= tag_bytes);
    const std::size_t signed_bytes = datagram.size() - tag_bytes;

    return is_tag(datagram.subspan(signed_bytes),
                  key.tag({datagram.first(signed_bytes)}));
}

std::optional<Message> decode_message(std::span<const std::byte> datagram,
                                      std::size_t members)
{
    CKPT_EXPECT(datagram.size() >= sizeof(DatagramHeader) + tag_bytes);
    DatagramHeader header;

    std::memcpy(&header, datagram.data(), sizeof header);
    return take_kind(header.kind, Reader(body_of(datagram), members),
                     std::make_index_sequence<std::variant_size_v<Message>>());
}

} // namespace ckpt::membership
