import { createNoopSigner } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { beforeAll, describe, expect, it } from 'vitest';
import { planMeteredSession } from '#features/metered/create.ts';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import type { ChannelOpening } from '#solana/programs/payment-channels/instructions.ts';
import { memoInstruction } from '../../support/chain/chain.ts';
import { channelWorld, fundChannels, LiveShop, operatorOf } from '../../support/chain/live-channel.ts';
import { ChannelBuyer } from '../../support/clients/metered.ts';

const PROGRAMS = [['older'], ['current']] as const;
type Opening = Partial<ChannelOpening>;

describe.each(PROGRAMS)('opening of the %s program to co-sign', (generation) => {
  const w = channelWorld();
  const program = CHANNEL_PROGRAMS[generation];
  beforeAll(() => fundChannels(w));
  const readRefusal = async (shop: LiveShop, opening: object) => {
    const answer = await shop.authorize(opening);
    expect(answer.status).toBe(402);
    expect(answer.headers.has('WWW-Authenticate')).toBe(true);
    expect([(await shop.read()).version, await shop.onChain()]).toEqual([0, 'gone']);
    return answer.body.meta.reason;
  };

  it.each<[string, (shop: LiveShop) => Opening | Promise<Opening>, string]>([
    ['in another mint', async (shop) => ({ mint: shop.wallet.address }), 'mint-mismatch'],
    ['that pays somebody else', (shop) => ({ shares: [{ recipient: shop.wallet.address, bps: 10_000 }] }), 'split-mismatch'],
    ['that pays the merchant in part', (shop) => ({ shares: [{ ...shop.opening().shares[0]!, bps: 9_999 }] }), 'split-mismatch'],
    ['that pays nobody by its split', () => ({ shares: [] }), 'split-mismatch'],
    ['with a grace period in which we could be late', () => ({ gracePeriodSeconds: 899 }), 'grace-period-too-short'],
    ['of nothing', () => ({ deposit: 0n }), 'invalid-deposit'],
    ['above the cap', () => ({ deposit: 1_000_001n }), 'exceeds-cap'],
    ['that another payee could seal', (shop) => ({ payee: shop.merchant.wallet.address }), 'payee-mismatch'],
  ])('a channel opening %s is refused', async (_, change, reason) => {
    const shop = await LiveShop.make(w, { program });
    expect(await readRefusal(shop, await shop.pull(await change(shop)))).toBe(reason);
  });

  it.each<[string, (shop: LiveShop) => object | Promise<object>, string]>([
    [
      'with an instruction of another program',
      (shop) => shop.pull({}, { extra: [getTransferSolInstruction({ source: shop.wallet, destination: operatorOf(shop.w), amount: 1n })] }),
      'foreign-instruction',
    ],
    [
      'that spends from our key',
      (shop) =>
        shop.pull(
          {},
          {
            extra: [
              getTransferSolInstruction({ source: createNoopSigner(operatorOf(shop.w)), destination: shop.wallet.address, amount: 1n }),
            ],
          },
        ),
      'foreign-instruction',
    ],
    [
      'that names our key in a memo',
      async (shop) => {
        const memo = memoInstruction('hello');
        return shop.pull({}, { extra: [{ ...memo, accounts: [{ address: operatorOf(shop.w), role: 2 }] }] });
      },
      'operator-misplaced',
    ],
    ['whose fee somebody else pays', (shop) => shop.pull({}, { feePayer: shop.merchant.wallet.address }), 'fee-payer-mismatch'],
    ['that is no transaction', async (shop) => ({ ...(await shop.pull()), transaction: 'AAAA' }), 'transaction-undecodable'],
    ['without a transaction', async (shop) => ({ ...(await shop.pull()), transaction: undefined }), 'transaction-required'],
    [
      'for another signer of vouchers',
      async (shop) => ({ ...(await shop.pull()), authorizedSigner: new ChannelBuyer().authorizedSigner }),
      'signer-mismatch',
    ],
    [
      'that opens another channel than it says',
      async (shop) => ({ ...(await shop.pull()), channelId: new ChannelBuyer().channelId }),
      'channel-mismatch',
    ],
  ])('an opening request %s is refused', async (_, made, reason) => {
    const shop = await LiveShop.make(w, { program });
    expect(await readRefusal(shop, await made(shop))).toBe(reason);
  });

  it('a pushed channel of another session is refused, and so is an unknown one', async () => {
    const [shop, other] = [await LiveShop.make(w, { program }), await LiveShop.make(w, { program })];
    const foreign = await other.push();
    const taken = await shop.authorize({ ...foreign, authorizedSigner: shop.buyer.authorizedSigner });
    expect([taken.status, taken.body.meta.reason]).toEqual([402, 'signer-mismatch']);
    const nowhere = { ...(await shop.pull()), mode: 'push', signature: '1'.repeat(64) };
    expect((await shop.authorize(nowhere)).body.meta.reason).toBe('channel-not-found');
    expect((await shop.read()).version).toBe(0);
    expect((await other.authorize(foreign)).status).toBe(200);
  });
});

