/**
 * State machine of the sign-in page. Only `nextLogin` changes the page. A password passes into an effect and is never part of the state.
 * @module
 */

import type { Failure } from '../../parts/answer.ts';
import type { Session } from '../../parts/session.ts';
import type { WalletChoice, WalletRefusal } from '../../parts/wallet-choice.ts';
import { type AccountTextKey, type LoginFacts, type LoginForm, type Problem, problemOf } from '../facts.ts';
import { problemOfReturn, type Returned, titleOf } from '../provider-return.ts';

interface FormStep {
  step: LoginForm;
  isBusy: boolean;
  problem: Problem | null;
}
/** Second step of a person with a passkey or an authenticator app. `methods`: null if they are not known here. */
interface FactorStep {
  step: 'factor';
  ticket: string;
  methods: readonly string[] | null;
  isWorking: boolean;
  problem: Problem | null;
}
/** Password of the account that a provider's identity joins. `provider`: its title. */
interface JoinStep {
  step: 'joining';
  ticket: string;
  provider: string;
  isWorking: boolean;
  problem: Problem | null;
}
type StepState =
  | FormStep
  | FactorStep
  | JoinStep
  | { step: 'asking'; walletName: string }
  | { step: 'emailRequested'; email: string }
  | { step: 'signedIn' };

interface SharedState {
  /** Null until the browser has detected its wallets. */
  wallets: WalletChoice[] | null;
  /** Number of the current attempt. An answer to an earlier attempt is ignored. */
  attempt: number;
  notice: AccountTextKey | null;
}
export type LoginState = StepState & SharedState;
export type FormState = FormStep & SharedState;
export type FactorState = FactorStep & SharedState;
export type JoinState = JoinStep & SharedState;

export type LoginNews =
  | { kind: 'formOpened'; form: LoginForm }
  | { kind: 'passwordEntered'; email: string; password: string }
  | { kind: 'accountEntered'; name: string; email: string; password: string }
  | { kind: 'addressEntered'; email: string }
  | { kind: 'passkeyPressed' }
  | { kind: 'codeEntered'; code: string }
  | { kind: 'joinEntered'; password: string }
  | { kind: 'factorAsked'; ticket: string; methods: readonly string[] | null }
  | { kind: 'walletPressed'; walletName: string }
  | { kind: 'walletsChanged'; wallets: WalletChoice[] }
  | { kind: 'providerPressed'; provider: string }
  | { kind: 'returned'; returned: Returned }
  | { kind: 'signedIn'; attempt: number; session: Session }
  /** `wrong`: the text for a refused credential. */
  | { kind: 'signInRefused'; attempt: number; failure: Failure; wrong: AccountTextKey }
  | { kind: 'walletRefused'; attempt: number; walletName: string; refusal: WalletRefusal }
  | { kind: 'emailTaken'; attempt: number; email: string };

export type LoginEffect =
  | { kind: 'signIn'; attempt: number; email: string; password: string }
  | { kind: 'register'; attempt: number; name: string; email: string; password: string }
  | { kind: 'requestEmail'; attempt: number; email: string }
  | { kind: 'askPasskey'; attempt: number }
  | { kind: 'proveFactor'; attempt: number; ticket: string; code: string }
  | { kind: 'join'; attempt: number; ticket: string; password: string }
  | { kind: 'askWallet'; attempt: number; walletName: string }
  /** `register` creates an account if the person has none. */
  | { kind: 'goToProvider'; attempt: number; provider: string; mode: 'login' | 'register' }
  | { kind: 'enter'; session: Session };

interface Turn {
  state: LoginState;
  effects: LoginEffect[];
}

const turnTo = (state: LoginState, ...effects: LoginEffect[]): Turn => ({ state, effects });

const enter = ({ wallets, attempt, notice }: LoginState, step: StepState, changed: Partial<SharedState> = {}) => ({
  wallets,
  attempt,
  notice,
  ...changed,
  ...step,
});

const openForm = (state: LoginState, form: LoginForm, problem: Problem | null = null): Turn =>
  turnTo(enter(state, { step: form, isBusy: false, problem }, { attempt: state.attempt + 1 }));

export const firstLogin = ({ form, notice }: LoginFacts): LoginState => ({
  step: form,
  isBusy: false,
  problem: null,
  wallets: null,
  attempt: 0,
  notice,
});

export const isForm = (state: LoginState): state is FormState => 'isBusy' in state;

type Unnumbered<E> = E extends { attempt: number } ? Omit<E, 'attempt'> : never;

/** Submits a form once. A second press while a request is open is ignored. */
function submit(state: LoginState, form: LoginForm, effect: Unnumbered<LoginEffect>): Turn {
  if (!isForm(state) || state.isBusy || state.step !== form) return turnTo(state);
  const attempt = state.attempt + 1;
  const busy = enter(state, { step: form, isBusy: true, problem: null }, { attempt, notice: null });
  return turnTo(busy, { ...effect, attempt } as LoginEffect);
}

function pressWallet(state: LoginState, walletName: string): Turn {
  if (state.step !== 'choosing' || state.isBusy) return turnTo(state);
  const attempt = state.attempt + 1;
  return turnTo(enter(state, { step: 'asking', walletName }, { attempt, notice: null }), { kind: 'askWallet', attempt, walletName });
}

