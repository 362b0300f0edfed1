import { generateKeyPairSigner } from '@solana/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { walletSignIn } from '../../support/chain/wallet.ts';
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
  /** Uses up the shared limit of all sign-ins. */
  async function fill(): Promise<void> {
    for (let index = 0; index < 31; index++) await logIn({ email: `stranger-${index}@example.com` }, 'wrong');
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
    const refused = await logIn(ada);
    expect(refused.body.code).toBe('factor_required');
    await fill();
    const { ticket } = (await logIn(ada)).body.meta;
    expect((await w.call('POST', '/v1/auth/factor', { headers, body: { ticket, totp: app.code() } })).status).toBe(200);
    expect((await w.call('POST', '/v1/auth/factor', { headers, body: { ticket: 'forged', totp: '123456' } })).status).toBe(429);
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
