/**
 * The pages that the links of letters lead to, as one state machine. The token of a link is no part of the state:
 * client/letter-link.tsx, which runs the effects, holds it.
 * @module
 */

import type { Failure } from '../../parts/answer.ts';
import { type LetterLinkFacts, type Problem, problemOf } from '../facts.ts';

/** Account that the link would verify the address of; `createdAt` as the service writes it. */
interface NamedAccount {
  name: string;
  createdAt: string;
}

export type LetterLinkState =
  | { step: 'ready'; isBusy: boolean; problem: Problem | null; account: NamedAccount | null }
  | { step: 'done' | 'disowned' }
  /** The service took no such token. */
  | { step: 'linkUsed' | 'linkOld' }
  | { step: 'linkNone' };

export type LetterLinkNews =
  | { kind: 'tokenMissing' }
  /** A person wants it: a program that only opens links does not press. `password`: the new one, where one is set. */
  | { kind: 'confirmed'; password: string | null }
  /** The reader of the address did not make the account. */
  | { kind: 'notMine' }
  | { kind: 'named'; account: NamedAccount }
  | { kind: 'done' }
  | { kind: 'disowned' }
  | { kind: 'refused'; failure: Failure };

export type LetterLinkEffect =
  | { kind: 'spendToken'; password: string | null }
  | { kind: 'disownAccount' }
  /** It is used or worth nothing, and need not be kept for the next load of the page. */
  | { kind: 'forgetToken' }
  /** A new password ends every session, the one of this tab too. */
  | { kind: 'forgetSession' };

interface Turn {
  state: LetterLinkState;
  effects: LetterLinkEffect[];
}

export const FIRST_LETTER_LINK: LetterLinkState = { step: 'ready', isBusy: false, problem: null, account: null };

const turnTo = (state: LetterLinkState, ...effects: LetterLinkEffect[]): Turn => ({ state, effects });

function refuse(facts: LetterLinkFacts, state: LetterLinkState & { step: 'ready' }, failure: Failure): Turn {
  if (failure.code !== 'invalid_credentials') return turnTo({ ...state, isBusy: false, problem: problemOf(facts, failure) });
  return turnTo({ step: failure.meta.reason === 'expired' ? 'linkOld' : 'linkUsed' }, { kind: 'forgetToken' });
}

/** The page after an event, and what is to be done about it. */
export function nextLetterLink(facts: LetterLinkFacts, state: LetterLinkState, news: LetterLinkNews): Turn {
  if (state.step !== 'ready') return turnTo(state);
  switch (news.kind) {
    case 'tokenMissing':
      return turnTo({ step: 'linkNone' });
    case 'confirmed':
      if (state.isBusy) return turnTo(state);
      return turnTo({ ...state, isBusy: true, problem: null }, { kind: 'spendToken', password: news.password });
    case 'notMine':
      if (state.isBusy || facts.page !== 'verify') return turnTo(state);
      return turnTo({ ...state, isBusy: true, problem: null }, { kind: 'disownAccount' });
    case 'named':
      return turnTo({ ...state, account: news.account });
    case 'disowned':
      return turnTo({ step: 'disowned' }, { kind: 'forgetToken' });
    case 'done':
      return turnTo({ step: 'done' }, { kind: 'forgetToken' }, ...(facts.page === 'reset' ? [{ kind: 'forgetSession' } as const] : []));
    case 'refused':
      return refuse(facts, state, news.failure);
  }
}
