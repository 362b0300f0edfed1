/**
 * Every state machine of the service: state -> { transition: next state }. A state without transitions is
 * terminal. `states` also feeds the wire enums and is compared with the CHECK lists of the migrations.
 * @module
 */

import { ApiError } from '#core/errors.ts';
import type { ChannelStage } from './metered/channel.ts';
import type { AuthorizationStatus, AuthorizationStep } from './subscriptions/authorization.ts';

interface Machine<S extends string, T extends string> {
  readonly states: readonly [S, ...S[]];
  /** The state after `transition`, or ApiError state_conflict where the machine has no such edge. */
  next(state: S, transition: T): S;
  can(state: S, transition: T): boolean;
  isTerminal(state: S): boolean;
}

function machine<S extends string, T extends string>(edges: Record<S, Partial<Record<T, S>>>): Machine<S, T> {
  return {
    states: Object.keys(edges) as [S, ...S[]],
    next(state, transition) {
      const next = edges[state][transition];
      if (next === undefined) throw new ApiError('state_conflict', { meta: { state, transition } });
      return next;
    },
    can: (state, transition) => edges[state][transition] !== undefined,
    isTerminal: (state) => Object.keys(edges[state]).length === 0,
  };
}

export type PaymentStatus = 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
export const PAYMENT = machine<PaymentStatus, 'submit' | 'confirm' | 'fail'>({
  PENDING_SIGNATURE: { submit: 'PENDING_CONFIRMATION', fail: 'FAILED' },
  PENDING_CONFIRMATION: { submit: 'PENDING_CONFIRMATION', confirm: 'CONFIRMED', fail: 'FAILED' },
  // Terminal: what the chain does afterwards (finality, a dropped fork) is noted on the payment and moves it nowhere.
  CONFIRMED: {},
  FAILED: {},
});

export type MembershipStatus = 'pending' | 'active' | 'grace' | 'expired' | 'cancelled';
export const MEMBERSHIP = machine<MembershipStatus, 'activate' | 'renew' | 'startGrace' | 'expire' | 'revoke'>({
  pending: { activate: 'active' },
  active: { renew: 'active', startGrace: 'grace', expire: 'expired', revoke: 'cancelled' },
  grace: { renew: 'active', expire: 'expired', revoke: 'cancelled' },
  expired: { renew: 'active', revoke: 'cancelled' },
  cancelled: { renew: 'active', revoke: 'cancelled' },
});

export type ProductStatus = 'active' | 'archived';
export const PRODUCT = machine<ProductStatus, 'archive' | 'unarchive'>({
  active: { archive: 'archived' },
  archived: { unarchive: 'active' },
});

export type UnmatchedStatus = 'open' | 'accepted';
export const UNMATCHED = machine<UnmatchedStatus, 'accept'>({
  open: { accept: 'accepted' },
  accepted: {},
});

export type EndpointStatus = 'enabled' | 'disabled';
export const ENDPOINT = machine<EndpointStatus, 'disable' | 'enable'>({
  enabled: { disable: 'disabled' },
  disabled: { enable: 'enabled' },
});

export type DeliveryStatus = 'pending' | 'retrying' | 'succeeded' | 'failed' | 'cancelled';
export const DELIVERY = machine<DeliveryStatus, 'succeed' | 'retry' | 'fail' | 'cancel'>({
  pending: { succeed: 'succeeded', retry: 'retrying', fail: 'failed', cancel: 'cancelled' },
  retrying: { succeed: 'succeeded', retry: 'retrying', fail: 'failed', cancel: 'cancelled' },
  succeeded: {},
  failed: {},
  cancelled: {},
});

export type MailStatus = 'waiting' | 'sent' | 'failed' | 'dropped';
export const MAIL = machine<MailStatus, 'send' | 'retry' | 'fail' | 'drop'>({
  waiting: { send: 'sent', retry: 'waiting', fail: 'failed', drop: 'dropped' },
  sent: {},
  failed: {},
  dropped: {},
});

/** A member's place in a chat or guild, as the platform was told of it. It moves beside the payment and never touches it. */
export type PlacementStatus = 'pending' | 'delivered' | 'failed' | 'revoked';
/** `again`: what was paid anew, is wanted elsewhere, or was asked for once more by the merchant. */
export const PLACEMENT = machine<PlacementStatus, 'deliver' | 'retry' | 'fail' | 'revoke' | 'again'>({
  pending: { deliver: 'delivered', retry: 'pending', fail: 'failed', revoke: 'revoked', again: 'pending' },
  // Taking a place away may take several attempts; until it is done the place stands.
  delivered: { retry: 'delivered', fail: 'failed', revoke: 'revoked', again: 'pending' },
  failed: { again: 'pending', revoke: 'revoked' },
  revoked: { again: 'pending' },
});

