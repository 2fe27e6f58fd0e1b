# Fairlead's shell integration for fish, found through XDG_DATA_DIRS. Marks come from events and from one wrapper around
# fish_prompt. Newer fish sends OSC 133 itself; ours carry a nonce, so the two are not confused.

if set -q FAIRLEAD_INTEGRATION
    set -g __fl_dir $FAIRLEAD_INTEGRATION
    set -ge FAIRLEAD_INTEGRATION
    # Children find the data directories they would have found without us.
    if set -q FAIRLEAD_XDG_DATA_DIRS
        set -gx XDG_DATA_DIRS $FAIRLEAD_XDG_DATA_DIRS
        set -ge FAIRLEAD_XDG_DATA_DIRS
    else
        set -ge XDG_DATA_DIRS
    end
    set -g __fl_nonce
    # The nonce is gone from the disk before any other program runs.
    read -g __fl_nonce <$__fl_dir/nonce
    and echo -n '' >$__fl_dir/nonce
end 2>/dev/null

if status is-interactive; and set -q __fl_nonce; and test -n "$__fl_nonce"
    set -g __fl_n 0
    set -g __fl_in 1
    set -g __fl_cwd ''
    # Children must not learn the nonce, and `set -x` would export a variable to them. Functions keep a copy of their own.
    set -l __fl_tail ";fl=$__fl_nonce;n="
    set -l __fl_said $__fl_nonce
    set -ge __fl_nonce
    test -w $__fl_dir; or set -g __fl_dir

    function __fl_at_prompt --on-event fish_prompt --inherit-variable __fl_tail
        set -l __fl_status $status
        test -n "$__fl_dir"; and __fl_exchange
        set -g __fl_n (math $__fl_n + 1)
        if not set -q __fl_wrapped; or not string match -q '*__fl_user_prompt*' -- (functions fish_prompt)
            __fl_wrap
        end
        if test "$PWD" != "$__fl_cwd"
            set -g __fl_cwd $PWD
            printf '\e]7;file://%s%s\a' $hostname (string escape --style=url -- $PWD)
        end
        printf '\e]133;A%s%s\a' $__fl_tail $__fl_n
        return $__fl_status
    end

    # Whoever defines fish_prompt anew is wrapped anew.
    function __fl_wrap --inherit-variable __fl_tail
        functions -e __fl_user_prompt
        if functions -q fish_prompt
            functions -c fish_prompt __fl_user_prompt
        else
            function __fl_user_prompt
            end
        end
        function fish_prompt --inherit-variable __fl_tail
            __fl_user_prompt
            printf '\e]133;B%s%s\a' $__fl_tail $__fl_n
        end
        set -g __fl_wrapped 1
    end

    function __fl_at_start --on-event fish_preexec --inherit-variable __fl_tail
        test -n "$__fl_dir"; and __fl_take
        printf '\e]633;E;%s%s%s\a\e]133;C%s%s\a' (__fl_escape $argv[1]) $__fl_tail $__fl_n $__fl_tail $__fl_n
    end

    function __fl_at_end --on-event fish_postexec --inherit-variable __fl_tail
        set -l __fl_status $status
        printf '\e]133;D;%s%s%s\a' $__fl_status $__fl_tail $__fl_n
        return $__fl_status
    end

    function __fl_escape
        set -l text (string sub -l 2000 -- $argv[1] | string collect)
        set text (string replace -a '\\' '\\\\' -- $text | string replace -a ';' '\\x3b' | string join '\\x0a')
        for hex in 01 02 03 04 05 06 07 08 09 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 7f
            string match -qr '[\x01-\x1f\x7f]' -- $text; or break
            set text (string replace -ar "\\x$hex" "\\\\\\x$hex" -- $text)
        end
        echo -n $text
    end

    # Assignments left for us: in.1, in.2, … each read once.
    function __fl_take
        while test -e $__fl_dir/in.$__fl_in
            source $__fl_dir/in.$__fl_in
            command rm -f -- $__fl_dir/in.$__fl_in
            set -g __fl_in (math $__fl_in + 1)
        end
    end

    function __fl_exchange
        __fl_take
        test -e $__fl_dir/env; and __fl_dump
    end

    # The file exists when someone asked; an empty record says that it is complete.
    function __fl_dump
        begin
            for name in (set -nx)
                printf '%s=%s\0' $name "$$name"
            end
            printf '\0'
        end >$__fl_dir/env
    end

    # Heard at the prompt at once, whoever else listens.
    set -l winch ''
    if test -n "$__fl_dir"
        set winch now
        function __fl_signal --on-signal WINCH
            __fl_exchange
        end
    end

    # From 4.0 on its line editor asks the terminal by itself and reads the answers.
    set -l asks 0
    string match -qr '^(?:[4-9]|\d\d)' -- $version; and set asks 1
    printf '\e]633;P;shell=fish;pid=%s;usr1=0;winch=%s;asks=%s;fl=%s\a' $fish_pid "$winch" $asks $__fl_said
else
    set -ge __fl_dir
    set -ge __fl_nonce
end
