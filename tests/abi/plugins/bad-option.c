/* An option whose default is outside of its own range. */
#include <ccm/plugin.h>

static const struct ccm_option workers = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_INT,
    .name = "batch",
    .fallback = "17",
    .min = 1,
    .max = 16,
    .help = "How many at once.",
};

static const struct ccm_option *const options[] = { &workers, NULL };

static int create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    (void)host; /* never called */
    (void)ret_self;
    return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG, "called in spite of a bad option");
}

static int reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                     struct ccm_error *err)
{
    (void)self; /* never called */
    (void)req;
    (void)ret;
    (void)err;
    return 0;
}

static void destroy(void *self)
{
    (void)self; /* never called */
}

static void map(void *self, const struct ccm_change *change)
{
    (void)self; /* never called */
    (void)change;
}

static const struct ccm_watch watch = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_NODE,
    .map = map,
};

static const struct ccm_watch *const watches[] = { &watch, NULL };

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "bad-option",
    .options = options,
    .watches = watches,
    .create = create,
    .reconcile = reconcile,
    .destroy = destroy,
};
