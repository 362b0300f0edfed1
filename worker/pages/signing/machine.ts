/**
 * State machine of the signing page: reads a prepared transaction, opens a wallet and asks it to sign. It has no network or wallet. A
 * transaction that cannot be described in full is never shown to a wallet.
 * @module
 */

import type { Failure } from '../parts/answer.ts';
import { fromBase64 } from '../parts/bytes.ts';
import { type Amount, formatMoney, shortened, toAmount } from '../parts/text.ts';
import { PRIORITY_FEE_MAX, type ReadTransaction, readTransaction } from '../parts/transaction.ts';
import type { WalletChoice, WalletRefusal, WalletTerms } from '../parts/wallet-choice.ts';
import { findPrepared, type Prepared } from './prepared.ts';
import type { AnyKey } from './words.ts';

export interface SigningFacts extends WalletTerms {
  locale: string;
  text: Record<AnyKey, string>;
  usdcMints: string[];
  /** Path of this site where the person continues with the signature. */
  next: string | null;
}

export interface Problem {
  key: AnyKey;
  values?: Record<string, string>;
}

interface SigningRequest extends Prepared, ReadTransaction {
  obstacle: Problem | null;
}

type Step =
  | { step: 'pasting'; problem: Problem | null }
  | { step: 'choosing'; request: SigningRequest; problem: Problem | null }
  | { step: 'opening' | 'asking' | 'sending'; request: SigningRequest }
  /** `signed`: the transaction, if not sent yet. */
  | { step: 'done'; txSignature: string; signed: string | null; copied: 'text' | 'selected' | null };

interface SharedState {
  wallets: WalletChoice[] | null;
  walletName: string;
  attempt: number;
}

export type SigningState = SharedState & Step;
export type StateAt<K extends Step['step']> = Extract<SigningState, { step: K }>;

export type SigningNews =
  | { kind: 'pasted'; text: string }
  | { kind: 'walletsChanged'; wallets: WalletChoice[] }
  | { kind: 'walletPressed'; walletName: string }
  | { kind: 'backPressed' }
  | { kind: 'otherPressed' }
  | { kind: 'walletOpened'; attempt: number; account: string }
  | { kind: 'walletRefused'; attempt: number; refusal: WalletRefusal }
  /** `signed`: null if the wallet has sent it. */
  | { kind: 'signed'; attempt: number; signed: string | null; txSignature: string }
  | { kind: 'sent'; txSignature: string }
  | { kind: 'refused'; failure: Failure }
  | { kind: 'copied'; isSelected: boolean };

export type SigningEffect =
  /** `signer`: the account with the missing signature. */
  | { kind: 'openWallet'; attempt: number; walletName: string; signer: string }
  /** `sends`: the service will not send it, so the wallet should if it can. */
  | { kind: 'ask'; attempt: number; transaction: string; sends: boolean }
  | { kind: 'send'; paymentId: string; signed: string; txSignature: string };

export const FIRST_SIGNING: SigningState = { wallets: null, walletName: '', attempt: 0, step: 'pasting', problem: null };

interface Turn {
  state: SigningState;
  effects: SigningEffect[];
}

const turnTo = (state: SigningState, ...effects: SigningEffect[]): Turn => ({ state, effects });

function enter({ wallets, walletName, attempt }: SigningState, step: Step, changed: Partial<SharedState> = {}): SigningState {
  return { wallets, walletName, attempt, ...changed, ...step };
}

const LAMPORT_DECIMALS = 9;
const LAMPORTS_A_SIGNATURE = 5_000n;

const toSol = (lamports: bigint): Amount => toAmount('SOL', lamports, LAMPORT_DECIMALS);
/** Highest fee of the network, in SOL. */
export const feeOf = ({ signers, priorityFee }: ReadTransaction): Amount =>
  toSol(BigInt(signers.length) * LAMPORTS_A_SIGNATURE + priorityFee);

function obstacleOf({ steps, signers, unsigned, priorityFee }: ReadTransaction, locale: string): Problem | null {
  if (steps.some(({ kind }) => kind === 'unknown')) return { key: 'gUnknownHelp' };
  const amount = formatMoney(locale, toSol(priorityFee));
  if (priorityFee > PRIORITY_FEE_MAX) return { key: 'gPriorityHelp', values: { amount } };
  if (unsigned.length === 0) return { key: 'gSignedAlready' };
  return unsigned.length > 1 ? { key: 'gOthers', values: { signers: signers.join(', ') } } : null;
}

