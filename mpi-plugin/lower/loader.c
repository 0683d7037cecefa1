/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader.c - load a lower half into this process.
 *
 * Maps a second dynamic linker, gives it a stack that says "run ckpt-host", and
 * enters it. It starts like any program. At the end ckpt-host's main calls
 * table->back, and ckpt_lower_load() returns. From then on a call into the
 * lower half needs only its thread pointer.
 *
 * This code does not allocate: a restart runs it in memory that was just
 * restored.
 */
#include "base/invariant.h"
#include "config.h"
#include "lower/lower.h"

#include "base/text.h"
#include "lower/elf.h"
#include "lower/enter.h"
#include "lower/environment.h"
#include "lower/loader.h"
#include "lower/mappings.h"
#include "lower/program.h"
#include "lower/start.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define STACK_SIZE      (UINT64_C(8) << 20)
#define PAGE            UINT64_C(4096)
#define PATH_SIZE       4096
#define BEFORE_CAPACITY 131072 /* above the kernel's default max_map_count */
_Static_assert(STACK_SIZE % PAGE == 0, "a guard page lies below the stack");

/* Data for ckpt-host in lower memory, besides its stack. */
struct notes {
    struct ckpt_lower_start start;
    char library_path[65536];
    struct ckpt_range before[BEFORE_CAPACITY];
};

/* The mappings made here: linker, notes, stack. */
enum {
    LOADED_MAX = 3
};
static struct ckpt_range loaded[LOADED_MAX];
static int loaded_count;

/* State to return to for the thread that loads. */
static uint64_t saved_stack;
static uintptr_t saved_thread_pointer;

static void *map(uint64_t size, struct ckpt_failure *failure, int *status_p)
{
    long base = ckpt_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                              0);

    if (ckpt_sys_failed(base)) {
        *status_p = ckpt_fail(failure, (int)base,
                              "no memory for the lower half: error %d",
                              (int)-base);
        return NULL;
    }
    CKPT_INVARIANT(loaded_count < LOADED_MAX);
    loaded[loaded_count++] =
        (struct ckpt_range){(uint64_t)base, (uint64_t)base + size};
    return (void *)base;
}

static void unmap_all(void)
{
    while (loaded_count > 0) {
        loaded_count--;
        ckpt_sys_munmap((void *)loaded[loaded_count].start,
                        loaded[loaded_count].end - loaded[loaded_count].start);
    }
}

/* Opens ckpt-host to find its dynamic linker, and maps that. */
static int map_linker(const char *host_path, struct ckpt_program *program,
                      struct ckpt_failure *failure)
{
    struct ckpt_elf elf;
    char path[PATH_SIZE];
    uint64_t bias;
    int status;

    status = ckpt_elf_open(host_path, &elf, failure);
    if (status != 0) {
        return status;
    }
    status = ckpt_elf_interpreter(&elf, path, sizeof(path), failure);
    ckpt_elf_close(&elf);
    if (status != 0) {
        return status;
    }

    status = ckpt_elf_open(path, &elf, failure);
    if (status != 0) {
        return status;
    }
    CKPT_INVARIANT(loaded_count < LOADED_MAX);
    status = ckpt_elf_map(&elf, &loaded[loaded_count], &bias, failure);
    ckpt_elf_close(&elf);
    if (status != 0) {
        return status;
    }
    loaded_count++;
    /* The first segment begins with the file's first page. */
    program->headers = bias + elf.header.e_phoff;
    program->header_count = elf.header.e_phnum;
    program->entry = bias + elf.header.e_entry;
    return 0;
}

/*
 * Makes the library search path: the MPI library's directory first, then the
 * application's LD_LIBRARY_PATH.
 */
static int find_library_path(const char *library, char *const environment[],
                             char *path, size_t size,
                             struct ckpt_failure *failure)
{
    const char *given = ckpt_environment_value(environment, "LD_LIBRARY_PATH");
    size_t directory = 0, length;

    for (size_t i = 0; library[i] != '\0'; i++) {
        if (library[i] == '/') {
            directory = i;
        }
    }
    if (given == NULL) {
        given = "";
    }
    if (directory + 1 + ckpt_text_length(given) + 1 > size) {
        return ckpt_fail(failure, -E2BIG, "LD_LIBRARY_PATH is too long");
    }
    length = ckpt_text_copy(path, directory + 1, library);
    if (*given != '\0') {
        ckpt_text_format(path + length, size - length, "%s%s",
                         length > 0 ? ":" : "", given);
    }
    return 0;
}