const askFactor = (state: LoginState, ticket: string, methods: readonly string[] | null): Turn =>
  turnTo(enter(state, { step: 'factor', ticket, methods, isWorking: false, problem: null }, { attempt: state.attempt + 1, notice: null }));

function askPassword(facts: LoginFacts, state: LoginState, ticket: string, from: string): Turn {
  const step = { step: 'joining', ticket, provider: titleOf(facts.providers, from), isWorking: false, problem: null } as const;
  return turnTo(enter(state, step, { attempt: state.attempt + 1, notice: null }));
}

/** Sends a proof once. */
function prove(state: FactorState | JoinState, effect: Unnumbered<LoginEffect>): Turn {
  if (state.isWorking) return turnTo(state);
  const attempt = state.attempt + 1;
  return turnTo({ ...state, isWorking: true, problem: null, attempt }, { ...effect, attempt } as LoginEffect);
}

/** A wrong proof may be repeated, until the ticket is used up or has expired. */
function refuseSignIn(facts: LoginFacts, state: LoginState, { failure, wrong }: Extract<LoginNews, { kind: 'signInRefused' }>): Turn {
  const { ticket, methods } = failure.meta;
  if (failure.code === 'factor_required' && ticket !== undefined) return askFactor(state, ticket, methods ?? null);
  if (state.step === 'joining' && failure.code === 'state_conflict')
    return openForm(state, 'choosing', { key: 'oInUse', values: { provider: state.provider } });
  const problem = problemOf(facts, failure, wrong);
  if (state.step === 'factor' || state.step === 'joining') return turnTo({ ...state, isWorking: false, problem });
  return openForm(state, isForm(state) ? state.step : 'choosing', problem);
}

function takeReturn(facts: LoginFacts, state: LoginState, returned: Returned): Turn {
  if (!isForm(state)) return turnTo(state);
  const { outcome, from } = returned;
  if (outcome.kind === 'factorRequired' && from !== null) return askFactor(state, outcome.ticket, null);
  if (outcome.kind === 'passwordRequired' && from !== null) return askPassword(facts, state, outcome.ticket, from);
  // A person without an account gets the form that creates one.
  const isUnknown = outcome.kind === 'refused' && outcome.error === 'account_not_found';
  return openForm(state, isUnknown ? 'registering' : 'choosing', problemOfReturn(facts, returned));
}

const BY_REFUSAL: Record<WalletRefusal, AccountTextKey> = {
  rejected: 'pRejected',
  network: 'pNetwork',
  no_account: 'pNoAccount',
  failed: 'pWallet',
  unclear: 'pWallet',
};

const refuseWallet = (facts: LoginFacts, state: LoginState, walletName: string, refusal: WalletRefusal): Turn =>
  openForm(state, 'choosing', { key: BY_REFUSAL[refusal], values: { wallet: walletName, network: facts.text[facts.network] } });

export function nextLogin(facts: LoginFacts, state: LoginState, news: LoginNews): Turn {
  if ('attempt' in news && news.attempt !== state.attempt) return turnTo(state);
  switch (news.kind) {
    case 'formOpened':
      return openForm(state, news.form);
    case 'passwordEntered':
      return submit(state, 'choosing', { kind: 'signIn', email: news.email, password: news.password });
    case 'accountEntered':
      return submit(state, 'registering', { kind: 'register', name: news.name, email: news.email, password: news.password });
    case 'addressEntered':
      return submit(state, 'forgotten', { kind: 'requestEmail', email: news.email });
    case 'passkeyPressed':
      return state.step === 'factor' ? prove(state, { kind: 'askPasskey' }) : submit(state, 'choosing', { kind: 'askPasskey' });
    case 'codeEntered':
      if (state.step !== 'factor') return turnTo(state);
      return prove(state, { kind: 'proveFactor', ticket: state.ticket, code: news.code });
    case 'joinEntered':
      if (state.step !== 'joining') return turnTo(state);
      return prove(state, { kind: 'join', ticket: state.ticket, password: news.password });
    case 'factorAsked':
      return askFactor(state, news.ticket, news.methods);
    case 'walletPressed':
      return pressWallet(state, news.walletName);
    case 'providerPressed': {
      const form = state.step === 'registering' ? 'registering' : 'choosing';
      return submit(state, form, { kind: 'goToProvider', provider: news.provider, mode: form === 'registering' ? 'register' : 'login' });
    }
    case 'returned':
      return takeReturn(facts, state, news.returned);
    case 'walletsChanged':
      return turnTo({ ...state, wallets: news.wallets });
    case 'signedIn':
      if (state.step === 'signedIn') return turnTo(state);
      return turnTo(enter(state, { step: 'signedIn' }), { kind: 'enter', session: news.session });
    case 'signInRefused':
      return refuseSignIn(facts, state, news);
    case 'walletRefused':
      return refuseWallet(facts, state, news.walletName, news.refusal);
    case 'emailTaken':
      return turnTo(enter(state, { step: 'emailRequested', email: news.email }));
  }
}
