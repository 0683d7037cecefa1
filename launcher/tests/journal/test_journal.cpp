/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_journal.cpp - rollback of files to a checkpoint: each kind of record, several processes, and
 * refusals that change nothing.
 */
#include "common/error.hpp"
#include "journal/drop.hpp"
#include "journal/kept_files.hpp"
#include "journal/rollback.hpp"
#include "tests/journal/journal_fixture.hpp"
#include "tests/common/mutations.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <set>

namespace ckpt
{

namespace
{

using journal::Files;
using test::JournalTest;
using test::look_at;

class Rollback : public JournalTest
{
};

std::string text_of(const journal::Record &record)
{
    return std::to_string(record.head.type) + " " + std::to_string(record.head.order) + " " +
           record.path + " " + record.other;
}

/* Returns the reason why the rollback is refused; the tree must be unchanged. */
std::string refusal(const JournalTest &test, Files files = Files::roll_back)
{
    const auto before = look_at(test.top);
    try {
        test.bring_back(5, files);
    } catch (const Error &problem) {
        EXPECT_EQ(test::difference(before, look_at(test.top)), "");
        return problem.what();
    }
    ADD_FAILURE() << "it was not refused";
    return "";
}

} // namespace

/* The note is a file: whatever it says, nothing of this process is wrong. */
TEST_F(Rollback, ANoteOfAStepThatThePlanDoesNotHaveIsRefused)
{
    checkpoint(5);
    test::write_file(journal / "rollback",
                     R"({"version": 1, "checkpoint": 5, "state": "undoing", "steps": 0, "from": 1,
                         "base_checkpoint": 0, "base_order": 0, "remade": {}})");
    EXPECT_THROW(bring_back(5), Error);
    EXPECT_THROW(bring_back(5, Files::ignore), Error);
    expect_remembered();
}

TEST_F(Rollback, NothingToDo)
{
    remember();
    writer.mark(5);
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, FileThatWasCreated)
{
    checkpoint(5);
    writer.create(path("new"), "text");
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, FileThatGrew)
{
    checkpoint(5);
    writer.append(path("old"), "more");
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, FileThatWasRewrittenInPlace)
{
    checkpoint(5);
    writer.rewrite(path("old"), 2, "XXXX");
    writer.rewrite(path("old"), 4, "YYYYYY");
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, FileThatWasEmptied)
{
    checkpoint(5);
    writer.replace_content(path("old"), "other");
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, FileThatWasRemoved)
{
    checkpoint(5);
    writer.unlink(path("old"));
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, FileThatWasReplaced)
{
    checkpoint(5);
    for (int i = 0; i < 3; i++) {
        writer.create(path("tmp"), std::to_string(i));
        writer.rename(path("tmp"), path("old"));
    }
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, RemovedFileThatWasWrittenToAfterwards)
{
    checkpoint(5);
    writer.append(path("old"), "more");
    writer.unlink(path("old"));
    writer.create(path("old"), "another one");
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, DirectoriesThatMoved)
{
    checkpoint(5);
    writer.create(path("directory/new"), "1");
    writer.move_directory(path("directory"), path("moved"));
    writer.append(path("moved/inside"), "more");
    writer.create(path("moved/late"), "2");
    writer.make_directory(path("directory"));
    writer.create(path("directory/other"), "3");
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, NamesThatWereExchanged)
{
    checkpoint(5);
    writer.exchange(path("directory"), path("second"));
    bring_back(5);
    expect_remembered();
}

/* A file made since the checkpoint is gone when everything is undone: the record of its removal has
 * a name that was free. */
TEST_F(Rollback, NewFileThatWasExchangedAndRemoved)
{
    checkpoint(5);
    writer.create(path("tmp"), "new");
    writer.exchange(path("directory"), path("tmp"));
    writer.record(CKPT_JOURNAL_ABSENT, path("directory"));
    std::filesystem::remove(path("directory"));
    bring_back(5);
    expect_remembered();
}

