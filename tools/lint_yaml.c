#include "tools/lint_yaml.h"

#include "ccm/host.h"
#include "tools/lint_scalar.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/parse.h"
#include "util/text.h"
#include "util/yaml.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define MAX_DEPTH      64
#define MAX_NODES      100000 /* of one Service, with aliases written out */
#define MAX_LISTS      4      /* lists in lists */
#define MAX_ANCHORS    10000  /* the parser compares each with all that are before it */
#define LINE_MAX_VALUE 1000000000U

struct tool_lint_item {
    struct fy_node *node;
    unsigned first; /* line of the file where its document begins, from 0 */
};

/* --- nodes --- */

static void parser_freep(struct fy_parser **parser)
{
    fy_parser_destroy(*parser);
}

/* What an alias stands for; NULL when that is unknown. */
static struct fy_node *yaml_resolve_alias(struct fy_node *node)
{
    return node != NULL && fy_node_is_alias(node) ? fy_node_resolve_alias(node) : node;
}

static struct fy_node_pair *pair_of(struct fy_node *mapping, const char *name)
{
    struct fy_node_pair *pair;
    void *cursor = NULL;

    if (mapping == NULL || !fy_node_is_mapping(mapping)) {
        return NULL;
    }
    while ((pair = fy_node_mapping_iterate(mapping, &cursor)) != NULL) {
        struct fy_node *key = fy_node_pair_key(pair);

        if (key != NULL && fy_node_is_scalar(key) &&
            ccm_text_equal(fy_node_get_scalar0(key), name)) {
            return pair;
        }
    }
    return NULL;
}

static struct fy_node *yaml_find_member(struct fy_node *mapping, const char *name)
{
    struct fy_node_pair *pair = pair_of(mapping, name);

    return pair == NULL ? NULL : yaml_resolve_alias(fy_node_pair_value(pair));
}

/* Text of a scalar member, "" when there is none. */
static const char *text_of(struct fy_node *mapping, const char *name)
{
    struct fy_node *node = yaml_find_member(mapping, name);
    const char *text = node != NULL && fy_node_is_scalar(node) ? fy_node_get_scalar0(node) : NULL;

    return text == NULL ? "" : text;
}

/* Line inside of the document, from 0: of the first thing in the node that has one. */
static unsigned node_line(struct fy_node *node)
{
    for (unsigned depth = 0; node != NULL && depth < MAX_DEPTH; depth++) {
        void *cursor = NULL;

        if (fy_node_is_scalar(node) || fy_node_is_alias(node)) {
            const int line = ccm_yaml_line(node);

            return line == 0 ? 0 : (unsigned)line - 1;
        }
        if (fy_node_is_mapping(node)) {
            struct fy_node_pair *pair = fy_node_mapping_iterate(node, &cursor);

            node = pair == NULL ? NULL : fy_node_pair_key(pair);
        } else {
            node = fy_node_sequence_iterate(node, &cursor);
        }
    }
    return 0;
}

/* --- places --- */

static unsigned line_in_file(const struct tool_lint_item *item, unsigned line)
{
    return item->first + line + 1;
}

/* One step of a path: "name" or "[7]". */
static bool next_step(const char **cursor, char *step, size_t size)
{
    const char *start = **cursor == '.' ? *cursor + 1 : *cursor;
    const size_t len = *start == '[' ? strcspn(start, "]") + 1 : strcspn(start, ".[");

    if (*start == '\0' || len >= size || len > strlen(start)) {
        return false;
    }
    memcpy(step, start, len);
    step[len] = '\0';
    *cursor = start + len;
    return true;
}

static struct fy_node *yaml_find_element(struct fy_node *list, char *step)
{
    uint32_t index = 0;

    step[strlen(step) - 1] = '\0'; /* the bracket */
    if (ccm_parse_u32(step + 1, 0, INT32_MAX, &index) < 0 || !fy_node_is_sequence(list)) {
        return NULL;
    }
    return fy_node_sequence_get_by_index(list, (int)index);
}

/* How far the path leads: the line of the last thing on it, and whether that is its end. */
static unsigned path_line(struct fy_node *node, const char *path, bool *ret_whole)
{
    unsigned line = node_line(node);
    char step[128];

    while (node != NULL && next_step(&path, step, sizeof(step))) {
        if (step[0] == '[') {
            node = yaml_find_element(node, step);
            line = node == NULL ? line : node_line(node);
        } else {
            struct fy_node_pair *pair = pair_of(node, step);

            line = pair == NULL ? line : node_line(fy_node_pair_key(pair));
            node = pair == NULL ? NULL : fy_node_pair_value(pair);
        }
        node = yaml_resolve_alias(node);
    }
    *ret_whole = node != NULL && *path == '\0';
    return line;
}

