import { MANIFEST_EXAMPLE } from '#features/agent-setup/manifest/schema.ts';
import { testEnv } from '../runner/env.ts';
import type { Merchant, World } from '../world.ts';
import { newAgent, newKey, sellToAgents } from './agent.ts';
import { Setup } from './bootstrap.ts';

export type Belongings = Record<string, string>;

export interface Tenant {
  name: string;
  merchant: Merchant;
  /** Live keys: this one may only read, the next only execute. */
  readKey: string;
  executeKey: string;
  live: Belongings;
  sandbox: Belongings;
}

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

/** Opens an account, sells, is paid and makes one object of every kind. Every chosen text contains the name. */
export async function openTenant(w: World, name: string): Promise<Tenant> {
  const merchant = await w.merchant();
  const [readKey, executeKey, spare, spareSandbox] = await Promise.all(
    [['read'], ['execute'], ['read', 'execute'], null].map((permissions) => newApiKey(w, merchant, name, permissions)),
  );
  const [live, sandbox] = [
    await makeObjects(w, merchant, nameOf(name, 'live'), true),
    await makeObjects(w, merchant, nameOf(name, 'sandbox'), false),
  ];
  const setup = await Setup.create(w, {
    agent_name: `${name} agent`,
    operator_contact: `operator@${privately(nameOf(name, 'live'))}.example.com`,
  });
  await setup.call('manifest', { ...MANIFEST_EXAMPLE, name: `${name} shop` });
  return {
    name,
    merchant,
    readKey: readKey!.raw_key,
    executeKey: executeKey!.raw_key,
    live: {
      ...live,
      ...(await sell(w, merchant, name, live)),
      key_id: spare!.key.id,
      setup_intent_id: setup.id,
      setup_secret: setup.secret,
    },
    sandbox: { ...sandbox, key_id: spareSandbox!.key.id },
  };
}

async function newApiKey(w: World, merchant: Merchant, name: string, permissions: string[] | null): Promise<Body> {
  const body = {
    name: `spare ${privately(nameOf(name, permissions === null ? 'sandbox' : 'live'))}`,
    sandbox_mode: permissions === null,
    permissions: permissions ?? ['read', 'execute'],
  };
  return (await w.call('POST', '/v1/keys', { key: merchant.token, body })).body;
}

async function makeObjects(w: World, merchant: Merchant, name: string, isLive: boolean): Promise<Belongings> {
  const key = isLive ? merchant.key : merchant.sandboxKey;
  const secret = privately(name);
  const external_product_id = `${name}-external`;
  const terms = { name: `${name} product`, description: `sold by ${name}`, external_product_id, access_period_days: 30, usage_units: 100 };
  const product = await (isLive
    ? sellToAgents(w, merchant, terms)
    : w.product({ ...merchant, key: merchant.sandboxKey }, { ...terms, price: { asset: 'USDC', amount: '0.01' } }));
  const make = async (path: string, body: unknown): Promise<Body> => {
    const answer = await w.call('POST', path, { key, body, headers: { 'Idempotency-Key': newKey() } });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const { product_id } = product;
  const customer_ref = `${name}-customer`;
  const customer = { customer_ref };
  const app = await make('/v1/access/apps', { name: `${secret} app`, homepage_url: `https://${secret}.example.com` });
  const noted = await make('/v1/customers', { customer_ref: `${name}-noted`, email: `noted@${secret}.example.com` });
  const url = `${testEnv.TEST_RECEIVER_URL}/ok/${secret}`;
  const endpoint = await make('/v1/webhooks/endpoints', { url, description: `hears of ${secret}` });
  const sent = await make(`/v1/webhooks/endpoints/${endpoint.endpoint_id}/test`, {});
  const granted = await make('/v1/access/entitlements/grant', { product_id, customer, units: 1000, reason: `a gift ${secret}` });
  const consumed = await make('/v1/access/entitlements/consume', { product_id, customer });
  const handoff = await make(`/v1/products/${product_id}/handoffs`, { customer_ref, email: `buyer@${secret}.example.com` });
  const session = await make('/v1/access/payment-sessions', { product_id, customer_ref });
  const ticket = await make('/v1/support/tickets', { subject: `${secret} asks`, body: `Where is ${secret}?` });
  return {
    product_id,
    slug: product.slug,
    external_product_id,
    access_app_id: app.access_app_id,
    customer_id: noted.customer_id,
    endpoint_id: endpoint.endpoint_id,
    delivery_id: String(sent.delivery_id),
    entitlement_id: granted.entitlement_id,
    consumption_id: consumed.consumption_id,
    customer_ref,
    payout_wallet: merchant.wallet.address,
    handoff_token: handoff.handoff_token,
    payment_session_id: session.payment_session_id,
    ticket_id: ticket.ticket_id,
  };
}

/** Makes the objects of a sale. Live only, because a sandbox key never pays on chain. */
async function sell(w: World, merchant: Merchant, name: string, { slug, product_id }: Belongings): Promise<Belongings> {
  const agent = await newAgent(w);
  const buyer = { customer_ref: `${name}-customer`, email: `buyer@${privately(name)}.example.com` };
  const { payment, signature, confirmed } = await w.purchase({ slug: slug! }, agent.wallet, buyer);
  const identified = await w.product(merchant, { name: `${name} club`, requires_identity: 'telegram' });
  const identity = await w.call('POST', `/v1/products/p/${identified.slug}/identity`);
  const customer = { wallet_address: agent.wallet.address };
  const write = (verb: string, body: object) =>
    w.call('POST', `/v1/access/entitlements/${verb}`, { key: merchant.key, body, headers: { 'Idempotency-Key': newKey() } });
  const denied = await write('consume', { product_id, customer });
  await write('grant', { product_id, customer, units: 1000, reason: 'a gift' });
  return {
    payment_id: payment.payment_id,
    receipt_id: confirmed.receipt_id,
    membership_id: confirmed.membership_id,
    tx_signature: signature,
    tx_sig: signature,
    wallet_address: agent.wallet.address,
    identity_session_id: identity.body.identity_session_id,
    payment_signature: await agent.pay(denied.headers.get('PAYMENT-REQUIRED')!),
  };
}

/** Fields that only the merchant may read. All others are shown to the holder of a link. */
const PRIVATE =
  /^(?:endpoint_id|entitlement_id|key_id|customer_(?:ref|id)|ticket_id|handoff_token|consumption_id|access_app_id|setup_|payment_signature)/;

/**
 * Texts that identify a tenant in one mode: all of them, or those in no public answer. Includes ids of events and keys, emails and private
 * texts, which no request names.
 */
export async function readTraces(tenant: Tenant, mode: 'live' | 'sandbox', isPublic: boolean): Promise<string[]> {
  const { merchant, name } = tenant;
  const ids = async (table: string) => {
    const rows = testEnv.DB.prepare(`SELECT id FROM ${table} WHERE merchant_id = ? AND livemode = ?`);
    return (await rows.bind(merchant.userId, mode === 'live' ? 1 : 0).all<{ id: string }>()).results.map(({ id }) => id);
  };
  const hidden = [merchant.email, privately(nameOf(name, mode)), ...(await ids('events')), ...(await ids('api_keys'))];
  const named = Object.entries(tenant[mode]).filter(([field]) => field !== 'delivery_id' && (!isPublic || PRIVATE.test(field)));
  return [...hidden, ...named.map(([, value]) => value)];
}

const nameOf = (name: string, mode: 'live' | 'sandbox'): string => `${name}-${mode}`;
const privately = (suffix: string): string => `known-to-${suffix}`;
