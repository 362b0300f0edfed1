import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE } from '#core/time.ts';
import { dueWorkOf, type SweepName } from '#features/operator/due-work.store.ts';
import { retentionMsOf } from '#features/retention/retention.ts';
import { newCtx, type Shard } from '#platform/context.ts';
import { listDueSweeps, readDueWork } from '#platform/db/due/due-work.ts';
import { SWEEPS } from '../../../worker/sweeps.ts';
import { CHANNEL_KEYS } from '../../support/chain/live-channel.ts';
import { putRow } from '../../support/fixtures/put-row.ts';
import { COLLECTING_KEYS } from '../../support/models/subscription-life.ts';
import { emit } from '../../support/people/consumer.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

/** Wall time of a row, far from both ends of time. */
const AT = Date.UTC(2026, 5, 10, 12);

interface Kind {
  table: string;
  values: Record<string, unknown>;
  /** True if the sweep leaves what falls due later, so that its first instant is the probe's. */
  isExact?: false;
  also?: [table: string, values: Record<string, unknown>][];
}

const kind = (table: string, values: Record<string, unknown>, more: Partial<Kind> = {}): Kind => ({ table, values, ...more });
const live = { livemode: 1 };
const test = { livemode: 0, merchant_id: 'm', customer_ref: null };
const due = { next_check_at: AT };
/** Every transaction on the chain was read. */
const scanned: Kind['also'] = [['cursors', { name: `service-reference ${testEnv.SERVICE_REFERENCE}`, passed_at: AT * 2 }]];
const address = 'So11111111111111111111111111111111111111112';
const ofChain = {
  plan_address: address,
  subscription_address: address,
  subscriber_wallet: address,
  mint: address,
  puller: address,
  recipient_wallet: address,
  recipient_ata: address,
};
const ERASING = {
  ...{ ...test, customer_ref: 'erasing', status: 'erasing', metadata: '{}', company: null, wallets: '[]', emails: '[]', totals: '{}' },
  erasure: JSON.stringify({ step: 0, after: null, requestedAt: 0, changedAt: 0, sealedAt: null, actSeq: 0, emails: [] }),
};
const ofPayment: Kind['also'] = [['payments', { ...test, id: 'p', status: 'CONFIRMED', expires_at: AT * 2 }]];

