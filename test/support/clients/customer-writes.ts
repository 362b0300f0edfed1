import { hex } from '#core/encoding.ts';
import { buyerKeyOf } from '#rules/access/buyers.ts';
import { signText } from '../chain/wallet.ts';
import { type Merchant, strangerAddress, type World } from '../world.ts';

/** Optional-key writes about customers, buyers and memberships. `merchant`: the caller, who is made after this is called. */
export function customerWrites(w: World, merchant: () => Merchant) {
  const unique = () => `x${crypto.randomUUID()}`;
  const post = (customer_ref: string) => w.call('POST', '/v1/customers', { key: merchant().key, body: { customer_ref } });
  const readNumber = async (statement: string, value: string): Promise<number> =>
    (await w.env.DB.prepare(statement).bind(value).first<number>('n'))!;
  return {
    'POST /v1/memberships/{membership_id}/retry-delivery': async () => {
      const { confirmed } = await w.purchase(await w.product(merchant()), await w.chain.wallet());
      const id = confirmed.membership_id;
      const effects = () => readNumber('SELECT count(*) AS n FROM memberships WHERE id = ?', id);
      return { path: `/v1/memberships/${id}/retry-delivery`, effects };
    },
    'POST /v1/customers': async () => {
      const customer_ref = unique();
      const effects = () => readNumber('SELECT count(*) AS n FROM customers WHERE customer_ref = ?', customer_ref);
      return { path: '/v1/customers', body: { customer_ref }, other: { customer_ref, name: 'Ada' }, effects };
    },
    'POST /v1/customers/portal-sessions': async () => {
      const { customer_id } = (await post(unique())).body;
      const effects = () =>
        readNumber("SELECT count(*) AS n FROM audit_entries WHERE action = 'customer.portal_opened' AND subject_id = ?", customer_id);
      return { path: '/v1/customers/portal-sessions', body: { customer_id }, other: { customer_id, locale: 'de' }, effects };
    },
    'POST /v1/buyer/email-link': async () => {
      const email = `${unique()}@example.com`;
      const effects = () => readNumber('SELECT count(*) AS n FROM mails WHERE address = ?', email);
      const headers = { 'CF-Connecting-IP': strangerAddress() };
      return { path: '/v1/buyer/email-link', by: null, headers, body: { email }, other: { email: `x${email}` }, effects };
    },
    'POST /v1/buyer/erasure': async () => {
      const wallet = await w.chain.wallet();
      await w.purchase(await w.product(merchant()), wallet);
      const { message, message_nonce } = (await w.call('POST', '/v1/buyer/wallet/nonce', { body: { wallet_address: wallet.address } }))
        .body;
      const proof = { wallet_address: wallet.address, signed_message: await signText(wallet, message), message_nonce };
      const by = (await w.call('POST', '/v1/buyer/wallet', { body: proof })).body.token;
      const key = hex.encode(buyerKeyOf({ kind: 'wallet', wallet_address: wallet.address })).toUpperCase();
      const effects = () => readNumber('SELECT count(*) AS n FROM buyer_details WHERE hex(buyer_key) = ?', key);
      const body = { account_id: merchant().userId };
      return { path: '/v1/buyer/erasure', by, body, effects };
    },
    'PATCH /v1/customers/{customer_id}': async () => {
      const { customer_id: id } = (await post(unique())).body;
      const effects = () => readNumber('SELECT version - 1 AS n FROM customers WHERE id = ?', id);
      return { method: 'PATCH', path: `/v1/customers/${id}`, body: { name: 'Ada' }, other: { name: 'Bob' }, effects };
    },
    'POST /v1/customers/{customer_id}/erase': async () => {
      const { customer_id: id } = (await post(unique())).body;
      const effects = () => readNumber("SELECT count(*) AS n FROM audit_entries WHERE action = 'customer.erased' AND subject_id = ?", id);
      const path = `/v1/customers/${id}/erase`;
      return { path, by: merchant().token, body: { reason: 'asked' }, other: { end_access: true }, effects };
    },
    'POST /v1/customers/{customer_id}/merge': async () => {
      const [into, from, another] = await Promise.all(
        [unique(), unique(), unique()].map(async (ref) => (await post(ref)).body.customer_id),
      );
      const effects = () => readNumber('SELECT count(*) AS n FROM customers WHERE merged_into IS NOT NULL AND id = ?', from);
      return { path: `/v1/customers/${into}/merge`, body: { from }, other: { from: another }, effects };
    },
  };
}
