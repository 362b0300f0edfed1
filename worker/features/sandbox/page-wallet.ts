import { base64 } from '#core/encoding.ts';
import { ApiError, raise } from '#core/errors.ts';
import { findSession } from '#features/payments/store.ts';
import { getListing } from '#features/products/product.ts';
import { PLENTY } from '#platform/chain/accounts/accounts.ts';
import { inSandbox } from '#platform/chain/scope.ts';
import { memosOf } from '#platform/chain/simulated-blocks.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import { skipStoring } from '#platform/db/once.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { svcMemos } from '#solana/transaction.ts';
import type { TestPayment } from './outcomes.ts';
import { loadPayable, payPayment } from './pay.ts';
import { isConsent, leaveInWallet } from './subscribe.ts';
import { planSignature, type TestWallet, testWallet } from './wallet.ts';

interface PageWallet {
  slug: string;
  /** Random name chosen by the browser. No merchant label can name the same wallet. */
  walletId: string;
  /** Transaction shown by the page (base64) and the buyer's choice. Null requests only the wallet's address. */
  shown: { transaction: string; outcome: 'paid' | 'underpaid' } | null;
}

/**
 * Pays from the sandbox page's test wallet, like `POST /v1/testing/pay` but without a key. Pays only the payment of the given memo, and
 * only for this product. Throws 404 for live products, 422 payment_mismatch, and the errors of a test payment.
 */
export async function payAtPage(shard: Shard, { slug, walletId, shown }: PageWallet): Promise<TestPayment> {
  const { product } = await getListing(shard.db, slug);
  if (product.livemode) raise('not_found');
  const scope = inSandbox(shard, product.merchantId, null);
  const wallet = testWallet(scope, `page:${walletId}`);
  if (shown === null) return { field: 'tx_signature', value: null, payer: wallet.address };
  if (isConsent(shown.transaction)) return signAtPage(scope, product, wallet, shown);
  const { id: paymentId } = await findShown(scope, product, shown.transaction);
  return payPayment(await loadPayable(scope, paymentId), { outcome: shown.outcome, wallet }, skipStoring);
}

async function signAtPage(
  scope: Scope,
  { priceAmount }: Product,
  wallet: TestWallet,
  { transaction, outcome }: NonNullable<PageWallet['shown']>,
): Promise<TestPayment> {
  const holder = { subscriberWallet: wallet.address, mint: scope.config.network.usdcMint };
  await leaveInWallet(scope, holder, outcome === 'underpaid' ? priceAmount / 2n : PLENTY);
  const { txSignature, writes } = await planSignature(scope, wallet, transaction);
  if (txSignature === null) throw new ApiError('payment_mismatch', { meta: { reason: 'transaction_rejected' } });
  return commit(scope, { events: [], writes, result: { field: 'tx_signature', value: txSignature, payer: wallet.address } });
}

async function findShown(scope: Scope, { id: productId }: Product, transaction: string): Promise<Payment> {
  const [memo] = svcMemos(memosOf(base64.decode(transaction)));
  const payment = memo === undefined ? undefined : await findSession(scope, memo.slice('svc:'.length));
  if (payment?.productId !== productId) throw new ApiError('payment_mismatch', { meta: { reason: 'unknown_memo' } });
  return payment;
}