const KINDS: Partial<Record<SweepName, Kind[]>> = {
  memberships: [
    kind('memberships', { ...live, status: 'active', paid_through: AT, grace_until: AT * 2 }),
    kind('memberships', { ...live, status: 'grace', paid_through: AT, grace_until: AT }),
  ],
  setups: [
    kind(
      'setup_intents',
      { status: 'created', account_id: 'a', expires_at: AT },
      {
        also: [
          ['accounts', { id: 'a', plan: 'free', status: 'active' }],
          ['persons', { id: 'a' }],
        ],
      },
    ),
  ],
  plans: [kind('accounts', { plan: 'scale', plan_through: AT, status: 'active' })],
  customers: [kind('billing_customers', { erasing_since: AT, subscription_status: 'none' })],
  cardPlans: [kind('billing_customers', { next_read_at: AT, subscription_status: 'active' })],
  erasures: [kind('accounts', { plan: 'free', status: 'deleted', deleted_at: AT }, { isExact: false })],
  erasedCustomers: [kind('customers', { ...ERASING, erase_at: AT })],
  loginNonces: [kind('login_nonces', { expires_at: AT })],
  pendingTotp: [kind('totp_secrets', { expires_at: AT })],
  usedSignInStates: [kind('used_sign_in_states', { expires_at: AT })],
  handoffs: [kind('handoffs', { expires_at: AT })],
  identities: [kind('identity_sessions', { expires_at: AT })],
  paymentSessions: [kind('payment_sessions', { expires_at: AT })],
  endedMeteredSessions: [kind('metered_sessions', { ...live, status: 'closed', ended_at: AT })],
  endedAuthorizations: [kind('subscription_authorizations', { ...live, status: 'expired', ended_at: AT })],
  failedSettlements: [kind('settlements', { ...live, status: 'failed', created_at: AT })],
  refunds: [kind('refunds', { ...live, expires_at: AT, lapsed_at: 1 }, { also: scanned })],
  sandboxTransactions: [kind('sandbox_transactions', { session_id: '', created_at: AT })],
  sandboxAccounts: [kind('sandbox_accounts', { session_id: '', needed_at: AT, data: '' })],
  processorEvents: [kind('processor_events', { received_at: AT })],
  endpointHours: [kind('endpoint_hours', { ...live, hour: AT })],
  endedSetups: [kind('setup_intents', { status: 'expired', expires_at: AT })],
  endedSessions: [kind('payments', { ...live, status: 'FAILED', expires_at: AT })],
  fanOut: [
    kind('acts', { ...live, created_at: AT, seq: AT * 64 }),
    kind('acts', { ...live, created_at: 1, next_try_at: AT, seq: AT * 64 }),
  ],
  deliveries: ['pending', 'retrying'].map((status) =>
    kind(
      'webhook_deliveries',
      { ...live, status, next_attempt_at: AT, endpoint_id: 'e' },
      { also: [['webhook_endpoints', { id: 'e', status: 'enabled' }]] },
    ),
  ),
  listings: [kind('listings', { next_probe_at: AT })],
  mails: [
    kind('mails', { status: 'waiting', next_attempt_at: AT, template: 'verify_email' }),
    kind('mails', { status: 'waiting', next_attempt_at: 1, queued_until: AT, template: 'verify_email' }),
  ],
  placements: ['telegram', 'discord'].map((provider) => kind('placements', { ...live, provider, status: 'pending', next_attempt_at: AT })),
  duePlans: [
    kind('accounts', { plan: 'scale', plan_through: AT + 60 * DAY, status: 'active' }),
    ...[0, 1].map((cancels_at_period_end) =>
      kind(
        'billing_customers',
        {
          account_id: 'a',
          subscription_status: 'active',
          subscription_plan: 'scale',
          current_period_end: AT + 60 * DAY,
          cancels_at_period_end,
        },
        { also: [['accounts', { id: 'a', plan: 'free', status: 'active' }]] },
      ),
    ),
  ],
  communityCodes: [kind('communities', { expires_at: AT })],
  endedMails: [kind('mails', { status: 'sent', ended_at: AT })],
  parked: [
    kind(
      'parked_messages',
      { reason: 'unknown_kind', kind: 'fanOut', parked_at: AT, body: '{"kind":"fanOut","actIds":[]}' },
      { isExact: false },
    ),
    kind('parked_messages', { reason: 'failed', parked_at: AT }),
  ],
  candidates: [kind('payment_candidates', { ...live, origin: 'found', ...due, created_at: AT })],
  sentCandidates: [kind('payment_candidates', { ...live, origin: 'sent', ...due, created_at: AT })],
  namedCandidates: [kind('payment_candidates', { ...live, origin: 'named', ...due, created_at: AT })],
  expired: ['PENDING_SIGNATURE', 'PENDING_CONFIRMATION'].map((status) =>
    kind('payments', { ...live, status, expires_at: AT, late_grace_seconds: 0 }, { also: scanned }),
  ),
  finality: [kind('tx_claims', { ...live, kind: 'facilitator', ...due }), kind('unmatched_payments', { ...live, status: 'open', ...due })],
  closingChannels: [
    kind('metered_sessions', { ...live, status: 'closing', ...due }),
    kind('metered_sessions', { ...live, status: 'open', voucher_ends_at: AT + 2 * MINUTE, cumulative: '2', settled: '1', ...due }),
  ],
  activeChannels: [kind('metered_sessions', { ...live, status: 'open', ...due })],
  channelOpenings: [kind('metered_sessions', { ...live, status: 'created', channel_id: 'c', ...due })],
  endedChannels: [kind('metered_sessions', { ...live, status: 'closed', ended_at: AT, ...due })],
  unopenedSessions: [kind('metered_sessions', { ...live, status: 'created', ...due })],
  collections: [kind('subscription_authorizations', { ...live, status: 'active', collect_at: AT, next_attempt_at: AT })],
  subscriptionCheckouts: [kind('subscription_authorizations', { ...live, ...ofChain, status: 'pending', ...due })],
  subscriptions: ['active', 'past_due', 'requires_reapproval', 'cancel_requested', 'cancelled'].map((status) =>
    kind('subscription_authorizations', { ...live, ...ofChain, status, ...due }),
  ),
  settlements: ['pending', 'failed'].map((status) => kind('settlements', { ...live, status, ...due })),
  analytics: [kind('ended_deliveries', { ...live, quarter: AT, has_succeeded: 1, answer_class: 0, count: 1 }, { isExact: false })],
  auditChain: [
    kind(
      'audit_entries',
      { merchant_id: '01890000-0000-7000-8000-000000000001', seq: 1, at: AT, subject_id: 'a', details: '{}', hash: null, prev_hash: null },
      { isExact: false },
    ),
  ],
  domains: [kind('seller_domains', { status: 'pending', ...due, domain: 'shop.invalid' })],
  tickets: [kind('support_tickets', { ...live, status: 'resolved', updated_at: AT })],
  sandboxes: [
    kind('sandbox_sessions', { status: 'running', moved_at: AT }),
    ...['PENDING_SIGNATURE', 'PENDING_CONFIRMATION'].map((status) => kind('payments', { ...test, status, expires_at: AT })),
    kind('memberships', { ...test, status: 'active', paid_through: AT }),
    kind('memberships', { ...test, status: 'grace', grace_until: AT }),
    kind('subscription_authorizations', { ...test, status: 'active', collect_at: AT }),
    kind('subscription_authorizations', { ...test, status: 'pending', ...due }),
    kind('acts', { livemode: 0, created_at: AT, seq: AT * 64 }),
    kind('acts', { livemode: 0, created_at: 1, next_try_at: AT, seq: AT * 64 }),
    kind('placements', { ...test, provider: 'telegram', status: 'pending', next_attempt_at: AT }),
    ...['pending', 'failed'].map((status) => kind('settlements', { ...test, status, ...due })),
    ...['found', 'sent', 'named'].map((origin) =>
      kind('payment_candidates', { livemode: 0, payment_id: 'p', origin, ...due }, { also: ofPayment! }),
    ),
    kind('metered_sessions', { ...test, status: 'open', ...due }),
    kind('tx_claims', { livemode: 0, kind: 'checkout', subject_id: 'p', ...due }, { also: ofPayment! }),
    kind(
      'tx_claims',
      { livemode: 0, kind: 'refund', subject_id: 'f', ...due },
      { also: [...ofPayment!, ['refunds', { livemode: 0, merchant_id: 'm', id: 'f', payment_id: 'p', expires_at: AT * 2 }]] },
    ),
    kind('unmatched_payments', { livemode: 0, payment_id: 'p', status: 'open', ...due }, { also: ofPayment! }),
  ],
  endedSandboxes: [kind('sandbox_sessions', { status: 'completed', ended_at: AT })],
};

