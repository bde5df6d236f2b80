#include "plugin/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Real shared objects have about 10 and about 30. */
#define MAX_SEGMENTS 64
#define MAX_DYNAMIC  512
#define MAX_STRINGS  ((uint64_t)4 << 20) /* of C++ names, mostly */

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
    size_t dynamic_count;
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

static int read_dynamic(struct elf_file *file, struct ccm_error *err)
{
    const Elf64_Phdr *segment = find_dynamic(file);

    if (segment == NULL) {
        return elf_refuse_file(file, err,
                               "an ELF file without dynamic section: link it with -shared");
    }
    file->dynamic_count = segment->p_filesz / sizeof(Elf64_Dyn);
    if (file->dynamic_count > MAX_DYNAMIC) {
        return elf_refuse_file(file, err, "its ELF dynamic section is too long");
    }
    return read_at(file, file->dynamic, file->dynamic_count * sizeof(Elf64_Dyn), segment->p_offset,
                   err);
}

static int check_constructors(const struct elf_file *file, struct ccm_error *err)
{
#ifndef CCM_PLUGIN_ANY_CONSTRUCTOR
    for (size_t i = 0; i < file->dynamic_count && file->dynamic[i].d_tag != DT_NULL; i++) {
        if (file->dynamic[i].d_tag == DT_INIT_ARRAYSZ &&
            file->dynamic[i].d_un.d_val > sizeof(void *)) {
            return elf_refuse_file(
                file, err,
                "it has constructors, code that runs before the plugin is checked: remove "
                "__attribute__((constructor)) and C++ objects with static state; or allow them, as "
                "the libraries of Rust and C++ bring some along: constructors = true in its entry "
                "of the configuration, option --constructors for a file");
        }
    }
#else
    (void)file; /* every file of this build has some */
    (void)err;
#endif
    return 0;
}

static int read_file(int fd, const char *path, struct elf_file *file, struct ccm_error *err)
{
    struct stat st;
    int r;

    *file = (struct elf_file){ .fd = fd, .path = path };
    if (fstat(fd, &st) < 0) {
        return ccm_error_set(err, -errno, CCM_ERROR_TERMINAL, "%s: %s", path, strerror(errno));
    }
    file->size = (uint64_t)st.st_size;
    r = check_header(file, err);
    if (r < 0) {
        return r;
    }
    r = read_segments(file, err);
    if (r < 0) {
        return r;
    }
    return read_dynamic(file, err);
}

int plugin_elf_check(int fd, const char *path, bool constructors, struct ccm_error *err)
{
    struct elf_file file;
    const int r = read_file(fd, path, &file, err);

    return r < 0 || constructors ? r : check_constructors(&file, err);
}

/* --- what the file needs --- */

static uint64_t dynamic_value(const struct elf_file *file, int64_t tag)
{
    for (size_t i = 0; i < file->dynamic_count && file->dynamic[i].d_tag != DT_NULL; i++) {
        if (file->dynamic[i].d_tag == tag) {
            return file->dynamic[i].d_un.d_val;
        }
    }
    return 0;
}

/* Where in the file the byte stands that is mapped to the address; false = nowhere. */
static bool offset_of_address(const struct elf_file *file, uint64_t address, uint64_t *ret)
{
    for (size_t i = 0; i < file->header.e_phnum; i++) {
        const Elf64_Phdr *segment = &file->segments[i];

        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz) {
            *ret = segment->p_offset + (address - segment->p_vaddr);
            return true;
        }
    }
    return false;
}

static int read_strings(const struct elf_file *file, struct plugin_elf_links *links,
                        struct ccm_error *err)
{
    const uint64_t len = dynamic_value(file, DT_STRSZ);
    uint64_t offset;
    int r;

    if (len == 0 || len > MAX_STRINGS ||
        !offset_of_address(file, dynamic_value(file, DT_STRTAB), &offset)) {
        return elf_refuse_file(file, err, "its table of names makes no sense");
    }
    links->private_strings = calloc(1, len + 1);
    if (links->private_strings == NULL) {
        return ccm_error_nomem(err);
    }
    r = read_at(file, links->private_strings, len, offset, err);
    links->private_len = len;
    return r;
}

static int add_link(const struct elf_file *file, const Elf64_Dyn *entry,
                    struct plugin_elf_links *links, struct ccm_error *err)
{
    const char *text = links->private_strings + entry->d_un.d_val;

    if (entry->d_un.d_val >= links->private_len) {
        return elf_refuse_file(file, err, "its table of names makes no sense");
    }
    if (entry->d_tag == DT_RUNPATH) {
        links->run_path = text;
        return 0;
    }
    if (entry->d_tag != DT_NEEDED) {
        return elf_refuse_file(file, err,
                               "it brings libraries along by RPATH, a filter or an audit, which "
                               "this ccmd does not follow: link it with -Wl,--enable-new-dtags "
                               "and without filters");
    }
    if (links->needed_count == PLUGIN_ELF_MAX_NEEDED) {
        return elf_refuse_file(file, err, "it needs too many libraries");
    }
    links->needed[links->needed_count++] = text;
    return 0;
}

static bool is_link(int64_t tag)
{
    return tag == DT_NEEDED || tag == DT_RUNPATH || tag == DT_RPATH || tag == DT_FILTER ||
           tag == DT_AUXILIARY || tag == DT_AUDIT || tag == DT_DEPAUDIT;
}

int plugin_elf_read_links(int fd, const char *path, struct plugin_elf_links *ret,
                          struct ccm_error *err)
{
    struct elf_file file;
    int r = read_file(fd, path, &file, err);

    *ret = (struct plugin_elf_links){ 0 };
    if (r == 0) {
        r = read_strings(&file, ret, err);
    }
    for (size_t i = 0; r == 0 && i < file.dynamic_count && file.dynamic[i].d_tag != DT_NULL; i++) {
        if (is_link(file.dynamic[i].d_tag)) {
            r = add_link(&file, &file.dynamic[i], ret, err);
        }
    }
    if (r < 0) {
        plugin_elf_links_fini(ret);
    }
    return r;
}

void plugin_elf_links_fini(struct plugin_elf_links *links)
{
    free(links->private_strings);
    *links = (struct plugin_elf_links){ 0 };
}
