import { beforeAll, describe, expect, it } from 'vitest';
import { keyRing } from '#core/crypto.ts';
import { base58, base64url } from '#core/encoding.ts';
import { NETWORKS } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { USDC } from '../../support/chain/chain.ts';
import { feePayerOf, newKey } from '../../support/people/agent.ts';
import { goodManifest, Setup } from '../../support/people/bootstrap.ts';
import { checkOf, readiness } from '../../support/people/sale.ts';
import { type Merchant, World } from '../../support/world.ts';

const PRICE = { asset: 'USDC', amount: '5' };

describe('unspendable payout address', () => {
  const FEE_WALLET = base58.encode(keyRing(base64url.encode(new Uint8Array(32).fill(71)))[0]!.publicKey);
  const w = new World({ FEE_BPS: '100', FEE_WALLET });
  let ada: Merchant;
  let owner: string;
  let tokenAccount: string;
  beforeAll(async () => {
    ada = await w.merchant();
    owner = (await w.chain.wallet(1_000_000n)).address;
    tokenAccount = await associatedTokenAccount(owner, USDC);
  });

  const CASES: [string, () => Promise<string> | string, string, string][] = [
    ['off the curve', async () => associatedTokenAccount((await w.chain.wallet(0n)).address, USDC), 'off_curve', 'payout_wallet_off_curve'],
    ['a token account', () => tokenAccount, 'token_account', 'payout_wallet_token_account'],
    ['the mint of USDC', () => USDC, 'mint', 'payout_wallet_reserved'],
    ['the mint of another cluster', () => NETWORKS.mainnet.usdcMint, 'mint', 'payout_wallet_reserved'],
    ['the system program', () => '11111111111111111111111111111111', 'program', 'payout_wallet_reserved'],
    ['the token program', () => 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'program', 'payout_wallet_reserved'],
    ['a sysvar', () => 'SysvarRent111111111111111111111111111111111', 'sysvar', 'payout_wallet_reserved'],
    ['the service reference', () => w.env.SERVICE_REFERENCE as string, 'own_key', 'payout_wallet_reserved'],
    ['our fee payer', () => feePayerOf(w), 'own_key', 'payout_wallet_reserved'],
    ['the treasury', () => w.env.TREASURY_WALLET as string, 'own_key', 'payout_wallet_reserved'],
    ['the wallet of fees', () => FEE_WALLET, 'own_key', 'payout_wallet_reserved'],
  ];

  it.each(CASES)(
    'an unspendable address is refused with its reason on products, rail settings and manifests: %s',
    async (_, address, reason, code) => {
      const payout_wallet = await address();
      const product = await w.product(ada, { payout_wallet: undefined });
      const options = () => ({ key: ada.token, headers: { 'Idempotency-Key': newKey() } });
      const answers = await Promise.all([
        w.call('POST', '/v1/products', { ...options(), body: { name: 'X', price: PRICE, payout_wallet } }),
        w.call('POST', '/v1/access/products', { ...options(), body: { name: 'X', price: PRICE, payout_wallet } }),
        w.call('PATCH', `/v1/products/${product.product_id}`, { ...options(), body: { payout_wallet } }),
        w.call('PUT', '/v1/access/rail-settings/solana_usdc', { ...options(), body: { payout_wallet } }),
      ]);
      for (const { status, body } of answers) {
        expect([status, body.code]).toEqual([422, 'invalid_wallet_address']);
        expect(body.meta).toEqual({ field: 'payout_wallet', reason, ...(reason === 'token_account' ? { owner } : {}) });
        expect(body.detail).not.toBe('The address is not a Solana wallet. Copy the address that the wallet shows.');
      }
      const setup = await Setup.create(w);
      const manifest = await goodManifest(w, { payout: { rail_id: 'x402_solana_usdc', wallet_address: payout_wallet } });
      const { body } = await setup.call('manifest', manifest);
      const found = body.evaluation.findings.filter(({ severity }: { severity: string }) => severity === 'error');
      expect(found.map((finding: { code: string }) => finding.code)).toEqual([code]);
    },
  );

  it('readiness and connect refuse an address that is unspendable in an existing product', async () => {
    const bob = await w.merchant();
    const product = await w.product(bob, { live_mode_confirmed: true });
    await w.env.DB.prepare('UPDATE products SET payout_wallet = ? WHERE id = ?').bind(tokenAccount, product.product_id).run();
    const check = checkOf(await readiness(w, bob, `product_id=${product.product_id}`), 'payout_wallet_set');
    expect([check.status, check.message]).toEqual(['fail', expect.stringMatching(/The payout wallet \w+ cannot spend\./)]);
    const { status, body } = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {} });
    expect([status, body.code, body.meta.reason]).toEqual([409, 'setup_not_ready', 'payout_wallet_unspendable']);
  });

  it('an off-curve address is refused without a node, and on-chain reasons are checked again when a sale begins', async () => {
    const elsewhere = new World();
    const bob = await elsewhere.merchant();
    const mine = await elsewhere.chain.wallet(1_000_000n);
    const program = await associatedTokenAccount(mine.address, USDC);
    await elsewhere.chain.fault({ kind: 'http_503', times: 0 });
    const offCurve = await elsewhere.call('POST', '/v1/products', {
      key: bob.key,
      body: { name: 'X', price: PRICE, payout_wallet: program },
    });
    expect(offCurve.body.meta).toEqual({ field: 'payout_wallet', reason: 'off_curve' });
    const taken = await elsewhere.call('POST', '/v1/products', {
      key: bob.key,
      body: { name: 'X', price: PRICE, payout_wallet: mine.address },
    });
    expect(taken.status).toBe(201);
  });
});
