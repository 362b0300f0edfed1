/**
 * State machine of subscribing and cancelling. For each step: opens a wallet, explains the request, has it signed and waits for the chain.
 * It has no clock, network or wallet.
 * @module
 */

import type { Failure } from '../parts/answer.ts';
import { groupsOf } from '../parts/parts.tsx';
import type { WalletRefusal } from '../parts/wallet-choice.ts';
import type { AnyKey, Problem, SubscribingFacts } from './facts.ts';
import {
  FIRST_SUBSCRIBING,
  type Progress,
  type SharedState,
  type Step,
  type SubscribingEffect,
  type SubscribingNews,
  type SubscribingState,
} from './state.ts';

interface Turn {
  state: SubscribingState;
  effects: SubscribingEffect[];
}

const CHECK_MS = 2000;
/** A transaction not seen after 45 checks can no longer land. */
const CHECKS_MAX = 45;

const turnTo = (state: SubscribingState, ...effects: SubscribingEffect[]): Turn => ({ state, effects });

function enter(state: SubscribingState, step: Step, changed: Partial<SharedState> = {}): SubscribingState {
  const { wallets, walletName, account, attempt, paymentId, payer, authorizationId, signed, txSignature, isPhoneOpen } = state;
  const shared = { wallets, walletName, account, attempt, paymentId, payer, authorizationId, signed, txSignature, isPhoneOpen };
  return { ...shared, ...changed, ...step };
}

const choose = (state: SubscribingState, problem: Problem | null = null): Turn => turnTo(enter(state, { step: 'choosing', problem }));

/** Returns the next page and its effects. An answer to an earlier attempt is ignored. */
export function nextSubscribing(facts: SubscribingFacts, state: SubscribingState, news: SubscribingNews): Turn {
  switch (news.kind) {
    case 'pageOpened':
      return news.stored === null
        ? turnTo(state)
        : turnTo({ ...state, ...news.stored }, checkEffect({ paymentId: news.stored.paymentId, txSignature: null, afterMs: 0 }));
    case 'walletsChanged':
      return turnTo({ ...state, wallets: news.wallets });
    case 'walletPressed':
    case 'continuePressed':
    case 'backPressed':
    case 'startAgainPressed':
    case 'identityFinished':
      return act(state, news);
    case 'phonePressed':
      return turnTo({ ...state, isPhoneOpen: true });
    case 'turnRefused':
      return state.step === 'asking' && news.attempt === state.attempt ? choose(state, { key: 'pElsewhere' }) : turnTo(state);
    case 'walletOpened':
      return state.step === 'opening' && news.attempt === state.attempt ? prepare(state, news.account) : turnTo(state);
    case 'walletRefused': {
      const isAsked = state.step === 'opening' || state.step === 'asking';
      return isAsked && news.attempt === state.attempt
        ? choose(state, problemOfWallet(facts, news.refusal, state.walletName))
        : turnTo(state);
    }
    case 'signed': {
      if (state.step !== 'asking' || news.attempt !== state.attempt) return turnTo(state);
      const { transaction, txSignature } = news;
      const sending = enter(state, { step: 'sending', consent: state.consent }, { txSignature });
      return turnTo(sending, { kind: 'send', paymentId: state.paymentId, transaction, txSignature });
    }
    case 'identityDue':
      return state.step === 'identity' ? turnTo(state, { kind: 'prepare', account: state.account, paymentId: null }) : turnTo(state);
    case 'identityWanted':
    case 'prepared':
      if (state.step === 'identity')
        return news.kind === 'prepared' ? follow(facts, enter(state, { step: 'preparing' }), news.progress) : turnTo(state);
      return state.step === 'preparing' ? explain(facts, state, news) : turnTo(state);
    case 'cancelPrepared':
      return state.step === 'preparing' ? explain(facts, state, news) : turnTo(state);
    case 'refused': {
      const { reason, authorization_id: holderId } = news.failure.meta;
      if (state.step === 'preparing' && reason === 'subscribed' && holderId) return showAlready(state, `/s/${holderId}`);
      return state.step === 'preparing' || state.step === 'sending' ? choose(state, problemOfFailure(facts, news.failure)) : turnTo(state);
    }
    case 'sent': {
      if (state.step !== 'sending' || state.paymentId === null) return turnTo(state);
      const { consent, paymentId, txSignature, signed } = state;
      return turnTo(enter(state, { step: 'landing', consent, checks: 0 }, { signed: signed + 1 }), checkEffect({ paymentId, txSignature }));
    }
    case 'cancelled':
      return turnTo(enter(state, { step: 'cancelled', subscription: news.subscription, effectiveAt: news.effectiveAt }));
    case 'progressed':
      return follow(facts, state, news.progress);
    case 'unanswered':
      return checkAgain(state);
  }
}

