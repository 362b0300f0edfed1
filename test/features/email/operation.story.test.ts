import { beforeEach, describe, expect, it, vi } from 'vitest';
import { utf8 } from '#core/encoding.ts';
import type { AccountId } from '#core/ids.ts';
import { HOUR } from '#core/time.ts';
import { planEmail } from '#features/email/outbox.ts';
import { newCtx } from '#platform/context.ts';
import { commit, unchanged } from '#platform/db/commit.ts';
import { checkOf, readiness } from '../../support/people/sale.ts';
import { emailedToken, MailWorld, svixHeaders } from '../../support/servers/mail.ts';
import { type Merchant, strangerAddress, World } from '../../support/world.ts';

const OPERATOR_SECRET = 'the secret of an operator in a test';
// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('mail operation', () => {
  let w: MailWorld;
  let ada: Merchant;
  const forgot = (email = ada.email, env = w.env) =>
    w.call('POST', '/v1/auth/password/forgot', { body: { email }, headers: { 'CF-Connecting-IP': strangerAddress() }, env });
  const email = async () => (await w.rows()).at(-1)!;
  const turn = (to: 'on' | 'off') =>
    w.call('POST', '/v1/operator/switches', { body: { subject: 'mail', to }, headers: { 'X-Svc-Operator-Secret': OPERATOR_SECRET } });
  /** Uses a fresh environment, because an isolate caches the reading for seconds. */
  const health = async (world: World = w, config: object = {}): Promise<Body> =>
    (await world.call('GET', '/health', { env: { ...world.env, ...config } })).body;

  beforeEach(async () => {
    w = new MailWorld({ OPERATOR_SECRET });
    ada = await w.merchant();
    await w.db.run('DELETE FROM mails' as never);
  });

  it('all emails wait while mail is switched off, and are sent afterwards', async () => {
    expect((await turn('off')).body.switched_off).toContain('mail');
    expect((await forgot()).status).toBe(202);
    await w.post();
    await w.sweepAlone('mails');
    await w.post();
    expect([await w.posted(), (await email()).status]).toMatchObject([{ asked: 0 }, 'waiting']);
    expect((await turn('on')).body.switched_off).not.toContain('mail');
    await w.sweepAlone('mails');
    await w.post();
    expect([await w.posted(), (await email()).status]).toMatchObject([{ asked: 1 }, 'sent']);
  });

  it('health reports mail as not configured, ok or late, and not as late while it is switched off', async () => {
    expect((await health(new World())).checks.mail).toBe('not_configured');
    expect((await health()).checks.mail).toBe('ok');
    await forgot();
    w.mail.length = 0;
    await w.db.run(`UPDATE mails SET next_attempt_at = next_attempt_at - ${HOUR}` as never);
    expect(await health()).toMatchObject({ checks: { mail: 'failing' }, status: 'degraded' });
    await turn('off');
    expect((await health()).checks.mail).toBe('ok');
    await turn('on');
    const headers = { Authorization: `Bearer ${OPERATOR_SECRET}`, 'X-Svc-Operator-Secret': OPERATOR_SECRET };
    const { body: metrics } = await w.call<string>('GET', '/v1/operator/metrics', { headers });
    expect(Number(/svc_oldest_seconds\{queue="mail"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(3000);
  });

  it('readiness states whether a failing endpoint is reported by email', async () => {
    const url = 'https://hooks.example.com/x';
    await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url } });
    const said = async (env = w.env) => checkOf(await readiness(w, ada, '', { env }), 'webhook_endpoint_enabled').message;
    expect(await said()).toMatch(/You get an email to your verified address if the endpoint fails/);
    expect(await said({ ...w.env, MAIL_PROVIDER: '', MAIL_FROM: '' } as typeof w.env)).toMatch(/This deployment sends no email/);
  });

  it('a 503 names the missing settings, also the email binding', async () => {
    for (const [config, missing] of [
      [{ MAIL_PROVIDER: '', MAIL_FROM: '' }, ['MAIL_PROVIDER', 'MAIL_FROM']],
      [{ MAIL_PROVIDER: 'resend', RESEND_API_KEY: '' }, ['RESEND_API_KEY']],
      [{ MAIL_PROVIDER: 'cloudflare' }, ['EMAIL']],
    ] as const) {
      const { status, body } = await forgot(ada.email, { ...w.env, ...config } as typeof w.env);
      expect([status, body.code, body.meta]).toEqual([503, 'mail_not_configured', { missing }]);
    }
    expect((await forgot(ada.email, { ...w.env, MAIL_PROVIDER: 'cloudflare', EMAIL: {} } as never)).status).toBe(202);
    expect((await w.call('POST', '/v1/account/email/verification', { key: ada.token, env: new World().env })).status).toBe(503);
  });

  it('a verification of a new address is not sent to the previous one', async () => {
    await w.call('POST', '/v1/account/email/verification', { key: ada.token, headers: { 'CF-Connecting-IP': strangerAddress() } });
    const change = { email: 'victim@example.com', current_password: 'correct horse battery' };
    expect((await w.call('PATCH', '/v1/account/me/security', { key: ada.token, body: change })).status).toBe(200);
    await w.post();
    const sent = (await w.posted()).taken.map(({ body }) => [body.to[0], body.subject, body.text.includes('#token=')]);
    // The two are sent side by side.
    expect(new Map(sent.map(([to, ...rest]) => [to, rest]))).toEqual(
      new Map([
        [ada.email, ['Security alert for your account', false]],
        ['victim@example.com', ['Confirm your e-mail address', true]],
      ]),
    );
    expect(sent).toHaveLength(2);
    expect((await w.rows())[0]).toMatchObject({ template: 'verify_email', status: 'dropped', address: null });
  });

  it('an email with an expired link is dropped', async () => {
    await forgot();
    await w.habit('broken');
    await w.post();
    expect(await email()).toMatchObject({ status: 'waiting', attempt: 1 });
    await w.db.run(`UPDATE mails SET created_at = created_at - ${HOUR / 2}` as never);
    await w.habit('ok');
    await w.due();
    await w.sweepAlone('mails');
    await w.post();
    expect([await w.posted(), await email()]).toMatchObject([{ asked: 1, taken: [] }, { status: 'dropped' }]);
  });

  it('a notice of a future event is dropped once the event has passed', async () => {
    await w.call('POST', '/v1/account/email/verify', { body: { token: await emailedToken(w, ada.userId, 'verify') } });
    await w.db.run('DELETE FROM mails' as never);
    const ctx = newCtx(w.env, { requestId: 'req_late', defer: () => {} });
    const [past, future] = [-HOUR, HOUR].map((ms) => new Date(Date.now() + ms).toISOString()) as [string, string];
    const url = 'https://hooks.example.com/x';
    const endpoint = (disables_at: string) => ({ template: 'endpoint_failing' as const, facts: { url, since: past, disables_at } });
    const plan = (through: string) => ({ template: 'plan_due' as const, facts: { plan: 'Starter', through } });
    await turn('off');
    for (const { template: email, facts } of [endpoint(past), plan(past), endpoint(future), plan(future)]) {
      const { writes } = planEmail(ctx, { template: email, facts, accountId: ada.userId as AccountId });
      await commit(ctx, { ...unchanged(null), writes });
    }
    await turn('on');
    await w.sweepAlone('mails');
    await w.post();
    const rows = await w.rows();
    expect(rows.map(({ template: email, status }) => [email, status])).toEqual([
      ['endpoint_failing', 'dropped'],
      ['plan_due', 'dropped'],
      ['endpoint_failing', 'sent'],
      ['plan_due', 'sent'],
    ]);
    expect((await w.posted()).taken).toHaveLength(2);
  });

  describe('bounced address', () => {
    const verification = () =>
      w.call('POST', '/v1/account/email/verification', { key: ada.token, headers: { 'CF-Connecting-IP': strangerAddress() } });
    const tokenOf = (mail: { body: { text: string } }) => /#token=([\w.-]+)/.exec(mail.body.text)![1];
    const verify = (token: string | undefined) => w.call('POST', '/v1/account/email/verify', { body: { token } });
    const bounce = async () => {
      const raw = JSON.stringify({ type: 'email.bounced', data: { to: [ada.email], bounce: { type: 'Permanent' } } });
      expect((await w.call('POST', '/v1/integrations/mail/webhooks/resend', { raw, headers: svixHeaders(utf8(raw)) })).status).toBe(200);
    };
    const reset = async () => {
      await forgot();
      await w.post();
      return (await email()).status;
    };

    const problem = async () => (await w.call('GET', '/v1/account/me', { key: ada.token })).body.email_problem;

    it('account/me reports a bounce or complaint until the address is verified again', async () => {
      const report = async (said: object) => {
        const raw = JSON.stringify({ ...said, data: { to: [ada.email.toUpperCase()], bounce: { type: 'Permanent' } } });
        expect((await w.call('POST', '/v1/integrations/mail/webhooks/resend', { raw, headers: svixHeaders(utf8(raw)) })).status).toBe(200);
        return problem();
      };
      expect(await problem()).toBeUndefined();
      expect(await report({ type: 'email.complained' })).toBe('complained');
      expect([await report({ type: 'email.bounced' }), await report({ type: 'email.complained' })]).toEqual(['bounced', 'bounced']);
      expect((await w.call('GET', '/v1/account/me', { key: (await w.merchant()).token })).body).not.toHaveProperty('email_problem');
      await verification();
      await w.post();
      expect((await verify(tokenOf((await w.posted()).taken[0]!))).status).toBe(200);
      expect(await problem()).toBeUndefined();
    });

    it('a new verification, by one permitted email a day, lifts the bounce', async () => {
      expect((await verify(await emailedToken(w, ada.userId, 'verify'))).status).toBe(200);
      expect((await verification()).body.meta).toEqual({ reason: 'already_verified' });
      await bounce();
      expect(await reset()).toBe('dropped');
      expect([(await verification()).status, (await verification()).status]).toEqual([202, 202]);
      await w.post();
      const { asked, taken } = await w.posted();
      expect([asked, taken.length]).toEqual([1, 1]);
      const token = tokenOf(taken[0]!);
      expect([(await verify(token)).status, (await verify(token)).status]).toEqual([200, 401]);
      expect(await reset()).toBe('sent');
      expect((await verification()).status).toBe(409);
    });

    it('a first verification lifts the bounce, and its link works once', async () => {
      await bounce();
      await verification();
      await w.post();
      const token = tokenOf((await w.posted()).taken[0]!);
      expect([(await verify(token)).status, (await verify(token)).status]).toEqual([200, 401]);
      expect(await reset()).toBe('sent');
    });

    it('only the operator can lift a bounce otherwise', async () => {
      const lift = (secret: string, address = ada.email.toUpperCase()) =>
        w.call('POST', '/v1/operator/bounces', { body: { address }, headers: { 'X-Svc-Operator-Secret': secret } });
      await bounce();
      expect((await lift('a guess at the secret of the operator')).status).toBe(404);
      expect(await reset()).toBe('dropped');
      expect([(await lift(OPERATOR_SECRET)).body, (await lift(OPERATOR_SECRET)).body]).toEqual([{ lifted: true }, { lifted: false }]);
      expect(await reset()).toBe('sent');
    });
  });

  it('a provider timeout is retried', async () => {
    await forgot();
    const network = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) =>
      String(input).endsWith('/emails') ? Promise.reject(new DOMException('too long', 'TimeoutError')) : network(input, init),
    );
    await w.post();
    vi.restoreAllMocks();
    expect(await email()).toMatchObject({ status: 'waiting', attempt: 1, error: 'TimeoutError' });
    await w.due();
    await w.sweepAlone('mails');
    await w.post();
    expect(await email()).toMatchObject({ status: 'sent', attempt: 2 });
  });

  it('deletion of the account drops its waiting emails and erases their addresses and facts', async () => {
    await w.call('POST', '/v1/account/email/verify', { body: { token: await emailedToken(w, ada.userId, 'verify') } });
    const product = await w.product(ada, { name: 'Wetter-Geheim' });
    const { confirmed } = await w.purchase(product, await w.chain.wallet(), { email: 'grace@example.com' });
    await w.deliver();
    const proof = { email: 'henry@example.com', message: 'geheim' };
    await w.call('POST', `/v1/receipt/${confirmed.receipt_id}/send-proof`, { key: ada.key, body: proof });
    expect((await w.rows()).filter(({ status }) => status === 'waiting').length).toBeGreaterThanOrEqual(2);
    expect((await w.call('DELETE', '/v1/account/account', { key: ada.token })).status).toBe(200);
    await w.due();
    await w.post();
    await w.sweepAlone('mails');
    await w.post();
    expect((await w.posted()).asked).toBe(0);
    expect(JSON.stringify(await w.rows())).not.toMatch(/grace|henry|geheim/i);
    expect(new Set((await w.rows()).map(({ status }) => status))).toEqual(new Set(['dropped']));
  });

  it('only a local deployment shows its emails, with working links', async () => {
    const local = new World({ MAIL_PROVIDER: 'local', MAIL_FROM: 'Svc <post@localhost>' });
    const bob = await local.merchant();
    await local.call('POST', '/v1/account/email/verification', { key: bob.token, headers: { 'CF-Connecting-IP': strangerAddress() } });
    const [shown] = (await local.call('GET', '/dev/mail?format=json')).body.items;
    expect(shown).toMatchObject({
      letter: 'verify_email',
      to: bob.email,
      subject: expect.any(String),
      html: expect.stringContaining('<a'),
    });
    const token = /#token=([\w.-]+)/.exec(shown.text)![1];
    const page = await local.call<string>('GET', '/dev/mail');
    expect([page.body.includes(token!), page.headers.get('content-security-policy')]).toEqual([
      true,
      expect.stringContaining("default-src 'none'"),
    ]);
    expect((await local.call('POST', '/v1/account/email/verify', { body: { token } })).status).toBe(200);
    const { confirmed } = await local.purchase(await local.product(bob), await local.chain.wallet());
    await local.call('POST', `/v1/receipt/${confirmed.receipt_id}/send-proof`, { key: bob.key, body: { email: 'grace@example.com' } });
    await local.call('DELETE', '/v1/account/account', { key: bob.token });
    const left = await local.call('GET', '/dev/mail?format=json');
    expect([left.status, JSON.stringify(left.body).includes('grace@example.com')]).toEqual([200, false]);
    for (const other of [w, new World()]) expect((await other.call('GET', '/dev/mail')).status).toBe(404);
  });

  it('local mail with a remote node is misconfigured', async () => {
    const env = { ...w.env, MAIL_PROVIDER: 'local', RPC_URL: 'https://api.devnet.solana.com' } as typeof w.env;
    const { status, body } = await w.call('GET', '/dev/mail', { env });
    expect([status, body.code]).toEqual([503, 'misconfigured']);
  });
});
