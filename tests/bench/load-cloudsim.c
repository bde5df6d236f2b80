/*
 * Load for cloudsim: signed reads of single load balancers over a few connections that stay open.
 *
 *   load-cloudsim PORT CONNECTIONS REQUESTS < IDS      prints the seconds it took
 *
 * IDS: ids of load balancers, one a line. Each connection waits for its answer before the next
 * request. Any answer but 200 ends it with exit code 1.
 */
#include "signature.h"
#include "util/attr.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define IDS_MAX 100000
#define ID_SIZE 64
#define EMPTY   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SIGNED                                                                                     \
    "host;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version"

struct load {
    char (*ids)[ID_SIZE];
    size_t ids_len;
    uint32_t port;
    uint32_t requests; /* of each connection */
    uint32_t number;   /* of the connection */
    bool failed;
};

static int dial(uint32_t port)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0) {
        perror("connect");
        return -1;
    }
    return fd;
}

static int request_make(const struct load *load, uint32_t number, struct ccm_buf *ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf headers = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf canonical = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf string = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf query = { 0 };
    char date[CCM_CLOCK_TEXT];

    ccm_clock_format(ccm_clock_wall_ms(), date, sizeof(date));
    ccm_buf_addf(&query, "LoadBalancerId=%s&RegionId=cn-hangzhou",
                 load->ids[(number * UINT32_C(2654435761)) % load->ids_len]);
    ccm_buf_addf(&headers,
                 "host:127.0.0.1:%u\nx-acs-action:DescribeLoadBalancerAttribute\n"
                 "x-acs-content-sha256:" EMPTY "\nx-acs-date:%s\n"
                 "x-acs-signature-nonce:load-%u-%u-%d\nx-acs-version:2014-05-15\n",
                 load->port, date, load->number, number, (int)getpid());
    ccm_buf_addf(&canonical, "POST\n/\n%s\n%s\n" SIGNED "\n" EMPTY, ccm_buf_str(&query),
                 ccm_buf_str(&headers));
    if (ccm_cloud_v3_string(ccm_buf_str(&canonical), canonical.len, &string) < 0) {
        return -1;
    }
    ccm_buf_addf(ret, "POST /?%s HTTP/1.1\r\n", ccm_buf_str(&query));
    for (const char *p = ccm_buf_str(&headers); *p != '\0'; p++) {
        if (*p == '\n') {
            ccm_buf_addc(ret, '\r');
        }
        ccm_buf_addc(ret, *p);
    }
    ccm_buf_adds(ret, "content-length:0\r\nauthorization: ACS3-HMAC-SHA256 "
                      "Credential=testAccessKeyId,SignedHeaders=" SIGNED ",Signature=");
    if (ccm_cloud_v3_sign("testAccessKeySecret", ccm_buf_str(&string), ret) < 0) {
        return -1;
    }
    ccm_buf_adds(ret, "\r\n\r\n");
    return ccm_buf_error(ret);
}

static int send_all(int fd, const struct ccm_buf *buf)
{
    for (size_t done = 0; done < buf->len;) {
        ssize_t n = send(fd, ccm_buf_str(buf) + done, buf->len - done, MSG_NOSIGNAL);

        if (n <= 0) {
            return -1;
        }
        done += (size_t)n;
    }
    return 0;
}

/* One answer with a Content-Length, nothing behind it. */
static int answer_read(int fd)
{
    char text[65536];
    size_t len = 0;

    for (;;) {
        ssize_t n = recv(fd, text + len, sizeof(text) - 1 - len, 0);

        if (n <= 0) {
            return -1;
        }
        len += (size_t)n;
        text[len] = '\0';

        char *end = strstr(text, "\r\n\r\n");
        const char *header = end == NULL ? NULL : strstr(text, "Content-Length: ");
        uint32_t size = 0;
        char number[16] = "";

        if (header != NULL) {
            size_t digits = strspn(header + 16, "0123456789");

            memcpy(number, header + 16, digits < 15 ? digits : 15);
        }
        if (header != NULL && ccm_parse_u32(number, 0, sizeof(text), &size) < 0) {
            return -1;
        }
        if (header != NULL && len >= (size_t)(end + 4 - text) + size) {
            return strncmp(text, "HTTP/1.1 200", 12) == 0 ? 0 : -1;
        }
        if (len == sizeof(text) - 1) {
            return -1;
        }
    }
}

static void *run(void *arg)
{
    struct load *load = arg;
    int fd = dial(load->port);

    load->failed = fd < 0;
    for (uint32_t i = 0; i < load->requests && !load->failed; i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf request = { 0 };

        load->failed = request_make(load, i, &request) < 0 || send_all(fd, &request) < 0 ||
                       answer_read(fd) < 0;
    }
    if (fd >= 0) {
        (void)close(fd); /* nothing was written that could be lost */
    }
    return NULL;
}

static size_t ids_read(char (*ids)[ID_SIZE])
{
    size_t n = 0;

    while (n < IDS_MAX && fgets(ids[n], ID_SIZE, stdin) != NULL) {
        ids[n][strcspn(ids[n], "\n")] = '\0';
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    CCM_CLEANUP(ccm_freep) char *ids = calloc(IDS_MAX, ID_SIZE);
    struct load loads[64];
    pthread_t threads[64];
    struct load load = { .ids = (char(*)[ID_SIZE])ids };
    uint32_t connections = 0;
    bool failed = false;

    if (argc != 4 || ids == NULL || ccm_parse_u32(argv[1], 1, 65535, &load.port) < 0 ||
        ccm_parse_u32(argv[2], 1, 64, &connections) < 0 ||
        ccm_parse_u32(argv[3], 1, 100000000, &load.requests) < 0) {
        (void)fprintf(stderr, "usage: load-cloudsim PORT CONNECTIONS REQUESTS < IDS\n");
        return 2;
    }
    load.ids_len = ids_read(load.ids);
    load.requests /= connections;
    if (load.ids_len == 0) {
        return 2;
    }

    int64_t start = ccm_clock_now_ms();

    for (uint32_t i = 0; i < connections; i++) {
        loads[i] = load;
        loads[i].number = i;
        if (pthread_create(&threads[i], NULL, run, &loads[i]) != 0) {
            return 1;
        }
    }
    for (uint32_t i = 0; i < connections; i++) {
        (void)pthread_join(threads[i], NULL); /* our own thread, joined once */
        failed = failed || loads[i].failed;
    }
    (void)printf("%.3f\n", (double)(ccm_clock_now_ms() - start) / 1000);
    return failed ? 1 : 0;
}
