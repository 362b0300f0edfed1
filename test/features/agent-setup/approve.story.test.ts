import { describe, expect, it } from 'vitest';
import { goodManifest, Setup } from '../../support/people/bootstrap.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const w = new World();

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;
const actions = (body: Body): string[] => body.next_actions.map(({ action }: { action: string }) => action);

describe('POST /v1/access/agent-bootstrap/{id}/approve', () => {
  it('approval needs a manifest without errors', async () => {
    const setup = await Setup.create(w);
    const early = await setup.call('approve');
    expect([early.status, early.body.code, early.body.meta]).toEqual([
      409,
      'state_conflict',
      { state: 'created', transition: 'approve', next: `POST /v1/access/agent-bootstrap/${setup.id}/manifest` },
    ]);
    await setup.call('manifest', await goodManifest(w, { payout: undefined }));
    const refused = await setup.approveLive();
    expect([refused.status, refused.body.meta.state]).toEqual([409, 'changes_required']);
  });

  it('approval without a live key can be repeated and freezes the manifest', async () => {
    const setup = await Setup.create(w);
    await setup.call('manifest', await goodManifest(w));
    const { status, body } = await setup.call('approve');
    expect([status, body.status, body.live_key_active, body.live_api_key]).toEqual([200, 'approved', false, undefined]);
    expect(actions(body)).toContain('activate_plan');
    expect((await setup.call('approve', { issue_live_key: false })).body).toEqual(body);
    const late = await setup.call('manifest', await goodManifest(w));
    expect([late.status, late.body.code, late.body.meta.state]).toEqual([409, 'state_conflict', 'approved']);
  });

  it('a live key without a plan is refused with 409 and the calls that buy one', async () => {
    const setup = await Setup.create(w);
    await setup.call('manifest', await goodManifest(w));
    const { status, body } = await setup.approveLive();
    expect([status, body.code, body.meta.reason]).toEqual([409, 'setup_not_ready', 'plan_active']);
    expect(body.meta.next).toEqual(['starter', 'growth', 'scale'].map((plan) => `POST /v1/access/x402/activate/${plan}`));
    expect((await setup.row()).status).toBe('ready');
  });

  it('an expired plan counts as none', async () => {
    const setup = await (await Setup.create(w)).ready();
    await testEnv.DB.prepare('UPDATE accounts SET plan_through = ? WHERE id = ?')
      .bind(Date.now() - 1000, setup.created.account_id)
      .run();
    expect((await setup.approveLive()).body.code).toBe('setup_not_ready');
    expect((await setup.call('status')).body.active_plan).toBe('free');
  });

  it('a live key needs live_mode_confirmed', async () => {
    const setup = await (await Setup.create(w)).ready();
    const { status, body } = await setup.call('approve', { issue_live_key: true });
    expect([status, body.code, body.detail[0].loc, body.detail[0].type]).toEqual([
      422,
      'validation_error',
      ['body', 'live_mode_confirmed'],
      'not_confirmed',
    ]);
  });

  it('a live key is issued and shown once, and the next actions lead to the first sale', async () => {
    const setup = await (await Setup.create(w)).ready();
    const { status, body, headers } = await setup.approveLive();
    expect([status, body.status, body.live_key_active, headers.get('Cache-Control')]).toEqual([200, 'approved', true, 'no-store']);
    expect(body.live_api_key).toMatch(/^svc_live_[0-9A-Za-z]{38}$/);
    const me = await w.call('GET', '/v1/account/me', { key: body.live_api_key });
    expect([me.status, me.body.user_id, me.body.key_id, me.body.sandbox]).toEqual([200, body.account_id, body.live_key_id, false]);
    const again = await setup.approveLive();
    expect([again.status, again.body.code]).toEqual([409, 'state_conflict']);
    expect(again.body.meta).toMatchObject({ reason: 'live_key_active', live_key_id: body.live_key_id });
    const { live_api_key: _key, ...rest } = body;
    expect((await setup.call('status')).body).toEqual(rest);
    expect(await setup.liveKeys()).toEqual([body.live_key_id]);

    expect((await w.call('GET', '/v1/products', { key: body.live_api_key })).body.total).toBe(0);
    expect(actions(body)).toEqual(['set_payout', 'create_product', 'create_webhook', 'check_readiness']);
    for (const { method, path, body: suggested, headers: shown } of body.next_actions) {
      const idempotency: Record<string, string> = shown['Idempotency-Key'] ? { 'Idempotency-Key': crypto.randomUUID() } : {};
      const done = await w.call(method, path, { key: body.live_api_key, body: suggested, headers: idempotency });
      expect(done.status, `${method} ${path}: ${JSON.stringify(done.body)}`).toBeLessThan(300);
    }
  });

  it('the live key has exactly the permissions that the manifest requested', async () => {
    const setup = await (await Setup.create(w)).ready('starter', { requested_permissions: ['read'], resources: [] });
    const { body } = await setup.approveLive();
    const write = await w.call('POST', '/v1/products', {
      key: body.live_api_key,
      body: { name: 'x', price: { asset: 'USDC', amount: '1' } },
    });
    expect([write.status, write.body.meta.reason]).toEqual([403, 'permission']);
    expect((await w.call('GET', '/v1/products', { key: body.live_api_key })).status).toBe(200);
  });

  it('replace_live_key_id issues a new key, and the old one is refused on the next request', async () => {
    const setup = await (await Setup.create(w)).ready();
    const first = (await setup.approveLive()).body;
    const wrong = await setup.approveLive({ replace_live_key_id: setup.created.sandbox_key_id });
    expect([wrong.status, wrong.body.meta.live_key_id]).toEqual([409, first.live_key_id]);
    expect((await w.call('GET', '/v1/products', { key: first.live_api_key })).status).toBe(200);
    const second = (await setup.approveLive({ replace_live_key_id: first.live_key_id })).body;
    expect(second.live_key_id).not.toBe(first.live_key_id);
    const [old, fresh] = await Promise.all([first, second].map(({ live_api_key: key }) => w.call('GET', '/v1/products', { key })));
    expect([old!.status, fresh!.status]).toEqual([401, 200]);
    expect(await setup.liveKeys()).toEqual([second.live_key_id]);
    const stale = await setup.approveLive({ replace_live_key_id: first.live_key_id });
    expect([stale.status, stale.body.meta.live_key_id]).toEqual([409, second.live_key_id]);
  });

  it('replace_live_key_id without a new key revokes the named key, also repeatedly, and no other key', async () => {
    const setup = await (await Setup.create(w)).ready();
    const first = (await setup.approveLive()).body;
    const wrong = await setup.call('approve', { replace_live_key_id: setup.created.sandbox_key_id });
    expect([wrong.status, wrong.body.meta]).toMatchObject([409, { reason: 'live_key_active', live_key_id: first.live_key_id }]);
    for (const _ of [1, 2]) {
      const revoked = await setup.call('approve', { replace_live_key_id: first.live_key_id });
      expect([revoked.status, revoked.body.live_key_active, revoked.body.live_api_key]).toEqual([200, false, undefined]);
      expect(actions(revoked.body)[0]).toBe('issue_live_key');
      expect((await w.call('GET', '/v1/products', { key: first.live_api_key })).status).toBe(401);
      expect(await setup.liveKeys()).toEqual([]);
    }
    const unknown = await setup.call('approve', { replace_live_key_id: setup.created.sandbox_key_id });
    expect([unknown.status, unknown.body.meta.reason]).toEqual([409, 'live_key_unknown']);
    // A leaked key can be revoked without a plan, but not replaced.
    const second = (await setup.approveLive()).body;
    await setup.hold('free');
    expect((await setup.approveLive({ replace_live_key_id: second.live_key_id })).body.code).toBe('setup_not_ready');
    expect((await setup.call('approve', { replace_live_key_id: second.live_key_id })).body.live_key_active).toBe(false);
  });

  it('a live key needs a manifest that passed the live rules, and the refusal names that call', async () => {
    const bare = { manifest_version: '1', name: 'x' };
    const [open, closed] = [await Setup.create(w), await Setup.create(w)];
    for (const setup of [open, closed]) {
      expect((await setup.call('manifest', bare)).body.status).toBe('ready');
      await setup.hold('starter');
      const { body } = await setup.call('status');
      expect([actions(body), body.next_actions[0].body.live_requested]).toEqual([['request_live', 'try_sandbox'], true]);
    }
    expect((await closed.call('approve')).status).toBe(200);
    for (const setup of [open, closed]) {
      const { status, body } = await setup.approveLive();
      expect([status, body.code, body.meta.reason]).toEqual([409, 'state_conflict', 'live_not_requested']);
      expect([body.meta.next, body.meta.body]).toMatchObject([
        `POST /v1/access/agent-bootstrap/${setup.id}/manifest`,
        { ...bare, live_requested: true },
      ]);
      expect(await setup.liveKeys()).toEqual([]);
    }
    // The suggested manifest fails the live rules. An approval stays in force until a manifest passes them.
    const [sentBack, refused] = [
      await open.call('manifest', { ...bare, live_requested: true }),
      await closed.call('manifest', { ...bare, live_requested: true }),
    ];
    expect([sentBack.body.status, refused.status, refused.body.meta.reason]).toEqual(['changes_required', 409, 'live_rules']);
    for (const findings of [sentBack.body.evaluation.findings, refused.body.meta.findings])
      expect(findings.map(({ code }: Body) => code)).toEqual(
        expect.arrayContaining(['live_needs_contact', 'live_needs_payout', 'live_needs_products']),
      );
    expect((await closed.call('status')).body.manifest.live_requested).toBe(false);
    for (const setup of [open, closed]) {
      const mended = await setup.call('manifest', await goodManifest(w));
      expect([mended.status, mended.body.status]).toEqual([200, setup === open ? 'ready' : 'approved']);
      expect((await setup.approveLive()).body.live_key_active).toBe(true);
      expect((await setup.call('manifest', await goodManifest(w))).status).toBe(409);
    }
  });

  it('a new live key is issued after the first was revoked elsewhere', async () => {
    const setup = await (await Setup.create(w)).ready();
    const first = (await setup.approveLive()).body;
    await testEnv.DB.prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ?').bind(Date.now(), first.live_key_id).run();
    expect((await setup.call('status')).body.live_key_active).toBe(false);
    const second = await setup.approveLive();
    expect([second.status, await setup.liveKeys()]).toEqual([200, [second.body.live_key_id]]);
  });

  it('a suspended account gets 403 account_suspended', async () => {
    const setup = await (await Setup.create(w)).ready();
    await testEnv.DB.prepare("UPDATE accounts SET status = 'suspended' WHERE id = ?").bind(setup.created.account_id).run();
    const answers = [await setup.approveLive(), await setup.call('manifest', await goodManifest(w))];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(2).fill([403, 'account_suspended']));
    expect((await setup.call('status')).status).toBe(200);
  });
});

