#!/bin/sh
# Orange's fence around its agents: no push, also not from a hook of the repository or by git's absolute path.
echo "orange: refused: git push. An agent of Orange does not push: what leaves this machine is a person's decision." >&2
echo "Commit your work and hand it over (orange task complete); the person looks at it, pushes and merges." >&2
exit 1
