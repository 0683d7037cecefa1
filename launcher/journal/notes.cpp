/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notes.cpp - small JSON files that are replaced as a whole.
 */
#include "config.h"
#include "journal/notes.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "common/json_bytes.hpp"
#include "image/io/json_fields.hpp"

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
    Fields fields{0, JsonFields::parse(read_own_text_file(path, "file"), name)};
    fields.json.get("version", fields.version);
    if (fields.version == 0 || fields.version > newest) {
        fail("{} has version {}, but {} is expected", name, fields.version, newest);
    }
    return fields;
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
    CKPT_EXPECT(static_cast<std::size_t>(state) < std::size(state_names) && from <= steps);
    const Json json = {{"version", notes_version},
                       {"checkpoint", checkpoint},
                       {"state", state_names[static_cast<int>(state)]},
                       {"steps", steps},
                       {"from", from},
                       {"base_checkpoint", base_checkpoint},
                       {"base_order", base_order},
                       {"remade", remade}};
    write_text_file_atomically(journal / redo_file, dump_json(json, 2) + "\n", "redo record");
}

Revealed Revealed::load(const fs::path &journal)
{
    const auto fields = load_fields(journal / revealed_file);
    Revealed revealed;

    if (fields) {
        fields->json.get("checkpoint", revealed.checkpoint);
        fields->json.get("is_done", revealed.is_done);
        fields->json.get("outputs", revealed.outputs);
        fields->json.get("outdated", revealed.outdated);
    }
    return revealed;
}

void Revealed::write(const fs::path &journal) const
{
    const Json json = {{"version", notes_version},
                       {"checkpoint", checkpoint},
                       {"is_done", is_done},
                       {"outputs", outputs},
                       {"outdated", outdated}};
    write_text_file_atomically(journal / revealed_file, dump_json(json, 2) + "\n",
                               "note of revealed outputs");
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
    write_text_file_atomically(journal / dropped_file, dump_json(json, 2) + "\n",
                               "list of dropped records");
}

} // namespace ckpt::journal