/** Sweeps that follow a schedule, a chain or events. Each has a case of its own below. */
const OTHERS: SweepName[] = [
  'endedDeliveries',
  'entitlements',
  'idempotency',
  'names',
  'peppers',
  'seals',
  'feePayer',
  'audit',
  'archive',
  ...(['reference', 'reference2', 'reference3', 'reference4'] as const),
];

describe('due work', () => {
  const w = new World({
    SUBSCRIPTION_KEYS: COLLECTING_KEYS,
    CHANNEL_KEYS,
    MAIL_PROVIDER: 'local',
    MAIL_FROM: 'svc <post@svc.example>',
  });
  const ctxAt = (at: number): Shard => ({ ...newCtx(w.env, { requestId: 'req_due', wallNow: at, now: at, defer: () => {} }) });
  const run = (name: string, at: number) => SWEEPS.find((sweep) => sweep.name === name)!.run(ctxAt(at));
  const readDue = async (name: SweepName) => {
    const ctx = ctxAt(AT);
    return (await readDueWork(ctx, { [name]: dueWorkOf(ctx)[name] })).get(name) ?? null;
  };
  const clear = async (tables: string[]) => {
    for (const table of tables) await w.env.DB.prepare(`DELETE FROM ${table}`).run();
  };
  const touched = new Set<string>();
  const put = async (table: string, values: Record<string, unknown>) => {
    touched.add(table);
    await putRow(w.env.DB, table, values);
  };
  const isListed = async (name: SweepName, ctx: Shard) => {
    const { askedEveryMs: _, ...work } = dueWorkOf(ctx)[name] as { askedEveryMs?: number; work: string[] };
    return (await listDueSweeps(ctx, { [name]: work })).includes(name);
  };
  /** Sweeps create events and emails. */
  afterEach(() => clear([...touched, 'acts', 'mails', 'ended_deliveries']));

  it('each sweep has a probe and a case', () => {
    const names = SWEEPS.map(({ name }) => name).sort();
    expect(Object.keys(dueWorkOf(ctxAt(AT))).sort()).toEqual(names);
    expect([...Object.keys(KINDS), ...OTHERS].sort()).toEqual(names);
  });

  const cases = Object.entries(KINDS).flatMap(([name, kinds]) =>
    kinds.map((one) => ({ name: name as SweepName, what: `${one.table} ${JSON.stringify(one.values)}`, one })),
  );
  it.each(cases)('$name takes what its probe finds and nothing before: $what', async ({ name, one }) => {
    expect(await readDue(name)).toBeNull();
    for (const [table, values] of one.also ?? []) await put(table, values);
    expect(await readDue(name)).toBeNull();
    await put(one.table, one.values);
    const dueAt = await readDue(name);
    expect(dueAt).not.toBeNull();
    expect(await isListed(name, ctxAt(dueAt!))).toBe(true);
    if (one.isExact !== false) expect((await run(name, dueAt! - 1)).taken, 'before it is due').toBe(0);
    expect((await run(name, dueAt!)).taken).toBeGreaterThan(0);
  });

  it('listings are no work without the keys of x402, because nothing can be probed', () => {
    expect(dueWorkOf(newCtx({ ...w.env, CHALLENGE_KEYS: '' }, { requestId: 'req_keyless', defer: () => {} })).listings.work).toEqual([]);
  });

  it.each(['idempotency', 'seals'] as const)('%s runs by its schedule', async (name) => {
    await put('sweeps', { name, due_at: AT });
    expect([await isListed(name, ctxAt(AT - 1)), await isListed(name, ctxAt(AT))]).toEqual([false, true]);
  });

  it('ended deliveries are taken from the oldest event on, at the end of their time', async () => {
    await put('webhook_deliveries', { ...live, status: 'succeeded', event_id: 'evt_0', completed_at: AT });
    const endsAt = AT + retentionMsOf('deliveries');
    expect([await isListed('endedDeliveries', ctxAt(endsAt - 1)), await isListed('endedDeliveries', ctxAt(endsAt))]).toEqual([false, true]);
    expect([(await run('endedDeliveries', endsAt - 1)).taken, (await run('endedDeliveries', endsAt)).taken]).toEqual([0, 1]);
  });

  it('idempotency takes expired records', async () => {
    await put('claims', { scope: 's', key: 'k', expires_at: AT });
    expect([(await run('idempotency', AT - 1)).taken, (await run('idempotency', AT)).taken]).toEqual([0, 1]);
  });

  it('peppers and entitlements run by their schedule only with two peppers and on an advanced clock', async () => {
    for (const name of ['peppers', 'entitlements'] as const) await put('sweeps', { name, due_at: AT });
    const isAsked = async (name: SweepName, ctx: Shard) => [await isListed(name, { ...ctx, wallNow: AT - 1 }), await isListed(name, ctx)];
    const [ctx, PEPPER] = [ctxAt(AT), w.env.PEPPER as string];
    expect(await isAsked('peppers', { ...ctx, config: { ...ctx.config, PEPPER: PEPPER.split(',')[0]! } })).toEqual([false, false]);
    const both = { ...ctx.config, PEPPER: `${'a'.repeat(64)},${'b'.repeat(64)}` };
    expect(await isAsked('peppers', { ...ctx, config: both })).toEqual([false, true]);
    expect(await isListed('entitlements', ctx)).toBe(false);
    expect(await isAsked('entitlements', { ...ctx, now: AT + HOUR })).toEqual([false, true]);
  });
});

