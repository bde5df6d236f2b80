/*
 * What a dry run (`ccmd plan`) finds out, collected from all threads and printed once at its end:
 * per plugin and object the steps that would be taken, the warnings that would become events, and
 * what failed. Every thread; one lock, a leaf, which is also held while it is printed.
 */
#ifndef CCM_DAEMON_PLAN_BOOK_H
#define CCM_DAEMON_PLAN_BOOK_H

#include "ccm/host.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stdio.h>

struct daemon_plan_book;

/* NULL on ENOMEM. */
struct daemon_plan_book *daemon_plan_book_new(void);
/* NULL is fine. */
void daemon_plan_book_free(struct daemon_plan_book *book);
/* For CCM_CLEANUP. */
void daemon_plan_book_freep(struct daemon_plan_book **book);

/* plan() of struct ccm_host. Told again about the same object, the last word counts. */
void daemon_plan_book_steps(struct daemon_plan_book *book, const char *plugin, const char *object,
                            const char *steps);
/* An event that would be written; Normal ones are left out. */
void daemon_plan_book_event(struct daemon_plan_book *book, const char *plugin,
                            const struct ccm_event *event);
/* How a reconcile of the object ended (or, object "", the plugin itself): failure NULL = well. The
 * last word counts. */
void daemon_plan_book_result(struct daemon_plan_book *book, const char *plugin, const char *object,
                             const char *failure);

/* A call that worked on the object has ended; its result, if any, is in the book. */
void daemon_plan_book_ended(struct daemon_plan_book *book, const char *plugin, const char *object);
/* Whether the object has been looked at: steps were told by a call that ended, and not one that
 * failed, unless it did so again and again. */
bool daemon_plan_book_is_looked(struct daemon_plan_book *book, const char *plugin,
                                const char *object);
/* The end has come before the object was looked at. What it failed at last stays known. */
void daemon_plan_book_left(struct daemon_plan_book *book, const char *plugin, const char *object);

struct daemon_plan_counts {
    size_t changing; /* objects that have steps and did not fail */
    size_t settled;  /* as they should be */
    size_t failed;   /* also whatever got lost for want of memory */
};

/* Codes that switch the colour of a terminal; "" = none. */
struct daemon_plan_paint {
    const char *object;
    const char *warning;
    const char *failure;
    const char *plain; /* back to what it was */
};

/* Sorted by plugin and object: what is as it should be is only counted. The last line sums up. */
void daemon_plan_book_print(struct daemon_plan_book *book, const struct daemon_plan_paint *paint,
                            FILE *out, struct daemon_plan_counts *ret);

/* The same for programs: {"objects": [{"plugin", "object", "state", "steps": [...], "warnings":
 * [...], "failures": [...]}], "changing", "settled", "failed"}, with all objects that were looked
 * at. */
void daemon_plan_book_print_objects(struct daemon_plan_book *book, struct ccm_buf *buf,
                                    struct daemon_plan_counts *ret);

/* The same in the form in which the reference leaves it: JSON with State, Reason and
 * CheckResults, one per plugin, with at most 20 objects each, failed ones first. */
void daemon_plan_book_print_json(struct daemon_plan_book *book, struct ccm_buf *buf);

#endif