describe('expired setup', () => {
  it('an expired setup reports so at once, refuses every step, and the sweep revokes its key and endpoints', async () => {
    const w2 = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
    const setup = await Setup.create(w2);
    const key = setup.created.sandbox_api_key;
    const endpoint = await w2.call('POST', '/v1/webhooks/endpoints', { key, body: { url: 'https://hooks.example.com/x' } });
    expect(endpoint.status).toBe(201);
    await setup.runOut(30);
    const status = await setup.call('status');
    expect([status.status, status.body.status, actions(status.body)]).toEqual([200, 'expired', ['start_again']]);
    for (const answer of [await setup.call('manifest', await goodManifest(w2)), await setup.approveLive()]) {
      expect([answer.status, answer.body.code]).toEqual([409, 'state_conflict']);
      expect(answer.body.meta).toEqual({ state: 'expired', next: 'POST /v1/access/agent-bootstrap' });
    }
    // The sweep waits, because a payment may be in the middle of its claim.
    await w2.sweepAlone('setups');
    expect((await w2.call('GET', '/v1/products', { key })).status).toBe(200);
    await setup.runOut();
    await w2.sweepAlone('setups');
    expect((await w2.call('GET', '/v1/products', { key })).status).toBe(401);
    expect((await setup.row()).status).toBe('expired');
    const row = await testEnv.DB.prepare('SELECT status, disabled_reason FROM webhook_endpoints WHERE id = ?')
      .bind(endpoint.body.endpoint_id)
      .first();
    expect(row).toEqual({ status: 'disabled', disabled_reason: 'setup_expired' });
    expect((await setup.call('status')).body.status).toBe('expired');
    expect((await setup.call('approve')).body.meta.state).toBe('expired');
  });

  it('a setup with an active plan or a pending plan payment does not expire', async () => {
    const [paid, paying] = [await Setup.create(w), await Setup.create(w)];
    await paid.hold('starter');
    await testEnv.DB.prepare(
      `INSERT INTO settlements (payment_id, merchant_id, livemode, purpose, setup_intent_id, tx_signature, wire, asset, mint, amount,
        fee_payer, payer_wallet, recipient_wallet, recipient_ata, nonce, terms, last_valid_block_height, status, next_check_at, created_at)
        VALUES (?1, ?2, 1, 'activation', ?3, hex(?1), '', 'USDC', 'm', '19000000', 'f', 'p', 'r', 'a', 'n', '{"plan":"starter"}', 1, 'pending', ?4, 0)`,
    )
      .bind(crypto.randomUUID(), paying.created.account_id, paying.id, Date.now() + 3_600_000)
      .run();
    await Promise.all([paid.runOut(), paying.runOut()]);
    await w.sweepAlone('setups');
    const [lifted, waiting] = [await paid.call('status'), await paying.call('status')];
    expect([lifted.body.status, lifted.body.expires_at]).toEqual(['created', undefined]);
    expect([(await paying.row()).status, waiting.body.status, actions(waiting.body)]).toEqual([
      'created',
      'created',
      ['submit_manifest', 'await_payment', 'try_sandbox'],
    ]);
    expect(waiting.body.pending_payments).toMatchObject([{ plan: 'starter', amount: { amount: '19' } }]);
    expect((await paying.call('manifest', await goodManifest(w))).status).toBe(200);
    for (const { created } of [paid, paying])
      expect((await w.call('GET', '/v1/products', { key: created.sandbox_api_key })).status).toBe(200);
  });
});
