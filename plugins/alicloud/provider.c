#include "alicloud/provider.h"

#include "util/text.h"

#include <errno.h>
#include <string.h>

#define CLOUD_PREFIX  "alicloud://"
#define HYBRID_PREFIX "ack-hybrid://"

static int provider_copy_part(const char *from, size_t len, char *to)
{
    if (len == 0 || len >= ALI_PROVIDER_PART) {
        return -EINVAL;
    }
    ccm_text_copy(to, len + 1, from);
    return 0;
}

int ali_provider_parse(const char *id, char *region, char *instance)
{
    const char *rest = ccm_text_starts(id, CLOUD_PREFIX) ? id + strlen(CLOUD_PREFIX) : id;
    const char *dot = strchr(rest, '.');

    if (dot == NULL || strstr(rest, "://") != NULL ||
        provider_copy_part(rest, (size_t)(dot - rest), region) < 0) {
        return -EINVAL;
    }
    return provider_copy_part(dot + 1, strcspn(dot + 1, "."), instance);
}

bool ali_node_is_excluded(const struct ccm_node *node)
{
    return ccm_object_label(&node->meta, "service.beta.kubernetes.io/exclude-node") != NULL ||
           ccm_object_label(&node->meta, "service.alibabacloud.com/exclude-node") != NULL ||
           ccm_text_starts(node->provider_id, HYBRID_PREFIX);
}
