/* `ccmd convert-config`: reads what the controller before was given, prints a configuration. */
#include "tools/command.h"
#include "tools/convert/convert.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CREDENTIALS "--credentials="

/* A new file that nobody else may read. An existing one stays: it may be the only copy of a key. */
static int write_secret(const char *path, const char *text, size_t len)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0) {
        return -errno;
    }

    const ssize_t written = write(fd, text, len);
    const int r = written == (ssize_t)len ? 0 : -EIO;

    return close(fd) < 0 && r == 0 ? -errno : r;
}

static int write_credentials_file(const struct convert_input *input, const char *path)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { .max = 16384 };
    int r = convert_credentials(input, &json);

    if (r == -ENOENT) {
        fprintf(stderr, "%s: not written: there is no accessKeyID\n", path);
        return 0;
    }
    if (r == 0) {
        r = write_secret(path, ccm_buf_str(&json), json.len);
    }
    if (json.data != NULL) {
        explicit_bzero(json.data, json.len);
    }
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", path,
                r == -EBADMSG ? "accessKeyID and accessKeySecret have to be base64" : strerror(-r));
    }
    return r;
}

static int read_operand(struct convert_input *input, const char *text, bool first,
                        struct ccm_error *err)
{
    if (first) {
        return convert_read_config(input, text, err);
    }
    if (text[0] != '-') {
        return convert_read_manifest(input, text, err);
    }

    const int r = convert_add_flag(input, text);

    return r == -EINVAL ? ccm_error_set(err, r, CCM_ERROR_TERMINAL, "%s: is no flag", text) : r;
}

static int read_operands(struct convert_input *input, const char *const *operands, size_t count,
                         const char **ret_credentials, struct ccm_error *err)
{
    for (size_t i = 0; i < count; i++) {
        int r = 0;

        if (i > 0 && ccm_text_starts(operands[i], CREDENTIALS)) {
            *ret_credentials = operands[i] + strlen(CREDENTIALS);
        } else if (strcmp(operands[i], "--") != 0) {
            r = read_operand(input, operands[i], i == 0, err);
        }
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int convert_run(const char *const *operands, size_t count)
{
    CCM_CLEANUP(convert_input_fini) struct convert_input input = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf config = { .max = 262144 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf notes = { .max = 262144 };
    const char *credentials = "";
    struct ccm_error err = CCM_ERROR_INIT;
    int r = convert_input_init(&input);

    if (r == 0) {
        r = read_operands(&input, operands, count, &credentials, &err);
    }
    if (r < 0) {
        fprintf(stderr, "%s\n", err.message[0] == '\0' ? strerror(-r) : err.message);
        return r;
    }
    r = convert_write(&input, credentials, &config, &notes);
    if (r == 0 && credentials[0] != '\0') {
        r = write_credentials_file(&input, credentials);
    }
    if (r < 0) {
        return r;
    }
    printf("# Converted from %s. Check it with: ccmd check-config --config FILE\n%s", operands[0],
           ccm_buf_str(&config));
    fprintf(stderr, "%s", ccm_buf_str(&notes));
    return 0;
}

int tool_command_convert_config(const struct cli_command_args *args)
{
    return convert_run(args->operands, args->operand_count);
}
