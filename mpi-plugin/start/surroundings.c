/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * surroundings.c - what the MPI library's choice of components depends on, besides the library.
 *
 * Entries of an environment or of a directory have no order. So the hash of a set is the sum of its
 * entries' hashes.
 */
#include "start/surroundings.h"

#include "base/directory.h"
#include "base/invariant.h"
#include "base/text.h"
#include "lower/ancestors.h"
#include "lower/environment.h"
#include "sys/syscall.h"

#include <fcntl.h>
#include <stddef.h>

#define PATH_SIZE 4096
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

/* Variables of Open MPI, UCX, libfabric, PSM and verbs, and what they find files by. Those that
 * differ from launch to launch (OMPI_MCA_orte_*, OMPI_MCA_ess_*) are not among them. */
static const char *const settings[] = {
    "OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl", "OMPI_MCA_bml", "OMPI_MCA_osc",
    "OMPI_MCA_mca_base_param", "OMPI_MCA_mca_base_component", "OMPI_MCA_mca_component",
    "OMPI_MCA_opal_common", "OMPI_MCA_common_", "OMPI_MCA_if_",
    "OMPI_MCA_accelerator", "OMPI_MCA_reachable", "OPAL_PREFIX=", "HOME=", "UCX_", "FI_", "PSM",
    "HFI_", "MLX", "IBV_", "RDMAV_", "CUDA_VISIBLE_DEVICES=", "ROCR_VISIBLE_DEVICES="};

static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"};

/* Classes of PCI devices (PCI Code and ID Assignment): network, display, processor, accelerator;
 * InfiniBand. */
static const char *const classes[] = {"0x02", "0x03", "0x0b", "0x12", "0x0c06"};

/* FNV-1a, as ckpt_text_hash(), of any bytes. */
static uint64_t fold(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    }
    return hash;
}

/* Adds a file's content. A file that cannot be read counts by the error. */
static uint64_t fold_file(uint64_t hash, const char *path)
{
    char part[4096];
    long fd = ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    long size = fd;

    if (fd >= 0) {
        while ((size = ckpt_sys_read((int)fd, part, sizeof(part))) > 0) {
            hash = fold(hash, part, (size_t)size);
        }
        ckpt_sys_close((int)fd);
    }
    return fold(hash, &size, sizeof(size));
}

static uint64_t settings_of(char *const environment[])
{
    uint64_t sum = 0;

    for (; *environment != NULL; environment++) {
        for (size_t i = 0; i < COUNT(settings); i++) {
            if (ckpt_text_starts(*environment, settings[i])) {
                sum += ckpt_text_hash(*environment);
                break;
            }
        }
    }
    return sum;
}

static uint64_t contents_of(const char *files)
{
    char path[PATH_SIZE];
    uint64_t hash = ckpt_text_hash(files);

    while (*files != '\0') {
        size_t length = 0;

        while (files[length] != ',' && files[length] != '\0' && length + 1 < sizeof(path)) {
            path[length] = files[length];
            length++;
        }
        CKPT_INVARIANT(length < sizeof(path));
        path[length] = '\0';
        hash = fold_file(hash, path);
        files += length + (files[length] == ',');
    }
    return hash;
}

/* Reads a small file of sysfs. "": it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
    const long fd = ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    long length = 0;

    CKPT_INVARIANT(size > 0);
    if (fd >= 0) {
        length = ckpt_sys_read((int)fd, line, size - 1);
        ckpt_sys_close((int)fd);
    }
    line[length > 0 ? length : 0] = '\0';
}

/* The argument of the visits. */
struct scan {
    const char *path; /* of the directory that is visited */
    uint64_t sum;
};

static int is_dot(const char *name)
{
    return name[0] == '.';
}

