/*
 * The world of a run: cluster and cloud with what others have there, the files of the daemon, and
 * the hands that change all of it as a history says. A process has one world.
 *
 * One real thread.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "history.h"

#include "util/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct sim_world_options {
    const char *folder;     /* for configuration and log; it exists */
    const char *plugin_dir; /* of the build */
    const char *plugins;    /* "clb,nlb,route,node,gateway" */
    bool elections;         /* more than one instance may run */
    int audit_s;            /* between two audits; 0 = none */
    unsigned quota_percent; /* of the published rates, as the configuration says */
};

/* Cluster and cloud with their fixtures, nodes, and things that belong to others. */
void sim_world_begin(const struct sim_world_options *options);
/* Another cluster and another cloud, as at the beginning, without nodes: for a copy of the process.
 */
void sim_world_renew(void);
/* All nodes of the beginning exist and are ready. */
void sim_world_heal(void);
/* The cloud enforces so many percent of the published rates, and gives so many load balancers of
 * each product; 0: no limit. */
void sim_world_set_quota(unsigned percent, unsigned balancers);
/* Another API server takes over: with the same objects, or with those of sim_world_keep(). It
 * remembers no change. Its versions are far ahead, or so far behind that they never come to those
 * of before: one that has passed them before a watch comes back cannot be told from the old one. */
void sim_world_replace(bool kept, bool ahead);
void sim_world_keep(void);
/* Path of the configuration. */
const char *sim_world_config(void);
/* Do what a line says, now. */
void sim_world_act(const struct sim_act *act);

/* A request to the API server as JSON; the answer in *ret, or NULL. */
unsigned sim_kube(const char *method, const char *path, const char *body, struct ccm_buf *ret);
/* An edit at the console of the cloud. False: it was refused. */
bool sim_console(const char *json, struct ccm_buf *ret);

/* Services and other objects that the history has created and not deleted, by path. */
struct ccm_strmap *sim_world_objects(void);
/* None of them but slices. */
bool sim_world_is_empty(void);
#define REUSABLE 4 /* load balancers of persons that Services may use */

/* Id of one of them: "reuse-0" and "reuse-1" are CLBs, "reuse-nlb-0" and "reuse-nlb-1" NLBs; NULL =
 * there is none of that name. */
const char *sim_world_handle(const char *name);
/* Whether the id is that of something of others; of a reusable load balancer: false. */
bool sim_world_is_foreign(const char *id);

#endif
