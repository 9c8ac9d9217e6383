# Reads and checks the values of cluster.env, for make-certificates and configure. POSIX sh.

# In other locales, [A-Z] may exclude letters: I in Turkish.
export LC_ALL=C

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$1" >&2
  exit 1
}

# Reads the file into the environment, so that awk sees the values.
read_values() {
  [ -f "$1" ] || fail "$1 does not exist. Copy cluster.env.example to cluster.env, and fill it in."
  set -a
  # shellcheck disable=SC1090
  . "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
  set +a
}

# Fails unless each exported variable with one of these names has a valid value. Reports all faults at once. The patterns
# exclude everything that YAML, HAProxy or pg_hba.conf would interpret.
check_values() {
  faults=$(awk 'BEGIN {
    for (i = 1; i < ARGC; i++) {
      name = ARGV[i]
      value = ENVIRON[name]
      if (name ~ /^NODE[1-3]?_NAME$/) { pattern = "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"; hint = "use lower-case letters, digits, \"-\" and \".\"" }
      else if (name ~ /_(ADDRESS|LISTEN)$/) { pattern = "^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+$"; hint = "use an IPv4 address such as 10.0.0.11" }
      else if (name ~ /_SUBNET$/) { pattern = "^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+/[0-9]+$"; hint = "use a network such as 10.0.1.0/24" }
      else if (name ~ /_PASSWORD$/) { pattern = "^[A-Za-z0-9_-]+$"; hint = "use at least 16 letters, digits, \"_\" and \"-\"; openssl rand -hex 24 creates such a password" }
      else if (name ~ /_PORT$/) { pattern = "^[0-9]+$"; hint = "use a number such as 5000" }
      else if (name ~ /^SHARED_BUFFERS$|_SIZE$|_MAX$/) { pattern = "^[1-9][0-9]*(MB|GB|TB)$"; hint = "use a size such as 512MB or 4GB" }
      else if (name == "WATCHDOG") { pattern = "^(automatic|required|off)$"; hint = "use automatic, required or off" }
      else if (name == "ETCD_STATE") { pattern = "^(new|existing)$"; hint = "use new or existing" }
      else { pattern = "^/[A-Za-z0-9._/-]*$"; hint = "use an absolute path" }
      if (value == "") print "  " name " is empty: " hint
      else if (value !~ pattern || (name ~ /_PASSWORD$/ && length(value) < 16)) print "  " name " is not valid: " hint
    }
  }' "$@")
  [ -z "$faults" ] || fail "correct these values in $env_file:
$faults"
}

# The address of the node with this name; fails if there is none.
address_of() {
  for number in 1 2 3; do
    eval "name=\$NODE${number}_NAME address=\$NODE${number}_ADDRESS"
    if [ "$name" = "$1" ]; then
      echo "$address"
      return
    fi
  done
  fail "$env_file has no node $1. Its nodes are $NODE1_NAME, $NODE2_NAME and $NODE3_NAME."
}
