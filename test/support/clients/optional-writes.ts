import { base58 } from '#core/encoding.ts';
import { newId } from '#core/ids.ts';
import { landRefund, refundable } from '../fixtures/refund.ts';
import { OPERATOR_SECRET, openStaff } from '../people/staff.ts';
import { memberWrites } from '../people/team.ts';
import { CONNECTOR_SECRETS, testEnv } from '../runner/env.ts';
import { emailedToken, mailConfig } from '../servers/mail.ts';
import { TestProcessor } from '../servers/processor.ts';
import { type Merchant, strangerAddress, World } from '../world.ts';
import { customerWrites } from './customer-writes.ts';
import { factorWrites } from './factor-writes.ts';
import { tokenSignedIn } from './session.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
export type Body = any;

/** Write of a route with an optional Idempotency-Key. */
export interface Write {
  method?: string;
  path: string;
  body?: Body;
  /** The merchant's key by default. null: no credential. */
  by?: string | null;
  headers?: Record<string, string>;
  effects(): Promise<number>;
  /** Another body for the same path and key, if the write has one. */
  other?: Body;
}

export const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true', OPERATOR_SECRET, ...mailConfig() });
export const people = {} as { ada: Merchant; staff: Merchant };
export async function openPeople(): Promise<void> {
  Object.assign(people, { ada: await w.merchant(), staff: await openStaff(w) });
}

const count = async (from: string, ...values: unknown[]): Promise<number> =>
  (await w.env.DB.prepare(`SELECT count(*) AS n FROM ${from}`)
    .bind(...values)
    .first<number>('n'))!;
const version = async (table: string, id: string): Promise<number> =>
  (await w.env.DB.prepare(`SELECT version FROM ${table} WHERE id = ?`).bind(id).first<number>('version'))!;
const unique = () => `x${crypto.randomUUID()}`;
const endpointUrl = (habit: string, box = unique()) => `${testEnv.TEST_RECEIVER_URL}/${habit}/${box}`;
export const newEndpoint = async (habit = 'ok'): Promise<Body> =>
  (await w.call('POST', '/v1/webhooks/endpoints', { key: people.ada.key, body: { url: endpointUrl(habit) } })).body;
const newTicket = async (): Promise<string> =>
  (await w.call('POST', '/v1/support/tickets', { key: people.ada.key, body: { subject: 'A question', body: 'Why?' } })).body.ticket_id;
const endpoints = (url: string) => () => count('webhook_endpoints WHERE url = ?', url);

const asked = async (path: string, about: (form: Record<string, string>) => boolean): Promise<number> =>
  (await new TestProcessor(w).requests()).filter((one) => one.path === path && about(one.form)).length;
/** Buys a plan by card without delivering its events. */
const buyer = async () => {
  const merchant = await w.merchant('free');
  return { ...merchant, ...(await new TestProcessor(w).buy(merchant, 'starter')) };
};
async function begunClaim(): Promise<{ code: string; chat_id: string }> {
  const { body } = await w.call('POST', '/v1/account/delivery/claims', { key: people.ada.key, body: { provider: 'telegram' } });
  return { code: body.code, chat_id: `-${crypto.getRandomValues(new Uint32Array(1))[0]}` };
}
async function claimed(): Promise<{ body: Body }> {
  const headers = { 'X-Svc-Connector-Secret': CONNECTOR_SECRETS.telegram[0] };
  return w.call('POST', '/v1/integrations/connectors/telegram/claims', { headers, body: await begunClaim() });
}
/** Resource of the merchant's own server. */
async function listed(merchantId: string): Promise<string> {
  const id = newId(Date.now(), merchantId);
  await w.env.DB.prepare(
    "INSERT INTO listings (id, merchant_id, call, target, created_at, updated_at) VALUES (?1, ?2, 'GET', 'https://shop.com/' || ?1, 0, 0)",
  )
    .bind(id, merchantId)
    .run();
  return id;
}
const newReceipt = async (): Promise<string> =>
  (await w.purchase(await w.product(people.ada), await w.chain.wallet())).confirmed.receipt_id;