/* Returns 1 if this process has a single thread. */
static int is_alone(void)
{
    struct stat tasks;

    /* "." and ".." count as links, and one directory for each thread. */
    return ckpt_sys_stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

/* Builds the command line of ckpt-host and writes its stack. */
static int write_stack(struct ckpt_program *program, struct notes *notes,
                       const char *host_path, uint64_t *stack_p,
                       struct ckpt_failure *failure)
{
    const char *arguments[6];
    char address[32];
    uint64_t size;
    char *memory;
    int status, count = 0;

    ckpt_text_format(address, sizeof(address), "%x",
                     (unsigned long)&notes->start);
    arguments[count++] = "ckpt-ld.so";
    if (notes->library_path[0] != '\0') {
        arguments[count++] = "--library-path";
        arguments[count++] = notes->library_path;
    }
    arguments[count++] = host_path;
    arguments[count++] = address;
    CKPT_INVARIANT(count < (int)(sizeof(arguments) / sizeof(arguments[0])));
    arguments[count] = NULL;
    program->arguments = arguments;

    size = STACK_SIZE + ckpt_program_measure(program);
    size = (size + PAGE - 1) & ~(PAGE - 1);
    memory = map(size, failure, &status);
    if (memory == NULL) {
        return status;
    }
    ckpt_sys_mprotect(memory, PAGE, PROT_NONE); /* guard page */
    return ckpt_program_write(program, memory + size, stack_p, failure);
}

/* The last call of ckpt-host's main, on its stack, with its thread pointer. */
static void come_back(struct ckpt_lower *table)
{
    (void)table;
    ckpt_thread_pointer_set(saved_thread_pointer);
    ckpt_stack_leave(saved_stack);
}

/*
 * Runs ckpt-host until its main calls come_back(). Blocks all signals: a
 * handler of the application could not run with an incomplete thread pointer.
 */
static void run(const struct ckpt_program *program, uint64_t stack)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t mask;

    ckpt_sys_sigprocmask(SIG_BLOCK, &all, &mask);
    saved_thread_pointer = ckpt_thread_pointer_get();
    ckpt_stack_enter(program->entry, stack, &saved_stack);
    ckpt_sys_sigprocmask(SIG_SETMASK, &mask, NULL);
}

static int prepare(struct ckpt_program *program, struct ckpt_lower *table,
                   const char *host_path, int alone, uint64_t *stack_p,
                   struct ckpt_failure *failure)
{
    struct notes *notes;
    int status;

    status = map_linker(host_path, program, failure);
    if (status != 0) {
        return status;
    }
    notes = map((sizeof(*notes) + PAGE - 1) & ~(PAGE - 1), failure, &status);
    if (notes == NULL) {
        return status;
    }
    status = find_library_path(table->library, program->environment,
                               notes->library_path,
                               sizeof(notes->library_path), failure);
    if (status != 0) {
        return status;
    }
    status = write_stack(program, notes, host_path, stack_p, failure);
    if (status != 0) {
        return status;
    }

    CKPT_INVARIANT(loaded_count == LOADED_MAX); /* linker, notes, stack */
    notes->start.table = table;
    notes->start.before = notes->before;
    notes->start.before_count = 0;
    if (alone || is_alone()) {
        status = ckpt_mappings_read(notes->before, BEFORE_CAPACITY);
        notes->start.before_count = status > 0 ? status : 0;
    }
    return 0;
}

int ckpt_lower_load(struct ckpt_lower *table, const char *host_path,
                    char *const environment[], uint64_t vdso, int alone,
                    struct ckpt_failure *failure)
{
    struct ckpt_program program = {.environment = environment, .vdso = vdso};
    uint64_t stack;
    int status;

    loaded_count = 0;
    status = prepare(&program, table, host_path, alone, &stack, failure);
    if (status != 0) {
        unmap_all();
        return status;
    }

    table->version = CKPT_LOWER_VERSION;
    table->status = 0;
    table->back = come_back;
    table->failure.text[0] = '\0';
    run(&program, stack);

    CKPT_INVARIANT(ckpt_thread_pointer_get() == saved_thread_pointer);
    if (table->status != 0) {
        return ckpt_fail(failure, table->status, "%s", table->failure.text);
    }
    return 0;
}

int ckpt_lower_loader_ranges(struct ckpt_range *ranges, int capacity)
{
    int count = 0;

    while (count < loaded_count && count < capacity) {
        ranges[count] = loaded[count];
        count++;
    }
    return count;
}

void ckpt_lower_loader_forget(void)
{
    loaded_count = 0;
}
