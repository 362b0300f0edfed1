import { count, SEEDS, seeds, type Variable, variableOf } from '../variable.ts';

export const PAYING_VARIABLES = {
  FEE_PAYER_KEYS: variableOf(
    seeds.optional(),
    SEEDS,
    'the first pays the network fee of agents’ payments: its address is `extra.feePayer` of every challenge. Fund it with a little SOL and nothing else. The others still sign for challenges that name them. Without it x402 is unavailable',
    { needed: { with: 'CHALLENGE_KEYS' }, isSecret: true },
  ),
  CHALLENGE_KEYS: variableOf(seeds.optional(), SEEDS, 'the first authenticates x402 challenges, all verify', {
    needed: { with: 'FEE_PAYER_KEYS' },
    isSecret: true,
  }),
  CHANNEL_KEYS: variableOf(
    seeds.optional(),
    SEEDS,
    'the first is the operator of new payment channels: it pays for their opening and is their payee, so that it can close them. Fund it with a little SOL and create an empty USDC account. Without it metered sessions are unavailable',
    { isSecret: true },
  ),
  CHANNEL_UNSETTLED_UNITS: variableOf(
    count(1_000_000),
    'number',
    'promised amount, in millionths of a USDC, from which a channel is settled',
    {
      fallback: '1000000',
    },
  ),
  CHANNEL_SETTLE_SECONDS: variableOf(count(3600), 'number', 'seconds after which a promised amount is settled', { fallback: '3600' }),
  SUBSCRIPTION_KEYS: variableOf(
    seeds.optional(),
    SEEDS,
    'the first collects native subscriptions of new plans: each plan names it as its only puller, and it can move money only to the plan’s merchant. Fund it with a little SOL and nothing else. The others still collect for plans that name them. Without it automatic renewal is unavailable',
    { isSecret: true },
  ),
  FEE_PAYER_LOW_LAMPORTS: variableOf(
    count(50_000_000),
    'number',
    'balance of the fee payer below which the log warns every minute and the rail is `degraded`. Below a hundredth of it no challenge is created',
    { fallback: '50000000' },
  ),
  FEE_ALARM_LAMPORTS: variableOf(
    count(50_000_000),
    'number',
    'lamports that the fee payer may spend within an hour. Above it the log warns every minute and health is `degraded`. 0: no alarm',
    { fallback: '50000000' },
  ),
  FREE_FEES_PER_DAY: variableOf(
    count(5000),
    'number',
    'x402 payments per day (UTC) with paid network fees, for all free accounts together. Paid plans have their own budgets',
    { fallback: '5000' },
  ),
  SETTLE_PATIENCE_MS: variableOf(count(8000), 'number', 'milliseconds that settle waits for the chain before it returns 202', {
    fallback: '8000',
  }),
} satisfies Record<string, Variable>;
