import { type Aim, type FaultKind, FITTING } from '../runtime/faults.ts';

/** Ways out of the service, by what can go wrong there. */
const WAYS: Partial<Record<keyof typeof FITTING, readonly string[]>> = {
  d1: ['raw', 'all', 'run', 'batch'],
  object: [
    ...['admit', 'hit', 'record', 'load', 'putKey', 'stage', 'spendFees', 'commit'],
    ...['credit', 'consume', 'refund', 'grant', 'read', 'finalize', 'published', 'noteRenewal'],
    ...['claimChannel', 'open', 'reserve', 'mayClose', 'close', 'seen', 'end', 'checkAgain', 'noteAbsent', 'voucher', 'revokeKey'],
  ],
  queue: ['send', 'sendBatch'],
  fetch: ['POST'],
  alarm: ['alarm'],
};
const QUEUES = ['svc-jobs', 'svc-sandbox', 'svc-webhooks', 'svc-webhooks-slow', 'svc-mail', 'svc-sweeps'];

/** Invocations that the actors of a history cause, by their names. */
const VERBS = [
  'POST /v1/auth/wallet/nonce',
  'POST /v1/auth/wallet',
  'DELETE /v1/account/account',
  'POST /v1/keys',
  'DELETE /v1/keys/:id',
  'POST /v1/products',
  'PATCH /v1/products/:id',
  'POST /v1/products/p/:slug/connect',
  'POST /v1/pay/confirm',
  'POST /v1/access/:id/settle',
  'POST /v1/access/:id/facilitator/verify',
  'POST /v1/access/:id/facilitator/settle',
  'POST /v1/access/:id/activate/starter',
  'POST /v1/access/:id/activate/growth',
  'POST /v1/access/entitlements/consume',
  'POST /v1/access/entitlements/grant',
  'POST /v1/access/entitlements/refund',
  'POST /v1/access/metered-sessions',
  'POST /v1/access/metered-sessions/:id/authorize',
  'POST /v1/access/metered-sessions/:id/deliveries',
  'POST /v1/access/metered-sessions/:id/commits',
  'POST /v1/access/metered-sessions/:id/close',
  'POST /v1/access/products/:id/subscription-plan',
  'POST /v1/access/products/:id/subscription-plan/confirm',
  'POST /v1/access/native-subscriptions/:id/cancel-intent',
  'POST /v1/access/native-subscriptions/:id/stop',
  'POST /v1/payments/:id/transaction',
  'POST /v1/payments/:id/refund-transaction',
  'POST /v1/testing/pay',
  'POST /v1/testing/sessions',
  'POST /v1/webhooks/endpoints',
  'PATCH /v1/webhooks/endpoints/:id',
  'DELETE /v1/webhooks/endpoints/:id',
  'POST /v1/webhooks/endpoints/:id/rotate-secret',
  'POST /v1/webhooks/endpoints/:id/test',
  'queue svc-jobs recheckCandidate',
  'queue svc-jobs fanOut',
  'queue svc-jobs projectEntitlement',
  'queue svc-jobs projectMeteredSession',
  'queue svc-jobs checkChannels',
  'queue svc-jobs readSubscription',
  'queue svc-sandbox runSandboxSession',
  'queue svc-sandbox sweepSandbox',
  'queue svc-sandbox fanOut',
  'queue svc-sandbox projectEntitlement',
  'queue svc-sandbox projectMeteredSession',
  'queue svc-sandbox recheckCandidate',
  'queue svc-webhooks',
  'queue svc-webhooks-slow',
  'queue svc-mail',
  'cron',
];
const SWEEPS = [
  ...['memberships', 'entitlements', 'setups', 'plans', 'customers', 'cardPlans', 'erasures', 'idempotency', 'loginNonces'],
  ...['usedSignInStates', 'handoffs', 'identities', 'paymentSessions', 'endedMeteredSessions', 'endedAuthorizations'],
  ...['failedSettlements', 'refunds', 'sandboxTransactions', 'sandboxAccounts', 'processorEvents', 'endedDeliveries'],
  ...['endpointHours', 'archive', 'endedSetups', 'endedSessions', 'fanOut', 'deliveries', 'mails'],
  ...['placements', 'duePlans', 'communityCodes', 'endedMails', 'names', 'peppers', 'seals', 'parked', 'reference', 'candidates'],
  ...['expired', 'sentCandidates', 'namedCandidates', 'finality', 'closingChannels', 'activeChannels', 'channelOpenings'],
  ...['endedChannels', 'unopenedSessions', 'collections', 'subscriptionCheckouts', 'subscriptions', 'settlements'],
  ...['feePayer', 'analytics', 'domains', 'tickets', 'audit', 'sandboxes', 'endedSandboxes'],
  'tick',
].map((name) => `sweep ${name}`);
/** Every invocation calls the database. */
const IN_VERBS: readonly FaultKind[] = [...FITTING.d1, 'spent'];
const CUTS: readonly FaultKind[] = ['spent', 'spent', 'died', 'refused'];

const pairs = (targets: readonly string[], kinds: readonly FaultKind[]): Aim[] =>
  targets.flatMap((at) => kinds.map((kind) => ({ kind, at })));

/** Pairs of a fault and a verb that the histories must meet. A sweep that is named twice is aimed at twice as often. */
const AIMS: readonly Aim[] = [
  ...(Object.keys(WAYS) as (keyof typeof WAYS)[]).flatMap((kind) =>
    pairs(
      WAYS[kind]!.map((verb) => `${kind}.${verb}`),
      FITTING[kind],
    ),
  ),
  ...pairs(
    QUEUES.map((queue) => `queue.${queue}`),
    FITTING.delivery,
  ),
  ...pairs(VERBS, IN_VERBS),
  ...pairs(SWEEPS, CUTS),
];

/** Prime to the number of pairs, and large: seeds that follow each other aim at different verbs. */
const STRIDE = 7_919;

export const aimOf = (number: number): Aim => AIMS[(number * STRIDE) % AIMS.length]!;

/** Name of a strike in the coverage: at a way out, or in an invocation. */
export const strikeAt = ({ kind, at }: Aim): string => `${kind} ${/^[a-z0-9]+\.[\w-]+$/.test(at) ? 'at' : 'in'} ${at}`;

/** Names of every pair, once each. */
export const STRIKES: readonly string[] = [...new Set(AIMS.map(strikeAt))];
