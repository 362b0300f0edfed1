import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import type { PaymentId } from '#core/ids.ts';
import { entitlementKeyOfPaid } from '#features/entitlements/credit-payments.ts';
import { projectEntitlement, readEntitlement } from '#features/entitlements/entitlement.ts';
import { claimKeyOf } from '#platform/db/outcome.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { isLedBy, prepareOnEvents } from '../../support/fixtures/acts.ts';
import { bytesPerCopy, legibleActs, legibleRows, type Row } from '../../support/fixtures/full-size-data.ts';
import { archiveAll, ctxAt, fillBooks } from '../../support/fixtures/old-books.ts';
import { World } from '../../support/world.ts';

/** Limits of bytes per payment, stated in the README. */
// A membership of a wallet is in four indexes.
const BYTES_MAX = { fresh: 5_600, old: 500, customer: 900 };
const COPIES = 3000;

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
/** Stored form of an address. */
const bytesOf = (address: string) => Array.from(base58.decode(address)!) as unknown as string;
const readRows = (table: string, where: string, ...values: string[]) => legibleRows(w.env.DB, table, where, ...values);
/** Projects what the payment bought from the object to the database, with its event. */
async function projectPurchase(paymentId: string): Promise<void> {
  const ctx = ctxAt(w.env, 0);
  const [payment] = await w.db
    .select()
    .from(payments)
    .where(eq(payments.id, paymentId as PaymentId));
  const identity = entitlementKeyOfPaid(payment!);
  const snapshot = (await readEntitlement(ctx, identity, identity.entitlementId))!;
  await projectEntitlement(ctx, { snapshot, events: [{ type: 'entitlement.granted', snapshot }] });
  await w.deliver();
}
const sum = (bytes: Record<string, number>): number => Object.values(bytes).reduce((total, one) => total + one, 0);

describe(`database size of a confirmed checkout among ${COPIES} others`, () => {
  let fresh: Record<string, Row[]>;
  let old: Record<string, Row[]>;
  let customer: Record<string, Row[]>;
  let object: Record<string, Row[]>;
  let names: string[];
  /** Number of payments that fill an archive object of 500 events. */
  let perObject: number;

  beforeAll(async () => {
    const { merchant, sales } = await fillBooks(w, 2);
    const [{ paymentId, membershipId, receiptId, signature }] = sales as [(typeof sales)[number]];
    await projectPurchase(paymentId);
    const read = async () => ({
      payments: await readRows('payments', 'id = ?', paymentId),
      tx_claims: await readRows('tx_claims', 'tx_key = ?', claimKeyOf(signature)),
      receipts: await readRows('receipts', 'id = ?', receiptId),
    });
    const bought = await w.db
      .select()
      .from(payments)
      .where(eq(payments.id, paymentId as PaymentId));
    const wallet = bought[0]!.payerWallet!;
    const entitlements = await readRows('entitlements', 'wallet_address = ?', bytesOf(wallet));
    const [entitlementId, walletBytes] = [entitlements[0]!.id as string, entitlements[0]!.wallet_address as string];
    customer = { memberships: await readRows('memberships', 'id = ?', membershipId), entitlements };
    const acts = await legibleActs(w.env.DB, `payment_id = ? OR ${isLedBy(paymentId)} OR ${isLedBy(entitlementId)}`, paymentId);
    const opened = acts.map(({ events }) => JSON.parse(events as string) as { type: string }[]);
    const confirmed = opened.findIndex((events) => events.some(({ type }) => type === 'payment.confirmed'));
    const finalized = opened[confirmed]!.filter(({ type }) => type === 'payment.confirmed');
    acts.push({ ...acts[confirmed]!, id: `evt_${'0'.repeat(25)}`, types: '2', events: JSON.stringify(finalized) });
    perObject = 500 / (opened.flat().length + finalized.length);
    fresh = { ...(await read()), acts };
    await archiveAll(w);
    const { tx_claims, ...moved } = await read();
    expect(moved).toEqual({ payments: [], receipts: [] });
    old = {
      archived_sales: await readRows('archived_sales', 'payment_id = ?', paymentId),
      tx_claims,
    };
    expect(await prepareOnEvents(w.env.DB, 'SELECT count(*) AS n FROM events WHERE payment_id = ?').bind(paymentId).first('n')).toBe(0);
    const subjects = 'SELECT count(*) AS n FROM archived_subjects WHERE subject_id IN (?, ?)';
    expect(await w.env.DB.prepare(subjects).bind(paymentId, membershipId).first('n')).toBe(0);
    const archives = await readRows('archives', 'merchant_id = ?', merchant.userId);
    object = { archives, archived_types: await readRows('archived_types', 'merchant_id = ?', merchant.userId) };
    const { nonce, reference } = fresh.payments![0]!;
    const eventIds = [...acts, ...archives.map(({ first_event_id: id }) => ({ id }))].map(({ id }) => id as string);
    names = [
      ...new Set([
        ...[paymentId, membershipId, receiptId, entitlementId, signature, wallet, walletBytes],
        ...[
          claimKeyOf(signature),
          old.archived_sales![0]!.payer as string,
          nonce as string,
          old.archived_sales![0]!.nonce as string,
          reference as string,
          ...eventIds,
        ],
      ]),
    ];
  }, 60_000);

  it(`an archived checkout takes at most ${BYTES_MAX.old} bytes, and its customer at most ${BYTES_MAX.customer}`, async () => {
    const bytes = await bytesPerCopy(w.env.DB, { ...old, ...customer }, { names, times: COPIES });
    const ofObject = await bytesPerCopy(w.env.DB, object, { names, times: 500 });
    const { memberships = 0, entitlements = 0, ...tables } = bytes;
    const payment = { ...tables, archives: Math.ceil(sum(ofObject) / perObject) };
    const said = JSON.stringify({ ...bytes, ofObject });
    expect(sum(payment), said).toBeLessThanOrEqual(BYTES_MAX.old);
    expect(memberships + entitlements, said).toBeLessThanOrEqual(BYTES_MAX.customer);
  });

  it(`a checkout takes at most ${BYTES_MAX.fresh} bytes until it is archived`, async () => {
    const bytes = await bytesPerCopy(w.env.DB, { ...fresh, ...customer }, { names, times: COPIES });
    expect(sum(bytes), JSON.stringify(bytes)).toBeLessThanOrEqual(BYTES_MAX.fresh);
  });
});
