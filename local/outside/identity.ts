import { createHash, randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type Asked, fieldsOf, goTo, type Said, say } from './http.ts';

/** A person with an account at a provider. */
interface SmallPerson {
  subject: string;
  email: string;
  isEmailVerified: boolean;
  name: string;
}

/** How a provider misbehaves until it is told otherwise. */
interface Lies {
  audience?: string;
  issuer?: string;
  nonce?: string;
  /** How far its clock is off. */
  skewSeconds?: number;
  /** Signs with a key that it does not publish, or publishes another than it signed with before. */
  key?: 'hidden' | 'turned';
  algorithm?: 'none';
  /** Answers its token endpoint so. */
  status?: number;
  /** Sends the person back with this error. */
  error?: string;
  /** Gives a code that it gave before. */
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

interface Place {
  id: string;
  person: SmallPerson;
  lies: Lies;
  grants: Map<string, Grant>;
  tokens: Map<string, SmallPerson>;
  keys: Pair[];
  /** What the token endpoints refused, in their words. */
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
/** Made once for all places: making one takes longer than all else here. */
let pairs: Promise<Pair[]> | null = null;
const somePairs = (): Promise<Pair[]> => {
  pairs ??= Promise.all([newPair(), newPair()]);
  return pairs;
};

/** A small provider of OpenID Connect and a small GitHub, which check all they are sent, and lie when they are told to. */
export class SmallIdentity {
  readonly #places = new Map<string, Place>();
  /** Shows a page with people to choose from; else the one that was named before is there at once. */
  readonly #asks: boolean;

  constructor(asks = false) {
    this.#asks = asks;
  }

  #placeOf(id: string): Place {
    const known = this.#places.get(id);
    if (known) return known;
    const place: Place = { id, person: PEOPLE[0]!, lies: {}, grants: new Map(), tokens: new Map(), keys: [], refusals: [] };
    this.#places.set(id, place);
    return place;
  }

  /** `/openid/<id>/…` */
  async openid(asked: Asked): Promise<Said> {
    const [, , id = '', ...rest] = asked.url.pathname.split('/');
    const place = this.#placeOf(id);
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
        return say(200, { keys: (await publishedKeys(place)).map(({ publicJwk }) => publicJwk) });
      case 'authorize':
        return this.#authorize(place, asked, { scope: 'openid', path: '/v1/auth/oauth/google/callback' });
      case 'token':
        return openidToken(place, fieldsOf(asked.body), issuer);
      default:
        return say(404, { error: 'not_found' });
    }
  }

  /** `/github/<id>/login/oauth/…` and `/github-api/<id>/…` */
  github(asked: Asked): Said {
    const [, part, id = '', ...rest] = asked.url.pathname.split('/');
    const place = this.#placeOf(id);
    const path = rest.join('/');
    if (part === 'github-api') return githubApi(place, path, asked.headers);
    if (path === 'login/oauth/authorize')
      return this.#authorize(place, asked, { scope: 'user:email', path: '/v1/auth/oauth/github/callback' });
    return path === 'login/oauth/access_token' ? githubToken(place, fieldsOf(asked.body)) : say(404);
  }

  /** `/identity/<id>/person|lies|refusals` */
  control({ url, body }: Asked): Said {
    const [, , id = '', what] = url.pathname.split('/');
    const place = this.#placeOf(id);
    if (what === 'person') place.person = JSON.parse(body) as SmallPerson;
    if (what === 'lies') place.lies = JSON.parse(body) as Lies;
    return say(200, { refusals: place.refusals });
  }

  #authorize(place: Place, { url }: Asked, expected: { scope: string; path: string }): Said {
    const query = fieldsOf(url.search.slice(1));
    const fault = faultOfRequest(place, query, expected);
    if (fault !== null) return say(400, { error: 'invalid_request', error_description: fault });
    const chosen = PEOPLE.find(({ subject }) => subject === query.as);
    const back = (answer: Record<string, string>) =>
      goTo(`${query.redirect_uri}?${new URLSearchParams({ ...answer, state: query.state! })}`);
    const denied = query.as === 'none' ? 'access_denied' : place.lies.error;
    if (denied !== undefined) return back({ error: denied, error_description: 'as it was asked to' });
    if (this.#asks && !chosen) return say(200, choicePage(url));
    const [former] = place.grants.keys();
    const code = place.lies.reusesCode && former ? former : randomBytes(12).toString('hex');
    if (!place.grants.has(code))
      place.grants.set(code, {
        person: chosen ?? place.person,
        clientId: query.client_id!,
        redirectUri: query.redirect_uri!,
        challenge: query.code_challenge!,
        nonce: query.nonce ?? '',
        isUsed: false,
      });
    return back({ code });
  }
}

function faultOfRequest({ id }: Place, query: Record<string, string>, { scope, path }: { scope: string; path: string }): string | null {
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

/** The grant of a code, once, to the client it was made for; else what is wrong. */
function redeem(place: Place, form: Record<string, string>): Grant | string {
  const { clientId, clientSecret } = clientOf(place.id);
  const refuse = (why: string): string => {
    place.refusals.push(why);
    return why;
  };
  if (form.client_id !== clientId || form.client_secret !== clientSecret) return refuse('client');
  const grant = place.grants.get(form.code ?? '');
  if (!grant || grant.isUsed) return refuse('code');
  grant.isUsed = true;
  if (form.redirect_uri !== grant.redirectUri) return refuse('redirect_uri');
  const challenge = createHash('sha256')
    .update(form.code_verifier ?? '')
    .digest('base64url');
  return challenge === grant.challenge ? grant : refuse('code_verifier');
}

const publishedKeys = async (place: Place): Promise<Pair[]> => {
  const [first, second] = await somePairs();
  if (place.lies.key === 'turned') return [second!];
  return [first!];
};

async function signingKey(place: Place): Promise<Pair> {
  const [first, second] = await somePairs();
  return place.lies.key === undefined ? first! : second!;
}

async function openidToken(place: Place, form: Record<string, string>, issuer: string): Promise<Said> {
  const { lies } = place;
  if (lies.status !== undefined) return say(lies.status, { error: 'server_error' });
  if (form.grant_type !== 'authorization_code') return say(400, { error: 'unsupported_grant_type' });
  const grant = redeem(place, form);
  if (typeof grant === 'string')
    return say(grant === 'client' ? 401 : 400, { error: grant === 'client' ? 'invalid_client' : 'invalid_grant' });
  const at = Math.floor(Date.now() / 1000) + (lies.skewSeconds ?? 0);
  const { subject, email, isEmailVerified, name } = grant.person;
  const claims = { email, email_verified: isEmailVerified, name, nonce: lies.nonce ?? grant.nonce };
  const { kid, privateKey } = await signingKey(place);
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

/** GitHub answers 200 to what it refuses, and says so in the body. */
function githubToken(place: Place, form: Record<string, string>): Said {
  if (place.lies.status !== undefined) return say(place.lies.status, {});
  const grant = redeem(place, form);
  if (typeof grant === 'string') return say(200, { error: grant === 'client' ? 'incorrect_client_credentials' : 'bad_verification_code' });
  const access_token = `gho_${randomBytes(12).toString('hex')}`;
  place.tokens.set(access_token, grant.person);
  return say(200, { access_token, token_type: 'bearer', scope: 'read:user,user:email' });
}

function githubApi({ tokens }: Place, path: string, headers: Record<string, string>): Said {
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
