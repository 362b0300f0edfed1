import { readFileSync } from 'node:fs';
import { createClient } from '@paylatch/sdk';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { type Budget, openPurse } from './budget.ts';

const { SVC_BASE_URL, RPC_URL, WALLET_FILE } = process.env;
const wallet = await createKeyPairSignerFromBytes(new Uint8Array(JSON.parse(readFileSync(WALLET_FILE!, 'utf8'))));
const open = (budget: Budget) => openPurse(wallet, RPC_URL!, budget);
const client = createClient({ baseUrl: SVC_BASE_URL! });

// 1. An account, without a person. The secret is shown once: an agent that restarts needs it again.
const { setup_intent_id: id, setup_secret } = await client.agentSetup.create({ agent_name: 'Forecast buyer', plan: 'starter' });
const limit = { asset: 'USDC', amount: '19' } as const;
const { status, next_actions } = await client.agentSetup.putManifest(id, {
  setup_secret,
  manifest_version: '1',
  name: 'Forecast buyer',
  contact_email: 'agent@forecasts.example.com',
  // Binds payments with this setup secret, by any holder of it.
  spend_limits: { per_payment: limit, per_day: limit },
});
console.log(`The account is open, and its manifest is ${status}.`);

// 2. The plan. The answer before named the call. Public clients refuse more than $1, so this purse has a limit of its own.
const plan = next_actions.find(({ action }) => action === 'activate_plan');
if (!plan) throw new Error(`The service suggests no plan: ${JSON.stringify(next_actions)}`);
const headers = { 'X-Svc-Setup-Secret': setup_secret };
const buyPlan = async (path: string, budget: Budget) => {
  const answer = await open(budget).fetch(SVC_BASE_URL + path, { method: 'POST', headers });
  return { answer, body: (await answer.json()) as { plan?: string; paid_through?: string; code?: string; meta?: { reason: string } } };
};
const { body: bought } = await buyPlan(plan.path, { perPayment: '$19', total: 19_000_000n });
console.log(`Plan ${bought.plan}, paid through ${bought.paid_through}.`);

// 3. The service refuses what exceeds the spend limits of the manifest, even if the agent would pay.
const { answer, body: refusal } = await buyPlan('/v1/access/x402/activate/growth', { perPayment: '$1000', total: 1_000_000_000n });
console.log(`A higher plan is refused by the service: ${answer.status} ${refusal.code} (${refusal.meta?.reason}).`);

// 4. Purchases, within the agent's own budget.
const purse = open({ perPayment: '$0.10', total: 120_000n });
for (const url of process.argv.slice(2)) {
  try {
    const response = await purse.fetch(url);
    console.log(`${response.status} ${await response.text()}`);
  } catch (error) {
    console.log(`Not bought, ${url}: ${(error as Error).message}`);
  }
}
console.log(`Spent on purchases: ${purse.spent} base units.`);
