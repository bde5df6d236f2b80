/*
 * The configuration file: libconfig syntax, checked by option tables. A configuration is a snapshot
 * that never changes; reading the file again makes another one, see config_follow().
 *
 * Options are known in two steps, because a plugin brings its own table:
 *
 *     config_load()          parse; check what the daemon itself understands; list the plugins
 *     config_bind_plugin()   once per plugin that was loaded, with its table
 *     config_finish()        a key that nobody has listed is an error
 *
 * Every problem of the file is reported, as "FILE:LINE: text", not only the first: a step that
 * finds some returns -EINVAL with the first of them in err, config_problems() has all (up to
 * CONFIG_PROBLEMS_MAX). After -EINVAL the later steps may still be taken in order to find more;
 * a configuration with problems is not to be used otherwise. Values that are wrong never appear in
 * a message where the option is free text: it might be a secret in the wrong place.
 *
 * A folder in place of a file stands for those in it whose names end in ".conf", one after the
 * other in the order of their names (config/merge.h): lines, where this header speaks of them, are
 * places then (config/files.h), and config_place() tells which file it is.
 *
 * The syntax, where libconfig leaves a choice or errs: a file is a regular file of at most
 * CONFIG_FILE_MAX bytes; @include is refused; so are hexadecimal numbers, numbers that do not
 * fit into 64 bits, and NUL in texts. (libconfig itself would silently cut numbers of more than 32
 * bits; they are read whole here.)
 *
 * Plugins that are listed but not bound (disabled, refused by the loader) keep their options
 * unknown: their entries are not judged, and while there is such a plugin, keys of shared groups
 * that nobody listed are not judged either.
 *
 * One thread loads, binds and finishes; after that any thread may read. Results are borrowed and
 * live as long as the configuration.
 */
#ifndef CCM_CONFIG_LOAD_H
#define CCM_CONFIG_LOAD_H

#include "ccm/error.h"
#include "ccm/option.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_FILE_MAX     ((size_t)1024 * 1024)
#define CONFIG_PROBLEMS_MAX 50
#define CONFIG_PLUGINS_MAX  64

struct config_tree;

/* An entry of `plugins`. */
struct config_plugin {
    const char *name; /* [a-z0-9-]{1,32}, unique */
    const char *file; /* absolute path, or a bare file name under plugin_dir; never "" */
    uint32_t workers; /* 1..256 */
    bool critical;    /* the daemon does not run without it */
    bool enabled;
    unsigned line;
};

/*
 * 0; -EINVAL (kind terminal): the file cannot be read, is no libconfig text, or has problems;
 * -ENOMEM. Unlike elsewhere *ret is set also on -EINVAL, so that the problems can be listed, and is
 * freed by the caller in any case; it is NULL after -ENOMEM.
 */
CCM_NODISCARD int config_load(const char *file, struct config_tree **ret, struct ccm_error *err);

void config_free(struct config_tree *config);
/* For CCM_CLEANUP. */
void config_freep(struct config_tree **config);

/* What tells whether a file, or what a configuration reads of a folder, is still what was read;
 * links are followed. All 0: there is none. */
struct config_stamp {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
    int64_t changed_s;
    int64_t changed_ns;
};

/* That of a path now, and that of the file that was read, from before it was. */
struct config_stamp config_stamp_of(const char *path);
const struct config_stamp *config_stamp(const struct config_tree *config);
bool config_stamp_equal(const struct config_stamp *a, const struct config_stamp *b);

/* The path as given to config_load(). */
const char *config_file(const struct config_tree *config);

/*
 * Where an option stands in the file: "log.level", "alicloud.credentials.file", or with a plugin
 * the name of an option of its entry, "cluster_cidr". When it is not there: the line of the group
 * around it, or of the entry; 0 = nothing of it is there.
 */
unsigned config_line(const struct config_tree *config, const char *plugin, const char *label);
/* How that is written: "FILE:LINE", or the path alone for 0. To be freed; NULL: out of memory. */
char *config_place(const struct config_tree *config, unsigned line);

/* An option that is another now: "log.level", "clb.audit_interval_s", "plugins (clb removed)". */
typedef void (*config_changed_fn)(void *arg, const char *label, bool live);

/*
 * Turn `config`, finished without problems, into the successor of `old`, in which plugins run
 * already: options that are live (CCM_OPTION_LIVE) have their new values, all others keep those of
 * `old`, and so does the list of plugins. Each difference is reported. 0, or -ENOMEM: it may only
 * be freed. `old` is only read, other threads may do so too.
 */
CCM_NODISCARD int config_follow(struct config_tree *config, const struct config_tree *old,
                                config_changed_fn changed, void *arg);

/* The plugins, in the order of the file; also the disabled ones. */
size_t config_plugin_count(const struct config_tree *config);
const struct config_plugin *config_plugin_at(const struct config_tree *config, size_t index);

/*
 * Check and store the options of one plugin. The table is borrowed as long as the configuration
 * (NULL = no options). An option of a shared group that another plugin has listed too must agree in
 * type, default, range and values; whether it is required is each plugin's own matter. Groups of
 * the daemon may be read, by listing an option of theirs with the same row, but not extended.
 * 0; -EINVAL: problems in the file or in the table; -ENOENT (kind bug): no such entry; -ENOMEM.
 */
CCM_NODISCARD int config_bind_plugin(struct config_tree *config, const char *plugin,
                                     const struct ccm_option *const *options,
                                     struct ccm_error *err);

/* 0, or -EINVAL when any step has found a problem; err then holds the very first. */
CCM_NODISCARD int config_finish(struct config_tree *config, struct ccm_error *err);

/* All problems so far, one per line, each line ended; "" = none. */
const char *config_problems(const struct config_tree *config);

/*
 * Whether the file has options that were retired (CCM_OPTION_RETIRED): one line without its end,
 * which names each with its place and with what takes its place; "" = none. They are no problem.
 */
const char *config_retired(const struct config_tree *config);

/* Report each file of it that others than root and the user of this process can change: a line
 * without its end, which names the file and what to do. */
void config_check_owner(const struct config_tree *config, void (*fn)(void *arg, const char *line),
                        void *arg);

/*
 * Values. The daemon's own: plugin NULL, group "" for the top level. A plugin's own: its name and
 * group NULL; shared: its name and the group. Defaults are filled in. An option that is not listed
 * (by that plugin), or of another type: "", 0, NULL. BOOL is read with _int (0, 1), PATH with
 * _string; the list of _strings ends with NULL.
 */
const char *config_string(const struct config_tree *config, const char *plugin, const char *group,
                          const char *name);
int64_t config_int(const struct config_tree *config, const char *plugin, const char *group,
                   const char *name);
const char *const *config_strings(const struct config_tree *config, const char *plugin,
                                  const char *group, const char *name);

#endif
