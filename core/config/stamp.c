/* What tells whether the files of a configuration have changed. */
#include "config/files.h"
#include "config/load.h"
#include "util/text.h"

#include <sys/stat.h>

static struct config_stamp stamp_of_file(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        return (struct config_stamp){ 0 };
    }
    return (struct config_stamp){
        .device = (uint64_t)st.st_dev,
        .inode = (uint64_t)st.st_ino,
        .size = (uint64_t)st.st_size,
        .changed_s = st.st_mtim.tv_sec,
        .changed_ns = st.st_mtim.tv_nsec,
    };
}

/* One number per member, so that files that change places differ as well. */
static void stamp_add(struct config_stamp *sum, const struct config_file *file)
{
    static const uint64_t prime = 1099511628211U;
    const struct config_stamp one = stamp_of_file(file->path);

    sum->device = sum->device * prime + (one.device ^ ccm_text_hash(file->path));
    sum->inode = sum->inode * prime + one.inode;
    sum->size = sum->size * prime + one.size;
    sum->changed_s = (int64_t)((uint64_t)sum->changed_s * prime + (uint64_t)one.changed_s);
    sum->changed_ns = (int64_t)((uint64_t)sum->changed_ns * prime + (uint64_t)one.changed_ns);
}

struct config_stamp config_stamp_of(const char *path)
{
    struct config_files files;
    struct config_stamp stamp = { 0 };
    const int r = config_files_list(&files, path);

    if (!files.is_folder) {
        stamp = stamp_of_file(path);
    }
    for (size_t i = 0; r == 0 && files.is_folder && i < files.len; i++) {
        stamp_add(&stamp, &files.items[i]);
    }
    config_files_fini(&files);
    return stamp;
}

bool config_stamp_equal(const struct config_stamp *a, const struct config_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}
