import { applyD1Migrations } from 'cloudflare:test';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verifyReceipt } from '#features/receipts/document.ts';
import { type Row, restoreDatabase, rowsOf } from '../../world/database-dump.ts';
import { testEnv } from '../../world/env.ts';
import { countLedger, openLedger } from '../../world/fixtures/ledger.ts';
import packed from '../../world/fixtures/ledger-7839a4d.br?url&inline';
import manifest from '../../world/fixtures/ledger-7839a4d.json';
import type { KeptRequest } from '../../world/fixtures/story.ts';
import { type MerchantView, viewMerchant } from '../../world/merchant-view.ts';
import { RecordedNode } from '../../world/recorded-node.ts';
import { type Answer, World } from '../../world/world.ts';

/**
 * A database that the service made at an earlier commit, migrated by whatever migrations came since. The suite lives at the moment
 * at which it was recorded, beside a node that says what the chain said then.
 */
// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

const ledger = openLedger(packed);
const w = new World({ RPC_URL: RecordedNode.url, ALLOW_INSECURE_WEBHOOKS: 'true' });
const unreachable = { ...w.env, RPC_URL: 'http://127.0.0.1:1/' };
const MINUTE = 60_000;
const realNow = Date.now.bind(Date);
let aheadMs = ledger.madeAt - realNow();
beforeAll(async () => {
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs);
  new RecordedNode(ledger.node).listen();
  await restoreDatabase(testEnv.DB, ledger.dump);
  await applyD1Migrations(testEnv.DB, testEnv.TEST_MIGRATIONS);
});
afterAll(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Columns whose values a migration wrote anew, with the reason. A column that is gone need not be named. */
const REWRITTEN: Record<string, string[]> = {
  // `payment` and `settlement` became the kinds of thing a transaction pays.
  tx_claims: ['kind'],
};

const now = async (table: string): Promise<Row[]> => (await testEnv.DB.prepare(`SELECT * FROM ${table} ORDER BY rowid`).all<Row>()).results;
const keysOf = (name: string) => ledger.people[name]!;
const keyOf = (seat: string): string => {
  const [name, mode] = seat.split(':') as [string, 'live' | 'sandbox'];
  return mode === 'live' ? keysOf(name).key : keysOf(name).sandboxKey;
};
const count = async (from: string): Promise<number> => (await testEnv.DB.prepare(`SELECT count(*) AS n FROM ${from}`).first<number>('n'))!;
const views = async (): Promise<Record<string, MerchantView>> =>
  Object.fromEntries(await Promise.all(Object.keys(ledger.views).map(async (seat) => [seat, await viewMerchant(w, keyOf(seat))] as const)));

const paymentsThen = rowsOf(ledger.dump, 'payments') as (Row & { id: string; tx_signature: string })[];
const idsOf = (rows: { id: string }[]) => new Set(rows.map(({ id }) => id));
/** Payments whose transactions the chain dropped, as it was known then; and those it had dropped while the service was not certain yet. */
const DROPPED = idsOf(paymentsThen.filter(({ orphaned_at }) => orphaned_at !== null));
const isOpenFate = (row: Row) => row.status === 'CONFIRMED' && row.finalized_at === null && row.orphaned_at === null;
const VANISHED = idsOf(paymentsThen.filter((row) => isOpenFate(row) && !ledger.node.statuses[row.tx_signature]));
const FINAL = idsOf(
  paymentsThen.filter((row) => isOpenFate(row) && ledger.node.statuses[row.tx_signature]?.confirmationStatus === 'finalized'),
);

/** What is said of an object beyond its facts: hints that follow the clock, what the node says of accounts, what this suite's own calls leave. */
const PASSING = new Set(['poll_after_ms', 'last_used_at', 'usage_summary', 'recent_activity', 'ata_exists']);
/** The facts of an answer, to be found in a later one: a field that was null may be absent there. */
function factsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(factsOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (inner === null || PASSING.has(name) ? [] : [[name, factsOf(inner)]])),
  );
}

/** A request of then, sent once more: as long as its answer was to be kept. */
const isStillKept = ({ idempotencyKey }: KeptRequest) =>
  rowsOf(ledger.dump, 'claims').some(({ key, expires_at }) => key === idempotencyKey && (expires_at as number) > ledger.madeAt + MINUTE);
