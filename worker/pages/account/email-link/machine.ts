/**
 * State machine of the pages behind emailed links. The token is never part of the state: the client holds it.
 * @module
 */

import type { Failure } from '../../parts/answer.ts';
import type { Session } from '../../parts/session.ts';
import { type EmailLinkFacts, type Problem, problemOf } from '../facts.ts';

interface NamedAccount {
  name: string;
  createdAt: string;
}

export interface Invited {
  inviter: string;
  account: string;
  role: string;
  /** Masked. */
  email: string;
}

/** Change that a security email reported. `will`: parts of the account that end or are taken back. */
interface Disputed {
  account: string;
  at: string;
  will: readonly string[];
}

export type EmailLinkState =
  | {
      step: 'ready';
      isBusy: boolean;
      problem: Problem | null;
      account: NamedAccount | null;
      invited: Invited | null;
      disputed: Disputed | null;
    }
  | { step: 'done' | 'disowned' }
  | { step: 'linkUsed' | 'linkOld' }
  | { step: 'linkNone' };

export type EmailLinkNews =
  | { kind: 'tokenMissing' }
  /** Sent by a press only: a mail scanner that opens the link must not spend the token. `password`: the new one, on the reset page. `endsOthers`: also ends other access. */
  | { kind: 'confirmed'; password: string | null; endsOthers?: boolean }
  /** The owner of the address did not create the account. */
  | { kind: 'notMine' }
  | { kind: 'named'; account: NamedAccount }
  | { kind: 'invited'; invited: Invited }
  | { kind: 'disputed'; disputed: Disputed }
  /** An invitation is accepted in a session of the invited person. */
  | { kind: 'sessionMissing' }
  | { kind: 'done' }
  | { kind: 'signedIn'; session: Session }
  /** The session of this browser is in the account that invited. */
  | { kind: 'joined' }
  | { kind: 'disowned' }
  | { kind: 'refused'; failure: Failure };

export type EmailLinkEffect =
  | { kind: 'spendToken'; password: string | null; endsOthers: boolean }
  | { kind: 'disownAccount' }
  /** Leaves for the sign-in page, which leads back here. */
  | { kind: 'goSignIn' }
  | { kind: 'forgetToken' }
  /** Leaves for the dashboard, with the session if it is new. */
  | { kind: 'enter'; session: Session | null }
  /** Leaves for the second step, which the sign-in page shows. */
  | { kind: 'askFactor'; ticket: string; methods: readonly string[] | null };

interface Turn {
  state: EmailLinkState;
  effects: EmailLinkEffect[];
}

export const FIRST_EMAIL_LINK: EmailLinkState = {
  step: 'ready',
  isBusy: false,
  problem: null,
  account: null,
  invited: null,
  disputed: null,
};

const turnTo = (state: EmailLinkState, ...effects: EmailLinkEffect[]): Turn => ({ state, effects });

function refuse(facts: EmailLinkFacts, state: EmailLinkState & { step: 'ready' }, failure: Failure): Turn {
  const { ticket, methods = null } = failure.meta;
  if (failure.code === 'factor_required' && ticket !== undefined)
    return turnTo({ step: 'done' }, { kind: 'forgetToken' }, { kind: 'askFactor', ticket, methods });
  if (failure.code === 'link_expired') return turnTo({ step: 'linkUsed' }, { kind: 'forgetToken' });
  if (failure.code !== 'invalid_credentials') return turnTo({ ...state, isBusy: false, problem: problemOf(facts, failure) });
  return turnTo({ step: failure.meta.reason === 'expired' ? 'linkOld' : 'linkUsed' }, { kind: 'forgetToken' });
}

export function nextEmailLink(facts: EmailLinkFacts, state: EmailLinkState, news: EmailLinkNews): Turn {
  if (state.step !== 'ready') return turnTo(state);
  switch (news.kind) {
    case 'tokenMissing':
      return turnTo({ step: 'linkNone' });
    case 'confirmed':
      if (state.isBusy) return turnTo(state);
      return turnTo(
        { ...state, isBusy: true, problem: null },
        { kind: 'spendToken', password: news.password, endsOthers: news.endsOthers ?? false },
      );
    case 'notMine':
      if (state.isBusy || facts.page !== 'verify') return turnTo(state);
      return turnTo({ ...state, isBusy: true, problem: null }, { kind: 'disownAccount' });
    case 'named':
      return turnTo({ ...state, account: news.account });
    case 'invited':
      return turnTo({ ...state, invited: news.invited });
    case 'disputed':
      return turnTo({ ...state, disputed: news.disputed });
    case 'sessionMissing':
      return turnTo(state, { kind: 'goSignIn' });
    case 'disowned':
      return turnTo({ step: 'disowned' }, { kind: 'forgetToken' });
    case 'done':
      return turnTo({ step: 'done' }, { kind: 'forgetToken' });
    case 'signedIn':
      return turnTo({ step: 'done' }, { kind: 'forgetToken' }, { kind: 'enter', session: news.session });
    case 'joined':
      return turnTo({ step: 'done' }, { kind: 'forgetToken' }, { kind: 'enter', session: null });
    case 'refused':
      return refuse(facts, state, news.failure);
  }
}
