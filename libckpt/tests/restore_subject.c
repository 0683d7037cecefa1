/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restore_subject.c - test program: saves itself to a raw image, dies, and
 * after each restart checks everything it can check about itself.
 *
 *     restore_subject IMAGE FILE ROUNDS [stop]
 *
 * Dies ROUNDS times by SIGKILL after writing IMAGE. If restore_loader restores
 * it each time, it ends with status 0 and "survived ROUNDS" on stdout, and
 * "logged MESSAGES" if it received messages in logs (raw_image.h).
 *
 * stop: writes only the address of its snapshot to IMAGE, in text, and stops,
 * so that another process can save and kill it.
 */
#include "raw_image.h"

#include "ckpt/wire.h"

#include "base/arena.h"
#include "files/files.h"
#include "memory/layout.h"
#include "memory/regions.h"
#include "sys/cpu.h"
#include "process/xsave.h"
#include "task/threads.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "restore_subject: round %d, line %d: %s\n", round, \
                    __LINE__, #condition);                                     \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

enum {
    BLOCKS = 500,
    PAGE = 4096
};

static volatile int round; /* restarts so far */
static uint64_t logged;    /* messages in logs so far */
static __thread int thread_local_value = 1234;
static int zero_initialised[1 << 16]; /* .bss */
static char resume_stack[1 << 16] __attribute__((aligned(16)));
static struct ckpt_context context;
static struct ckpt_arena arena;
static struct ckpt_resume_info resume_info;
static unsigned char page_buffer[PAGE];

/* State of the program, which it checks after each restart. */
static struct {
    char command_line[4096];
    ssize_t command_line_size;
    unsigned char *blocks[BLOCKS];
    char *heap_end;
    char *reserved;     /* PROT_NONE */
    char *shared;       /* MAP_SHARED | MAP_ANONYMOUS */
    char *file_private; /* first page of two changed */
    char *file_shared;  /* read only */
    char *locked_page;  /* has content, PROT_NONE */
    int data;           /* descriptors */
    int duplicate;
    int pipe_ends[2];
    int event;
} own;

static void resume(struct ckpt_resume_info *info)
{
    resume_info = *info;
    ckpt_context_resume(&context);
}

static int no_lower_half(int fd)
{
    (void)fd;
    return 0;
}

static uint64_t thread_pointer(void)
{
    uint64_t value = 0;

    syscall(SYS_arch_prctl, ARCH_GET_FS, &value);
    return value;
}

static _Noreturn void die(const char *why)
{
    fprintf(stderr, "restore_subject: round %d: %s\n", round, why);
    _exit(1);
}

static mode_t current_umask(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return mask;
}

static void describe(struct ckpt_snapshot *snapshot)
{
    struct ckpt_failure failure;
    struct ckpt_region *regions;
    struct ckpt_file *files;
    size_t region_count;
    size_t file_count;
    char directory[4096];
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    path[length < 0 ? 0 : length] = '\0';
    if (getcwd(directory, sizeof directory) == NULL) {
        die(strerror(errno));
    }
    ckpt_arena_reset(&arena);
    *snapshot = (struct ckpt_snapshot){
        .magic = CKPT_SNAPSHOT_MAGIC,
        .version = CKPT_SNAPSHOT_VERSION,
        .resume_entry = (uint64_t)resume,
        .resume_stack = (uint64_t)(resume_stack + sizeof resume_stack),
        .resume_thread_pointer = thread_pointer(),
        .pid = getpid(),
        .rank = -1,
        .rank_count = 1,
        .umask = current_umask(),
        .working_directory = ckpt_arena_string(&arena, directory),
        .executable = ckpt_arena_string(&arena, path),
    };
    ckpt_cpu_read(snapshot->cpu_features);
    ckpt_xsave_read(&snapshot->xsave);
    if (ckpt_files_save(&arena, no_lower_half, &files, &file_count, &failure) ||
        ckpt_process_layout_read(&arena, &snapshot->layout, &failure) ||
        ckpt_regions_scan(&arena, NULL, 0, &regions, &region_count, &failure)) {
        die(failure.text);
    }
    snapshot->regions = (uint64_t)regions;
    snapshot->region_count = (uint32_t)region_count;
    snapshot->files = (uint64_t)files;
    snapshot->file_count = (uint32_t)file_count;
    snapshot->strings = (uint64_t)arena.strings;
    snapshot->strings_size = arena.strings_used;
}

static void put(int fd, const void *bytes, size_t size)
{
    if (write(fd, bytes, size) != (ssize_t)size) {
        die(strerror(errno));
    }
}

/* Returns 1 if a page of the private file mapping differs from the file. */
static int was_written(const struct ckpt_region *region)
{
    const uint64_t swapped = (uint64_t)1 << 62;
    const uint64_t of_file = (uint64_t)1 << 61;
    const uint64_t present = (uint64_t)1 << 63;
    int pagemap = open("/proc/self/pagemap", O_RDONLY);
    uint64_t entry = 0;
    int written = 0;

    for (uint64_t at = region->start; at < region->end; at += PAGE) {
        if (pread(pagemap, &entry, sizeof entry, (off_t)(at / PAGE * 8)) != 8) {
            die("no pagemap");
        }
        written |= (entry & swapped) != 0 ||
                   ((entry & present) != 0 && (entry & of_file) == 0);
    }
    close(pagemap);
    return written;
}

