#include "families.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>

/* ---- reading ---- */

static uint32_t number_of(const char *text, uint32_t fallback)
{
    uint32_t number = fallback;

    /* Validation has let numbers alone through; without one it is the fallback. */
    return ccm_parse_u32(text, 0, UINT32_MAX, &number) < 0 ? fallback : number;
}

/* Item of Servers as it stands in the request; strings borrowed. */
static struct ccm_nlb_server item_of(const struct ccm_cloud_call *call, uint32_t index)
{
    union {
        const char *from;
        char *to; /* never changed or freed through this */
    } id = { .from = ccm_nlb_member(call, "Servers", index, "ServerId") },
      ip = { .from = ccm_nlb_member(call, "Servers", index, "ServerIp") },
      type = { .from = ccm_nlb_word(ccm_nlb_member(call, "Servers", index, "ServerType")) },
      description = { .from = ccm_nlb_member(call, "Servers", index, "Description") },
      zone = { .from = "" };

    return (struct ccm_nlb_server){
        .id = id.to,
        .ip = ip.to,
        .type = type.to,
        .description = description.to,
        .zone = zone.to,
        .port = number_of(ccm_nlb_member(call, "Servers", index, "Port"), 0),
        .weight = number_of(ccm_nlb_member(call, "Servers", index, "Weight"), 100),
    };
}

static int fail_twice(struct ccm_cloud_call *call)
{
    return ccm_cloud_fail(call, 400, "DuplicatedParam.Server",
                          "The param of Server is duplicated.");
}

/* ---- addition ---- */

static int check_port(struct ccm_cloud_call *call, const struct ccm_nlb_group *group, uint32_t port)
{
    return (port == 0) == ccm_text_equal_case(ccm_cloud_attr(&group->obj, "AnyPortEnabled"), "true")
               ? 0
               : ccm_nlb_fail_illegal(call, "IllegalParam.RSPortConflictWithServerGroup",
                                      "RSPortConflictWithServerGroup");
}

/* A server may be in so many groups, counted with each of its ports. */
static int check_uses(struct ccm_cloud_call *call, const struct ccm_nlb_servers *list)
{
    uint32_t most = call->cloud->limits.nlb_server_uses;

    for (size_t i = 0; i < list->len; i++) {
        uint32_t used = ccm_nlb_server_uses(call->cloud, &list->items[i]);
        uint32_t more = 0;

        for (size_t k = 0; k <= i; k++) {
            more += ccm_text_equal(list->items[k].id, list->items[i].id) &&
                    ccm_text_equal(list->items[k].ip, list->items[i].ip);
        }
        if (used + more > most) {
            return ccm_nlb_fail_quota(call, "server_added_num", used, most);
        }
    }
    return 0;
}

static int check_quota(struct ccm_cloud_call *call, const struct ccm_nlb_group *group, size_t more)
{
    uint32_t most = call->cloud->limits.nlb_servers;

    if (group->servers.len + more > most) {
        return ccm_nlb_fail_quota(call, "server_group_servers_num", group->servers.len, most);
    }
    for (size_t i = 0; i < group->users_len; i++) {
        size_t used = ccm_nlb_lb_servers(group->users[i]->lb);

        if (used + more > most) {
            return ccm_nlb_fail_quota(call, "loadbalancer_servers_num", used, most);
        }
    }
    return 0;
}

/* One item -> list, with what is known about it. */
static int add_read(struct ccm_cloud_call *call, const struct ccm_nlb_group *group, uint32_t index,
                    struct ccm_nlb_servers *list)
{
    struct ccm_nlb_server server = item_of(call, index);
    struct ccm_nlb_finding finding = { 0 };
    int r = ccm_nlb_server_find(call, group, &server, &finding);

    r = r < 0 ? r : check_port(call, group, server.port);
    if (r < 0) {
        return r;
    }

    union {
        const char *from;
        char *to;
    } ip = { .from = finding.ip }, zone = { .from = finding.zone };

    server.ip = ip.to;
    server.zone = zone.to;
    server.status = "Adding";
    server.seq = ++call->cloud->last_seq;

    const struct ccm_nlb_server *old = ccm_nlb_servers_find(&group->servers, &server);

    /* One that is draining may come back. */
    if (ccm_nlb_servers_find(list, &server) != NULL || (old != NULL && old->gone_ms == 0)) {
        return fail_twice(call);
    }
    return ccm_nlb_servers_add(list, &server);
}

static void settle(struct ccm_nlb_group *group)
{
    for (size_t i = 0; i < group->servers.len; i++) {
        if (group->servers.items[i].gone_ms == 0) {
            group->servers.items[i].status = "Available";
        }
    }
    ccm_nlb_status_set(&group->obj, "ServerGroupStatus", "Available");
}

static void drop(struct ccm_cloud *cloud, struct ccm_nlb_group *group, const char *status)
{
    for (size_t i = group->servers.len; i > 0; i--) {
        if (group->servers.items[i - 1].gone_ms == 0 &&
            ccm_text_equal(group->servers.items[i - 1].status, status)) {
            ccm_nlb_group_drop(cloud, group, &group->servers.items[i - 1]);
        }
    }
}

