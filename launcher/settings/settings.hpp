/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.hpp - the settings of all programs, from table.py: options, variables, defaults.
 */
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::settings
{

/* Decides what values are valid; see check(). */
enum class Type {
    auto_switch,
    bytes,
    codec,
    directories,
    duration,
    duration_above_zero,
    fabric,
    flag,
    granule,
    interval,
    job_name,
    key,
    levels,
    number,
    path,
    protocol,
    redundancy,
    signals,
    snapshot,
    stagger,
    text,
    word,
};

/* The readers of a variable; a set of bits. */
enum Reader : unsigned {
    launcher_reads = 1, /* ckpt */
    agent_reads = 2,    /* ckptd */
    process_reads = 4,  /* the library in the application's process */
    restart_reads = 8,  /* ckpt-restart and ckpt-gather */
};

enum class AfterRestart {
    kept,     /* recorded in the checkpoint; a restart hands the variable on */
    recorded, /* recorded in the checkpoint only */
    never,    /* not even recorded: a secret, or of one launch */
};

/* An entry of the table; setting.py describes the fields. Texts are "" if there is none. */
struct Setting {
    const char *option; /* "--some-option" */
    const char *letter; /* "-s": a second name of the option */
    const char *variable;
    const char *commands; /* separated by blanks */
    const char *value;
    const char *standard; /* the default */
    const char *implied;
    const char *help;
    Type type;
    std::uint64_t least, most;
    const char *words; /* separated by blanks */
    bool is_required;
    unsigned readers; /* Reader */
    AfterRestart after_restart;

    bool is_of(std::string_view command) const;
    bool has_default() const { return *standard != '\0'; }
};

std::span<const Setting> all();

/* Returns the options of a command, in the table's order. */
std::vector<const Setting *> options_of(std::string_view command);

/* Returns the entry of a command's option or of a variable. Throws std::logic_error if the table
 * has none: each must be there. */
const Setting &option_of(std::string_view command, std::string_view option);
const Setting &setting_of(std::string_view variable);

/* Whether a restart hands on a variable, which may be unknown. */
bool is_kept(std::string_view variable);
/* Whether checkpoints record a variable; they record unknown ones. */
bool is_recorded(std::string_view variable);

/* Throws Error, with the expected form, if the value is invalid. */
void check(const Setting &setting, const std::string &value);

/* The same; the text of the Error begins with the variable. */
void check_named(const Setting &setting, const std::string &value);

/* Returns a valid value as other processes get it: absolute paths, bytes without units. Throws
 * Error if a path cannot be made absolute. */
std::string handed_on(const Setting &setting, const std::string &value);

/* Converts a number of bytes such as 4096, 64M or 1G. Throws Error. */
std::uint64_t parse_bytes(const std::string &text);

} // namespace ckpt::settings