/* Writes the pages of one region that staging does not restore. */
static uint64_t put_region(int image, int memory, uint64_t index,
                           const struct ckpt_region *region)
{
    uint64_t count = 0;

    if (region->kind == CKPT_REGION_FILE_SHARED ||
        (region->kind == CKPT_REGION_FILE && !was_written(region)) ||
        region->end - region->start > (uint64_t)1 << 35) {
        return 0; /* by reference, or the reservation */
    }
    for (uint64_t at = region->start; at < region->end; at += PAGE) {
        struct raw_page record = {.region = index, .address = at};

        if (pread(memory, page_buffer, PAGE, (off_t)at) != PAGE) {
            continue; /* after the end of a mapped file */
        }
        if (page_buffer[0] == 0 &&
            memcmp(page_buffer, page_buffer + 1, PAGE - 1) == 0) {
            continue;
        }
        memcpy(record.bytes, page_buffer, PAGE);
        put(image, &record, sizeof record);
        count++;
    }
    return count;
}

/* The memory is written while it is in use. Only this function's own variables
 * change meanwhile, and no code reads them after a restart. */
static void save_to(const char *path)
{
    struct raw_header header = {0};
    const struct ckpt_region *regions;
    int memory;
    int image;

    describe(&header.snapshot);
    regions = (const struct ckpt_region *)header.snapshot.regions;
    memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    image = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (memory < 0 || image < 0) {
        die(strerror(errno));
    }
    put(image, &header, sizeof header);
    put(image, regions, header.snapshot.region_count * sizeof *regions);
    put(image, (const void *)header.snapshot.files,
        header.snapshot.file_count * sizeof(struct ckpt_file));
    put(image, arena.strings, header.snapshot.strings_size);
    for (uint32_t i = 0; i < header.snapshot.region_count; i++) {
        header.page_count += put_region(image, memory, i, &regions[i]);
    }
    if (pwrite(image, &header, sizeof header, 0) != (ssize_t)sizeof header) {
        die(strerror(errno));
    }
}

/* Stops; another process, which waits for that, saves and kills this one. */
static void stop(const char *path)
{
    static struct ckpt_snapshot snapshot;
    FILE *file = fopen(path, "we");

    if (file == NULL) {
        die(strerror(errno));
    }
    fprintf(file, "%p\n", (void *)&snapshot);
    fclose(file);
    describe(&snapshot);
    kill(getpid(), SIGSTOP);
    die("nobody killed it");
}

static void read_command_line(char *text, size_t capacity, ssize_t *size_p)
{
    int fd = open("/proc/self/cmdline", O_RDONLY);

    *size_p = read(fd, text, capacity);
    close(fd);
}

static void make_mappings(const char *file)
{
    int fd = open(file, O_RDONLY);

    own.reserved = mmap(NULL, (size_t)1 << 40, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    own.shared = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    own.file_private =
        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, PAGE);
    own.file_shared = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    own.locked_page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    close(fd);
    CHECK(own.reserved != MAP_FAILED && own.shared != MAP_FAILED);
    CHECK(own.file_private != MAP_FAILED && own.file_shared != MAP_FAILED);
    CHECK(own.locked_page != MAP_FAILED);
    strcpy(own.shared + PAGE, "shared");
    strcpy(own.file_private, "changed");
    strcpy(own.locked_page, "locked");
    CHECK(mprotect(own.locked_page, PAGE, PROT_NONE) == 0);
}

static void make_descriptors(const char *file)
{
    own.data = open(file, O_RDONLY);
    own.duplicate = dup(own.data);
    own.event = eventfd(7, EFD_NONBLOCK);
    CHECK(own.data >= 0 && own.duplicate >= 0 && own.event >= 0);
    CHECK(lseek(own.data, 100, SEEK_SET) == 100);
    CHECK(pipe(own.pipe_ends) == 0);
    CHECK(write(own.pipe_ends[1], "in the pipe", 12) == 12);
}

static void set_up(const char *file)
{
    for (int i = 0; i < BLOCKS; i++) {
        size_t size = (size_t)(i * 37 % 5000 + 1);

        own.blocks[i] = malloc(size);
        memset(own.blocks[i], i & 255, size);
    }
    own.heap_end = sbrk(0);
    thread_local_value = 4321;
    zero_initialised[777] = 888;
    read_command_line(own.command_line, sizeof own.command_line,
                      &own.command_line_size);
    make_mappings(file);
    make_descriptors(file);
}

