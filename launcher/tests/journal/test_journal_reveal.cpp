/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_journal_reveal.cpp - concealed outputs become visible to others when a checkpoint commits.
 */
#include "common/error.hpp"
#include "journal/concealed.hpp"
#include "journal/notes.hpp"
#include "journal/reveal.hpp"
#include "tests/journal/journal_fixture.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

using journal::Revealing;
using test::JournalTest;
using test::read_file;
using test::write_file;

class Reveal : public JournalTest
{
  protected:
    Reveal()
    {
        journal::set_concealed(journal, true);
        fs::create_directory(place_);
        fs::create_symlink(place_, journal / (CKPT_JOURNAL_PLACE_PREFIX "1"));
        provide(path(""));
    }

    /* Makes the private directories through which the visible ones show. */
    void provide(const fs::path &visible)
    {
        fs::path made = place_;
        for (const fs::path &part : visible.lexically_normal().relative_path()) {
            if (part.empty()) {
                continue;
            }
            made /= part;
            fs::create_directory(made);
            if (!fs::is_symlink(made / CKPT_JOURNAL_MERGED)) {
                fs::create_symlink(CKPT_JOURNAL_MERGED, made / CKPT_JOURNAL_MERGED);
            }
        }
    }

    std::string shadow(const std::string &name) const { return place_.string() + path(name); }

    void produce(const std::string &name, ckpt_journal_product product)
    {
        writer.record(CKPT_JOURNAL_PRODUCED, path(name), "", "", 0, 0, product);
    }

    /* Makes a file as a process does. */
    void make(const std::string &name, const std::string &content)
    {
        writer.create(shadow(name), content);
        produce(name, CKPT_JOURNAL_WAS_WRITTEN);
    }

    void hide(const std::string &name)
    {
        writer.record(CKPT_JOURNAL_PRODUCED, path(name), "", "", 0, 0, CKPT_JOURNAL_WAS_REMOVED);
        writer.make_symlink(CKPT_JOURNAL_GONE, shadow(name));
    }

    void say(const std::string &text)
    {
        writer.record(CKPT_JOURNAL_OUTPUT, "", "", text);
    }

    std::vector<std::string> reveal(std::uint64_t checkpoint)
    {
        const int fd = ::open(output_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        Revealing wish;
        wish.journal = journal;
        wish.checkpoint = checkpoint;
        wish.output = fd;
        auto warnings = journal::reveal(wish);
        ::close(fd);
        return warnings;
    }

    std::string output() const { return fs::exists(output_) ? read_file(output_) : ""; }

    const fs::path place_ = top / (CKPT_JOURNAL_CONCEALED_PREFIX "1f");
    const fs::path output_ = top / "output";
};

using Warnings = std::vector<std::string>;

/* Kills a revealing at a point, or not at all. */
class RevealFaults : public Reveal, public testing::WithParamInterface<test::Point>
{
  public:
    static constexpr int never = 99;

  protected:
    /* The program removes one file after the checkpoint, and replaces another. */
    void reveal_partly()
    {
        make("removed", "1");
        make("replaced", "1");
        make("unchanged", "1");
        writer.mark(5);
        writer.unlink(shadow("removed"));
        writer.record(CKPT_JOURNAL_PRODUCED, path("removed"), "", "", 0, 0,
                      CKPT_JOURNAL_WAS_REMOVED);
        writer.create(shadow("new"), "2");
        writer.rename(shadow("new"), shadow("replaced"));
        produce("replaced", CKPT_JOURNAL_WAS_WRITTEN);
        const int signal = test::killed_at(GetParam(), [&] { (void)reveal(5); });
        EXPECT_EQ(signal, std::get<1>(GetParam()) == never ? 0 : SIGKILL);
        writer.mark(6);
    }

    void expect_all()
    {
        EXPECT_FALSE(fs::exists(path("removed")));
        EXPECT_EQ(read_file(path("replaced")), "2");
        EXPECT_EQ(read_file(path("unchanged")), "1");
    }
};

} // namespace

TEST_P(RevealFaults, NextCheckpointRevealsTheRest)
{
    reveal_partly();
    EXPECT_EQ(reveal(6), Warnings());
    expect_all();
}

TEST_P(RevealFaults, EndOfTheJobRevealsTheRest)
{
    reveal_partly();
    EXPECT_EQ(reveal(0), Warnings());
    expect_all();
}

TEST_P(RevealFaults, RestartRevealsTheRest)
{
    reveal_partly();
    EXPECT_EQ(bring_back(6).warnings, Warnings());
    expect_all();
}

INSTANTIATE_TEST_SUITE_P(Points, RevealFaults,
                         testing::Values(test::Point("reveal-after-intent", 1),
                                         test::Point("reveal-after-step", 1),
                                         test::Point("reveal-after-step", 2),
                                         test::Point("reveal-after-step", 3),
                                         test::Point("reveal-after-step", RevealFaults::never),
                                         test::Point("reveal-before-done", 1)));

