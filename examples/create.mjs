// Creates a plant, and repeats the request until it is certain what became of
// it, four times at most. Prints the Plant, or the Error and ends with 1.
//
//   URL=http://127.0.0.1:8080 TOKEN=... \
//     node examples/create.mjs '{"id":4,"name":"Monstera","tag":"indoor"}'
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

const { URL, TOKEN } = process.env;

// Returns whether the plant is created, and the last answer, or what failed.
async function create(plant) {
  const headers = {
    'Authorization': `Bearer ${TOKEN.trim()}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(), // of this plant: each attempt sends the same
  };
  let body;
  for (const wait of [1, 2, 4, 0]) { // seconds
    let retryAfter, status = 0;
    try {
      // The token is for the service alone: a redirect is no answer of it.
      const options = { method: 'POST', headers, body: plant, redirect: 'manual', signal: AbortSignal.timeout(20_000) };
      const answer = await fetch(`${URL.replace(/\/$/, '')}/plants`, options);
      body = await answer.text();
      status = answer.status;
      retryAfter = answer.headers.get('Retry-After');
      if (status === 200 && answer.headers.get('Content-Type') === 'application/json') return { created: true, body };
      if (status >= 400 && status < 500 && status !== 429 && !retryAfter) break;
    } catch (failure) {
      body = `no answer: ${failure.cause ?? failure}`;
    }
    if (!wait) break;
    const seconds = /^[1-5]?\d$/.test(retryAfter) ? retryAfter : wait;
    console.error(`not certain yet (status ${status}): trying again in ${seconds} s`);
    await setTimeout(1000 * seconds);
  }
  return { created: false, body };
}

if (!URL || !TOKEN || process.argv.length !== 3) {
  console.error('usage: URL=... TOKEN=... node examples/create.mjs PLANT');
  process.exit(2);
}
const { created, body } = await create(process.argv[2]);
console.log(body);
process.exitCode = created ? 0 : 1;