static void check_memory(void)
{
    char *break_before = sbrk(0);
    char *grown = sbrk(1 << 20);

    for (int i = 0; i < BLOCKS; i++) {
        size_t size = (size_t)(i * 37 % 5000 + 1);

        CHECK(own.blocks[i][0] == (i & 255));
        CHECK(own.blocks[i][size - 1] == (i & 255));
        own.blocks[i] = realloc(own.blocks[i], size);
    }
    CHECK(break_before >= own.heap_end);
    CHECK(grown == break_before);
    memset(grown, round, 1 << 20);
    CHECK(thread_local_value == 4321);
    CHECK(zero_initialised[777] == 888 && zero_initialised[778] == 0);
    CHECK(strcmp(own.shared + PAGE, "shared") == 0 && own.shared[0] == 0);
    CHECK(strcmp(own.file_private, "changed") == 0);
    CHECK(own.file_private[PAGE] == 'c' && own.file_shared[PAGE] == 'b');
    CHECK(mprotect(own.locked_page, PAGE, PROT_READ) == 0);
    CHECK(strcmp(own.locked_page, "locked") == 0);
    CHECK(mprotect(own.locked_page, PAGE, PROT_NONE) == 0);
    CHECK(munmap(own.reserved + ((size_t)1 << 39), PAGE) == 0);
}

/* The main stack must still grow, down to its limit. */
static int use_stack(int depth)
{
    volatile char frame[16 * PAGE];

    memset((char *)frame, depth, sizeof frame);
    return depth == 0 ? 0 : use_stack(depth - 1) + (frame[5] == (char)depth);
}

static void check_kernel_state(void)
{
    char command_line[sizeof own.command_line];
    ssize_t size;
    struct timespec by_vdso;
    struct timespec by_syscall;

    read_command_line(command_line, sizeof command_line, &size);
    CHECK(size == own.command_line_size);
    CHECK(memcmp(command_line, own.command_line, (size_t)size) == 0);
    CHECK(clock_gettime(CLOCK_MONOTONIC, &by_vdso) == 0);
    CHECK(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &by_syscall) == 0);
    CHECK(by_syscall.tv_sec - by_vdso.tv_sec <= 1);
    CHECK(by_syscall.tv_sec >= by_vdso.tv_sec);
    CHECK(time(NULL) > 1600000000);
    CHECK(use_stack(100) == 100);
    CHECK(current_umask() == 027);
    CHECK(strcmp(resume_info.checkpoint, "test/1") == 0);
    CHECK(munmap((void *)resume_info.retained_start,
                 resume_info.retained_end - resume_info.retained_start) == 0);
}

/* Reads the log as the plugin does, and frees it. */
static void check_message_log(void)
{
    const char *log = (const char *)resume_info.message_log;
    uint64_t size = resume_info.message_log_size;
    struct ckpt_logged_message message;
    uint64_t number = 0;

    CHECK((log == NULL) == (size == 0));
    for (uint64_t at = 0; at < size; at += sizeof message + message.size) {
        memcpy(&message, log + at, sizeof message);
        CHECK(message.magic == CKPT_LOGGED_MAGIC);
        CHECK(message.order == number && message.size == number * 1000);
        for (uint64_t i = 0; i < message.size; i++) {
            CHECK(log[at + sizeof message + i] == (char)number);
        }
        number++;
    }
    logged += number;
    if (size != 0) {
        CHECK(munmap((void *)log, size) == 0);
    }
}

static void check_descriptors(void)
{
    char text[16] = "";
    uint64_t count = 0;

    CHECK(lseek(own.data, 0, SEEK_CUR) == 100 + round - 1);
    CHECK(read(own.duplicate, text, 1) == 1 && text[0] == 'a');
    CHECK(read(own.pipe_ends[0], text, sizeof text) == 12);
    CHECK(strcmp(text, "in the pipe") == 0);
    CHECK(write(own.pipe_ends[1], text, 12) == 12);
    CHECK(read(own.event, &count, sizeof count) == sizeof count);
    CHECK(count == 7);
    CHECK(write(own.event, &count, sizeof count) == sizeof count);
    CHECK(open("/dev/null", O_RDONLY | O_CLOEXEC) == own.pipe_ends[1] + 1);
    CHECK(close(own.pipe_ends[1] + 1) == 0);
}

int main(int argc, char **argv)
{
    sigset_t none;
    int rounds;

    if (argc < 4) {
        fprintf(stderr, "usage: restore_subject IMAGE FILE ROUNDS [stop]\n");
        return 2;
    }
    rounds = atoi(argv[3]);
    close_range(3, ~0u, 0); /* left open by the shell or make */
    ckpt_regions_open();
    ckpt_files_open();
    CHECK(ckpt_arena_open(&arena) == 0);
    umask(027);
    set_up(argv[2]);
    sigemptyset(&none);
    while (round < rounds) {
        if (ckpt_context_capture(&context) == 0) {
            if (argc > 4) {
                stop(argv[1]);
            }
            save_to(argv[1]);
            kill(getpid(), SIGKILL);
        }
        round++;
        sigprocmask(SIG_SETMASK, &none, NULL);
        ckpt_files_resume();
        check_memory();
        check_kernel_state();
        check_message_log();
        check_descriptors();
    }
    printf("survived %d\n", round);
    if (logged != 0) {
        printf("logged %lu\n", logged);
    }
    return 0;
}
