/**
 * State machines of the service: state -> { transition: next state }. A state without transitions is terminal. `states` also defines the
 * wire enums and is compared with the CHECK lists of the migrations.
 * @module
 */

import { ApiError } from '#core/errors.ts';
import type { ChannelStage } from './metered/channel.ts';
import type { AuthorizationStatus, AuthorizationStep } from './subscriptions/authorization.ts';

interface Machine<S extends string, T extends string> {
  readonly states: readonly [S, ...S[]];
  /** Returns the state after `transition`. Throws 409 state_conflict if the machine has no such edge. */
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
  // Terminal: later chain outcomes (finality, a dropped fork) are noted on the payment without a transition.
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

export type CustomerStatus = 'active' | 'erasing' | 'erased';
export const CUSTOMER = machine<CustomerStatus, 'beginErasure' | 'erase' | 'return'>({
  active: { beginErasure: 'erasing' },
  erasing: { erase: 'erased' },
  // A wallet that pays again.
  erased: { return: 'active' },
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

export type PlacementStatus = 'pending' | 'delivered' | 'failed' | 'revoked';
/** `again`: paid again, wanted elsewhere, or retried by the merchant. */
export const PLACEMENT = machine<PlacementStatus, 'deliver' | 'retry' | 'fail' | 'revoke' | 'again'>({
  pending: { deliver: 'delivered', retry: 'pending', fail: 'failed', revoke: 'revoked', again: 'pending' },
  // A revocation may take several attempts. Access exists until the last one succeeds.
  delivered: { retry: 'delivered', fail: 'failed', revoke: 'revoked', again: 'pending' },
  failed: { again: 'pending', revoke: 'revoked' },
  revoked: { again: 'pending' },
});

export const TICKET_CATEGORIES = ['payment', 'delivery', 'webhook', 'billing', 'other'] as const;
export const MESSAGE_AUTHORS = ['merchant', 'staff', 'system'] as const;
export type TicketStatus = 'open' | 'pending' | 'resolved' | 'closed';
/** `ask` is a message of the merchant, `answer` one of staff. Either reopens a resolved ticket. */
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

/** `expired` follows from the time and is never stored. */
export type InvitationStatus = 'pending' | 'accepted' | 'withdrawn';
export const INVITATION = machine<InvitationStatus, 'accept' | 'withdraw'>({
  pending: { accept: 'accepted', withdraw: 'withdrawn' },
  accepted: {},
  withdrawn: {},
});

export type DomainStatus = 'pending' | 'verified' | 'failed';
export const DOMAIN = machine<DomainStatus, 'verify' | 'fail'>({
  pending: { verify: 'verified' },
  verified: { verify: 'verified', fail: 'failed' },
  failed: { verify: 'verified' },
});

export type SettlementStatus = 'pending' | 'settled' | 'failed';
export const SETTLEMENT = machine<SettlementStatus, 'settle' | 'fail'>({
  pending: { settle: 'settled', fail: 'failed' },
  settled: {},
  // A payment failed as expired is checked twice more: it may still land, or be seen as failed.
  failed: { settle: 'settled', fail: 'failed' },
});

/** Metered session and its channel. The rules of each step are in rules/metered/channel.ts. */
export const METERED_SESSION = machine<ChannelStage, 'open' | 'close' | 'seal' | 'expire' | 'fail'>({
  created: { open: 'open', expire: 'expired', fail: 'failed' },
  open: { close: 'closing', seal: 'closed' },
  closing: { seal: 'closed' },
  closed: {},
  expired: {},
  failed: {},
});

/** Buyer's consent to a native subscription. The steps follow from rules/subscriptions/authorization.ts. */
export const AUTHORIZATION = machine<AuthorizationStatus, AuthorizationStep>({
  // `expire`: a session that ended without a subscription on chain.
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
  // A collection in flight still pays for time, and the buyer may resume while the period on chain lasts.
  cancelled: { collect: 'cancel_requested', resume: 'active' },
  // The checkout expired too early: its first period was collected after all.
  expired: { authorize: 'active' },
});

export type SetupStatus = 'created' | 'changes_required' | 'ready' | 'approved' | 'expired';
export const SETUP = machine<SetupStatus, 'refuse' | 'accept' | 'approve' | 'expire' | 'revive'>({
  created: { refuse: 'changes_required', accept: 'ready', expire: 'expired' },
  changes_required: { refuse: 'changes_required', accept: 'ready', expire: 'expired' },
  ready: { refuse: 'changes_required', accept: 'ready', approve: 'approved', expire: 'expired' },
  approved: { approve: 'approved', expire: 'expired' },
  // Paid after expiry: its keys stay revoked, and the approval issues another.
  expired: { revive: 'created' },
});

/** Run of a sandbox scenario. Advancing the clock restarts a completed run. */
export type SandboxSessionStatus = 'running' | 'completed' | 'failed';
export const SANDBOX_SESSION = machine<SandboxSessionStatus, 'complete' | 'fail' | 'advance'>({
  running: { complete: 'completed', fail: 'failed' },
  completed: { advance: 'running' },
  failed: {},
});
