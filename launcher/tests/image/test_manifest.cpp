/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_manifest.cpp - manifests are written whole, and checked when read.
 */
#include "config.h"
#include "image/store/manifest.hpp"

#include "common/durations.hpp"
#include "common/files/files.hpp"
#include "image/store/checkpoint_files.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

using namespace ckpt;
using namespace ckpt::test;
using Json = nlohmann::ordered_json;

namespace
{

Manifest sample()
{
    Manifest manifest;
    manifest.job = "melt-1";
    manifest.number = 4;
    manifest.created = 1'700'000'000'123'456'789;
    manifest.epoch = 7;
    manifest.hosts = {"n1", "n2"};
    manifest.rank_count = 3;
    manifest.pieces = {{"node-n1.h5", "n1", 1000, 0xfedcba9876543210, {0, 2}},
                       {"node-n2.h5", "n2", 500, 1, {1}}};
    manifest.launch.launcher = {"mpirun", "-np", "3", "--tune", "ckpt"};
    manifest.launch.launcher_directory = "/home/u/melt";
    manifest.launch.application = {"./melt", "-in", "a b \"c\"\n"};
    manifest.launch.waiting_parent = {"sh", "-c", "./melt; mv a b"};
    manifest.launch.environment = {{"CKPT_INTERVAL", "10m"}};
    manifest.launch.facts = {{"mpi", "Open MPI 4.1.4"}};
    manifest.timings = {0.5, 0.25, 0.125, 0.0625};
    manifest.cost.messages = {{"alignment", 6}};
    manifest.cost.cross_cut_bytes = 1ULL << 40;
    manifest.cost.stood_still = {0.0625, 0.125, 0.5};
    manifest.codec = "zstd:1";
    manifest.snapshot = "cow";
    manifest.standing = 3;
    manifest.software = "ckpt 0.2.0";
    return manifest;
}

std::string error_for(const std::string &text)
{
    return error_of([&] { Manifest::parse(text, "m.json"); });
}

/* Returns the error for the sample with one change. */
std::string error_with(const std::function<void(Json &)> &change)
{
    Json json = Json::parse(sample().text());
    change(json);
    return error_for(json.dump());
}

} // namespace

TEST(Manifest, ComesBackWhole)
{
    ScratchDirectory scratch;
    sample().write(scratch.path());
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"manifest.json"});
    struct stat status;
    ASSERT_EQ(::stat((scratch / "manifest.json").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);

    Manifest loaded = Manifest::load(scratch.path());
    EXPECT_EQ(loaded.text(), sample().text());
    EXPECT_EQ(loaded.created, sample().created);
    EXPECT_EQ(loaded.piece_of(1).file, "node-n2.h5");
    EXPECT_EQ(loaded.piece_of(2).checksum, 0xfedcba9876543210);
    EXPECT_EQ(loaded.bytes(), 1500u);
    EXPECT_EQ(loaded.cost.messages, sample().cost.messages);
    EXPECT_EQ(loaded.cost.cross_cut_bytes, 1ULL << 40);
    EXPECT_EQ(loaded.cost.stood_still.median, 0.125);
    EXPECT_EQ(loaded.launch.application, sample().launch.application);
    EXPECT_EQ(loaded.launch.waiting_parent, sample().launch.waiting_parent);
    EXPECT_NE(error_of([&] { (void)loaded.piece_of(3); }).find("no rank 3"),
              std::string::npos);
}

TEST(Manifest, TakesArgumentsThatAreNotUtf8)
{
    Manifest manifest = sample();
    manifest.launch.application = {"./a", "caf\xe9"};
    EXPECT_EQ(Manifest::parse(manifest.text(), "m").launch.application[0],
              "./a");
}

TEST(Manifest, SaysWhatIsWrongWithTheFile)
{
    ScratchDirectory scratch;
    auto error = [&] {
        return error_of([&] { Manifest::load(scratch.path()); });
    };
    EXPECT_NE(error().find("No such file"), std::string::npos);
    std::ofstream(scratch / "manifest.json");
    EXPECT_NE(error().find("manifest.json is empty"), std::string::npos);
    std::ofstream(scratch / "manifest.json") << "{\"format\": 1,";
    EXPECT_NE(error().find("is not JSON"), std::string::npos);
    std::filesystem::remove(scratch / "manifest.json");
    std::filesystem::create_directory(scratch / "manifest.json");
    EXPECT_NE(error().find("not a regular file"), std::string::npos);
}