TEST_F(Reveal, WhatWasMadeBefore)
{
    make("before", "1");
    writer.mark(5);
    make("after", "2");
    EXPECT_EQ(reveal(5), Warnings());
    EXPECT_EQ(read_file(path("before")), "1");
    EXPECT_FALSE(fs::exists(path("after")));
    EXPECT_FALSE(fs::exists(shadow("before"))); /* it was renamed */
    EXPECT_EQ(reveal(5), Warnings());
    writer.mark(6);
    EXPECT_EQ(reveal(6), Warnings());
    EXPECT_EQ(read_file(path("after")), "2");
}

TEST_F(Reveal, FileThatIsChangedAfterwards)
{
    make("file", "at the checkpoint");
    writer.mark(5);
    writer.append(shadow("file"), ", and later");
    writer.rewrite(shadow("file"), 0, "At");
    EXPECT_EQ(reveal(5), Warnings());
    EXPECT_EQ(read_file(path("file")), "at the checkpoint");
    EXPECT_EQ(read_file(shadow("file")), "At the checkpoint, and later");
}

TEST_F(Reveal, FileThatIsOpen)
{
    make("file", "1");
    writer.mark(5);
    const int fd = ::open(shadow("file").c_str(), O_WRONLY | O_APPEND);
    EXPECT_EQ(reveal(5), Warnings());
    ASSERT_EQ(::write(fd, "2", 1), 1);
    ::close(fd);
    EXPECT_EQ(read_file(path("file")), "1");
    EXPECT_EQ(read_file(shadow("file")), "12");
}

/* A restarted program opens the concealed file again; until then no process has it open. */
TEST_F(Reveal, FileThatWasOpenAtTheCheckpoint)
{
    make("file", "1");
    produce("file", CKPT_JOURNAL_WAS_OPENED);
    writer.mark(5);
    EXPECT_EQ(reveal(5), Warnings());
    EXPECT_EQ(read_file(path("file")), "1");
    writer.append(shadow("file"), "2");
    EXPECT_EQ(read_file(path("file")), "1");
    EXPECT_EQ(read_file(shadow("file")), "12");
    produce("file", CKPT_JOURNAL_WAS_WRITTEN);
    writer.mark(6);
    EXPECT_EQ(reveal(6), Warnings());
    EXPECT_EQ(read_file(path("file")), "12");
    EXPECT_FALSE(fs::exists(shadow("file")));
}

TEST_F(Reveal, FileThatIsRemovedAfterwards)
{
    make("file", "1");
    writer.mark(5);
    writer.unlink(shadow("file"));
    EXPECT_EQ(reveal(5), Warnings());
    EXPECT_EQ(read_file(path("file")), "1");
    /* The program does not see it again. */
    EXPECT_TRUE(journal::is_gone(shadow("file")));
    writer.mark(6);
    EXPECT_EQ(reveal(6), Warnings());
    EXPECT_FALSE(fs::exists(path("file")));
}

/* Removed files are recorded by name, which may have any bytes. */
TEST_F(Reveal, NameThatIsNoTextIsRemovedAfterwards)
{
    const std::string name = "caf\xe9 100%\xff";
    make(name, "1");
    writer.mark(5);
    writer.unlink(shadow(name));
    EXPECT_EQ(reveal(5), Warnings());
    EXPECT_EQ(read_file(path(name)), "1");
    const auto noted = journal::Revealed::load(journal).outdated;
    ASSERT_EQ(noted.size(), 1u);
    EXPECT_EQ(noted.begin()->first, path(name));
    writer.mark(6);
    EXPECT_EQ(reveal(6), Warnings());
    EXPECT_FALSE(fs::exists(path(name)));
}

TEST_F(Reveal, NotesHaveNamesAsTheyAre)
{
    write_file(journal / "revealed", R"({"version": 1, "checkpoint": 5, "is_done": true,)"
                                     R"( "outputs": {}, "outdated": {"/d/100%25": 7}})");
    EXPECT_EQ(journal::Revealed::load(journal).outdated.begin()->first, "/d/100%25");
}

TEST_F(Reveal, VisibleFileThatIsRemoved)
{
    hide("old");
    writer.mark(5);
    EXPECT_TRUE(fs::exists(path("old")));
    EXPECT_EQ(reveal(5), Warnings());
    EXPECT_FALSE(fs::exists(path("old")));
}

TEST_F(Reveal, FileOfAnotherProgramStays)
{
    hide("old");
    writer.mark(5);
    write_file(path("another"), "made by somebody else");
    fs::rename(path("another"), path("old"));
    EXPECT_EQ(reveal(5).size(), 1u);
    EXPECT_EQ(read_file(path("old")), "made by somebody else");
}