describe('hostile vouchers', () => {
  const w = channelWorld();
  let shop: LiveShop;
  let other: LiveShop;
  beforeAll(async () => {
    await fundChannels(w);
    [shop, other] = [await LiveShop.make(w), await LiveShop.make(w)];
    for (const one of [shop, other]) await one.authorize(await one.pull());
    await shop.use(100n, 100n);
  });
  const readRefusal = async (voucher: object) => {
    const before = await shop.read();
    const { body: directive } = await shop.announce('50');
    const answer = await shop.commit({ deliveryId: directive.deliveryId, voucher });
    const after = await shop.read();
    expect([answer.status, answer.body.code, after.cumulative]).toEqual([422, 'payment_mismatch', before.cumulative]);
    return answer.body.meta.reason;
  };

  it.each<[string, () => object, string]>([
    ['for another channel', () => other.voucherOf(150n), 'channel-mismatch'],
    ['lower than what was promised', () => shop.voucherOf(99n), 'cumulative-not-monotonic'],
    ['equal to it under another signature', () => shop.buyer.voucher(100n, { expiresAt: 4_102_444_801 }), 'cumulative-not-monotonic'],
    ['above what is locked up', () => shop.voucherOf(1_000_001n), 'exceeds-reservation'],
    ['above what was announced', () => shop.voucherOf(151n), 'exceeds-reservation'],
    ['that has ended', () => shop.buyer.voucher(150n, { expiresAt: 1_000 }), 'expired'],
    [
      'that ends before it could be settled',
      () => shop.buyer.voucher(150n, { expiresAt: Math.floor(Date.now() / 1000) + 900 }),
      'expires-within-settlement-window',
    ],
    ['of another signer', () => new ChannelBuyer().voucher(150n, { channelId: shop.buyer.channelId }), 'invalid-signature'],
    [
      'with a forged amount',
      () => {
        const { data, signature } = shop.voucherOf(149n);
        return { data: { ...data, cumulativeAmount: '150' }, signature };
      },
      'invalid-signature',
    ],
    [
      'in the form of the other program, which this one cannot settle',
      () => shop.buyer.voucher(150n, { program: CHANNEL_PROGRAMS.current }),
      'invalid-signature',
    ],
  ])('vouchers %s are refused and change nothing', async (_, voucher, reason) => {
    expect(await readRefusal(voucher())).toBe(reason);
  });

  it('a voucher above the deposit is refused with exceeds-deposit, even without an announcement', async () => {
    const answer = await shop.authorize({ action: 'voucher', voucher: shop.voucherOf(1_000_001n) });
    expect([answer.status, answer.body.meta.reason]).toEqual([402, 'exceeds-deposit']);
  });

  it('another tenant can neither read nor close the session', async () => {
    const stranger = await w.merchant();
    for (const key of [stranger.key, shop.merchant.sandboxKey]) {
      expect((await w.call('GET', shop.path, { key })).status).toBe(404);
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      expect((await w.call('POST', `${shop.path}/close`, { key, headers })).status).toBe(404);
    }
    expect((await shop.read()).status).toBe('open');
  });

  it('a claimed top-up counts only if the chain shows the deposit', async () => {
    const claimed = { action: 'topUp', channelId: shop.buyer.channelId, newDeposit: '1000000', signature: '1'.repeat(64) };
    const small = await LiveShop.make(w);
    await small.authorize(await small.pull({ deposit: 10n }));
    const refused = await small.authorize({ ...claimed, channelId: small.buyer.channelId });
    expect([refused.status, refused.body.meta.reason]).toEqual([402, 'exceeds-deposit']);
    expect((await small.authorize({ ...claimed })).body.meta.reason).toBe('channel-mismatch');
    // A known deposit is answered without a node call, so that strangers cannot cause load.
    await w.chain.fault({ kind: 'http_503', method: 'getMultipleAccounts', times: 20 });
    const known = await small.authorize({ ...claimed, channelId: small.buyer.channelId, newDeposit: '10' });
    await w.chain.call('local_clearFaults');
    expect([known.status, known.body.deposit.base_units]).toEqual([200, '10']);
  });
});

describe('metered rail availability', () => {
  it('the rail states why it is unavailable: no operator account or no key', async () => {
    const w = channelWorld();
    const readStatus = async (env = w.env) => {
      const { body } = await w.call('GET', '/v1/access/rails', { env });
      const { status, reason } = body.items.find(({ rail_id }: { rail_id: string }) => rail_id === 'mpp_solana_usdc');
      return [status, reason];
    };
    await w.chain.call('local_fundSol', operatorOf(w), '1000000000');
    expect(await readStatus()).toEqual(['unavailable', 'operator_account_missing']);
    await expect(LiveShop.make(w)).rejects.toThrow('rail_unavailable');
    expect(await readStatus({ ...w.env, CHANNEL_KEYS: '' } as typeof w.env)).toEqual(['unavailable', 'not_configured']);
  });

  it('the older program is refused on mainnet', async () => {
    const body = { cap: { asset: 'USDC' as const, amount: '1' }, channel_program: CHANNEL_PROGRAMS.older.address };
    const ctx = { config: { NETWORK: 'mainnet' } } as Parameters<typeof planMeteredSession>[0];
    const sale = { product: {} } as Parameters<typeof planMeteredSession>[1];
    await expect(planMeteredSession(ctx, sale, body, null)).rejects.toMatchObject({ code: 'validation_error' });
  });
});
