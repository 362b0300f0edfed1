import { beforeAll, describe, expect, it } from 'vitest';
import { SWEEPS } from '../../../worker/sweeps.ts';
import { sources } from '../../contract/sources.ts';
import { callTesting, runScenario } from '../../support/clients/sandbox.ts';
import { dumpTable, listTables, type Row } from '../../support/fixtures/database-dump.ts';
import { newAgent, newKey, sellToAgents } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Modes of the rows that each cron sweep takes. An unlisted sweep fails this file. */
const TAKES: Record<string, 'live' | 'sandbox' | 'both' | 'none'> = {
  // Live rows follow wall time, and sandbox rows their own sweeps.
  memberships: 'live',
  fanOut: 'live',
  reference: 'live',
  reference2: 'live',
  reference3: 'live',
  reference4: 'live',
  candidates: 'live',
  sentCandidates: 'live',
  namedCandidates: 'live',
  expired: 'live',
  finality: 'live',
  settlements: 'live',
  collections: 'live',
  subscriptionCheckouts: 'live',
  subscriptions: 'live',
  closingChannels: 'live',
  activeChannels: 'live',
  channelOpenings: 'live',
  endedChannels: 'live',
  unopenedSessions: 'live',
  // The sandbox sends no emails.
  mails: 'live',
  listings: 'live',
  placements: 'live',
  sandboxes: 'sandbox',
  endedSandboxes: 'sandbox',
  sandboxTransactions: 'sandbox',
  sandboxAccounts: 'sandbox',
  // Wall time in both modes: delivery attempts, retention and checks.
  deliveries: 'both',
  idempotency: 'both',
  handoffs: 'both',
  identities: 'both',
  paymentSessions: 'both',
  failedSettlements: 'both',
  endedDeliveries: 'both',
  endedMails: 'both',
  endedMeteredSessions: 'both',
  endedAuthorizations: 'both',
  endpointHours: 'both',
  archive: 'both',
  endedSessions: 'both',
  refunds: 'both',
  entitlements: 'both',
  analytics: 'both',
  endedSetups: 'both',
  audit: 'both',
  auditChain: 'both',
  loginNonces: 'none',
  names: 'none',
  communityCodes: 'none',
  setups: 'none',
  plans: 'none',
  cardPlans: 'none',
  duePlans: 'none',
  domains: 'none',
  erasures: 'none',
  erasedCustomers: 'none',
  peppers: 'none',
  seals: 'none',
  parked: 'none',
  feePayer: 'none',
  customers: 'none',
  processorEvents: 'none',
  usedSignInStates: 'none',
  pendingTotp: 'none',
  tickets: 'none',
};

