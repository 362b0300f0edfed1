import {
  type CompleteSIWxInfo,
  createSIWxMessage,
  createSIWxPayload,
  encodeSIWxHeader,
  type SolanaSigner,
  signSolanaMessage,
} from '@x402/extensions/sign-in-with-x';
import { expect } from 'vitest';
import { entitlementIdOf } from '#core/ids.ts';
import type { Env } from '#platform/context.ts';
import { testEnv } from '../runner/env.ts';
import type { Merchant, World } from '../world.ts';
import { type Agent, decoded, newAgent, newKey, sellAt, stall } from './agent.ts';

/**
 * Signs in as the public client does, with what a challenge offers. `changed`: signed fields that differ from the challenge's, although
 * a careful client refuses them.
 */
export async function signIn(agent: Pick<Agent, 'signer'>, header: string, changed: Partial<CompleteSIWxInfo> = {}): Promise<string> {
  const { info, supportedChains } = decoded(header).extensions['sign-in-with-x'];
  const asked: CompleteSIWxInfo = { ...info, ...supportedChains[0] };
  const payload = await createSIWxPayload(asked, agent.signer, asked.uri);
  if (Object.keys(changed).length === 0) return encodeSIWxHeader(payload);
  const message = createSIWxMessage({ ...asked, ...changed }, payload.address);
  return encodeSIWxHeader({ ...payload, ...changed, signature: await signSolanaMessage(message, agent.signer as SolanaSigner) });
}

/** First origin of the shop, and another one. */
export const [ORIGIN, OTHER] = ['https://shop.example', 'https://api.shop.example:8443'];
export const resource = { url: `${ORIGIN}/report?day=1`, method: 'GET' };

interface Sent {
  key?: string;
  idempotencyKey?: string;
  env?: Env;
  body?: object;
  headers?: Record<string, string>;
}
type Answer = Awaited<ReturnType<World['call']>>;

/** Reads an answer as status, code, `meta.sign_in`, and whether it has a challenge. */
// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
export function verdictOf({ status, body, headers }: Pick<Answer, 'status' | 'headers'> & { body: any }) {
  const fresh = headers.get('PAYMENT-REQUIRED');
  if (fresh) expect(decoded(fresh)).toEqual(body.meta.payment_required);
  return [status, body.code, body.meta.sign_in, fresh !== null];
}
export const refused = (reason: string) => [403, 'entitlement_missing', { valid: false, reason: `invalid_siwx_${reason}` }, true];
export const proven = ({ wallet }: Agent) => [403, 'entitlement_missing', { valid: true, wallet_address: wallet.address }, true];

/** Shop with two origins, which sells five units at once. */
export async function openSignInShop(w: World) {
  const merchant: Merchant = await w.merchant();
  const product = await sellAt(w, merchant, [ORIGIN, OTHER], { usage_units: 5 });
  const shop = stall(w, merchant, product, await newAgent(w));
  const consume = (sign_in: string, { key = merchant.key, idempotencyKey = newKey(), env, body = {}, headers = {} }: Sent = {}) =>
    w.call('POST', '/v1/access/entitlements/consume', {
      key,
      body: { product_id: product.product_id, sign_in, resource, ...body },
      headers: { 'Idempotency-Key': idempotencyKey, ...headers },
      ...(env ? { env } : {}),
    });
  /** Challenge for a stranger. */
  const challenge = (body: object = {}) => shop.challenge({ customer: { customer_ref: crypto.randomUUID() }, resource, ...body });
  /** New wallet that has bought five units and used one. */
  const buyer = async (): Promise<Agent> => {
    const agent = await newAgent(w);
    const settled = await shop.settle(await agent.pay(await challenge()), { resource });
    expect([settled.status, settled.body.remaining]).toEqual([200, 4]);
    return agent;
  };
  const objectOf = ({ wallet }: Agent) => {
    const id = entitlementIdOf(merchant.userId, true, product.product_id, { walletAddress: wallet.address });
    return testEnv.ENTITLEMENT.getByName(`${merchant.userId}:live:${id}`);
  };
  const countLeft = async (agent: Agent): Promise<number | null> => (await objectOf(agent).read({ now: Date.now() }))?.remaining ?? null;
  return { ...shop, consume, challenge, buyer, objectOf, countLeft };
}
