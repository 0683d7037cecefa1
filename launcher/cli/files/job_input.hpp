/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_input.hpp - the standard input of a job under `ckpt run`. Each launch gets the input
 * from its beginning, and the relays of the ranks drop the part that the program has already
 * read (libckpt/include/ckpt/input.h).
 */
#pragma once

#include "agent/base/loop_timer.hpp"
#include "cli/files/input_file.hpp"
#include "cli/launchers/launch_line.hpp"
#include "common/event_loop.hpp"
#include "common/fd.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

#include <sys/types.h>

namespace ckpt::cli
{

/* Files in the job's directory: the complete input (perhaps a symbolic link), and an input
 * that is not complete yet. */
struct KeptInput {
    std::filesystem::path whole, part;

    explicit KeptInput(const std::filesystem::path &directory);
    void remove() const;
};

class JobInput
{
  public:
    /* directory: of the job. is_resumed: the job continues from a checkpoint of an earlier
     * command. The loop must outlive this object. Throws Error. */
    JobInput(EventLoop &loop, const std::filesystem::path &directory, const LaunchLine &line,
             bool is_resumed);
    ~JobInput();
    JobInput(const JobInput &) = delete;
    JobInput &operator=(const JobInput &) = delete;

    /* Returns the value of CKPT_INPUT for this input. */
    std::string variable() const;

    /*
     * Returns the descriptor for the standard input of the next launcher; it is valid until
     * end_launch(). has_ended: the checkpoint that the launch uses already has all of the
     * input. Throws Error.
     */
    int begin_launch(bool has_ended);
    void end_launch();
    /* Ranks of the launch have connected to an agent, so their relays are reading. */
    void ranks_have_come();

    /* Returns the part of the input that a restart cannot provide again, for a message;
     * empty if nothing is lost. */
    std::string lost() const;

    /* Removes the kept input. For a job that has ended and will not be restarted. */
    void forget();

  private:
    enum class Kind {
        none,   /* no input, or input that cannot be kept */
        file,   /* a file that can be read again */
        stream, /* written to a file as it is received */
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
    Fd file_;              /* from an earlier command, or this process's standard input */
    InputFile stream_;     /* data received from the stream */
    off_t start_ = 0;      /* position of the file when this process started */
    bool is_first_ = true; /* the first launch */
    bool is_terminal_ = false;
    bool is_empty_ = false;  /* /dev/null, or closed */
    bool has_ended_ = false; /* the stream has ended */
    bool is_reading_ = false;
    bool is_writing_ = false;
    std::uint64_t size_ = 0; /* bytes received */
    std::uint64_t fed_ = 0;  /* bytes passed to this launcher */
    Fd sink_;                /* this process's end of the launcher's pipe */
    Fd given_;               /* the launcher's end of the pipe */
    /* The launcher buffers input without limit for a rank that does not read. */
    const bool is_slow_;
    std::uint64_t allowed_ = 0; /* bytes that such a launcher may have received by now */
    LoopTimer pace_;
    LoopTimer foreground_; /* rechecks whether this process is in the foreground */
    LoopTimer room_;       /* retries writing the file */
    bool lacks_room_ = false;
};

} // namespace ckpt::cli
