/* docs-gen PAGE HEAD [PLUGIN...]: writes one page of docs/ to standard output, the text of the file
 * HEAD first. */
#include "pages.h"

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

static int write_configuration(struct ccm_buf *page, char **files, size_t count)
{
    struct plugin_loaded_plugin *plugins[MAX_PLUGINS] = { NULL };
    struct ccm_error err = CCM_ERROR_INIT;
    size_t loaded = 0;
    int r = 0;

    while (r == 0 && loaded < count && loaded < MAX_PLUGINS) {
        r = plugin_load(files[loaded], NULL, 0, &plugins[loaded], &err);
        loaded += r == 0 ? 1 : 0;
    }
    if (r < 0) {
        fprintf(stderr, "docs-gen: %s\n", err.message);
    } else {
        docs_configuration(page, plugins, loaded);
    }
    while (loaded > 0) {
        plugin_free(plugins[--loaded]);
    }
    return r;
}

static int write_page(struct ccm_buf *page, const char *name, char **files, size_t count)
{
    if (ccm_text_equal(name, "configuration")) {
        return write_configuration(page, files, count);
    }
    if (ccm_text_equal(name, "annotations")) {
        docs_annotations(page);
        return 0;
    }
    if (ccm_text_equal(name, "troubleshooting")) {
        docs_troubleshooting(page);
        return 0;
    }
    fprintf(stderr, "docs-gen: no page %s\n", name);
    return -1;
}

int main(int argc, char **argv)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf page = { .max = 0 };
    CCM_CLEANUP(ccm_freep) char *head = NULL;

    if (argc < 3) {
        fprintf(stderr, "usage: docs-gen PAGE HEAD [PLUGIN...]\n");
        return 2;
    }
    if (ccm_text_read_file(argv[2], MAX_HEAD, &head, NULL) < 0) {
        fprintf(stderr, "docs-gen: %s cannot be read\n", argv[2]);
        return 1;
    }
    ccm_buf_adds(&page, head);
    ccm_buf_adds(&page, "\n<!-- Generated from the tables of the program: change those, then run "
                        "`make docs`. -->\n");
    if (write_page(&page, argv[1], argv + 3, (size_t)argc - 3) < 0 || ccm_buf_error(&page) < 0) {
        return 1;
    }
    return fputs(ccm_buf_str(&page), stdout) == EOF || fflush(stdout) == EOF ? 1 : 0;
}
