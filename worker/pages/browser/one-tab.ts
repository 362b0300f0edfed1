/**
 * What only one tab of a browser does at a time. A browser without locks does it all the same.
 * @module
 */

/** One tab after the other. */
export async function inOneTab<T>(name: string, work: () => Promise<T>): Promise<T> {
  if (!('locks' in navigator)) return work();
  return (await navigator.locks.request(name, work)) as T;
}

/** False where another tab is at it; a tab that is closed is at nothing. */
export async function ifNoOtherTab(name: string, work: () => Promise<void>): Promise<boolean> {
  if (!('locks' in navigator)) return work().then(() => true);
  return (await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock) await work();
    return lock !== null;
  })) as boolean;
}

/** What one tab has until it gives it back: while it does, no other tab asks a wallet for the same. */
export class TabTurn {
  #giveBack: () => void = () => {};
  /** Resolves when the turn that was taken before has been given back. */
  #held: Promise<unknown> = Promise.resolve();

  /** False where another tab has it. */
  async take(name: string): Promise<boolean> {
    this.giveBack();
    await this.#held;
    return new Promise((resolve) => {
      const hold = async (): Promise<void> => {
        const givenBack = new Promise<void>((done) => {
          this.#giveBack = done;
        });
        resolve(true);
        await givenBack;
      };
      // A browser that gives no lock gives no turn.
      this.#held = ifNoOtherTab(name, hold).then(resolve, () => resolve(false));
    });
  }

  giveBack(): void {
    this.#giveBack();
  }
}