describe('due work of payments and events', () => {
  const w = new World({ FEE_PAYER_KEYS: CHANNEL_KEYS });
  const ctxAt = (at: number): Shard => newCtx(w.env, { requestId: 'req_due', wallNow: at, now: at, defer: () => {} });
  const run = (name: string, at = Date.now()) => SWEEPS.find((sweep) => sweep.name === name)!.run(ctxAt(at));
  const readDue = async (name: SweepName) =>
    (await readDueWork(ctxAt(Date.now()), { [name]: dueWorkOf(ctxAt(Date.now()))[name] })).get(name);
  const count = (table: string) => w.env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n');
  let product: { product_id: string; slug: string };
  beforeAll(async () => {
    product = await w.product(await w.merchant());
  });

  it('reference is due while a checkout is open, and finds its payment', async () => {
    expect(await readDue('reference')).toBeNull();
    const payment = await w.connect(product);
    expect(await readDue('reference')).toBeLessThanOrEqual(Date.now());
    await w.chain.pay(await w.chain.wallet(), payment);
    expect((await run('reference')).taken).toBeGreaterThan(0);
    expect(await count('payment_candidates')).toBe(1);
  });

  it('candidates forgets judged signatures', async () => {
    await w.sweepAlone('candidates');
    await putRow(w.env.DB, 'payment_candidates', { payment_id: '', origin: 'judged', livemode: 1, next_check_at: AT, created_at: AT });
    expect(await readDue('candidates')).toBe(AT);
    const before = (await count('payment_candidates'))!;
    await run('candidates', AT - 1);
    expect(await count('payment_candidates')).toBe(before);
    await run('candidates', AT);
    expect(await count('payment_candidates')).toBe(before - 1);
  });

  it('feePayer, analytics and audit are due after a payment, and take it', async () => {
    await w.purchase(product, await w.chain.wallet());
    await w.env.DB.prepare('UPDATE tx_claims SET final_at = confirmed_at, next_check_at = NULL').run();
    for (const name of ['feePayer', 'analytics', 'audit'] as const) expect(await readDue(name), name).toBeLessThanOrEqual(Date.now());
    await run('feePayer');
    expect(await count('fee_payer_readings')).toBeGreaterThan(0);
    for (const name of ['analytics', 'audit']) expect((await run(name)).taken, name).toBeGreaterThan(0);
    expect(await readDue('analytics')).toBeNull();
    // Copies that are under way are compared again later.
    expect((await readDue('audit')) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(Date.now());
  });

  it('archive is due for a full day, a day with few events and a draft', async () => {
    await w.env.DB.prepare('DELETE FROM acts').run();
    const merchant = await w.merchant();
    const emitAt = async (events: number) => {
      await emit(w, merchant, events);
      await w.env.DB.prepare('UPDATE acts SET fanned_out_at = 1, created_at = ?').bind(AT).run();
    };
    const archivedAt = async (dueAt: number) => [(await run('archive', dueAt - 1)).taken, (await run('archive', dueAt)).taken];
    await emitAt(100);
    expect(await archivedAt((await readDue('archive'))!)).toEqual([0, 1]);
    await emitAt(1);
    const first = (await readDue('archive'))!;
    expect((await run('archive', first)).taken).toBe(0);
    const second = (await readDue('archive'))!;
    expect(second).toBeGreaterThan(first);
    expect(await archivedAt(second)).toEqual([0, 1]);
    await putRow(w.env.DB, 'archive_drafts', { key: 'k', begun_at: AT });
    const dueAt = (await readDue('archive'))!;
    await run('archive', dueAt);
    expect(await count('archive_drafts')).toBe(1);
    await run('archive', dueAt + 1);
    expect(await count('archive_drafts')).toBe(0);
  });
});
