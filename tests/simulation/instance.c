#define _GNU_SOURCE
#include "instance.h"

#include "libc.h"
#include "order.h"
#include "story.h"

#include "daemon/daemon.h"
#include "daemon/setup.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define RESTART_US 1000000
#define LIBRARIES  16

/* --- writable data of the plugins --- */

struct library {
    char *at;
    size_t len;
    char *fresh; /* as it was loaded */
};

static struct library libraries[LIBRARIES];
static size_t library_count;
static size_t image_size;           /* of all libraries together */
static char *images[SIM_INSTANCES]; /* while another instance runs */
static int loaded;                  /* whose data are in place */

struct block {
    uint64_t words[8];
} __attribute__((packed, may_alias));

/* No call of the C library: the redzones of a sanitizer are part of it. */
__attribute__((no_sanitize("address", "undefined"))) static void
copy_bytes(char *to, const char *from, size_t len)
{
    size_t i = 0;

    for (; len - i >= sizeof(struct block); i += sizeof(struct block)) {
        *(struct block *)(void *)(to + i) = *(const struct block *)(const void *)(from + i);
    }
    for (; i < len; i++) {
        ((volatile char *)to)[i] = from[i];
    }
}

static bool library_is_ours(const char *path)
{
    static const char *const names[] = { "/libccm-alicloud.so", "/clb.so",  "/nlb.so",
                                         "/route.so",           "/node.so", "/gateway.so" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strstr(path, names[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static void library_add(char *at, size_t len)
{
    if (library_count == LIBRARIES) {
        sim_fail("more libraries than there is room for");
    }
    libraries[library_count++] = (struct library){ .at = at, .len = len };
    image_size += len;
}

static int find_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t relro_end = 0;

    (void)size;
    (void)arg;
    if (!library_is_ours(info->dlpi_name)) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_GNU_RELRO) {
            relro_end = part->p_vaddr + part->p_memsz;
        }
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t end = part->p_vaddr + part->p_memsz;
        uintptr_t from = part->p_vaddr;

        if (part->p_type != PT_LOAD || (part->p_flags & PF_W) == 0) {
            continue;
        }
        from = relro_end > from && relro_end <= end ? relro_end : from;
        if (end > from) {
            library_add((char *)(info->dlpi_addr + from), end - from);
        }
    }
    return 0;
}

static void image_save(char *image)
{
    for (size_t i = 0; i < library_count; i++) {
        copy_bytes(image, libraries[i].at, libraries[i].len);
        image += libraries[i].len;
    }
}

static void image_load(const char *image)
{
    for (size_t i = 0; i < library_count; i++) {
        copy_bytes(libraries[i].at, image, libraries[i].len);
        image += libraries[i].len;
    }
}

static void instances_switch(int instance)
{
    if (library_count == 0 || instance == loaded) {
        return;
    }
    if (images[loaded] == NULL) {
        images[loaded] = malloc(image_size);
    }
    if (images[loaded] == NULL) {
        abort();
    }
    image_save(images[loaded]);
    if (images[instance] != NULL) {
        image_load(images[instance]);
    } else {
        for (size_t i = 0; i < library_count; i++) {
            copy_bytes(libraries[i].at, libraries[i].fresh, libraries[i].len);
        }
    }
    loaded = instance;
}

static void libraries_find(void)
{
    if (library_count > 0) {
        return;
    }
    (void)dl_iterate_phdr(find_library, NULL); /* returns what find_library() does: 0 */
    for (size_t i = 0; i < library_count; i++) {
        libraries[i].fresh = malloc(libraries[i].len);
        if (libraries[i].fresh == NULL) {
            abort();
        }
        copy_bytes(libraries[i].fresh, libraries[i].at, libraries[i].len);
    }
    loaded = sim_instance(); /* it has loaded them */
}

/* --- begin and end --- */

struct seat {
    int instance;
    int64_t start_us; /* when the next one is started */
    pthread_t thread;
};

static struct seat all_seats[SIM_SEATS];
static int instance_count;
static const char *config_path;
void (*sim_on_killed)(int instance);

static void seat_run_once(struct seat *seat)
{
    struct daemon_setup setup = { 0 };

    if (instance_count + 1 >= SIM_INSTANCES) {
        sim_fail("more than %d instances were started", SIM_INSTANCES);
    }
    seat->instance = ++instance_count;
    sim_set_instance(seat->instance);
    sim_trace("instance %d starts", seat->instance);
    sim_story_add("instance %d starts", seat->instance);
    if (daemon_setup_load(config_path, &setup) < 0 || setup.refused > 0) {
        sim_fail("the configuration is not good");
    }
    libraries_find();

    const int r = daemon_run(setup.config, setup.registry);

    sim_trace("instance %d ends with %d", seat->instance, r);
    if (r != -ETIMEDOUT) {
        daemon_setup_fini(&setup);
    }
    sim_set_instance(SIM_WORLD_SIDE);
    seat->instance = 0;
}

/* Ends only with its instance, or with the world. */
__attribute__((noreturn)) static void *seat_main(void *arg)
{
    struct seat *seat = arg;

    for (;;) {
        sim_sleep_us(seat->start_us - sim_now_us());
        if (sim_now_us() >= seat->start_us) {
            seat_run_once(seat);
            seat->start_us = sim_now_us() + RESTART_US;
        }
    }
}

static void seat_start(struct seat *seat)
{
    if (pthread_create(&seat->thread, NULL, seat_main, seat) != 0) {
        sim_fail("no room for another thread");
    }
}

static void instance_end_itself(int instance)
{
    const int seat = sim_instance_seat(instance);

    sim_trace("instance %d ends at once", instance);
    if (seat < 0) { /* another one has the seat: this one was stopped, and takes too long */
        sim_kill(instance);
    }
    sim_seat_crash(seat, RESTART_US);
}

void sim_instances_begin(const char *config, int seats)
{
    config_path = config;
    sim_on_instance = instances_switch;
    sim_on_alarm = instance_end_itself;
    for (int i = 0; i < seats; i++) {
        seat_start(&all_seats[i]);
    }
}

void sim_seat_add(int seat)
{
    const int mine = sim_instance();

    sim_set_instance(SIM_WORLD_SIDE); /* not a thread of the instance that asks for it */
    all_seats[seat].start_us = sim_now_us();
    seat_start(&all_seats[seat]);
    sim_set_instance(mine);
}

int sim_seat_instance(int seat)
{
    return all_seats[seat].instance;
}

int sim_instance_seat(int instance)
{
    for (int i = 0; i < SIM_SEATS; i++) {
        if (instance != 0 && all_seats[i].instance == instance) {
            return i;
        }
    }
    return -1;
}

void sim_seat_crash(int seat, int64_t delay_us)
{
    struct seat *one = &all_seats[seat];
    const int dead = one->instance;
    const int mine = sim_instance();

    if (dead == 0) {
        return;
    }
    sim_atomic(true); /* none of the dead goes on meanwhile */
    sim_trace("instance %d is killed", dead);
    sim_story_add("instance %d is killed", dead);
    sim_pause(dead, 0);
    one->instance = 0;
    one->start_us = sim_now_us() + delay_us;
    sim_set_instance(SIM_WORLD_SIDE); /* what is started is no thread of the dead */
    seat_start(one);
    sim_set_instance(mine);
    if (sim_on_killed != NULL) {
        sim_on_killed(dead);
    }
    sim_atomic(false);
    sim_kill(dead);
}

void sim_seat_stop(int seat)
{
    if (all_seats[seat].instance != 0) {
        sim_send_signal(all_seats[seat].instance, SIGTERM);
    }
}

void sim_instances_drop(void)
{
    for (int i = 0; i < SIM_SEATS; i++) {
        const int dead = all_seats[i].instance;

        all_seats[i].instance = 0;
        all_seats[i].start_us = SIM_FOREVER;
        if (dead != 0 && sim_on_killed != NULL) {
            sim_on_killed(dead);
        }
        if (dead != 0) {
            sim_kill(dead);
        }
    }
}

int sim_instances_count(void)
{
    return instance_count;
}