/* Adds a PCI device: class, vendor, device and driver. Its place in the node does not count. */
static int visit_pci(const struct ckpt_directory_entry *entry, void *argument)
{
    static const char *const parts[] = {"class", "vendor", "device"};
    struct scan *scan = argument;
    char path[PATH_SIZE], line[64], driver[PATH_SIZE];
    uint64_t hash = 0;

    if (is_dot(entry->name)) {
        return 0;
    }
    for (size_t i = 0; i < COUNT(parts); i++) {
        int counts = i > 0;

        ckpt_text_format(path, sizeof(path), "%s/%s/%s", scan->path, entry->name, parts[i]);
        read_line(path, line, sizeof(line));
        for (size_t j = 0; j < COUNT(classes); j++) {
            counts = counts || ckpt_text_starts(line, classes[j]);
        }
        if (!counts) {
            return 0;
        }
        hash = fold(hash, line, ckpt_text_length(line));
    }
    ckpt_text_format(path, sizeof(path), "%s/%s/driver", scan->path, entry->name);
    if (ckpt_link_target(path, driver, sizeof(driver))) {
        hash = fold(hash, driver, ckpt_text_length(driver));
    }
    scan->sum += hash;
    return 0;
}

/* Adds a port of an RDMA device, which libraries use only while it is active. */
static int visit_port(const struct ckpt_directory_entry *entry, void *argument)
{
    static const char *const parts[] = {"state", "link_layer"};
    struct scan *scan = argument;
    char path[PATH_SIZE], line[64];
    uint64_t hash = ckpt_text_hash(entry->name);

    for (size_t i = 0; i < COUNT(parts) && !is_dot(entry->name); i++) {
        ckpt_text_format(path, sizeof(path), "%s/%s/%s", scan->path, entry->name, parts[i]);
        read_line(path, line, sizeof(line));
        hash = fold(hash, line, ckpt_text_length(line));
    }
    scan->sum += is_dot(entry->name) ? 0 : hash;
    return 0;
}

static int visit_rdma(const struct ckpt_directory_entry *entry, void *argument)
{
    struct scan *scan = argument;
    char path[PATH_SIZE];
    struct scan ports = {.path = path};

    if (!is_dot(entry->name)) {
        scan->sum += ckpt_text_hash(entry->name);
        ckpt_text_format(path, sizeof(path), "%s/%s/ports", scan->path, entry->name);
        (void)ckpt_directory_each(path, visit_port, &ports); /* a device without ports */
        scan->sum += ports.sum;
    }
    return 0;
}

/* Returns 1 if sysfs could be read. */
static int read_devices(const char *system, uint64_t *sum_p)
{
    char path[PATH_SIZE];
    struct scan scan = {.path = path};
    struct stat status;

    ckpt_text_format(path, sizeof(path), "%s/class", system);
    if (ckpt_sys_stat(path, &status) != 0) {
        return 0;
    }
    /* A node may have neither of the two. */
    ckpt_text_format(path, sizeof(path), "%s/bus/pci/devices", system);
    (void)ckpt_directory_each(path, visit_pci, &scan);
    ckpt_text_format(path, sizeof(path), "%s/class/infiniband", system);
    (void)ckpt_directory_each(path, visit_rdma, &scan);
    *sum_p = scan.sum;
    return 1;
}

/* Returns 1 if the launcher tells the sizes. */
static int read_placement(char *const environment[], uint64_t *hash_p)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < COUNT(sizes); i++) {
        const char *value = ckpt_environment_value(environment, sizes[i]);

        if (value == NULL) {
            return 0;
        }
        hash = fold(hash, value, ckpt_text_length(value) + 1);
    }
    *hash_p = hash;
    return 1;
}

int ckpt_surroundings_read(char *const environment[], const char *files, const char *system,
                           struct ckpt_surroundings *found)
{
    CKPT_INVARIANT(environment != NULL && files != NULL);
    *found = (struct ckpt_surroundings){.settings = settings_of(environment)};
    found->settings += contents_of(files);
    return read_placement(environment, &found->placement) && read_devices(system, &found->devices);
}

int ckpt_surroundings_equal(const struct ckpt_surroundings *a, const struct ckpt_surroundings *b)
{
    return a->settings == b->settings && a->devices == b->devices && a->placement == b->placement;
}
