/*
 * A plugin of a later minor of ABI 1: descriptor, option, watch and request are larger than today's
 * core knows. It has to load, and to find out for itself what the core lacks.
 */
#include <ccm/plugin.h>

struct future_option {
    struct ccm_option today;
    uint64_t later[3];
};

struct future_watch {
    struct ccm_watch today;
    const char *later;
};

struct future_plugin {
    struct ccm_plugin today;
    int (*explain)(void *self, const char *key);
    uint64_t later[8];
};

struct future_host {
    struct ccm_host today;
    int (*later)(const struct ccm_host *host);
};

static const struct future_option option = {
    .today = {
        .struct_size = sizeof(struct future_option),
        .type = CCM_OPTION_INT,
        .name = "interval_ms",
        .fallback = "500",
        .min = 1,
        .max = 1000,
        .help = "Time between two looks.",
    },
    .later = { 1, 2, 3 },
};

static const struct ccm_option *const options[] = { &option.today, NULL };

static void map(void *self, const struct ccm_change *change)
{
    (void)self; /* no work comes from it */
    (void)change;
}

static const struct future_watch watch = {
    .today = {
        .struct_size = sizeof(struct future_watch),
        .kind = CCM_KIND_RAW,
        .api_version = "apps/v1",
        .resource = "deployments",
        .map = map,
    },
    .later = "later",
};

static const struct ccm_watch *const watches[] = { &watch.today, NULL };

/* Works with a core of today, and would use the newer function of a newer one. */
static int create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    static int self;

    if (host->struct_size > offsetof(struct future_host, later)) {
        return ccm_error_set(err, -ENOTSUP, CCM_ERROR_BUG, "this core is not today's");
    }
    *ret_self = &self;
    return 0;
}

static int reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                     struct ccm_error *err)
{
    (void)self; /* no state */
    (void)req;  /* nothing to do */
    (void)ret;
    (void)err; /* cannot fail */
    return 0;
}

static void destroy(void *self)
{
    (void)self; /* static memory */
}

static int explain(void *self, const char *key)
{
    (void)self; /* no core calls it yet */
    (void)key;
    return 0;
}

CCM_EXPORT extern const struct future_plugin future_plugin __asm__("ccm_plugin");

const struct future_plugin future_plugin = {
    .today = {
        .abi_major = CCM_ABI_MAJOR,
        .struct_size = sizeof(struct future_plugin),
        .name = "future",
        .options = options,
        .watches = watches,
        .create = create,
        .reconcile = reconcile,
        .destroy = destroy,
        .version = "9.0",
        .summary = "comes from a later minor",
    },
    .explain = explain,
    .later = { 1, 2, 3, 4, 5, 6, 7, 8 },
};
