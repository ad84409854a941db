# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Completion of pagedet for fish. "pagedet complete WORD..." says what there is
# to offer; here is only how fish wants it.

function __pagedet_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (commandline -ct)
            case :dirs
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $line
        end
    end
end

complete -c pagedet -f -a '(__pagedet_complete)'
