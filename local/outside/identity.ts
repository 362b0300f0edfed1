import { createHash, randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type Asked, fieldsOf, goTo, type Said, say } from './http.ts';

interface SmallPerson {
  subject: string;
  email: string;
  isEmailVerified: boolean;
  name: string;
  /** Workspace of the person. Absent: that of the address. Null: none. */
  workspace?: string | null;
}

/** Faults of a provider, active until reset. */
interface Lies {
  audience?: string;
  issuer?: string;
  nonce?: string;
  skewSeconds?: number;
  /** `hidden`: signs with an unpublished key. `turned`: publishes another key than it signed with before. */
  key?: 'hidden' | 'turned';
  algorithm?: 'none';
  status?: number;
  error?: string;
  reusesCode?: boolean;
}

interface Grant {
  person: SmallPerson;
  clientId: string;
  redirectUri: string;
  challenge: string;
  nonce: string;
  isUsed: boolean;
}

type Pair = { kid: string; privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey']; publicJwk: object };

interface Provider {
  id: string;
  person: SmallPerson;
  lies: Lies;
  grants: Map<string, Grant>;
  tokens: Map<string, SmallPerson>;
  keys: Pair[];
  refusals: string[];
}

export const clientOf = (id: string) => ({ clientId: `client-${id}`, clientSecret: `secret-of-client-${id}` });
const PEOPLE: SmallPerson[] = [
  { subject: '1001', email: 'ada@example.com', isEmailVerified: true, name: 'Ada' },
  { subject: '1002', email: 'bob@example.com', isEmailVerified: true, name: 'Bob' },
  { subject: '1003', email: 'eve@example.com', isEmailVerified: false, name: 'Eve, unverified' },
];

const newPair = async (): Promise<Pair> => {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const kid = randomBytes(6).toString('hex');
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } };
};
/** Shared by all providers, because generating keys is the slowest step. */
let pairs: Promise<Pair[]> | null = null;
const somePairs = (): Promise<Pair[]> => {
  pairs ??= Promise.all([newPair(), newPair()]);
  return pairs;
};

/** Simulated OpenID Connect provider and GitHub, which validate every request and misbehave on request. */
export class SmallIdentity {
  readonly #providers = new Map<string, Provider>();
  /** Shows a page to choose a person. Otherwise signs in the preset person at once. */
  readonly #asks: boolean;

  constructor(asks = false) {
    this.#asks = asks;
  }

  #providerOf(id: string): Provider {
    const known = this.#providers.get(id);
    if (known) return known;
    const provider: Provider = { id, person: PEOPLE[0]!, lies: {}, grants: new Map(), tokens: new Map(), keys: [], refusals: [] };
    this.#providers.set(id, provider);
    return provider;
  }

  async openid(asked: Asked): Promise<Said> {
    const [, , id = '', ...rest] = asked.url.pathname.split('/');
    const provider = this.#providerOf(id);
    const issuer = `${asked.url.origin}/openid/${id}`;
    switch (rest.join('/')) {
      case '.well-known/openid-configuration':
        return say(200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          id_token_signing_alg_values_supported: ['RS256'],
          code_challenge_methods_supported: ['S256'],
        });
      case 'keys':
        return say(200, { keys: (await publishedKeys(provider)).map(({ publicJwk }) => publicJwk) });
      case 'authorize':
        return this.#authorize(provider, asked, { scope: 'openid', path: '/v1/auth/oauth/google/callback' });
      case 'token':
        return openidToken(provider, fieldsOf(asked.body), issuer);
      default:
        return say(404, { error: 'not_found' });
    }
  }

  github(asked: Asked): Said {
    const [, part, id = '', ...rest] = asked.url.pathname.split('/');
    const provider = this.#providerOf(id);
    const path = rest.join('/');
    if (part === 'github-api') return githubApi(provider, path, asked.headers);
    if (path === 'login/oauth/authorize')
      return this.#authorize(provider, asked, { scope: 'user:email', path: '/v1/auth/oauth/github/callback' });
    return path === 'login/oauth/access_token' ? githubToken(provider, fieldsOf(asked.body)) : say(404);
  }

  control({ url, body }: Asked): Said {
    const [, , id = '', what] = url.pathname.split('/');
    const provider = this.#providerOf(id);
    if (what === 'person') provider.person = JSON.parse(body) as SmallPerson;
    if (what === 'lies') provider.lies = JSON.parse(body) as Lies;
    return say(200, { refusals: provider.refusals });
  }

  #authorize(provider: Provider, { url }: Asked, expected: { scope: string; path: string }): Said {
    const query = fieldsOf(url.search.slice(1));
    const fault = faultOfRequest(provider, query, expected);
    if (fault !== null) return say(400, { error: 'invalid_request', error_description: fault });
    const chosen = PEOPLE.find(({ subject }) => subject === query.as);
    const back = (answer: Record<string, string>) =>
      goTo(`${query.redirect_uri}?${new URLSearchParams({ ...answer, state: query.state! })}`);
    const denied = query.as === 'none' ? 'access_denied' : provider.lies.error;
    if (denied !== undefined) return back({ error: denied, error_description: 'as it was asked to' });
    if (this.#asks && !chosen) return say(200, choicePage(url));
    const [former] = provider.grants.keys();
    const code = provider.lies.reusesCode && former ? former : randomBytes(12).toString('hex');
    if (!provider.grants.has(code))
      provider.grants.set(code, {
        person: chosen ?? provider.person,
        clientId: query.client_id!,
        redirectUri: query.redirect_uri!,
        challenge: query.code_challenge!,
        nonce: query.nonce ?? '',
        isUsed: false,
      });
    return back({ code });
  }
}

