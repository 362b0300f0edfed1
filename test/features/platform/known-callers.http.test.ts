import { generateKeyPairSigner } from '@solana/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { MINUTE } from '#core/time.ts';
import { emailKeysOf } from '#features/accounts/auth/sign-in.ts';
import { isKnownCaller, learnCaller } from '#features/accounts/passwords/known-callers.ts';
import { newCtx } from '#platform/context.ts';
import type { RouteContext } from '#platform/http/openapi.ts';
import { walletSignIn } from '../../support/chain/wallet.ts';
import { OAuthBrowser, somebody } from '../../support/clients/oauth.ts';
import { addApp, addPasskey } from '../../support/people/factors.ts';
import { type Merchant, World } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';

describe('sign-ins from an address that strangers share', () => {
  const w = new World({ RATE_MULTIPLIER: '1' });
  let addresses = 0;
  let headers: Record<string, string>;

  beforeEach(() => {
    headers = { 'CF-Connecting-IP': `198.51.${++addresses}.7` };
  });

  const logIn = ({ email }: Pick<Merchant, 'email'>, password = PASSWORD) =>
    w.call('POST', '/v1/auth/login', { headers, body: { email, password } });
  const options = () => w.call('POST', '/v1/auth/passkey/options', { headers });
  /** Counts calls in a window of an address or site, without their hashes. */
  async function hit(caller: string, name: string, times: number): Promise<void> {
    const object = w.env.ADMISSION.getByName(`address:${sha256Hex(utf8(caller)).slice(0, 32)}`);
    for (let index = 0; index < times; index++) await object.hit([{ name, max: 1000, windowMs: 15 * MINUTE }], Date.now());
  }
  /** Uses up the shared limit of all sign-ins. */
  async function fill(): Promise<void> {
    await hit(headers['CF-Connecting-IP']!, 'sign-ins', 30);
    expect((await logIn({ email: 'stranger@example.com' })).status).toBe(429);
  }

  it('strangers cannot prevent a person from signing in with a password from an address that the person used', async () => {
    const [ada, eve] = [await w.merchant(), await w.merchant()];
    expect((await logIn(ada)).status).toBe(200);
    await fill();
    expect((await logIn(ada)).status).toBe(200);
    expect((await logIn(eve)).status).toBe(429);
  });

  it('a known person has a limit of ten tries in 15 minutes', async () => {
    const ada = await w.merchant();
    expect((await logIn(ada)).status).toBe(200);
    await fill();
    const tried = [];
    for (let index = 0; index < 12; index++) tried.push((await logIn(ada, 'wrong')).status);
    expect(tried).toEqual([...Array(9).fill(401), 429, 429, 429]);
  });

  it('strangers cannot prevent a person from signing in with a passkey from an address where a passkey signed in', async () => {
    const { device } = await addPasskey(w, (await w.merchant()).token);
    const signIn = async () => {
      const begun = await options();
      if (begun.status !== 200) return begun.status;
      const { ceremony_id, options: asked } = begun.body;
      return (await w.call('POST', '/v1/auth/passkey', { headers, body: { ceremony_id, response: await device.get(asked) } })).status;
    };
    expect(await signIn()).toBe(200);
    for (let index = 0; index < 12; index++) await options();
    await fill();
    expect(await signIn()).toBe(200);
  });

  it('options for a passkey are limited to ten in 15 minutes where no passkey signed in', async () => {
    const statuses = [];
    for (let index = 0; index < 12; index++) statuses.push((await options()).status);
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429]);
  });

  it('strangers cannot prevent a person with a ticket from proving the factor', async () => {
    const ada = await w.merchant();
    const { app } = await addApp(w, ada.token);
    const at = Date.now();
    const signIn = async (totp: string) => {
      const refused = await logIn(ada);
      expect(refused.body.code).toBe('factor_required');
      return (await w.call('POST', '/v1/auth/factor', { headers, body: { ticket: refused.body.meta.ticket, totp } })).status;
    };
    expect(await signIn(app.code(at))).toBe(200);
    await fill();
    // The code of the next step, because that of the first sign-in is used up.
    expect(await signIn(app.code(at + 30_000))).toBe(200);
    expect((await w.call('POST', '/v1/auth/factor', { headers, body: { ticket: 'forged', totp: '123456' } })).status).toBe(429);
  });

  it('strangers cannot prevent a person from signing in where the person registered, nor with a changed address', async () => {
    const [email, next] = ['first@example.com', 'second@example.com'];
    const registered = await w.call('POST', '/v1/auth/register', { headers, body: { email, password: PASSWORD, display_name: 'Ada' } });
    await fill();
    expect((await logIn({ email })).status).toBe(200);
    const change = { key: registered.body.token, headers, body: { email: next, current_password: PASSWORD } };
    expect((await w.call('PATCH', '/v1/account/me/security', change)).status).toBe(200);
    expect((await logIn({ email: next })).status).toBe(200);
  });

  it('strangers cannot prevent a person from signing in with a provider where a provider signed in', async () => {
    const google = new OAuthBrowser(w, 'google');
    await google.is(somebody());
    const signIn = async () => google.back(await google.consent(await google.start({ mode: 'register' }, { headers })), { headers });
    expect((await signIn()).headers.get('Location')).toContain('#token=');
    await fill();
    expect((await signIn()).headers.get('Location')).toContain('#token=');
    headers = { 'CF-Connecting-IP': `198.51.${++addresses}.7` };
    await fill();
    expect((await signIn()).status).toBe(429);
  });

  it('a person remains known however many strangers of the network signed in after', async () => {
    const from = (ip: string, work: Promise<unknown>[]) =>
      ({
        var: { ctx: newCtx(w.env, { requestId: 'req_known', defer: (later) => work.push(later) }) },
        req: { header: (name: string) => (name === 'CF-Connecting-IP' ? ip : undefined), raw: {} },
      }) as unknown as RouteContext;
    const learned: Promise<unknown>[] = [];
    learnCaller(from('203.0.113.1', learned), 'wallet:ada');
    await Promise.all(learned.splice(0));
    for (let index = 0; index < 1001; index++) {
      learnCaller(from(`203.0.113.${index % 250}`, learned), `wallet:${index}`);
      await Promise.all(learned.splice(0));
    }
    expect(await isKnownCaller(from('203.0.113.7', []), 'wallet:ada')).toBe(true);
    expect(await isKnownCaller(from('203.0.114.7', []), 'wallet:ada')).toBe(false);
  });

  it('a site has eight times the limit of an address for a known person, in all its networks together', async () => {
    const ada = await w.merchant();
    const network = (index: number) => ({ 'CF-Connecting-IP': `2001:db8:77:${index}::1` });
    headers = network(1);
    expect((await logIn(ada)).status).toBe(200);
    await hit('site 2001:db8:77', 'sign-ins', 240);
    headers = network(2);
    expect([(await logIn(ada)).status, (await logIn(await w.merchant())).status]).toEqual([200, 429]);
    const [key] = emailKeysOf(newCtx(w.env, { requestId: 'req_site', defer: () => {} }), ada.email).keys;
    await hit('site 2001:db8:77', `login:${sha256Hex(utf8(key)).slice(0, 16)}`, 78);
    headers = network(3);
    expect([(await logIn(ada)).status, (await logIn(ada)).status]).toEqual([200, 429]);
  });

  it('strangers cannot prevent a wallet from signing in from an address that it used', async () => {
    const [known, unknown] = [await generateKeyPairSigner(), await generateKeyPairSigner()];
    const signIn = async (signer: typeof known) => (await walletSignIn(w, signer, 'message', headers)).status;
    expect(await signIn(known)).toBe(200);
    await fill();
    for (let index = 0; index < 31; index++)
      await w.call('POST', '/v1/auth/wallet/nonce', { headers, body: { wallet_address: unknown.address } });
    expect(await signIn(known)).toBe(200);
    expect((await w.call('POST', '/v1/auth/wallet/nonce', { headers, body: { wallet_address: unknown.address } })).status).toBe(429);
  });
});