/* The rollback makes it again, with another inode. */
TEST_F(Rollback, DirectoryThatMovedAndWasRemoved)
{
    checkpoint(5);
    writer.move_directory(path("empty"), path("once"));
    writer.move_directory(path("once"), path("twice"));
    writer.remove_directory(path("twice"));
    writer.create(path("empty"), "something else");
    bring_back(5);
    expect_remembered();
}

/* A failed rename has a record, too. */
TEST_F(Rollback, DirectoryThatDidNotMoveAndWasRemoved)
{
    checkpoint(5);
    writer.record(CKPT_JOURNAL_DIRECTORY, path("second"));
    writer.record(CKPT_JOURNAL_MOVED, path("empty"), path("second"));
    writer.remove_directory(path("empty"));
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, LinksModesAndEmptyDirectories)
{
    checkpoint(5);
    writer.make_symlink("elsewhere", path("link"));
    writer.change_mode(path("old"), 0600);
    writer.remove_directory(path("empty"));
    writer.make_directory(path("new directory\nwith \xff odd name"));
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, OrderOfSeveralProcesses)
{
    test::JournalWriter other(journal, "host", 200, 1, clock);
    remember();
    writer.mark(5);
    other.mark(5);
    writer.rewrite(path("old"), 0, "AAAA");
    other.rewrite(path("old"), 2, "BBBB");
    writer.rewrite(path("old"), 3, "CCCC");
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, ProcessThatBeganLater)
{
    checkpoint(5);
    test::JournalWriter child(journal, "host", 300, -1, clock);
    child.create(path("by child"), "text");
    child.unlink(path("old"));
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, LaterCheckpointsAreConsumed)
{
    checkpoint(5);
    writer.append(path("old"), "more");
    writer.mark(6);
    writer.append(path("old"), "and more");
    bring_back(5);
    expect_remembered();
    EXPECT_THROW(bring_back(6), Error);
}

TEST_F(Rollback, LaterCheckpointsStayIfNothingHasChanged)
{
    checkpoint(5);
    writer.mark(6);
    bring_back(5);
    test::JournalWriter again(journal, "host", 400, 0, clock);
    again.append(path("old"), "more");
    bring_back(6);
    expect_remembered();
}

TEST_F(Rollback, TwiceFromOneCheckpoint)
{
    checkpoint(5);
    writer.append(path("old"), "more");
    bring_back(5);
    test::JournalWriter again(journal, "host", 400, 0, clock);
    again.unlink(path("old"));
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, StartOfTheJob)
{
    remember();
    journal::begin_run(journal);
    writer.create(path("new"), "text");
    writer.unlink(path("old"));
    bring_back(0);
    expect_remembered();
}

TEST_F(Rollback, KeptFileThatIsGone)
{
    checkpoint(5);
    writer.unlink(path("old"));
    for (const auto &kept : std::filesystem::directory_iterator(journal / "kept")) {
        std::filesystem::remove(kept.path());
    }
    EXPECT_NE(refusal(*this).find("old"), std::string::npos);
}

/* Changes the size of the only kept file. */
void resize_kept(const JournalTest &test, std::uint64_t size)
{
    for (const auto &kept : std::filesystem::directory_iterator(test.journal / "kept")) {
        std::filesystem::resize_file(kept.path(), size);
    }
}

TEST_F(Rollback, CopyThatIsTooShort)
{
    checkpoint(5);
    writer.create(path("later"), "removed first by a rollback");
    writer.unlink(path("old"), true);
    resize_kept(*this, 3);
    EXPECT_NE(refusal(*this).find("has 3 bytes and not 12"), std::string::npos);
}

TEST_F(Rollback, CopyThatIsTooLong)
{
    checkpoint(5);
    writer.unlink(path("old"), true);
    resize_kept(*this, 100);
    EXPECT_NE(refusal(*this).find("has 100 bytes and not 12"), std::string::npos);
}

