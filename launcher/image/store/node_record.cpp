/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_record.cpp - writes, reads and removes records of checkpoints on the nodes.
 */
#include "image/store/node_record.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "common/json_bytes.hpp"
#include "image/store/job_directory.hpp"
#include "image/seal/image_key.hpp"
#include "image/io/json_fields.hpp"
#include "image/seal/sealed_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>

namespace ckpt
{

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace
{

constexpr int record_version = 1;
constexpr const char *directory_name = "nodes";
constexpr const char *ending = ".json";
constexpr const char *what = "record of a checkpoint";

fs::path record_path(const fs::path &job, std::uint64_t number)
{
    return job / directory_name / fmt::format("{}{}", number, ending);
}

std::optional<std::uint64_t> number_of(const fs::path &path)
{
    const std::string stem = path.stem();
    std::uint64_t number = 0;
    const auto [end, error] =
        std::from_chars(stem.data(), stem.data() + stem.size(), number);

    if (error != std::errc() || end != stem.data() + stem.size() ||
        path.extension() != ending) {
        return std::nullopt;
    }
    return number;
}

} // namespace

void NodeRecord::write(const fs::path &job) const
{
    CKPT_EXPECT(manifest.number > 0 && directory.is_absolute()); /* other processes go there */
    const Json json = {{"format", record_version},
                       {"manifest", parse_json<Json>(manifest.text())},
                       {"directory", directory.string()},
                       {"protection", protection}};

    make_job_directory(job);
    make_private_directory(job / directory_name);
    write_text_file_atomically(record_path(job, manifest.number),
                               seal_text(dump_json(json, 1) + "\n", what), what);
}

NodeRecord NodeRecord::load(const fs::path &job, std::uint64_t number)
{
    const fs::path path = record_path(job, number);
    const std::string name = "record " + path.string();
    NodeRecord record;
    int version = 0;

    const auto fields =
        JsonFields::parse(open_text(read_own_text_file(path, what), what, name), name);
    fields.get("format", version);
    if (version != record_version) {
        fail("{} has version {}; this program reads version {}", name, version,
             record_version);
    }
    Json manifest;
    fields.get("manifest", manifest);
    std::string directory;
    fields.get("directory", directory);
    record.directory = directory;
    fields.get("protection", record.protection);
    record.manifest = Manifest::parse(dump_json(manifest), name);
    const bool is_of_job =
        !image_key() || record.manifest.job == fs::absolute(job).lexically_normal().filename();
    if (record.manifest.number != number || !is_of_job) {
        fail("{} is that of checkpoint {}/{}", name, record.manifest.job, record.manifest.number);
    }
    return record;
}

std::vector<std::uint64_t> NodeRecord::numbers(const fs::path &job)
{
    const fs::path directory = job / directory_name;
    std::vector<std::uint64_t> found;
    std::error_code error;

    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        if (auto number = number_of(entry->path())) {
            found.push_back(*number);
        }
    }
    if (error && error.value() != ENOENT && error.value() != ENOTDIR) {
        fail_errno(error.value(), "cannot list directory {}", directory.string());
    }
    std::ranges::sort(found);
    return found;
}

void NodeRecord::discard(const fs::path &job, std::uint64_t end,
                         const std::set<std::uint64_t> &stay)
{
    for (std::uint64_t number : numbers(job)) {
        if (number < end && !stay.contains(number)) {
            remove(job, number);
        }
    }
}

void NodeRecord::remove(const fs::path &job, std::uint64_t number)
{
    std::error_code error;
    fs::remove(record_path(job, number), error);
    if (error) {
        fail("cannot remove {}: {}", record_path(job, number).string(), error.message());
    }
}

} // namespace ckpt
