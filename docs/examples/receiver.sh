#!/bin/sh
# A receiver of Tocsin's alerts as a shell script: one request on standard input, its answer on standard output.
#
#   export RECEIVER_SECRET_FILE=ops.secret
#   socat TCP-LISTEN:8440,bind=127.0.0.1,fork,reuseaddr EXEC:./receiver.sh
#
# inetd, systemd (Accept=yes) and s6 do the same as socat. Needs openssl, od, head, tr, cut and mktemp.
# Each alert becomes a line of RECEIVER_JOURNAL (alerts.jsonl); those that came before are only acknowledged.
set -eu
umask 077

answer() {
    printf 'HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$1"
    exit 0
}

# The value of a secret as hexadecimal digits: it is base64, with or without "whsec_" before it.
key() {
    secret=$(head -n 1 "$RECEIVER_SECRET_FILE" | tr -d '\r\n')
    secret=${secret#whsec_}
    while [ $((${#secret} % 4)) -ne 0 ]; do secret="$secret="; done
    printf '%s' "$secret" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n'
}

hash() { openssl dgst -sha256 -binary | od -An -v -tx1 | tr -d ' \n'; }

IFS=' ' read -r method _ || exit 0
id='' sent='' signatures='' length=''
while IFS= read -r line; do
    line=$(printf '%s' "$line" | tr -d '\r')
    [ -n "$line" ] || break
    name=$(printf '%s' "${line%%:*}" | tr '[:upper:]' '[:lower:]')
    value=${line#*:}
    value=${value# }
    case $name in
        webhook-id) id=$value ;;
        webhook-timestamp) sent=$value ;;
        webhook-signature) signatures=$value ;;
        content-length) length=$value ;;
    esac
done

[ "$method" = POST ] || answer '405 Method Not Allowed'
case $length in '' | *[!0-9]* | ????????*) answer '413 Content Too Large' ;; esac
case $sent in '' | *[!0-9]* | ????????????*) answer '401 Unauthorized' ;; esac
# An id goes into a file's name below: nothing else than letters and digits gets there.
case $id in '' | *[!A-Za-z0-9]*) answer '401 Unauthorized' ;; esac

body=$(mktemp)
trap 'rm -f "$body"' EXIT
head -c "$length" >"$body"

age=$(($(date +%s) - sent))
[ "$age" -lt 300 ] && [ "$age" -gt -300 ] || answer '401 Unauthorized'
wanted=$({ printf '%s.%s.' "$id" "$sent" && cat "$body"; } |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$(key)" -binary | openssl base64 -A)
signed=no
for given in $signatures; do
    # Hashes are compared, so that the time this takes tells nothing of the signature.
    [ "$(printf '%s' "${given#v1,}" | hash)" != "$(printf '%s' "$wanted" | hash)" ] || signed=yes
done
[ "$signed" = yes ] || answer '401 Unauthorized'

journal=${RECEIVER_JOURNAL:-alerts.jsonl}
mkdir -p "$journal.seen"
# Of two that come at once with the same id one makes the folder, and works on it.
if mkdir "$journal.seen/$id" 2>/dev/null; then
    { cat "$body" && echo; } >>"$journal" || {
        rmdir "$journal.seen/$id"
        answer '500 Internal Server Error'
    }
fi
answer '204 No Content'
