#include "plugin/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Real shared objects have about 10 and about 30. */
#define MAX_SEGMENTS 64
#define MAX_DYNAMIC  512

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OUR_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define OUR_MACHINE EM_PPC64
#elif defined(__s390x__)
#define OUR_MACHINE EM_S390
#else
#error "name the ELF machine of this architecture here"
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_DATA ELFDATA2LSB
#else
#define OUR_DATA ELFDATA2MSB
#endif

struct elf_file {
    int fd;
    const char *path;
    uint64_t size;
    Elf64_Ehdr header;
    Elf64_Phdr segments[MAX_SEGMENTS];
    Elf64_Dyn dynamic[MAX_DYNAMIC];
};

static int elf_refuse_file(const struct elf_file *file, struct ccm_error *err, const char *reason)
{
    return ccm_error_set(err, -ENOEXEC, CCM_ERROR_TERMINAL, "%s: %s", file->path, reason);
}

/* Exactly len bytes at offset. */
static int read_at(const struct elf_file *file, void *to, size_t len, uint64_t offset,
                   struct ccm_error *err)
{
    char *bytes = to;
    size_t done = 0;

    if (offset > file->size || len > file->size - offset) {
        return elf_refuse_file(file, err, "the file is cut off: copy or build it again");
    }
    while (done < len) {
        const ssize_t n = pread(file->fd, bytes + done, len - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return ccm_error_set(err, n < 0 ? -errno : -EIO, CCM_ERROR_TERMINAL,
                                 "%s: cannot be read: %s", file->path,
                                 n < 0 ? strerror(errno) : "it became shorter");
        }
        done += (size_t)n;
    }
    return 0;
}

static const char *name_of_other_form(const unsigned char *start)
{
    if (memcmp(start, "#!", 2) == 0) {
        return "a script, not a shared object: a plugin is compiled code";
    }
    if (memcmp(start, "!<arch>", 7) == 0) {
        return "a static library, not a shared object: link it with -shared";
    }
    return "not an ELF file, so not a shared object";
}

static int check_header(struct elf_file *file, struct ccm_error *err)
{
    const unsigned char *ident = file->header.e_ident;
    int r;

    if (file->size == 0) {
        return elf_refuse_file(file, err, "the file is empty");
    }
    if (file->size < sizeof(file->header)) {
        return elf_refuse_file(file, err, "not an ELF file, so not a shared object (too short)");
    }
    r = read_at(file, &file->header, sizeof(file->header), 0, err);
    if (r < 0) {
        return r;
    }
    if (memcmp(ident, ELFMAG, SELFMAG) != 0) {
        return elf_refuse_file(file, err, name_of_other_form(ident));
    }
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != OUR_DATA ||
        file->header.e_machine != OUR_MACHINE) {
        return ccm_error_set(err, -ENOEXEC, CCM_ERROR_TERMINAL,
                             "%s: built for another machine (ELF class %u, data %u, machine %u; "
                             "this ccmd is class %u, data %u, machine %u)",
                             file->path, ident[EI_CLASS], ident[EI_DATA], file->header.e_machine,
                             ELFCLASS64, OUR_DATA, OUR_MACHINE);
    }
    if (file->header.e_type == ET_REL) {
        return elf_refuse_file(file, err,
                               "an object file, not a shared object: link it with -shared");
    }
    if (file->header.e_type != ET_DYN) {
        return elf_refuse_file(file, err,
                               "an ELF file, but not a shared object: link it with -shared");
    }
    return 0;
}

static int read_segments(struct elf_file *file, struct ccm_error *err)
{
    const size_t count = file->header.e_phnum;
    int r;

    if (file->header.e_phentsize != sizeof(Elf64_Phdr) || count == 0 || count > MAX_SEGMENTS) {
        return elf_refuse_file(file, err, "its ELF program headers make no sense");
    }
    r = read_at(file, file->segments, count * sizeof(Elf64_Phdr), file->header.e_phoff, err);
    if (r < 0) {
        return r;
    }
    /* Touching a mapped page behind the end of the file would be a SIGBUS in the daemon. */
    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *segment = &file->segments[i];

        if (segment->p_type == PT_LOAD && (segment->p_offset > file->size ||
                                           segment->p_filesz > file->size - segment->p_offset)) {
            return elf_refuse_file(file, err, "the file is cut off: copy or build it again");
        }
    }
    return 0;
}

static const Elf64_Phdr *find_dynamic(const struct elf_file *file)
{
    for (size_t i = 0; i < file->header.e_phnum; i++) {
        if (file->segments[i].p_type == PT_DYNAMIC) {
            return &file->segments[i];
        }
    }
    return NULL;
}

static int check_constructors(struct elf_file *file, struct ccm_error *err)
{
    const Elf64_Phdr *segment = find_dynamic(file);
    size_t count;
    int r;

    if (segment == NULL) {
        return elf_refuse_file(file, err,
                               "an ELF file without dynamic section: link it with -shared");
    }
    count = segment->p_filesz / sizeof(Elf64_Dyn);
    if (count > MAX_DYNAMIC) {
        return elf_refuse_file(file, err, "its ELF dynamic section is too long");
    }
    r = read_at(file, file->dynamic, count * sizeof(Elf64_Dyn), segment->p_offset, err);
    if (r < 0) {
        return r;
    }
#ifdef CCM_PLUGIN_ANY_CONSTRUCTOR
    count = 0;
#endif
    for (size_t i = 0; i < count && file->dynamic[i].d_tag != DT_NULL; i++) {
        if (file->dynamic[i].d_tag == DT_INIT_ARRAYSZ &&
            file->dynamic[i].d_un.d_val > sizeof(void *)) {
            return elf_refuse_file(
                file, err,
                "it has constructors, code that runs before the plugin is checked: "
                "remove __attribute__((constructor)) and C++ objects with static state");
        }
    }
    return 0;
}

int plugin_elf_check(int fd, const char *path, struct ccm_error *err)
{
    struct elf_file file = { .fd = fd, .path = path };
    struct stat st;
    int r;

    if (fstat(fd, &st) < 0) {
        return ccm_error_set(err, -errno, CCM_ERROR_TERMINAL, "%s: %s", path, strerror(errno));
    }
    file.size = (uint64_t)st.st_size;
    r = check_header(&file, err);
    if (r < 0) {
        return r;
    }
    r = read_segments(&file, err);
    if (r < 0) {
        return r;
    }
    return check_constructors(&file, err);
}
