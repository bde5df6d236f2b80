# Completion of ccmd for bash.
_ccmd() {
    local commands='run check-config plugins lint plan convert-config allow-removals resync status version'
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' word

    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ " $commands " == *" $word "* ]] && command=$word && break
    done
    case $prev in
    --config | --plugin)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
        ;;
    --plugin-dir)
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        local options='--config --help --usage --version'
        [[ $command == lint ]] && options+=' --plugin --plugin-dir --constructors'
        [[ $command == resync ]] && options+=' --all'
        [[ $command == status ]] && options+=' --all --quotas --watch --output'
        [[ $command == plugins ]] && options+=' --rbac --constructors'
        [[ $command == plan ]] && options+=' --event --timeout'
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    elif [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
    elif [[ $command == allow-removals ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'clb nlb route' -- "$cur")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F _ccmd ccmd