const repeat = ({ seat, method, path, body, idempotencyKey }: KeptRequest): Promise<Answer<unknown>> =>
  w.call(method, path, { key: keyOf(seat), body, headers: { 'Idempotency-Key': idempotencyKey }, isOfEarlierRelease: true });

/** Every receipt by the rule that judges them, and some of them as a stranger asks for them. */
async function expectReceiptsGenuine(dropped: Set<string>): Promise<void> {
  for (const [index, row] of (await now('receipts')).entries()) {
    const { id, document, sha256, signature, key_id: keyId, tx_signature: txSignature } = row as Record<string, string>;
    const isOrphaned = dropped.has(row.payment_id as string);
    const verdict = verifyReceipt(
      { id, document, sha256, signature, keyId, txSignature, isOrphaned } as Genuine,
      w.env.RECEIPT_KEYS as string,
    );
    expect(verdict).toMatchObject({ valid: !isOrphaned, sha256, sha256Matches: true, signatureValid: true });
    if (index % 20 !== 0 && !isOrphaned) continue;
    const { body } = await w.call('GET', `/v1/receipt/${id}/verify`);
    expect([id, body.valid, body.reason, body.sha256]).toEqual([id, !isOrphaned, isOrphaned ? 'transaction_orphaned' : undefined, sha256]);
    const shown = await w.call('GET', `/v1/receipt/${id}/public`);
    expect([shown.body.document, shown.body.signature]).toEqual([JSON.parse(document!), signature]);
  }
}
type Genuine = Parameters<typeof verifyReceipt>[0];

describe('a database of an earlier release, migrated', () => {
  it('is the one its manifest speaks of: a thousand payments in every state there was', () => {
    expect({ commit: manifest.commit, madeAt: new Date(ledger.madeAt).toISOString(), ...countLedger(ledger.dump) }).toEqual(manifest);
    expect(manifest.rows.payments).toBe(1000);
  });

  it.each(Object.keys(ledger.dump.tables).filter((table) => table !== 'd1_migrations'))('has lost nothing of %s', async (table) => {
    const before = rowsOf(ledger.dump, table);
    const after = await now(table);
    const common = Object.keys(ledger.dump.tables[table]!).filter((name) => after[0] === undefined || name in after[0]);
    const compared = common.filter((name) => !REWRITTEN[table]?.includes(name));
    expect(compared.length).toBeGreaterThan(0);
    const textOf = (row: Row) => JSON.stringify(compared.map((name) => row[name]));
    const found = new Set(after.map(textOf));
    expect(after.length).toBeGreaterThanOrEqual(before.length);
    expect(
      before
        .map(textOf)
        .filter((row) => !found.has(row))
        .slice(0, 5),
    ).toEqual([]);
  });

  it('shows every merchant what it showed before', async () => {
    for (const [seat, view] of Object.entries(await views())) {
      for (const [list, recorded] of Object.entries(ledger.views[seat]!)) {
        const shown = view[list as keyof MerchantView] as unknown[];
        // A rail that came since is one setting more.
        const isOfThen = (one: unknown) => (recorded as Row[]).some(({ rail_id }) => rail_id === (one as Row).rail_id);
        const same = list === 'railSettings' ? shown.filter(isOfThen) : shown;
        expect([seat, list, same]).toMatchObject([seat, list, factsOf(recorded)]);
      }
    }
  });

  it('verifies every receipt, byte for byte, and none of those whose transaction the chain dropped', () => expectReceiptsGenuine(DROPPED));

  it('gives kept answers again to the last byte, to requests of then', async () => {
    const kept = ledger.kept.filter(isStillKept);
    expect(new Set(kept.map(({ path }) => path)).size).toBe(5);
    for (const one of kept) {
      const { status, body, headers } = await repeat(one);
      const isReplayed = headers.get('Idempotent-Replayed');
      expect([one.path, status, JSON.stringify(body), isReplayed]).toEqual([one.path, one.status, one.text, 'true']);
    }
  });

  it('lets in every credential that was good, and no other', async () => {
    const login = ({ email }: { email: string }) =>
      w.call('POST', '/v1/auth/login', { body: { email, password: 'correct horse battery' } });
    const { status, body } = await login(keysOf('ada'));
    expect([status, body.user_id, body.tier]).toEqual([200, keysOf('ada').userId, 'scale']);
    expect((await login(keysOf('fay'))).body.code).toBe('account_suspended');
    expect((await login(keysOf('eve'))).status).toBeGreaterThanOrEqual(401);
    expect((await w.call('GET', '/v1/products', { key: keysOf('eve').key })).status).toBe(401);
    expect((await w.call('GET', '/v1/products', { key: keysOf('fay').key })).body.code).toBe('account_suspended');
  });
});

