/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group.cpp - builds groups from members and from JSON.
 */
#include "config.h"
#include "redundancy/group.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/store/checkpoint_files.hpp"
#include "redundancy/scheme.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string_view>

namespace ckpt::redundancy
{

using nlohmann::json;

namespace
{

constexpr std::size_t longest_name = 255;
/* A limit that prevents overflows in computations. */
constexpr std::uint64_t longest_piece = std::uint64_t{1} << 56;

/* Whether the text has only visible ASCII characters and can be a file name. */
bool is_name(std::string_view text)
{
    return !text.empty() && text.size() <= longest_name && text != "." && text != ".." &&
           std::ranges::all_of(text, [](char letter) {
               return letter > ' ' && letter <= '~' && letter != '/';
           });
}

void require_members(unsigned losses, const std::vector<Member> &members)
{
    std::set<std::string_view> hosts;

    if (losses == 0 || losses >= members.size() || members.size() > largest_group) {
        fail("a group of {} nodes cannot lose {} of them", members.size(),
             losses);
    }
    for (const Member &member : members) {
        if (!is_name(member.host) || !is_name(member.file)) {
            fail("a group has a member '{}' with the piece '{}'", member.host,
                 member.file);
        }
        if (member.bytes > longest_piece) {
            fail("a piece of {} bytes", member.bytes);
        }
        if (!hosts.insert(member.host).second) {
            fail("{} is in a group twice", member.host);
        }
    }
}

std::uint64_t divided_up(std::uint64_t number, std::uint64_t by)
{
    return number / by + (number % by != 0 ? 1 : 0);
}

/* Returns the field if it exists and is an unsigned number. */
std::uint64_t number_of(const json &object, const char *field)
{
    const auto found = object.find(field);

    if (found == object.end() || !found->is_number_unsigned()) {
        fail("a group in which '{}' is not a number", field);
    }
    return found->get<std::uint64_t>();
}

std::string text_of(const json &object, const char *field)
{
    const auto found = object.find(field);

    if (found == object.end() || !found->is_string()) {
        fail("a group in which '{}' is not a text", field);
    }
    return found->get<std::string>();
}

Member member_of(const json &object)
{
    if (!object.is_object()) {
        fail("a group with a member that is not an object");
    }
    return {text_of(object, "host"), text_of(object, "file"), number_of(object, "bytes")};
}

} // namespace

Group Group::make(unsigned losses, std::vector<Member> members)
{
    require_members(losses, members);

    const std::uint64_t longest = std::ranges::max(members, {}, &Member::bytes).bytes;
    const std::uint64_t chunk = divided_up(longest, members.size() - losses);
    CKPT_INVARIANT(chunk * (members.size() - losses) >= longest); /* each piece has room */
    return {losses, divided_up(chunk, chunk_unit) * chunk_unit, std::move(members)};
}

void to_json(json &json, const Group &group)
{
    json = {{"losses", group.losses}, {"chunk", group.chunk}};
    for (const Member &member : group.members) {
        json["members"].push_back(
            {{"host", member.host}, {"file", member.file}, {"bytes", member.bytes}});
    }
}

void from_json(const json &json, Group &group)
{
    if (!json.is_object() || !json.contains("members") ||
        !json.at("members").is_array() || json.at("members").size() > largest_group) {
        fail("a group without a list of members");
    }
    std::vector<Member> members;
    for (const auto &member : json.at("members")) {
        members.push_back(member_of(member));
    }
    const std::uint64_t losses = number_of(json, "losses");
    Group made = Group::make(
        static_cast<unsigned>(std::min<std::uint64_t>(losses, largest_group)),
        std::move(members));
    if (made.chunk != number_of(json, "chunk")) {
        fail("a group with chunks of {} bytes, not {}", number_of(json, "chunk"),
             made.chunk);
    }
    group = std::move(made);
}

} // namespace ckpt::redundancy
