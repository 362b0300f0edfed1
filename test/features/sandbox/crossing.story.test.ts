import { beforeAll, describe, expect, it } from 'vitest';
import { SWEEPS } from '../../../worker/sweeps.ts';
import { sources } from '../../contract/sources.ts';
import { callTesting, runScenario } from '../../support/clients/sandbox.ts';
import { type Row, tablesOf } from '../../support/fixtures/database-dump.ts';
import { newAgent, newKey, sellToAgents } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Whose rows each sweep of the cron takes; one that is not named here fails this file. */
const TAKES: Record<string, 'live' | 'sandbox' | 'both' | 'none'> = {
  // By a clock: live rows by everybody's, and those of the sandbox by their own sweeps.
  memberships: 'live',
  fanOut: 'live',
  reference: 'live',
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
  standingChannels: 'live',
  channelOpenings: 'live',
  endedChannels: 'live',
  unopenedSessions: 'live',
  // A sandbox writes no letter that is due.
  mails: 'live',
  placements: 'live',
  sandboxes: 'sandbox',
  endedSandboxes: 'sandbox',
  sandboxTransactions: 'sandbox',
  sandboxAccounts: 'sandbox',
  // Of wall time in both modes: attempts at real speed, what is kept for a while, and what is only looked over.
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
  receiptChains: 'both',
  audit: 'both',
  // Nothing of a merchant's trade.
  loginNonces: 'none',
  communityCodes: 'none',
  setups: 'none',
  plans: 'none',
  cardPlans: 'none',
  duePlans: 'none',
  domains: 'none',
  erasures: 'none',
  peppers: 'none',
  seals: 'none',
  parked: 'none',
  feePayer: 'none',
  customers: 'none',
  processorEvents: 'none',
  usedSignInStates: 'none',
  tickets: 'none',
};

