#compdef ccmd
# Completion of ccmd for zsh, as `ccmd completion zsh` prints it.
_ccmd_plugins() {
    local -a names
    names=(${(f)"$(_call_program plugins ccmd plugins -o name 2>/dev/null)"})
    compadd -a names
}
_ccmd_annotations() {
    local -a names
    names=(${(f)"$(_call_program annotations ccmd explain -o name 2>/dev/null)"})
    compadd -a names
}
_ccmd_commands() {
    local -a commands
    commands=(
        'run:watch the cluster and keep the cloud in step (default)'
        'check-config:tell every problem of a configuration, start nothing'
        'plan:print what run would change now, change nothing'
        'lint:check the Services in manifests without a cluster'
        'explain:say what an annotation of Services means, or list them'
        'webhook:answer the API server about Services that are applied'
        'plugins:list the configured plugins, or inspect plugin files'
        'status:print what the running daemon does and what fails'
        'resync:have the daemon read a load balancer again and repair it'
        'allow-removals:let go what a plugin holds back because nodes are missing'
        'convert-config:turn the settings of cloud-provider-alibaba-cloud into a configuration'
        'completion:print the completion of bash, zsh or fish'
        'version:print the version'
        'help:print what a command does'
    )
    _describe command commands
}
_ccmd() {
    local curcontext=$curcontext state line
    _arguments -C \
            '(-c --config)'{-c,--config}'[configuration file, or folder of *.conf files (default /etc/ccmd/ccmd.conf)]:FILE:_files' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]' \
            '1:command:_ccmd_commands' '*::operand:->operand'
    [[ $state == operand ]] || return
    case $words[1] in
    run)
        _arguments \
            '(-c --config)'{-c,--config}'[configuration file, or folder of *.conf files (default /etc/ccmd/ccmd.conf)]:FILE:_files' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]'
        ;;
    check-config)
        _arguments \
            '(-c --config)'{-c,--config}'[configuration file, or folder of *.conf files (default /etc/ccmd/ccmd.conf)]:FILE:_files' \
            '(-o --output)'{-o,--output}'[how to print what was found\: text (default) or json]:FORMAT:(text json)' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]'
        ;;
    plan)
        _arguments \
            '(-c --config)'{-c,--config}'[configuration file, or folder of *.conf files (default /etc/ccmd/ccmd.conf)]:FILE:_files' \
            '--kubeconfig[kubeconfig to use instead of that of the configuration]:FILE:_files' \
            '--context[context of the kubeconfig to use instead of its current one]:NAME: ' \
            '(-o --output)'{-o,--output}'[how to print what was found\: text (default) or json]:FORMAT:(text json)' \
            '--event[leave the result in the Event kube-system/CloudControllerManagerPrecheckResult too]' \
            '--timeout[give up after so long (default 300)]:SECONDS: ' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]'
        ;;
    lint)
        _arguments \
            '(-c --config)'{-c,--config}'[configuration file, or folder of *.conf files (default /etc/ccmd/ccmd.conf)]:FILE:_files' \
            '*--plugin[ask this plugin instead of those of the configuration; may be repeated]:FILE:_files' \
            '--plugin-dir[where plugins are that are given by name; alone\: ask all that are there]:DIR:_files -/' \
            '(-o --output)'{-o,--output}'[how to print findings\: text (default), json, sarif (for code scanning), or github (annotations of a workflow)]:FORMAT:(text json sarif github)' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]' \
            '*:operand:_files'
        ;;
    explain)
        _arguments \
            '(-c --config)'{-c,--config}'[configuration file, or folder of *.conf files (default /etc/ccmd/ccmd.conf)]:FILE:_files' \
            '*--plugin[ask this plugin instead of those of the configuration; may be repeated]:FILE:_files' \
            '--plugin-dir[where plugins are that are given by name; alone\: ask all that are there]:DIR:_files -/' \
            '(-o --output)'{-o,--output}'[how to print them\: text (default), json, or their names alone]:FORMAT:(text json name)' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]' \
            '1:operand:_ccmd_annotations'
        ;;
    webhook)
        _arguments \
            '(-c --config)'{-c,--config}'[configuration file, or folder of *.conf files (default /etc/ccmd/ccmd.conf)]:FILE:_files' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]'
        ;;
    plugins)
        _arguments \
            '(-c --config)'{-c,--config}'[configuration file, or folder of *.conf files (default /etc/ccmd/ccmd.conf)]:FILE:_files' \
            '(-o --output)'{-o,--output}'[how to print them\: text (default), json, or their names alone]:FORMAT:(text json name)' \
            '--rbac[print roles with the rights that they need, as YAML for kubectl]' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]' \
            '*:operand:_files'
        ;;
    status)
        _arguments \
            '(-c --config)'{-c,--config}'[configuration file, or folder of *.conf files (default /etc/ccmd/ccmd.conf)]:FILE:_files' \
            '(-o --output)'{-o,--output}'[how to print what was found\: text (default) or json]:FORMAT:(text json)' \
            '--all[list all objects]' \
            '--quotas[what is used and allowed of each quota and each action of the cloud, and what waits]' \
            '--watch[print it every 2 s]' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]' \
            '1:operand: '
        ;;
    resync)
        _arguments \
            '(-c --config)'{-c,--config}'[configuration file, or folder of *.conf files (default /etc/ccmd/ccmd.conf)]:FILE:_files' \
            '--all[all Services]' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]' \
            '1:operand: '
        ;;
    allow-removals)
        _arguments \
            '(-c --config)'{-c,--config}'[configuration file, or folder of *.conf files (default /etc/ccmd/ccmd.conf)]:FILE:_files' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]' \
            '1:operand:_ccmd_plugins'
        ;;
    convert-config)
        _arguments \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]' \
            '*:operand:_files'
        ;;
    completion)
        _arguments \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]' \
            '1:operand:(bash zsh fish)'
        ;;
    version)
        _arguments \
            '(-o --output)'{-o,--output}'[how to print what was found\: text (default) or json]:FORMAT:(text json)' \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]'
        ;;
    help)
        _arguments \
            '(-h --help)'{-h,--help}'[print this help]' \
            '(-V --version)'{-V,--version}'[print the version]' \
            '1:operand:_ccmd_commands'
        ;;
    esac
}
_ccmd "$@"