describe('the sweeps over it', () => {
  const minutes = async (count: number, env = w.env) => {
    for (let i = 0; i < count; i++) {
      aheadMs += MINUTE + 1000;
      // Every tenth minute has its housekeeping; the last one of a test is one.
      await (i === count - 1 ? w.sweepAll(env) : w.sweep(env));
      await w.deliver(undefined, env);
    }
  };
  const paymentsOf = (of: Record<string, MerchantView>): Body[] => Object.values(of).flatMap(({ payments }) => payments);
  const membershipsOf = (of: Record<string, MerchantView>): Body[] => Object.values(of).flatMap(({ memberships }) => memberships);
  /** What a terminal payment says, but for what the chain makes of it afterwards. */
  const settledFacts = ({ finalized_at, orphaned_at, updated_at, version, poll_after_ms, unmatched, ...facts }: Body) => facts;
  /** Sessions that nobody paid, over for a month: little is kept of them, and none of their events. */
  const endedSessions = async () => new Set((await now('ended_sessions')).map(({ id }) => id));
  let before: Record<string, MerchantView>;
  beforeAll(async () => {
    before = await views();
  });

  it('that reach no node move nothing that only the chain can decide', async () => {
    await minutes(3, unreachable);
    const after = await views();
    const over = await endedSessions();
    const isWhole = ({ payment_id }: Body) => !over.has(payment_id);
    expect(paymentsOf(after).map(({ poll_after_ms, ...facts }) => facts)).toEqual(
      paymentsOf(before)
        .filter(isWhole)
        .map(({ poll_after_ms, ...facts }) => facts),
    );
    expect(over.size).toBeGreaterThan(0);
    for (const [seat, { payments }] of Object.entries(before))
      for (const { poll_after_ms, ...payment } of payments.filter((one: Body) => !isWhole(one))) {
        expect([payment.failure_code, Date.parse(payment.expires_at) < Date.now() - 30 * 24 * 60 * MINUTE]).toEqual([
          'session_expired',
          true,
        ]);
        const { body } = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: keyOf(seat) });
        expect(body).toMatchObject(payment);
      }
    const seats = Object.entries(after).map(([seat, { account }]) => [seat, account.tier, account.status]);
    expect(seats).toEqual(Object.entries(before).map(([seat, { account }]) => [seat, account.tier, account.status]));
    expect(await count("settlements WHERE status = 'pending'")).toBe(
      rowsOf(ledger.dump, 'settlements').filter(({ status }) => status === 'pending').length,
    );
  });

  it('that hear what the chain says move what was open, as it says, and nothing that had its end', async () => {
    await minutes(5);
    const then = new Map(paymentsOf(before).map((payment) => [payment.payment_id, payment]));
    for (const payment of paymentsOf(await views())) {
      const known = then.get(payment.payment_id);
      const isOpen = !known || known.status.startsWith('PENDING');
      if (isOpen) continue;
      then.delete(payment.payment_id);
      expect(settledFacts(payment)).toEqual(settledFacts(known));
      expect(payment.unmatched ?? []).toEqual(expect.arrayContaining(known.unmatched ?? []));
      const isFinal = known.finalized_at !== undefined || FINAL.has(payment.payment_id);
      const isDropped = DROPPED.has(payment.payment_id) || VANISHED.has(payment.payment_id);
      expect([payment.payment_id, payment.finalized_at !== undefined, payment.orphaned_at !== undefined]).toEqual([
        payment.payment_id,
        isFinal,
        isDropped,
      ]);
    }
    const over = await endedSessions();
    expect([...then.values()].filter(({ payment_id, status }) => !status.startsWith('PENDING') && !over.has(payment_id))).toEqual([]);
  });

  it('confirm what was paid and not seen, and give up no session whose money is there', async () => {
    const paidFor = new Set(
      rowsOf(ledger.dump, 'payment_candidates').flatMap(({ payment_id, tx_signature }) =>
        ledger.node.transactions[tx_signature as string] ? [payment_id] : [],
      ),
    );
    expect(paidFor.size).toBeGreaterThan(0);
    const open = new Set(paymentsThen.filter(({ status }) => String(status).startsWith('PENDING')).map(({ id }) => id));
    for (const { payment_id, status, failure_code, expires_at } of paymentsOf(await views())) {
      if (!open.has(payment_id)) continue;
      if (paidFor.has(payment_id)) expect([payment_id, status]).toEqual([payment_id, 'CONFIRMED']);
      else if (status === 'FAILED')
        expect([failure_code, Date.parse(expires_at) + 3 * MINUTE < Date.now()]).toEqual([
          expect.stringMatching(/session_expired|underpaid/),
          true,
        ]);
      else expect(status).toMatch(/^PENDING/);
    }
    const landed = rowsOf(ledger.dump, 'settlements').filter(
      ({ status, tx_signature }) => status === 'pending' && ledger.node.transactions[tx_signature as string],
    );
    expect(landed.length).toBe(5);
    expect(
      await count(`settlements WHERE status = 'settled' AND payment_id IN (${landed.map(({ payment_id }) => `'${payment_id}'`).join()})`),
    ).toBe(5);
  });

  it('shorten no access but that of payments the chain dropped, and no plan', async () => {
    const touched = new Set(
      paymentsOf(await views())
        .filter(({ payment_id, confirmed_at }) => VANISHED.has(payment_id) || Date.parse(confirmed_at) > ledger.madeAt)
        .map(({ membership_id }) => membership_id),
    );
    const after = new Map(membershipsOf(await views()).map((membership) => [membership.membership_id, membership]));
    for (const membership of membershipsOf(before)) {
      const { paid_through, status } = after.get(membership.membership_id);
      if (touched.has(membership.membership_id)) continue;
      const isOver = membership.paid_through !== null && Date.parse(membership.paid_through) < Date.now();
      expect([membership.membership_id, paid_through]).toEqual([membership.membership_id, membership.paid_through]);
      if (!isOver) expect([membership.membership_id, status]).toEqual([membership.membership_id, membership.status]);
    }
    const plans = await now('accounts');
    for (const { id, plan, plan_through } of rowsOf(ledger.dump, 'accounts')) {
      const held = plans.find((row) => row.id === id)!;
      if (plan !== 'free' && (plan_through === null || (plan_through as number) > Date.now()))
        expect([held.plan, held.plan_through]).toEqual([plan, plan_through]);
    }
  });

  it('leave receipts genuine and in one chain, claims and records where they were, and every event told', async () => {
    await expectReceiptsGenuine(new Set([...DROPPED, ...VANISHED]));
    expect(await count('receipts WHERE link_seq IS NULL')).toBe(0);
    const chains = await testEnv.DB.prepare(
      'SELECT max(link_seq) AS last, count(*) AS receipts FROM receipts GROUP BY merchant_id, livemode',
    ).all<Row>();
    for (const { last, receipts } of chains.results) expect(last).toBe(receipts);
    const bytesOf = (rows: Row[]) =>
      rows.map(({ id, document, sha256, signature, key_id }) => [id, document, sha256, signature, key_id].join()).sort();
    const stored = new Set(bytesOf(await now('receipts')));
    expect(bytesOf(rowsOf(ledger.dump, 'receipts')).filter((bytes) => !stored.has(bytes))).toEqual([]);
    const claimed = new Map((await now('tx_claims')).map(({ tx_signature, subject_id }) => [tx_signature, subject_id]));
    for (const { tx_signature, subject_id } of rowsOf(ledger.dump, 'tx_claims')) expect(claimed.get(tx_signature!)).toBe(subject_id);
    const told = new Map((await now('events')).map(({ id, data }) => [id, data]));
    const over = await endedSessions();
    for (const { id, data, payment_id } of rowsOf(ledger.dump, 'events')) if (!over.has(payment_id!)) expect(told.get(id!)).toBe(data);
    expect(await count('events WHERE fanned_out_at IS NULL')).toBe(0);
    const ended = rowsOf(ledger.dump, 'claims').filter(({ expires_at }) => (expires_at as number) <= ledger.madeAt);
    expect(ended.length).toBeGreaterThan(0);
    expect(await count(`claims WHERE expires_at <= ${ledger.madeAt}`)).toBe(0);
    for (const one of ledger.kept.filter(isStillKept)) expect((await repeat(one)).headers.get('Idempotent-Replayed')).toBe('true');
  });
});
