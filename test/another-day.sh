#!/usr/bin/env bash
# Runs a command 40 days ahead, in another time zone and locale, where the tests must have the same result:
#
#   test/another-day.sh npm test -- test/store
#   TEST_AT='2028-02-29 11:59:30Z' TEST_ZONE=Europe/Berlin TEST_LOCALE=de_DE.UTF-8 test/another-day.sh npm test -- test/store
#
# Run it as root on Debian 12: it installs missing packages with apt-get. It does not change the clock of the host. Programs
# in Go, such as Prometheus and nats-server, and those in another root directory keep that clock.
set -euo pipefail
zone=${TEST_ZONE:-Pacific/Auckland}
locale=${TEST_LOCALE:-tr_TR.UTF-8}
library=/usr/lib/$(uname -m)-linux-gnu/faketime/libfaketimeMT.so.1

if [ "${1:-}" != --inside ]; then
  if [ ! -e "$library" ] || [ ! -e "/usr/share/i18n/locales/${locale%.*}" ]; then
    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends faketime locales
  fi
  [ "$(LC_ALL=$locale locale charmap 2> /dev/null)" = UTF-8 ] || localedef -i "${locale%.*}" -f UTF-8 "$locale"
  exec unshare --mount --propagation private "$0" --inside "$@"
fi
shift

# The command has a copy of /etc, so that its processes need no environment variables: most tests start theirs without.
copy=$(mktemp -d)
cp -a /etc/. "$copy"
mount -t tmpfs -o mode=755 tmpfs /etc
cp -a "$copy/." /etc
rm -r "$copy"
ln -sfn "/usr/share/zoneinfo/$zone" /etc/localtime
echo "$zone" > /etc/timezone
seconds=$((40 * 86400))
if [ -n "${TEST_AT:-}" ]; then seconds=$(($(date --date="$TEST_AT" +%s) - $(date +%s))); fi
printf '%+d\n' "$seconds" > /etc/faketimerc
# Hides two of its functions. With them, a signal handler of PostgreSQL reads the clock of the host, so no timeout expires.
LC_ALL=C sed 's/epoll_wait/epoll_WAIT/g; s/epoll_pwait/epoll_pWAIT/g' "$library" > /etc/faketime.so
echo /etc/faketime.so > /etc/ld.so.preload

# Chromium hangs without these two. Most other processes do not get them, and have a monotonic clock that is shifted too.
export FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_FORCE_MONOTONIC_FIX=0
export TZ=$zone LC_ALL=$locale
date
exec "$@"
