interface Turn<State, Effect> {
  state: State;
  effects: Effect[];
}

/** State of a page. Only events change the state, and every change is drawn before its effects run. */
export class PageHolder<State, News, Effect> {
  state: State;
  readonly #next: (state: State, news: News) => Turn<State, Effect>;
  readonly #listeners: (() => void)[] = [];
  #run: (effect: Effect) => void = () => {};
  #settle: () => void = () => {};

  constructor(first: State, next: (state: State, news: News) => Turn<State, Effect>) {
    this.state = first;
    this.#next = next;
  }

  /** `settle` runs after every event, for effects that depend on the state alone. */
  connect(run: (effect: Effect) => void, settle: () => void = () => {}): void {
    this.#run = run;
    this.#settle = settle;
  }

  readonly report = (news: News): void => {
    const { state, effects } = this.#next(this.state, news);
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
