/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame.hpp - layout of the frames that agents of different nodes exchange: a header of 40 bytes,
 * then the payload (docs/protocol.md, section 9).
 *
 * All numbers are little endian. Magic and version are at the same place in every version.
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
inline constexpr std::uint16_t frame_version = 2;

enum class FrameKind : std::uint16_t {
    challenge = 1, /* sent first by the listener */
    call = 2,      /* from the caller: its identity, and proof that it has the key */
    answer = 3,    /* from the listener: proof that it has the key as well */
    message = 4,   /* all later frames, in both directions: a JSON object */
};

struct FrameHeader {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t kind;            /* FrameKind */
    std::uint32_t length;          /* of the payload, bytes */
    std::uint32_t reserved;        /* 0 */
    std::uint64_t sequence;        /* number of a message in its direction: 0, 1, ... */
    std::array<std::byte, 16> tag; /* first half of the tag */
};

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(FrameHeader) == 40, "layout of FrameHeader");
static_assert(offsetof(FrameHeader, sequence) == 16, "layout of FrameHeader");
static_assert(offsetof(FrameHeader, tag) == 24, "layout of FrameHeader");

struct Frame {
    FrameHeader header{};
    std::string payload;

    /* Returns the bytes on the wire. */
    std::string bytes() const;
    bool is(FrameKind kind) const
    {
        return header.kind == static_cast<std::uint16_t>(kind);
    }
};

/* Returns a frame without a tag. */
Frame make_frame(FrameKind kind, std::uint64_t sequence, std::string payload);

/* Returns the tag of a frame. before: bytes of the earlier frames that it depends on. The tag
 * covers these and the whole frame except the tag itself. */
MessageKey::Tag frame_tag(const MessageKey &key, std::string_view before,
                          const Frame &frame);

/* Stores the tag in the header. */
void put_tag(const MessageKey &key, std::string_view before, Frame &frame);

/* Returns whether the header has the right tag. */
bool has_tag(const MessageKey &key, std::string_view before, const Frame &frame);

/* Extracts frames from the bytes of a connection. It checks headers only, and has no key. */
class FrameReader
{
  public:
    /* limit: of a payload, in bytes */
    explicit FrameReader(std::size_t limit)
        : limit_(limit) {}
    void set_limit(std::size_t limit) { limit_ = limit; }

    void add(std::string_view bytes);
    /* Returns the next frame, or nothing if it is incomplete. Throws Rejected if the bytes are
     * not a valid frame, as soon as this can be seen. The rest cannot be read then. */
    std::optional<Frame> next();
    /* Whether there is a part of a frame. */
    bool is_within() const { return at_ < bytes_.size(); }

  private:
    void check(const FrameHeader &header, std::size_t known) const;
    void forget_taken();

    std::size_t limit_;
    std::string bytes_;
    std::size_t at_ = 0; /* everything before this offset has been taken */
};

} // namespace ckpt