export const TICKET_CATEGORIES = ['payment', 'delivery', 'webhook', 'billing', 'other'] as const;
export const MESSAGE_AUTHORS = ['merchant', 'staff', 'system'] as const;
export type TicketStatus = 'open' | 'pending' | 'resolved' | 'closed';
/** `ask` is a message of the merchant, `answer` one of staff: either opens a resolved ticket again. */
export const TICKET = machine<TicketStatus, 'ask' | 'answer' | 'resolve' | 'close'>({
  open: { ask: 'open', answer: 'pending', resolve: 'resolved', close: 'closed' },
  pending: { ask: 'open', answer: 'pending', resolve: 'resolved', close: 'closed' },
  resolved: { ask: 'open', answer: 'pending', resolve: 'resolved', close: 'closed' },
  closed: {},
});

export type AccountStatus = 'active' | 'suspended' | 'deleted';
export const ACCOUNT = machine<AccountStatus, 'suspend' | 'resume' | 'delete'>({
  active: { suspend: 'suspended', delete: 'deleted' },
  suspended: { resume: 'active', delete: 'deleted' },
  deleted: {},
});

/** Whether a domain is the merchant's, as its own file says: `pending` until it has been seen for the first time. */
export type DomainStatus = 'pending' | 'verified' | 'failed';
export const DOMAIN = machine<DomainStatus, 'verify' | 'fail'>({
  pending: { verify: 'verified' },
  verified: { verify: 'verified', fail: 'failed' },
  failed: { verify: 'verified' },
});

/** An x402 payment between its claim and what the chain made of it. */
export type SettlementStatus = 'pending' | 'settled' | 'failed';
export const SETTLEMENT = machine<SettlementStatus, 'settle' | 'fail'>({
  pending: { settle: 'settled', fail: 'failed' },
  settled: {},
  // One that was given up as expired is looked for twice more, later: it lands after all, or is seen to have failed.
  failed: { settle: 'settled', fail: 'failed' },
});

/** A metered session and its one channel; in whose rules each step is judged (rules/metered/channel.ts). */
export const METERED_SESSION = machine<ChannelStage, 'open' | 'close' | 'seal' | 'expire' | 'fail'>({
  created: { open: 'open', expire: 'expired', fail: 'failed' },
  open: { close: 'closing', seal: 'closed' },
  closing: { seal: 'closed' },
  closed: {},
  expired: {},
  failed: {},
});

/** A buyer's consent to a native subscription; which step follows from what is seen is in rules/subscriptions/authorization.ts. */
export const AUTHORIZATION = machine<AuthorizationStatus, AuthorizationStep>({
  // A session that ended without a subscription on chain.
  pending: { authorize: 'active', expire: 'expired' },
  active: {
    collect: 'active',
    fallDue: 'past_due',
    requestCancel: 'cancel_requested',
    cancel: 'cancelled',
    loseApproval: 'requires_reapproval',
    expire: 'expired',
  },
  past_due: {
    collect: 'active',
    requestCancel: 'cancel_requested',
    cancel: 'cancelled',
    loseApproval: 'requires_reapproval',
    expire: 'expired',
  },
  requires_reapproval: {
    collect: 'active',
    approve: 'active',
    requestCancel: 'cancel_requested',
    cancel: 'cancelled',
    expire: 'expired',
  },
  cancel_requested: { collect: 'cancel_requested', resume: 'active', cancel: 'cancelled' },
  // A collection that was on its way pays for time after all; and the buyer may resume while the period on chain lasts.
  cancelled: { collect: 'cancel_requested', resume: 'active' },
  // A checkout that failed too early: its first period was collected after all.
  expired: { authorize: 'active' },
});

/** An agent's own setup. Each manifest accepts or refuses it until it is approved; the sweep expires what was never paid for. */
export type SetupStatus = 'created' | 'changes_required' | 'ready' | 'approved' | 'expired';
export const SETUP = machine<SetupStatus, 'refuse' | 'accept' | 'approve' | 'expire' | 'revive'>({
  created: { refuse: 'changes_required', accept: 'ready', expire: 'expired' },
  changes_required: { refuse: 'changes_required', accept: 'ready', expire: 'expired' },
  ready: { refuse: 'changes_required', accept: 'ready', approve: 'approved', expire: 'expired' },
  approved: { approve: 'approved', expire: 'expired' },
  // Paid for after all: its keys stay revoked, and approving it issues another.
  expired: { revive: 'created' },
});

/** A run of a sandbox scenario. Moving the clock of one that came to its end runs it again. */
export type SandboxSessionStatus = 'running' | 'completed' | 'failed';
export const SANDBOX_SESSION = machine<SandboxSessionStatus, 'complete' | 'fail' | 'advance'>({
  running: { complete: 'completed', fail: 'failed' },
  completed: { advance: 'running' },
  failed: {},
});