static int add_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_group *group = ccm_nlb_group_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (group == NULL) {
        return -ENOENT;
    }
    if (!ok) {
        drop(cloud, group, "Adding");
    }
    settle(group);
    return 0;
}

static int start(struct ccm_cloud_call *call, struct ccm_nlb_group *group,
                 int (*end)(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok),
                 struct ccm_cloud_job **ret)
{
    int r = ccm_nlb_job(call, &group->obj, "ServerGroupStatus", "Configuring", end, ret);

    if (r == 0) {
        ccm_jsonw_str(call->out, "ServerGroupId", group->obj.id);
    }
    return r;
}

static int add(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_nlb_servers_fini) struct ccm_nlb_servers list = { 0 };
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_group *group = NULL;
    int r = ccm_nlb_group_for_change(call, &group);

    for (uint32_t i = ccm_nlb_next_index(call, "Servers", 0); i != 0 && r == 0;
         i = ccm_nlb_next_index(call, "Servers", i)) {
        r = add_read(call, group, i, &list);
    }
    r = r < 0 ? r : check_quota(call, group, list.len);
    r = r < 0 ? r : check_uses(call, &list);
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    r = r < 0 ? r : start(call, group, add_end, &job);
    for (size_t i = 0; i < list.len && r == 0; i++) {
        struct ccm_nlb_server *old = ccm_nlb_servers_find(&group->servers, &list.items[i]);

        if (old != NULL) {
            ccm_nlb_group_drop(call->cloud, group, old);
        }
        r = ccm_nlb_group_add(call->cloud, group, &list.items[i]);
    }
    return r;
}

/* ---- removal and change ---- */

/* The server of the group that an item means. */
static int member_find(struct ccm_cloud_call *call, const struct ccm_nlb_group *group,
                       const struct ccm_nlb_server *like, struct ccm_nlb_server **ret)
{
    *ret = ccm_nlb_servers_find(&group->servers, like);
    return *ret == NULL || (*ret)->gone_ms > 0 ? ccm_nlb_fail_absent(call, "BackendServer") : 0;
}

static int check_members(struct ccm_cloud_call *call, const struct ccm_nlb_group *group)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params seen = { 0 };
    int r = 0;

    for (uint32_t i = ccm_nlb_next_index(call, "Servers", 0); i != 0 && r == 0;
         i = ccm_nlb_next_index(call, "Servers", i)) {
        const struct ccm_nlb_server like = item_of(call, i);
        struct ccm_nlb_server *server = NULL;
        char key[24];

        r = member_find(call, group, &like, &server);
        if (r < 0) {
            return r;
        }
        ccm_text_printf(key, sizeof(key), "%llu", (unsigned long long)server->seq);
        if (ccm_sim_params_get(&seen, key) != NULL) {
            return fail_twice(call);
        }
        r = ccm_sim_params_set(&seen, key, "");
    }
    return r;
}

/* With draining on, servers that were removed are still there for a while; the job has ended and
 * the group is free for other changes. */
static bool drain(struct ccm_cloud *cloud, struct ccm_nlb_group *group)
{
    const int64_t seconds = number_of(ccm_cloud_attr(&group->obj, "ConnectionDrainTimeout"), 0);
    const int64_t wait_ms = seconds * 10 * cloud->limits.nlb_drain_percent;

    if (wait_ms == 0 ||
        !ccm_text_equal_case(ccm_cloud_attr(&group->obj, "ConnectionDrainEnabled"), "true")) {
        return false;
    }
    for (size_t i = 0; i < group->servers.len; i++) {
        struct ccm_nlb_server *server = &group->servers.items[i];

        if (server->gone_ms == 0 && ccm_text_equal(server->status, "Removing")) {
            server->gone_ms = ccm_clock_now_ms() + wait_ms;
            cloud->nlb->draining++;
        }
    }
    return true;
}

void ccm_nlb_drains_advance(struct ccm_cloud *cloud)
{
    const int64_t now = cloud->nlb->draining == 0 ? 0 : ccm_clock_now_ms();
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    size_t left = 0;

    while (cloud->nlb->draining > 0 &&
           ccm_strmap_next(cloud->nlb->groups, &cursor, &id, &value) != 0) {
        struct ccm_nlb_group *group = value;

        for (size_t i = group->servers.len; i > 0; i--) {
            struct ccm_nlb_server *server = &group->servers.items[i - 1];

            if (server->gone_ms > now) {
                left++;
            } else if (server->gone_ms > 0) {
                ccm_nlb_group_drop(cloud, group, server);
            }
        }
    }
    cloud->nlb->draining = left;
}

static int remove_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_group *group = ccm_nlb_group_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (group == NULL) {
        return -ENOENT;
    }
    if (ok && !drain(cloud, group)) {
        drop(cloud, group, "Removing");
    }
    settle(group);
    return 0;
}

static void mark_members(struct ccm_cloud_call *call, struct ccm_nlb_group *group,
                         const char *status)
{
    for (uint32_t i = ccm_nlb_next_index(call, "Servers", 0); i != 0;
         i = ccm_nlb_next_index(call, "Servers", i)) {
        const struct ccm_nlb_server like = item_of(call, i);
        struct ccm_nlb_server *server = ccm_nlb_servers_find(&group->servers, &like);

        if (server != NULL) {
            server->status = status;
        }
    }
}