TEST(Manifest, EveryTruncationIsFound)
{
    std::string text = sample().text();
    for (std::size_t length = 0; length + 2 < text.size(); length++) {
        EXPECT_NE(error_for(text.substr(0, length)), "") << length;
    }
}

TEST(Manifest, SaysWhichFieldIsWrong)
{
    const std::set<std::string> of_newer_ones = {"protocol", "cost", "snapshot",
                                                 "standing"};
    Json json = Json::parse(sample().text());
    for (const auto &[field, value] : json.items()) {
        std::string text =
            error_with([&](Json &changed) { changed.erase(field); });
        if (of_newer_ones.contains(field)) {
            EXPECT_EQ(text, "");
        } else {
            EXPECT_NE(text.find("'" + field + "' is missing"), std::string::npos)
                << text;
        }
        text = error_with([&](Json &changed) {
            changed[field] = value.is_string() ? Json(5) : Json("word");
        });
        EXPECT_NE(text, "") << field;
    }
    EXPECT_NE(error_with([](Json &json) {
                  json["pieces"][1].erase("bytes");
              }).find("pieces[1]: field 'bytes' is missing"),
              std::string::npos);
    EXPECT_NE(error_with([](Json &json) { json["number"] = -4; }), "");
    EXPECT_NE(error_with([](Json &json) { json["created"] = "today"; })
                  .find("'today' is not a time"),
              std::string::npos);
    EXPECT_NE(error_with([](Json &json) {
                  json["pieces"][0]["checksum"] = "12";
              }).find("'12' is not a checksum"),
              std::string::npos);
    for (const char *name : {"../x.h5", "/etc/passwd", "", ".."}) {
        EXPECT_NE(error_with([&](Json &json) {
                      json["pieces"][0]["file"] = name;
                  }).find("is not a file name"),
                  std::string::npos);
    }
}

TEST(Manifest, OtherVersionsAreRefused)
{
    EXPECT_NE(error_with([](Json &json) {
                  json = {{"format", 9}};
              }).find("newer version 9"),
              std::string::npos);
}

TEST(Manifest, EachRankMustBeInOnePiece)
{
    auto with_ranks = [](std::vector<int> ranks) {
        return error_with(
            [&](Json &json) { json["pieces"][1]["ranks"] = ranks; });
    };
    EXPECT_NE(with_ranks({}).find("rank 1 is in no piece"), std::string::npos);
    EXPECT_NE(with_ranks({1, 2}).find("rank 2 is in two pieces"),
              std::string::npos);
    EXPECT_NE(with_ranks({1, 3}).find("there are 3 ranks"), std::string::npos);
    EXPECT_NE(error_with([](Json &json) { json["rank_count"] = 0; })
                  .find("impossible"),
              std::string::npos);
}

TEST(Manifest, WriterThatDiesLeavesTheOldOne)
{
    ScratchDirectory scratch;
    sample().write(scratch.path());
    int status = run_in_child([&] {
        ::setenv("CKPT_FAULT", "text-file-before-rename", 1);
        Manifest other = sample();
        other.number = 5;
        other.write(scratch.path());
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    EXPECT_EQ(Manifest::load(scratch.path()).number, 4u);
    sample().write(scratch.path());
    EXPECT_EQ(Manifest::load(scratch.path()).number, 4u);
    /* Leftovers of the dead agent go with the checkpoint. */
    EXPECT_EQ(scratch.names(), (std::vector<std::string>{"manifest.json", "manifest.json.tmp"}));
    EXPECT_TRUE(std::ranges::all_of(scratch.names(), &is_checkpoint_file));
}

TEST(Manifest, TellsWhoWasReplayed)
{
    Manifest manifest = sample();
    EXPECT_EQ(manifest.text().find("replayed"), std::string::npos);
    EXPECT_TRUE(Manifest::parse(manifest.text(), "m.json").replayed.empty());
    manifest.replayed = {1};
    EXPECT_EQ(Manifest::parse(manifest.text(), "m.json").replayed, std::vector<int>{1});
    EXPECT_EQ(error_with([](Json &json) { json["replayed"] = {3}; }),
              "m.json: rank 3 was replayed, but there are 3 ranks");
    EXPECT_NE(error_with([](Json &json) { json["replayed"] = "1"; }), "");
}
