// Creates a plant, and repeats the request until it is certain what became of
// it, four times at most. Prints the Plant, or the Error and ends with 1.
//
//   PLANTSTORE_URL=http://127.0.0.1:8080 PLANTSTORE_TOKEN=pst_... \
//     node examples/create.mjs '{"id":1,"name":"Monstera","tag":"indoor"}'
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

const { PLANTSTORE_URL, PLANTSTORE_TOKEN } = process.env;

// Returns the status and the body of the answer, or 0 and what failed.
async function create(plant) {
  const headers = {
    'Authorization': `Bearer ${PLANTSTORE_TOKEN}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(), // of this plant: each attempt sends the same
  };
  let status, body, retryAfter;
  for (const wait of [1, 2, 4, 0]) { // seconds
    try {
      const signal = AbortSignal.timeout(20_000);
      const answer = await fetch(`${PLANTSTORE_URL}/plants`, { method: 'POST', headers, body: plant, signal });
      [status, body, retryAfter] = [answer.status, await answer.text(), answer.headers.get('Retry-After')];
      if (!retryAfter && status !== 429 && status < 500) break;
    } catch (failure) {
      [status, body, retryAfter] = [0, `no answer: ${failure.cause ?? failure}`, null];
    }
    if (wait) await setTimeout(1000 * (/^\d+$/.test(retryAfter) ? retryAfter : wait));
  }
  return { status, body };
}

if (!PLANTSTORE_URL || !PLANTSTORE_TOKEN || process.argv.length !== 3) {
  console.error('usage: PLANTSTORE_URL=... PLANTSTORE_TOKEN=... node examples/create.mjs PLANT');
  process.exit(2);
}
const { status, body } = await create(process.argv[2]);
console.log(body);
process.exitCode = status === 200 ? 0 : 1;
