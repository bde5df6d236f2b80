/* What convert-config reads: flags, a cloud config, a manifest that holds either. */
#include "tools/convert/convert.h"

#include "util/cleanup.h"
#include "util/text.h"
#include "util/yaml.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)1024 * 1024)

void convert_input_fini(struct convert_input *input)
{
    ccm_strmap_free(input->values);
    input->values = NULL;
}

int convert_input_init(struct convert_input *input)
{
    input->values = ccm_strmap_new(free);
    return input->values == NULL ? -ENOMEM : 0;
}

static int input_put_value(struct convert_input *input, const char *key, const char *value,
                           size_t len)
{
    CCM_CLEANUP(ccm_freep) char *copy = strndup(value, len);

    if (copy == NULL || ccm_strmap_set(input->values, key, copy) < 0) {
        return -ENOMEM;
    }
    (void)CCM_STEAL(copy); /* the map has it */
    return 0;
}

int convert_add_flag(struct convert_input *input, const char *flag)
{
    const char *equal = strchr(flag, '=');
    const size_t len = equal == NULL ? strlen(flag) : (size_t)(equal - flag);
    /* One dash is as good as two. */
    const char *name = ccm_text_starts(flag, "--") ? flag + 1 : flag;

    if (flag[0] != '-' || len < 3) {
        return -EINVAL;
    }

    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("-%.*s", (int)(flag + len - name), name);

    return key == NULL     ? -ENOMEM
           : equal == NULL ? input_put_value(input, key, "true", 4)
                           : input_put_value(input, key, equal + 1, strlen(equal + 1));
}

static int input_parse_document(const char *path, const char *text, struct fy_document **ret,
                                struct ccm_error *err)
{
    static const struct fy_parse_cfg config = { .flags = FYPCF_QUIET };

    if (ccm_text_printable(text, strlen(text)) == strlen(text)) {
        *ret = fy_document_build_from_string(&config, text, FY_NT);
    }
    if (*ret == NULL || fy_document_root(*ret) == NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s: is neither YAML nor JSON",
                             path);
    }
    return 0;
}

/* Text of a scalar; "" for everything else. */
static const char *node_scalar_text(struct fy_node *node, size_t *ret_len)
{
    const char *text =
        node == NULL || !fy_node_is_scalar(node) ? NULL : fy_node_get_scalar(node, ret_len);

    if (text == NULL) {
        *ret_len = 0;
        return "";
    }
    return text;
}

static int input_read_members(struct convert_input *input, struct fy_node *group)
{
    struct fy_node_pair *pair = NULL;
    void *cursor = NULL;

    while ((pair = fy_node_mapping_iterate(group, &cursor)) != NULL) {
        char key[64];
        size_t key_len = 0;
        size_t len = 0;
        const char *name = node_scalar_text(fy_node_pair_key(pair), &key_len);
        const char *value = node_scalar_text(fy_node_pair_value(pair), &len);

        if (key_len == 0 || key_len >= sizeof(key)) {
            continue; /* no key of that program */
        }
        for (size_t i = 0; i < key_len; i++) {
            key[i] = (char)tolower((unsigned char)name[i]);
        }
        key[key_len] = '\0';
        if (input_put_value(input, key, value, len) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

static int read_file(const char *path, char **ret, struct ccm_error *err)
{
    size_t len = 0;
    const int r = ccm_text_read_file(path, FILE_MAX, ret, &len);

    return r < 0 ? ccm_error_set(err, r, CCM_ERROR_TERMINAL, "%s: %s", path, strerror(-r)) : 0;
}

int convert_read_config(struct convert_input *input, const char *path, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL; /* outlives the document */
    CCM_CLEANUP(ccm_yaml_document_freep) struct fy_document *document = NULL;
    struct fy_node *group = NULL;
    int r = read_file(path, &text, err);

    if (r == 0) {
        r = input_parse_document(path, text, &document, err);
    }
    if (r < 0) {
        return r;
    }
    group = fy_node_by_path(fy_document_root(document), "/Global", FY_NT, FYNWF_DONT_FOLLOW);
    if (group == NULL || !fy_node_is_mapping(group)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s: has no group Global: is it a cloud config of "
                             "cloud-provider-alibaba-cloud?",
                             path);
    }
    return input_read_members(input, group) < 0 ? ccm_error_nomem(err) : 0;
}

/* Flags of a list, "--name=value" or "--name" and "value" after one another. */
static int input_read_list(struct convert_input *input, struct fy_node *list)
{
    struct fy_node *item = NULL;
    void *cursor = NULL;
    CCM_CLEANUP(ccm_freep) char *waiting = NULL; /* a flag that may have its value behind it */
    int r = 0;

    while ((item = fy_node_sequence_iterate(list, &cursor)) != NULL) {
        size_t len = 0;
        const char *text = node_scalar_text(item, &len);
        CCM_CLEANUP(ccm_freep) char *word = strndup(text, len);

        if (word == NULL) {
            return -ENOMEM;
        }
        if (word[0] == '-') {
            r = convert_add_flag(input, word);
            r = r == -EINVAL ? 0 : r;
            free(waiting);
            waiting = strchr(word, '=') == NULL ? strdup(word) : NULL;
        } else if (waiting != NULL) {
            CCM_CLEANUP(ccm_freep) char *both = ccm_text_format("%s=%s", waiting, word);

            r = both == NULL ? -ENOMEM : convert_add_flag(input, both);
            ccm_freep(&waiting);
            waiting = NULL;
        }
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* Every list called command or args, wherever it stands: DaemonSet, Deployment, Pod, List. */
static int input_read_tree(struct convert_input *input, struct fy_node *node, unsigned depth)
{
    struct fy_node_pair *pair = NULL;
    struct fy_node *item = NULL;
    void *cursor = NULL;
    int r = 0;

    if (depth == 16) {
        return 0;
    }
    while (fy_node_is_sequence(node) && (item = fy_node_sequence_iterate(node, &cursor)) != NULL) {
        r = input_read_tree(input, item, depth + 1);
        if (r < 0) {
            return r;
        }
    }
    while (fy_node_is_mapping(node) && (pair = fy_node_mapping_iterate(node, &cursor)) != NULL) {
        size_t len = 0;
        const char *key = node_scalar_text(fy_node_pair_key(pair), &len);
        struct fy_node *value = fy_node_pair_value(pair);
        const bool flags = (len == 7 && memcmp(key, "command", 7) == 0) ||
                           (len == 4 && memcmp(key, "args", 4) == 0);

        if (value != NULL) {
            r = flags && fy_node_is_sequence(value) ? input_read_list(input, value)
                                                    : input_read_tree(input, value, depth + 1);
        }
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

int convert_read_manifest(struct convert_input *input, const char *path, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL; /* outlives the document */
    CCM_CLEANUP(ccm_yaml_document_freep) struct fy_document *document = NULL;
    const size_t before = ccm_strmap_len(input->values);
    int r = read_file(path, &text, err);

    if (r == 0) {
        r = input_parse_document(path, text, &document, err);
    }
    if (r < 0) {
        return r;
    }
    if (input_read_tree(input, fy_document_root(document), 0) < 0) {
        return ccm_error_nomem(err);
    }
    if (ccm_strmap_len(input->values) == before) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s: no container in it has flags: it has to be the one document with "
                             "the DaemonSet or Deployment",
                             path);
    }
    return 0;
}
