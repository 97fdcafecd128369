// Serves an OpenID provider on a free port, prints its URL and tokens of each kind as
// a line of JSON, and ends when standard input does.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const server = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
const audience = 'plants';
const redirect = 'https://client.example.com/callback';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = { ...privateKey.export({ format: 'jwk' }), kid: randomBytes(8).toString('hex') };
const provider = new Provider(issuer, {
  jwks: { keys: [key] },
  cookies: { keys: ['test'] },
  pkce: { required: () => false },
  clients: ['alice', 'other', 'expired'].map((id) => ({
    client_id: id,
    client_secret: 'secret',
    redirect_uris: [redirect],
    grant_types: ['client_credentials', 'authorization_code'],
  })),
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({ scope: 'create', audience, accessTokenFormat: 'jwt' }),
      useGrantedResource: () => true,
    },
  },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  formats: {
    customizers: {
      jwt: (_, token, parts) => {
        if (token.clientId === 'expired') parts.payload.exp = Math.floor(Date.now() / 1000) - 60;
      },
    },
  },
});

// A user logs in and consents by asking for the page.
provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) return next();
  const { prompt, params, session } = await provider.interactionDetails(ctx.req, ctx.res);
  let result = { login: { accountId: 'ann' } };
  if (prompt.name === 'consent') {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope('openid');
    grant.addResourceScope(params.resource, 'create');
    result = { consent: { grantId: await grant.save() } };
  }
  ctx.respond = false;
  await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: true });
});
server.on('request', provider.callback());

const resource = `https://${audience}.example.com`;

// grant returns the answer of the token endpoint.
async function grant(client, parameters) {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client}:secret`)}` },
    body: new URLSearchParams({ resource, ...parameters }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

// issue returns an access token of a client that acts for itself.
async function issue(client) {
  return (await grant(client, { grant_type: 'client_credentials', scope: 'create' })).access_token;
}

// logIn returns the answer of the token endpoint for a user, who follows redirects.
async function logIn() {
  const query = new URLSearchParams({
    client_id: 'alice', response_type: 'code', scope: 'openid create', redirect_uri: redirect, nonce: 'n', resource,
  });
  const cookies = new Map();
  let url = `${issuer}/auth?${query}`;
  while (!url.startsWith(redirect)) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, { headers: { cookie }, redirect: 'manual' });
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set);
      cookies.set(name, value);
    }
    if (!response.headers.has('location')) throw new Error(await response.text());
    url = new URL(response.headers.get('location'), url).href;
  }
  return grant('alice', {
    grant_type: 'authorization_code', code: new URL(url).searchParams.get('code'), redirect_uri: redirect,
  });
}

const user = await logIn();
const tokens = {
  TOKEN: user.access_token,
  ID_TOKEN: user.id_token,
  OTHER_TOKEN: await issue('other'),
  EXPIRED_TOKEN: await issue('expired'),
};
console.log(JSON.stringify({ issuer, audience, tokens }));
process.stdin.resume().on('end', () => process.exit());
