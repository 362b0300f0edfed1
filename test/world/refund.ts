import type { KeyPairSigner } from '@solana/kit';
import type { Merchant, World } from './world.ts';

export interface Refundable {
  id: string;
  path: string;
  /** Which was paid, and can sign. */
  wallet: KeyPairSigner;
}

/** A confirmed payment to a wallet that can pay it back. */
export async function refundable(w: World, merchant: Merchant): Promise<Refundable> {
  const wallet = await w.chain.wallet();
  const product = await w.product(merchant, { access_period_days: 30, payout_wallet: wallet.address });
  const { payment } = await w.purchase(product, await w.chain.wallet());
  return { id: payment.payment_id, path: `/v1/payments/${payment.payment_id}`, wallet };
}

/** Its whole refund on the chain, before the service was told of it; answers the signature. */
export async function landRefund(w: World, merchant: Merchant, { path, wallet }: Refundable): Promise<string> {
  const { body } = await w.call('POST', `${path}/refund-transaction`, { key: merchant.key });
  return w.chain.call<string>('sendTransaction', await w.chain.sign(wallet, body.transaction), { encoding: 'base64' });
}
