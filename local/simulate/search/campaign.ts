import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SimulatedService } from '../runtime/host.ts';
import { addOutcome, type Counts, noCounts } from './coverage.ts';
import { planOf } from './plan.ts';
import { kindOf, type Outcome, runHistory } from './run-history.ts';
import { Shrinking } from './shrink.ts';

const SAVE_EVERY = 200;
const SHRINK_RUNS = 120;
const SHRINK_MS = 60_000;

interface CampaignOptions {
  seed: number;
  histories: number;
  /** Ends by this moment, whatever is left. */
  untilMs: number;
  /** Stores the progress of the campaign in this file. Null: nowhere. */
  stateFile: string | null;
  onProgress(campaign: Campaign): void;
  onFinding(shortest: Outcome, found: Outcome, runs: number): void;
}

interface Progress {
  nextSeed: number;
  counts: Counts;
  found: Record<string, { seeds: number[]; histories: number }>;
}

const SEEDS_STORED = 5;

/** Many histories, one seed after another. Each finding is shown once, in the shortest history that has it. */
export class Campaign {
  readonly progress: Progress;
  readonly #service: SimulatedService;
  readonly #options: CampaignOptions;
  readonly #startedAt = performance.now();
  readonly #before: number;

  constructor(service: SimulatedService, options: CampaignOptions) {
    this.#service = service;
    this.#options = options;
    const { stateFile, seed } = options;
    const isResumed = stateFile !== null && existsSync(stateFile);
    this.progress = isResumed ? JSON.parse(readFileSync(stateFile, 'utf8')) : { nextSeed: seed, counts: noCounts(), found: {} };
    // An older file lacks newer counts.
    this.progress.counts = { ...noCounts(), ...this.progress.counts };
    this.#before = this.progress.counts.histories;
  }

  get perSecond(): number {
    return ((this.progress.counts.histories - this.#before) * 1000) / (performance.now() - this.#startedAt);
  }

  async run(): Promise<void> {
    const { histories, untilMs, onProgress } = this.#options;
    const { counts } = this.progress;
    while (counts.histories < histories && Date.now() < untilMs) {
      const outcome = await runHistory(this.#service, planOf(this.progress.nextSeed));
      this.progress.nextSeed++;
      addOutcome(counts, outcome);
      if (outcome.findings.length > 0) await this.#note(outcome);
      if (counts.histories % SAVE_EVERY === 0) this.#save();
      onProgress(this);
    }
    this.#save();
  }

  async #note(outcome: Outcome): Promise<void> {
    const kinds = [...new Set(outcome.findings.map(kindOf))];
    const isNew = kinds.some((kind) => this.progress.found[kind] === undefined);
    for (const kind of kinds) {
      this.progress.found[kind] ??= { seeds: [], histories: 0 };
      const known = this.progress.found[kind];
      known.histories++;
      if (known.seeds.length < SEEDS_STORED) known.seeds.push(outcome.plan.seed);
    }
    if (!isNew) return;
    const shrinking = new Shrinking(this.#service, outcome, { runsMax: SHRINK_RUNS, untilMs: Date.now() + SHRINK_MS });
    const shortest = await shrinking.shortest();
    this.#options.onFinding(await runHistory(this.#service, shortest.plan, { isTraced: true }), outcome, shrinking.runs);
  }

  #save(): void {
    const { stateFile } = this.#options;
    if (stateFile === null) return;
    mkdirSync(dirname(stateFile), { recursive: true });
    const draft = `${stateFile}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(this.progress));
    renameSync(draft, stateFile);
  }
}
