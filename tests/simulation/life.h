/* Histories at random. */
#ifndef SIM_LIFE_H
#define SIM_LIFE_H

#include "history.h"

struct sim_life_options {
    uint64_t seed;
    unsigned lives;
    unsigned slots; /* Services that live at the same time */
    bool clb;       /* plugins that are there */
    bool nlb;
    bool gateway;
    bool console;     /* people change things in the console, which audits repair */
    unsigned seats;   /* instances */
    unsigned trouble; /* 0: nothing happens but lives; 100: the usual share of crashes and so on */
};

/* Append a history in which every Service is deleted in the end. Virtual ms of its last line. */
int64_t sim_life_draw(struct sim_history *history, const struct sim_life_options *options);

#endif
