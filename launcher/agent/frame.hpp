/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame.hpp - the layout of what agents of different nodes send one another: a header
 * of 40 bytes, then the payload (docs/protocol.md, section 9).
 *
 * All numbers are little endian. Magic and version stand where they are in every
 * version.
 */
#pragma once

#include "common/message_key.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ckpt
{

inline constexpr std::uint32_t frame_magic = 0x464b4343u; /* "CCKF" */
inline constexpr std::uint16_t frame_version = 1;

enum class FrameKind : std::uint16_t {
    challenge = 1, /* of the one who was called; then, from the caller: */
    call = 2,      /* who it is, and that it has the key; */
    answer = 3,    /* and that the other one has it, too */
    message = 4,   /* all that follows, in both directions: a JSON object */
};

struct FrameHeader {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t kind;   /* FrameKind */
    std::uint32_t length; /* of the payload, bytes */
    std::uint32_t reserved; /* 0 */
    std::uint64_t sequence; /* of a message among those in its direction: 0, 1, ... */
    std::array<std::byte, 16> tag; /* the first half of it */
};

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(FrameHeader) == 40, "layout of FrameHeader");
static_assert(offsetof(FrameHeader, sequence) == 16, "layout of FrameHeader");
static_assert(offsetof(FrameHeader, tag) == 24, "layout of FrameHeader");

struct Frame {
    FrameHeader header{};
    std::string payload;

    /* As it travels. */
    std::string bytes() const;
    bool is(FrameKind kind) const
    {
        return header.kind == static_cast<std::uint16_t>(kind);
    }
};

/* A frame without a tag. */
Frame make_frame(FrameKind kind, std::uint64_t sequence, std::string payload);

/* Of a frame that follows `before`, the bytes of the frames that it depends on: all of
 * them but for its own tag. */
MessageKey::Tag frame_tag(const MessageKey &key, std::string_view before,
                          const Frame &frame);

/* Puts the tag into the header. */
void put_tag(const MessageKey &key, std::string_view before, Frame &frame);

/* Whether it is there. */
bool has_tag(const MessageKey &key, std::string_view before, const Frame &frame);

/* Cuts frames out of the bytes of a connection. Looks at headers only, and knows no
 * key. */
class FrameReader
{
  public:
    /* limit: of a payload, in bytes */
    explicit FrameReader(std::size_t limit) : limit_(limit) {}
    void set_limit(std::size_t limit) { limit_ = limit; }

    void add(std::string_view bytes);
    /* The next frame, or nothing if it is not yet here. Throws Refused for what is
     * none, as soon as that can be seen; the rest cannot be read then. */
    std::optional<Frame> next();
    /* There is a part of one. */
    bool is_within() const { return at_ < bytes_.size(); }

  private:
    void check(const FrameHeader &header, std::size_t known) const;
    void forget_taken();

    std::size_t limit_;
    std::string bytes_;
    std::size_t at_ = 0; /* what was before has been taken */
};

} // namespace ckpt
