/**
 * Locks between the tabs of a browser (Web Locks). A browser without locks runs the work at once.
 * @module
 */

/** Runs `work` in one tab after the other. */
export async function inOneTab<T>(name: string, work: () => Promise<T>): Promise<T> {
  if (!('locks' in navigator)) return work();
  return (await navigator.locks.request(name, work)) as T;
}

/** Runs `work` unless another tab holds the lock. Returns false if it does. A closed tab releases its lock. */
export async function ifNoOtherTab(name: string, work: () => Promise<void>): Promise<boolean> {
  if (!('locks' in navigator)) return work().then(() => true);
  return (await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock) await work();
    return lock !== null;
  })) as boolean;
}

/** Lock that a tab holds until `giveBack`, so that two tabs never ask a wallet for the same payment. */
export class TabTurn {
  #giveBack: () => void = () => {};
  #held: Promise<unknown> = Promise.resolve();

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
      // A browser that refuses the lock grants no turn.
      this.#held = ifNoOtherTab(name, hold).then(resolve, () => resolve(false));
    });
  }

  giveBack(): void {
    this.#giveBack();
  }
}
