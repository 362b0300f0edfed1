import type { SimulatedService } from '../runtime/host.ts';
import type { Plan } from './plan.ts';
import { kindOf, type Outcome, runHistory } from './run-history.ts';

const SHORTER = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48];

interface Limits {
  runsMax: number;
  untilMs: number;
}

/** Searches a shorter history with the same finding: fewer steps, fewer actors, and only the faults that it takes. */
export class Shrinking {
  readonly #service: SimulatedService;
  readonly #kinds: ReadonlySet<string>;
  readonly #limits: Limits;
  #best: Outcome;
  #runs = 0;

  constructor(service: SimulatedService, found: Outcome, limits: Limits) {
    this.#service = service;
    this.#best = found;
    this.#kinds = new Set(found.findings.map(kindOf));
    this.#limits = limits;
  }

  get runs(): number {
    return this.#runs;
  }

  async shortest(): Promise<Outcome> {
    const { size } = this.#best.plan;
    for (const actors of SHORTER.filter((count) => count < size.actors)) {
      if (await this.#try({ size: { ...this.#best.plan.size, actors } })) break;
    }
    for (const steps of SHORTER.filter((count) => count < size.steps)) {
      if (await this.#try({ size: { ...this.#best.plan.size, steps } })) break;
    }
    await this.#leaveOutFaults();
    return this.#best;
  }

  /** Leaves out half of the faults, then a quarter, then single ones. */
  async #leaveOutFaults(): Promise<void> {
    if (this.#best.struck.length === 0) return;
    if (await this.#tryFaults([])) return;
    for (let part = Math.ceil(this.#best.struck.length / 2); part >= 1; part = part === 1 ? 0 : Math.ceil(part / 2)) {
      for (let from = 0; from < this.#best.struck.length; ) {
        const ordinals = this.#best.struck.map(({ ordinal }) => ordinal);
        const isShorter = await this.#tryFaults(ordinals.toSpliced(from, part));
        if (!isShorter) from += part;
      }
    }
  }

  #tryFaults(ordinals: number[]): Promise<boolean> {
    return this.#try({ faults: { ...this.#best.plan.faults, only: new Set(ordinals) } });
  }

  async #try(change: Partial<Plan>): Promise<boolean> {
    if (this.#runs >= this.#limits.runsMax || Date.now() > this.#limits.untilMs) return false;
    this.#runs++;
    const outcome = await runHistory(this.#service, { ...this.#best.plan, ...change });
    const isSame = outcome.findings.some((finding) => this.#kinds.has(kindOf(finding)));
    if (isSame) this.#best = outcome;
    return isSame;
  }
}
