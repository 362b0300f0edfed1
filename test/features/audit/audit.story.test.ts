import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { entitlementIdOf } from '#core/ids.ts';
import { sweepAudit } from '#features/audit/audit.ts';
import { newCtx } from '#platform/context.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { FIRST_CHECK, letTimePass } from '../../support/faults/finality.ts';
import { openShop, type Shop, withObjectFaults } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const { DB } = testEnv;
const run = (sql: string, ...values: unknown[]) =>
  DB.prepare(sql)
    .bind(...values)
    .run();
const row = <T = Record<string, unknown>>(sql: string, ...values: unknown[]) =>
  DB.prepare(sql)
    .bind(...values)
    .first<T>();

const SECRET = 'an operator secret of a test, long enough';

describe('daily audit', () => {
  let w: World;
  let shop: Shop;
  let buyer: KeyPairSigner;
  let bought: { id: string; signature: string; entitlementId: string };
  let entitlements: { merchantId: string; id: string }[];
  beforeAll(async () => {
    // The fee is owed by one of these payments and paid by the others.
    w = new World({ OPERATOR_SECRET: SECRET, FEE_BPS: '250', FEE_WALLET: (await generateKeyPairSigner()).address });
    shop = await openShop(w);
    buyer = await w.chain.wallet();
    const { merchant } = shop;
    const product = await w.product(merchant, { access_period_days: 30, session_seconds: 3600 });
    const { payment, signature } = await w.purchase(product, buyer);
    const customerOf = (productId: string, walletAddress: string) => entitlementIdOf(merchant.userId, true, productId, { walletAddress });
    bought = { id: payment.payment_id, signature, entitlementId: customerOf(product.product_id, buyer.address) };
    // Further payments: overpaid and accepted, in SOL, and by an agent.
    const again = await w.chain.pay(buyer, payment, { units: 6_000_000n });
    expect((await w.confirm(payment.payment_id, again)).status).toBe(409);
    const accepted = await w.call('POST', `/v1/payments/${payment.payment_id}/accept-unmatched`, {
      key: merchant.key,
      body: { tx_signature: again },
    });
    expect(accepted.body).toMatchObject({ status: 'CONFIRMED', overpaid: { amount: '1' } });
    const inSol = await w.product(merchant, { price: { asset: 'SOL', amount: '0.1' } });
    const solBill = await w.connect(inSol);
    expect((await w.confirm(solBill.payment_id, await w.chain.paySol(buyer, solBill, { isSplit: true }))).status).toBe(200);
    expect((await shop.settle(await shop.pay())).status).toBe(200);
    entitlements = [
      bought.entitlementId,
      customerOf(inSol.product_id, buyer.address),
      customerOf(shop.product.product_id, shop.agent.wallet.address),
    ].map((id) => ({ merchantId: merchant.userId, id }));
    await letTimePass(w, FIRST_CHECK);
    await w.sweep();
    await w.deliver();
    await project();
    expect((await row<{ n: number }>('SELECT count(final_at) AS n FROM tx_claims'))!.n).toBe(4);
  }, 60_000);
  afterEach(() => w.chain.call('local_clearFaults'));

  const objectOf = ({ merchantId, id }: { merchantId: string; id: string }) => testEnv.ENTITLEMENT.getByName(`${merchantId}:live:${id}`);
  async function project() {
    for (const one of entitlements) {
      const snapshot = (await objectOf(one).read({ now: Date.now() }))!;
      await w.deliver([{ kind: 'projectEntitlement', projection: { snapshot, events: [] } }]);
    }
  }
  /** Runs the audit once and returns the lines it logs about differences. */
  async function runAudit(env = w.env) {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    try {
      const { taken } = await sweepAudit(newCtx(env, { requestId: 'req_audit', defer: () => {} }));
      const lines = log.mock.calls.map(([line]) => JSON.parse(String(line))).filter((line) => 'audit' in line);
      return { taken, lines };
    } finally {
      log.mockRestore();
    }
  }
  const figures = () => row<Record<string, number | null>>('SELECT checked, differing, unknown, finished_at, due_at FROM audits');
  /** Runs both passes of a day's audit, with `between` in the middle. */
  async function audit(between: () => Promise<unknown> = async () => {}, env = w.env) {
    await run('DELETE FROM audits');
    const first = await runAudit(env);
    await between();
    await run('UPDATE audits SET due_at = 1 WHERE due_at IS NOT NULL');
    const second = await runAudit(env);
    const counted = (await figures())!;
    expect(counted).toMatchObject({ due_at: null, finished_at: expect.any(Number) });
    return { lines: [...first.lines, ...second.lines], ...counted, figures: counted };
  }
  const metrics = async (): Promise<string[]> => {
    const headers = { 'X-Svc-Operator-Secret': SECRET };
    const { body } = await w.call<string>('GET', '/v1/operator/metrics', { headers });
    return body.split('\n').filter((line) => line.startsWith('svc_audit_rows{'));
  };

  it('the audit runs once a day and finds no difference in consistent data', async () => {
    expect(await audit()).toMatchObject({ lines: [], checked: 4 + 3, differing: 0, unknown: 0 });
    expect((await runAudit()).taken).toBe(0);
    expect(await metrics()).toContain('svc_audit_rows{figure="differing"} 0');
    await run("UPDATE audits SET day = '2026-01-01'");
    expect((await runAudit()).taken).toBe(7);
  });

  it.each([
    ['price', 'payments', 'id', "price_amount = '4000000'", 'chain_amount'],
    ['price, upwards', 'payments', 'id', "price_amount = '5000001'", 'chain_underpaid'],
    ['payer', 'payments', 'id', "payer_wallet = 'somebody'", 'chain_payer'],
    ['recipient', 'payments', 'id', "recipient_ata = 'somewhere'", 'chain_recipient_mismatch'],
    ['nonce', 'payments', 'id', "nonce = 'other'", 'chain_memo_mismatch'],
    ['status', 'payments', 'id', "status = 'FAILED'", 'payment_status'],
    ['signature', 'payments', 'id', "tx_signature = 'other'", 'payment_transaction'],
    ['row, which is gone,', 'payments', 'id', null, 'payment_missing'],
    ['receipt, which is gone,', 'receipts', 'payment_id', null, 'receipt_missing'],
    ['receipt’s amount', 'receipts', 'payment_id', `document = replace(document, '"5000000"', '"6000000"')`, 'receipt_sha256_mismatch'],
    ['receipt’s signature', 'receipts', 'payment_id', "signature = 'other'", 'receipt_signature_invalid'],
    ['receipt’s id', 'receipts', 'payment_id', "id = 'other'", 'receipt_missing'],
    ['receipt’s transaction', 'receipts', 'payment_id', "tx_signature = 'other'", 'receipt_of_another'],
  ])('a payment with a tampered %s is reported in one line of ids, and nothing changes', async (_what, table, key, change, code) => {
    const before = (await row(`SELECT * FROM ${table} WHERE ${key} = ?`, bought.id))!;
    await run(change ? `UPDATE ${table} SET ${change} WHERE ${key} = ?` : `DELETE FROM ${table} WHERE ${key} = ?`, bought.id);
    const books = () =>
      Promise.all(['payments', 'receipts', 'events', 'memberships'].map((name) => DB.prepare(`SELECT * FROM ${name}`).all()));
    const [stored] = [(await books()).map(({ results }) => results)];
    try {
      const { lines, figures: counted } = await audit();
      expect(lines).toEqual([expect.objectContaining({ request_id: 'req_audit', audit: 'payment', subject_id: bought.id, code })]);
      expect(Object.keys(lines[0]).filter((name) => !['request_id', 'audit', 'subject_id', 'code', 'account_id'].includes(name))).toEqual(
        [],
      );
      expect(counted.differing).toBe(1);
      expect((await books()).map(({ results }) => results)).toEqual(stored);
      expect(await metrics()).toContain('svc_audit_rows{figure="differing"} 1');
    } finally {
      const names = Object.keys(before);
      await run(`DELETE FROM ${table} WHERE ${key} = ?`, bought.id);
      await run(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()})`, ...Object.values(before));
    }
    expect(await audit()).toMatchObject({ lines: [], differing: 0 });
  });

  it('a payment that is proven absent from the finalized chain is reported', async () => {
    await w.chain.fault({ kind: 'vanish', signature: bought.signature });
    expect((await audit()).lines).toEqual([expect.objectContaining({ subject_id: bought.id, code: 'transaction_absent' })]);
    await w.chain.call('local_landAgain', bought.signature);
    expect((await audit()).lines).toEqual([]);
  });

  it.each([
    ['keeps no history', { kind: 'no_history', times: 0 }],
    ['is away', { kind: 'http_503', times: 0 }],
    ['refuses to show a transaction', { kind: 'rpc_error', method: 'getTransaction', times: 0, code: -32015, message: 'no' }],
  ])('a payment counts as unknown, not as differing, if the node %s', async (_what, fault) => {
    await w.chain.fault(fault);
    expect(await audit()).toMatchObject({ lines: [], differing: 0, unknown: 4, checked: 7 });
  });

  it('a lost copy of an entitlement is reported, a late one is not', async () => {
    expect((await shop.grant({ units: 5 })).status).toBe(200);
    expect((await audit(project)).lines).toEqual([]);
    await shop.grant({ units: 5 });
    const ofAgent = entitlements[2]!;
    const lost = expect.objectContaining({
      audit: 'entitlement',
      subject_id: ofAgent.id,
      account_id: ofAgent.merchantId,
      code: 'copy_behind',
    });
    expect(await audit()).toMatchObject({ lines: [lost], differing: 1, checked: 7 });
    await project();
    // The copy is behind again, but has the state that the first pass read.
    await shop.grant({ units: 5 });
    expect(
      (
        await audit(async () => {
          await project();
          await shop.grant({ units: 5 });
        })
      ).lines,
    ).toEqual([]);
    await project();
  });

  it.each([
    ['is gone', 'DELETE FROM entitlements WHERE id = ?', 'copy_missing'],
    ['is of no version its object had', 'UPDATE entitlements SET version = version + 7 WHERE id = ?', 'object_behind'],
    ['says something else', 'UPDATE entitlements SET used_units = used_units + 1 WHERE id = ?', 'copy_differs'],
  ])('a copy that %s is reported', async (_what, change, code) => {
    await run(change, bought.entitlementId);
    expect((await audit()).lines).toEqual([expect.objectContaining({ audit: 'entitlement', subject_id: bought.entitlementId, code })]);
    await run('DELETE FROM entitlements WHERE id = ?', bought.entitlementId);
    await project();
  });

  it('an entitlement object that does not answer counts as unknown', async () => {
    const { env } = withObjectFaults(w.env, { before: ({ verb }) => verb === 'read' });
    expect(await audit(undefined, env)).toMatchObject({ lines: [], differing: 0, unknown: 3, checked: 7 });
  });

  it('two concurrent sweeps run the audit once, and a crashed run is repeated', async () => {
    await run('DELETE FROM audits');
    const both = await Promise.all([runAudit(), runAudit()]);
    expect(both.map(({ taken }) => taken).sort()).toEqual([0, 7]);
    await run('DELETE FROM audits');
    await expect(runAudit(withFaults(w.env, { before: ({ number }) => number === 3 }).env)).rejects.toThrow();
    expect((await runAudit()).taken).toBe(0);
    await run('UPDATE audits SET due_at = due_at - 300001');
    expect((await runAudit()).taken).toBe(7);
    expect(await figures()).toMatchObject({ checked: 7, due_at: null });
  });
});
