# Completion of ccmd for bash, as `ccmd completion bash` prints it.
_ccmd_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_ccmd_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}
_ccmd() {
    local commands='run check-config plan lint explain webhook plugins status resync allow-removals convert-config completion version help'
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' i config=()

    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ -z $command && " $commands " == *" ${COMP_WORDS[i]} "* ]] && command=${COMP_WORDS[i]}
        [[ ${COMP_WORDS[i]} == --config ]] && config=(--config "${COMP_WORDS[i + 1]/#=/${COMP_WORDS[i + 2]}}")
    done
    # bash makes three words of --name=value.
    [[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
    [[ $cur == '=' ]] && cur=''
    case $command in
    '')
        if [[ $cur == -* ]]; then
            _ccmd_words ' --config --help --version'
        else
            _ccmd_words "$commands"
        fi
        ;;
    run)
        case $prev in
        --config | -c) _ccmd_files -f; return ;;
        esac
        if [[ $cur == -* ]]; then
            _ccmd_words ' --config --help --version'
        else
            COMPREPLY=()
        fi
        ;;
    check-config)
        case $prev in
        --config | -c) _ccmd_files -f; return ;;
        --output | -o) _ccmd_words 'text json'; return ;;
        esac
        if [[ $cur == -* ]]; then
            _ccmd_words ' --config --output --help --version'
        else
            COMPREPLY=()
        fi
        ;;
    plan)
        case $prev in
        --config | -c) _ccmd_files -f; return ;;
        --kubeconfig) _ccmd_files -f; return ;;
        --context) COMPREPLY=(); return ;;
        --output | -o) _ccmd_words 'text json'; return ;;
        --timeout) COMPREPLY=(); return ;;
        esac
        if [[ $cur == -* ]]; then
            _ccmd_words ' --config --kubeconfig --context --output --event --timeout --help --version'
        else
            COMPREPLY=()
        fi
        ;;
    lint)
        case $prev in
        --config | -c) _ccmd_files -f; return ;;
        --plugin) _ccmd_files -f; return ;;
        --plugin-dir) _ccmd_files -d; return ;;
        --output | -o) _ccmd_words 'text json sarif github'; return ;;
        esac
        if [[ $cur == -* ]]; then
            _ccmd_words ' --config --plugin --plugin-dir --output --help --version'
        else
            _ccmd_files -f
        fi
        ;;
    explain)
        case $prev in
        --config | -c) _ccmd_files -f; return ;;
        --plugin) _ccmd_files -f; return ;;
        --plugin-dir) _ccmd_files -d; return ;;
        --output | -o) _ccmd_words 'text json name'; return ;;
        esac
        if [[ $cur == -* ]]; then
            _ccmd_words ' --config --plugin --plugin-dir --output --help --version'
        else
            _ccmd_words "$("${COMP_WORDS[0]}" explain -o name "${config[@]}" 2>/dev/null)"
        fi
        ;;
    webhook)
        case $prev in
        --config | -c) _ccmd_files -f; return ;;
        esac
        if [[ $cur == -* ]]; then
            _ccmd_words ' --config --help --version'
        else
            COMPREPLY=()
        fi
        ;;
    plugins)
        case $prev in
        --config | -c) _ccmd_files -f; return ;;
        --output | -o) _ccmd_words 'text json name'; return ;;
        esac
        if [[ $cur == -* ]]; then
            _ccmd_words ' --config --output --rbac --help --version'
        else
            _ccmd_files -f
        fi
        ;;
    status)
        case $prev in
        --config | -c) _ccmd_files -f; return ;;
        --output | -o) _ccmd_words 'text json'; return ;;
        esac
        if [[ $cur == -* ]]; then
            _ccmd_words ' --config --output --all --quotas --watch --help --version'
        else
            COMPREPLY=()
        fi
        ;;
    resync)
        case $prev in
        --config | -c) _ccmd_files -f; return ;;
        esac
        if [[ $cur == -* ]]; then
            _ccmd_words ' --config --all --help --version'
        else
            COMPREPLY=()
        fi
        ;;
    allow-removals)
        case $prev in
        --config | -c) _ccmd_files -f; return ;;
        esac
        if [[ $cur == -* ]]; then
            _ccmd_words ' --config --help --version'
        else
            _ccmd_words "$("${COMP_WORDS[0]}" plugins -o name "${config[@]}" 2>/dev/null)"
        fi
        ;;
    convert-config)
        if [[ $cur == -* ]]; then
            _ccmd_words ' --help --version'
        else
            _ccmd_files -f
        fi
        ;;
    completion)
        if [[ $cur == -* ]]; then
            _ccmd_words ' --help --version'
        else
            _ccmd_words 'bash zsh fish'
        fi
        ;;
    version)
        case $prev in
        --output | -o) _ccmd_words 'text json'; return ;;
        esac
        if [[ $cur == -* ]]; then
            _ccmd_words ' --output --help --version'
        else
            COMPREPLY=()
        fi
        ;;
    help)
        if [[ $cur == -* ]]; then
            _ccmd_words ' --help --version'
        else
            _ccmd_words "$commands"
        fi
        ;;
    esac
}
complete -F _ccmd ccmd
