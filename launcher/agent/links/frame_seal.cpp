/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame_seal.cpp - numbers and tags of messages.
 */
#include "agent/links/frame_seal.hpp"

#include "agent/base/rejected_frames.hpp"
#include "common/invariant.hpp"

#include <utility>

namespace ckpt
{

std::string FrameSeal::seal(std::string payload)
{
    CKPT_INVARIANT(next_ + 1 != 0); /* no number is used twice with this key */
    Frame frame = make_frame(FrameKind::message, next_++, std::move(payload));

    put_tag(key_, {}, frame);
    return frame.bytes();
}

void FrameSeal::check(const Frame &frame)
{
    if (!frame.is(FrameKind::message)) {
        reject(Rejection::malformed, "a frame of kind {} among messages",
               frame.header.kind);
    }
    if (!has_tag(key_, {}, frame)) {
        reject(Rejection::forged, "a message with a wrong tag");
    }
    if (frame.header.sequence != next_) {
        reject(Rejection::replayed, "message {} in the place of message {}",
               frame.header.sequence, next_);
    }
    next_++;
}

} // namespace ckpt
