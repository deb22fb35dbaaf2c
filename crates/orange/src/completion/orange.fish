# Completions of orange for fish:
#   orange completions fish | source       in ~/.config/fish/config.fish, or this text as the file
#   ~/.config/fish/completions/orange.fish

complete --command orange --no-files --keep-order --arguments "(ORANGE_COMPLETE=fish command orange -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token --cut-at-cursor) 2>/dev/null)"
