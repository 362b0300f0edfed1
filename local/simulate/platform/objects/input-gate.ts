import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs a callback once the running turn, with all its microtasks, has ended. */
export type AfterTurn = (callback: () => void) => void;

const sections = new AsyncLocalStorage<object>();

/**
 * Input gate of an object. A turn belongs to one event: the next event, or the answer that another one waits for, enters in a turn of its
 * own, in order of arrival. During a critical section only what that section started may enter.
 */
export class InputGate {
  readonly #afterTurn: AfterTurn;
  readonly #waiting: { section: object | undefined; enter(): void }[] = [];
  readonly #open: object[] = [];
  #isTaken = false;

  constructor(afterTurn: AfterTurn) {
    this.#afterTurn = afterTurn;
  }

  /** Resolves at the beginning of a turn of the caller's own. */
  enter(): Promise<void> | undefined {
    const section = sections.getStore();
    if (!this.#isTaken && this.#mayEnter(section) && !this.#waiting.some((other) => this.#mayEnter(other.section))) {
      this.#take();
      return undefined;
    }
    return new Promise((resolve) => void this.#waiting.push({ section, enter: resolve }));
  }

  get isBlocked(): boolean {
    return this.#open.length > 0;
  }

  /** Runs a critical section: no other event enters until it ends. */
  async block<T>(run: () => Promise<T>): Promise<T> {
    const section = {};
    this.#open.push(section);
    try {
      return await sections.run(section, run);
    } finally {
      this.#open.splice(this.#open.indexOf(section), 1);
      this.#next();
    }
  }

  #mayEnter(section: object | undefined): boolean {
    const last = this.#open.at(-1);
    return last === undefined || last === section;
  }

  #take(): void {
    this.#isTaken = true;
    this.#afterTurn(() => {
      this.#isTaken = false;
      this.#next();
    });
  }

  #next(): void {
    if (this.#isTaken) return;
    const next = this.#waiting.find(({ section }) => this.#mayEnter(section));
    if (!next) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#take();
    next.enter();
  }
}
