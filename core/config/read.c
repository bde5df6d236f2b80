#include "config/read.h"

#include "config/merge.h"
#include "config/syntax.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static void read_add_errno(struct config_tree *config, int error)
{
    char text[128] = "unknown error";

    (void)strerror_r(error, text, sizeof(text)); /* the text above stays when it fails */
    config_problems_add(&config->problems, 0, "cannot be read: %s", text);
}

/* The text of a file; problems are added. 0, -ENOMEM, or -EINVAL: there is none. */
static int read_text(struct config_tree *config, const char *path, char **ret_text, size_t *ret_len)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        read_add_errno(config, errno);
        return -EINVAL;
    }
    if (!S_ISREG(st.st_mode)) {
        config_problems_add(&config->problems, 0, "is %s, not a regular file",
                            S_ISDIR(st.st_mode) ? "a directory" : "a special file");
        return -EINVAL;
    }

    /* A sparse file of any size costs nothing to make, and much to read. */
    const int r = st.st_size > (off_t)CONFIG_FILE_MAX
                      ? -EFBIG
                      : ccm_text_read_file(path, CONFIG_FILE_MAX, ret_text, ret_len);

    if (r == -EFBIG) {
        config_problems_add(&config->problems, 0, "is larger than %zu bytes", CONFIG_FILE_MAX);
    } else if (r < 0 && r != -ENOMEM) {
        read_add_errno(config, -r);
    }
    return r == 0 || r == -ENOMEM ? r : -EINVAL;
}

static void read_add_syntax(struct config_tree *config, const config_t *tree,
                            const struct config_fault *fault)
{
    const char *why = config_error_text(tree);
    const int line = config_error_line(tree);
    /* What the generated parser says when its stack of fixed size is full. */
    const bool deep = ccm_text_equal(why, "memory exhausted");

    if (ccm_text_equal(why, "syntax error") && fault->text[0] != '\0') {
        config_problems_add(&config->problems, fault->line, "%s", fault->text);
        return;
    }
    config_problems_add(&config->problems, line > 0 ? (unsigned)line : 0, "%s",
                        deep          ? "groups are nested too deeply"
                        : why == NULL ? "cannot be parsed"
                                      : why);
}

/* 0, -ENOMEM, or -EINVAL: problems were added. */
static int read_parse(struct config_tree *config, const char *text, size_t len, config_t *tree)
{
    /* Each number can grow by one byte, and takes at least two. */
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf scanned = { .max = 2 * CONFIG_FILE_MAX };
    const size_t problems = config->problems.count;
    struct config_fault fault;

    config_syntax_read(text, len, &scanned, &config->problems, &fault);

    const int r = ccm_buf_error(&scanned);

    if (r < 0) {
        return r;
    }
    if (config->problems.count > problems) {
        return -EINVAL;
    }
    if (config_read_string(tree, ccm_buf_str(&scanned)) != CONFIG_TRUE) {
        read_add_syntax(config, tree, &fault);
        return -EINVAL;
    }
    return 0;
}

/* Of a folder: one file, added to what those before it say. */
static int read_merge(struct config_tree *config, const char *text, size_t len, unsigned first)
{
    config_t tree;

    config_init(&tree);

    int r = read_parse(config, text, len, &tree);

    if (r == 0) {
        r = config_merge(&config->tree, &tree, first);
    }
    config_destroy(&tree);
    return r;
}

static int read_file(struct config_tree *config, struct config_file *file)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    size_t len = 0;

    config_files_enter(&config->files, file);
    config->problems.first = file->first;

    int r = read_text(config, file->path, &text, &len);

    if (r == 0) {
        config_files_add_lines(&config->files, text);
        r = config->files.is_folder ? read_merge(config, text, len, file->first)
                                    : read_parse(config, text, len, &config->tree);
    }
    config->problems.first = 0;
    return r;
}

static int read_list(struct config_tree *config)
{
    const int r = config_files_list(&config->files, config->file);

    if (r == -ENOENT) {
        config_problems_add(&config->problems, 0,
                            "is a folder without a file whose name ends in .conf");
    } else if (r == -E2BIG) {
        config_problems_add(&config->problems, 0, "has more than %d files that end in .conf",
                            CONFIG_FILES_MAX);
    } else if (r < 0 && r != -ENOMEM) {
        read_add_errno(config, -r);
    }
    return r == 0 || r == -ENOMEM ? r : -EINVAL;
}

int config_read_tree(struct config_tree *config)
{
    int r = 0;

    config->stamp = config_stamp_of(config->file);
    r = read_list(config);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < config->files.len && r != -ENOMEM; i++) {
        const int one = read_file(config, &config->files.items[i]);

        r = one < 0 ? one : r; /* the others are judged as well */
    }
    if (r < 0) {
        return r;
    }

    const struct config_stamp now = config_stamp_of(config->file);

    if (config->files.is_folder && !config_stamp_equal(&now, &config->stamp)) {
        config_problems_add(&config->problems, 0, "its files change while they are read");
        return -EINVAL;
    }
    config->parsed = true;
    return 0;
}
