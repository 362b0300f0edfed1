import type { History, Shop } from '../book/history.ts';
import type { Body, Host } from '../book/host.ts';
import type { Dice } from '../world/outside/dice.ts';
import { HOOKS } from '../world/outside/hosts.ts';

/** Values of one tenant, by the name of the field or parameter that takes them. */
export type Pool = Map<string, string[]>;

export interface Tenant {
  shop: Shop;
  readKey: string;
  executeKey: string;
  revokedKey: string;
  /** Values that a request may name. */
  pool: Pool;
  /** Texts that no answer to another caller may contain. */
  secrets: string[];
}

/** Values that open a purchase or a sale to their holder. */
const CAPABILITIES = [
  'payment_id',
  'receipt_id',
  'slug',
  'tx_signature',
  'wallet_address',
  'payout_wallet',
  'handoff_token',
  'setup_secret',
];
const SPARE_KEYS = [['read'], ['execute'], ['read', 'execute']] as const;

/** Adds an object of every kind to a shop. Its private texts contain the shop's name. */
export async function openTenant(host: Host, shop: Shop, dice: Dice): Promise<Tenant> {
  const secret = `known-to-${shop.name.replaceAll(' ', '-')}-${dice.nonce()}`;
  const tenant: Tenant = {
    shop,
    readKey: '',
    executeKey: '',
    revokedKey: '',
    pool: new Map(),
    secrets: [secret, ...shop.endpoints.flatMap(({ secrets }) => secrets.map(({ secret }) => secret))],
  };
  const spare: Body[] = [];
  for (const permissions of SPARE_KEYS) spare.push(await must(host, 'POST', '/v1/keys', shop.token, { name: secret, permissions }));
  [tenant.readKey, tenant.executeKey, tenant.revokedKey] = spare.map(({ raw_key }) => raw_key) as [string, string, string];
  await must(host, 'DELETE', `/v1/keys/${spare[2].key.id}`, shop.token);
  noteAll(tenant.pool, { key_id: [spare[0].key.id, spare[1].key.id] });
  for (const livemode of [true, false]) await addObjects(host, tenant, { livemode, secret });
  return tenant;
}

async function must(host: Host, method: string, path: string, key: string, body?: object): Promise<Body> {
  const credential: Record<string, string> = key.startsWith('svc_') ? { 'X-Svc-Key': key } : { Authorization: `Bearer ${key}` };
  const headers = { ...credential, 'Idempotency-Key': `hostile-${host.now()}-${Math.random()}` };
  const answer = await host.call(method, path, body === undefined ? { headers } : { headers, body });
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export function noteAll(pool: Pool, values: Record<string, readonly (string | null | undefined)[]>): void {
  for (const [name, given] of Object.entries(values)) {
    const known = given.filter((value): value is string => typeof value === 'string' && value !== '');
    pool.set(name, [...new Set([...(pool.get(name) ?? []), ...known])]);
  }
}

async function addObjects(
  host: Host,
  { shop, pool, secrets }: Tenant,
  { livemode, secret }: { livemode: boolean; secret: string },
): Promise<void> {
  const key = livemode ? shop.liveKey : shop.sandboxKey;
  const make = (path: string, body: object) => must(host, 'POST', path, key, body);
  const product = shop.products.find((one) => one.livemode === livemode && one.units !== null) ?? shop.products[0]!;
  const { productId: product_id } = product;
  // Requests name it, so it must not contain the secret.
  const customer_ref = `customer-of-${product.slug}`;
  const app = await make('/v1/access/apps', { name: `${secret} app`, homepage_url: `https://${secret}.example.com` });
  const endpoint = await make('/v1/webhooks/endpoints', { url: `https://${HOOKS}/${secret}`, description: `hears of ${secret}` });
  const sent = await make(`/v1/webhooks/endpoints/${endpoint.endpoint_id}/test`, {});
  const granted = await make('/v1/access/entitlements/grant', {
    product_id,
    customer: { customer_ref },
    units: 1000,
    reason: `a gift of ${secret}`,
  });
  const consumed = await make('/v1/access/entitlements/consume', { product_id, customer: { customer_ref }, units: 1 });
  const handoff = await make(`/v1/products/${product_id}/handoffs`, { customer_ref, email: `buyer@${secret}.example.com` });
  const session = await make('/v1/access/payment-sessions', { product_id, customer_ref });
  const ticket = await make('/v1/support/tickets', { subject: `${secret} asks`, body: `Where is ${secret}?` });
  secrets.push(endpoint.secret);
  noteAll(pool, {
    access_app_id: [app.access_app_id],
    endpoint_id: [endpoint.endpoint_id],
    delivery_id: [String(sent.delivery_id)],
    entitlement_id: [granted.entitlement_id],
    consumption_id: [consumed.consumption_id],
    customer_ref: [customer_ref],
    handoff_token: [handoff.handoff_token],
    payment_session_id: [session.payment_session_id],
    ticket_id: [ticket.ticket_id],
  });
  if (livemode) return;
  const test = await make('/v1/testing/sessions', { scenario: 'payment_failed' });
  noteAll(pool, { session_id: [test.session_id] });
}

/** Notes what was sold since: products, payments, receipts and who paid. */
export async function noteSales(host: Host, { sales, settled }: History, tenant: Tenant): Promise<void> {
  const { shop, pool } = tenant;
  const own = sales.filter((sale) => sale.shop === shop);
  const paid = settled.filter((one) => one.shop === shop);
  noteAll(pool, {
    product_id: shop.products.map(({ productId }) => productId),
    slug: shop.products.map(({ slug }) => slug),
    payment_id: [...own, ...paid].map(({ paymentId }) => paymentId),
    tx_signature: paid.map(({ signature }) => signature),
    wallet_address: paid.map(({ payer }) => payer),
    payout_wallet: shop.wallets,
    endpoint_id: shop.endpoints.map(({ endpointId }) => endpointId),
  });
  await readIds(host, tenant);
}

const LISTS: Record<string, string> = {
  '/v1/receipts': 'receipt_id',
  '/v1/memberships': 'membership_id',
  '/v1/webhooks/deliveries': 'delivery_id',
  '/v1/access/entitlements': 'entitlement_id',
};

async function readIds(host: Host, { shop, pool, secrets }: Tenant): Promise<void> {
  for (const key of [shop.liveKey, shop.sandboxKey]) {
    for (const [path, name] of Object.entries(LISTS)) {
      const { items } = await must(host, 'GET', `${path}?per_page=50`, key);
      noteAll(pool, { [name]: items.map((item: Body) => String(item[name])) });
    }
    const { items } = await must(host, 'GET', '/v1/webhooks/events?per_page=50', key);
    secrets.push(...items.map(({ id }: Body) => id));
  }
}

/** Values that identify rows of the tenant, apart from those that open a page to their holder. */
export const rowNames = ({ pool }: Tenant): string[] =>
  [...pool]
    .filter(([name]) => !CAPABILITIES.includes(name) && name !== 'product_id' && name !== 'delivery_id')
    .flatMap(([, values]) => values);

export const capabilities = ({ pool }: Tenant): string[] =>
  [...pool].filter(([name]) => CAPABILITIES.includes(name) || name === 'product_id').flatMap(([, values]) => values);
