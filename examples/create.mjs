// Creates a plant. Repeats the request until the outcome is certain, at most four
// times. Prints the Plant, the Error, or why there is no answer.
//
//   URL=http://127.0.0.1:8080 TOKEN=... \
//     node examples/create.mjs '{"id":4,"name":"Monstera","tag":"indoor"}'
//
// Exit status: 0 created, 1 not created, 2 usage error, 3 outcome unknown: an attempt
// may have created the plant.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

const { URL, TOKEN } = process.env;

// Returns the code of an Error, 0 if body is something else.
function code(body) {
  try {
    return JSON.parse(body).error ?? 0;
  } catch {
    return 0;
  }
}

// Returns the exit status, and the last answer, or what failed. Each attempt sends the same key.
async function create(plant, key) {
  const headers = {
    'Authorization': `Bearer ${TOKEN}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': key,
  };
  let body;
  let unknown = false; // whether an attempt may have created the plant
  for (const wait of [1, 2, 4, 0]) { // seconds
    let retryAfter, status = 0;
    try {
      // The token is for the service alone: a redirect is no answer of it.
      const options = { method: 'POST', headers, body: plant, redirect: 'manual', signal: AbortSignal.timeout(20_000) };
      const answer = await fetch(`${URL.replace(/\/$/, '')}/plants`, options);
      body = await answer.text();
      status = answer.status;
      retryAfter = answer.headers.get('Retry-After');
      if (answer.ok && answer.headers.get('Content-Type') === 'application/json') return { exitCode: 0, body };
    } catch (failure) {
      body = `no answer: ${failure.cause ?? failure}`;
      status = 0;
    }
    if (status < 400 || status >= 500 || code(body) === 5004) {
      unknown = true;
    } else if (status !== 429 && !retryAfter) {
      if (/^[13]/.test(code(body))) unknown = false; // no earlier attempt created it either
      break;
    }
    if (!wait) break;
    const seconds = /^[1-5]?\d$/.test(retryAfter) ? retryAfter : wait;
    console.error(`not certain yet (status ${status}): trying again in ${seconds} s`);
    await setTimeout(1000 * seconds);
  }
  return { exitCode: unknown ? 3 : 1, body };
}

if (!URL || !TOKEN || process.argv.length !== 3) {
  console.error('usage: URL=... TOKEN=... node examples/create.mjs PLANT');
  process.exit(2);
}
if (!/^https?:\/\//.test(URL)) {
  console.error('URL must begin with http:// or https://');
  process.exit(2);
}
if (!/^[!-~]+$/.test(TOKEN)) {
  console.error('TOKEN must be one line of visible ASCII characters, without a space');
  process.exit(2);
}
const key = randomUUID();
const { exitCode, body } = await create(process.argv[2], key);
console.log(body);
if (exitCode === 3) {
  console.error(`outcome unknown: an attempt with the Idempotency-Key ${key} may have created the plant`);
}
process.exitCode = exitCode;
