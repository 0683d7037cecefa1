/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame.cpp - converts frames to bytes, and back.
 */
#include "agent/links/frame.hpp"

#include "agent/base/rejected_frames.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace ckpt
{

namespace
{

static_assert(std::has_unique_object_representations_v<FrameHeader>); /* it is sent as it is */
constexpr std::size_t magic_and_version = offsetof(FrameHeader, kind);

std::span<const std::byte> bytes_of(std::string_view text)
{
    return std::as_bytes(std::span(text));
}

} // namespace

std::string Frame::bytes() const
{
    std::string bytes(sizeof header + payload.size(), '\0');

    std::memcpy(bytes.data(), &header, sizeof header);
    std::copy(payload.begin(), payload.end(), bytes.begin() + sizeof header);
    return bytes;
}

Frame make_frame(FrameKind kind, std::uint64_t sequence, std::string payload)
{
    CKPT_EXPECT(payload.size() <= UINT32_MAX);
    Frame frame;

    frame.header.magic = frame_magic;
    frame.header.version = frame_version;
    frame.header.kind = static_cast<std::uint16_t>(kind);
    frame.header.length = static_cast<std::uint32_t>(payload.size());
    frame.header.sequence = sequence;
    frame.payload = std::move(payload);
    return frame;
}

MessageKey::Tag frame_tag(const MessageKey &key, std::string_view before,
                          const Frame &frame)
{
    auto header = std::as_bytes(std::span(&frame.header, 1));

    return key.tag({bytes_of(before), header.first(offsetof(FrameHeader, tag)),
                    bytes_of(frame.payload)});
}

void put_tag(const MessageKey &key, std::string_view before, Frame &frame)
{
    static_assert(std::tuple_size_v<MessageKey::Tag> >= sizeof(FrameHeader::tag));
    const MessageKey::Tag tag = frame_tag(key, before, frame);

    std::copy_n(tag.begin(), frame.header.tag.size(), frame.header.tag.begin());
}

bool has_tag(const MessageKey &key, std::string_view before, const Frame &frame)
{
    return is_tag(frame.header.tag, frame_tag(key, before, frame));
}

/* ---- From bytes ------------------------------------------------------------ */

void FrameReader::add(std::string_view bytes)
{
    bytes_.append(bytes);
}

/* Checks a header of which only the first `known` bytes have arrived. */
void FrameReader::check(const FrameHeader &header, std::size_t known) const
{
    if (known >= magic_and_version && header.magic != frame_magic) {
        reject(Rejection::malformed, "malformed frame");
    }
    if (known >= magic_and_version && header.version != frame_version) {
        reject(Rejection::foreign, "a frame of version {}, not {}", header.version,
               frame_version);
    }
    if (known == sizeof header && header.reserved != 0) {
        reject(Rejection::malformed, "a frame with a header that is none of ours");
    }
    if (known == sizeof header && header.length > limit_) {
        reject(Rejection::malformed, "a frame of {} bytes", header.length);
    }
}

std::optional<Frame> FrameReader::next()
{
    CKPT_INVARIANT(at_ <= bytes_.size());
    const std::size_t rest = bytes_.size() - at_;
    const std::size_t known = std::min(rest, sizeof(FrameHeader));
    Frame frame;

    std::memcpy(&frame.header, bytes_.data() + at_, known);
    check(frame.header, known);
    if (known < sizeof(FrameHeader) || rest - known < frame.header.length) {
        forget_taken();
        return {};
    }
    frame.payload = bytes_.substr(at_ + known, frame.header.length);
    at_ += known + frame.header.length;
    CKPT_INVARIANT(at_ <= bytes_.size());
    return frame;
}

void FrameReader::forget_taken()
{
    bytes_.erase(0, at_);
    at_ = 0;
}

} // namespace ckpt
