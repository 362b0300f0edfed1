import type { State } from '../state.ts';

/** The one state of the page; whoever draws it is told of every change. */
export class Store {
  state: State;
  readonly #listeners: (() => void)[] = [];

  constructor(state: State) {
    this.state = state;
  }

  set(patch: Partial<State>): void {
    this.state = { ...this.state, ...patch };
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): void {
    this.#listeners.push(listener);
  }
}
