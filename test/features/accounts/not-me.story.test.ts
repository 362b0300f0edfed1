import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { OAuthBrowser, somebody } from '../../support/clients/oauth.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { addPasskey } from '../../support/people/factors.ts';
import { acceptInvitation, addMember, inviteTo } from '../../support/people/team.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { emailedToken, MailWorld, tokenIn, verifyAddress } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const w = new MailWorld({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const PASSWORD = 'correct horse battery';
let ada: Merchant;

beforeEach(async () => {
  ada = await newOwner();
});
afterEach(letTimeRun);

/** Merchant with a verified address and keys that are older than the change. */
async function newOwner(): Promise<Merchant> {
  const owner = await w.merchant();
  await verifyAddress(w, owner);
  setTime(Date.now() + 5000);
  return owner;
}
const me = (key: string) => w.call('GET', '/v1/account/me', { key });
const undo = (token: string, headers = {}) => w.call('POST', '/v1/account/not-me', { body: { token }, headers });
const preview = (token: string) => w.call('POST', '/v1/account/not-me/preview', { body: { token } });
const emailsTo = async (email: string) => {
  await w.post();
  return (await w.posted()).taken.filter(({ body }) => body.to[0] === email);
};
/** Token of the link in the alert about the changed address. */
const linkTo = async (email: string) => {
  const tokens = (await emailsTo(email)).map(tokenIn).filter((token) => token.split('.')[2] === 'email');
  expect(tokens).not.toEqual([]);
  return tokens[0]!;
};
const changeEmail = async ({ token }: { token: string }, email: string) => {
  const body = { email, current_password: PASSWORD };
  expect((await w.call('PATCH', '/v1/account/me/security', { key: token, body })).status).toBe(200);
};
const login = async (email: string, password = PASSWORD) => w.call('POST', '/v1/auth/login', { body: { email, password } });
let thieves = 0;
const newThief = () => `thief-${++thieves}@example.com`;
const endpointBy = async (key: string, path: string) =>
  (await w.call('POST', '/v1/webhooks/endpoints', { key, body: { url: `${testEnv.TEST_RECEIVER_URL}/ok/${path}` } })).body.endpoint_id;

