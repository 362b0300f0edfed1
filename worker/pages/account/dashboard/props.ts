import type { DashboardFacts, SayAccount } from '../facts.ts';
import type { DashboardState } from './machine.ts';

/** What a person can do on the page. */
export interface DashboardActions {
  reload(): void;
  enterKey(event: Event): void;
  copyKey(event: Event): void;
  keepKey(): void;
  askLetter(): void;
  link(provider: string): void;
  unlink(provider: string): void;
  signOut(): void;
}

export interface DashboardProps<State extends DashboardState = DashboardState> {
  facts: DashboardFacts;
  state: State;
  say: SayAccount;
  /** Absent on the server: nothing can be done before the browser is there. */
  actions?: DashboardActions;
}
