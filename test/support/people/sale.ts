import type { CallOptions, Merchant, World } from '../world.ts';
import { newAgent, newKey, write } from './agent.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

export const readiness = async (w: World, merchant: Merchant, query: string, options: CallOptions = {}): Promise<Body> =>
  (await w.call('GET', `/v1/access/setup/readiness?${query}`, { key: merchant.key, ...options })).body;

export const checkOf = (answer: Body, code: string): Body => answer.checks.find((check: Body) => check.code === code);

export const failingIn = (answer: Body): string[] =>
  answer.checks.filter(({ status }: Body) => status === 'fail').map(({ code }: Body) => code);

export const openSession = (
  w: World,
  merchant: Merchant,
  body: Record<string, unknown>,
  options: { key?: string; idempotencyKey?: string } = {},
) => write(w, merchant, 'payment-sessions', body, options);

async function sellsByCheckout(w: World, merchant: Merchant, product: Body, asset: 'USDC' | 'SOL'): Promise<boolean> {
  const railId = asset === 'SOL' ? 'solana_sol' : 'solana_usdc';
  const session = await openSession(w, merchant, { product_id: product.product_id, rail_id: railId });
  if (session.status !== 201) return false;
  const bill = await w.call('POST', `/v1/products/p/${product.slug}/connect`, {
    body: { payment_session_id: session.body.payment_session_id },
  });
  if (bill.status !== 200 || bill.body.price.asset !== asset) return false;
  const pay = asset === 'SOL' ? w.chain.paySol : w.chain.pay;
  const signature = await pay.call(w.chain, await w.chain.wallet(), bill.body);
  return (await w.confirm(bill.body.payment_id, signature)).body.payment?.status === 'CONFIRMED';
}

async function sellsByX402(w: World, merchant: Merchant, product: Body): Promise<boolean> {
  const agent = await newAgent(w);
  const body = { product_id: product.product_id, customer: { wallet_address: agent.wallet.address } };
  const header = (await write(w, merchant, 'entitlements/consume', body)).headers.get('PAYMENT-REQUIRED');
  if (!header) return false;
  const payment = { product_id: product.product_id, payment_signature: await agent.pay(header), consume_units: 1 };
  return (await write(w, merchant, 'x402/settle', payment)).status === 200;
}

/** Returns true if a live sale works over every rail of the product. Returns false if there is none. */
export async function isSold(w: World, merchant: Merchant, productId: string): Promise<boolean> {
  const { body: product } = await w.call('GET', `/v1/products/${productId}`, { key: merchant.key });
  const { body: settings } = await w.call('GET', '/v1/access/rail-settings', { key: merchant.key });
  const isOn = (railId: string) => settings.items.find((item: Body) => item.rail_id === railId).enabled;
  const ways: string[] = product.allowed_rails.filter(isOn);
  if (ways.length === 0) return false;
  const sold = await Promise.all(
    ways.map((way) =>
      way === 'x402_solana_usdc'
        ? sellsByX402(w, merchant, product)
        : sellsByCheckout(w, merchant, product, way === 'solana_sol' ? 'SOL' : 'USDC'),
    ),
  );
  return sold.every((one) => one);
}

/** Applies a fix exactly as an agent would. Only the parts in <…> are the agent's own. */
export async function apply(w: World, merchant: Merchant, fix: Body): Promise<number> {
  if (fix.transaction) {
    const signed = await w.chain.sign(merchant.wallet, fix.transaction);
    await w.chain.call('sendTransaction', signed, { encoding: 'base64' });
    return 200;
  }
  const text = JSON.stringify(fix.body ?? null)
    .replace('<address of your Solana wallet>', merchant.wallet.address)
    .replace('<an amount worth more than 0.00089088 SOL>', '0.5');
  const body = text === 'null' ? undefined : JSON.parse(text.replace('<https URL of yours>', 'https://shop.example.com/hooks'));
  const headers = { 'Idempotency-Key': newKey() };
  return (await w.call(fix.method, fix.path, { key: fix.path === '/v1/keys' ? merchant.token : merchant.key, body, headers })).status;
}
