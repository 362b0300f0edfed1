import { beforeEach, describe, expect, it, vi } from 'vitest';
import { utf8 } from '#core/encoding.ts';
import type { AccountId } from '#core/ids.ts';
import { HOUR } from '#core/time.ts';
import { planLetter } from '#features/mail/outbox.ts';
import { newCtx } from '#platform/context.ts';
import { commit, unchanged } from '#platform/db/commit.ts';
import { checkOf, readiness } from '../../support/people/sale.ts';
import { letterToken, MailWorld, svixHeaders } from '../../support/servers/mail.ts';
import { type Merchant, strangerAddress, World } from '../../support/world.ts';

const OPERATOR_SECRET = 'the secret of an operator in a test';
// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

describe('mail, as its operator runs it', () => {
  let w: MailWorld;
  let ada: Merchant;
  const forgot = (email = ada.email, env = w.env) =>
    w.call('POST', '/v1/auth/password/forgot', { body: { email }, headers: { 'CF-Connecting-IP': strangerAddress() }, env });
  const letter = async () => (await w.rows()).at(-1)!;
  const turn = (to: 'on' | 'off') =>
    w.call('POST', '/v1/operator/switches', { body: { subject: 'mail', to }, headers: { 'X-Svc-Operator-Secret': OPERATOR_SECRET } });
  /** As another isolate is asked: what was read is remembered for seconds. */
  const health = async (world: World = w, config: object = {}): Promise<Body> =>
    (await world.call('GET', '/health', { env: { ...world.env, ...config } })).body;

  beforeEach(async () => {
    w = new MailWorld({ OPERATOR_SECRET });
    ada = await w.merchant();
    await w.db.run('DELETE FROM mails' as never);
  });

  it('waits while it is switched off, all of it, and goes out when it is on again', async () => {
    expect((await turn('off')).body.switched_off).toContain('mail');
    expect((await forgot()).status).toBe(202);
    await w.post();
    await w.sweepAlone('mails');
    await w.post();
    expect([await w.posted(), (await letter()).status]).toMatchObject([{ asked: 0 }, 'waiting']);
    expect((await turn('on')).body.switched_off).not.toContain('mail');
    await w.sweepAlone('mails');
    await w.post();
    expect([await w.posted(), (await letter()).status]).toMatchObject([{ asked: 1 }, 'sent']);
  });

  it('is told of by the health of the service: not configured, well, or late, but not while it is switched off', async () => {
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

  it('is told of by readiness, where a merchant reads how a failing endpoint would be heard of', async () => {
    const url = 'https://hooks.example.com/x';
    await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url } });
    const said = async (env = w.env) => checkOf(await readiness(w, ada, '', { env }), 'webhook_endpoint_enabled').message;
    expect(await said()).toMatch(/You get an email to your verified address if the endpoint fails/);
    expect(await said({ ...w.env, MAIL_PROVIDER: '', MAIL_FROM: '' } as typeof w.env)).toMatch(/This deployment sends no email/);
  });

  it('names what is missing, the binding of the platform’s own service too', async () => {
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

  it('sends no proof of another address to the one that an account had when it asked', async () => {
    await w.call('POST', '/v1/account/email/verification', { key: ada.token, headers: { 'CF-Connecting-IP': strangerAddress() } });
    const change = { email: 'victim@example.com', current_password: 'correct horse battery' };
    expect((await w.call('PATCH', '/v1/account/me/security', { key: ada.token, body: change })).status).toBe(200);
    await w.post();
    const sent = (await w.posted()).taken.map(({ body }) => [body.to[0], body.subject, body.text.includes('#token=')]);
    expect(sent).toEqual([
      [ada.email, 'Security alert for your account', false],
      ['victim@example.com', 'Confirm your e-mail address', true],
    ]);
    expect((await w.rows())[0]).toMatchObject({ letter: 'verify_email', status: 'dropped', address: null });
  });

  it('sends no link whose time is over before it goes out', async () => {
    await forgot();
    await w.habit('broken');
    await w.post();
    expect(await letter()).toMatchObject({ status: 'waiting', attempt: 1 });
    await w.db.run(`UPDATE mails SET created_at = created_at - ${HOUR / 2}` as never);
    await w.habit('ok');
    await w.due();
    await w.sweepAlone('mails');
    await w.post();
    expect([await w.posted(), await letter()]).toMatchObject([{ asked: 1, taken: [] }, { status: 'dropped' }]);
  });

  it('sends no notice of something to come once it has passed, however long it had to wait', async () => {
    await w.call('POST', '/v1/account/email/verify', { body: { token: await letterToken(w, ada.userId, 'verify') } });
    await w.db.run('DELETE FROM mails' as never);
    const ctx = newCtx(w.env, { requestId: 'req_late', defer: () => {} });
    const [past, future] = [-HOUR, HOUR].map((ms) => new Date(Date.now() + ms).toISOString()) as [string, string];
    const url = 'https://hooks.example.com/x';
    const endpoint = (disables_at: string) => ({ letter: 'endpoint_failing' as const, facts: { url, since: past, disables_at } });
    const plan = (through: string) => ({ letter: 'plan_due' as const, facts: { plan: 'Starter', through } });
    await turn('off');
    for (const { letter, facts } of [endpoint(past), plan(past), endpoint(future), plan(future)]) {
      const { writes } = planLetter(ctx, { letter, facts, accountId: ada.userId as AccountId });
      await commit(ctx, { ...unchanged(null), writes });
    }
    await turn('on');
    await w.sweepAlone('mails');
    await w.post();
    const rows = await w.rows();
    expect(rows.map(({ letter, status }) => [letter, status])).toEqual([
      ['endpoint_failing', 'dropped'],
      ['plan_due', 'dropped'],
      ['endpoint_failing', 'sent'],
      ['plan_due', 'sent'],
    ]);
    expect((await w.posted()).taken).toHaveLength(2);
  });

  describe('to an address that bounced', () => {
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
      return (await letter()).status;
    };

    const problem = async () => (await w.call('GET', '/v1/account/me', { key: ada.token })).body.email_problem;

    it('is told to its owner with the account, also where it was only called unwanted, until it is proven again', async () => {
      const tell = async (said: object) => {
        const raw = JSON.stringify({ ...said, data: { to: [ada.email.toUpperCase()], bounce: { type: 'Permanent' } } });
        expect((await w.call('POST', '/v1/integrations/mail/webhooks/resend', { raw, headers: svixHeaders(utf8(raw)) })).status).toBe(200);
        return problem();
      };
      expect(await problem()).toBeUndefined();
      expect(await tell({ type: 'email.complained' })).toBe('complained');
      expect([await tell({ type: 'email.bounced' }), await tell({ type: 'email.complained' })]).toEqual(['bounced', 'bounced']);
      expect((await w.call('GET', '/v1/account/me', { key: (await w.merchant()).token })).body).not.toHaveProperty('email_problem');
      await verification();
      await w.post();
      expect((await verify(tokenOf((await w.posted()).taken[0]!))).status).toBe(200);
      expect(await problem()).toBeUndefined();
    });

    it('goes again once its owner has proven it again, by the one letter a day that is still tried there', async () => {
      expect((await verify(await letterToken(w, ada.userId, 'verify'))).status).toBe(200);
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

    it('is lifted by its first proof too, and the link works no more', async () => {
      await bounce();
      await verification();
      await w.post();
      const token = tokenOf((await w.posted()).taken[0]!);
      expect([(await verify(token)).status, (await verify(token)).status]).toEqual([200, 401]);
      expect(await reset()).toBe('sent');
    });

    it('goes again once the operator has lifted the bounce, and nobody else can', async () => {
      const lift = (secret: string, address = ada.email.toUpperCase()) =>
        w.call('POST', '/v1/operator/bounces', { body: { address }, headers: { 'X-Svc-Operator-Secret': secret } });
      await bounce();
      expect((await lift('a guess at the secret of the operator')).status).toBe(404);
      expect(await reset()).toBe('dropped');
      expect([(await lift(OPERATOR_SECRET)).body, (await lift(OPERATOR_SECRET)).body]).toEqual([{ lifted: true }, { lifted: false }]);
      expect(await reset()).toBe('sent');
    });
  });

  it('tries again where the provider did not answer in time', async () => {
    await forgot();
    const network = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) =>
      String(input).endsWith('/emails') ? Promise.reject(new DOMException('too long', 'TimeoutError')) : network(input, init),
    );
    await w.post();
    vi.restoreAllMocks();
    expect(await letter()).toMatchObject({ status: 'waiting', attempt: 1, error: 'TimeoutError' });
    await w.due();
    await w.sweepAlone('mails');
    await w.post();
    expect(await letter()).toMatchObject({ status: 'sent', attempt: 2 });
  });

  it('ends with a deleted account: what waits is not sent, and no address or fact of it is kept', async () => {
    await w.call('POST', '/v1/account/email/verify', { body: { token: await letterToken(w, ada.userId, 'verify') } });
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

  it('shows a local machine every letter with links that work, and no other deployment', async () => {
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
    // What an account said goes with it, and the others are still shown.
    const { confirmed } = await local.purchase(await local.product(bob), await local.chain.wallet());
    await local.call('POST', `/v1/receipt/${confirmed.receipt_id}/send-proof`, { key: bob.key, body: { email: 'grace@example.com' } });
    await local.call('DELETE', '/v1/account/account', { key: bob.token });
    const left = await local.call('GET', '/dev/mail?format=json');
    expect([left.status, JSON.stringify(left.body).includes('grace@example.com')]).toEqual([200, false]);
    for (const other of [w, new World()]) expect((await other.call('GET', '/dev/mail')).status).toBe(404);
  });

  it('never keeps letters in public: beside a node of another machine a deployment of local mail does not start', async () => {
    const env = { ...w.env, MAIL_PROVIDER: 'local', RPC_URL: 'https://api.devnet.solana.com' } as typeof w.env;
    const { status, body } = await w.call('GET', '/dev/mail', { env });
    expect([status, body.code]).toEqual([503, 'misconfigured']);
  });
});