function faultOfRequest({ id }: Provider, query: Record<string, string>, { scope, path }: { scope: string; path: string }): string | null {
  if (query.client_id !== clientOf(id).clientId) return 'unknown client';
  if (!query.redirect_uri || new URL(query.redirect_uri).pathname !== path) return 'this redirect URI is not registered';
  if (!query.state) return 'no state';
  if (query.code_challenge_method !== 'S256' || !/^[\w-]{43}$/.test(query.code_challenge ?? '')) return 'no PKCE';
  if (!(query.scope ?? '').split(' ').includes(scope)) return `no scope ${scope}`;
  return scope === 'openid' && (!query.nonce || query.response_type !== 'code') ? 'no nonce, or no code asked for' : null;
}

function choicePage(url: URL): string {
  const link = (as: string, name: string) => {
    const chosen = new URL(url);
    chosen.searchParams.set('as', as);
    return `<li><a href="${chosen.href.replaceAll('&', '&amp;')}">${name}</a></li>`;
  };
  return `<h1>Who are you?</h1><ul>${PEOPLE.map(({ subject, name }) => link(subject, name)).join('')}${link('none', 'Cancel')}</ul>`;
}

/** Redeems a code once, for its client. Returns the error otherwise. */
function redeem(provider: Provider, form: Record<string, string>): Grant | string {
  const { clientId, clientSecret } = clientOf(provider.id);
  const refuse = (why: string): string => {
    provider.refusals.push(why);
    return why;
  };
  if (form.client_id !== clientId || form.client_secret !== clientSecret) return refuse('client');
  const grant = provider.grants.get(form.code ?? '');
  if (!grant || grant.isUsed) return refuse('code');
  grant.isUsed = true;
  if (form.redirect_uri !== grant.redirectUri) return refuse('redirect_uri');
  const challenge = createHash('sha256')
    .update(form.code_verifier ?? '')
    .digest('base64url');
  return challenge === grant.challenge ? grant : refuse('code_verifier');
}

const publishedKeys = async (provider: Provider): Promise<Pair[]> => {
  const [first, second] = await somePairs();
  if (provider.lies.key === 'turned') return [second!];
  return [first!];
};

async function signingKey(provider: Provider): Promise<Pair> {
  const [first, second] = await somePairs();
  return provider.lies.key === undefined ? first! : second!;
}

async function openidToken(provider: Provider, form: Record<string, string>, issuer: string): Promise<Said> {
  const { lies } = provider;
  if (lies.status !== undefined) return say(lies.status, { error: 'server_error' });
  if (form.grant_type !== 'authorization_code') return say(400, { error: 'unsupported_grant_type' });
  const grant = redeem(provider, form);
  if (typeof grant === 'string')
    return say(grant === 'client' ? 401 : 400, { error: grant === 'client' ? 'invalid_client' : 'invalid_grant' });
  const at = Math.floor(Date.now() / 1000) + (lies.skewSeconds ?? 0);
  const { subject, email, isEmailVerified, name, workspace = email.split('@')[1] } = grant.person;
  const claims = { email, email_verified: isEmailVerified, name, ...(workspace && { hd: workspace }), nonce: lies.nonce ?? grant.nonce };
  const { kid, privateKey } = await signingKey(provider);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const audience = lies.audience ?? grant.clientId;
  const unsigned = `${part({ alg: 'none' })}.${part({ ...claims, sub: subject, iss: issuer, aud: audience, iat: at, exp: at + 3600 })}.`;
  const signed = new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid })
    .setSubject(subject)
    .setIssuer(lies.issuer ?? issuer)
    .setAudience(audience)
    .setIssuedAt(at)
    .setExpirationTime(at + 3600);
  const id_token = lies.algorithm === 'none' ? unsigned : await signed.sign(privateKey);
  return say(200, { access_token: randomBytes(12).toString('hex'), token_type: 'Bearer', expires_in: 3600, id_token });
}

/** GitHub answers refusals with 200 and an error in the body. */
function githubToken(provider: Provider, form: Record<string, string>): Said {
  if (provider.lies.status !== undefined) return say(provider.lies.status, {});
  const grant = redeem(provider, form);
  if (typeof grant === 'string') return say(200, { error: grant === 'client' ? 'incorrect_client_credentials' : 'bad_verification_code' });
  const access_token = `gho_${randomBytes(12).toString('hex')}`;
  provider.tokens.set(access_token, grant.person);
  return say(200, { access_token, token_type: 'bearer', scope: 'read:user,user:email' });
}

function githubApi({ tokens }: Provider, path: string, headers: Record<string, string>): Said {
  if (!headers['user-agent']) return say(403, { message: 'Request forbidden by administrative rules' });
  const person = tokens.get((headers.authorization ?? '').replace(/^Bearer /, ''));
  if (!person) return say(401, { message: 'Bad credentials' });
  const { subject, email, isEmailVerified, name } = person;
  if (path === 'user') return say(200, { id: Number(subject), login: `user-${subject}`, name, email: 'shown-to-the-world@example.com' });
  if (path !== 'user/emails') return say(404, { message: 'Not Found' });
  return say(200, [
    { email: 'other@example.com', primary: false, verified: true, visibility: null },
    { email, primary: true, verified: isEmailVerified, visibility: 'private' },
  ]);
}
