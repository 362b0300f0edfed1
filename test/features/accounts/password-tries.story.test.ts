import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { newFence } from '#core/ids.ts';
import { DAY, MINUTE } from '#core/time.ts';
import { checkPassword, learnNetworks } from '#features/accounts/passwords/tries.ts';
import { newCtx } from '#platform/context.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { sharedNetworkOf } from '#rules/access/networks.ts';
import { openBrowser } from '../../support/clients/oauth.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { emailedToken, MailWorld, tokenIn } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
const WRONG = 'a wrong password';
/** Test merchants signed in from this network. */
const HOME = '192.0.2.77';
const LINK_REQUIRED = { status: 401, body: { code: 'invalid_credentials', meta: { reason: 'email_link_required' } } };
const REFUSED = { status: 401, body: { code: 'invalid_credentials', meta: {} } };

let w: MailWorld;
let strangers = 0;
beforeEach(() => {
  w = new MailWorld();
});
afterEach(letTimeRun);

/** Address in a network of its own. */
const elsewhere = () => `10.${Math.floor(++strangers / 250)}.${strangers % 250}.1`;
const logIn = (email: string, password = PASSWORD, ip = elsewhere()) =>
  w.call('POST', '/v1/auth/login', { body: { email, password }, headers: { 'CF-Connecting-IP': ip } });
const redeem = (token: string, ip = elsewhere()) =>
  w.call('POST', '/v1/auth/login/email-link', { body: { token }, headers: { 'CF-Connecting-IP': ip } });
/** Failed passwords from other addresses, without their hashes, which take a tenth of a second each. */
const fail = async (email: string, times: number) => {
  const object = w.env.ADMISSION.getByName(`passwords:${sha256Hex(utf8(email)).slice(0, 32)}`);
  for (let i = 0; i < times; i++) await object.tryPassword({ tryId: newFence(), network: 'strange' }, Date.now());
};
const subjectsTo = async (email: string) => (await emailsTo(email)).map(({ body }) => body.subject);
const emailsTo = async (email: string) => {
  for (const message of w.mail.splice(0)) await w.post([message]);
  return (await w.posted()).taken.filter(({ body }) => body.to[0] === email);
};
const LINK = 'Sign in to your account';
const WARNING = 'Many wrong passwords for your account';

