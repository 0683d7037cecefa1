/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_input.hpp - the standard input of a job under `ckpt run`: each launch is given it from
 * its beginning, and the relays of the ranks drop what the program had read
 * (libckpt/include/ckpt/input.h).
 */
#pragma once

#include "agent/loop_timer.hpp"
#include "cli/input_file.hpp"
#include "cli/launch_line.hpp"
#include "common/event_loop.hpp"
#include "common/fd.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

#include <sys/types.h>

namespace ckpt::cli
{

/* Files of the job's directory: an input that is whole (perhaps a link to it), and one of
 * which more was to come. */
struct KeptInput {
    std::filesystem::path whole, part;

    explicit KeptInput(const std::filesystem::path &directory);
    void remove() const;
};

class JobInput
{
  public:
    /* directory: of the job. is_resumed: it goes on from a checkpoint of an earlier command.
     * The loop must live longer. Throws Error. */
    JobInput(EventLoop &loop, const std::filesystem::path &directory, const LaunchLine &line,
             bool is_resumed);
    ~JobInput();
    JobInput(const JobInput &) = delete;
    JobInput &operator=(const JobInput &) = delete;

    /* What CKPT_INPUT says of it. */
    std::string variable() const;

    /*
     * The descriptor that the next launcher gets as its standard input; valid until
     * end_launch(). has_ended: the checkpoint of the launch has all of the input already.
     * Throws Error.
     */
    int begin_launch(bool has_ended);
    void end_launch();
    /* Ranks of the launch have come to an agent: their relays read. */
    void ranks_have_come();

    /* What a restart cannot give the program once more; empty if nothing. */
    std::string lost() const;

    /* The job has ended and is not to be started again: what was kept is removed. */
    void forget();

  private:
    enum class Kind {
        none,      /* no input, or one that cannot be kept */
        file,      /* can be read again */
        stream,    /* is written into a file as it comes */
    };

    void open_stream(bool is_terminal);
    void use_file(Fd file);
    void link_file() const;
    void watch();
    void receive();
    void feed();
    void stop_feeding();
    void allow_more();
    void finish();
    void publish() const;
    void find_room();
    bool wants_more() const;
    bool may_read_terminal() const;

    EventLoop &loop_;
    const KeptInput kept_;
    Kind kind_ = Kind::none;
    Fd file_;                /* of another command, or our own standard input */
    InputFile stream_;       /* what came of a stream */
    off_t start_ = 0;        /* where a file began for us */
    bool is_first_ = true;   /* launch */
    bool is_terminal_ = false;
    bool is_empty_ = false;  /* /dev/null, or closed */
    bool has_ended_ = false; /* the stream */
    bool is_reading_ = false;
    bool is_writing_ = false;
    std::uint64_t size_ = 0; /* bytes that have come */
    std::uint64_t fed_ = 0;  /* bytes that this launcher has been given */
    Fd sink_;                /* our end of the launcher's pipe */
    Fd given_;               /* the launcher's */
    const bool is_slow_;     /* the launcher cannot wait for a rank that does not read */
    std::uint64_t allowed_ = 0; /* bytes that such a launcher may be given by now */
    LoopTimer pace_;
    LoopTimer foreground_;   /* a terminal is looked at again */
    LoopTimer room_;         /* the file is tried again */
    bool lacks_room_ = false;
};

} // namespace ckpt::cli
