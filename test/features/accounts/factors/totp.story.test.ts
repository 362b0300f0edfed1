import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MINUTE, SECOND } from '#core/time.ts';
import { newKey } from '../../../support/people/agent.ts';
import { App } from '../../../support/people/authenticator-app.ts';
import { addApp, addPasskey, logInAgain, newTicket, stepUpWith } from '../../../support/people/factors.ts';
import { letTimeRun, setTime } from '../../../support/runner/clock.ts';
import { type Merchant, World } from '../../../support/world.ts';

const w = new World();
const STEP = 30 * SECOND;
const WRONG = [401, 'invalid_credentials'];
const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const factor = (body: object) => w.call('POST', '/v1/auth/factor', { body });
const stepUp = (key: string, body: object) => w.call('POST', '/v1/auth/step-up', { key, body });
const confirm = (key: string, code: string, headers = {}) => w.call('POST', '/v1/account/totp/confirm', { key, body: { code }, headers });
const readFactors = async (key: string) => (await w.call('GET', '/v1/account/me', { key })).body.factors;
const countOf = (answers: { status: number }[], status: number) => answers.filter((answer) => answer.status === status).length;

/** Begins at the first millisecond of a step, so that no test crosses one unawares. */
const startOfStep = () => setTime(Math.ceil(Date.now() / STEP) * STEP + STEP);

let ada: Merchant;
beforeEach(async () => {
  ada = await w.merchant();
  startOfStep();
});
afterEach(letTimeRun);

