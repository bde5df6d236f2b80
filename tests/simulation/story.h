/*
 * The story of a run: what people do, which faults happen, and what the cloud and the cluster see
 * of the instances, as numbered lines with the virtual time. Fit for a bug report.
 */
#ifndef SIM_STORY_H
#define SIM_STORY_H

/* Lines go to that file; without it, nowhere. */
void sim_story_begin(const char *path);
/* No further line. */
void sim_story_end(void);
void sim_story_add(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
