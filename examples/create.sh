#!/bin/sh
# Creates a plant with curl (7.84 or later). Repeats the request until the outcome is
# certain, at most four times. Prints the Plant, the Error, or that there is no answer.
#
#   URL=http://127.0.0.1:8080 TOKEN=... \
#     examples/create.sh '{"id":2,"name":"Monstera","tag":"indoor"}'
#
# Exit status: 0 created, 1 not created, 2 usage error, 3 outcome unknown: an attempt
# may have created the plant.
set -eu

if [ $# != 1 ] || [ -z "${URL:-}" ] || [ -z "${TOKEN:-}" ]; then
  echo 'usage: URL=... TOKEN=... examples/create.sh PLANT' >&2
  exit 2
fi
LC_ALL=C # the ranges below are of ASCII
case $URL in http://* | https://*) ;; *)
  echo 'URL must begin with http:// or https://' >&2
  exit 2 ;;
esac
case $TOKEN in *[!!-~]*)
  echo 'TOKEN must be one line of visible ASCII characters, without a space' >&2
  exit 2 ;;
esac
key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n') # of this plant: each attempt sends the same
unknown=                                           # set once an attempt may have created the plant
body=$(mktemp)
trap 'rm -f "$body"' EXIT

for wait in 1 2 4 0; do # seconds
  # The token goes through a pipe: what stands in a command, others on the machine see.
  answer=$(printf 'Authorization: Bearer %s' "$TOKEN" |
    curl -sS --max-time 20 -o "$body" -w '%{http_code}|%{content_type}|%header{retry-after}' "${URL%/}/plants" \
      -H @- -H "Idempotency-Key: $key" -H 'Content-Type: application/json' --data-raw "$1") ||
    { echo "no answer" >"$body"; answer='000||'; }
  case $answer in
    2*'|application/json|'*)
      cat "$body"
      echo
      exit ;;
    '429|'*) ;; # this attempt created nothing
    4*'|')
      if grep -q '"error":[13]' "$body"; then unknown=; fi # no earlier attempt created it either
      break ;;
    4*) if grep -q '"error":5004' "$body"; then unknown=1; fi ;;
    *) unknown=1 ;;
  esac
  [ "$wait" = 0 ] && break
  case ${answer##*|} in [0-9] | [1-5][0-9]) wait=${answer##*|} ;; esac
  echo "not certain yet (status ${answer%%|*}): trying again in $wait s" >&2
  sleep "$wait"
done
cat "$body"
echo
[ -n "$unknown" ] || exit 1
echo "outcome unknown: an attempt with the Idempotency-Key $key may have created the plant" >&2
exit 3
