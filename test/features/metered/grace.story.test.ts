import { address } from '@solana/kit';
import { AuthorityType, getBurnInstruction, getCloseAccountInstruction, getSetAuthorityInstruction } from '@solana-program/token';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base64url } from '#core/encoding.ts';
import { channelOperatorsOf } from '#platform/chain/fee-payer.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { USDC } from '../../support/chain/chain.ts';
import { CHANNEL_KEYS, channelWorld, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { pause } from '../../support/runner/queues.ts';

const PROGRAMS = [['older'], ['current']] as const;
const DEPOSIT = 1_000_000n;
const IN_PURSE = 4_000_000n;

describe.each(PROGRAMS)('channel of the %s program with a close requested by its payer', (generation) => {
  const w = channelWorld();
  const program = CHANNEL_PROGRAMS[generation];
  beforeAll(() => fundChannels(w));
  afterAll(endSkips);

  const open = async (): Promise<LiveShop> => {
    const shop = await LiveShop.make(w, { program, body: { idle_timeout_seconds: 86_400 } });
    expect((await shop.authorize(await shop.pull({ deposit: DEPOSIT }))).status).toBe(200);
    return shop;
  };
  const sweep = (shop: LiveShop) => shop.watch();
  /** Pays by vouchers until one is refused and returns the acknowledged amount. */
  const stream = async (shop: LiveShop, onPaid: (acknowledged: bigint) => void): Promise<bigint> => {
    for (let acknowledged = 0n; ; ) {
      // Yields at each step: a stream that never waits starves the network.
      await pause(0);
      const { status, body } = await shop.announce('3');
      const voucher = shop.voucherOf(acknowledged + 3n);
      const paid = status === 201 ? await shop.commit({ deliveryId: body.deliveryId, voucher }) : null;
      if (paid?.status !== 200) return acknowledged;
      acknowledged += 3n;
      onPaid(acknowledged);
    }
  };

  it('a close during a stream of vouchers pays the highest acknowledged one', async () => {
    const shop = await open();
    await shop.project();
    const some = Promise.withResolvers<void>();
    const streaming = stream(shop, (acknowledged) => acknowledged >= 30n && some.resolve());
    await some.promise;
    await shop.requestClose();
    await skipTime(w.chain, 60);
    await sweep(shop);
    const acknowledged = await streaming;
    expect(acknowledged).toBeGreaterThanOrEqual(30n);
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: acknowledged.toString() } });
    expect(await w.chain.held(shop.wallet.address)).toBe(IN_PURSE + DEPOSIT - acknowledged);
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(acknowledged + 1n);
  });

  it('an outage for half the grace period still seals the channel with the best voucher in time', async () => {
    const shop = await open();
    await shop.use(70n, 70n);
    await shop.requestClose();
    await shop.use(7n, 77n);
    await skipTime(w.chain, 450);
    await sweep(shop);
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '77' } });
    expect((await shop.payments()).map(({ units }) => units)).toEqual(['77']);
  });

  it('an outage beyond the grace period pays only what was settled before, and the session says so', async () => {
    const shop = await open();
    await shop.use(500n, 500n);
    await skipTime(w.chain, 3_660);
    await sweep(shop);
    await shop.use(40n, 540n);
    await shop.requestClose();
    await skipTime(w.chain, 901);
    await sweep(shop);
    await sweep(shop);
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '500' }, cumulative: { base_units: '540' } });
    expect((await shop.payments()).map(({ units }) => units)).toEqual(['500']);
    expect(await w.chain.held(shop.wallet.address)).toBe(IN_PURSE + DEPOSIT - 500n);
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(501n);
  });

  it('a channel ended without us closes its session once an absence is confirmed, and refuses deliveries', async () => {
    const shop = await open();
    await shop.use(40n, 40n);
    await shop.requestClose();
    await skipTime(w.chain, 901);
    await shop.sealAndDistribute();
    expect(await shop.onChain()).toBe(generation === 'older' ? 'tombstone' : 'gone');
    await sweep(shop);
    expect((await shop.read()).status).toBe(generation === 'older' ? 'closed' : 'open');
    await skipTime(w.chain, 60);
    await sweep(shop);
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '0' }, cumulative: { base_units: '40' } });
    expect((await shop.announce('1')).status).toBe(410);
    expect(await shop.payments()).toEqual([]);
  });

  it('updated_at changes with the session and not with reads or checks', async () => {
    const shop = await open();
    await shop.use(40n, 40n);
    const { updated_at: changed } = await shop.read();
    await skipTime(w.chain, 60);
    await sweep(shop);
    expect((await shop.read()).updated_at).toBe(changed);
    await shop.requestClose();
    await skipTime(w.chain, 60);
    await sweep(shop);
    expect(Date.parse((await shop.read()).updated_at)).toBeGreaterThan(Date.parse(changed));
  });

  it('vouchers that expire are settled before their end', async () => {
    const shop = await open();
    const expiresAt = Math.floor(Date.now() / 1000) + 900 + 660;
    const { body: directive } = await shop.announce('20');
    const paid = await shop.commit({ deliveryId: directive.deliveryId, voucher: shop.buyer.voucher(20n, { program, expiresAt }) });
    expect(paid.status).toBe(200);
    await skipTime(w.chain, 600);
    await sweep(shop);
    expect(await shop.payments()).toEqual([]);
    await skipTime(w.chain, 120);
    await sweep(shop);
    expect((await shop.payments()).map(({ units }) => units)).toEqual(['20']);
  });

  it('the key that opened the channel closes it after a rotation', async () => {
    const shop = await open();
    await shop.use(9n, 9n);
    const env = { ...w.env, CHANNEL_KEYS: `${base64url.encode(new Uint8Array(32).fill(78))},${CHANNEL_KEYS}` };
    const operator = channelOperatorsOf({ CHANNEL_KEYS: env.CHANNEL_KEYS } as never).current;
    await w.chain.call('local_fundSol', operator, '1000000000');
    await w.chain.call('local_fundUsdc', operator, '0');
    const request = { product_id: shop.session.product_id, cap: { asset: 'USDC', amount: '1' }, channel_program: program.address };
    const made = { key: shop.key, env, body: request, headers: { 'Idempotency-Key': crypto.randomUUID() } };
    expect((await w.call('POST', '/v1/access/metered-sessions', made)).body.challenge.request.operator).toBe(operator);
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const closed = await w.call('POST', `${shop.path}/close`, { key: shop.key, headers, env });
    expect([closed.status, closed.body.status, closed.body.settled.base_units]).toEqual([200, 'closed', '9']);
  });
});

