#!/usr/bin/env bash
# Tries a release as its user would: `make release-smoke` runs it. It checks the sums,
# builds everything again for the same sums, and runs this machine's archive and image.
#
#   tools/release/smoke.sh DIST VERSION
set -euo pipefail
cd "$(dirname "$0")/../.."
dist=$(realpath "$1") version=$2
case $(uname -m) in x86_64) arch=amd64 ;; aarch64) arch=arm64 ;; *) echo "nothing was tried: no release is for $(uname -m)" >&2 && exit 1 ;; esac
folder=$(mktemp -d)
server=
# Ends what was started, whatever happened, and waits for it.
end() {
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  server=
}
trap 'end; rm -rf "$folder"' EXIT

(cd "$dist" && sha256sum --check --strict --quiet SHA256SUMS)
echo "the sums are right"

make --no-print-directory release VERSION="$version" DIST="$folder/again" BINARIES="$folder/binaries" >/dev/null
diff "$dist/SHA256SUMS" "$folder/again/SHA256SUMS"
echo "a second build gives the same sums"

tar -xzf "$dist/questscheduler_${version}_linux_$arch.tar.gz" -C "$folder"
cd "$folder/questscheduler_${version}_linux_$arch"
test -s LICENSE && test -s README.md
if command -v file >/dev/null; then
  file questscheduler | grep -q 'statically linked'
  echo "the program is statically linked"
else
  echo "skipped: whether the program is statically linked, since there is no file"
fi
said=$(./questscheduler --version)
grep -qF "questscheduler $version " <<<"$said"
# Go records no commit in a linked worktree, where .git is a file.
if [[ -d $OLDPWD/.git ]]; then grep -qF " $(git -C "$OLDPWD" rev-parse --short=12 HEAD)" <<<"$said"; fi
echo "$said"

# ready ADDRESS waits until the server there is ready, for a minute.
ready() {
  for _ in $(seq 300); do
    if curl -sf "http://$1/readyz" >/dev/null; then return; fi
    if ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.2
  done
  echo "the server at $1 is not ready" >&2
  return 1
}

mkfifo ../demo
./questscheduler demo --json --addr 127.0.0.1:0 --duration 2m >../demo &
server=$!
exec 3<../demo
IFS= read -r -t 60 line <&3
address=$(grep -oP '"api": ?"http://\K[^"]+' <<<"$line")
ready "$address"
echo "the demo answers at $address"
end
exec 3<&-

export QS_SYNC=off QS_GOOGLE_CLIENT_ID=none QS_GOOGLE_CLIENT_SECRET=none
QS_ENC_KEYS="k1:$(head -c 32 /dev/urandom | base64)"
export QS_ENC_KEYS
address=127.0.0.1:${PORT:-18473}
QS_ADDR=$address QS_SQLITE_PATH=../questscheduler.db ./questscheduler serve 2>../serve.log &
server=$!
ready "$address"
echo "the server is ready at $address"
end

# The image's files as root of a process without rights: what a container is, without
# its limits.
if [[ $(id -u) == 0 ]]; then
  mkdir ../image ../root
  tar -xf "$dist/questscheduler_${version}_image_linux_$arch.tar" -C ../image
  for layer in ../image/*.tar.gz; do tar -xzpf "$layer" -C ../root; done
  QS_ADDR=$address QS_SQLITE_PATH=/data/questscheduler.db chroot --userspec=65532:65532 ../root /questscheduler serve 2>../image.log &
  server=$!
  ready "$address"
  test -s ../root/data/questscheduler.db
  echo "the image's files serve, as user 65532"
  end
else
  echo "skipped: the image's files as another user, which only root can become"
fi
