/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_job_opening.cpp - the thread that opens a job's directories, and requests that wait
 * meanwhile.
 */
#include "agent/coordinator/job_opening.hpp"
#include "agent/coordinator/unopened_requests.hpp"
#include "common/error.hpp"
#include "tests/common/worker_replies.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

using namespace ckpt;
using namespace std::chrono_literals;

namespace
{

class Opening : public testing::Test
{
  protected:
    WorkerThread worker_;
    int done_ = 0;
    const JobOpening::Time begin_{1000s};
    JobOpening opening_{worker_, [this] { done_++; }};
    std::promise<void> answer_; /* the file system answers when it has a value, or is destroyed */

    /* Begins an opening that lasts until the file system answers. */
    void begin()
    {
        opening_.begin(
            [answer = answer_.get_future().share()] {
                answer.wait();
                return JobOpening::Opened{{}, OpenedJournal{"/journal", 7}};
            },
            begin_);
    }
    void await_done(int times)
    {
        test::run_replies_until(worker_, [&] { return done_ == times; });
    }
};

TEST_F(Opening, ReportsItsEndAndGivesTheResultOnce)
{
    EXPECT_FALSE(opening_.is_under_way());
    EXPECT_FALSE(opening_.is_done());
    begin();
    EXPECT_TRUE(opening_.is_under_way());
    EXPECT_FALSE(opening_.is_done());
    answer_.set_value();
    await_done(1);
    ASSERT_TRUE(opening_.is_done());
    EXPECT_TRUE(opening_.is_under_way()); /* the result was not taken */
    const JobOpening::Opened opened = opening_.take();
    EXPECT_FALSE(opened.job);
    ASSERT_TRUE(opened.journal);
    EXPECT_EQ(7u, opened.journal->greatest_mark);
    EXPECT_FALSE(opening_.is_under_way());
    EXPECT_FALSE(opening_.is_done());
}

TEST_F(Opening, PassesErrorsOnAndCanBeTriedAgain)
{
    opening_.begin([]() -> JobOpening::Opened { fail("no room"); }, begin_);
    opening_.wait();
    await_done(1);
    ASSERT_TRUE(opening_.is_done());
    EXPECT_THROW(opening_.take(), Error);
    EXPECT_FALSE(opening_.is_under_way());
    begin();
    answer_.set_value();
    opening_.wait();
    await_done(2);
    EXPECT_TRUE(opening_.take().journal);
}

TEST_F(Opening, TurnsLateOnceForEachAttempt)
{
    begin();
    EXPECT_EQ(begin_ + JobOpening::timeout, opening_.late_at());
    EXPECT_FALSE(opening_.turns_late(begin_ + JobOpening::timeout - 1ns));
    EXPECT_FALSE(opening_.is_late());
    EXPECT_TRUE(opening_.turns_late(begin_ + JobOpening::timeout));
    EXPECT_TRUE(opening_.is_late());
    EXPECT_EQ(JobOpening::Time::max(), opening_.late_at());
    EXPECT_FALSE(opening_.turns_late(begin_ + 10 * JobOpening::timeout));
    answer_.set_value();
    await_done(1);
    opening_.take();
    answer_ = {};
    begin();
    EXPECT_FALSE(opening_.is_late());
    EXPECT_TRUE(opening_.turns_late(begin_ + JobOpening::timeout));
    answer_.set_value();
}

class Unopened : public testing::Test
{
  protected:
    const UnopenedRequests::Time begin_{1000s};
    UnopenedRequests requests_{60s};

    void add(const std::vector<ClientId> &clients, Protocol protocol, std::chrono::seconds after)
    {
        UnopenedRequests::Request request{{}, protocol};
        for (ClientId client : clients) {
            request.clients.push_back({.client = client});
        }
        requests_.add(request, begin_ + after);
    }
    static std::vector<ClientId> names(const UnopenedRequests::Clients &clients)
    {
        std::vector<ClientId> names;
        for (const CheckpointRequest &client : clients) {
            names.push_back(client.client);
        }
        return names;
    }
};

using Names = std::vector<ClientId>;

TEST_F(Unopened, OneCheckpointIsForAllWithTheFirstProtocol)
{
    EXPECT_TRUE(requests_.empty());
    EXPECT_FALSE(requests_.take());
    add({1, 2}, Protocol::chandy_lamport, 0s);
    add({3}, Protocol::sync_and_stop, 1s);
    EXPECT_EQ(Names({1, 2, 3}), names(requests_.clients()));
    const auto all = requests_.take();
    ASSERT_TRUE(all);
    EXPECT_EQ(Names({1, 2, 3}), names(all->clients));
    EXPECT_EQ(Protocol::chandy_lamport, all->protocol);
    EXPECT_TRUE(requests_.empty());
}

TEST_F(Unopened, EachRequestHasItsOwnTimeLimit)
{
    EXPECT_EQ(UnopenedRequests::Time::max(), requests_.overdue_at());
    add({1, 2}, Protocol::sync_and_stop, 0s);
    add({3}, Protocol::sync_and_stop, 5s);
    EXPECT_EQ(begin_ + 60s, requests_.overdue_at());
    EXPECT_FALSE(requests_.take_overdue(begin_ + 60s - 1ns));
    const auto first = requests_.take_overdue(begin_ + 60s);
    ASSERT_TRUE(first);
    EXPECT_EQ(Names({1, 2}), names(*first));
    EXPECT_FALSE(requests_.take_overdue(begin_ + 60s));
    EXPECT_EQ(begin_ + 65s, requests_.overdue_at());
    const auto second = requests_.take_overdue(UnopenedRequests::Time::max());
    ASSERT_TRUE(second);
    EXPECT_EQ(Names({3}), names(*second));
    EXPECT_FALSE(requests_.take_overdue(UnopenedRequests::Time::max()));
}

TEST_F(Unopened, ARequestEndsWithItsLastClient)
{
    add({1, 2}, Protocol::sync_and_stop, 0s);
    add({3}, Protocol::sync_and_stop, 5s);
    requests_.withdraw(2);
    EXPECT_EQ(Names({1, 3}), names(requests_.clients()));
    requests_.withdraw(1);
    EXPECT_EQ(begin_ + 65s, requests_.overdue_at());
    requests_.withdraw(3);
    EXPECT_TRUE(requests_.empty());
}

} // namespace
