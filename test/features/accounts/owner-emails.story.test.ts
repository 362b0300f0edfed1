import { beforeEach, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { OAuthBrowser, somebody } from '../../support/clients/oauth.ts';
import { ORIGIN } from '../../support/clients/session.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { addPasskey } from '../../support/people/factors.ts';
import { acceptInvitation, addMember, inviteTo } from '../../support/people/team.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { emailedToken, MailWorld, tokenIn, verifyAddress } from '../../support/servers/mail.ts';
import type { CallOptions, Merchant } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
let callers = 0;
/** Each call has its own address, so that limits per address do not apply, from a network that merchants use. */
const from = (): CallOptions => ({ headers: { 'CF-Connecting-IP': `192.0.2.${++callers % 250}`, 'User-Agent': ORIGIN.userAgent } });
const keyed = () => ({ 'Idempotency-Key': crypto.randomUUID() });

let w: MailWorld;
let ada: Merchant;

beforeEach(async () => {
  w = new MailWorld({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  ada = await w.merchant();
  expect((await verify(await emailedToken(w, ada.userId, 'verify'))).status).toBe(200);
});

const verify = (token: string) => w.call('POST', '/v1/account/email/verify', { body: { token }, ...from() });
/** Sends the queued emails one by one and returns those to an address in that order. */
const emailsTo = async (email: string) => {
  for (const message of w.mail.splice(0)) await w.post([message]);
  return (await w.posted()).taken.filter(({ body }) => body.to[0] === email).map(({ body }) => body);
};
const readRows = async ({ userId }: Merchant, template: string) =>
  (
    await testEnv.DB.prepare('SELECT * FROM mails WHERE account_id = ? AND template = ? ORDER BY rowid')
      .bind(userId, template)
      .all<Record<string, string | null>>()
  ).results;
const subjectsTo = async (email: string) => (await emailsTo(email)).map(({ subject }) => subject);
const login = async (email: string, password = PASSWORD): Promise<string> =>
  (await w.call('POST', '/v1/auth/login', { body: { email, password }, ...from() })).body.token;
const changeSecurity = async (token: string, change: Record<string, string>) => {
  const body = { current_password: PASSWORD, ...change };
  expect((await w.call('PATCH', '/v1/account/me/security', { key: token, body, ...from() })).status).toBe(200);
};
const setRail = async (railId: string, payout_wallet: string, token = ada.token) => {
  const options = { key: token, body: { payout_wallet }, headers: keyed() };
  expect((await w.call('PUT', `/v1/access/rail-settings/${railId}`, options)).status).toBe(200);
};
const PAYOUT = 'A payout wallet was set';
const ALERT = 'Security alert for your account';

describe('payout_changed', () => {
  it('a payout email is sent for a wallet that was not payable before, and not for products with a known wallet', async () => {
    await w.product(ada);
    for (let index = 0; index < 3; index++) await w.product(ada, { name: `Weather ${index}` });
    expect(await subjectsTo(ada.email)).toEqual([PAYOUT]);
    const { address } = await w.chain.wallet(0n);
    const other = await w.product(ada, { name: 'Storm warnings', payout_wallet: address });
    const moved = { key: ada.token, body: { payout_wallet: ada.wallet.address } };
    expect((await w.call('PATCH', `/v1/products/${other.product_id}`, moved)).status).toBe(200);
    const emails = await emailsTo(ada.email);
    expect(emails.map(({ subject }) => subject)).toEqual([PAYOUT, PAYOUT]);
    expect(emails[0]!.text).toMatch(new RegExp(`Weather API[^]*${ada.wallet.address}[^]*Wallet before: —`));
    expect(emails[1]!.text).toMatch(new RegExp(`Storm warnings[^]*${address}`));
  });

  it('a payout email is sent for each change of a default, with rail and both wallets, despite preferences', async () => {
    const off = { webhooks: false, payouts: false, renewals: false, buyer_receipts: false, product_news: false };
    await w.call('PATCH', '/v1/account/me', { key: ada.token, body: { notification_prefs: off } });
    const { address } = await w.chain.wallet(0n);
    await setRail('solana_usdc', ada.wallet.address);
    await setRail('solana_usdc', address);
    await setRail('solana_usdc', ada.wallet.address);
    const emails = await emailsTo(ada.email);
    expect(emails.map(({ subject }) => subject)).toEqual([PAYOUT, PAYOUT, PAYOUT]);
    expect(emails[2]!.text).toContain(`Wallet before: ${address}`);
  });

  it('admins get the payout email at their verified addresses, and other members do not', async () => {
    const [admin, unverified, developer] = [
      await addMember(w, ada, 'admin'),
      await addMember(w, ada, 'admin'),
      await addMember(w, ada, 'developer'),
    ];
    for (const one of [admin, developer]) await verifyAddress(w, one);
    await setRail('solana_usdc', ada.wallet.address);
    const to = (await readRows(ada, 'payout_changed')).map(({ address }) => address);
    expect(to.sort()).toEqual([ada.email, admin.own.email].sort());
    expect(to).not.toContain(unverified.own.email);
  });

  it('no payout email is sent for the sandbox or to an unverified email', async () => {
    await w.product({ ...ada, key: ada.sandboxKey });
    const bob = await w.merchant();
    await w.product(bob);
    expect([await subjectsTo(ada.email), await subjectsTo(bob.email)]).toEqual([[], []]);
  });

  it('the previous verified email receives payout emails for seven more days after a change', async () => {
    await changeSecurity(ada.token, { email: 'thief@example.com' });
    const thief = await login('thief@example.com');
    await changeSecurity(thief, { email: 'thief-2@example.com' });
    const token = await login('thief-2@example.com');
    await setRail('solana_usdc', ada.wallet.address, token);
    expect(await subjectsTo(ada.email)).toEqual([ALERT, ALERT, PAYOUT]);
    setTime(Date.now() + 7 * DAY + 1000);
    try {
      await setRail('solana_sol', ada.wallet.address, await login('thief-2@example.com'));
      expect(await subjectsTo(ada.email)).toEqual([ALERT, ALERT, PAYOUT]);
    } finally {
      letTimeRun();
    }
  });
});

describe('security_alert (F2: changes of sign-in methods without an email)', () => {
  const textsTo = async (email: string) => (await emailsTo(email)).filter(({ subject }) => subject === ALERT).map(({ text }) => text);

  it('the previous email learns of an email change, and the new one gets a link', async () => {
    await changeSecurity(ada.token, { email: 'ada-2@example.com' });
    expect((await textsTo(ada.email))[0]).toContain('The e-mail address of your account was changed.');
    expect(await subjectsTo('ada-2@example.com')).toEqual(['Confirm your e-mail address']);
    const token = await login('ada-2@example.com');
    const change = { current_password: PASSWORD, new_password: 'battery staple 9' };
    expect((await w.call('PATCH', '/v1/account/me/security', { key: token, body: change, ...from() })).status).toBe(200);
    expect((await textsTo(ada.email))[1]).toContain('The password of your account was changed.');
  });

  it('a linked or removed provider, a live key and a key’s live endpoint each cause an alert that names them', async () => {
    const google = new OAuthBrowser(w, 'google');
    await google.is(somebody());
    expect((await google.signIn({}, { key: ada.token })).outcome).toHaveProperty('linked');
    const removed = await w.call('DELETE', '/v1/account/identities/google', { key: ada.token });
    const created = [
      removed,
      await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'till' } }),
      await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'trial', sandbox_mode: true } }),
    ];
    const url = `${testEnv.TEST_RECEIVER_URL}/ok/alert`;
    for (const key of [ada.key, ada.sandboxKey]) created.push(await w.call('POST', '/v1/webhooks/endpoints', { key, body: { url } }));
    const hook = { target_url: `${url}-hook`, event_type: 'payment.confirmed' };
    created.push(await w.call('POST', '/v1/integrations/automation/hooks', { key: ada.key, body: hook }));
    created.push(await w.call('POST', '/v1/webhooks/endpoints', { key: ada.token, body: { url: `${url}-person` } }));
    expect(created.map(({ status }) => status)).toEqual([204, 201, 201, 201, 201, 201, 201]);
    const texts = await textsTo(ada.email);
    const named = ['Google was linked', 'Google was removed', 'key was created: till', `changed: ${url}\n`, `changed: ${url}-hook`];
    expect(named.map((text) => texts.filter((one) => one.includes(text)).length)).toEqual([1, 1, 1, 1, 1]);
    expect(texts).toHaveLength(5);
  });

  it('a live endpoint with a new URL or secret from a key causes one alert each, and other changes none', async () => {
    const [url, moved] = ['mine', 'moved'].map((name) => `${testEnv.TEST_RECEIVER_URL}/ok/${name}`);
    for (const key of [ada.key, ada.sandboxKey]) {
      const path = `/v1/webhooks/endpoints/${(await w.call('POST', '/v1/webhooks/endpoints', { key, body: { url } })).body.endpoint_id}`;
      for (const body of [{ description: 'mine' }, { url }, { url: moved }, { url: moved }])
        expect((await w.call('PATCH', path, { key, body })).status).toBe(200);
      expect((await w.call('POST', `${path}/rotate-secret`, { key, body: {} })).status).toBe(200);
      if (key === ada.key) expect((await w.call('PATCH', path, { key: ada.token, body: { url } })).status).toBe(200);
    }
    const texts = await textsTo(ada.email);
    expect(texts.map((text) => /\/ok\/(?:mine|moved)/.exec(text)![0])).toEqual(['/ok/mine', '/ok/moved', '/ok/moved']);
  });

  it('an alert has the time, address, country and browser of the caller, and the session', async () => {
    const headers = { 'CF-Connecting-IP': '203.0.113.7', 'User-Agent': 'Mozilla/5.0 (X11) Firefox/140.0' };
    const cf = { country: 'DE' } as IncomingRequestCfProperties;
    expect((await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'till' }, headers, cf })).status).toBe(201);
    const [text] = await textsTo(ada.email);
    expect(text).toMatch(/Time: .+\n\nAddress: 203\.0\.113\.7 \(DE\)\n\nBrowser: Mozilla\/5\.0 \(X11\) Firefox\/140\.0/);
    const [session] = (await w.call('GET', '/v1/account/sessions', { key: ada.token })).body.items;
    const [alert] = await readRows(ada, 'security_alert');
    expect(JSON.parse(String(alert!.facts))).toMatchObject({
      change: 'live_key',
      ip: '203.0.113.7',
      country: 'DE',
      session_id: session.session_id,
    });
  });

  describe('new_sign_in', () => {
    const signIn = (ip: string, userAgent: string, email = ada.email, env = w.env) =>
      w.call('POST', '/v1/auth/login', {
        env,
        body: { email, password: PASSWORD },
        headers: { 'CF-Connecting-IP': ip, 'User-Agent': userAgent },
      });
    const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
    const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
    const NEW = 'Your account was signed in to from a place that it does not know.';

    it('another network or browser causes one alert, with the session that began', async () => {
      await signIn('203.0.113.7', FIREFOX);
      await signIn('203.0.113.200', FIREFOX.replace('140.0', '141.0'));
      await signIn('203.0.113.7', CHROME);
      const { body } = await signIn('198.51.100.7', CHROME);
      await signIn('198.51.100.9', CHROME);
      const texts = await textsTo(ada.email);
      expect(texts.filter((text) => text.includes(NEW))).toHaveLength(3);
      expect(texts).toHaveLength(3);
      const facts = (await readRows(ada, 'security_alert')).map((row) => JSON.parse(String(row.facts)));
      expect(facts.at(-1)).toMatchObject({ change: 'new_sign_in', session_id: body.session_id, ip: '198.51.100.7', user_agent: CHROME });
    });

    it('a sign-in that is repeated after a database failure at any step causes its alert', async () => {
      await signIn('203.0.113.7', FIREFOX);
      for (const end of ['before', 'after'] as const) {
        for (let failsAt = 1, isLost = true; isLost; failsAt++) {
          const ip = `198.51.${end === 'before' ? 100 + failsAt : 200 + failsAt}.7`;
          const { env } = withFaults(w.env, { [end]: ({ number }: { number: number }) => number === failsAt });
          isLost = (await signIn(ip, FIREFOX, ada.email, env)).status !== 200;
          if (isLost) expect((await signIn(ip, FIREFOX)).status).toBe(200);
          const facts = (await readRows(ada, 'security_alert')).map((row) => JSON.parse(String(row.facts)));
          expect(facts.filter((one) => one.ip === ip).length, `${end} ${failsAt}`).toBeGreaterThan(0);
          await testEnv.DB.prepare('DELETE FROM mails WHERE account_id = ?').bind(ada.userId).run();
        }
      }
    });

    it('a network that was not used for 90 days causes another alert', async () => {
      await signIn('203.0.113.7', FIREFOX);
      await signIn('198.51.100.7', FIREFOX);
      expect(await textsTo(ada.email)).toHaveLength(2);
      try {
        setTime(Date.now() + 60 * DAY);
        await signIn('198.51.100.7', FIREFOX);
        setTime(Date.now() + 40 * DAY);
        await signIn('198.51.100.7', FIREFOX);
        expect(await textsTo(ada.email)).toHaveLength(2);
        await signIn('203.0.113.7', FIREFOX);
        expect(await textsTo(ada.email)).toHaveLength(3);
      } finally {
        letTimeRun();
      }
    });

    it('a wrong password causes no alert, and an unverified address gets none', async () => {
      const body = { email: ada.email, password: 'wrong horse battery' };
      expect((await w.call('POST', '/v1/auth/login', { body, headers: { 'CF-Connecting-IP': '203.0.113.7' } })).status).toBe(401);
      const bob = await w.merchant();
      expect((await signIn('203.0.113.7', FIREFOX, bob.email)).status).toBe(200);
      expect([await textsTo(ada.email), await textsTo(bob.email)]).toEqual([[], []]);
    });
  });

  it('the owner learns of each new admin, by a changed role and by an invitation, and of no other role', async () => {
    const bob = await addMember(w, ada, 'developer');
    const carol = await w.merchant();
    const { token } = await inviteTo(w, ada, carol.email, 'admin');
    expect((await acceptInvitation(w, carol, token)).status).toBe(200);
    for (const role of ['support', 'admin', 'admin'])
      expect((await w.call('PATCH', `/v1/account/members/${bob.userId}`, { key: ada.token, body: { role } })).status).toBe(200);
    const texts = await textsTo(ada.email);
    expect(texts.filter((text) => text.includes('A member became an admin of your account: '))).toHaveLength(2);
    expect(texts).toHaveLength(2);
  });

  it('the tenth alert about live keys in an hour says that its link takes later keys back, and other changes are emailed', async () => {
    for (let index = 0; index < 12; index++) await w.call('POST', '/v1/keys', { key: ada.token, body: { name: `key ${index}` } });
    const hasMore = (await textsTo(ada.email)).map((text) => text.includes('Further changes of this kind are not emailed'));
    expect(hasMore).toEqual([...Array(9).fill(false), true]);
    await addPasskey(w, ada.token);
    expect((await textsTo(ada.email)).slice(10)).toEqual([expect.stringContaining('passkey')]);
  });

  it('the previous verified email receives every alert after a change of email to an unverified one', async () => {
    await changeSecurity(ada.token, { email: 'thief-of-alerts@example.com' });
    const thief = await login('thief-of-alerts@example.com');
    for (let index = 0; index < 3; index++)
      expect((await w.call('POST', '/v1/keys', { key: thief, body: { name: `key ${index}` } })).status).toBe(201);
    await addPasskey(w, thief);
    const alerts = (await readRows(ada, 'security_alert')).filter(({ address }) => address === ada.email);
    const changes = alerts.map(({ facts }) => JSON.parse(String(facts)).change);
    expect(changes).toEqual(['email', 'live_key', 'live_key', 'live_key', 'passkey_added']);
  });
});