const char *tool_lint_item_text(const struct tool_lint_item *item, const char *section,
                                const char *name)
{
    return text_of(yaml_find_member(item->node, section), name);
}

bool tool_lint_item_has(const struct tool_lint_item *item, const char *path)
{
    bool whole = false;

    (void)path_line(item->node, path, &whole); /* the line is not asked for */
    return whole;
}

unsigned tool_lint_item_line(const struct tool_lint_item *item, const char *place)
{
    struct fy_node *annotations =
        yaml_find_member(yaml_find_member(item->node, "metadata"), "annotations");
    struct fy_node_pair *pair = place == NULL ? NULL : pair_of(annotations, place);
    bool whole = false;

    if (pair != NULL) {
        return line_in_file(item, node_line(fy_node_pair_key(pair)));
    }
    if (place == NULL) {
        place = "";
    } else if (strchr(place, '/') != NULL) {
        place = "metadata.annotations"; /* one that is missed */
    }
    return line_in_file(item, path_line(item->node, place, &whole));
}

/* --- to JSON --- */

struct converter {
    const struct tool_lint_item *item;
    struct tool_lint_report *report;
    struct ccm_jsonw w;
    size_t nodes;
    bool texts; /* scalars are text, whatever they look like */
    bool failed;
};

static void converter_refuse_node(struct converter *c, struct fy_node *at, const char *message)
{
    if (!c->failed) {
        tool_lint_report_add(c->report, line_in_file(c->item, node_line(at)), CCM_LEVEL_ERROR,
                             message);
    }
    c->failed = true;
}

static void put_scalar(struct converter *c, const char *key, struct fy_node *node)
{
    const char *got = fy_node_get_scalar0(node);
    const char *text = got == NULL ? "" : got;
    const enum tool_lint_scalar type = tool_lint_scalar(node, text);

    switch (c->texts && type != TOOL_LINT_NULL ? TOOL_LINT_TEXT : type) {
    case TOOL_LINT_NULL:
        ccm_jsonw_raw(&c->w, key, "null");
        break;
    case TOOL_LINT_TRUE:
    case TOOL_LINT_FALSE:
        ccm_jsonw_bool(&c->w, key, type == TOOL_LINT_TRUE);
        break;
    case TOOL_LINT_NUMBER:
        if (tool_lint_is_json_number(text)) {
            ccm_jsonw_raw(&c->w, key, text);
            break;
        }
        ccm_jsonw_str(&c->w, key, text);
        break;
    case TOOL_LINT_TEXT:
        ccm_jsonw_str(&c->w, key, text);
        break;
    }
}

static void converter_put_node(struct converter *c, const char *key, struct fy_node *node,
                               unsigned depth);

static void put_mapping(struct converter *c, struct fy_node *node, unsigned depth)
{
    struct fy_node_pair *pair;
    void *cursor = NULL;

    while (!c->failed && (pair = fy_node_mapping_iterate(node, &cursor)) != NULL) {
        struct fy_node *key = yaml_resolve_alias(fy_node_pair_key(pair));
        const char *name = key == NULL || !fy_node_is_scalar(key) ? NULL : fy_node_get_scalar0(key);

        if (name == NULL) {
            converter_refuse_node(c, fy_node_pair_key(pair), "the key is no text");
        } else if (ccm_text_equal(name, "<<")) {
            converter_refuse_node(c, key,
                                  "merge keys (<<) are not understood here: write the members out");
        } else {
            converter_put_node(c, name, fy_node_pair_value(pair), depth + 1);
        }
    }
}

static void converter_put_node(struct converter *c, const char *key, struct fy_node *node,
                               unsigned depth)
{
    struct fy_node *value = yaml_resolve_alias(node);
    struct fy_node *entry;
    void *cursor = NULL;

    if (node != NULL && value == NULL) {
        converter_refuse_node(c, node, "the alias refers to nothing");
    } else if (depth > MAX_DEPTH || ++c->nodes > MAX_NODES) {
        converter_refuse_node(c, c->item->node, "the Service is nested too deeply or too large");
    } else if (value == NULL) {
        ccm_jsonw_raw(&c->w, key, "null");
    } else if (fy_node_is_mapping(value)) {
        const bool outer = c->texts;

        /* All of metadata is text; check_texts() tells what needs quotes, plugins see the value. */
        c->texts = outer || (depth == 1 && ccm_text_equal(key, "metadata"));
        ccm_jsonw_open(&c->w, key, '{');
        put_mapping(c, value, depth);
        ccm_jsonw_close(&c->w, '}');
        c->texts = outer;
    } else if (fy_node_is_sequence(value)) {
        ccm_jsonw_open(&c->w, key, '[');
        while (!c->failed && (entry = fy_node_sequence_iterate(value, &cursor)) != NULL) {
            converter_put_node(c, NULL, entry, depth + 1);
        }
        ccm_jsonw_close(&c->w, ']');
    } else {
        put_scalar(c, key, value);
    }
}

