import { beforeAll, describe, expect, it, vi } from 'vitest';
import { keyRing } from '#core/crypto.ts';
import { base58, base64url } from '#core/encoding.ts';
import { FEE_LAMPORTS_MAX } from '#protocols/x402/exact.ts';
import { priced } from '../../support/chain/priced.ts';
import {
  decoded,
  feePayerOf,
  mayServe,
  newAgent,
  openShop,
  type Shop,
  sellToAgents,
  stall,
  withConfig,
} from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

const X402 = 'x402_solana_usdc';

/** The balance is cached for a minute per key, so every test uses its own keys. */
const newPayer = (fill: number) => {
  const seed = base64url.encode(new Uint8Array(32).fill(fill));
  return { seed, address: base58.encode(keyRing(seed)[0]!.publicKey) };
};

describe('fee payer balance', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  const readStatus = async (env: World['env']) => {
    const { body } = await w.call('GET', '/v1/access/rails', { env });
    const { status, reason } = body.items.find(({ rail_id }: { rail_id: string }) => rail_id === X402);
    return [status, reason];
  };
  const sweepNotes = async (env: World['env']): Promise<string[]> => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    try {
      await w.sweepAlone('feePayer', env);
      return log.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('"sweep":"feePayer"'));
    } finally {
      log.mockRestore();
    }
  };

  it.each([
    ['empty', 21, 499_999, ['unavailable', 'fee_payer_empty']],
    ['low', 22, 500_000, ['degraded', 'fee_payer_low']],
    ['low to the last', 23, 49_999_999, ['degraded', 'fee_payer_low']],
    ['enough', 24, 50_000_000, ['available', undefined]],
  ] as const)('%s fee payer: rail status, challenges and operator notes follow the balance', async (kind, fill, lamports, expected) => {
    const { seed, address } = newPayer(fill);
    await w.chain.call('local_fundSol', address, String(lamports));
    const env = withConfig(w, { FEE_PAYER_KEYS: seed });
    expect(await readStatus(env)).toEqual(expected);
    const denied = await shop.consume({}, { env });
    const header = denied.headers.get('PAYMENT-REQUIRED');
    if (kind === 'empty') {
      expect([header, denied.body.meta.payment_required, denied.body.meta.missing]).toEqual([null, null, 'rail_unavailable']);
    } else {
      expect(decoded(header!).accepts[0].extra.feePayer).toBe(address);
      expect(mayServe(await shop.settle(await shop.agent.pay(header!), {}, { env }))).toBe(true);
    }
    const notes = await sweepNotes(env);
    expect(notes.length).toBe(kind === 'enough' ? 0 : 1);
    for (const note of notes) expect(note).toContain(address);
  });

  it('a payment is refused before the claim if the fee payer ran dry after the challenge, and valid after funding', async () => {
    const { seed, address } = newPayer(31);
    const env = withConfig(w, { FEE_PAYER_KEYS: seed });
    await w.chain.fault({ kind: 'http_503', method: 'getBalance', times: 1 });
    // An unknown balance does not refuse a buyer. The simulation refuses without lamports.
    const denied = await shop.consume({}, { env });
    const payment = await shop.agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
    const before = await shop.books();
    const refused = await shop.settle(payment, {}, { env });
    expect([refused.status, refused.body.meta.reason]).toEqual([422, 'invalid_exact_svm_transaction_simulation_failed']);
    expect(await shop.books()).toEqual(before);
    await w.chain.call('local_fundSol', address, '1000000000');
    expect(mayServe(await shop.settle(payment, {}, { env }))).toBe(true);
  });

  it('a settled payment costs the fee payer the network fee and nothing else', async () => {
    const own = stall(w, shop.merchant, await sellToAgents(w, shop.merchant), await newAgent(w));
    const balance = async () => (await w.chain.call<{ value: number }>('getBalance', feePayerOf(w))).value;
    const payment = await own.pay();
    const before = await balance();
    await own.settle(payment);
    const cost = before - (await balance());
    expect(cost).toBeGreaterThanOrEqual(10_000);
    expect(cost).toBeLessThanOrEqual(FEE_LAMPORTS_MAX);
    for (let i = 0; i < 3; i++) await own.settle(payment);
    expect(before - (await balance())).toBe(cost);
  });

  it('a payment at the cap of the priority fee settles and costs the most that a payment may', async () => {
    const own = stall(w, shop.merchant, await sellToAgents(w, shop.merchant), await newAgent(w));
    const balance = async () => (await w.chain.call<{ value: number }>('getBalance', feePayerOf(w))).value;
    const payment = await priced(await own.pay(), own.agent.wallet, { units: 400_000, microLamports: 50_000n });
    const before = await balance();
    expect(mayServe(await own.settle(payment))).toBe(true);
    expect(before - (await balance())).toBe(FEE_LAMPORTS_MAX);
  });
});
