import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Refusal } from '../cli/options.ts';
import { type Cost, costsAt } from './journeys/costs.ts';
import { type Journey, journeysAt } from './journeys/journeys.ts';
import { WITH_LIVE } from './journeys/with-live.ts';
import type { MeasureOptions } from './load/measure.ts';
import { ROWS } from './load/rows.ts';
import { FULL_SIZES, QUICK_SIZES, type Sizes } from './load/sizes.ts';

export interface BenchOptions extends MeasureOptions {
  costs: readonly Cost[];
  journeys: readonly Journey[];
  withLive: boolean;
  sizes: Sizes;
  repeats: number;
  compare: string | null;
  out: string;
}

const USAGE =
  'npm run bench -- [--quick] [--rounds 5] [--seconds 2] [--clients 1,32,128] [--rows empty,authed,peer] [--compare dist/bench-before.json] [--out dist/bench.json], or npm run bench -- --bill';
const OUT_FILE = join(import.meta.dirname, '../../dist/bench.json');

/**
 * Parses the options. `--quick` checks within a minute that everything runs, at small sizes, and its numbers are meaningless. Throws a
 * `Refusal` for unknown options.
 */
export function readBenchOptions(args: string[]): BenchOptions {
  const { quick = false, rounds, seconds, clients, rows, compare = null, out = OUT_FILE } = parseFlags(args);
  const measureMs = positive('--seconds', seconds ?? (quick ? '0.2' : '2')) * 1000;
  const names = rows?.split(',');
  const sizes = quick ? QUICK_SIZES : FULL_SIZES;
  const [costs, journeys] = [costsAt(sizes), journeysAt(sizes)];
  const known = [...[...ROWS, ...costs, ...journeys].map(({ id }) => id), WITH_LIVE];
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Refusal(`There is no row "${unknown}". Rows: ${known.join(', ')}`);
  return {
    rounds: Math.ceil(positive('--rounds', rounds ?? (quick ? '1' : '5'))),
    isCareful: !quick,
    warmupMs: Math.min(300, measureMs / 4),
    measureMs,
    clients: (clients ?? (quick ? '1,32' : '1,32,128')).split(',').map((text) => Math.ceil(positive('--clients', text))),
    rows: names ? ROWS.filter(({ id }) => names.includes(id)) : ROWS,
    repeats: quick ? 5 : 100,
    compare,
    out,
    withLive: names?.includes(WITH_LIVE) ?? true,
    sizes,
    journeys: names ? journeys.filter(({ id }) => names.includes(id)) : journeys,
    costs: names ? costs.filter(({ id }) => names.includes(id)) : costs,
  };
}

function parseFlags(args: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args,
      options: { quick: { type: 'boolean' }, rounds: text, seconds: text, clients: text, rows: text, compare: text, out: text },
    }).values;
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}\nUsage: ${USAGE}`);
  }
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Refusal(`${flag} wants a number above 0, not "${text}".`);
  return value;
}