TEST_F(Reveal, DirectoryThatWasRenamedAppearsAsAWhole)
{
    writer.make_directory(shadow("tmp"));
    produce("tmp", CKPT_JOURNAL_WAS_MADE);
    make("tmp/a", "1");
    make("tmp/b", "2");
    writer.move_directory(shadow("tmp"), shadow("final"));
    produce("final", CKPT_JOURNAL_WAS_RENAMED);
    writer.mark(5);
    writer.append(shadow("final/b"), " and more");
    writer.unlink(shadow("final/a"));
    EXPECT_EQ(reveal(5), Warnings());
    EXPECT_EQ(read_file(path("final/a")), "1");
    EXPECT_EQ(read_file(path("final/b")), "2");
    EXPECT_TRUE(journal::is_gone(shadow("final/a")));
    EXPECT_EQ(read_file(shadow("final/b")), "2 and more");
    EXPECT_FALSE(fs::exists(path("tmp")));
}

/* The program renames it back and forth. Its records name the visible directory, but not the copy
 * of an open file in it. */
TEST_F(Reveal, DirectoryWithACopyIsReplaced)
{
    writer.make_directory(shadow("d"));
    produce("d", CKPT_JOURNAL_WAS_MADE);
    make("d/note", "1");
    produce("d/note", CKPT_JOURNAL_WAS_OPENED);
    writer.mark(5);
    EXPECT_EQ(reveal(5), Warnings());
    EXPECT_EQ(read_file(path("d/note")), "1");
    writer.mark(6);
    EXPECT_EQ(reveal(6), Warnings()); /* the copy has its present state */
    writer.unlink(shadow("d/" CKPT_JOURNAL_MERGED));
    produce("d", CKPT_JOURNAL_WAS_REMOVED);
    writer.move_directory(shadow("d"), shadow("e"));
    writer.move_directory(shadow("e"), shadow("d"));
    produce("d", CKPT_JOURNAL_WAS_RENAMED);
    writer.append(shadow("d/note"), "2");
    produce("d/note", CKPT_JOURNAL_WAS_WRITTEN);
    writer.mark(7);
    EXPECT_EQ(reveal(7), Warnings());
    EXPECT_EQ(read_file(path("d/note")), "12");
    EXPECT_FALSE(fs::exists(shadow("d/note")));
}

/* What another program has made in the directory stays, beside what this one has made. */
TEST_F(Reveal, DirectoryWithAFileOfAnotherProgramIsReplaced)
{
    writer.make_directory(shadow("d"));
    produce("d", CKPT_JOURNAL_WAS_MADE);
    writer.mark(5);
    EXPECT_EQ(reveal(5), Warnings());
    write_file(path("d/other"), "made by somebody else");
    writer.unlink(shadow("d/" CKPT_JOURNAL_MERGED));
    produce("d", CKPT_JOURNAL_WAS_REMOVED);
    writer.move_directory(shadow("d"), shadow("e"));
    make("e/note", "1");
    writer.move_directory(shadow("e"), shadow("d"));
    produce("d", CKPT_JOURNAL_WAS_RENAMED);
    writer.mark(6);
    EXPECT_EQ(reveal(6), Warnings());
    EXPECT_EQ(read_file(path("d/note")), "1");
    EXPECT_EQ(read_file(path("d/other")), "made by somebody else");
}

TEST_F(Reveal, LinesInTheOrderOfTheirProductionAndOnce)
{
    test::JournalWriter other{journal, "host", 200, 1, clock};
    say("a ");
    other.record(CKPT_JOURNAL_OUTPUT, "", "", "other\n");
    say("line\n");
    writer.mark(5);
    say("later\n");
    other.mark(5);
    EXPECT_EQ(reveal(5), Warnings());
    EXPECT_EQ(output(), "other\na line\n");
    EXPECT_EQ(reveal(5), Warnings());
    EXPECT_EQ(output(), "other\na line\n");
    EXPECT_EQ(reveal(0), Warnings());
    EXPECT_EQ(output(), "other\na line\nlater\n");
}

TEST_F(Reveal, RollBackDropsWhatWasNotRevealed)
{
    make("before", "1");
    writer.mark(5);
    make("after", "2");
    say("never seen\n");
    EXPECT_EQ(bring_back(5).warnings, Warnings());
    EXPECT_EQ(read_file(path("before")), "1");
    EXPECT_FALSE(fs::exists(path("after")));
    EXPECT_FALSE(fs::exists(place_));
    EXPECT_EQ(output(), "");
}

TEST_F(Reveal, OlderCheckpointIsOutOfReach)
{
    make("first", "1");
    writer.mark(5);
    make("second file", "2");
    writer.mark(6);
    EXPECT_EQ(reveal(6), Warnings());
    EXPECT_THROW((void)bring_back(5), Error);
    EXPECT_EQ(read_file(path("second file")), "2");
    EXPECT_EQ(bring_back(6).warnings, Warnings());
}

TEST_F(Reveal, ObjectThatCannotBeRevealedIsNamed)
{
    make("directory", "a file in the place of a directory of others");
    writer.mark(5);
    const auto warnings = reveal(5);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(path("directory")), std::string::npos);
    EXPECT_EQ(read_file(path("directory/inside")), "inside\n");
    EXPECT_TRUE(fs::exists(shadow("directory")));
}

} // namespace ckpt