/** Columns by which something falls due. */
const DUE = ['expires_at', 'paid_through', 'grace_until', 'next_check_at', 'next_look_at', 'collect_at', 'next_try_at'];
const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
/** A comparison of such a column with a moment, as statements spell it. */
const DUE_STATEMENT = new RegExp(
  `(?:lte?|lt|between)\\([^)]*\\b(?:${DUE.map(camel).join('|')}|EVENT_DUE_AT)\\b|\\b(?:${DUE.join('|')})\\s*(?:<=?|BETWEEN)`,
);
/** `isStanding`: of the finality of each kind of claim, which says it itself. */
const SAYS_MODE = /inReach\(|InReach\(|livemode|isDue\(|isStanding\(ctx\)/;

/** Statements over due columns of both modes, and why that is right. */
const OF_BOTH_MODES: Record<string, string> = {
  'worker/features/accounts/store.ts takeDueDomains': 'a domain is of an account, which is of both modes',
  'worker/features/agent-setup/store.ts listExpiringSetups': 'a setup is of an account, which is of both modes',
  'worker/features/payments/refunds/store.ts isOld': 'what was never sent is forgotten in both modes',
  'worker/features/payments/watch/ended-sessions.store.ts isOver': 'what ended unpaid becomes a stub in both modes',
  'worker/features/retention/store.ts forgetCodes': 'a code is of an account, which is of both modes',
  'worker/features/retention/store.ts forgetNonces': 'a nonce is of no merchant',
  'worker/features/retention/store.ts forgetUsedStates': 'a sign-in is of no mode',
  'worker/features/retention/store.ts forgetHandoffs': 'kept for a day in both modes',
  'worker/features/retention/store.ts forgetIdentities': 'kept for a day in both modes',
  'worker/features/retention/store.ts forgetPaymentSessions': 'kept for thirty days in both modes',
  'worker/features/retention/store.ts listEndedSetups': 'a setup is of an account, which is of both modes',
};

describe('between live mode, the sandbox and each of its sessions', () => {
  const w = new World();
  let ada: Merchant;
  let bob: Merchant;
  let first: string;
  let second: string;

  const write = (path: string, body: object, key: string) =>
    w.call('POST', `/v1/access/${path}`, { key, body, headers: { 'Idempotency-Key': newKey() } });

  /** One of everything that falls due: a membership, a session nobody pays, late money, and a payment of an agent. */
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
    // The underpaid one leaves a session that is still open, with money that pays nothing; the other a membership.
    first = (await runScenario(w, ada, 'payment_underpaid')).session_id;
    second = (await runScenario(w, ada, 'payment_confirmed')).session_id;
    for (let i = 0; i < 3; i++) await w.deliver();
    w.queue.sent.length = 0;
  });

  const read = async (table: string): Promise<Row[]> => (await testEnv.DB.prepare(`SELECT * FROM ${table}`).all<Row>()).results;
  const withMode = async (): Promise<string[]> => {
    const named = await tablesOf(testEnv.DB);
    const has = async (table: string) =>
      (await testEnv.DB.prepare(`SELECT count(*) AS n FROM pragma_table_info('${table}') WHERE name = 'livemode'`).first<number>('n')) ===
      1;
    const flags = await Promise.all(named.map(has));
    return named.filter((_, i) => flags[i]);
  };
  /** Every row of one mode, by table; `isSession`: those of one session, or all but those. */
  async function rowsOf(livemode: 0 | 1, isTheirs: (row: string) => boolean = () => true): Promise<Record<string, string[]>> {
    const tables = await withMode();
    const rows = await Promise.all(tables.map(read));
    const mine = (all: Row[]) => all.filter((row) => row.livemode === livemode).map((row) => JSON.stringify(row));
    return Object.fromEntries(tables.map((table, i) => [table, mine(rows[i]!).filter(isTheirs).sort()]));
  }
  /** So that every sweep finds everything due. */
  async function makeDue(): Promise<void> {
    for (const table of await withMode()) {
      const columns = (await testEnv.DB.prepare(`SELECT name FROM pragma_table_info('${table}')`).all<{ name: string }>()).results;
      for (const { name } of columns.filter((column) => DUE.includes(column.name)))
        await testEnv.DB.prepare(`UPDATE ${table} SET ${name} = ${Date.now() - 3_600_000} WHERE ${name} IS NOT NULL`).run();
    }
    await testEnv.DB.prepare('UPDATE events SET fanned_out_at = NULL, created_at = created_at - 3600000').run();
  }

  it('each sweep of the cron is known to take rows of live mode, of the sandbox, of both or of none', () => {
    expect(SWEEPS.map(({ name }) => name).sort()).toEqual(Object.keys(TAKES).sort());
  });

  it('each statement that takes what is due says of which mode, or is one of those for both', () => {
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

  it.each(Object.keys(TAKES).filter((name) => TAKES[name] === 'live'))(
    'no row of the sandbox is taken by the live sweep %s',
    async (name) => {
      await makeDue();
      const before = await rowsOf(0);
      await w.sweepAlone(name);
      expect(await rowsOf(0)).toEqual(before);
    },
  );

  it('no row of live mode, of another merchant or of a session is taken by the sweep of a merchant’s sandbox', async () => {
    await makeDue();
    const isOfSession = (row: string) => row.includes(first) || row.includes(second);
    const isForeign = (row: string) => isOfSession(row) || row.includes(bob.userId);
    const read = async () => [await rowsOf(1), await rowsOf(0, isForeign)];
    const before = await read();
    const own = await rowsOf(0, (row) => row.includes(ada.userId) && !isOfSession(row));
    await w.deliver([{ kind: 'sweepSandbox', merchantId: ada.userId }]);
    expect(await read()).toEqual(before);
    const after = await rowsOf(0, (row) => row.includes(ada.userId) && !isOfSession(row));
    // It is no sweep that does nothing: of its own it has ended the membership and the unpaid payment.
    for (const table of ['memberships', 'payments', 'events']) expect(after[table], table).not.toEqual(own[table]);
  });

  it('a session’s clock moves no row but its own', async () => {
    await makeDue();
    const isOthers = (row: string) => !row.includes(first);
    const read = async () => [await rowsOf(1), await rowsOf(0, isOthers)];
    const before = await read();
    await callTesting(w, ada, 'POST', `sessions/${first}/advance`, { seconds: 40 * 86_400 });
    // Its own messages alone: what the others have in the queue is another test's.
    const mine = () => w.queue.sent.splice(0).flatMap(({ job }) => (job.kind === 'runSandboxSession' ? [job] : []));
    for (let jobs = mine(), i = 0; jobs.length > 0 && i < 60; jobs = mine(), i++) await w.deliver(jobs);
    expect((await callTesting(w, ada, 'GET', `sessions/${first}`)).body.status).toBe('completed');
    const [live, others] = await read();
    expect(live).toEqual(before[0]);
    // Its events and its receipt name its payment alone, so they are found by it.
    const ids = (await testEnv.DB.prepare('SELECT id FROM payments WHERE customer_ref = ?').bind(`${first}:buyer`).all<{ id: string }>())
      .results;
    const isIts = (row: string) => ids.some(({ id }) => row.includes(id)) || row.includes('"sandbox_sessions"');
    const foreign = (rows: Record<string, string[]>) =>
      Object.fromEntries(Object.entries(rows).map(([table, all]) => [table, all.filter((row) => !isIts(row))]));
    expect(foreign(others!)).toEqual(foreign(before[1]!));
  });
});