/* on, off, numbers and the like without quotes: the API server refuses the whole object. */
static void check_metadata_text(const struct tool_lint_item *item, struct fy_node_pair *pair,
                                struct tool_lint_report *report)
{
    struct fy_node *value = yaml_resolve_alias(fy_node_pair_value(pair));
    const char *text =
        value != NULL && fy_node_is_scalar(value) ? fy_node_get_scalar0(value) : NULL;
    const unsigned line = line_in_file(item, node_line(fy_node_pair_key(pair)));

    if (value != NULL && text == NULL) {
        tool_lint_report_add(report, line, CCM_LEVEL_ERROR, "the value is no text");
    } else if (text != NULL && tool_lint_scalar(value, text) > TOOL_LINT_NULL) {
        CCM_CLEANUP(ccm_freep)
        char *message = ccm_text_format(
            "the value needs quotes: YAML takes %.64s for a %s, and the API server accepts only "
            "text",
            text, tool_lint_scalar(value, text) == TOOL_LINT_NUMBER ? "number" : "boolean");

        tool_lint_report_add(report, line, CCM_LEVEL_ERROR,
                             message == NULL ? "out of memory" : message);
    }
}

static void check_texts(const struct tool_lint_item *item, struct tool_lint_report *report)
{
    static const char *const maps[] = { "annotations", "labels" };
    static const char *const texts[] = { "name", "namespace" };
    struct fy_node *meta = yaml_find_member(item->node, "metadata");
    struct fy_node_pair *pair;

    for (size_t i = 0; i < CCM_ARRAY_LEN(maps); i++) {
        struct fy_node *map = yaml_find_member(meta, maps[i]);
        void *cursor = NULL;

        while (map != NULL && fy_node_is_mapping(map) &&
               (pair = fy_node_mapping_iterate(map, &cursor)) != NULL) {
            check_metadata_text(item, pair, report);
        }
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(texts); i++) {
        pair = pair_of(meta, texts[i]);
        if (pair != NULL) {
            check_metadata_text(item, pair, report);
        }
    }
}

bool tool_lint_item_json(const struct tool_lint_item *item, struct ccm_buf *json,
                         struct tool_lint_report *report)
{
    struct converter c = { .item = item, .report = report, .w = { .buf = json } };

    check_texts(item, report);
    converter_put_node(&c, NULL, item->node, 0);
    return !c.failed;
}

/* --- documents --- */

struct walk {
    struct tool_lint_report *report;
    tool_lint_item_fn fn;
    void *arg;
    unsigned first;
};

static int visit_object(const struct walk *walk, struct fy_node *node, unsigned depth)
{
    const struct tool_lint_item item = { .node = yaml_resolve_alias(node), .first = walk->first };
    struct fy_node *entry;
    void *cursor = NULL;

    if (!ccm_text_equal(text_of(item.node, "apiVersion"), "v1")) {
        return 0;
    }
    if (ccm_text_equal(text_of(item.node, "kind"), "Service")) {
        return walk->fn(walk->arg, &item);
    }

    struct fy_node *items = yaml_find_member(item.node, "items");

    if (items == NULL || !fy_node_is_sequence(items) || depth == MAX_LISTS ||
        !ccm_text_ends(text_of(item.node, "kind"), "List")) {
        return 0;
    }
    while ((entry = fy_node_sequence_iterate(items, &cursor)) != NULL) {
        const int r = visit_object(walk, entry, depth + 1);

        if (r != 0) {
            return r;
        }
    }
    return 0;
}

static void report_syntax(const struct walk *walk, const struct ccm_yaml *yaml)
{
    int line;
    const char *text = ccm_yaml_error(yaml, &line);
    CCM_CLEANUP(ccm_freep)
    char *message = ccm_text_format("not YAML: %s", text == NULL ? "it cannot be read" : text);

    tool_lint_report_add(walk->report, walk->first + (line < 1 ? 1 : (unsigned)line),
                         CCM_LEVEL_ERROR, message == NULL ? "not YAML" : message);
}

