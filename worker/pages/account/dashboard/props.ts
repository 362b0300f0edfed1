import type { DashboardFacts, SayAccount } from '../facts.ts';
import type { DashboardState } from './machine.ts';

export interface DashboardActions {
  reload(): void;
  enterKey(event: Event): void;
  copyKey(event: Event): void;
  storeKey(): void;
  requestEmail(): void;
  link(provider: string): void;
  unlink(provider: string): void;
  signOut(): void;
}

export interface DashboardProps<State extends DashboardState = DashboardState> {
  facts: DashboardFacts;
  state: State;
  say: SayAccount;
  actions?: DashboardActions;
}
