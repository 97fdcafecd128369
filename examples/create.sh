#!/bin/sh
# Creates a plant with curl (7.84 or later), and repeats the request until it is
# certain what became of it, four times at most. Prints the Plant, or the Error
# and ends with 1.
#
#   PLANTSTORE_URL=http://127.0.0.1:8080 PLANTSTORE_TOKEN=pst_... \
#     examples/create.sh '{"id":1,"name":"Monstera","tag":"indoor"}'
set -eu

usage='usage: PLANTSTORE_URL=... PLANTSTORE_TOKEN=... examples/create.sh PLANT'
: "${PLANTSTORE_URL:?$usage}" "${PLANTSTORE_TOKEN:?$usage}" "${1:?$usage}"
key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n') # of this plant: each attempt sends the same
body=$(mktemp)
trap 'rm -f "$body"' EXIT

for wait in 1 2 4 0; do # seconds
  answer=$(curl -sS --max-time 20 -o "$body" -w '%{http_code} %header{retry-after}' "$PLANTSTORE_URL/plants" \
    -H "Authorization: Bearer $PLANTSTORE_TOKEN" -H "Idempotency-Key: $key" \
    -H 'Content-Type: application/json' -d "$1") || { echo "no answer" >"$body"; answer='000 '; }
  status=${answer%% *} retry_after=${answer#* }
  case $status:$retry_after in
    200:*) cat "$body"; echo; exit ;;
    000:* | 429:* | 5??:* | *:[0-9]*) ;; # again
    *) break ;;
  esac
  [ "$wait" = 0 ] || sleep "${retry_after:-$wait}"
done
cat "$body"
echo
exit 1
