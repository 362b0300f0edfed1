import { type AccountId, type KeyId, newId, type SetupIntentId } from '#core/ids.ts';
import { hashSetupSecret, newSetupSecret } from '#features/agent-setup/secret.ts';
import { newCtx } from '#platform/context.ts';
import { setupIntents } from '#platform/db/tables/setups.ts';
import type { PaidPlan } from '#rules/plans.ts';
import { testEnv } from '../runner/env.ts';
import type { Answer, CallOptions, Merchant, World } from '../world.ts';
import { type Agent, decoded, feePayerOf, newAgent } from './agent.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

/** Prepares plan sales: an account that receives the money, and one that pays network fees. */
export async function openTreasury(w: World): Promise<void> {
  await w.chain.call('local_fundSol', feePayerOf(w), '1000000000');
  await w.chain.call('local_fundUsdc', w.env.TREASURY_WALLET, '1');
}

export async function newSpender(w: World): Promise<Agent> {
  const agent = await newAgent(w);
  agent.client.setSpendControls({ maxAmountPerPayment: '$199' });
  return agent;
}

export interface Buyer {
  key?: string;
  secret?: string;
}

export const buy = (w: World, plan: string, { key, secret }: Buyer, payment?: string, options: CallOptions = {}): Promise<Answer<Body>> =>
  w.call('POST', `/v1/access/x402/activate/${plan}`, {
    key,
    ...options,
    headers: {
      ...(secret === undefined ? {} : { 'X-Svc-Setup-Secret': secret }),
      ...(payment === undefined ? {} : { 'PAYMENT-SIGNATURE': payment }),
      ...options.headers,
    },
  });

/** Returns a signed, unsent payment for a plan. */
export async function payFor(w: World, agent: Agent, plan: PaidPlan, buyer: Buyer): Promise<string> {
  const { headers, status, body } = await buy(w, plan, buyer);
  if (status !== 402) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return agent.pay(headers.get('PAYMENT-REQUIRED')!);
}

export const activate = async (w: World, agent: Agent, plan: PaidPlan, buyer: Buyer): Promise<Answer<Body>> =>
  buy(w, plan, buyer, await payFor(w, agent, plan, buyer));

export const paymentResponse = ({ headers }: Answer<unknown>): Body => decoded(headers.get('PAYMENT-RESPONSE')!);

export async function readAccountPlan({ userId }: Merchant): Promise<{ plan: string; plan_through: number | null; version: number }> {
  const row = testEnv.DB.prepare('SELECT plan, plan_through, version FROM accounts WHERE id = ?').bind(userId);
  return (await row.first<{ plan: string; plan_through: number | null; version: number }>())!;
}

export interface SettlementRow {
  payment_id: string;
  status: string;
  purpose: string;
  tx_signature: string;
}
export async function readSettlements({ userId }: Merchant): Promise<SettlementRow[]> {
  const rows = testEnv.DB.prepare('SELECT * FROM settlements WHERE merchant_id = ? ORDER BY created_at').bind(userId);
  return (await rows.all<SettlementRow>()).results;
}

export async function readActivations({ userId }: Merchant): Promise<{ payment_id: string; plan: string; resulting_plan: string }[]> {
  const rows = testEnv.DB.prepare('SELECT * FROM activations WHERE account_id = ? ORDER BY paid_through').bind(userId);
  return (await rows.all<{ payment_id: string; plan: string; resulting_plan: string }>()).results;
}

/** USDC units of the treasury beyond its opening balance. */
export async function treasuryUnits(w: World): Promise<bigint> {
  const { value } = await w.chain.call<{ value: { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[] }>(
    'getTokenAccountsByOwner',
    w.env.TREASURY_WALLET,
    { mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' },
    { encoding: 'jsonParsed' },
  );
  return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), -1n);
}

export interface SetupOptions {
  perPayment?: bigint;
  perDay?: bigint;
  expiresAt?: number | null;
  status?: 'created' | 'expired';
}

export async function newSetup(w: World, options: SetupOptions = {}): Promise<{ merchant: Merchant; id: SetupIntentId; secret: string }> {
  const merchant = await w.merchant('free');
  const now = Date.now();
  const id = newId<SetupIntentId>(now, merchant.userId);
  const secret = newSetupSecret(id);
  await w.db.insert(setupIntents).values({
    id,
    accountId: merchant.userId as AccountId,
    secretHash: hashSetupSecret(newCtx(w.env, { requestId: 'req_setup', defer: () => {} }), secret),
    status: options.status ?? 'created',
    agentName: 'Agent',
    operatorContact: null,
    intendedUse: null,
    plan: null,
    manifest: null,
    evaluation: null,
    spendPerPayment: options.perPayment ?? null,
    spendPerDay: options.perDay ?? null,
    sandboxKeyId: newId<KeyId>(now, merchant.userId),
    liveKeyId: null,
    approvedAt: null,
    expiresAt: options.expiresAt === undefined ? now + 86_400_000 : options.expiresAt,
    createdAt: now,
    updatedAt: now,
    version: 1,
  });
  return { merchant, id, secret };
}

export async function setupRow(id: string): Promise<{ expires_at: number | null; version: number }> {
  const row = testEnv.DB.prepare('SELECT expires_at, version FROM setup_intents WHERE id = ?').bind(id);
  return (await row.first<{ expires_at: number | null; version: number }>())!;
}
