/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input.c - a rank pauses the relay of its standard input while it saves itself (ckpt/input.h).
 */
#include "files/input.h"

#include "base/invariant.h"
#include "base/text.h"
#include "ckpt/input.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

/* Maximum number of naps until the relay is idle. It is busy for one nonblocking transfer. */
#define TIMEOUT         20000
#define NAP_NANOSECONDS 100000

static int open_page(int fd)
{
    const long owner = ckpt_sys_fcntl(fd, F_GETOWN, 0);
    char path[64];

    if (owner <= 0) {
        return -1;
    }
    ckpt_text_format(path, sizeof path, "/proc/%d/fd/%d", (int)owner,
                     CKPT_RELAY_PAGE);
    return (int)ckpt_sys_open(path, O_RDWR | O_CLOEXEC, 0);
}

/* Checks that the page belongs to the relay of `fd`: its process id may have been reused. */
static int is_relay_of(int fd, const struct ckpt_relay_page *page)
{
    struct stat status;

    return page->magic == CKPT_RELAY_MAGIC &&
           ckpt_sys_fstat(fd, &status) == 0 && status.st_ino == page->inode;
}

static int map_page(int fd, struct ckpt_input_held *held)
{
    struct stat status;
    long address;

    held->page_fd = open_page(fd);
    if (held->page_fd < 0) {
        return 0;
    }
    address = -EINVAL;
    if (ckpt_sys_fstat(held->page_fd, &status) == 0 &&
        S_ISREG(status.st_mode) && status.st_size >= CKPT_RELAY_DATA) {
        address = ckpt_sys_mmap(NULL, CKPT_RELAY_DATA, PROT_READ | PROT_WRITE,
                                MAP_SHARED, held->page_fd, 0);
    }
    if (ckpt_sys_failed(address)) {
        ckpt_sys_close(held->page_fd);
        held->page_fd = -1;
        return 0;
    }
    held->page = (struct ckpt_relay_page *)address;
    return 1;
}

static void unmap_page(struct ckpt_input_held *held)
{
    (void)ckpt_sys_munmap(held->page, CKPT_RELAY_DATA);
    ckpt_sys_close(held->page_fd);
    held->page = NULL;
    held->page_fd = -1;
}

void ckpt_input_release(struct ckpt_input_held *held)
{
    __atomic_store_n(&held->page->hold, 0, __ATOMIC_SEQ_CST);
    (void)ckpt_syscall3(SYS_futex, (long)&held->page->hold, FUTEX_WAKE, INT_MAX);
    unmap_page(held);
}

static int await_stillness(const struct ckpt_relay_page *page)
{
    const struct timespec nap = {0, NAP_NANOSECONDS};

    for (int i = 0; i < TIMEOUT; i++) {
        if (__atomic_load_n(&page->busy, __ATOMIC_SEQ_CST) == 0) {
            return 0;
        }
        (void)ckpt_syscall3(SYS_nanosleep, (long)&nap, 0, 0);
    }
    return -ETIMEDOUT;
}

int ckpt_input_hold(int fd, struct ckpt_input_held *held,
                    struct ckpt_failure *failure)
{
    struct ckpt_relay_page *page;
    int unread = 0;
    int error;

    *held = (struct ckpt_input_held){.page_fd = -1};
    if (!map_page(fd, held)) {
        return 0;
    }
    page = held->page;
    if (!is_relay_of(fd, page)) {
        unmap_page(held);
        return 0;
    }
    __atomic_store_n(&page->hold, 1, __ATOMIC_SEQ_CST);
    error = await_stillness(page);
    if (error == 0) {
        error = (int)ckpt_sys_ioctl(fd, FIONREAD, &unread);
    }
    if (error != 0) {
        ckpt_input_release(held);
        return ckpt_fail(failure, error,
                         "the relay of the standard input does not stand "
                         "still: error %l",
                         (long)-error);
    }
    if (page->given < (uint64_t)unread || page->taken < page->given) {
        ckpt_input_release(held);
        return ckpt_refuse(failure, CKPT_REFUSAL_INTERNAL_ERROR, -EPROTO,
                           "the relay of the standard input has wrong counts: %l taken, %l given, "
                           "%d in the pipe",
                           (long)page->taken, (long)page->given, unread);
    }
    held->position = page->given - (uint64_t)unread;
    held->size = page->taken - held->position;
    CKPT_INVARIANT(held->position + held->size == page->taken);
    held->flags = page->ended != 0 ? CKPT_INPUT_ENDED : 0;
    held->flags |= page->kept != 0 ? CKPT_INPUT_KEPT : 0;
    return 1;
}

int ckpt_input_read(const struct ckpt_input_held *held, void *bytes)
{
    const int64_t first = CKPT_RELAY_DATA + (int64_t)held->position;
    uint64_t done = 0;

    while (done < held->size) {
        const long result =
            ckpt_sys_pread(held->page_fd, (char *)bytes + done,
                           held->size - done, first + (int64_t)done);

        if (result == 0 || (result < 0 && result != -EINTR)) {
            return result == 0 ? -EIO : (int)result;
        }
        done += result > 0 ? (uint64_t)result : 0;
    }
    return 0;
}