type Of<K extends SubscribingNews['kind']> = Extract<SubscribingNews, { kind: K }>;
type Deed = Of<'walletPressed' | 'continuePressed' | 'backPressed' | 'startAgainPressed' | 'identityFinished'>;

function act(state: SubscribingState, deed: Deed): Turn {
  const attempt = state.attempt + 1;
  switch (deed.kind) {
    case 'walletPressed': {
      if (state.step !== 'choosing') return turnTo(state);
      const { walletName } = deed;
      return turnTo(enter(state, { step: 'opening' }, { walletName, attempt }), { kind: 'openWallet', attempt, walletName });
    }
    case 'continuePressed': {
      if (state.step !== 'explaining') return turnTo(state);
      const { consent } = state;
      return turnTo(enter(state, { step: 'asking', consent }), { kind: 'ask', attempt: state.attempt, transaction: consent.transaction });
    }
    case 'backPressed':
      return ['explaining', 'asking', 'opening', 'identity'].includes(state.step) ? choose({ ...state, attempt }) : turnTo(state);
    case 'startAgainPressed':
      return ['failed', 'done', 'already'].includes(state.step)
        ? turnTo({ ...FIRST_SUBSCRIBING, wallets: state.wallets, attempt }, { kind: 'store', stored: null })
        : turnTo(state);
    case 'identityFinished':
      return state.step === 'identity' ? prepare(state, state.account) : turnTo(state);
  }
}

/** Explains the request before the wallet opens, or asks for identification first. */
function explain(facts: SubscribingFacts, state: SubscribingState, news: Of<'identityWanted' | 'prepared' | 'cancelPrepared'>): Turn {
  switch (news.kind) {
    case 'identityWanted': {
      const { provider, deepLink, isNew } = news;
      const problem = isNew ? null : ({ key: 'identityNotYet', values: { provider } } as const);
      return turnTo(enter(state, { step: 'identity', provider, deepLink, problem }));
    }
    case 'prepared':
      return follow(facts, state, news.progress);
    case 'cancelPrepared': {
      const consent = { kind: 'cancel', transaction: news.transaction, step: 1, steps: 1 } as const;
      return turnTo(enter(state, { step: 'explaining', consent, effectiveAt: news.effectiveAt }));
    }
  }
}

type CheckEffect = Extract<SubscribingEffect, { kind: 'look' }>;
const checkEffect = (wanted: Pick<CheckEffect, 'paymentId' | 'txSignature'> & Partial<CheckEffect>): CheckEffect => ({
  kind: 'look',
  asksChain: false,
  afterMs: CHECK_MS,
  ...wanted,
});

const prepare = (state: SubscribingState, account: string): Turn =>
  turnTo(enter(state, { step: 'preparing' }, { account }), {
    kind: 'prepare',
    account,
    paymentId: state.payer === account ? state.paymentId : null,
  });

/** Applies the service's progress: the end, the next signature, or more waiting. */
function follow(facts: SubscribingFacts, state: SubscribingState, progress: Progress): Turn {
  const { paymentId, authorizationId, status } = progress;
  const payer = state.step === 'preparing' ? state.account : state.payer;
  const known = { paymentId, payer, authorizationId: authorizationId ?? state.authorizationId };
  const stored = { kind: 'store', stored: { paymentId, payer } } as const;
  if (status === 'CONFIRMED') {
    if (isOver(progress)) return turnTo({ ...state, paymentId: null, payer: null }, { kind: 'store', stored: null });
    const { receiptId, redirectUrl, accessUntil, renewal } = progress;
    const nextChargeAt = renewal?.nextChargeAt ?? null;
    return turnTo(enter(state, { step: 'done', receiptId, redirectUrl, accessUntil, nextChargeAt }, known), stored);
  }
  if (status === 'FAILED') return end(state, progress, known);
  if (progress.problem !== null) {
    const isWaiting = state.step === 'landing' || state.step === 'collecting';
    if (isWaiting && progress.problem !== 'subscribed') return checkAgain(state);
    const page = progress.problem === 'subscribed' ? URL.parse(progress.manageUrl ?? '') : null;
    if (page) return showAlready(state, page.pathname);
    const turn = choose({ ...state, ...known }, problemOfFailure(facts, { code: progress.problem, meta: {} }));
    return { ...turn, effects: [...turn.effects, stored] };
  }
  const [next] = progress.steps;
  if (next === undefined) return collect(state, progress, known);
  const isPrepared = state.step === 'preparing' || state.step === 'landing' || state.step === 'collecting';
  // After a reload the wallet must be chosen again.
  if (!isPrepared || state.account === '') return turnTo({ ...state, ...known }, stored);
  const isLanding = state.step === 'landing' && state.consent.kind === next.kind && state.checks < CHECKS_MAX;
  if (isLanding || next.transaction === null) return checkAgain(state);
  const steps = state.signed + progress.steps.length;
  const consent = { kind: next.kind, transaction: next.transaction, step: state.signed + 1, steps };
  return turnTo(enter(state, { step: 'explaining', consent, effectiveAt: null }, known), stored);
}

