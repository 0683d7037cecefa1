/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cli_manual.cpp - the manual pages and --help agree.
 */
#include "config.h"

#include "cli/base/program.hpp"
#include "common/files/files.hpp"
#include "tests/cli/cli_fixture.hpp"

#include <regex>
#include <set>

using namespace ckpt;
using namespace ckpt::cli;

namespace
{

std::string page_of(const std::string &name)
{
    const std::filesystem::path made = std::filesystem::path(CKPT_MADE_MANUAL_DIRECTORY) / name;
    const std::filesystem::path page = std::filesystem::path(CKPT_MANUAL_DIRECTORY) / name;
    return read_text_file(std::filesystem::exists(made) ? made : page, "manual page");
}

/* Options that a page describes: lines ".It Fl -name" or ".It Fl n , Fl -name". */
std::set<std::string> documented_options(const std::string &page)
{
    std::set<std::string> options;
    static const std::regex item("\\n\\.It (?:Fl [a-z] , )?Fl (-[a-z-]+)");
    for (std::sregex_iterator found(page.begin(), page.end(), item), end;
         found != end; ++found) {
        options.insert("-" + (*found)[1].str());
    }
    return options;
}

/* Options in the help text of another program, each at the beginning of a
 * line. */
std::set<std::string> help_options(const char *command)
{
    std::set<std::string> options;
    static const std::regex item("^ +(?:-[a-z],)?(--[a-z-]+).*\n");
    FILE *help = popen(command, "r");
    char line[1024];
    while (fgets(line, sizeof(line), help) != nullptr) {
        std::cmatch found;
        if (std::regex_match(line, found, item)) {
            options.insert(found[1].str());
        }
    }
    EXPECT_EQ(pclose(help), 0);
    return options;
}

std::set<std::string> real_options(const CLI::App &app)
{
    std::set<std::string> options;
    for (const CLI::Option *option : app.get_options()) {
        if (!option->get_positional()) {
            options.insert(option->get_name());
        }
    }
    return options;
}

TEST(Manual, HasEveryOptionAndNoOther)
{
    Program program;
    for (CLI::App *command : program.app.get_subcommands({})) {
        std::string page = page_of("ckpt-" + command->get_name() + ".1");
        EXPECT_EQ(documented_options(page), real_options(*command))
            << command->get_name();
    }
    EXPECT_EQ(documented_options(page_of("ckpt.1")),
              real_options(program.app));
}

TEST(Manual, HasEveryOptionOfTheAgent)
{
    EXPECT_EQ(documented_options(page_of("ckptd.8")),
              help_options(CKPT_TEST_DIRECTORY "/../ckptd --help"));
}

TEST(Manual, NamesTheVariableOfEachOption)
{
    Program program;
    for (CLI::App *command : program.app.get_subcommands({})) {
        std::string page = page_of("ckpt-" + command->get_name() + ".1");
        for (const CLI::Option *option : command->get_options()) {
            if (!option->get_envname().empty()) {
                EXPECT_NE(page.find(" Ev " + option->get_envname() + "\n"),
                          std::string::npos)
                    << command->get_name() << " " << option->get_name();
            }
        }
    }
}

TEST(Manual, GivesExitCodesAndEveryCommand)
{
    Program program;
    std::string overview = page_of("ckpt.1");
    for (CLI::App *command : program.app.get_subcommands({})) {
        std::string page = page_of("ckpt-" + command->get_name() + ".1");
        EXPECT_NE(page.find("\n.Sh EXIT STATUS\n"), std::string::npos)
            << command->get_name();
        EXPECT_NE(overview.find("Xr ckpt-" + command->get_name() + " 1"),
                  std::string::npos)
            << command->get_name();
    }
}

} // namespace
