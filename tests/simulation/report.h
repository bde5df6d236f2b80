/*
 * The report of a run that comes to rest after each line of its history, as text that two builds
 * may be compared by: what they call for which object, how often, what they say in events, and what
 * is there at the rest. A step begins with "step N: LINE"; the lines of a step are sorted, and
 * begin with their kind: event, read, state, write. There are no ids and times that differ between
 * builds.
 *
 * One real thread.
 */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

/* Goes to that file; after sim_look_begin(). plugin_dir: a path that events may name. */
void sim_report_begin(const char *path, const char *plugin_dir);
/* All is at rest: a step ends. title: what was done in it. */
void sim_report_step(const char *title);
/* The run ends with a finding. */
void sim_report_finding(const char *text);

#endif
