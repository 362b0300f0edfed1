import type { LoginFacts, LoginForm, SayAccount } from '../facts.ts';
import type { FormState, LoginState } from './machine.ts';

/** What a person can do on the page. */
export interface LoginActions {
  open(form: LoginForm): void;
  enterPassword(event: Event): void;
  enterAccount(event: Event): void;
  enterAddress(event: Event): void;
  pressWallet(walletName: string): void;
  pressProvider(provider: string): void;
  showPassword(event: Event): void;
}

/** Everything of the page that changes. Rendered on the server once, then by the browser; without state of its own. */
export interface LoginProps<State extends LoginState = LoginState> {
  facts: LoginFacts;
  state: State;
  say: SayAccount;
  /** Absent on the server: nothing can be done before the browser is there. */
  actions?: LoginActions;
}
export type FormProps = LoginProps<FormState>;