describe('verify_email', () => {
  const register = async (email: string, display_name = 'Ada’s weather') => {
    const answer = await w.call('POST', '/v1/auth/register', { body: { email, password: PASSWORD, display_name }, ...from() });
    expect(answer.status).toBe(201);
    return answer.body as { token: string; user_id: string };
  };
  const preview = (token: string) => w.call('POST', '/v1/account/email/preview', { body: { token }, ...from() });
  const disown = (token: string, headers = {}) =>
    w.call('POST', '/v1/account/email/disown', { body: { token }, headers: { ...from().headers, ...headers } });

  it('registration sends a verification email with the account’s name and creation date', async () => {
    await register('grace@example.com', 'Grace & Co');
    const [email] = await emailsTo('grace@example.com');
    expect(email!.text).toContain('Its name: Grace & Co.');
    expect(email!.text).toContain(`Created: ${new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' }).format(Date.now())}`);
    const token = tokenIn({ body: email! } as never);
    const seen = await preview(token);
    expect(seen.body).toEqual({ account: 'Grace & Co', created_at: expect.any(String), email: 'grace@example.com' });
    expect([(await preview(token)).status, (await verify(token)).status, (await preview(token)).status]).toEqual([200, 200, 401]);
  });

  it('the reader can remove their email from a stranger’s account and open their own', async () => {
    const squatter = await register('victim@example.com');
    const [email] = await emailsTo('victim@example.com');
    const token = tokenIn({ body: email! } as never);
    const headers = { ...from().headers, ...keyed() };
    const [first, again, other] = [await disown(token, headers), await disown(token, headers), await disown(token)];
    expect([first.status, again.body, other.status]).toEqual([200, first.body, 401]);
    expect(await w.call('GET', '/v1/account/me', { key: squatter.token })).toMatchObject({
      status: 403,
      body: { code: 'account_deleted' },
    });
    expect((await w.call('POST', '/v1/auth/login', { body: { email: 'victim@example.com', password: PASSWORD }, ...from() })).status).toBe(
      401,
    );
    expect((await verify(token)).status).toBe(401);
    const google = new OAuthBrowser(w, 'google');
    await google.is({ ...somebody(), email: 'victim@example.com' });
    const { outcome } = await google.signIn({ mode: 'register' });
    const mine = await w.call('GET', '/v1/account/me', { key: (outcome as { token: string }).token });
    expect(mine.body.user_id).not.toBe(squatter.user_id);
    expect(mine.body).toMatchObject({ email: 'victim@example.com', has_password: false });
  });

  it('a disowned account without another way to sign in and without sales ends with its keys', async () => {
    const bob = await w.merchant();
    await w.product(bob);
    expect((await disown(await emailedToken(w, bob.userId, 'verify'))).status).toBe(200);
    for (const key of [bob.key, bob.sandboxKey, bob.token])
      expect([401, 403]).toContain((await w.call('GET', '/v1/account/me', { key })).status);
    const ended = testEnv.DB.prepare("SELECT count(*) AS n FROM accounts WHERE id = ? AND status = 'deleted'").bind(bob.userId);
    expect(await ended.first('n')).toBe(1);
  });

  it('a disowned account that has sold, has a passkey or proved another address before loses the address alone', async () => {
    const [sold, withPasskey, moved] = [await w.merchant(), await w.merchant(), ada];
    await w.purchase(await w.product(sold), await w.chain.wallet());
    await addPasskey(w, withPasskey.token);
    await changeSecurity(moved.token, { email: 'mistyped@example.com' });
    for (const one of [sold, withPasskey, moved]) {
      expect((await disown(await emailedToken(w, one.userId, 'verify'))).status).toBe(200);
      const { status, body } = await w.call('GET', '/v1/account/me', { key: one.key });
      expect([status, body.email]).toEqual([200, null]);
    }
  });

  it('a verified email cannot be disowned', async () => {
    const token = await emailedToken(w, ada.userId, 'verify');
    expect((await disown(token)).status).toBe(401);
    expect((await w.call('GET', '/v1/account/me', { key: ada.token })).body.email).toBe(ada.email);
  });
});
