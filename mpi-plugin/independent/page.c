/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page.c - make the memory that ranks with independent checkpoints share.
 */
#include "independent/page.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "base/text.h"
#include "handles/window_shared.h"
#include "independent/fault_injection.h"
#include "independent/interval.h"
#include "independent/pause.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "sys/descriptor.h"
#include "sys/syscall.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* A memory file as its maker announces it to the others; error: 0 on success. */
struct offer {
    int error;
    int pid;
    int descriptor;
};

static void make(const char *name, size_t size, struct offer *offer)
{
    const long fd = ckpt_sys_memfd_create(name, MFD_CLOEXEC);

    *offer = (struct offer){.error = fd < 0, .pid = ckpt_sys_getpid(), .descriptor = (int)fd};
    if (fd >= 0) {
        offer->error = ckpt_sys_ftruncate((int)fd, (int64_t)size) != 0;
    }
}

static long open_offered(const struct offer *offer)
{
    char path[64];

    ckpt_text_format(path, sizeof(path), "/proc/%d/fd/%d", offer->pid, offer->descriptor);
    return ckpt_sys_open(path, O_RDWR | O_CLOEXEC, 0);
}

static int map(struct ckpt_independent_file *file)
{
    const int fixed = file->memory != NULL ? MAP_FIXED : 0;
    const long address = (long)ckpt_sys_mmap(file->memory, file->size, PROT_READ | PROT_WRITE,
                                             MAP_SHARED | fixed, file->descriptor, 0);

    if (!ckpt_sys_failed(address)) {
        file->memory = (void *)address;
    }
    return ckpt_sys_failed(address);
}

/* All members agree whether all have the memory. */
static int agree(MPI_Comm comm, int failed)
{
    const int code = CKPT_FUNCTION(Allreduce)(MPI_IN_PLACE, &failed, 1, CKPT_LOWER(MPI_INT),
                                              CKPT_LOWER(MPI_MAX), comm);

    return code == MPI_SUCCESS && failed ? MPI_ERR_NO_MEM : code;
}

int ckpt_independent_share(MPI_Comm comm, const char *name, struct ckpt_independent_file *file)
{
    struct offer offer = {.error = 1};
    int code, rank, failed = 1;

    file->descriptor = -1;
    code = CKPT_FUNCTION(Comm_rank)(comm, &rank);
    if (code == MPI_SUCCESS && rank == 0) {
        make(name, file->size, &offer);
    }
    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Bcast)(&offer, sizeof(offer), CKPT_LOWER(MPI_BYTE), 0, comm);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (!offer.error) {
        file->descriptor = rank == 0 ? offer.descriptor : (int)open_offered(&offer);
    }
    if (file->descriptor >= 0) {
        failed = map(file);
    }
    return agree(comm, failed); /* all have opened it by then */
}

int ckpt_independent_share_memory(MPI_Comm comm, const char *name, size_t size,
                                  void **memory)
{
    struct ckpt_independent_file file = {.size = size};
    const int code = ckpt_independent_share(comm, name, &file);

    if (file.descriptor >= 0) {
        ckpt_sys_close(file.descriptor);
    }
    *memory = file.memory;
    return code;
}

/* The launcher sets the variable for all ranks alike. */
static int is_wanted(void)
{
    const char *protocol = ckpt_runtime_getenv("CKPT_PROTOCOL");

    return protocol != NULL && strcmp(protocol, "independent") == 0;
}

/* Finds why independent checkpoints are impossible, or sets NULL. All ranks get the same
 * result. */
static int find_obstacle(const char **obstacle)
{
    uintptr_t upper = ckpt_enter();
    int on_one_node;
    const int code = ckpt_shared_possible(CKPT_LOWER(MPI_COMM_WORLD), &on_one_node);

    ckpt_leave(upper);
    *obstacle = !on_one_node             ? "the ranks are on several nodes"
                : ckpt_collectives_split ? "a rank has MPI_THREAD_MULTIPLE"
                                         : NULL;
    return code;
}

static int page_descriptor = -1;

int ckpt_independent_descriptor(void)
{
    return page_descriptor;
}

/* Makes the page at any address, or at *page if that is not NULL. */
static int share_page(struct ckpt_independent_page **page, int rank_count)
{
    struct ckpt_independent_file file = {
        .memory = *page, .size = CKPT_INDEPENDENT_SIZE((size_t)rank_count)};
    uintptr_t upper = ckpt_enter();
    const int code =
        ckpt_independent_share(CKPT_LOWER(MPI_COMM_WORLD), "ckpt-independent", &file);

    ckpt_leave(upper);
    if (file.descriptor >= 0) {
        page_descriptor = ckpt_descriptor_raise(file.descriptor);
    }
    ckpt_independent_pause_open(rank_count);
    *page = file.memory;
    return code;
}

static int open_page(int rank, int rank_count)
{
    struct ckpt_independent_page *page = NULL;
    int code = share_page(&page, rank_count);

    CKPT_INVARIANT(rank >= 0 && rank < rank_count);
    if (code != MPI_SUCCESS) {
        return code;
    }
    page->magic = CKPT_INDEPENDENT_MAGIC; /* all ranks write the same values */
    page->version = CKPT_INDEPENDENT_VERSION;
    page->rank_count = (uint32_t)rank_count;
    ckpt_independent_self = &page->rank[rank];
    code = ckpt_interval_open(rank, rank_count);
    if (code == MPI_SUCCESS) {
        ckpt_independent = page;
        ckpt_rank_fault_open(rank);
    }
    return code;
}

/* The first rank restores the contents for all; the others wait meanwhile. */
int ckpt_independent_restarted(void)
{
    struct ckpt_independent_page *page = ckpt_independent;
    const size_t size = page == NULL ? 0 : CKPT_INDEPENDENT_SIZE((size_t)page->rank_count);
    void *content;
    int code;

    if (page == NULL) {
        return MPI_SUCCESS;
    }
    if (!CKPT_INVARIANT(page->magic == CKPT_INDEPENDENT_MAGIC &&
                        page->rank_count == (uint32_t)ckpt_time_count)) {
        return MPI_ERR_INTERN;
    }
    content = ckpt_memory_alloc(size); /* other threads may hold malloc's lock */
    if (content == NULL) {
        return MPI_ERR_NO_MEM;
    }
    memcpy(content, page, size);
    code = share_page(&page, ckpt_time_count);
    if (code == MPI_SUCCESS && ckpt_time_rank == 0) {
        memcpy(page, content, size);
    }
    ckpt_memory_free(content, size);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Barrier, CKPT_LOWER(MPI_COMM_WORLD));
    }
    return code;
}

int ckpt_independent_in_new_world(void)
{
    if (page_descriptor >= 0) {
        ckpt_sys_close(page_descriptor);
        page_descriptor = -1;
    }
    return ckpt_independent_restarted();
}

int ckpt_independent_open(int rank, int rank_count)
{
    const char *obstacle;
    int code;

    if (!is_wanted()) {
        return MPI_SUCCESS;
    }
    code = find_obstacle(&obstacle);
    if (code == MPI_SUCCESS && obstacle != NULL && rank == 0) {
        fprintf(stderr,
                "ckpt: no independent checkpoints, as %s: if one fails all go back, to a "
                "checkpoint of all\n",
                obstacle);
    }
    return code == MPI_SUCCESS && obstacle == NULL ? open_page(rank, rank_count) : code;
}