static int remove_servers(struct ccm_cloud_call *call)
{
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_group *group = NULL;
    int r = ccm_nlb_group_for_change(call, &group);

    r = r < 0 ? r : check_members(call, group);
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    r = r < 0 ? r : start(call, group, remove_end, &job);
    if (r == 0) {
        mark_members(call, group, "Removing");
    }
    return r;
}

static void servers_free(void *data)
{
    ccm_nlb_servers_fini(data);
    free(data);
}

/* job->data: the servers as they shall be; weight UINT32_MAX and description "" leave it alone. */
static int update_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_group *group = ccm_nlb_group_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));
    struct ccm_nlb_servers *wanted = job->data;

    if (group == NULL) {
        return -ENOENT;
    }
    settle(group);
    for (size_t i = 0; ok && wanted != NULL && i < wanted->len; i++) {
        struct ccm_nlb_server *server = ccm_nlb_servers_find(&group->servers, &wanted->items[i]);

        if (server == NULL) {
            return -ENOENT; /* a console edit was faster */
        }
        if (wanted->items[i].weight != UINT32_MAX) {
            server->weight = wanted->items[i].weight;
        }
        if (!ccm_text_empty(wanted->items[i].description)) {
            char *old = server->description;

            server->description = CCM_STEAL(wanted->items[i].description);
            free(old);
        }
    }
    return 0;
}

static int update_read(struct ccm_cloud_call *call, struct ccm_nlb_servers *ret)
{
    int r = 0;

    for (uint32_t i = ccm_nlb_next_index(call, "Servers", 0); i != 0 && r == 0;
         i = ccm_nlb_next_index(call, "Servers", i)) {
        struct ccm_nlb_server server = item_of(call, i);

        if (ccm_text_empty(ccm_nlb_member(call, "Servers", i, "Weight"))) {
            server.weight = UINT32_MAX;
        }
        r = ccm_nlb_servers_add(ret, &server);
    }
    return r;
}

static int update(struct ccm_cloud_call *call)
{
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_group *group = NULL;
    int r = ccm_nlb_group_for_change(call, &group);

    r = r < 0 ? r : check_members(call, group);
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    r = r < 0 ? r : start(call, group, update_end, &job);
    if (r < 0) {
        return r;
    }
    job->data = calloc(1, sizeof(struct ccm_nlb_servers));
    job->free_data = job->data == NULL ? NULL : servers_free;
    r = job->data == NULL ? -ENOMEM : update_read(call, job->data);
    if (r == 0) {
        mark_members(call, group, "Configuring");
    }
    return r;
}

#define TYPE_ROW                                                                                   \
    {                                                                                              \
        .name = "Servers.N.ServerType", .type = CCM_CLOUD_ENUM, .required = true,                  \
        .items = CCM_NLB_SERVERS_PER_CALL, .values = "Ecs|Eni|Eci|Ip"                              \
    }

#define ID_ROWS                                                                                    \
    { .name = "ServerGroupId", .required = true }, CCM_NLB_WRITE_ROWS,                             \
        { .name = "Servers.N.ServerId", .required = true, .items = CCM_NLB_SERVERS_PER_CALL },     \
        TYPE_ROW,                                                                                  \
    {                                                                                              \
        .name = "Servers.N.ServerIp", .items = CCM_NLB_SERVERS_PER_CALL                            \
    }

#define PORT_ROW(must)                                                                             \
    {                                                                                              \
        .name = "Servers.N.Port", .type = CCM_CLOUD_INT, .required = (must),                       \
        .items = CCM_NLB_SERVERS_PER_CALL, .min = 0, .max = 65535                                  \
    }

#define VALUE_ROWS                                                                                 \
    { .name = "Servers.N.Description",                                                             \
      .items = CCM_NLB_SERVERS_PER_CALL,                                                           \
      .min = 2,                                                                                    \
      .max = 256,                                                                                  \
      .fits = ccm_nlb_is_description,                                                              \
      .invalid = "IllegalParam.description" },                                                     \
    {                                                                                              \
        .name = "Servers.N.Weight", .type = CCM_CLOUD_INT, .items = CCM_NLB_SERVERS_PER_CALL,      \
        .min = 0, .max = 100                                                                       \
    }

static const struct ccm_cloud_param add_params[] = { ID_ROWS, PORT_ROW(false), VALUE_ROWS, { 0 } };

static const struct ccm_cloud_param remove_params[] = { ID_ROWS, PORT_ROW(false), { 0 } };

static const struct ccm_cloud_param update_params[] = {
    ID_ROWS,
    PORT_ROW(true),
    VALUE_ROWS,
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_server_actions[] = {
    { .name = "AddServersToServerGroup",
      .params = add_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = add },
    { .name = "RemoveServersFromServerGroup",
      .params = remove_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = remove_servers },
    { .name = "UpdateServerGroupServersAttribute",
      .params = update_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = update },
    { 0 },
};