const DUE = ['expires_at', 'paid_through', 'grace_until', 'next_check_at', 'collect_at', 'next_try_at'];
const camel = (name: string) => name.replace(/_(\w)/g, (_, initial: string) => initial.toUpperCase());
const DUE_STATEMENT = new RegExp(
  `(?:lte?|lt|between)\\([^)]*\\b(?:${DUE.map(camel).join('|')}|EVENT_DUE_AT)\\b|\\b(?:${DUE.join('|')})\\s*(?:<=?|BETWEEN)`,
);
/** Filters that include the mode. */
const SAYS_MODE = /clockFilter\w*\(|livemode|isDue\(/;

const OF_BOTH_MODES: Record<string, string> = {
  'worker/features/accounts/domain/store.ts takeDueDomains': 'a domain is of an account, which is of both modes',
  'worker/features/accounts/members/invitation.store.ts insertInvitation': 'an invitation is of an account, which is of both modes',
  'worker/features/agent-setup/store.ts listExpiringSetups': 'a setup is of an account, which is of both modes',
  'worker/features/payments/refunds/store.ts isOld': 'what was never sent is forgotten in both modes',
  'worker/features/payments/watch/ended-sessions.store.ts isReducible': 'what ended unpaid becomes a stub in both modes',
  'worker/features/retention/store.ts forgetCodes': 'a code is of an account, which is of both modes',
  'worker/features/retention/store.ts forgetNonces': 'a nonce is of no merchant',
  'worker/features/retention/store.ts forgetPendingTotp': 'a secret is of a person',
  'worker/features/retention/store.ts forgetUsedStates': 'a sign-in is of no mode',
  'worker/features/retention/store.ts forgetHandoffs': 'kept for a day in both modes',
  'worker/features/retention/store.ts forgetIdentities': 'kept for a day in both modes',
  'worker/features/retention/store.ts forgetPaymentSessions': 'kept for thirty days in both modes',
  'worker/features/retention/store.ts listEndedSetups': 'a setup is of an account, which is of both modes',
};

describe('separation of live mode, the sandbox and its sessions', () => {
  const w = new World();
  let ada: Merchant;
  let bob: Merchant;
  let first: string;
  let second: string;

  const write = (path: string, body: object, key: string) =>
    w.call('POST', `/v1/access/${path}`, { key, body, headers: { 'Idempotency-Key': newKey() } });

  async function trade(merchant: Merchant): Promise<void> {
    const live = await sellToAgents(w, merchant, { access_period_days: 30, usage_units: 5 });
    await w.purchase(live, await w.chain.wallet(), { customer_ref: 'live-buyer' });
    await w.connect(live);
    const named = { product_id: live.product_id, customer: { customer_ref: 'live-agent' } };
    const denied = await write('entitlements/consume', named, merchant.key);
    const payment_signature = await (await newAgent(w)).pay(denied.headers.get('PAYMENT-REQUIRED')!);
    await write('x402/settle', { ...named, payment_signature, consume_units: 1 }, merchant.key);
    const test = await w.product({ ...merchant, key: merchant.sandboxKey }, { access_period_days: 30 });
    const payment = await w.connect(test, { customer_ref: 'test-buyer' });
    const paid = await callTesting(w, merchant, 'POST', 'pay', { payment_id: payment.payment_id });
    await w.confirm(payment.payment_id, paid.body.tx_signature);
    const unpaid = await w.connect(test);
    const short = await callTesting(w, merchant, 'POST', 'pay', { payment_id: unpaid.payment_id, outcome: 'underpaid' });
    await w.confirm(unpaid.payment_id, short.body.tx_signature);
    await w.connect(test);
  }

  beforeAll(async () => {
    [ada, bob] = await Promise.all([w.merchant(), w.merchant()]);
    await trade(ada);
    await trade(bob);
    // The first scenario leaves an open session with an underpayment, the second a membership.
    first = (await runScenario(w, ada, 'payment_underpaid')).session_id;
    second = (await runScenario(w, ada, 'payment_confirmed')).session_id;
    for (let i = 0; i < 3; i++) await w.deliver();
    w.queue.sent.length = 0;
  });

  const read = (table: string): Promise<Row[]> => dumpTable(testEnv.DB, table);
  const withMode = async (): Promise<string[]> => {
    const named = await listTables(testEnv.DB);
    const has = async (table: string) =>
      (await testEnv.DB.prepare(`SELECT count(*) AS n FROM pragma_table_info('${table}') WHERE name = 'livemode'`).first<number>('n')) ===
      1;
    const flags = await Promise.all(named.map(has));
    return named.filter((_, i) => flags[i]);
  };
  /** Returns every row of one mode that `isTheirs` accepts, by table. */
  async function readRows(livemode: 0 | 1, isTheirs: (row: string) => boolean = () => true): Promise<Record<string, string[]>> {
    const tables = await withMode();
    const rows = await Promise.all(tables.map(read));
    const mine = (all: Row[]) => all.filter((row) => row.livemode === livemode).map((row) => JSON.stringify(row));
    return Object.fromEntries(tables.map((table, i) => [table, mine(rows[i]!).filter(isTheirs).sort()]));
  }
  async function makeDue(): Promise<void> {
    for (const table of await withMode()) {
      const columns = (await testEnv.DB.prepare(`SELECT name FROM pragma_table_info('${table}')`).all<{ name: string }>()).results;
      for (const { name } of columns.filter((column) => DUE.includes(column.name)))
        await testEnv.DB.prepare(`UPDATE ${table} SET ${name} = ${Date.now() - 3_600_000} WHERE ${name} IS NOT NULL`).run();
    }
    await testEnv.DB.prepare('UPDATE acts SET fanned_out_at = NULL, created_at = created_at - 3600000').run();
  }

  it('every cron sweep is classified by the modes of the rows that it takes', () => {
    expect(SWEEPS.map(({ name }) => name).sort()).toEqual(Object.keys(TAKES).sort());
  });

  it('every statement over due columns filters by mode or is listed as valid for both', () => {
    const open: string[] = [];
    for (const [path, text] of sources) {
      if (!path.endsWith('store.ts')) continue;
      for (const part of text.split(/\n(?=(?:export )?(?:async )?(?:const|function) )/)) {
        const name = /^(?:export )?(?:async )?(?:const|function) (\w+)/.exec(part)?.[1];
        if (name && DUE_STATEMENT.test(part) && !SAYS_MODE.test(part)) open.push(`${path} ${name}`);
      }
    }
    expect(open.sort()).toEqual(Object.keys(OF_BOTH_MODES).sort());
  });

  it.each(Object.keys(TAKES).filter((name) => TAKES[name] === 'live'))('the live sweep %s takes no sandbox row', async (name) => {
    await makeDue();
    const before = await readRows(0);
    await w.sweepAlone(name);
    expect(await readRows(0)).toEqual(before);
  });

  it('the sweep of a merchant’s sandbox takes no row of live mode, another merchant or a session', async () => {
    await makeDue();
    const isOfSession = (row: string) => row.includes(first) || row.includes(second);
    const isForeign = (row: string) => isOfSession(row) || row.includes(bob.userId);
    const read = async () => [await readRows(1), await readRows(0, isForeign)];
    const before = await read();
    const own = await readRows(0, (row) => row.includes(ada.userId) && !isOfSession(row));
    await w.deliver([{ kind: 'sweepSandbox', merchantId: ada.userId }]);
    expect(await read()).toEqual(before);
    const after = await readRows(0, (row) => row.includes(ada.userId) && !isOfSession(row));
    // The sweep is not idle: it has ended its membership and its unpaid payment.
    for (const table of ['memberships', 'payments', 'acts']) expect(after[table], table).not.toEqual(own[table]);
  });

  it('a session clock changes only rows of its session', async () => {
    await makeDue();
    const isOthers = (row: string) => !row.includes(first);
    const read = async () => [await readRows(1), await readRows(0, isOthers)];
    const before = await read();
    await callTesting(w, ada, 'POST', `sessions/${first}/advance`, { seconds: 40 * 86_400 });
    const mine = () => w.queue.sent.splice(0).flatMap(({ job }) => (job.kind === 'runSandboxSession' ? [job] : []));
    for (let jobs = mine(), i = 0; jobs.length > 0 && i < 60; jobs = mine(), i++) await w.deliver(jobs);
    expect((await callTesting(w, ada, 'GET', `sessions/${first}`)).body.status).toBe('completed');
    const [live, others] = await read();
    expect(live).toEqual(before[0]);
    // Events and receipts of the session name only its payment.
    const ids = (await testEnv.DB.prepare('SELECT id FROM payments WHERE customer_ref = ?').bind(`${first}:buyer`).all<{ id: string }>())
      .results;
    const isIts = (row: string) => ids.some(({ id }) => row.includes(id)) || row.includes('"sandbox_sessions"');
    const foreign = (rows: Record<string, string[]>) =>
      Object.fromEntries(Object.entries(rows).map(([table, all]) => [table, all.filter((row) => !isIts(row))]));
    expect(foreign(others!)).toEqual(foreign(before[1]!));
  });
});