describe('POST /v1/account/not-me', () => {
  it('the address returns and what was added since the change ends, and nothing that was there before', async () => {
    const endpoint = await endpointBy(ada.key, 'before');
    const bob = await addMember(w, ada, 'admin');
    const dan = await addMember(w, ada, 'support');
    await w.product(ada);
    setTime(Date.now() + 5000);
    const email = newThief();
    await changeEmail(ada, email);
    const thief = { token: (await login(email)).body.token };
    const google = new OAuthBrowser(w, 'google');
    await google.is(somebody());
    expect((await google.signIn({}, { key: thief.token })).outcome).toHaveProperty('linked');
    const made = (await w.call('POST', '/v1/keys', { key: thief.token, body: { name: 'late' } })).body.raw_key;
    const late = await endpointBy(made, 'late');
    const moved = { key: thief.token, body: { url: `${testEnv.TEST_RECEIVER_URL}/ok/moved` } };
    const second = await endpointBy(ada.key, 'second');
    expect((await w.call('PATCH', `/v1/webhooks/endpoints/${endpoint}`, moved)).status).toBe(200);
    const { address } = await w.chain.wallet(0n);
    const rail = { key: thief.token, body: { payout_wallet: address }, headers: { 'Idempotency-Key': crypto.randomUUID() } };
    expect((await w.call('PUT', '/v1/access/rail-settings/solana_usdc', rail)).status).toBe(200);
    const carol = await addMember(w, ada, 'admin');
    const erin = await addMember(w, ada, 'developer');
    const promote = { key: thief.token, body: { role: 'admin' } };
    expect((await w.call('PATCH', `/v1/account/members/${dan.userId}`, promote)).status).toBe(200);
    await addPasskey(w, thief.token);
    const token = await linkTo(ada.email);

    const seen = await preview(token);
    expect(seen).toMatchObject({ status: 200, body: { change: 'email', account: 'Ada’s weather' } });
    expect((await preview(token)).body).toEqual(seen.body);
    const { status, body } = await undo(token);
    expect([status, body.next]).toEqual([200, '/reset-password']);
    expect(body.undone).toEqual(seen.body.will);
    expect(body.undone).toEqual([
      ...['email', 'password', 'sessions', 'keys', 'endpoints', 'providers'],
      ...['passkeys', 'recovery_codes', 'wallets', 'members'],
    ]);
    expect(body.ended).toMatchObject({ keys: 1, endpoints: 3, providers: 1, passkeys: 1, wallets: 1 });

    expect([(await me(thief.token)).status, (await me(made)).status, (await me(ada.token)).status]).toEqual([401, 401, 401]);
    expect((await login(email)).status).toBe(401);
    expect((await google.signIn({})).outcome).not.toHaveProperty('token');
    const mine = (await me(ada.key)).body;
    expect(mine).toMatchObject({ email: ada.email, email_verified: true, has_password: false, auth_providers: [] });
    expect(mine.factors).toEqual({ passkeys: 0, totp: false, recovery_codes_left: 0 });
    const endpoints = (await w.call('GET', '/v1/webhooks/endpoints', { key: ada.key })).body.items as Body[];
    expect(endpoints.map(({ endpoint_id }) => endpoint_id).sort()).toEqual([endpoint, late, second].sort());
    for (const one of endpoints) expect(one).toMatchObject({ status: 'disabled', disabled_reason: 'change_disputed' });
    const { items } = (await w.call('GET', '/v1/access/rail-settings', { key: ada.key })).body;
    expect(JSON.stringify(items)).not.toContain(address);
    const owner = await tokenSignedIn(w, ada.userId, 0);
    const members = (await w.call('GET', '/v1/account/members', { key: owner })).body.items as Body[];
    expect(Object.fromEntries(members.map(({ user_id, role }) => [user_id, role]))).toEqual({
      [ada.userId]: 'owner',
      [bob.userId]: 'admin',
      [dan.userId]: 'viewer',
    });
    for (const late of [carol, erin]) expect((await me(late.token)).body.meta).toEqual({ reason: 'not_a_member' });
    expect((await w.call('GET', '/v1/products', { key: ada.key })).body.items).toHaveLength(1);

    const reset = (await emailsTo(ada.email)).find(({ body: mail }) => mail.text.includes('/reset-password#token='));
    const chosen = { token: tokenIn(reset), new_password: 'battery staple 9' };
    expect((await w.call('POST', '/v1/auth/password/reset', { body: chosen })).status).toBe(200);
    expect((await login(ada.email, 'battery staple 9')).status).toBe(200);
  });

  it('a link works once: a repeated request gets the same answer, and of many at once one acts', async () => {
    await changeEmail(ada, newThief());
    const token = await linkTo(ada.email);
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const answers = await Promise.all(Array.from({ length: 6 }, () => undo(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410, 410, 410]);
    expect(await undo(token)).toMatchObject({ status: 410, body: { code: 'link_expired' } });
    expect(await preview(token)).toMatchObject({ status: 410, body: { code: 'link_expired' } });
    const grace = await newOwner();
    await changeEmail(grace, newThief());
    const other = await linkTo(grace.email);
    // Another spelling of the time in the link is no second link.
    const [id, at, ...rest] = token.split('.');
    expect((await undo([id, `0${at}`, ...rest].join('.'))).status).toBe(401);
    const [first, again] = [await undo(other, headers), await undo(other, headers)];
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
  });

  it('a live key that a thief gave more rights is reported, and ends', async () => {
    const create = async (scopes: string[]) =>
      (await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'server', scopes } })).body as { raw_key: string; key: Body };
    const [narrow, other] = [await create(['products:read']), await create(['products:read'])];
    setTime(Date.now() + 5000);
    const at = `/v1/keys/${narrow.key.id}`;
    expect((await w.call('PATCH', at, { key: ada.token, body: { scopes: null } })).status).toBe(200);
    const link = (await emailsTo(ada.email)).map(tokenIn).find((token) => token.split('.')[2] === 'live_key_widened')!;
    expect((await preview(link)).body.will).toContain('keys');
    expect((await undo(link)).status).toBe(200);
    const statuses = [narrow, other, { raw_key: ada.key }].map(
      async ({ raw_key }) => (await w.call('GET', '/v1/products', { key: raw_key })).status,
    );
    expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
  });

  it('a thief who moved the account on, and has a link too, cannot dispute what the owner took back', async () => {
    const [first, second] = [newThief(), newThief()];
    await changeEmail(ada, first);
    const thief = { token: (await login(first)).body.token };
    await verifyAddress(w, { userId: ada.userId });
    setTime(Date.now() + 5000);
    await changeEmail(thief, second);
    await verifyAddress(w, { userId: ada.userId });
    setTime(Date.now() + 5000);
    const again = { token: (await login(second)).body.token };
    expect((await w.call('POST', '/v1/keys', { key: again.token, body: { name: 'late' } })).status).toBe(201);
    const readLink = async (email: string) =>
      (await emailsTo(email)).map(tokenIn).filter((token) => token.split('.')[2] === 'live_key')[0]!;
    const [owners, thiefs] = [await readLink(ada.email), await readLink(first)];
    expect((await undo(owners)).status).toBe(200);
    expect((await undo(thiefs)).status).toBe(401);
    expect((await me(ada.key)).body).toMatchObject({ email: ada.email, email_verified: true });
  });

  it('a link is refused with 410 after seven days, and one of another address, account or change with 401', async () => {
    await changeEmail(ada, newThief());
    const token = await linkTo(ada.email);
    const [id, at, change, mac] = token.split('.') as [string, string, string, string];
    const bob = await w.merchant();
    const later = (Number.parseInt(at, 36) - 1).toString(36);
    for (const forged of [
      [bob.userId, at, change, mac],
      [id, later, change, mac],
      [id, at, 'live_key', mac],
      [id, at, change, mac.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
      ['nothing'],
    ])
      for (const call of [undo, preview])
        expect(await call(forged.join('.'))).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    setTime(Date.now() + 7 * DAY + 1000);
    expect(await undo(token)).toMatchObject({ status: 410, body: { code: 'link_expired' } });
    expect((await me(ada.key)).body.email).not.toBe(ada.email);
  });

  it('the address is taken back from an account that never proved it, but not from one that did', async () => {
    for (const isProven of [false, true]) {
      const owner = await newOwner();
      await changeEmail(owner, newThief());
      const token = await linkTo(owner.email);
      const body = { email: owner.email, password: PASSWORD, display_name: 'Squatter' };
      const squatter = (await w.call('POST', '/v1/auth/register', { body })).body;
      if (isProven) {
        const proof = { body: { token: await emailedToken(w, squatter.user_id, 'verify') } };
        expect((await w.call('POST', '/v1/account/email/verify', proof)).status).toBe(200);
      }
      const answer = await undo(token);
      expect(answer).toMatchObject(isProven ? { status: 409, body: { meta: { reason: 'email_registered' } } } : { status: 200 });
      expect((await me(squatter.token)).body.email).toBe(isProven ? owner.email : null);
      expect((await me(owner.key)).body.email === owner.email).toBe(!isProven);
    }
  });

  it('an address that a thief added later cannot undo what the owner does, and invitations of the thief end', async () => {
    const email = newThief();
    await changeEmail(ada, email);
    const { token } = (await login(email)).body;
    const proof = { body: { token: await emailedToken(w, ada.userId, 'verify') } };
    expect((await w.call('POST', '/v1/account/email/verify', proof)).status).toBe(200);
    const carol = await w.merchant();
    const invited = await inviteTo(w, { token }, carol.email, 'admin');
    expect((await undo(await linkTo(ada.email))).status).toBe(200);
    expect((await acceptInvitation(w, carol, invited.token)).status).toBe(410);
    const owner = await tokenSignedIn(w, ada.userId, 0);
    expect((await w.call('POST', '/v1/keys', { key: owner, body: { name: 'mine' } })).status).toBe(201);
    expect((await emailsTo(email)).filter(({ body }) => body.text.includes('A live API key was created: mine'))).toEqual([]);
  });

  it('the log has one entry by the system, with what was ended', async () => {
    await changeEmail(ada, newThief());
    expect((await undo(await linkTo(ada.email))).status).toBe(200);
    const owner = await tokenSignedIn(w, ada.userId, 0);
    const { items } = (await w.call('GET', '/v1/account/audit-log?action=person.change_disputed', { key: owner })).body;
    expect(items).toMatchObject([{ actor: { kind: 'system' }, after: { change: 'email', undone: ['email', 'password'] } }]);
    expect(items).toHaveLength(1);
  });

  it('an endpoint that an old key adds after a dispute is announced, however many were announced before it', async () => {
    const at = `/v1/webhooks/endpoints/${await endpointBy(ada.key, 'mine')}`;
    const move = async (path: string) =>
      expect((await w.call('PATCH', at, { key: ada.key, body: { url: `${testEnv.TEST_RECEIVER_URL}/ok/${path}` } })).status).toBe(200);
    for (let index = 0; index < 11; index++) await move(`moved-${index}`);
    setTime(Date.now() + 5000);
    await changeEmail(ada, newThief());
    expect((await undo(await linkTo(ada.email))).status).toBe(200);
    await move('after');
    const urls = (await emailsTo(ada.email)).map(({ body }) => /\/ok\/[\w-]+/.exec(body.text)?.[0]).filter(Boolean);
    expect([urls.length, urls.at(-1)]).toEqual([11, '/ok/after']);
  });

  it('an email to an address that nobody proved has no link', async () => {
    const bob = await w.merchant();
    await changeEmail(bob, newThief());
    const [alert] = (await emailsTo(bob.email)).filter(({ body }) => body.subject === 'Security alert for your account');
    expect(alert!.body.text).not.toContain('#token=');
    expect(alert!.body.text).toContain('/login');
  });
});