describe('missing token account', () => {
  const w = channelWorld();
  beforeAll(() => fundChannels(w));
  afterAll(endSkips);

  const giveUp = async (wallet: LiveShop['wallet']): Promise<void> => {
    const [account, mint] = [address(await associatedTokenAccount(wallet.address, USDC)), address(USDC)];
    const amount = await w.chain.held(wallet.address);
    await w.chain.call('local_fundSol', wallet.address, '100000000');
    await w.chain.send(wallet, [
      getBurnInstruction({ account, mint, authority: wallet, amount }),
      getCloseAccountInstruction({ account, destination: wallet.address, owner: wallet }),
    ]);
  };

  const giveAway = async (wallet: LiveShop['wallet']): Promise<void> => {
    const owned = address(await associatedTokenAccount(wallet.address, USDC));
    const newAuthority = address(await associatedTokenAccount(USDC, USDC));
    await w.chain.call('local_fundSol', wallet.address, '100000000');
    await w.chain.send(wallet, [
      getSetAuthorityInstruction({ owned, owner: wallet, authorityType: AuthorityType.AccountOwner, newAuthority }),
    ]);
  };

  it('a missing merchant account refuses the opening before anything is signed', async () => {
    const shop = await LiveShop.make(w);
    const opening = await shop.pull();
    await giveUp(shop.merchant.wallet);
    const refused = await shop.authorize(opening);
    expect([refused.status, refused.body.meta.reason]).toEqual([402, 'payout-account-missing']);
    expect([(await shop.read()).status, await shop.onChain()]).toEqual(['created', 'gone']);
  });

  it('a merchant account missing at the end: the voucher is sealed, and paid once the account exists again', async () => {
    const shop = await LiveShop.make(w);
    await shop.authorize(await shop.pull());
    await shop.use(25n, 25n);
    await giveUp(shop.merchant.wallet);
    expect((await shop.close()).body).toMatchObject({ status: 'closing' });
    expect(await shop.onChain()).toMatchObject({ status: 'sealed', settled: 25n });
    await w.chain.call('local_fundUsdc', shop.merchant.wallet.address, '0');
    await shop.project();
    await skipTime(w.chain, 60);
    await shop.watch();
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '25' } });
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(25n);
    expect((await shop.payments()).map(({ units }) => units)).toEqual(['25']);
  });

  it('a merchant account missing meanwhile: due amounts are settled, and paid once the account exists again', async () => {
    const shop = await LiveShop.make(w, { body: { idle_timeout_seconds: 86_400 } });
    await shop.authorize(await shop.pull());
    await shop.use(25n, 25n);
    await giveUp(shop.merchant.wallet);
    await shop.project();
    await skipTime(w.chain, 3_660);
    await shop.watch();
    expect(await shop.onChain()).toMatchObject({ status: 'open', settled: 25n, payoutWatermark: 0n });
    await w.chain.call('local_fundUsdc', shop.merchant.wallet.address, '0');
    await shop.project();
    await skipTime(w.chain, 3_660);
    await shop.watch();
    expect(await shop.onChain()).toMatchObject({ status: 'open', settled: 25n, payoutWatermark: 25n });
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(25n);
    expect((await shop.payments()).map(({ units }) => units)).toEqual(['25']);
  });

  it('a merchant account owned by another wallet: nothing is paid out', async () => {
    const shop = await LiveShop.make(w);
    await shop.authorize(await shop.pull());
    await shop.use(25n, 25n);
    await giveAway(shop.merchant.wallet);
    expect((await shop.close()).body).toMatchObject({ status: 'closing' });
    expect(await shop.onChain()).toMatchObject({ status: 'sealed', settled: 25n, payoutWatermark: 0n });
  });

  it('a buyer account missing at the end: the merchant is paid at once, and the refund waits with hourly checks', async () => {
    const shop = await LiveShop.make(w);
    await shop.authorize(await shop.pull());
    await shop.use(11n, 11n);
    await giveUp(shop.wallet);
    expect((await shop.close()).body).toMatchObject({ status: 'closing', settled: { base_units: '11' } });
    expect(await shop.onChain()).toMatchObject({ status: 'sealed', settled: 11n, payoutWatermark: 11n });
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(12n);
    expect((await shop.payments()).map(({ units }) => units)).toEqual(['11']);
    await shop.project();
    await skipTime(w.chain, 25 * 3_600);
    await shop.watch();
    expect((await shop.read()).status).toBe('closing');
    await w.chain.call('local_fundUsdc', shop.wallet.address, '0');
    // A refund that may wait indefinitely is checked once an hour.
    await skipTime(w.chain, 60);
    await shop.watch();
    expect((await shop.read()).status).toBe('closing');
    await skipTime(w.chain, 3_540);
    await shop.watch();
    expect((await shop.read()).status).toBe('closed');
    expect(await w.chain.held(shop.wallet.address)).toBe(DEPOSIT - 11n);
  });

  it('a buyer account missing after a close request: the merchant is paid after a day', async () => {
    const shop = await LiveShop.make(w);
    await shop.authorize(await shop.pull());
    await shop.use(11n, 11n);
    await shop.requestClose();
    await giveUp(shop.wallet);
    expect((await shop.close()).body).toMatchObject({ status: 'closing' });
    expect(await shop.onChain()).toMatchObject({ status: 'sealed', settled: 11n, payoutWatermark: 0n });
    await shop.project();
    await skipTime(w.chain, 25 * 3_600);
    await shop.watch();
    expect((await shop.read()).status).toBe('closed');
    expect(await w.chain.held(shop.merchant.wallet.address)).toBe(12n);
  });
});
