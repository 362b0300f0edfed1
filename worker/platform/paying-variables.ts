/**
 * Variables of the keys that pay on the chain and co-sign there: what they are, what they may spend, and how long the chain is awaited.
 * @module
 */

import { count, SEEDS, seeds, type Variable, variableOf } from './variable.ts';

export const PAYING_VARIABLES = {
  FEE_PAYER_KEYS: variableOf(
    seeds.optional(),
    SEEDS,
    'the first pays the network for agents’ payments: its address is `extra.feePayer` of any challenge; give it a little SOL and nothing else. The others still sign for challenges that name them. Without it there is no x402',
    { needed: { with: 'CHALLENGE_KEYS' }, isSecret: true },
  ),
  CHALLENGE_KEYS: variableOf(seeds.optional(), SEEDS, 'the first authenticates x402 challenges, all verify', {
    needed: { with: 'FEE_PAYER_KEYS' },
    isSecret: true,
  }),
  CHANNEL_KEYS: variableOf(
    seeds.optional(),
    SEEDS,
    'the first is the operator of new payment channels: it pays for their openings and is their payee, so that it can close them. Give it a little SOL and an empty USDC account. Without it there are no metered sessions',
    { isSecret: true },
  ),
  CHANNEL_UNSETTLED_UNITS: variableOf(count(1_000_000), 'number', 'millionths of a USDC promised, from which on they are settled', {
    fallback: '1000000',
  }),
  CHANNEL_SETTLE_SECONDS: variableOf(count(3600), 'number', 'how long a promise waits until it is settled', { fallback: '3600' }),
  SUBSCRIPTION_KEYS: variableOf(
    seeds.optional(),
    SEEDS,
    'the first collects native subscriptions of new plans: each plan names it as its only puller, and it can move money to the plan’s merchant alone. Give it a little SOL and nothing else. The others still collect for plans that name them. Without it nothing renews itself',
    { isSecret: true },
  ),
  FEE_PAYER_LOW_LAMPORTS: variableOf(
    count(50_000_000),
    'number',
    'below it the log warns every minute and the rail is `degraded`; below a hundredth of it no challenge is made',
    { fallback: '50000000' },
  ),
  FEE_ALARM_LAMPORTS: variableOf(
    count(50_000_000),
    'number',
    'what may leave the fee payer within an hour, in lamports; above it the log warns every minute and health is `degraded`. 0: no alarm',
    { fallback: '50000000' },
  ),
  FREE_FEES_PER_DAY: variableOf(
    count(5000),
    'number',
    'x402 payments a day (UTC) whose network fee is paid for all free accounts together; paid plans have budgets of their own',
    { fallback: '5000' },
  ),
  SETTLE_PATIENCE_MS: variableOf(count(8000), 'number', 'how long settle waits for the chain before it answers 202', {
    fallback: '8000',
  }),
} satisfies Record<string, Variable>;
