/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * member_table.cpp - the table of members in frames.
 */
#include "agent/supervision/member_table.hpp"

#include "common/host.hpp"
#include "common/invariant.hpp"

namespace ckpt
{

using nlohmann::json;

json to_frame(const membership::Table::Entry &member)
{
    return {{"host", member.host}, {"addresses", member.addresses}, {"port", member.port}};
}

membership::Table::Entry member_from(const json &json)
{
    return {json.at("host"), json.at("addresses").get<std::vector<std::string>>(),
            json.at("port")};
}

json to_frame(const membership::Table &table)
{
    CKPT_EXPECT(table.self < table.members.size());
    json members = json::array();

    for (const auto &member : table.members) {
        members.push_back(to_frame(member));
    }
    return {{"members", members},
            {"self", table.self},
            {"life", table.life},
            {"key", table.key.text()},
            {"incarnation", table.incarnation}};
}

std::optional<membership::Table> table_from(const json &json)
{
    membership::Table table;
    const auto key = MessageKey::parse(json.at("key").get<std::string>());

    if (!key) {
        return std::nullopt;
    }
    for (const auto &member : json.at("members")) {
        table.members.push_back(member_from(member));
    }
    table.self = json.at("self");
    table.life = json.at("life");
    table.key = *key;
    table.incarnation = json.at("incarnation");
    return table;
}

membership::Table::Entry member_here(const std::string &host, std::uint16_t port)
{
    return {host, host_addresses(), port};
}

membership::Protocol::Options membership_options()
{
    membership::Protocol::Options options;

    options.majority = std::chrono::seconds(4);
    /* a node that is cut off gives up before others rely on the end of its ranks */
    CKPT_INVARIANT(options.majority < fencing_time);
    return options;
}

} // namespace ckpt
