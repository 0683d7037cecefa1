/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notes.cpp - two small JSON files, each replaced as a whole.
 */
#include "config.h"
#include "journal/notes.hpp"

#include "common/error.hpp"
#include "common/files.hpp"
#include "image/json_fields.hpp"

#include <algorithm>
#include <charconv>

namespace ckpt::journal
{

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace
{

constexpr const char *redo_file = "rollback";
constexpr const char *dropped_file = "dropped";
constexpr const char *revealed_file = "revealed";
constexpr const char *state_names[] = {"undoing", "undone", "finished"};
constexpr std::uint64_t notes_version = 1;
constexpr std::uint64_t revealed_version = 2; /* names of files are escaped */

struct Fields {
    std::uint64_t version = 0;
    JsonFields json;
};

std::optional<Fields> load_fields(const fs::path &path, std::uint64_t newest = notes_version)
{
    if (!path_exists(path)) {
        return std::nullopt;
    }
    const std::string name = "file " + path.string();
    Fields fields{0, JsonFields::parse(read_text_file(path, "file"), name)};
    fields.json.get("version", fields.version);
    if (fields.version == 0 || fields.version > newest) {
        fail("{} has version {}, but {} is expected", name, fields.version, newest);
    }
    return fields;
}

/* The name of a file, which is any bytes, as text for JSON: '%' and bytes beyond ASCII as
 * %XX. */
std::string escaped(const std::string &name)
{
    std::string text;

    for (const char letter : name) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte < 0x80 && letter != '%') {
            text += letter;
        } else {
            text += fmt::format("%{:02x}", byte);
        }
    }
    return text;
}

std::string unescaped(const std::string &text, const fs::path &path)
{
    std::string name;

    for (std::size_t i = 0; i < text.size(); i++) {
        unsigned char byte = 0;
        if (text[i] != '%') {
            name += text[i];
            continue;
        }
        const char *digits = text.data() + i + 1;
        const char *end = digits + std::min<std::size_t>(2, text.size() - i - 1);
        const auto [stop, error] = std::from_chars(digits, end, byte, 16);
        if (error != std::errc() || stop != digits + 2) {
            fail("file {}: '{}' is no name of a file", path.string(), text);
        }
        name += static_cast<char>(byte);
        i += 2;
    }
    return name;
}

template <typename Change>
std::map<std::string, std::uint64_t> with_names(const std::map<std::string, std::uint64_t> &from,
                                                Change change)
{
    std::map<std::string, std::uint64_t> to;

    for (const auto &[name, number] : from) {
        to[change(name)] = number;
    }
    return to;
}

RedoRecord::State state_from(const std::string &name, const fs::path &path)
{
    for (std::size_t i = 0; i < std::size(state_names); i++) {
        if (name == state_names[i]) {
            return static_cast<RedoRecord::State>(i);
        }
    }
    fail("file {}: unknown state '{}'", path.string(), name);
}

} // namespace

std::optional<RedoRecord> RedoRecord::load(const fs::path &journal)
{
    const auto fields = load_fields(journal / redo_file);
    RedoRecord redo;
    std::string state;

    if (!fields) {
        return std::nullopt;
    }
    fields->json.get("checkpoint", redo.checkpoint);
    fields->json.get("state", state);
    fields->json.get("steps", redo.steps);
    fields->json.get("from", redo.from);
    fields->json.get("base_checkpoint", redo.base_checkpoint);
    fields->json.get("base_order", redo.base_order);
    fields->json.get_if_there("remade", redo.remade);
    redo.state = state_from(state, journal / redo_file);
    return redo;
}

void RedoRecord::write(const fs::path &journal) const
{
    const Json json = {{"version", notes_version},
                       {"checkpoint", checkpoint},
                       {"state", state_names[static_cast<int>(state)]},
                       {"steps", steps},
                       {"from", from},
                       {"base_checkpoint", base_checkpoint},
                       {"base_order", base_order},
                       {"remade", remade}};
    write_text_file_atomically(journal / redo_file, json.dump(2) + "\n", "redo record");
}

Revealed Revealed::load(const fs::path &journal)
{
    const fs::path path = journal / revealed_file;
    const auto fields = load_fields(path, revealed_version);
    Revealed revealed;

    if (fields) {
        fields->json.get("checkpoint", revealed.checkpoint);
        fields->json.get("is_done", revealed.is_done);
        fields->json.get("outputs", revealed.outputs);
        fields->json.get("outdated", revealed.outdated);
        if (fields->version >= revealed_version) {
            revealed.outdated = with_names(revealed.outdated, [&](const std::string &name) {
                return unescaped(name, path);
            });
        }
    }
    return revealed;
}

void Revealed::write(const fs::path &journal) const
{
    const Json json = {{"version", revealed_version},
                       {"checkpoint", checkpoint},
                       {"is_done", is_done},
                       {"outputs", outputs},
                       {"outdated", with_names(outdated, escaped)}};
    write_text_file_atomically(journal / revealed_file, json.dump(2) + "\n",
                               "note of what is revealed");
}

Dropped Dropped::load(const fs::path &journal)
{
    const auto fields = load_fields(journal / dropped_file);
    Dropped dropped;

    if (fields) {
        fields->json.get("checkpoint", dropped.checkpoint);
        fields->json.get("order", dropped.order);
        fields->json.get("offsets", dropped.offsets);
    }
    return dropped;
}

void Dropped::write(const fs::path &journal) const
{
    const Json json = {{"version", notes_version},
                       {"checkpoint", checkpoint},
                       {"order", order},
                       {"offsets", offsets}};
    write_text_file_atomically(journal / dropped_file, json.dump(2) + "\n",
                               "list of dropped records");
}

} // namespace ckpt::journal
