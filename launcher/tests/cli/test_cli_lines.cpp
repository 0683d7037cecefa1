/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cli_lines.cpp - command lines of mpirun and srun: parsed, with the plugin added, and with
 * the restart program in the application's place.
 */
#include "config.h"

#include "cli/launchers/launch_line.hpp"
#include "cli/launchers/other_launcher.hpp"
#include "cli/run/output_files.hpp"
#include "cli/run/restart_line.hpp"
#include "cli/run/tune_file.hpp"
#include "common/files/files.hpp"
#include "common/host.hpp"
#include "common/processes.hpp"
#include "tests/cli/cli_fixture.hpp"

#include <sstream>

using namespace ckpt;
using namespace ckpt::cli;
using namespace ckpt::test;
namespace fs = std::filesystem;

namespace
{

Words words_of(const std::string &text)
{
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

std::string text_of(const Words &words)
{
    std::string text;
    for (const std::string &word : words) {
        text += (text.empty() ? "" : " ") + word;
    }
    return text;
}

struct LineCase {
    const char *command;
    const char *application; /* its expected first word */
    const char *names;       /* of the options */
};

class EveryLine : public testing::TestWithParam<LineCase>
{
};

TEST_P(EveryLine, IsTakenApart)
{
    LaunchLine line = parse_launch_line(words_of(GetParam().command));
    Words names;
    for (const LaunchOption &option : line.options) {
        names.push_back(option.name);
    }
    EXPECT_EQ(text_of(line.application), GetParam().application);
    EXPECT_EQ(text_of(names), GetParam().names);
    EXPECT_EQ(text_of(join_launch_line(line)), GetParam().command);
}

INSTANTIATE_TEST_SUITE_P(
    Mpirun, EveryLine,
    testing::Values(
        LineCase{"mpirun ./app", "./app", ""},
        LineCase{"mpirun -np 2 ./app", "./app", "np"},
        LineCase{"mpirun -n 2 ./app -n 3", "./app -n 3", "np"},
        LineCase{"mpirun -c 2 ./app", "./app", "np"},
        LineCase{"mpirun --np 4 --host a:2,b:2 ./app", "./app", "np host"},
        LineCase{"mpirun -H a -np 1 app", "app", "host np"},
        LineCase{"mpirun --mca btl self,vader -np 2 ./app --mca x y",
                 "./app --mca x y", "mca np"},
        LineCase{"mpirun -gmca a b --prtemca c d ./app", "./app",
                 "gmca prtemca"},
        LineCase{"mpirun -x A=B -x C ./app", "./app", "x x"},
        LineCase{"mpirun --tune ckpt -np 2 ./app", "./app", "tune np"},
        LineCase{"mpirun --tune a,b --map-by ppr:2:node:pe=2 ./app", "./app",
                 "tune map-by"},
        LineCase{"mpirun --oversubscribe --bind-to none --tag-output app 1",
                 "app 1", "oversubscribe bind-to tag-output"},
        LineCase{"mpirun --wdir /tmp -wd /x ./app", "./app", "wdir wdir"},
        LineCase{"mpirun --np=2 --tune=ckpt --mca=a b ./app", "./app",
                 "np tune mca"},
        LineCase{"mpirun -q -v --allow-run-as-root --timeout 5 app", "app",
                 "q v allow-run-as-root timeout"},
        LineCase{"/opt/bin/mpiexec -hostfile h -npernode 2 ./app", "./app",
                 "hostfile npernode"},
        LineCase{"prterun --display map --rtos x --output tag ./app", "./app",
                 "display rtos output"},
        LineCase{"mpirun -np 2 python3 -m mpi4py prog.py -np 9",
                 "python3 -m mpi4py prog.py -np 9", "np"},
        LineCase{"mpirun -np 2 ./wrapper.sh ./app", "./wrapper.sh ./app",
                 "np"}));

INSTANTIATE_TEST_SUITE_P(
    Srun, EveryLine,
    testing::Values(
        LineCase{"srun --mpi=pmix -n 4 ./app -n", "./app -n", "mpi np"},
        LineCase{"srun -n4 -N2 ./app", "./app", "np N"},
        LineCase{"srun --ntasks 4 --label ./app", "./app", "np label"},
        LineCase{"srun --ntasks=4 --exclusive -l ./app", "./app",
                 "np exclusive l"},
        LineCase{"srun --export=ALL,A=b -p debug ./app", "./app",
                 "export p"}));

INSTANTIATE_TEST_SUITE_P(
    Hydra, EveryLine,
    testing::Values(
        LineCase{"mpiexec.hydra -n 2 ./app -n 3", "./app -n 3", "np"},
        LineCase{"mpiexec.hydra -genv A B -env C=D -np 2 ./app", "./app",
                 "genv genv np"},
        LineCase{"mpiexec.hydra -hosts a,b -ppn 1 -wdir /tmp ./app x", "./app x",
                 "hosts ppn wdir"}));

TEST(LaunchLine, KnowsLaunchersByName)
{
    EXPECT_EQ(launcher_of("/usr/bin/mpiexec.hydra"), Launcher::hydra);
    EXPECT_EQ(launcher_of("mpirun.mpich"), Launcher::hydra);
    EXPECT_EQ(launcher_of("mpirun"), Launcher::open_mpi);
    EXPECT_EQ(launcher_of("/usr/bin/mpiexec.openmpi"), Launcher::open_mpi);
    EXPECT_EQ(launcher_of("/usr/bin/srun"), Launcher::slurm);
    EXPECT_EQ(launcher_of("./app"), Launcher::other);
}

TEST(LaunchLine, NamesTheOptionItDoesNotKnow)
{
    try {
        parse_launch_line(words_of("mpirun -np 2 --brand-new 3 ./app"));
        FAIL() << "accepted";
    } catch (const CommandError &error) {
        EXPECT_EQ(error.status(), exit_usage);
        EXPECT_NE(std::string(error.what()).find("--brand-new"),
                  std::string::npos);
    }
}

TEST(LaunchLine, AcceptsUnknownOptionsBeforeAKnownApplication)
{
    LaunchLine line =
        parse_launch_line(words_of("mpirun -np 2 --brand-new 3 ./app 1 2"),
                          words_of("./app 1 2"));
    EXPECT_EQ(text_of(line.application), "./app 1 2");
    ASSERT_EQ(line.options.size(), 2u);
    EXPECT_EQ(text_of(line.options[1].words), "--brand-new 3");
}

TEST(LaunchLine, RefusesAnOptionWithoutItsValue)
{
    EXPECT_THROW(parse_launch_line(words_of("mpirun -np")), CommandError);
    EXPECT_THROW(parse_launch_line(words_of("mpirun --mca a")), CommandError);
    EXPECT_THROW(parse_launch_line({}), CommandError);
}

TEST(LaunchLine, SeesSeveralPrograms)
{
    auto several = [](const char *text) {
        return parse_launch_line(words_of(text)).several_programs;
    };
    EXPECT_TRUE(several("mpirun -np 1 ./a : -np 2 ./b"));
    EXPECT_TRUE(several("mpirun --app file"));
    EXPECT_FALSE(several("mpirun -np 2 ./a --ratio 1:2"));
}

TEST(LaunchLine, OptionsAloneEndWithThem)
{
    auto options = parse_launch_options(
        Launcher::open_mpi, words_of("-np 3 --new 1 2 --host a"));
    ASSERT_EQ(options.size(), 3u);
    EXPECT_EQ(text_of(options[1].words), "--new 1 2");
    EXPECT_THROW(
        parse_launch_options(Launcher::open_mpi, words_of("-np 3 ./app")),
        CommandError);
}

TEST(ShellWords, QuotesWhatAShellWouldTouch)
{
    EXPECT_EQ(shell_words({"a", "b c", "", "it's", "$x"}),
              "a 'b c' '' 'it'\\''s' '$x'");
}

using TuneFile = CliTest;

TEST_F(TuneFile, HasOnlyExportLines)
{
    std::string text = tune_file_text(plugin_environment(
        "/lib/ckpt", "", {{"CKPT_DIR", "/d"}, {"CKPT_INTERVAL", "5m"}}));
    EXPECT_EQ(text.substr(text.find('\n') + 1),
              "-x CKPT_DIR=/d\n-x CKPT_INPUT=new\n-x CKPT_INTERVAL=5m\n"
              "-x CKPT_LIBDIR=/lib/ckpt\n"
              "-x LD_PRELOAD=/lib/ckpt/libckpt-mpi.so\n");
    EXPECT_EQ(text[0], '#');
}

TEST_F(TuneFile, PutsOurLibraryBeforeTheUsersAndOnlyOnce)
{
    auto environment = plugin_environment(
        "/lib/ckpt", "/a.so /b.so:/old/libckpt-mpi.so", {});
    EXPECT_EQ(environment["LD_PRELOAD"],
              "/lib/ckpt/libckpt-mpi.so:/a.so:/b.so");
}

TEST_F(TuneFile, RefusesWhatItCannotCarry)
{
    for (const char *value : {"a b", "a,b", "a\"b", "a\nb"}) {
        EXPECT_THROW(tune_file_text({{"CKPT_DIR", value}}), CommandError);
    }
}

TEST_F(TuneFile, IsWrittenOnceForOneText)
{
    fs::path one = provide_tune_file("-x A=1\n");
    fs::path other = provide_tune_file("-x A=2\n");
    EXPECT_NE(one, other);
    EXPECT_EQ(provide_tune_file("-x A=1\n"), one);
    EXPECT_EQ(read_text_file(one, "tune file"), "-x A=1\n");
    EXPECT_EQ(std::distance(fs::directory_iterator(one.parent_path()), {}), 2);
}

/* Makes a file `hours` old. */
void age(const fs::path &path, std::chrono::hours hours)
{
    fs::last_write_time(path, fs::file_time_type::clock::now() - hours);
}

/* Makes a file of a launch whose owner has another identity, with this age. */
fs::path file_of(const fs::path &like, const std::string &host, const std::string &identity,
                 std::chrono::hours hours)
{
    const fs::path path =
        like.parent_path() / fmt::format("launch-{}-{}-0123456789abcdef", host, identity);
    std::ofstream(path) << "-x A=1\n";
    age(path, hours);
    return path;
}

TEST_F(TuneFile, OfALaunchGoesWithIt)
{
    const fs::path kept = provide_tune_file("-x A=1\n");
    const fs::path launch = provide_launch_file("-x A=1\n");
    EXPECT_NE(kept, launch);
    EXPECT_EQ(read_text_file(launch, "tune file"), "-x A=1\n");
    const fs::path foreign =
        file_of(launch, host_name(), process_identity(getppid()), std::chrono::hours(0));
    for (const fs::path &path : {launch, kept, foreign, fs::path()}) {
        EXPECT_EQ(is_own_tune_file(path), !path.empty());
        remove_launch_file(path);
    }
    EXPECT_FALSE(fs::exists(launch));
    EXPECT_TRUE(fs::exists(kept));
    EXPECT_TRUE(fs::exists(foreign)) << "another process has made it";
}

TEST_F(TuneFile, OfALaunchThatWasKilledGoesWithALaterOne)
{
    using std::chrono::hours;
    const fs::path own = provide_launch_file("-x A=1\n");
    const std::string here = host_name(), dead = "0000000001-99999999999999999999";
    const std::string living = process_identity(getppid());
    const fs::path kept = provide_tune_file("-x A=2\n");
    const std::vector<fs::path> stay = {own, kept, file_of(own, here, living, hours(1000)),
                                        file_of(own, here, dead, hours(23)),
                                        file_of(own, "n-2", dead, hours(719))};
    const fs::path half = own.parent_path() / ("launch-" + here + "-" + dead +
                                               "-0123456789abcdef.7.tmp");
    std::ofstream(half) << "-x";
    age(half, hours(25));
    const std::vector<fs::path> go = {
        file_of(own, here, "0000000001-88888888888888888888", hours(25)),
        file_of(own, "n-3", dead, hours(721)), half};
    age(own, hours(1000));
    age(kept, hours(1000));
    const fs::path next = provide_launch_file("-x A=3\n");
    for (const fs::path &path : stay) {
        EXPECT_TRUE(fs::exists(path)) << path;
    }
    for (const fs::path &path : go) {
        EXPECT_FALSE(fs::exists(path)) << path;
    }
}

class RunLine : public CliTest
{
  protected:
    static Invocation run(const std::string &command,
                          const std::string &preload = "")
    {
        return with_plugin(words_of(command), "/lib/ckpt", preload,
                           {{"CKPT_KEEP", "3"}});
    }

    /* Returns the value of the tune option, with the path of our file shortened to its end. */
    static std::string tune_of(const Words &command)
    {
        return parse_launch_line(command).find("tune")->values[0];
    }

    static std::string preload_in(const fs::path &file)
    {
        std::string text = read_text_file(file, "tune file");
        std::size_t at = text.find("LD_PRELOAD=");
        return text.substr(at, text.find('\n', at) - at);
    }
};

TEST_F(RunLine, GivesMpirunATuneFile)
{
    Words command = run("mpirun -np 2 ./app -x").command;
    EXPECT_EQ(command[1], "--tune");
    std::string text = read_text_file(command[2], "tune file");
    EXPECT_NE(text.find("-x CKPT_KEEP=3\n"), std::string::npos);
    command.erase(command.begin() + 1, command.begin() + 3);
    EXPECT_EQ(text_of(command), "mpirun -np 2 ./app -x");
}

TEST_F(RunLine, KeepsTheUsersTuneFile)
{
    std::string files = tune_of(run("mpirun --tune mine -np 2 ./app").command);
    EXPECT_TRUE(files.starts_with("mine,/")) << files;
}

TEST_F(RunLine, MergesThePreloadOfTheCommandLine)
{
    Words command = run("mpirun -x LD_PRELOAD=/u.so -x LD_PRELOADER=1 ./app",
                        "/e.so")
                        .command;
    EXPECT_EQ(preload_in(tune_of(command)),
              "LD_PRELOAD=/lib/ckpt/libckpt-mpi.so:/u.so");
    EXPECT_EQ(text_of(command).find("LD_PRELOAD="), std::string::npos);
    EXPECT_NE(text_of(command).find("LD_PRELOADER=1"), std::string::npos);

    command = run("mpirun -x LD_PRELOAD ./app", "/e.so").command;
    EXPECT_EQ(preload_in(tune_of(command)),
              "LD_PRELOAD=/lib/ckpt/libckpt-mpi.so:/e.so");
}

TEST_F(RunLine, WorksWithOptionsNobodyKnows)
{
    Words command = run("mpirun --brand-new 3 ./app").command;
    EXPECT_EQ(command[1], "--tune");
    EXPECT_EQ(text_of({command.begin() + 3, command.end()}),
              "--brand-new 3 ./app");
}

TEST_F(RunLine, ExportsVariablesWithSrun)
{
    EXPECT_EQ(text_of(run("srun -n 2 ./app").command),
              "srun -n 2 --export=ALL,CKPT_INPUT,CKPT_KEEP,CKPT_LIBDIR,"
              "LD_PRELOAD=/lib/ckpt/libckpt-mpi.so --mpi=pmix ./app");
    EXPECT_EQ(text_of(run("srun --export=A,B=c --mpi=pmix_v4 ./app").command),
              "srun --mpi=pmix_v4 --export=A,B=c,CKPT_INPUT,CKPT_KEEP,CKPT_LIBDIR,"
              "LD_PRELOAD=/lib/ckpt/libckpt-mpi.so ./app");
    EXPECT_EQ(text_of(run("srun --export=NONE ./app").command),
              "srun --export=CKPT_INPUT,CKPT_KEEP,CKPT_LIBDIR,"
              "LD_PRELOAD=/lib/ckpt/libckpt-mpi.so --mpi=pmix ./app");
    Invocation invocation = run("srun ./app");
    EXPECT_EQ(invocation.environment["CKPT_KEEP"], "3");
    EXPECT_FALSE(invocation.environment.contains("LD_PRELOAD")) << "of srun itself";
}

TEST_F(RunLine, ExportsVariablesWithHydra)
{
    EXPECT_EQ(text_of(run("mpiexec.hydra -n 2 ./app").command),
              "mpiexec.hydra -n 2 -genv CKPT_INPUT new -genv CKPT_KEEP 3 -genv CKPT_LIBDIR "
              "/lib/ckpt -genv LD_PRELOAD /lib/ckpt/libckpt-mpi.so ./app");
    EXPECT_NE(text_of(run("mpiexec.hydra -genv LD_PRELOAD /e.so ./app").command)
                  .find("-genv LD_PRELOAD /lib/ckpt/libckpt-mpi.so:/e.so ./app"),
              std::string::npos);
}

TEST(OutputFiles, AreFoundByTheOptionsOfEachLauncher)
{
    const auto paths = [](const Words &command) {
        return output_paths(parse_launch_line(command), "/here");
    };
    const Words none;

    EXPECT_EQ(paths({"mpirun", "--output-filename", "logs:nojobid", "-np", "2", "./app"}),
              Words({"/here/logs"}));
    EXPECT_EQ(paths({"mpirun", "-xml", "--xml-file", "/x", "./app"}), Words({"/x"}));
    EXPECT_EQ(paths({"mpirun", "--output", "tag,dir=l:raw,file=f", "./app"}),
              Words({"/here/l", "/here/f"}));
    EXPECT_EQ(paths({"mpiexec.hydra", "-outfile-pattern", "o/%r.out", "-errfile-pattern", "e",
                     "./app"}),
              Words({"/here/o/", "/here/e"}));
    EXPECT_EQ(paths({"mpirun", "--output", "tag", "./app"}), none);
    EXPECT_EQ(paths({"srun", "-o", "out", "./app"}), none);
}

TEST(OutputFiles, SrunIsToldToAppend)
{
    const auto continued = [](const Words &command) {
        Invocation invocation{command, {}, {}, false};
        continue_output_files(invocation, "/lib/ckpt");
        return invocation;
    };

    EXPECT_EQ(text_of(continued({"srun", "-o", "out", "./app"}).command),
              "srun -o out --open-mode=append ./app");
    EXPECT_EQ(text_of(continued({"srun", "-o", "out", "--open-mode=truncate", "./app"}).command),
              "srun -o out --open-mode=truncate ./app");
    EXPECT_EQ(text_of(continued({"srun", "./app"}).command), "srun ./app");
    Invocation other = continued({"mpirun", "--output-filename", "/logs", "./app"});
    EXPECT_EQ(other.environment["CKPT_APPEND"], "/logs");
    EXPECT_TRUE(other.environment["LD_PRELOAD"].starts_with("/lib/ckpt/libckpt-append.so"));
}

TEST_F(RunLine, SetsVariablesForAProgramWithoutLauncher)
{
    Invocation invocation = run("./app 1");
    EXPECT_EQ(text_of(invocation.command), "./app 1");
    EXPECT_EQ(invocation.environment["LD_PRELOAD"],
              "/lib/ckpt/libckpt-mpi.so");
    EXPECT_EQ(invocation.environment["CKPT_KEEP"], "3");
}

class RestartLine : public CliTest
{
  protected:
    Invocation restart(const std::string &recorded,
                       const std::string &application = "./app",
                       const RestartOptions &changes = {})
    {
        Manifest record = manifest("job", next_++);
        record.launch.launcher = words_of(recorded);
        record.launch.application = words_of(application);
        record.launch.environment = environment_;
        checkpoint_ = commit(record);
        RestartOptions options = changes;
        options.libraries = "/lib/ckpt";
        return restart_invocation({store_.directory(), {}}, checkpoint_, options);
    }

    /* Returns the command without the exported variables, which have a separate test, and with
     * PROGRAM for the ranks' program. */
    std::string command(const std::string &recorded,
                        const RestartOptions &changes = {})
    {
        LaunchLine line =
            parse_launch_line(restart(recorded, "./app", changes).command);
        EXPECT_EQ(text_of(line.application),
                  "/lib/ckpt/ckpt-restart " + checkpoint_.directory.string());
        line.remove("x");
        line.remove("genv");
        line.application = {"PROGRAM"};
        return text_of(join_launch_line(line));
    }

    /* Returns the option that gives a variable to the restarted ranks. */
    std::string words_for(const std::string &name, const std::string &recorded,
                          const RestartOptions &changes)
    {
        for (const LaunchOption &option :
             parse_launch_line(restart(recorded, "./app", changes).command)
                 .options) {
            if (exported_name(option) == name) {
                return text_of(option.words);
            }
        }
        return "";
    }

    std::string refusal(const std::string &recorded,
                        const RestartOptions &changes = {})
    {
        try {
            restart(recorded, "./app", changes);
        } catch (const CommandError &error) {
            EXPECT_EQ(error.status(), exit_usage);
            return error.what();
        }
        return "";
    }

    static RestartOptions with(const std::string &options)
    {
        RestartOptions changes;
        changes.replace_options = true;
        changes.options = words_of(options);
        return changes;
    }

    std::uint64_t next_ = 1;
    Checkpoint checkpoint_;
    std::map<std::string, std::string> environment_;
};

TEST_F(RestartLine, TakesOverRecordedOptions)
{
    EXPECT_EQ(command("mpirun -np 2 ./app"), "mpirun -np 2 PROGRAM");
    EXPECT_EQ(command("mpirun ./app"), "mpirun -np 2 PROGRAM");
    EXPECT_EQ(command("/opt/mpirun --tune ckpt -n 2 --host a:2 ./app"),
              "/opt/mpirun --tune ckpt --host a:2 -np 2 PROGRAM");
    const std::string kept = "/c/ckpt/tune-0123456789abcdef";
    const std::string launch =
        "/c/ckpt/launch-n-1-0000000001-00000000000000000002-0123456789abcdef";
    EXPECT_EQ(command("mpirun --tune " + launch + " --host a:2 ./app"),
              "mpirun --host a:2 -np 2 PROGRAM");
    EXPECT_EQ(command("mpirun --tune a," + kept + ",b," + launch + " ./app"),
              "mpirun --tune a,b -np 2 PROGRAM");
    EXPECT_EQ(command("mpirun -npernode 2 --mca a b ./app"),
              "mpirun -npernode 2 --mca a b -np 2 PROGRAM");
    EXPECT_EQ(command("mpirun -np 2 ./wrapper.sh ./app"),
              "mpirun -np 2 PROGRAM");
    EXPECT_EQ(command("srun --mpi=pmix_v4 -n2 --export=ALL,LD_PRELOAD=x ./app"),
              "srun --mpi=pmix_v4 --export=ALL -n 2 PROGRAM");
}

TEST_F(RestartLine, TakesOptionsOfSrunFromTheCommand)
{
    RestartOptions again;
    take_srun(words_of("/opt/srun -n 2 --cpus-per-task=3 --export=ALL,A=b ./app"), again);
    EXPECT_EQ(command("", again),
              "/opt/srun --cpus-per-task=3 --export=ALL -n 2 --mpi=pmix PROGRAM");
    RestartOptions untouched;
    take_srun(words_of("mpirun -np 3 ./app"), untouched);
    EXPECT_EQ(command("mpirun -np 2 ./app", untouched), "mpirun -np 2 PROGRAM");
}

TEST_F(RestartLine, PutsOptionsIntoTheWordsOfAnotherMpi)
{
    RestartOptions mpich;
    mpich.mpirun = "mpiexec.hydra";
    EXPECT_EQ(command("mpirun --tune ckpt --oversubscribe -x A=B -x C "
                      "--wdir /w -np 2 ./app",
                      mpich),
              "mpiexec.hydra -wdir /w -np 2 PROGRAM");
    EXPECT_EQ(words_for("A", "mpirun -x A=B ./app", mpich), "-genv A B");
    EXPECT_NE(refusal("mpirun --host a ./app", mpich).find("'--host a'"),
              std::string::npos);

    RestartOptions open_mpi;
    open_mpi.mpirun = "mpirun";
    EXPECT_EQ(command("mpiexec.hydra -genv A B -n 2 ./app", open_mpi),
              "mpirun --oversubscribe -np 2 PROGRAM");
    EXPECT_EQ(words_for("A", "mpiexec.hydra -genv A B ./app", open_mpi),
              "-x A=B");
    EXPECT_NE(refusal("mpiexec.hydra -f hosts ./app", open_mpi).find("-f hosts"),
              std::string::npos);
}

TEST_F(RestartLine, CallsMpirunWherePrterunWasRecorded)
{
    EXPECT_EQ(command("/opt/bin/prterun -np 2 ./app"),
              "/opt/bin/mpirun -np 2 PROGRAM");
}

TEST_F(RestartLine, ReplacesOptionsByThoseOfTheUser)
{
    EXPECT_EQ(command("mpirun -np 2 --host a ./app",
                      with("--host b --oversubscribe")),
              "mpirun --host b --oversubscribe -np 2 PROGRAM");
    EXPECT_EQ(command("mpirun -np 1 ./a : -np 1 ./b", with("-np 2")),
              "mpirun -np 2 PROGRAM");
    RestartOptions changes;
    changes.mpirun = "/other/mpirun";
    EXPECT_EQ(command("mpirun --host a ./app", changes),
              "/other/mpirun --host a -np 2 PROGRAM");
}

TEST_F(RestartLine, RefusesAWrongNumberOfRanks)
{
    std::string text = refusal("mpirun -np 2 ./app", with("-n 3"));
    EXPECT_EQ(text, "job/1 has 2 ranks, but 3 were asked for (-n 3)");
}

TEST_F(RestartLine, RefusesWhatItCannotTakeOver)
{
    EXPECT_NE(refusal("mpirun ./a : ./b").find("after --"),
              std::string::npos);
    EXPECT_NE(refusal("mpirun --strange 1 ./other").find("--strange"),
              std::string::npos);
    EXPECT_NE(refusal("./unknown-launcher ./app").find("--mpirun"),
              std::string::npos);
    RestartOptions srun;
    srun.mpirun = "srun";
    EXPECT_NE(refusal("mpirun -np 2 ./app", srun).find("of srun after --"),
              std::string::npos);
}

TEST_F(RestartLine, TellsTheJobWhereItComesFrom)
{
    environment_ = {
        {"CKPT_INTERVAL", "5m"},
        {"CKPT_KEEP", "4"},
        {"CKPT_DIR", "/gone"},
        {"CKPT_FAULT", "x"},
        {"CKPT_NAME", "n"},
        {"CKPT_RESTART_JOB", "old"},
    };
    RestartOptions options;
    options.current = {{"CKPT_KEEP", "9"}, {"CKPT_JSON", "1"}};
    Invocation invocation =
        restart("mpirun -x CKPT_DIR=/old -x A=b -x LD_PRELOAD=/u ./app",
                "./app", options);
    Environment expected = {{"CKPT_INTERVAL", "5m"},
                            {"CKPT_KEEP", "9"},
                            {"CKPT_DIR", store_.directory()},
                            {"CKPT_JOURNAL", store_.directory() / "job/journal"},
                            {"CKPT_LIBDIR", "/lib/ckpt"},
                            {"CKPT_RESTART_JOB", "job"},
                            {"CKPT_RESTART_NUMBER", "1"}};
    EXPECT_EQ(invocation.environment, expected);

    expected.insert({{"A", "b"}, {"LD_PRELOAD", ""}});
    Environment exported;
    for (const auto &option : parse_launch_line(invocation.command).options) {
        if (option.name == "x") {
            const std::string &text = option.values[0];
            std::size_t equals = text.find('=');
            bool first = exported
                             .emplace(text.substr(0, equals),
                                      text.substr(equals + 1))
                             .second;
            EXPECT_TRUE(first) << text;
        }
    }
    EXPECT_EQ(exported, expected);
}

TEST_F(RestartLine, RunsWhereTheJobRan)
{
    EXPECT_EQ(restart("mpirun ./app").directory, "/");
    Manifest record = manifest("job", next_++);
    record.launch.launcher_directory = "/no/such/place";
    RestartOptions options;
    options.libraries = "/lib/ckpt";
    EXPECT_EQ(restart_invocation({store_.directory(), {}}, commit(record), options)
                  .directory,
              "");
}

TEST_F(RestartLine, StartsAProgramWithoutLauncherWithoutOne)
{
    Manifest record = manifest("job", next_++);
    record.launch.launcher.clear();
    record.rank_count = 1;
    record.pieces[0].ranks = {0};
    Checkpoint checkpoint = commit(record);
    RestartOptions options;
    options.libraries = "/lib/ckpt";
    EXPECT_EQ(
        text_of(restart_invocation({store_.directory(), {}}, checkpoint, options)
                    .command),
        "/lib/ckpt/ckpt-restart " + checkpoint.directory.string());
}

} // namespace
