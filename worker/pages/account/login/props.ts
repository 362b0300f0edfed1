import type { LoginFacts, LoginForm, SayAccount } from '../facts.ts';
import type { FactorState, FormState, JoinState, LoginState } from './machine.ts';

export interface LoginActions {
  open(form: LoginForm): void;
  enterPassword(event: Event): void;
  enterAccount(event: Event): void;
  enterAddress(event: Event): void;
  enterCode(event: Event): void;
  enterJoin(event: Event): void;
  pressPasskey(): void;
  pressWallet(walletName: string): void;
  pressProvider(provider: string): void;
  showPassword(event: Event): void;
}

export interface LoginProps<State extends LoginState = LoginState> {
  facts: LoginFacts;
  state: State;
  say: SayAccount;
  actions?: LoginActions;
}
export type FormProps = LoginProps<FormState>;
export type FactorProps = LoginProps<FactorState>;
export type JoinProps = LoginProps<JoinState>;
