#!/bin/sh
# Checks that .ci/setup builds hiredis only from the archive with the right name and checksum. Stand-ins replace all programs that
# would use the distribution's archive.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/deps"
stand_in() { # stand_in <name>: makes a program of this name; its shell script comes on stdin
  { echo '#!/bin/sh' && cat; } >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}
# All packages are installed except hiredis, and the distribution has only an old release of it.
stand_in dpkg-query <<'END'
case "$*" in *hiredis*) ;; *) echo installed ;; esac
END
stand_in apt-cache <<'END'
echo '  Candidate: 0.14.1-3'
END
stand_in apt-get <<'END'
case "$*" in
*indextargets*) echo 'stable main http://mirror.invalid/' ;;
*source*) echo other >"$ARCHIVE" ;;
esac
END
stand_in sudo <<'END'
exec "$@"
END

refused() { # refused <archive> <text>: checks that setup fails with this archive, and prints this text
  if ARCHIVE=$1 PATH=$folder/bin:$PATH RLOCK_DEPS=$folder/deps .ci/setup build 2>"$folder/err"; then
    echo "setup: took $1"
    exit 1
  fi
  grep -qF "$2" "$folder/err" || { cat "$folder/err" && exit 1; }
  [ ! -e "$folder/deps/hiredis" ]
}
refused hiredis_9.9.9.orig.tar.gz 'the distribution has hiredis_9.9.9.orig.tar.gz now'
refused hiredis_1.2.0.orig.tar.gz 'is not what it was'
