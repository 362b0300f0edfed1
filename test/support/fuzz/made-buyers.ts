import { newId } from '#core/ids.ts';
import { buyerLinkToken } from '#features/buyer-sign-in/email-link.ts';
import { newCtx } from '#platform/context.ts';
import { signText } from '../chain/wallet.ts';
import type { Tenant } from '../people/tenant.ts';
import type { World } from '../world.ts';

type Maker = (w: World, tenant: Tenant) => Promise<Record<string, string[]>>;

/** Routes of a signed-in buyer. Each has a person of its own, with the token of a buyer. */
export const OF_BUYER = /\/v1\/buyer(?:$|\/(?:purchases|access|subscriptions|logout|memberships|export|receipts|invoice-details|erasure))/;

async function makeWalletProof(w: World, wallet: Awaited<ReturnType<World['chain']['wallet']>>) {
  const { body } = await w.call('POST', '/v1/buyer/wallet/nonce', { body: { wallet_address: wallet.address } });
  return { wallet_address: wallet.address, message_nonce: body.message_nonce, signed_message: await signText(wallet, body.message) };
}

const makeCustomer = async (w: World, key: string): Promise<{ customer_id: string; customer_ref: string }> =>
  (await w.call('POST', '/v1/customers', { key, body: { customer_ref: crypto.randomUUID() } })).body;

export const BUYER_MAKERS: [RegExp, Maker][] = [
  [
    /buyer\/wallet$/,
    async (w) => {
      const proof = await makeWalletProof(w, await w.chain.wallet(0n));
      return Object.fromEntries(Object.entries(proof).map(([name, value]) => [name, [value]]));
    },
  ],
  [
    /email-link\/redeem$/,
    async (w) => {
      const ctx = newCtx(w.env, { requestId: 'req_fuzz', defer: () => {} });
      const link = { id: newId(Date.now(), null), address: 'buyer@example.com', createdAt: Date.now() };
      return { token: [await buyerLinkToken(ctx, link as Parameters<typeof buyerLinkToken>[1])] };
    },
  ],
  [
    /portal-link\/redeem$/,
    async (w, { merchant: { key } }) => {
      const { customer_id } = await makeCustomer(w, key);
      const body = { customer_id };
      const { url } = (await w.call('POST', '/v1/customers/portal-sessions', { key, body })).body;
      return { token: [new URL(url).searchParams.get('token')!] };
    },
  ],
  [/portal-sessions$/, async (w, { merchant: { key } }) => ({ customer_ref: [(await makeCustomer(w, key)).customer_ref] })],
  [
    OF_BUYER,
    async (w, { merchant }) => {
      const wallet = await w.chain.wallet();
      const { confirmed } = await w.purchase(await w.product(merchant), wallet);
      const body = await makeWalletProof(w, wallet);
      const account_id = [merchant.userId];
      merchant.token = (await w.call('POST', '/v1/buyer/wallet', { body })).body.token;
      const receipt_id = [confirmed.payment.receipt_id];
      await w.call('PUT', '/v1/buyer/invoice-details', { key: merchant.token, body: { account_id: merchant.userId, name: 'Ada' } });
      return { membership_id: [confirmed.membership_id], account_id, receipt_id };
    },
  ],
];