function read({ locale }: SigningFacts, state: SigningState, text: string): Turn {
  const fail = (key: AnyKey) => turnTo(enter(state, { step: 'pasting', problem: { key } }));
  const prepared = findPrepared(text);
  if (prepared === null) return fail('gNone');
  try {
    const known = readTransaction(fromBase64(prepared.transaction));
    return turnTo(
      enter(state, { step: 'choosing', request: { ...prepared, ...known, obstacle: obstacleOf(known, locale) }, problem: null }),
    );
  } catch {
    return fail('gUnreadable');
  }
}

const OF_REFUSAL: Record<WalletRefusal, AnyKey> = {
  rejected: 'gDeclined',
  network: 'pNetwork',
  no_account: 'pNoAccount',
  failed: 'gFailed',
  unclear: 'gFailed',
};

/** Returns the next page and its effects. An answer to an earlier attempt is ignored, unless a wallet has sent the transaction. */
export function nextSigning(facts: SigningFacts, state: SigningState, news: SigningNews): Turn {
  const isLate = 'attempt' in news && news.attempt !== state.attempt;
  // Already sent: offering it for signing again would risk a second payment.
  if (isLate && news.kind === 'signed' && news.signed === null && state.step !== 'sending')
    return turnTo(
      enter(state, { step: 'done', txSignature: news.txSignature, signed: null, copied: null }, { attempt: state.attempt + 1 }),
    );
  if (isLate) return turnTo(state);
  switch (news.kind) {
    case 'pasted':
      return state.step === 'pasting' || state.step === 'choosing' ? read(facts, state, news.text) : turnTo(state);
    case 'walletsChanged':
      return turnTo({ ...state, wallets: news.wallets });
    case 'walletPressed': {
      if (state.step !== 'choosing' || state.request.obstacle !== null) return turnTo(state);
      const { walletName } = news;
      const attempt = state.attempt + 1;
      const opening = enter(state, { step: 'opening', request: state.request }, { walletName, attempt });
      return turnTo(opening, { kind: 'openWallet', attempt, walletName, signer: state.request.unsigned[0] ?? '' });
    }
    case 'backPressed':
      return state.step === 'opening' || state.step === 'asking' ? choose(state, null, state.attempt + 1) : turnTo(state);
    case 'otherPressed':
      return turnTo(enter(state, { step: 'pasting', problem: null }, { attempt: state.attempt + 1 }));
    case 'walletOpened':
      return state.step === 'opening' ? ask(state, news.account) : turnTo(state);
    case 'walletRefused': {
      if (state.step !== 'opening' && state.step !== 'asking') return turnTo(state);
      const values = { wallet: state.walletName, network: facts.text[facts.network] };
      return choose(state, { key: OF_REFUSAL[news.refusal], values });
    }
    case 'signed': {
      if (state.step !== 'asking') return turnTo(state);
      const { signed, txSignature } = news;
      const { request } = state;
      if (signed === null || request.paymentId === null) return turnTo(enter(state, { step: 'done', txSignature, signed, copied: null }));
      return turnTo(enter(state, { step: 'sending', request }), { kind: 'send', paymentId: request.paymentId, signed, txSignature });
    }
    case 'sent':
      return state.step === 'sending'
        ? turnTo(enter(state, { step: 'done', txSignature: news.txSignature, signed: null, copied: null }))
        : turnTo(state);
    case 'refused': {
      if (state.step !== 'sending') return turnTo(state);
      const { code } = news.failure;
      return choose(state, code === 'offline' ? { key: 'pOffline' } : { key: 'gRefused', values: { code } });
    }
    case 'copied':
      return state.step === 'done' ? turnTo({ ...state, copied: news.isSelected ? 'selected' : 'text' }) : turnTo(state);
  }
}

type Busy = StateAt<'opening' | 'asking' | 'sending'>;

const choose = (state: Busy, problem: Problem | null, attempt = state.attempt): Turn =>
  turnTo(enter(state, { step: 'choosing', request: state.request, problem }, { attempt }));

/** Asks the wallet only if it is the missing signer. */
function ask(state: Busy, account: string): Turn {
  const { request, attempt, walletName } = state;
  const [signer] = request.unsigned;
  if (signer !== account)
    return choose(state, { key: 'gNotYours', values: { wallet: walletName, account: shortened(account), signer: signer ?? '' } });
  const asking = enter(state, { step: 'asking', request });
  return turnTo(asking, { kind: 'ask', attempt, transaction: request.transaction, sends: request.paymentId === null });
}
