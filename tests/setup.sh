#!/bin/sh
# .ci/setup builds hiredis from the archive that it names, byte for byte, and from no other. Everything that would reach for the
# distribution is played by a stand-in.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/deps"
stand_in() { # stand_in <name>: what it does is on stdin
  { echo '#!/bin/sh' && cat; } >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}
# Everything is installed but hiredis, and no release of it but the next one is recent enough.
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

refused() { # refused <archive> <text>: with this archive setup fails, and says so
  if ARCHIVE=$1 PATH=$folder/bin:$PATH RLOCK_DEPS=$folder/deps .ci/setup build 2>"$folder/err"; then
    echo "setup: took $1"
    exit 1
  fi
  grep -qF "$2" "$folder/err" || { cat "$folder/err" && exit 1; }
  [ ! -e "$folder/deps/hiredis" ]
}
refused hiredis_9.9.9.orig.tar.gz 'the distribution has hiredis_9.9.9.orig.tar.gz now'
refused hiredis_1.2.0.orig.tar.gz 'is not what it was'
