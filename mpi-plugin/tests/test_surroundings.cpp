// SPDX-License-Identifier: BSD-3-Clause
/*
 * test_surroundings.cpp - whatever may change the library's choice of components changes the
 * surroundings, and nothing else does.
 */
extern "C" {
#include "start/surroundings.h"
}

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace
{

class Surroundings : public testing::Test
{
  protected:
    Surroundings()
    {
        std::string name = fs::temp_directory_path() / "surroundings-XXXXXX";
        directory = mkdtemp(name.data());
        environment = {"OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "HOME=/home/a",
                       "OMPI_MCA_pml=^ucx", "UCX_TLS=tcp", "OMPI_MCA_orte_hnp_uri=1"};
        write("a.conf", "btl = ^tcp\n");
        files = path("a.conf") + "," + path("missing.conf");
        device("0000:01:00.0", "0x020000", "0x15b3", "0x101b", "mlx5_core");
        device("0000:02:00.0", "0x010802", "0x144d", "0xa80a", "nvme");
        port("mlx5_0", "1", "4: ACTIVE");
        before = read();
    }

    ~Surroundings() override
    {
        fs::remove_all(directory);
    }

    Surroundings(const Surroundings &) = delete;
    Surroundings &operator=(const Surroundings &) = delete;

    std::string path(const std::string &name) const
    {
        return directory / name;
    }

    void write(const std::string &name, const std::string &content) const
    {
        fs::create_directories((directory / name).parent_path());
        std::ofstream(directory / name) << content;
    }

    void device(const std::string &place, const std::string &kind, const std::string &vendor,
                const std::string &model, const std::string &driver) const
    {
        const std::string name = "sys/bus/pci/devices/" + place;

        write(name + "/class", kind + "\n");
        write(name + "/vendor", vendor + "\n");
        write(name + "/device", model + "\n");
        fs::create_symlink("../drivers/" + driver, directory / name / "driver");
    }

    void port(const std::string &device, const std::string &number, const std::string &state) const
    {
        const std::string name = "sys/class/infiniband/" + device + "/ports/" + number;

        write(name + "/state", state + "\n");
        write(name + "/link_layer", "InfiniBand\n");
    }

    bool read(ckpt_surroundings &found) const
    {
        std::vector<char *> entries;

        for (const std::string &entry : environment) {
            entries.push_back(const_cast<char *>(entry.c_str()));
        }
        entries.push_back(nullptr);
        return ckpt_surroundings_read(entries.data(), files.c_str(), path("sys").c_str(),
                                      &found) == 1;
    }

    ckpt_surroundings read() const
    {
        ckpt_surroundings found{};

        EXPECT_TRUE(read(found));
        return found;
    }

    bool is_same() const
    {
        const ckpt_surroundings now = read();

        return ckpt_surroundings_equal(&now, &before) != 0;
    }

    fs::path directory;
    std::vector<std::string> environment;
    std::string files;
    ckpt_surroundings before{};
};

TEST_F(Surroundings, AreTheSameAgain)
{
    EXPECT_TRUE(is_same());
    std::swap(environment.front(), environment.back());
    EXPECT_TRUE(is_same()) << "the order of variables";
    environment.emplace_back("OMPI_MCA_orte_tmpdir_base=/tmp");
    environment.emplace_back("OMPI_MCA_ess_base_jobid=7");
    environment.emplace_back("PATH=/bin");
    EXPECT_TRUE(is_same()) << "variables of a launch";
    device("0000:03:00.0", "0x010802", "0x144d", "0xa80a", "nvme");
    EXPECT_TRUE(is_same()) << "a disk";
    fs::rename(directory / "sys/bus/pci/devices/0000:01:00.0",
               directory / "sys/bus/pci/devices/0000:81:00.0");
    EXPECT_TRUE(is_same()) << "another slot";
}

TEST_F(Surroundings, ChangeWithSettings)
{
    for (const char *entry : {"OMPI_MCA_btl=^tcp", "OMPI_MCA_btl_tcp_if_include=eth0",
                              "OMPI_MCA_mtl=ofi", "FI_PROVIDER=tcp", "PSM3_DEVICES=self",
                              "OMPI_MCA_mca_base_component_path=/x", "OPAL_PREFIX=/opt"}) {
        environment.emplace_back(entry);
        EXPECT_FALSE(is_same()) << entry;
        environment.pop_back();
    }
    environment[3] = "OMPI_MCA_pml=ucx";
    EXPECT_FALSE(is_same());
    environment[3] = "OTHER=1";
    EXPECT_FALSE(is_same());
    environment[3] = "OMPI_MCA_pml=^ucx";
    EXPECT_TRUE(is_same());
}

TEST_F(Surroundings, ChangeWithParameterFiles)
{
    write("a.conf", "btl = ^tcp,sm\n");
    EXPECT_FALSE(is_same());
    write("a.conf", "btl = ^tcp\n");
    EXPECT_TRUE(is_same());
    write("missing.conf", "");
    EXPECT_FALSE(is_same()) << "an empty file instead of none";
    fs::remove(directory / "missing.conf");
    fs::remove(directory / "a.conf");
    EXPECT_FALSE(is_same());
}

TEST_F(Surroundings, ChangeWithDevices)
{
    device("0000:82:00.0", "0x020000", "0x15b3", "0x101b", "mlx5_core");
    EXPECT_FALSE(is_same()) << "a second one of the same kind";
    fs::remove_all(directory / "sys/bus/pci/devices/0000:82:00.0");
    EXPECT_TRUE(is_same());
    fs::remove(directory / "sys/bus/pci/devices/0000:01:00.0/driver");
    EXPECT_FALSE(is_same()) << "no driver";
    fs::create_symlink("../drivers/mlx5_core",
                       directory / "sys/bus/pci/devices/0000:01:00.0/driver");
    EXPECT_TRUE(is_same());
    port("mlx5_0", "1", "1: DOWN");
    EXPECT_FALSE(is_same()) << "a port is down";
    port("mlx5_0", "1", "4: ACTIVE");
    EXPECT_TRUE(is_same());
    port("rxe0", "1", "4: ACTIVE");
    EXPECT_FALSE(is_same()) << "RDMA in software";
}

TEST_F(Surroundings, ChangeWithPlacement)
{
    environment[1] = "OMPI_COMM_WORLD_LOCAL_SIZE=1";
    EXPECT_FALSE(is_same());
    environment[0] = "OMPI_COMM_WORLD_SIZE=1";
    environment[1] = "OMPI_COMM_WORLD_LOCAL_SIZE=42";
    EXPECT_FALSE(is_same());
}

TEST_F(Surroundings, CanBeUnknown)
{
    ckpt_surroundings found{};

    environment[1] = "NOTHING=1";
    EXPECT_FALSE(read(found)) << "the launcher does not tell";
    environment[1] = "OMPI_COMM_WORLD_LOCAL_SIZE=2";
    EXPECT_TRUE(read(found));
    fs::remove_all(directory / "sys/bus");
    fs::remove_all(directory / "sys/class/infiniband");
    EXPECT_TRUE(read(found)) << "a node without such devices";
    fs::remove_all(directory / "sys");
    EXPECT_FALSE(read(found)) << "no sysfs";
}

} // namespace