async function proveAddress(verb: string): Promise<Write> {
  const { userId } = await w.merchant();
  const effects = async () => (await version('accounts', userId)) - 1;
  return { path: `/v1/account/email/${verb}`, by: null, body: { token: await emailedToken(w, userId, 'verify') }, effects };
}
export const WRITES: Record<string, () => Promise<Write>> = {
  'POST /v1/webhooks/endpoints': async () => {
    const url = endpointUrl('ok');
    return { path: '/v1/webhooks/endpoints', body: { url }, other: { url, description: 'x' }, effects: endpoints(url) };
  },
  'POST /v1/integrations/automation/hooks': async () => {
    const target_url = endpointUrl('ok');
    const body = { target_url, event_type: '*' };
    return { path: '/v1/integrations/automation/hooks', body, other: { ...body, event: '*' }, effects: endpoints(target_url) };
  },
  'PATCH /v1/webhooks/endpoints/{endpoint_id}': async () => {
    const { endpoint_id: id } = await newEndpoint();
    const effects = async () => (await version('webhook_endpoints', id)) - 1;
    return { method: 'PATCH', path: `/v1/webhooks/endpoints/${id}`, body: { description: 'a' }, other: { description: ' a' }, effects };
  },
  'DELETE /v1/webhooks/endpoints/{endpoint_id}': async () => {
    const { endpoint_id: id } = await newEndpoint();
    return { method: 'DELETE', path: `/v1/webhooks/endpoints/${id}`, effects: async () => (await version('webhook_endpoints', id)) - 1 };
  },
  'POST /v1/webhooks/endpoints/{endpoint_id}/test': async () => {
    const { endpoint_id: id } = await newEndpoint();
    const effects = () => count('webhook_deliveries WHERE endpoint_id = ?', id);
    return { path: `/v1/webhooks/endpoints/${id}/test`, body: {}, other: { event_type: 'webhook.test' }, effects };
  },
  'POST /v1/webhooks/endpoints/{endpoint_id}/recover': async () => {
    const { endpoint_id: id } = await newEndpoint();
    await w.product(people.ada);
    const effects = async () => 1;
    const body = { since: '2026-01-01T00:00:00Z' };
    return { path: `/v1/webhooks/endpoints/${id}/recover`, body, other: { ...body, until: '2030-01-01T00:00:00Z' }, effects };
  },
  'POST /v1/webhooks/deliveries/{delivery_id}/replay': async () => {
    const { endpoint_id: id } = await newEndpoint();
    const { body } = await w.call('POST', `/v1/webhooks/endpoints/${id}/test`, { key: people.ada.key, body: {} });
    const effects = () => count('webhook_deliveries WHERE replay_of = ?', body.delivery_id);
    return { path: `/v1/webhooks/deliveries/${body.delivery_id}/replay`, effects };
  },
  'POST /v1/products': async () => {
    const name = unique();
    const body = { name, price: { asset: 'USDC', amount: '1' } };
    return { path: '/v1/products', body, other: { ...body, metadata: {} }, effects: () => count('products WHERE name = ?', name) };
  },
  'PATCH /v1/products/{product_id}': async () => {
    const { product_id: id } = await w.product(people.ada);
    const effects = async () => (await version('products', id)) - 1;
    return { method: 'PATCH', path: `/v1/products/${id}`, body: { name: 'New' }, other: { name: 'New ' }, effects };
  },
  'POST /v1/products/{product_id}/archive': async () => {
    const { product_id: id } = await w.product(people.ada);
    return { path: `/v1/products/${id}/archive`, effects: async () => (await version('products', id)) - 1 };
  },
  'POST /v1/products/{product_id}/handoffs': async () => {
    const [{ product_id: id }, ref] = [await w.product(people.ada), unique()];
    const effects = () => count('handoffs WHERE customer_ref = ?', ref);
    return { path: `/v1/products/${id}/handoffs`, body: { customer_ref: ref }, other: { customer_ref: `${ref}-` }, effects };
  },
  'POST /v1/products/p/{slug}/connect': async () => {
    const { slug, product_id: id } = await w.product(people.ada);
    const effects = () => count('payments WHERE product_id = ?', id);
    return { path: `/v1/products/p/${slug}/connect`, by: null, body: {}, other: { customer_ref: 'x' }, effects };
  },
  'POST /v1/products/p/{slug}/identity': async () => {
    const { slug, product_id: id } = await w.product(people.ada, { requires_identity: 'telegram' });
    const effects = () => count('identity_sessions WHERE product_id = ?', id);
    return { path: `/v1/products/p/${slug}/identity`, by: null, effects };
  },
  'POST /v1/integrations/connectors/{provider}/identity': async () => {
    const { slug } = await w.product(people.ada, { requires_identity: 'telegram' });
    const { identity_session_id } = (await w.call('POST', `/v1/products/p/${slug}/identity`)).body;
    const body = { identity_session_id, provider_user_id: '4711' };
    const effects = () => count('identity_sessions WHERE id = ? AND completed_at IS NOT NULL', identity_session_id);
    const headers = { 'X-Svc-Connector-Secret': CONNECTOR_SECRETS.telegram[0] };
    return { path: '/v1/integrations/connectors/telegram/identity', by: null, headers, body, other: { ...body, username: 'ada' }, effects };
  },
  'POST /v1/payments/{payment_id}/transaction': async () => {
    const buyer = await w.chain.wallet();
    const bill = await w.connect(await w.product(people.ada), { wallet_address: buyer.address });
    const effects = () => count('payment_candidates WHERE payment_id = ?', bill.payment_id);
    const transaction = await w.chain.sign(buyer, bill.transaction);
    return { path: `/v1/payments/${bill.payment_id}/transaction`, by: null, body: { transaction }, effects };
  },
  'POST /v1/payments/{payment_id}/refund-transaction': async () => {
    const { path, id } = await refundable(w, people.ada);
    const body = { amount: { asset: 'USDC', amount: '1' } };
    return { path: `${path}/refund-transaction`, body, other: {}, effects: () => count('refunds WHERE payment_id = ?', id) };
  },
  'POST /v1/payments/{payment_id}/refund-confirm': async () => {
    const paid = await refundable(w, people.ada);
    const tx_signature = await landRefund(w, people.ada, paid);
    const other = { tx_signature: base58.encode(new Uint8Array(64).fill(7)) };
    const effects = () => count('refunds WHERE payment_id = ? AND seen_at IS NOT NULL', paid.id);
    return { path: `${paid.path}/refund-confirm`, body: { tx_signature }, other, effects };
  },
  'POST /v1/support/tickets': async () => {
    const subject = unique();
    const body = { subject, body: 'Why?' };
    const effects = () => count('support_tickets WHERE subject = ?', subject);
    return { path: '/v1/support/tickets', body, other: { ...body, category: 'other' }, effects };
  },
  'POST /v1/support/tickets/{ticket_id}/message': async () => {
    const id = await newTicket();
    const effects = async () => (await count('support_messages WHERE ticket_id = ?', id)) - 1;
    return { path: `/v1/support/tickets/${id}/message`, body: { body: 'Well?' }, other: { body: 'Well? ' }, effects };
  },
  'POST /v1/support/tickets/{ticket_id}/close': async () => {
    const id = await newTicket();
    return { path: `/v1/support/tickets/${id}/close`, effects: async () => (await version('support_tickets', id)) - 1 };
  },
  'POST /v1/support/tickets/{ticket_id}/resolve': async () => {
    const id = await newTicket();
    const effects = async () => (await version('support_tickets', id)) - 1;
    return { path: `/v1/support/tickets/${id}/resolve`, by: people.staff.token, effects };
  },
  'POST /v1/billing/checkout/processor': async () => {
    const { token, userId } = await w.merchant('free');
    const effects = () => asked('/checkout/sessions', (form) => form.client_reference_id === userId);
    return { path: '/v1/billing/checkout/processor', by: token, body: { plan: 'starter' }, other: { plan: 'growth' }, effects };
  },
  'POST /v1/billing/portal/processor': async () => {
    const { token, customer } = await buyer();
    const effects = () => asked('/billing_portal/sessions', (form) => form.customer === customer);
    const other = { return_url: 'https://svc.test/dashboard' };
    return { path: '/v1/billing/portal/processor', by: token, body: {}, other, effects };
  },
  'POST /v1/billing/refresh/processor': async () => {
    const { token, userId, customer } = await buyer();
    const stored = 'billing_customers WHERE account_id = ? AND customer_id = ? AND subscription_id IS NOT NULL';
    return { path: '/v1/billing/refresh/processor', by: token, effects: () => count(stored, userId, customer) };
  },
  'DELETE /v1/account/identities/{provider}': async () => {
    const { token, userId } = await w.merchant();
    const row = w.env.DB.prepare('INSERT INTO sign_in_identities (provider, subject, account_id, email, linked_at) VALUES (?, ?, ?, ?, ?)');
    await row.bind('google', unique(), userId, null, Date.now()).run();
    const effects = async () => 1 - (await count('sign_in_identities WHERE account_id = ?', userId));
    return { method: 'DELETE', path: '/v1/account/identities/google', by: token, effects };
  },
  'DELETE /v1/account/sessions/{session_id}': async () => {
    const { token, userId } = await w.merchant();
    await tokenSignedIn(w, userId, 1);
    const open = async () => (await w.call('GET', '/v1/account/sessions', { key: token })).body.items;
    const [, { session_id: id }] = await open();
    return { method: 'DELETE', path: `/v1/account/sessions/${id}`, by: token, effects: async () => 2 - (await open()).length };
  },
  'DELETE /v1/account/sessions': async () => {
    const { token, userId } = await w.merchant();
    await tokenSignedIn(w, userId, 1);
    const open = async () => (await w.call('GET', '/v1/account/sessions', { key: token })).body.items;
    return { method: 'DELETE', path: '/v1/account/sessions', by: token, effects: async () => 2 - (await open()).length };
  },
  ...memberWrites(w),
  'DELETE /v1/account/domain': async () => {
    const { token, userId } = await w.merchant();
    const names = 'INSERT INTO seller_domains (merchant_id, domain, token, status, next_check_at, created_at)';
    await w.env.DB.prepare(`${names} VALUES (?, 'shop.com', 'dom_x', 'pending', 9e15, 0)`).bind(userId).run();
    const left = () => count('seller_domains WHERE merchant_id = ?', userId);
    return { method: 'DELETE', path: '/v1/account/domain', by: token, effects: async () => 1 - (await left()) };
  },
  ...factorWrites(w),
  ...customerWrites(w, () => people.ada),
  'POST /v1/account/delivery/test': async () => {
    const effects = () => count("platform_checks WHERE provider = 'telegram'");
    return { path: '/v1/account/delivery/test', body: { provider: 'telegram' }, other: { provider: 'discord' }, effects };
  },
  'POST /v1/account/delivery/claims': async () => {
    const { key, userId } = await w.merchant();
    const effects = () => count('communities WHERE account_id = ?', userId);
    return { path: '/v1/account/delivery/claims', by: key, body: { provider: 'telegram' }, other: { provider: 'discord' }, effects };
  },
  'DELETE /v1/account/delivery/claims/{claim_id}': async () => {
    const { claim_id: id } = (await claimed()).body;
    const effects = async () => 1 - (await count('communities WHERE id = ?', id));
    return { method: 'DELETE', path: `/v1/account/delivery/claims/${id}`, effects };
  },
  'DELETE /v1/access/x402/listings/{listing_id}': async () => {
    const { key, userId } = await w.merchant();
    const id = await listed(userId);
    return {
      method: 'DELETE',
      path: `/v1/access/x402/listings/${id}`,
      by: key,
      effects: async () => 1 - (await count('listings WHERE id = ?', id)),
    };
  },
  'POST /v1/access/x402/listings/refresh': async () => {
    const { key, userId } = await w.merchant();
    const id = await listed(userId);
    const effects = () => count('listings WHERE id = ? AND next_probe_at IS NOT NULL', id);
    return { path: '/v1/access/x402/listings/refresh', by: key, effects };
  },
  'POST /v1/integrations/connectors/{provider}/claims': async () => {
    const { code, chat_id } = await begunClaim();
    const effects = () => count('communities WHERE native_id = ?', chat_id);
    const headers = { 'X-Svc-Connector-Secret': CONNECTOR_SECRETS.telegram[0] };
    const body = { code, chat_id };
    return { path: '/v1/integrations/connectors/telegram/claims', by: null, headers, body, other: { ...body, chat_id: '-1' }, effects };
  },
  'POST /v1/receipt': async () => {
    const bill = await w.connect(await w.product(people.ada));
    const tx_sig = await w.chain.pay(await w.chain.wallet(), bill);
    const effects = () => count('receipts WHERE payment_id = ?', bill.payment_id);
    return { path: '/v1/receipt', body: { tx_sig }, other: { tx_sig: base58.encode(new Uint8Array(64).fill(7)) }, effects };
  },
  'POST /v1/account/email/verification': async () => {
    const { token, userId } = await w.merchant();
    const headers = { 'CF-Connecting-IP': strangerAddress() };
    return { path: '/v1/account/email/verification', by: token, headers, effects: () => count('mails WHERE account_id = ?', userId) };
  },
  'POST /v1/account/email/verify': () => proveAddress('verify'),
  'POST /v1/account/email/disown': () => proveAddress('disown'),
  'POST /v1/auth/password/forgot': async () => {
    const email = `${unique()}@example.com`;
    const effects = () => count('mails WHERE address = ?', email);
    const headers = { 'CF-Connecting-IP': strangerAddress() };
    return { path: '/v1/auth/password/forgot', by: null, headers, body: { email }, other: { email: `x${email}` }, effects };
  },
  'POST /v1/auth/password/reset': async () => {
    const { userId } = await w.merchant();
    const body = { token: await emailedToken(w, userId, 'reset'), new_password: 'battery staple 9' };
    const effects = async () => (await version('accounts', userId)) - 1;
    return { path: '/v1/auth/password/reset', by: null, body, other: { ...body, new_password: 'battery staple 10' }, effects };
  },
  'PATCH /v1/receipt/{receipt_id}/invoice-metadata': async () => {
    const id = await newReceipt();
    const effects = () => count('receipt_metadata WHERE receipt_id = ?', id);
    const body = { invoice_number: '1' };
    return { method: 'PATCH', path: `/v1/receipt/${id}/invoice-metadata`, body, other: { invoice_number: '2' }, effects };
  },
  'POST /v1/receipt/{receipt_id}/send-proof': async () => {
    await w.db.run(`UPDATE persons SET email_verified = 1 WHERE id = '${people.ada.userId}'` as never);
    const id = await newReceipt();
    const [body, effects] = [{ email: 'grace@example.com' }, () => count('mails WHERE subject_id = ?', id)];
    return { path: `/v1/receipt/${id}/send-proof`, body, other: { ...body, name: 'G' }, effects };
  },
  'PATCH /v1/account/me': async () => {
    const { key, userId } = await w.merchant();
    const before = await version('accounts', userId);
    const effects = async () => (await version('accounts', userId)) - before;
    return { method: 'PATCH', path: '/v1/account/me', by: key, body: { display_name: 'A' }, other: { display_name: ' A' }, effects };
  },
  'POST /v1/keys': async () => {
    const name = unique();
    const effects = () => count('api_keys WHERE name = ?', name);
    return { path: '/v1/keys', by: people.ada.token, body: { name }, other: { name, sandbox_mode: false }, effects };
  },
  'DELETE /v1/keys/{key_id}': async () => {
    const { body } = await w.call('POST', '/v1/keys', { key: people.ada.token, body: { name: 'gone' } });
    const effects = () => count('api_keys WHERE id = ? AND revoked_at IS NOT NULL', body.key.id);
    return { method: 'DELETE', path: `/v1/keys/${body.key.id}`, by: people.ada.token, effects };
  },
  'PATCH /v1/keys/{key_id}': async () => {
    const { body } = await w.call('POST', '/v1/keys', { key: people.ada.token, body: { name: 'wide' } });
    const { id } = body.key;
    const effects = async () => (await version('api_keys', id)) - 1;
    return { method: 'PATCH', path: `/v1/keys/${id}`, by: people.ada.token, body: { name: 'A' }, other: { name: 'B' }, effects };
  },
  'POST /v1/keys/{key_id}/roll': async () => {
    const { body } = await w.call('POST', '/v1/keys', { key: people.ada.token, body: { name: 'old' } });
    const effects = () => count('api_keys WHERE rolled_from = ?', body.key.id);
    return { path: `/v1/keys/${body.key.id}/roll`, by: people.ada.token, body: { overlap_hours: 1 }, other: { overlap_hours: 2 }, effects };
  },
  'POST /v1/auth/register': async () => {
    const body = { email: `${unique()}@example.com`, password: 'correct horse battery', display_name: 'Ada' };
    const effects = () => count('persons WHERE email = ?', body.email);
    return { path: '/v1/auth/register', by: null, body, other: { ...body, display_name: 'Ada ' }, effects };
  },
};
