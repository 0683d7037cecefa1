/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_requests.cpp - receives requests for a running `ckpt run`.
 */
#include "cli/jobs/run_requests.hpp"

#include "cli/jobs/own_status.hpp"
#include "common/files/files.hpp"
#include "common/files/run_directory.hpp"
#include "common/invariant.hpp"

#include <sys/socket.h>

namespace ckpt::cli
{

namespace
{

std::filesystem::path socket_of(const TierDirectories &directories, const std::string &job,
                                const char *extension)
{
    CKPT_EXPECT(!job.empty()); /* the sockets of all jobs of a directory would be one */
    return run_directory() /
           (control::namespace_hash((directories.lasting() / job).string()) + extension);
}

} // namespace

std::filesystem::path run_socket(const TierDirectories &directories, const std::string &job)
{
    return socket_of(directories, job, ".run");
}

std::filesystem::path started_socket(const TierDirectories &directories,
                                     const std::string &job)
{
    return socket_of(directories, job, ".started");
}

RunRequests::RunRequests(EventLoop &loop, const TierDirectories &directories,
                         const std::string &job)
    : directories_(directories), job_(job),
      server_(loop, rejected_,
              {[this](ClientId client, const control::Request &request) {
                   if (handler_) {
                       handler_(client, request);
                   } else {
                       reply_starting(client, request);
                   }
               },
               [](ClientId) {}}),
      listener_((make_private_directory(run_directory()), loop),
                run_socket(directories, job), SOCK_STREAM, rejected_,
                [this](Fd connection) { server_.accept(std::move(connection)); })
{
}

void RunRequests::refuse(ClientId client, const Refusal &why)
{
    server_.reply(client, control::error_reply(why));
}

void RunRequests::reply_starting(ClientId client, const control::Request &request)
{
    control::Reply reply;

    if (request.command != "status") {
        refuse(client, {CKPT_REFUSAL_JOB_STARTING,
                        "the job is still starting: no agent has told of all ranks"});
        return;
    }
    reply.event = "status";
    reply.status = starting_status(directories_, job_);
    server_.reply(client, reply);
}

} // namespace ckpt::cli
