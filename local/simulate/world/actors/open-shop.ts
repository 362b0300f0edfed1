import type { Product, Shop } from '../../book/history.ts';
import type { Body } from '../../book/host.ts';
import type { SimulatedChain } from '../outside/chain.ts';
import { HOOKS } from '../outside/hosts.ts';
import type { Outside } from '../outside/outside.ts';
import { Wallet } from '../outside/wallet.ts';
import type { Caller } from './caller.ts';

export interface World {
  chain: SimulatedChain;
  outside: Outside;
  nodes: readonly string[];
  /** Days that may still pass. */
  daysLeft: number;
}

/** Merchant with the wallet that it is paid on. */
export interface Merchant {
  shop: Shop;
  wallet: Wallet;
}

const LAMPORTS = 1_000_000_000n;
const OPENING_TRIES = 30;
const USDC_UNITS = 1_000_000n;
const TROUBLE_MAX = 0.4;

const TERMS = [
  { name: 'Weather by request', price: '0.01', usage_units: 3, access_period_days: null },
  { name: 'Weather for a month', price: '5', usage_units: null, access_period_days: 30 },
] as const;

/** Registers a merchant by wallet, with keys of both modes, products and webhook endpoints. Null if faults prevented it. */
export async function openShop(caller: Caller, { chain, outside }: World): Promise<Merchant | null> {
  const wallet = new Wallet(caller.dice.bytes(32));
  chain.fundLamports(wallet.address, LAMPORTS);
  chain.fundUsdc(wallet.address, 1n);
  const account = await signIn(caller, wallet);
  if (account === null) return null;
  const keys: string[] = [];
  for (const sandbox_mode of [false, true]) {
    const made = await must(caller, '/v1/keys', account.token, { name: 'server', sandbox_mode });
    if (made === null) return null;
    keys.push(made.raw_key);
  }
  const shop: Shop = {
    name: caller.name,
    accountId: account.user_id,
    token: account.token,
    liveKey: keys[0]!,
    sandboxKey: keys[1]!,
    wallets: [wallet.address],
    products: [],
    plans: [],
    endpoints: [],
  };
  caller.history.shops.push(shop);
  for (const livemode of [true, false]) {
    await openEndpoint(caller, shop, outside, livemode);
    for (const terms of TERMS) await openProduct(caller, shop, terms, livemode);
  }
  caller.note(`opened a shop with ${shop.products.length} products and ${shop.endpoints.length} endpoints`);
  return { shop, wallet };
}

async function signIn(caller: Caller, wallet: Wallet): Promise<Body | null> {
  // A nonce is used once, so a sign-in without an answer begins again.
  for (let attempt = 1; attempt <= OPENING_TRIES; attempt++) {
    const asked = await caller.persist('POST', '/v1/auth/wallet/nonce', { body: { wallet_address: wallet.address } });
    if (asked?.status !== 200) continue;
    const { message, message_nonce } = asked.body;
    const proof = { wallet_address: wallet.address, signed_message: wallet.signText(message), message_nonce };
    const signed = await caller.call('POST', '/v1/auth/wallet', { body: proof });
    if (signed?.status === 200) return signed.body;
  }
  return null;
}

async function must(caller: Caller, path: string, key: string, body: object): Promise<Body | null> {
  const answer = await caller.persist('POST', path, { key, body }, OPENING_TRIES);
  if (answer === null) return null;
  if (answer.status < 300) return answer.body;
  caller.history.find(`${path} refused ${JSON.stringify(body)}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return null;
}

async function openProduct(caller: Caller, shop: Shop, terms: (typeof TERMS)[number], livemode: boolean): Promise<void> {
  const { price, ...rest } = terms;
  const body = { ...rest, price: { asset: 'USDC', amount: price }, payout_wallet: shop.wallets[0], live_mode_confirmed: true };
  const made = await must(caller, '/v1/products', livemode ? shop.token : shop.sandboxKey, body);
  if (made !== null) shop.products.push(toProduct(made));
}

export const toProduct = (body: Body): Product => ({
  productId: body.product_id,
  slug: body.slug,
  livemode: body.livemode,
  priceUnits: BigInt(body.price.base_units),
  units: body.usage_units,
});

export async function openEndpoint(caller: Caller, shop: Shop, outside: Outside, livemode: boolean): Promise<void> {
  const box = `${shop.name}-${livemode ? 'live' : 'sandbox'}-${caller.dice.key()}`.replaceAll(' ', '-');
  const key = livemode ? shop.liveKey : shop.sandboxKey;
  const made = await must(caller, '/v1/webhooks/endpoints', key, { url: `https://${HOOKS}/${box}`, event_types: ['*'] });
  if (made === null) return;
  outside.trouble(box, caller.dice.chance(0.5) ? 0 : TROUBLE_MAX * caller.dice.below(2));
  shop.endpoints.push({
    endpointId: made.endpoint_id,
    box,
    livemode,
    secrets: [{ secret: made.secret, since: 0, until: 0 }],
    since: Date.parse(made.created_at),
  });
}

/** Makes a wallet with lamports for fees and `dollars` of USDC. */
export function newWallet(caller: Caller, chain: SimulatedChain, dollars: bigint): Wallet {
  const wallet = new Wallet(caller.dice.bytes(32));
  chain.fundLamports(wallet.address, LAMPORTS);
  chain.fundUsdc(wallet.address, dollars * USDC_UNITS);
  return wallet;
}