/* The parser loops for ever over some characters that YAML forbids. */
static bool check_characters(const struct walk *walk, const char *text, size_t len)
{
    const size_t good = ccm_text_printable(text, len);
    unsigned line = 1;

    for (size_t i = 0; i < good; i++) {
        line += text[i] == '\n' ? 1 : 0;
    }
    if (good < len) {
        tool_lint_report_add(walk->report, walk->first + line, CCM_LEVEL_ERROR,
                             "not YAML: a control character, or bytes that are no UTF-8");
    }
    return good == len;
}

/* --- duplicate keys ---
 * The parser compares each key of a mapping with all that are before it. */

struct key {
    const char *text;
    size_t len;
    struct fy_node *node;
    size_t at; /* in the mapping */
};

static int key_compare(const void *a, const void *b)
{
    const struct key *left = a;
    const struct key *right = b;
    const int order =
        memcmp(left->text, right->text, left->len < right->len ? left->len : right->len);

    if (order != 0 || left->len != right->len) {
        return order != 0 ? order : left->len < right->len ? -1 : 1;
    }
    return left->at < right->at ? -1 : 1;
}

/* The first key of the mapping that was there before; *ret NULL = none. 0 or -ENOMEM. */
static int mapping_find_duplicate(struct fy_node *mapping, struct fy_node **ret)
{
    const int count = fy_node_mapping_item_count(mapping);
    CCM_CLEANUP(ccm_freep) struct key *keys = calloc((size_t)count + 1, sizeof(*keys));
    const struct key *found = NULL;
    struct fy_node_pair *pair;
    void *cursor = NULL;
    size_t len = 0;

    *ret = NULL;
    if (keys == NULL) {
        return -ENOMEM;
    }
    for (size_t at = 0; (pair = fy_node_mapping_iterate(mapping, &cursor)) != NULL; at++) {
        struct key key = { .node = fy_node_pair_key(pair), .at = at };

        if (key.node != NULL && fy_node_is_scalar(key.node) && !fy_node_is_alias(key.node)) {
            key.text = fy_node_get_scalar(key.node, &key.len);
            key.text = key.text == NULL ? "" : key.text;
            keys[len++] = key;
        }
    }
    qsort(keys, len, sizeof(*keys), key_compare);
    for (size_t i = 1; i < len; i++) {
        if (keys[i].len == keys[i - 1].len &&
            memcmp(keys[i].text, keys[i - 1].text, keys[i].len) == 0 &&
            (found == NULL || keys[i].at < found->at)) {
            found = &keys[i];
        }
    }
    *ret = found == NULL ? NULL : found->node;
    return 0;
}

/* The same of a node and all below it: a mapping before what is in it. */
static int yaml_find_duplicate(struct fy_node *node, unsigned depth, struct fy_node **ret)
{
    struct fy_node_pair *pair;
    struct fy_node *entry;
    void *cursor = NULL;
    int r = 0;

    *ret = NULL;
    if (node == NULL || depth > MAX_DEPTH) { /* the parser has a limit, too */
        return 0;
    }
    if (fy_node_is_mapping(node)) {
        r = mapping_find_duplicate(node, ret);
        while (r == 0 && *ret == NULL && (pair = fy_node_mapping_iterate(node, &cursor)) != NULL) {
            r = yaml_find_duplicate(fy_node_pair_value(pair), depth + 1, ret);
        }
    } else if (fy_node_is_sequence(node)) {
        while (r == 0 && *ret == NULL &&
               (entry = fy_node_sequence_iterate(node, &cursor)) != NULL) {
            r = yaml_find_duplicate(entry, depth + 1, ret);
        }
    }
    return r;
}

static int visit_document(const struct walk *walk, struct fy_node *root)
{
    struct fy_node *duplicate = NULL;
    const int r = yaml_find_duplicate(root, 0, &duplicate);

    if (duplicate != NULL) {
        tool_lint_report_add(walk->report, walk->first + node_line(duplicate) + 1, CCM_LEVEL_ERROR,
                             "not YAML: duplicate key");
        return 0;
    }
    return r < 0 ? r : visit_object(walk, root, 0);
}

static bool event_has_anchor(const struct fy_event *event)
{
    return (event->type == FYET_SCALAR && event->scalar.anchor != NULL) ||
           (event->type == FYET_MAPPING_START && event->mapping_start.anchor != NULL) ||
           (event->type == FYET_SEQUENCE_START && event->sequence_start.anchor != NULL);
}