TEST_F(Rollback, CopyThatIsTooLongWithContentThatIsReplaced)
{
    checkpoint(5);
    writer.rewrite(path("old"), 0, "OLD CONTENT");
    writer.unlink(path("old"), true);
    resize_kept(*this, 100);
    bring_back(5);
    EXPECT_EQ(test::read_file(path("old")), "old content\n");
}

TEST_F(Rollback, FileThatSomebodyElseHasCut)
{
    checkpoint(5);
    writer.append(path("old"), "more");
    std::filesystem::resize_file(path("old"), 3);
    EXPECT_NE(refusal(*this).find("old"), std::string::npos);
}

TEST_F(Rollback, FileThatSomebodyElseHasChanged)
{
    remember();
    writer.mark(5);
    writer.state(path("old"));
    test::write_file(path("old"), "another one");
    EXPECT_NE(refusal(*this).find("--files ignore"), std::string::npos);
    EXPECT_NE(refusal(*this, Files::check).find("old"), std::string::npos);
    bring_back(5, Files::ignore);
}

/* Changes the content of a file, and restores its times. */
void change_within_a_tick(const std::string &path, const std::string &content)
{
    struct stat before = {};
    ASSERT_EQ(::stat(path.c_str(), &before), 0);
    test::write_file(path, content);
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST_F(Rollback, FileThatSomebodyElseHasChangedWithinATick)
{
    remember();
    writer.mark(5);
    writer.hashed_state(path("old"));
    change_within_a_tick(path("old"), "OLD content\n");
    EXPECT_NE(refusal(*this).find("another content"), std::string::npos);
}

TEST_F(Rollback, FileThatHadJustChangedAndStays)
{
    remember();
    writer.mark(5);
    writer.hashed_state(path("old"));
    writer.append(path("old"), "more");
    EXPECT_TRUE(bring_back(5).warnings.empty());
    expect_remembered();
}

TEST_F(Rollback, FileThatHadJustChangedAndIsRewritten)
{
    remember();
    writer.mark(5);
    writer.hashed_state(path("old"));
    writer.rewrite(path("old"), 0, "OLD");
    EXPECT_TRUE(bring_back(5).warnings.empty());
    expect_remembered();
}

/* For a large file, both ends are compared. */
TEST_F(Rollback, LargeFileThatSomebodyElseHasChangedWithinATick)
{
    const std::string content(5 << 20, 'a');
    test::write_file(path("large"), content);
    remember();
    writer.mark(5);
    writer.hashed_state(path("large"));
    change_within_a_tick(path("large"), content.substr(1) + "b");
    EXPECT_NE(refusal(*this).find("large"), std::string::npos);
}

TEST_F(Rollback, InputThatHasChangedIsAWarning)
{
    remember();
    writer.mark(5);
    writer.state(path("old"), false);
    test::write_file(path("old"), "another one");
    const auto outcome = bring_back(5);
    ASSERT_EQ(outcome.warnings.size(), 1u);
    EXPECT_NE(outcome.warnings[0].find("old"), std::string::npos);
}

TEST_F(Rollback, LogThatWasRotatedIsAWarning)
{
    remember();
    writer.mark(5);
    writer.state(path("old"));
    writer.append(path("old"), "more");
    std::filesystem::rename(path("old"), path("old.1"));
    EXPECT_EQ(bring_back(5).warnings.size(), 1u);
    EXPECT_FALSE(std::filesystem::exists(path("old")));
    EXPECT_EQ(test::read_file(path("old.1")), "old content\nmore");
}

TEST_F(Rollback, DirectoryWithForeignFiles)
{
    checkpoint(5);
    writer.make_directory(path("new"));
    test::write_file(path("new/foreign"), "not ours");
    EXPECT_NE(refusal(*this).find("new"), std::string::npos);
    EXPECT_EQ(test::read_file(path("new/foreign")), "not ours");
}

TEST_F(Rollback, TornTailOfALog)
{
    checkpoint(5);
    writer.append(path("old"), "more");
    std::ofstream(writer.log(), std::ios::app | std::ios::binary) << "CKJLtorn";
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, DamagedLog)
{
    checkpoint(5);
    const auto at = std::filesystem::file_size(writer.log());
    writer.append(path("old"), "more");
    writer.append(path("old"), "more");
    std::fstream file(writer.log(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at) + 60);
    file.put('\x55');
    file.close();
    EXPECT_NE(refusal(*this).find("damaged"), std::string::npos);
}

TEST_F(Rollback, ManyRecords)
{
    constexpr int files = 20000;
    checkpoint(5);
    for (int i = 0; i < files; i++) {
        writer.create(path("f" + std::to_string(i)), "");
    }
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, OldRecordsAreDropped)
{
    writer.unlink(path("second/file"));
    writer.mark(4);
    checkpoint(5);
    writer.unlink(path("old"));
    journal::drop_before(journal, 5);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(journal / "kept"), {}), 1);
    EXPECT_THROW(bring_back(4), Error);
    bring_back(5);
    expect_remembered();
}

