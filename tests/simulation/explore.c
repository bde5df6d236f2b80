#include "explore.h"

#include "instance.h"
#include "net.h"
#include "order.h"
#include "run.h"
#include "story.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESTART_US  2000000
#define MISSED_US   8000000   /* so long the instance hears nothing */
#define STALE_US    120000000 /* so long the caches of the standby do not change */
#define EFFECTS_MAX 3         /* at how many later effects the stale standby takes over */
#define SYNC_US     1000000   /* for the caches of the standby; the leader stands still meanwhile */

enum pattern { CRASH, STALE, MISSED };

static bool is_child;
static bool is_active;
static bool is_stale;
static uint32_t only_point;
static uint64_t point_count;
static uint32_t finding_count;
static char where[256];
static unsigned effects_left; /* of a copy with a stale standby: until it takes over; 0 = it has */

bool sim_explore_is_child(void)
{
    return is_child;
}

bool sim_explore_is_stale(void)
{
    return is_stale;
}

const char *sim_explore_where(void)
{
    return where;
}

uint64_t sim_explore_points(void)
{
    return point_count;
}

uint32_t sim_explore_findings(void)
{
    return finding_count;
}

/* True: the caller is the one that suffers. */
static bool explore_fork(enum pattern pattern, const char *what)
{
    static const char *const names[] = { "crash after", "stale standby from", "missed event" };
    char text[sizeof(where)];
    int status = 0;
    pid_t child = 0;

    point_count++;
    (void)snprintf(text, sizeof(text), ", point %llu: %s %s", (unsigned long long)point_count,
                   names[pattern], what);
    if (only_point != 0 && point_count != only_point) {
        return false;
    }
    if (only_point == 0) {
        (void)fflush(NULL);
        child = fork();
    }
    if (child > 0) {
        (void)waitpid(child, &status, 0);
        finding_count += status == 0 ? 0 : 1;
        if (WIFSIGNALED(status)) {
            (void)printf("signal %d%s\n", WTERMSIG(status), text);
        }
        return false;
    }
    memcpy(where, text, sizeof(where));
    is_child = only_point == 0;
    is_active = false;
    is_stale = pattern == STALE;
    if (is_child) {
        sim_child_limit();
    }
    sim_story_add("%s", text + 2);
    return true;
}

/* The standby takes over when the leader is killed. */
static void explore_count_down(void)
{
    if (effects_left > 0 && --effects_left == 0) {
        const int seat = sim_instance_seat(sim_instance());

        sim_seat_crash(seat, STALE_US);
    }
}

static void explore_add_stale_standby(int leader)
{
    const int seat = SIM_SEATS - 1;

    sim_seat_add(seat);
    sim_pause(leader, sim_now_us() + SYNC_US);
    sim_net_freeze_watches(seat, sim_now_us() + SYNC_US, sim_now_us() + SYNC_US + STALE_US);
}

static void explore_effect(const struct sim_call *call)
{
    const int seat = sim_instance_seat(call->instance);

    if (seat < 0) {
        return;
    }
    if (!is_active) {
        explore_count_down();
        return;
    }
    if (explore_fork(CRASH, call->action)) {
        sim_seat_crash(seat, RESTART_US);
        return;
    }
    for (unsigned after = 1; is_active && after <= EFFECTS_MAX; after++) {
        if (explore_fork(STALE, call->action)) {
            explore_add_stale_standby(call->instance);
            effects_left = after;
        }
    }
}

/* Bookmarks tell nothing that could be missed. */
static void explore_event(const char *path, const char *line)
{
    const int seat = sim_instance_seat(sim_instance());
    char what[128];

    if (!is_active || seat < 0 || strstr(line, "\"BOOKMARK\"") != NULL) {
        return;
    }
    (void)snprintf(what, sizeof(what), "of %s", path);
    if (explore_fork(MISSED, what)) {
        sim_net_cut_off(seat, SIM_KUBE, sim_now_us() + MISSED_US);
        (void)sim_control(SIM_KUBE, "POST", "/_sim/watch", "{\"op\":\"expire\"}", NULL);
    }
}

void sim_explore_begin(uint32_t only)
{
    only_point = only;
    is_active = true;
    sim_net.effect = explore_effect;
    sim_net.event = explore_event;
}