/* Whether it has more than MAX_ANCHORS of them; 1 = it has, 0, or -ENOMEM. */
static int piece_has_many_anchors(const char *text, size_t len)
{
    CCM_CLEANUP(ccm_yaml_fini) struct ccm_yaml yaml = { 0 };
    CCM_CLEANUP(parser_freep) struct fy_parser *parser = NULL;
    struct fy_event *event;
    size_t count = 0;

    for (size_t i = 0; i < len; i++) {
        count += text[i] == '&' ? 1 : 0;
    }
    if (count <= MAX_ANCHORS) { /* nearly always */
        return 0;
    }
    if (ccm_yaml_init(&yaml) < 0) {
        return -ENOMEM;
    }
    parser = fy_parser_create(&yaml.config);
    if (parser == NULL || fy_parser_set_string(parser, text, len) != 0) {
        return -ENOMEM;
    }
    for (count = 0; count <= MAX_ANCHORS && (event = fy_parser_parse(parser)) != NULL;) {
        count += event_has_anchor(event) ? 1 : 0;
        fy_parser_event_free(parser, event);
    }
    return count > MAX_ANCHORS ? 1 : 0;
}

/* The documents of one piece of the text: one, or more where they end with "...". */
static int visit_piece(const struct walk *walk, const char *text, size_t len)
{
    CCM_CLEANUP(ccm_yaml_fini) struct ccm_yaml yaml = { 0 };
    CCM_CLEANUP(parser_freep) struct fy_parser *parser = NULL;
    struct fy_document *document;
    int r = 0;

    if (!check_characters(walk, text, len)) {
        return 0;
    }
    r = piece_has_many_anchors(text, len);
    if (r > 0) {
        tool_lint_report_add(walk->report, walk->first + 1, CCM_LEVEL_ERROR,
                             "more than 10000 anchors (&) in one document: it is not checked");
    }
    if (r != 0) {
        return r < 0 ? r : 0;
    }
    if (ccm_yaml_init(&yaml) < 0) {
        return -ENOMEM;
    }
    yaml.config.flags |= FYPCF_ALLOW_DUPLICATE_KEYS; /* see yaml_find_duplicate() */
    parser = fy_parser_create(&yaml.config);
    if (parser == NULL || fy_parser_set_string(parser, text, len) != 0) {
        return -ENOMEM;
    }
    while ((document = fy_parse_load_document(parser)) != NULL) {
        r = visit_document(walk, fy_document_root(document));
        fy_parse_document_destroy(parser, document);
        if (r != 0) {
            return r;
        }
    }
    if (fy_parser_get_stream_error(parser)) {
        report_syntax(walk, &yaml);
    }
    return 0;
}

static bool is_separator(const char *line, size_t len)
{
    return len >= 3 && memcmp(line, "---", 3) == 0 &&
           (len == 3 || strchr(" \t\r\n", line[3]) != NULL);
}

/* A line that can stand before the first document: blank, comment, directive. */
static bool is_prologue(const char *line, size_t len)
{
    const size_t blanks = strspn(line, " \t\r");

    return blanks >= len || line[blanks] == '\n' || line[blanks] == '#' || line[0] == '%';
}

/* Where JSON values follow one another without anything between them. */
static bool is_next_json(const char *text, size_t at)
{
    size_t before = at;

    if (text[at] != '{') {
        return false; /* most lines; blank ones are not gone over again */
    }
    while (before > 0 && strchr(" \t\r\n", text[before - 1]) != NULL) {
        before--;
    }
    return before > 0 && text[before - 1] == '}';
}

int tool_lint_visit_services(const char *text, size_t len, struct tool_lint_report *report,
                             tool_lint_item_fn fn, void *arg)
{
    struct walk walk = { .report = report, .fn = fn, .arg = arg };
    size_t start = 0;
    bool has_content = false;
    bool has_separator = false;
    unsigned line = 0;

    for (size_t at = 0; at < len && line < LINE_MAX_VALUE; line++) {
        const char *feed = memchr(text + at, '\n', len - at);
        const size_t size = feed == NULL ? len - at : (size_t)(feed - (text + at)) + 1;

        if (is_separator(text + at, size) || is_next_json(text, at)) {
            if (has_content) {
                const int r = visit_piece(&walk, text + start, at - start);

                if (r != 0) {
                    return r;
                }
            }
            if (has_content || has_separator) {
                start = at; /* an empty document takes no parser */
                walk.first = line;
            }
            has_separator = true; /* the separator is part of what follows */
            has_content = text[at] == '{' || !is_prologue(text + at + 3, size - 3);
        } else if (!is_prologue(text + at, size) || (has_separator && text[at] == '%')) {
            has_content = true;
        }
        at += size;
    }
    return has_content ? visit_piece(&walk, text + start, len - start) : 0;
}
