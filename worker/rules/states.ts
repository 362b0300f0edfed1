/**
 * Every state machine of the service: state -> { transition: next state }. A state without transitions is
 * terminal. `states` also feeds the wire enums and is compared with the CHECK lists of the migrations.
 * @module
 */

import { ApiError } from '#core/errors.ts';

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

export type AccountStatus = 'active' | 'suspended' | 'deleted';
export const ACCOUNT = machine<AccountStatus, 'suspend' | 'resume' | 'delete'>({
  active: { suspend: 'suspended', delete: 'deleted' },
  suspended: { resume: 'active', delete: 'deleted' },
  deleted: {},
});

/** An x402 payment between its claim and what the chain made of it. */
export type SettlementStatus = 'pending' | 'settled' | 'failed';
export const SETTLEMENT = machine<SettlementStatus, 'settle' | 'fail'>({
  pending: { settle: 'settled', fail: 'failed' },
  settled: {},
  // One that was given up as expired is looked for twice more, later: it lands after all, or is seen to have failed.
  failed: { settle: 'settled', fail: 'failed' },
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