/** The wallet already has this subscription, so nothing is left to do. */
const showAlready = (state: SubscribingState, path: string): Turn =>
  turnTo(enter(state, { step: 'already', path }, { paymentId: null, payer: null }), { kind: 'store', stored: null });

/** True if nothing begun by the payment is running. Another payment may begin. */
export const isOver = ({ status, renewal }: Pick<Progress, 'status' | 'renewal'>): boolean =>
  status === 'FAILED' || (status === 'CONFIRMED' && renewal !== null && renewal.status !== 'active' && renewal.status !== 'past_due');

/** A failure from an earlier visit is dropped silently. One that the buyer watched is shown. */
function end(state: SubscribingState, { failureCode }: Progress, known: Partial<SharedState>): Turn {
  const forget = { kind: 'store', stored: null } as const;
  const isCollection = failureCode === 'collection_failed';
  if (state.step === 'choosing' && !isCollection) return turnTo({ ...state, paymentId: null, payer: null }, forget);
  return turnTo(enter(state, { step: 'failed', isCollection }, { ...known, paymentId: null }), forget);
}

function collect(state: SubscribingState, { paymentId, expiresAt }: Progress, known: Partial<SharedState>): Turn {
  const checks = state.step === 'collecting' ? state.checks + 1 : 0;
  const collecting = enter(state, { step: 'collecting', checks, expiresAt }, known);
  return turnTo(
    collecting,
    checkEffect({ paymentId, txSignature: state.txSignature, asksChain: true, afterMs: checks === 0 ? 0 : CHECK_MS }),
  );
}

function checkAgain(state: SubscribingState): Turn {
  if (state.paymentId === null || (state.step !== 'landing' && state.step !== 'collecting')) return turnTo(state);
  const { paymentId, txSignature, checks } = state;
  return turnTo({ ...state, checks: checks + 1 }, checkEffect({ paymentId, txSignature, asksChain: state.step === 'collecting' }));
}

/** True while a wallet is asked or its transaction is on its way. No other tab may ask meanwhile. */
export const holdsTurn = ({ step }: SubscribingState): boolean => step === 'asking' || step === 'sending' || step === 'landing';

export const isSlow = ({ checks }: { checks: number }): boolean => checks > 8;

const OF_REFUSAL: Record<WalletRefusal, AnyKey> = {
  rejected: 'sDeclined',
  network: 'pNetwork',
  no_account: 'pNoAccount',
  failed: 'pWallet',
  unclear: 'pWallet',
};

const problemOfWallet = ({ network, text }: SubscribingFacts, refusal: WalletRefusal, wallet: string): Problem => ({
  key: OF_REFUSAL[refusal],
  values: { wallet, network: text[network] },
});

/** Text keys by code, or by reason if that is more specific. */
const OF_CODE: Record<string, AnyKey> = {
  refused: 'sRefused',
  transaction_rejected: 'sRefused',
  subscription_ending: 'sEnding',
  ending: 'sEnding',
  other_wallet: 'sOtherWallet',
  plan_missing: 'pSetup',
  unavailable: 'pNode',
  offline: 'pOffline',
  rate_limited: 'pBusy',
  plan_limit_reached: 'pBusy',
  rpc_unavailable: 'pNode',
  setup_not_ready: 'pSetup',
  invalid_wallet_address: 'pSelf',
  session_expired: 'sFailedExpired',
  handoff_expired: 'pHandoffUsed',
  identity_verification_required: 'pIdentityNow',
  payment_mismatch: 'sNotLanded',
  subscription_cancelled: 'mAlready',
  subscription_requires_reapproval: 'mNothing',
};

function problemOfFailure(facts: SubscribingFacts, { code, meta }: Pick<Failure, 'code' | 'meta'>): Problem {
  if (code === 'not_found')
    return facts.page === 'manage' ? { key: 'mNotYours', values: { wallet: groupsOf(facts.wallet).join(' ') } } : { key: 'pGone' };
  const key = OF_CODE[meta.reason ?? ''] ?? OF_CODE[code];
  return key ? { key } : { key: 'pUnknown', values: { code } };
}

/** Heading of a problem, by what was begun. */
export const problemTitle = ({ page }: SubscribingFacts, { key }: Problem): AnyKey =>
  key === 'identityNotYet' ? 'identity' : page === 'manage' ? 'mNotCancelled' : 'problem';