describe('authenticator app', () => {
  it('POST /v1/account/totp shows a secret that replaces a pending one', async () => {
    const begin = () => w.call('POST', '/v1/account/totp', { key: ada.token });
    const [first, second] = [await begin(), await begin()];
    expect(first.status).toBe(201);
    expect(first.body.secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(first.body.otpauth_uri).toContain(`secret=${first.body.secret}`);
    expect(Date.parse(first.body.expires_at) - Date.now()).toBe(10 * MINUTE);
    const stale = new App(first.body.secret).code();
    if (stale !== new App(second.body.secret).code()) expect(codeOf(await confirm(ada.token, stale))).toEqual(WRONG);
    expect((await confirm(ada.token, new App(second.body.secret).code())).status).toBe(200);
    expect(codeOf(await begin())).toEqual([403, 'invalid_authorization']);
  });

  it('a code confirms the app and returns ten recovery codes, again under the same Idempotency-Key', async () => {
    const begun = await w.call('POST', '/v1/account/totp', { key: ada.token });
    const headers = { 'Idempotency-Key': newKey() };
    const code = new App(begun.body.secret).code();
    const answer = await confirm(ada.token, code, headers);
    expect(answer.body).toEqual({ confirmed_at: new Date(Date.now()).toISOString(), recovery_codes: expect.any(Array) });
    expect(answer.body.recovery_codes).toHaveLength(10);
    expect((await confirm(ada.token, code, headers)).body).toEqual(answer.body);
    expect(await readFactors(ada.token)).toEqual({ passkeys: 0, totp: true, recovery_codes_left: 10 });
    const token = (await factor({ ticket: await newTicket(w, ada), totp: new App(begun.body.secret).code(Date.now() + STEP) })).body.token;
    const again = await w.call('POST', '/v1/account/totp', { key: token });
    expect([...codeOf(again), again.body.meta.reason]).toEqual([409, 'state_conflict', 'totp_enabled']);
  });

  it('a secret that no code confirmed within ten minutes is gone', async () => {
    const begun = await w.call('POST', '/v1/account/totp', { key: ada.token });
    const app = new App(begun.body.secret);
    setTime(Date.now() + 10 * MINUTE);
    const late = await confirm(ada.token, app.code());
    expect([...codeOf(late), late.body.meta.reason]).toEqual([409, 'state_conflict', 'nothing_pending']);
    await w.sweepAlone('pendingTotp');
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM totp_secrets WHERE person_id = ?').bind(ada.userId).first('n')).toBe(0);
  });

  it('the fifth wrong code within five minutes is 429, whatever follows, and a right one does not count', async () => {
    const begun = await w.call('POST', '/v1/account/totp', { key: ada.token });
    const app = new App(begun.body.secret);
    for (let i = 0; i < 4; i++) expect(codeOf(await confirm(ada.token, app.wrong()))).toEqual(WRONG);
    const fifth = await confirm(ada.token, app.wrong());
    expect(codeOf(fifth)).toEqual([429, 'rate_limited']);
    expect(Number(fifth.headers.get('Retry-After'))).toBe(300);
    expect(codeOf(await confirm(ada.token, app.code()))).toEqual([429, 'rate_limited']);
    setTime(Date.now() + 5 * MINUTE);
    expect((await confirm(ada.token, app.code())).status).toBe(200);
    for (let i = 1; i <= 7; i++) {
      setTime(Date.now() + STEP);
      expect((await stepUp(ada.token, { totp: app.code() })).status, String(i)).toBe(200);
    }
  });

  it('a code works in the step before and after its own, and each step once', async () => {
    const { app } = await addApp(w, ada.token);
    const at = Date.now();
    const code = app.code(at + STEP);
    expect((await stepUp(ada.token, { totp: code })).status).toBe(200);
    for (const totp of [code, app.code(at), app.code(at - STEP)]) expect(codeOf(await stepUp(ada.token, { totp }))).toEqual(WRONG);
    setTime(at + 2 * STEP + 59_999);
    expect((await stepUp(ada.token, { totp: app.code(at + 2 * STEP) })).status).toBe(200);
    setTime(at + 10 * STEP);
    expect(codeOf(await stepUp(ada.token, { totp: app.code(at + 8 * STEP) }))).toEqual(WRONG);
    setTime(at + 10 * STEP - 1);
    expect((await stepUp(ada.token, { totp: app.code(at + 8 * STEP) })).status).toBe(200);
  });

  it('a code gives one success in 50 parallel requests', async () => {
    const { app } = await addApp(w, ada.token);
    const totp = app.code();
    const answers = await Promise.all(Array.from({ length: 50 }, () => stepUp(ada.token, { totp })));
    expect(countOf(answers, 200)).toBe(1);
    expect(countOf(answers, 401) + countOf(answers, 429)).toBe(49);
  });

  it('removing it takes a step-up, ends the recovery codes, and is idempotent', async () => {
    const { app, codes } = await addApp(w, ada.token);
    const remove = (key: string) => w.call('DELETE', '/v1/account/totp', { key });
    const refused = await remove(ada.token);
    expect(refused).toMatchObject({
      status: 403,
      body: {
        code: 'invalid_authorization',
        meta: { reason: 'step_up_required', methods: ['totp', 'recovery_code'], step_up: '/v1/auth/step-up' },
      },
    });
    const token = await stepUpWith(w, ada.token, { totp: app.code() });
    expect([(await remove(token)).status, (await remove(token)).status]).toEqual([204, 204]);
    expect(await readFactors(token)).toEqual({ passkeys: 0, totp: false, recovery_codes_left: 0 });
    expect((await logInAgain(w, ada)).status).toBe(200);
    for (const table of ['totp_secrets', 'recovery_codes'])
      expect(await w.env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE person_id = ?`).bind(ada.userId).first('n')).toBe(0);
    expect(codeOf(await stepUp(token, { recovery_code: codes![0] }))).toEqual(WRONG);
  });

  it('the database holds neither the secret nor a code', async () => {
    const begun = await w.call('POST', '/v1/account/totp', { key: ada.token });
    const app = new App(begun.body.secret);
    const { body } = await confirm(ada.token, app.code());
    const rows = JSON.stringify([
      await w.env.DB.prepare('SELECT * FROM totp_secrets').all(),
      await w.env.DB.prepare('SELECT * FROM recovery_codes').all(),
    ]);
    for (const secret of [begun.body.secret, ...body.recovery_codes, ...body.recovery_codes.map((code: string) => code.replace('-', ''))])
      expect(rows).not.toContain(secret);
  });
});

describe('recovery codes', () => {
  it('each code works once, as a person types it, and an email says how many are left', async () => {
    const { codes } = await addApp(w, ada.token);
    const typed = codes![0]!.toUpperCase().replace('-', ' ');
    expect((await stepUp(ada.token, { recovery_code: typed })).status).toBe(200);
    expect(codeOf(await stepUp(ada.token, { recovery_code: codes![0] }))).toEqual(WRONG);
    expect(await readFactors(ada.token)).toMatchObject({ recovery_codes_left: 9 });
  });

  it('a code gives one success in 50 parallel requests', async () => {
    const { codes } = await addApp(w, ada.token);
    const answers = await Promise.all(Array.from({ length: 50 }, () => stepUp(ada.token, { recovery_code: codes![3] })));
    expect(countOf(answers, 200)).toBe(1);
    expect(countOf(answers, 401) + countOf(answers, 429)).toBe(49);
    expect(await readFactors(ada.token)).toMatchObject({ recovery_codes_left: 9 });
  });

  it('new codes end the earlier ones and take a step-up', async () => {
    const { app, codes } = await addApp(w, ada.token);
    const renew = (key: string) => w.call('POST', '/v1/account/recovery-codes', { key });
    expect((await renew(ada.token)).body.meta.reason).toBe('step_up_required');
    const token = await stepUpWith(w, ada.token, { totp: app.code() });
    const renewed = await renew(token);
    expect(renewed.status).toBe(200);
    expect(renewed.body.recovery_codes).toHaveLength(10);
    expect(codeOf(await stepUp(token, { recovery_code: codes![1] }))).toEqual(WRONG);
    expect((await stepUp(token, { recovery_code: renewed.body.recovery_codes[1] })).status).toBe(200);
  });

  it('a person without a factor has none', async () => {
    const answer = await w.call('POST', '/v1/account/recovery-codes', { key: ada.token });
    expect([...codeOf(answer), answer.body.meta.reason]).toEqual([409, 'state_conflict', 'no_factor']);
    expect(await readFactors(ada.token)).toEqual({ passkeys: 0, totp: false, recovery_codes_left: 0 });
  });

  it('a further factor returns no codes', async () => {
    const { app } = await addApp(w, ada.token);
    const token = await stepUpWith(w, ada.token, { totp: app.code() });
    expect((await addPasskey(w, token)).codes).toBeUndefined();
    expect(await readFactors(token)).toEqual({ passkeys: 1, totp: true, recovery_codes_left: 10 });
  });
});

describe('sign-in with a factor', () => {
  let app: App;
  let codes: string[];
  beforeEach(async () => {
    const added = await addApp(w, ada.token);
    [app, codes] = [added.app, added.codes!];
  });

  it('the right password gives a ticket, and a wrong one reveals no factor', async () => {
    const answer = await logInAgain(w, ada);
    expect(answer).toMatchObject({
      status: 401,
      body: { code: 'factor_required', meta: { ticket: expect.any(String), methods: ['totp', 'recovery_code'], expires_in: 300 } },
    });
    expect('token' in answer.body).toBe(false);
    const guess = await w.call('POST', '/v1/auth/login', { body: { email: ada.email, password: 'a guess at it' } });
    expect([...codeOf(guess), guess.body.meta]).toEqual([...WRONG, {}]);
  });

  it('ticket and code give a session that proved a factor', async () => {
    const answer = await factor({ ticket: await newTicket(w, ada), totp: app.code() });
    expect(answer.status).toBe(200);
    const claims = JSON.parse(atob(answer.body.token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
    expect(claims).toMatchObject({ amr: 'pwd', auth_time: Date.now() / 1000, factor_time: Date.now() / 1000, sid: answer.body.session_id });
    const { items } = (await w.call('GET', '/v1/account/sessions', { key: answer.body.token })).body;
    expect(items.find(({ current }: { current: boolean }) => current)).toMatchObject({ method: 'password', factor: 'totp' });
    const renewed = (await w.call('POST', '/v1/auth/refresh', { body: { token: answer.body.token } })).body.token;
    expect((await w.call('POST', '/v1/keys', { key: renewed, body: { name: 'live' } })).status).toBe(201);
  });

  it('a ticket gives one session in 50 parallel requests, and no second recovery code is lost', async () => {
    const ticket = await newTicket(w, ada);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => factor({ ticket, recovery_code: codes[i % 10] })));
    expect(countOf(answers, 200)).toBe(1);
    expect(countOf(answers, 401) + countOf(answers, 429)).toBe(49);
    expect(await readFactors(answers.find(({ status }) => status === 200)!.body.token)).toMatchObject({ recovery_codes_left: 9 });
  });

  it('a used ticket, an old one, a changed one and one of before a password change are refused', async () => {
    const used = await newTicket(w, ada);
    const { token } = (await factor({ ticket: used, totp: app.code() })).body;
    const old = await newTicket(w, ada);
    expect(codeOf(await factor({ ticket: used, recovery_code: codes[0] }))).toEqual(WRONG);
    expect(codeOf(await factor({ ticket: `${old.slice(0, -1)}${old.endsWith('0') ? '1' : '0'}`, recovery_code: codes[0] }))).toEqual(WRONG);
    const change = { current_password: 'correct horse battery', new_password: 'correct horse battery 2' };
    expect((await w.call('PATCH', '/v1/account/me/security', { key: token, body: change })).status).toBe(200);
    expect(codeOf(await factor({ ticket: old, recovery_code: codes[0] }))).toEqual(WRONG);
    const login = await w.call('POST', '/v1/auth/login', { body: { email: ada.email, password: change.new_password } });
    setTime(Date.now() + 5 * MINUTE);
    expect(codeOf(await factor({ ticket: login.body.meta.ticket, recovery_code: codes[0] }))).toEqual(WRONG);
    expect((await w.call('GET', '/v1/account/me', { key: token })).status).toBe(401);
  });

  it('made-up tickets and passkeys of another caller behind the address refuse nobody', async () => {
    const strict = new World({ RATE_MULTIPLIER: '1' });
    const owner = await strict.merchant();
    const { app } = await addApp(strict, owner.token);
    const send = (path: string, body: object) =>
      strict.call('POST', `/v1/auth/${path}`, { body, headers: { 'CF-Connecting-IP': '203.0.113.99' } });
    const response = { id: 'AAAA', rawId: 'AAAA', type: 'public-key', response: {}, clientExtensionResults: {} };
    for (let i = 0; i < 10; i++) await send('factor', { ticket: `junk-${i}`, totp: '000000' });
    expect((await send('factor', { ticket: 'junk', totp: '000000' })).status).toBe(429);
    for (let i = 0; i < 5; i++) await send('passkey', { ceremony_id: 'junk', response });
    const { body } = await send('login', { email: owner.email, password: 'correct horse battery' });
    expect((await send('factor', { ticket: body.meta.ticket, totp: app.code() })).status).toBe(200);
  });

  it('the fifth wrong proof spends the ticket, and further tickets give no more guesses', async () => {
    const ticket = await newTicket(w, ada);
    for (let i = 0; i < 5; i++) expect(codeOf(await factor({ ticket, totp: app.wrong() }))).toEqual(WRONG);
    expect(codeOf(await factor({ ticket, totp: app.code() }))).toEqual(WRONG);
    expect(codeOf(await factor({ ticket: await newTicket(w, ada), totp: app.code() }))).toEqual([429, 'rate_limited']);
    setTime(Date.now() + 5 * MINUTE);
    expect((await factor({ ticket: await newTicket(w, ada), totp: app.code() })).status).toBe(200);
  });

  it.each([
    ['no proof', {}],
    ['two proofs', { totp: '123456', recovery_code: 'aaaaa-bbbbb' }],
    ['a ceremony without its response', { ceremony_id: 'none' }],
    ['five digits', { totp: '12345' }],
  ])('%s is 422', async (_, proof) => {
    expect(codeOf(await factor({ ticket: 'none', ...proof }))).toEqual([422, 'validation_error']);
  });

  it('a suspended account learns so with the right code', async () => {
    const ticket = await newTicket(w, ada);
    await w.env.DB.prepare("UPDATE accounts SET status = 'suspended', version = version + 1 WHERE id = ?").bind(ada.userId).run();
    expect(codeOf(await factor({ ticket, totp: app.code() }))).toEqual([403, 'account_suspended']);
  });
});
