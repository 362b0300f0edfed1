import { readFileSync } from 'node:fs';
import { Refusal } from '../cli/options.ts';
import type { Sample } from './load/load.ts';
import { median } from './load/machine.ts';
import { type Measured, typical } from './load/measure.ts';

interface Earlier extends Pick<Sample, 'perSecond' | 'p50' | 'p99' | 'cpuMicros'> {
  id: string;
  clients: number;
}

/** Throws a `Refusal` for a file that no run wrote. */
export function readEarlier(path: string): Earlier[] {
  try {
    const { rows } = JSON.parse(readFileSync(path, 'utf8')) as { rows: Earlier[] };
    if (!Array.isArray(rows)) throw new Error('no rows');
    return rows;
  } catch (error) {
    throw new Refusal(`${path} is not the outcome of a run: ${error instanceof Error ? error.message : error}`);
  }
}

const FIGURES = [
  ['calls/s', ({ perSecond }: Pick<Sample, 'perSecond'>) => perSecond, 1],
  ['p50', ({ p50 }: Pick<Sample, 'p50'>) => p50, -1],
  ['cpu', ({ cpuMicros }: Pick<Sample, 'cpuMicros'>) => cpuMicros, -1],
] as const;

function spreadOf(values: number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}

/** Change of one metric of one row. `isWorse`: beyond the spread of this run's rounds. */
interface Change {
  id: string;
  clients: number;
  figure: string;
  ratio: number;
  spread: number;
  isWorse: boolean;
}

export function changesSince(earlier: Earlier[], measured: Measured[]): Change[] {
  return measured.flatMap((one) => {
    const then = earlier.find(({ id, clients }) => id === one.row.id && clients === one.clients);
    if (!then) return [];
    return FIGURES.map(([figure, read, better]) => {
      const ratio = read(typical(one)) / read(then);
      const spread = spreadOf(one.samples.map(read));
      return { id: one.row.id, clients: one.clients, figure, ratio, spread, isWorse: (1 - ratio) * better > spread };
    });
  });
}

export function changesText(changes: Change[]): string {
  const lines = [...Map.groupBy(changes, ({ id, clients }) => `${id.padEnd(14)} ${String(clients).padStart(4)} clients`)].map(
    ([name, figures]) =>
      `  ${name}${figures.map(({ figure, ratio, isWorse }) => `   ${figure} ${ratio.toFixed(2)} ×${isWorse ? ' WORSE' : ''}`).join('')}`,
  );
  return ['Against the earlier run (worse: by more than the rounds of this one differ)', ...lines].join('\n');
}
