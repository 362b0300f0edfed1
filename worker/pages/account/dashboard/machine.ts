/**
 * State machine of the dashboard. Only `nextDashboard` changes the page. The session token is never part of the state, and a new key is
 * removed once the person has saved the key or leaves the page.
 * @module
 */

import type { Failure } from '../../parts/answer.ts';
import type { Amount } from '../../parts/text.ts';
import { type DashboardFacts, type LoginReason, type Problem, problemOf } from '../facts.ts';
import { problemOfReturn, type Returned } from '../provider-return.ts';

interface ShownAccount {
  name: string;
  email: string | null;
  isVerified: boolean;
  /** Delivery problem of the address. Null if the address accepts email. */
  unreachable: 'bounced' | 'complained' | null;
  wallet: string | null;
  plan: string;
}
/** Access that ended when the address was verified, because someone else may have created the account before. */
export interface ShownClaim {
  at: string;
  ended: Record<'keys' | 'endpoints' | 'providers' | 'wallets', number>;
}
export interface ShownProduct {
  id: string;
  name: string;
  price: Amount;
  checkoutUrl: string;
  isActive: boolean;
  isLive: boolean;
}
export interface ShownKey {
  id: string;
  name: string;
  prefix: string;
  isLive: boolean;
}
interface ShownIdentity {
  provider: string;
  email: string | null;
}
export interface Holdings {
  account: ShownAccount;
  claim: ShownClaim | null;
  products: ShownProduct[];
  productsTotal: number;
  keys: ShownKey[];
  identities: ShownIdentity[];
}

/** Terms of a new key. A retry under the same idempotency key returns the same key. */
interface KeyTerms {
  name: string;
  isLive: boolean;
  idempotencyKey: string;
}

interface Asking {
  isBusy: boolean;
  problem: Problem | null;
}

export interface OpenDashboard extends Holdings {
  step: 'open';
  making: Asking & {
    /** Terms of a request without an answer: the key may exist. */
    unanswered: KeyTerms | null;
  };
  made: { name: string; rawKey: string; copied: 'copied' | 'selected' | null } | null;
  verification: Asking & { isSent: boolean };
  linking: Asking & { linked: string | null };
}
export type DashboardState = { step: 'loading' | 'leaving' } | { step: 'failed'; problem: Problem } | OpenDashboard;

export type DashboardNews =
  | { kind: 'loaded'; holdings: Holdings }
  | { kind: 'loadRefused'; failure: Failure }
  | { kind: 'loadWanted' }
  | { kind: 'keyEntered'; terms: KeyTerms }
  | { kind: 'keyMade'; key: ShownKey; rawKey: string }
  | { kind: 'keyRefused'; failure: Failure }
  | { kind: 'keyCopied'; isSelected: boolean }
  | { kind: 'copyShown' }
  | { kind: 'keyKept' }
  | { kind: 'emailWanted' }
  | { kind: 'emailTaken' }
  | { kind: 'emailRefused'; failure: Failure }
  | { kind: 'linkWanted'; provider: string }
  | { kind: 'unlinkWanted'; provider: string }
  | { kind: 'unlinked'; provider: string }
  | { kind: 'linkingRefused'; failure: Failure }
  | { kind: 'returned'; returned: Returned }
  | { kind: 'signOutPressed' }
  /** No session in this tab, or another tab signed out. */
  | { kind: 'sessionMissing'; why: LoginReason | null }
  | { kind: 'pageLeft' };

export type DashboardEffect =
  | { kind: 'load' }
  | { kind: 'makeKey'; terms: KeyTerms }
  | { kind: 'requestEmail' }
  | { kind: 'goToProvider'; provider: string }
  | { kind: 'unlink'; provider: string }
  | { kind: 'signOut' }
  | { kind: 'leave'; why: LoginReason | null };

interface Turn {
  state: DashboardState;
  effects: DashboardEffect[];
}

export const FIRST_DASHBOARD: DashboardState = { step: 'loading' };

const IDLE: Asking = { isBusy: false, problem: null };
const BUSY: Asking = { isBusy: true, problem: null };
const turnTo = (state: DashboardState, ...effects: DashboardEffect[]): Turn => ({ state, effects });
const leave = (why: LoginReason | null): Turn => turnTo({ step: 'leaving' }, { kind: 'leave', why });

const isOver = ({ status, code }: Failure): boolean => status === 401 && code === 'invalid_authorization';

function openWith(state: DashboardState, holdings: Holdings): Turn {
  const fresh = {
    making: { ...IDLE, unanswered: null },
    made: null,
    verification: { ...IDLE, isSent: false },
    linking: { ...IDLE, linked: null },
  };
  return turnTo({ ...(state.step === 'open' ? state : fresh), ...holdings, step: 'open' });
}

function refuseLoading(facts: DashboardFacts, failure: Failure): Turn {
  if (isOver(failure)) return leave('ended');
  return turnTo({ step: 'failed', problem: problemOf(facts, failure) });
}

