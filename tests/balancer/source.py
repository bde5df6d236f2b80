"""source.py PAGE FILE [late]: the provider of the page, all its blocks of balancer.c, into the file. late: for a cloud that knows no tokens and takes its
time, with what the page says about such clouds."""

import re
import sys


def source(text):
    return "".join(re.findall(r"^<!-- balancer\.c -->\n```c\n(.*?)^```$", text, re.M | re.S))


def snippet(text, mark):
    (block,) = re.findall(rf"^<!-- {mark} -->\n```c\n(.*?)^```$", text, re.M | re.S)
    return block


def replace_once(text, old, new):
    assert text.count(old) == 1, (text.count(old), old)
    return text.replace(old, new)


def with_states(code, text):
    """How far a load balancer is counts."""
    code = replace_once(code, "static const struct lbc_apply_ops apply_ops", snippet(text, "unready") + "static const struct lbc_apply_ops apply_ops")
    gone = 'LBC_PLAIN_GONE("NoLoadBalancer") }'
    code = replace_once(code, gone, gone.replace(" }", ", .lb_ready = lb_ready }"))
    name = 'answer_copy_text(&state->lb.texts[LBC_LB_NAME], json, "Name") < 0 ||'
    return replace_once(code, name, name + '\nanswer_copy_text(&state->lb.texts[LBC_PLAIN_STATE], json, "State") < 0 ||')


def without_tokens(code):
    for line in ("    char token[LBC_TOKEN_SIZE];\n", '    ccm_jsonw_str(w, "Token", token);\n',
                 "    lbc_token_write(&(struct lbc_token)LBC_TOKEN_INIT, by->service, *by->attempt, token);\n"):
        code = replace_once(code, line, "")
    return replace_once(code, "    .traits = LBC_CREATES_ONCE,\n", "")


def main(page, path, *variant):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    code = source(text)
    if variant == ("late",):
        code = without_tokens(with_states(code, text))
    with open(path, "w", encoding="utf-8") as file:
        file.write(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
