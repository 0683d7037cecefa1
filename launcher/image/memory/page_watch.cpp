/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_watch.cpp - asynchronous write protection of another process's memory.
 */
#include "config.h"
#include "image/memory/page_watch.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

/* From linux/userfaultfd.h of Linux 6.7 and later. */
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace ckpt
{

namespace
{

namespace fs = std::filesystem;

/* Returns how much memory is pinned for devices (RDMA, io_uring), as text; empty: none. */
std::string pinned_memory(pid_t pid)
{
    std::ifstream status(fmt::format("/proc/{}/status", pid));
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmPin:")) {
            auto digit = line.find_first_of("123456789");
            return digit == std::string::npos ? std::string() : line.substr(digit);
        }
    }
    return {};
}

/* Memory, random number and terminal devices (majors 1, 4, 5 and 136 to 143) only write to
 * the memory that a system call names, during that call. */
bool is_harmless(dev_t device)
{
    unsigned number = major(device);
    return number == 1 || number == 4 || number == 5 ||
           (number >= 136 && number <= 143);
}

/* Returns a device that the process has open and that may write into its memory; or an
 * empty text. */
std::string open_device(pid_t pid)
{
    std::error_code error;
    for (const fs::path &descriptor : descriptors_of(pid, &error)) {
        struct stat status;
        if (::stat(descriptor.c_str(), &status) == 0 && S_ISCHR(status.st_mode) &&
            !is_harmless(status.st_rdev)) {
            return fs::read_symlink(descriptor, error).string();
        }
    }
    return error ? "descriptors that cannot be seen" : std::string();
}

} // namespace

unsigned long PageWatch::descriptor_flags()
{
    /* USER_MODE_ONLY is enough: with asynchronous protection no faults are reported, and
     * those of the kernel are not refused. */
    return O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY;
}

std::string PageWatch::obstacle(pid_t pid)
{
    if (std::string pinned = pinned_memory(pid); !pinned.empty()) {
        return fmt::format("{} of its memory are pinned for devices", pinned);
    }
    if (std::string device = open_device(pid); !device.empty()) {
        return fmt::format("it has {} open", device);
    }
    return {};
}

PageWatch::PageWatch(pid_t pid, Fd descriptor)
    : pid_(pid), descriptor_(std::move(descriptor)),
      pagemap_(::open(fmt::format("/proc/{}/pagemap", pid).c_str(),
                      O_RDONLY | O_CLOEXEC))
{
    if (!pagemap_) {
        fail_errno(errno, "cannot read the page map of process {}", pid);
    }
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_PAGEFAULT_FLAG_WP;
    if (::ioctl(descriptor_.get(), UFFDIO_API, &api) != 0) {
        fail_errno(errno, "the kernel has no asynchronous write protection");
    }
    categories_ = pagemap::known_categories(pagemap_.get());
    pagemap::ScanArgument nothing = protection({0, 0});
    if (::ioctl(pagemap_.get(), pagemap::scan_request, &nothing) < 0) {
        fail_errno(errno, "the kernel cannot write-protect what it finds in a page map");
    }
}

void PageWatch::watch(const ckpt_range &range)
{
    CKPT_EXPECT(range.start < range.end);
    uffdio_register registration{};
    registration.range = {range.start, range.end - range.start};
    registration.mode = UFFDIO_REGISTER_MODE_WP;
    if (::ioctl(descriptor_.get(), UFFDIO_REGISTER, &registration) != 0) {
        fail_errno(errno, "cannot watch the memory of process {} at {:#x}", pid_,
                   range.start);
    }
}

/* Returns pages with data in mappings that are not watched (any more): new or moved
 * ones. */
PageRanges PageWatch::unwatched(const ckpt_range &range) const
{
    pagemap::ScanArgument argument;
    PageRanges found;
    argument.start = range.start;
    argument.end = range.end;
    argument.category_inverted = pagemap::watched | pagemap::zero_page;
    argument.category_mask = pagemap::watched | pagemap::zero_page;
    argument.category_anyof_mask = pagemap::present | pagemap::swapped;
    argument.return_mask = pagemap::present;
    if (int error = pagemap::scan(pagemap_.get(), argument, found)) {
        fail_errno(error, "cannot read the page map of process {} at {:#x}", pid_,
                   argument.start);
    }
    return found;
}

/* Builds the request for written pages with data in watched mappings; the kernel
 * write-protects them again. */
pagemap::ScanArgument PageWatch::protection(const ckpt_range &range) const
{
    pagemap::ScanArgument argument;
    std::uint64_t unwanted = pagemap::zero_page | (categories_ & pagemap::guard);
    argument.start = range.start;
    argument.end = range.end;
    argument.flags = pagemap::write_protect_matching;
    argument.category_inverted = unwanted;
    argument.category_mask = unwanted | pagemap::written | pagemap::watched;
    argument.category_anyof_mask = pagemap::present | pagemap::swapped;
    argument.return_mask = pagemap::written;
    return argument;
}

/* A mapping without data need not be watched: all data that appears in it later counts as
 * new. */
PageRanges PageWatch::look(const ckpt_range &range)
{
    CKPT_EXPECT(range.start < range.end);
    PageRanges strange = unwatched(range), written;
    if (!strange.empty()) {
        watch(range);
    }
    pagemap::ScanArgument argument = protection(range);
    if (int error = pagemap::scan(pagemap_.get(), argument, written)) {
        /* pages found before the error are protected again, so their changes may be lost */
        fail_errno(error, "cannot write-protect the memory of process {} at {:#x}", pid_,
                   argument.start);
    }
    return unite(strange, written);
}

} // namespace ckpt