function enterKey(state: OpenDashboard, entered: KeyTerms): Turn {
  if (state.making.isBusy || state.made) return turnTo(state);
  const { unanswered } = state.making;
  const isSame = unanswered?.name === entered.name && unanswered.isLive === entered.isLive;
  const terms = isSame ? unanswered : entered;
  return turnTo({ ...state, making: { ...BUSY, unanswered: terms } }, { kind: 'makeKey', terms });
}

function refuseKey(facts: DashboardFacts, state: OpenDashboard, failure: Failure): Turn {
  if (isOver(failure)) return leave('ended');
  const unanswered = failure.status === 0 || failure.status >= 500 ? state.making.unanswered : null;
  return turnTo({ ...state, making: { isBusy: false, problem: problemOf(facts, failure), unanswered } });
}

function refuseEmail(facts: DashboardFacts, state: OpenDashboard, failure: Failure): Turn {
  if (isOver(failure)) return leave('ended');
  // The address was verified in another tab.
  if (failure.meta.reason === 'already_verified') {
    return turnTo({
      ...state,
      account: { ...state.account, isVerified: true, unreachable: null },
      verification: { ...IDLE, isSent: false },
    });
  }
  return turnTo({ ...state, verification: { isBusy: false, isSent: false, problem: problemOf(facts, failure) } });
}

function startLinking(state: OpenDashboard, effect: DashboardEffect): Turn {
  return state.linking.isBusy ? turnTo(state) : turnTo({ ...state, linking: { ...BUSY, linked: null } }, effect);
}

function refuseLinking(facts: DashboardFacts, state: OpenDashboard, failure: Failure): Turn {
  if (isOver(failure)) return leave('ended');
  return turnTo({ ...state, linking: { isBusy: false, linked: null, problem: problemOf(facts, failure) } });
}

function takeReturn(facts: DashboardFacts, state: OpenDashboard, returned: Returned): Turn {
  const { outcome } = returned;
  const isLinked = outcome.kind === 'linked' && state.identities.some(({ provider }) => provider === outcome.provider);
  const linking = isLinked ? { ...IDLE, linked: outcome.provider } : { ...IDLE, linked: null, problem: problemOfReturn(facts, returned) };
  return turnTo({ ...state, linking });
}

function nextOpen(facts: DashboardFacts, state: OpenDashboard, news: DashboardNews): Turn {
  switch (news.kind) {
    case 'keyEntered':
      return enterKey(state, news.terms);
    case 'keyMade': {
      const keys = [news.key, ...state.keys.filter(({ id }) => id !== news.key.id)];
      const made = { name: news.key.name, rawKey: news.rawKey, copied: null };
      return turnTo({ ...state, keys, making: { ...IDLE, unanswered: null }, made });
    }
    case 'keyRefused':
      return refuseKey(facts, state, news.failure);
    case 'keyCopied':
      return turnTo(state.made ? { ...state, made: { ...state.made, copied: news.isSelected ? 'selected' : 'copied' } } : state);
    case 'copyShown':
      return turnTo(state.made?.copied === 'copied' ? { ...state, made: { ...state.made, copied: null } } : state);
    case 'keyKept':
    case 'pageLeft':
      return turnTo(state.made ? { ...state, made: null } : state);
    case 'emailWanted':
      return state.verification.isBusy
        ? turnTo(state)
        : turnTo({ ...state, verification: { ...BUSY, isSent: false } }, { kind: 'requestEmail' });
    case 'emailTaken':
      return turnTo({ ...state, verification: { ...IDLE, isSent: true } });
    case 'emailRefused':
      return refuseEmail(facts, state, news.failure);
    case 'linkWanted':
      return startLinking(state, { kind: 'goToProvider', provider: news.provider });
    case 'unlinkWanted':
      return startLinking(state, { kind: 'unlink', provider: news.provider });
    case 'unlinked': {
      const identities = state.identities.filter(({ provider }) => provider !== news.provider);
      return turnTo({ ...state, identities, linking: { ...IDLE, linked: null } });
    }
    case 'linkingRefused':
      return refuseLinking(facts, state, news.failure);
    case 'returned':
      return takeReturn(facts, state, news.returned);
    default:
      return turnTo(state);
  }
}

export function nextDashboard(facts: DashboardFacts, state: DashboardState, news: DashboardNews): Turn {
  if (state.step === 'leaving') return turnTo(state);
  switch (news.kind) {
    case 'sessionMissing':
      return leave(news.why);
    case 'signOutPressed':
      return turnTo({ step: 'leaving' }, { kind: 'signOut' });
    case 'loadWanted':
      return turnTo({ step: 'loading' }, { kind: 'load' });
    case 'loaded':
      return openWith(state, news.holdings);
    case 'loadRefused':
      return refuseLoading(facts, news.failure);
    default:
      return state.step === 'open' ? nextOpen(facts, state, news) : turnTo(state);
  }
}