TEST_F(Rollback, ForgottenJournalLeavesForeignFiles)
{
    checkpoint(5);
    writer.unlink(path("old"));
    test::write_file(journal / "foreign", "not ours");
    journal::forget(journal);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(journal), {}), 1);
    std::filesystem::remove(journal / "foreign");
    journal::forget(journal);
    EXPECT_TRUE(!std::filesystem::exists(journal) || std::filesystem::is_empty(journal));
}

TEST_F(Rollback, RecordsAreNotDroppedUnderARollback)
{
    writer.append(path("old"), "more");
    checkpoint(5);
    {
        const Fd lock = journal::lock_records(journal, LOCK_EX);
        journal::drop_before(journal, 5);
    }
    EXPECT_EQ(journal::Journal::read(journal).dropped.checkpoint, 0u);
    journal::drop_before(journal, 5);
    EXPECT_EQ(journal::Journal::read(journal).dropped.checkpoint, 5u);
}

TEST_F(Rollback, GreatestMarkIsKnownWhenItIsGone)
{
    EXPECT_EQ(journal::Journal::read(journal).greatest_mark(), 0u);
    writer.mark(7);
    writer.mark(3);
    EXPECT_EQ(journal::Journal::read(journal).greatest_mark(), 7u);
    writer.append(path("old"), "more");
    bring_back(7);
    writer.mark(5);
    std::filesystem::remove(writer.log());
    EXPECT_EQ(journal::Journal::read(journal).greatest_mark(), 7u);
}

/* The content belongs into the copy, whose inode and directory have changed. */
TEST_F(Rollback, CopyInADirectoryThatMoved)
{
    checkpoint(5);
    writer.rewrite(path("directory/inside"), 0, "IN");
    writer.move_directory(path("directory"), path("moved"));
    writer.unlink(path("moved/inside"), true);
    bring_back(5);
    EXPECT_EQ(test::read_file(path("directory/inside")), "inside\n");
    EXPECT_FALSE(std::filesystem::exists(path("moved")));
}

TEST_F(Rollback, CheckpointWithoutAMark)
{
    journal::Wish wish;
    wish.journal = journal;
    wish.name = "checkpoint job/1";
    wish.has_mark = false;
    EXPECT_EQ(journal::bring_back(wish).undone, 0u) << "nothing was changed";
    writer.append(path("old"), "more");
    for (const auto files : {journal::Files::roll_back, journal::Files::check}) {
        wish.files = files;
        EXPECT_THROW(journal::bring_back(wish), Error);
        EXPECT_THROW(journal::require_possible(wish), Error);
    }
    wish.files = journal::Files::ignore;
    journal::bring_back(wish);
    EXPECT_EQ(test::read_file(path("old")), "old content\nmore");
}