describe('failed passwords (F7: one password, many addresses)', () => {
  it('the 101st try from a new network needs a link, right or wrong, known address or not, whatever the multiplier', async () => {
    const { email } = await w.merchant();
    const unknown = `nobody-${crypto.randomUUID()}@example.com`;
    for (const to of [email, unknown]) {
      await fail(to, 97);
      for (let i = 0; i < 3; i++) expect(await logIn(to, WRONG)).toMatchObject(REFUSED);
      const right = await logIn(to);
      for (const answer of [right, await logIn(to, WRONG)]) {
        expect(answer).toMatchObject(LINK_REQUIRED);
        expect({ ...answer.body, request_id: '' }).toEqual({ ...right.body, request_id: '' });
      }
    }
  });

  it('a known network is not affected, and a sign-in by link makes its network known', async () => {
    const { email } = await w.merchant();
    await fail(email, 150);
    expect((await logIn(email, PASSWORD, HOME)).status).toBe(200);
    expect(await logIn(email, WRONG, HOME)).toMatchObject(REFUSED);
    const travelling = elsewhere();
    expect(await logIn(email, PASSWORD, travelling)).toMatchObject(LINK_REQUIRED);
    const link = tokenIn((await emailsTo(email)).at(-1));
    const { status, body } = await redeem(link, travelling);
    expect([status, body.email]).toEqual([200, email]);
    const [id, expiry, mac] = link.split('.');
    for (const zeros of ['', '0', '00']) expect((await redeem(`${id}.${zeros}${expiry}.${mac}`, travelling)).status).toBe(401);
    expect((await logIn(email, PASSWORD, travelling)).status).toBe(200);
    const { items } = (await w.call('GET', '/v1/account/sessions', { key: body.token })).body;
    expect(items.find(({ current }: { current: boolean }) => current).method).toBe('email_link');
  });

  it('a link goes out for a right password alone, once in ten minutes, works once, and for fifteen minutes', async () => {
    const { email } = await w.merchant();
    await fail(email, 100);
    await logIn(email, WRONG);
    expect(await subjectsTo(email)).toEqual([WARNING]);
    for (let i = 0; i < 2; i++) expect(await logIn(email)).toMatchObject(LINK_REQUIRED);
    expect(await subjectsTo(email)).toEqual([WARNING, LINK]);
    const first = tokenIn((await emailsTo(email)).at(-1));
    expect(await redeem(first.replace(/.$/, (end) => (end === 'A' ? 'E' : 'A')))).toMatchObject(REFUSED);
    expect((await redeem(first)).status).toBe(200);
    expect(await redeem(first)).toMatchObject(REFUSED);
    setTime(Date.now() + 11 * MINUTE);
    expect(await logIn(email)).toMatchObject(LINK_REQUIRED);
    const second = tokenIn((await emailsTo(email)).at(-1));
    expect(second).not.toBe(first);
    setTime(Date.now() + 16 * MINUTE);
    expect(await redeem(second)).toMatchObject({ status: 401, body: { code: 'invalid_credentials', meta: { reason: 'expired' } } });
  });

  it('one of ten concurrent uses of a link succeeds', async () => {
    const { email } = await w.merchant();
    await fail(email, 100);
    await logIn(email);
    const token = tokenIn((await emailsTo(email)).at(-1));
    const statuses = (await Promise.all(Array.from({ length: 10 }, () => redeem(token)))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, ...Array(9).fill(401)]);
  });

  it('the reader of an address who claims or disowns an account knows none of its maker’s networks', async () => {
    const from = (ip: string) => ({ headers: { 'CF-Connecting-IP': ip } });
    const changeEmail = { email: `elsewhere-${crypto.randomUUID()}@example.com`, current_password: PASSWORD };
    const leave: ((merchant: Merchant, ip: string) => Promise<{ status: number }>)[] = [
      async ({ userId }, ip) => {
        const body = { token: await emailedToken(w, userId, 'reset'), new_password: 'battery staple 9' };
        return w.call('POST', '/v1/auth/password/reset', { body, ...from(ip) });
      },
      async ({ email }, ip) => {
        const { browser, ada } = await openBrowser(w, 'github');
        await browser.is({ ...ada, email });
        const { token } = (await browser.signIn({}, from(ip))).outcome;
        return w.call('GET', '/v1/account/me', { key: token! });
      },
      async ({ userId }) => w.call('POST', '/v1/account/email/disown', { body: { token: await emailedToken(w, userId, 'verify') } }),
      async ({ token }) => w.call('PATCH', '/v1/account/me/security', { key: token, body: changeEmail }),
    ];
    for (const [index, end] of leave.entries()) {
      const maker = await w.merchant();
      const reader = elsewhere();
      expect((await end(maker, reader)).status).toBe(200);
      await fail(maker.email, 100);
      expect(await logIn(maker.email, WRONG, HOME)).toMatchObject(LINK_REQUIRED);
      if (index === 0) expect(await logIn(maker.email, WRONG, reader)).toMatchObject(REFUSED);
    }
  });

  it('a link ends with a change of the password', async () => {
    const { email, token } = await w.merchant();
    await fail(email, 100);
    await logIn(email);
    const link = tokenIn((await emailsTo(email)).at(-1));
    const change = { current_password: PASSWORD, new_password: 'a better horse' };
    const headers = { 'CF-Connecting-IP': HOME };
    expect((await w.call('PATCH', '/v1/account/me/security', { key: token, body: change, headers })).status).toBe(200);
    expect(await redeem(link)).toMatchObject(REFUSED);
  });

  it('the owner is warned at the hundredth wrong password, once a day', async () => {
    const { email } = await w.merchant();
    await fail(email, 98);
    await logIn(email, WRONG);
    expect(await subjectsTo(email)).toEqual([]);
    await logIn(email, WRONG);
    await logIn(email, WRONG);
    expect(await subjectsTo(email)).toEqual([WARNING]);
    setTime(Date.now() + DAY + 1);
    await fail(email, 100);
    await logIn(email, WRONG);
    expect(await subjectsTo(email)).toEqual([WARNING, WARNING]);
  });

  it('wrong current passwords count too, and are refused in the same way from a new network', async () => {
    const { email, token } = await w.merchant();
    const change = (ip: string, current_password: string) =>
      w.call('PATCH', '/v1/account/me/security', {
        key: token,
        body: { current_password, new_password: 'a better horse' },
        headers: { 'CF-Connecting-IP': ip },
      });
    await fail(email, 99);
    expect(await change(elsewhere(), WRONG)).toMatchObject(REFUSED);
    expect(await change(elsewhere(), PASSWORD)).toMatchObject(LINK_REQUIRED);
    expect(await logIn(email)).toMatchObject(LINK_REQUIRED);
    expect((await change(HOME, PASSWORD)).status).toBe(200);
  });

  it('a password reset makes its network known', async () => {
    const { email } = await w.merchant();
    await fail(email, 150);
    await w.call('POST', '/v1/auth/password/forgot', { body: { email } });
    const body = { token: tokenIn((await emailsTo(email)).at(-1)), new_password: 'battery staple 9' };
    const here = elsewhere();
    const headers = { 'CF-Connecting-IP': here };
    expect((await w.call('POST', '/v1/auth/password/reset', { body, headers })).status).toBe(200);
    expect(await logIn(email, 'battery staple 9')).toMatchObject(LINK_REQUIRED);
    expect((await logIn(email, 'battery staple 9', here)).status).toBe(200);
  });

  it('networks remain known after a change of the address', async () => {
    const { email, token } = await w.merchant();
    const next = `next-${email}`;
    const body = { current_password: PASSWORD, email: next };
    const headers = { 'CF-Connecting-IP': HOME };
    expect((await w.call('PATCH', '/v1/account/me/security', { key: token, body, headers })).status).toBe(200);
    await fail(next, 150);
    expect(await logIn(next)).toMatchObject(LINK_REQUIRED);
    expect((await logIn(next, PASSWORD, HOME)).status).toBe(200);
  });

  it('no network is known after the operator sets another address, until the person signs in from it', async () => {
    const { email } = await w.merchant();
    const next = `set-${email}`;
    const headers = { 'X-Svc-Operator-Secret': 'the secret of an operator who sets an address', 'X-Svc-Operator-Reason': 'ticket 12' };
    const env = { ...w.env, OPERATOR_SECRETS: 'ada:the secret of an operator who sets an address' };
    const set = await w.call('POST', '/v1/operator/accounts/email', { body: { account: email, email: next }, headers, env });
    expect(set.status).toBe(200);
    await fail(next, 150);
    expect(await logIn(next, PASSWORD, HOME)).toMatchObject(LINK_REQUIRED);
    expect((await redeem(tokenIn((await emailsTo(next)).at(-1)), HOME)).status).toBe(200);
    expect((await logIn(next, PASSWORD, HOME)).status).toBe(200);
  });

  it('a sequence of tries by strangers never locks out an owner in a known network', async () => {
    const ip = fc.oneof(
      fc.ipV4().filter((address) => sharedNetworkOf(address) !== sharedNetworkOf(HOME)),
      fc.ipV6(),
    );
    const guess = fc.record({ ip, times: fc.integer({ min: 1, max: 60 }), waitMs: fc.nat({ max: 20 * MINUTE }), isRight: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(guess, { maxLength: 8 }), fc.integer({ min: 1, max: 254 }), async (guesses, host) => {
        const email = `owner-${crypto.randomUUID()}@example.com`;
        const account = { email, status: 'active' } as Account;
        let now = Date.now();
        const attempt = async (from: string, isRight: boolean) => {
          const deferred: Promise<unknown>[] = [];
          const ctx = newCtx(w.env, { requestId: 'req_try', now, defer: (work) => deferred.push(work) });
          const check = async () => (isRight ? account : null);
          const answer = checkPassword(ctx, { email, ip: from, check, find: async () => undefined }).then(
            () => 'in',
            ({ options }) => options.meta?.reason ?? 'wrong',
          );
          const result = await answer;
          await Promise.all(deferred);
          return result;
        };
        await learnNetworks(newCtx(w.env, { requestId: 'req_home', now, defer: () => {} }), email, [HOME]);
        const wrong: number[] = [];
        for (const { ip: from, times, waitMs, isRight } of guesses) {
          now += waitMs;
          for (let i = 0; i < times; i++) {
            const before = wrong.filter((at) => at > now - 60 * MINUTE).length;
            const result = await attempt(from, isRight && i === 0);
            if (!(isRight && i === 0)) wrong.push(now);
            expect(result).toBe(before >= 100 ? 'email_link_required' : isRight && i === 0 ? 'in' : 'wrong');
          }
          expect(await attempt(`192.0.2.${host}`, true)).toBe('in');
        }
      }),
      { numRuns: 20 },
    );
  });
});
