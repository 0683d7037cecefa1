/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_key_files.cpp - files with the keys of a launch: only their owner can read them, and with
 * encrypted checkpoints only a user with the checkpoint key.
 */
#include "agent/links/address_file.hpp"
#include "agent/supervision/supervisor_file.hpp"
#include "common/files/files.hpp"
#include "image/seal/image_key.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>
#include <optional>
#include <string>

namespace ckpt
{

namespace
{

using test::error_of;
using test::ScratchDirectory;

class KeyFiles : public testing::Test
{
  protected:
    KeyFiles() { file.address.port = 4711; }
    ~KeyFiles() override { use_this_image_key(std::nullopt); }

    std::optional<SupervisorFile> read() const { return SupervisorFile::read(path); }
    std::string text() const { return read_text_file(path, "file"); }

    ScratchDirectory scratch;
    const std::string path = scratch / "supervisor";
    SupervisorFile file{17, PeerAddress::make()};
};

TEST_F(KeyFiles, SayWhereTheCommandIs)
{
    file.write(path);
    ASSERT_TRUE(read());
    EXPECT_EQ(read()->incarnation, 17u);
    EXPECT_TRUE(read()->address.key == file.address.key);
    EXPECT_EQ(read()->address.port, 4711);
}

TEST_F(KeyFiles, ThatOthersCanReadAreNotUsed)
{
    file.write(path);
    for (mode_t mode : {0640, 0604, 0660, 0602}) {
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
        EXPECT_FALSE(read()) << mode;
    }
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    EXPECT_TRUE(read());
}

TEST_F(KeyFiles, AreEncryptedWithTheKeyOfTheUser)
{
    use_this_image_key(MessageKey::make());
    file.write(path);
    const std::string key = file.address.key.text();
    EXPECT_EQ(text().find(key), std::string::npos);
    ASSERT_TRUE(read());
    EXPECT_TRUE(read()->address.key == file.address.key);

    const std::string good = text();
    /* All bytes except the end of the line. */
    for (std::size_t i = 0; i + 1 < good.size(); i += 7) {
        std::string bad = good;
        bad[i] = bad[i] == '0' ? '1' : '0';
        std::ofstream(path) << bad;
        EXPECT_FALSE(read()) << i;
    }
    std::ofstream(path) << good;
    EXPECT_TRUE(read());
    use_this_image_key(MessageKey::make());
    EXPECT_FALSE(read());
    use_this_image_key(std::nullopt);
    EXPECT_FALSE(read());
    file.write(path); /* in clear, as any user could */
    EXPECT_TRUE(read());
    use_this_image_key(MessageKey::make());
    EXPECT_FALSE(read());
}

TEST_F(KeyFiles, OfAnAgentThatOthersCanReadIsRefused)
{
    const std::string own = scratch / "HASH.addr";
    const AddressFile address(own);
    address.keep(file.address);
    EXPECT_TRUE(address.address().key == file.address.key);
    ASSERT_EQ(::chmod(own.c_str(), 0644), 0);
    EXPECT_NE(error_of([&] { address.address(); }).find("by others"), std::string::npos);
}

} // namespace

} // namespace ckpt
