import type { PageFacts } from '../facts.ts';
import type { PageEffect, PageNews } from '../machine/events.ts';
import { next } from '../machine/next.ts';
import { firstState, type PageState } from '../state.ts';
import { serverNow } from './api.ts';

export type Report = (news: PageNews) => void;

/** The one state of the page. Only events change it; every change is drawn before its effects begin. */
export class PageHolder {
  state: PageState;
  readonly #facts: PageFacts;
  readonly #listeners: (() => void)[] = [];
  #run: (effect: PageEffect) => void = () => {};
  #settle: () => void = () => {};

  constructor(facts: PageFacts) {
    this.#facts = facts;
    this.state = firstState(facts);
  }

  /** `settle` runs after every event: what follows from the state alone needs no effect of its own. */
  connect(run: (effect: PageEffect) => void, settle: () => void): void {
    this.#run = run;
    this.#settle = settle;
  }

  readonly report: Report = (news) => {
    const { state, effects } = next(this.#facts, this.state, { ...news, at: serverNow() });
    const isChanged = state !== this.state;
    this.state = state;
    if (isChanged) for (const listener of this.#listeners) listener();
    for (const effect of effects) this.#run(effect);
    this.#settle();
  };

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }
}