TEST_F(Rollback, FileThatWasChangedByAnotherName)
{
    checkpoint(5);
    writer.record(CKPT_JOURNAL_FILE, path("old"), writer.keep(path("old"), false));
    writer.record(CKPT_JOURNAL_ABSENT, path("second name"));
    std::filesystem::create_hard_link(path("old"), path("second name"));
    writer.rewrite(path("second name"), 0, "OLD");
    std::filesystem::remove(path("second name"));
    bring_back(5);
    expect_remembered();
}

/* A file was made and removed since, with half of its content in the journal. A kept file then
 * reuses its inode. */
TEST_F(Rollback, InodeThatIsUsedTwice)
{
    checkpoint(5);
    writer.create(path("first"), "first content");
    writer.record(CKPT_JOURNAL_DATA, path("first"), "", "first");
    std::filesystem::rename(path("first"), path("again"));
    writer.record(CKPT_JOURNAL_ABSENT, path("again"));
    test::write_file(path("again"), "short");
    writer.unlink(path("again"));
    EXPECT_NO_THROW(bring_back(5));
    expect_remembered();
}

/* Rank 1 died before the checkpoint that the others marked. */
TEST_F(Rollback, RankThatIsReplayed)
{
    test::JournalWriter dead(journal, "host", 101, 1, clock);
    dead.append(path("second/file"), "of the dead\n");
    checkpoint(5);
    writer.append(path("old"), "later\n");
    journal::Wish wish;
    wish.journal = journal;
    wish.checkpoint = 5;
    wish.name = "checkpoint job/5";
    wish.ranks = {2};
    EXPECT_THROW(journal::bring_back(wish), Error) << "a mark is missing";
    wish.ranks.replayed = {1};
    EXPECT_EQ(journal::bring_back(wish).warnings.size(), 1u);
    expect_remembered();

    test::JournalWriter replayed(journal, "host", 102, 1, clock);
    replayed.append(path("second/file"), "once more\n");
    writer.append(path("old"), "once more\n");
    journal::bring_back(wish);
    expect_remembered();
}

/* A log with damage anywhere yields whole records of the original log, or none. */
TEST_F(Rollback, NothingIsReadThatWasNotWritten)
{
    writer.append(path("old"), "more");
    writer.rewrite(path("old"), 0, "OLD");
    writer.make_symlink("target", path("link"));
    writer.unlink(path("second/file"));
    writer.mark(5);
    writer.state(path("old"));
    std::set<std::string> written;
    for (const auto &record : journal::read_log(writer.log()).records) {
        written.insert(text_of(record));
    }
    const std::string whole = test::read_file(writer.log());

    test::for_rounds(500, [&](test::Mutations &mutations) {
        test::write_file(writer.log(), mutations.bytes(whole));
        for (const auto &record : journal::read_log(writer.log()).records) {
            EXPECT_TRUE(written.contains(text_of(record))) << text_of(record);
        }
        (void)journal::read_log(writer.log(), mutations.below(whole.size()),
                                journal::Depth::headers);
    });
}

TEST(KeptFiles, InodesOfOtherFileSystemsAreOthers)
{
    const std::filesystem::path top = std::filesystem::canonical(testing::TempDir());
    journal::Journal journal;
    journal::Record kept, changed;
    kept.head.type = CKPT_JOURNAL_FILE;
    kept.head.inode = changed.head.inode = 5;
    kept.other = top / "missing/kept/host-1-1";
    journal.logs.emplace_back().records = {kept};
    const journal::KeptFiles files(journal);

    changed.path = top / "changed";
    EXPECT_EQ(files.of_file(changed), std::vector<std::string>{kept.other});
    changed.path = "/proc/changed";
    EXPECT_TRUE(files.of_file(changed).empty());
    changed.path = top / "changed";
    changed.head.inode = 6;
    EXPECT_TRUE(files.of_file(changed).empty());
}

} // namespace ckpt
