/* docs-gen PAGE FILE [PLUGIN...]: writes one page of docs/ to standard output, the text of the file
 * first, or, as page "manual", a manual page with that text around what is generated.
 * docs-gen completion SHELL: the completion of a shell. */
#include "pages.h"

#include "tools/completion.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>

#define MAX_PLUGINS 16
#define MAX_HEAD    65536

void docs_cell(struct ccm_buf *page, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '|') {
            ccm_buf_addc(page, '\\');
        }
        ccm_buf_addc(page, *p == '\n' ? ' ' : *p);
    }
}

#define MANUAL "manual"

/* What is written when all plugins are there. */
static void page_fill(struct ccm_buf *page, const char *name, const char *text,
                      struct plugin_loaded_plugin *const *plugins, size_t count)
{
    if (ccm_text_equal(name, MANUAL)) {
        docs_manual(page, text, plugins, count);
        return;
    }
    ccm_buf_adds(page, text);
    ccm_buf_adds(page, "\n<!-- Generated from the tables of the program: change those, then run "
                       "`make docs`. -->\n");
    if (ccm_text_equal(name, "configuration")) {
        docs_configuration(page, plugins, count);
    } else if (ccm_text_equal(name, "annotations")) {
        docs_annotations(page);
    } else if (ccm_text_equal(name, "troubleshooting")) {
        docs_troubleshooting(page);
    }
}

static int page_write(struct ccm_buf *page, const char *name, const char *text, char **files,
                      size_t count)
{
    struct plugin_loaded_plugin *plugins[MAX_PLUGINS] = { NULL };
    struct ccm_error err = CCM_ERROR_INIT;
    size_t loaded = 0;
    int r = 0;

    while (r == 0 && loaded < count && loaded < MAX_PLUGINS) {
        r = plugin_load(files[loaded], NULL, &plugins[loaded], &err);
        loaded += r == 0 ? 1 : 0;
    }
    if (r < 0) {
        fprintf(stderr, "docs-gen: %s\n", err.message);
    } else {
        page_fill(page, name, text, plugins, loaded);
    }
    while (loaded > 0) {
        plugin_free(plugins[--loaded]);
    }
    return r;
}

static int write_completion(const char *shell)
{
    return tool_completion_print(shell, stdout) < 0 || fflush(stdout) == EOF ? 1 : 0;
}

int main(int argc, char **argv)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf page = { .max = 0 };
    CCM_CLEANUP(ccm_freep) char *text = NULL;

    if (argc < 3) {
        fprintf(stderr, "usage: docs-gen PAGE FILE [PLUGIN...] | docs-gen completion SHELL\n");
        return 2;
    }
    if (ccm_text_equal(argv[1], "completion")) {
        return write_completion(argv[2]);
    }
    if (ccm_text_read_file(argv[2], MAX_HEAD, &text, NULL) < 0) {
        fprintf(stderr, "docs-gen: %s cannot be read\n", argv[2]);
        return 1;
    }
    if (page_write(&page, argv[1], text, argv + 3, (size_t)argc - 3) < 0 ||
        ccm_buf_error(&page) < 0) {
        return 1;
    }
    return fputs(ccm_buf_str(&page), stdout) == EOF || fflush(stdout) == EOF ? 1 : 0;
}
