import { setTimeout as sleep } from 'node:timers/promises';
import { runLoad, type Sample } from './load.ts';
import { median } from './machine.ts';
import { prepare, type Row, type Target, type TargetName } from './rows.ts';

const WARMUP_CLIENTS = 32;
/** Pause after a row. Objects report changes to the database within two seconds, which would otherwise slow the next row. */
const QUIET_AFTER_MS = 2300;

export interface MeasureOptions {
  rounds: number;
  /** Runs every row once before measuring, and pauses after workerd rows with several counters. */
  isCareful: boolean;
  warmupMs: number;
  measureMs: number;
  clients: number[];
  rows: readonly Row[];
}

export interface Measured {
  row: Row;
  clients: number;
  samples: Sample[];
}

/**
 * Measures all rows in turn, round after round (A B C A B C …), so that other load on the machine affects all rows alike. Compared samples
 * are from the same round, seconds apart.
 */
export async function measureAll(
  options: MeasureOptions,
  targets: Partial<Record<TargetName, Target>>,
  onProgress: (line: string) => void,
): Promise<Measured[]> {
  const rows = options.rows.filter(({ target }) => targets[target]);
  const sample = (row: Row, clients: number, name: string) => measureOnce(row, targets[row.target]!, { ...options, clients, name });
  if (options.isCareful) onProgress(`warming up ${rows.length} rows`);
  for (const row of options.isCareful ? rows : []) await sample(row, WARMUP_CLIENTS, `warm-up-${row.id}`);
  const measured: Measured[] = [];
  for (const clients of options.clients) {
    const group = rows.map((row): Measured => ({ row, clients, samples: [] }));
    for (let round = 1; round <= options.rounds; round++) {
      for (const { row, samples } of group) samples.push(await sample(row, clients, `c${clients}-r${round}-${row.id}`));
      onProgress(`${clients} clients, round ${round} of ${options.rounds}`);
    }
    measured.push(...group);
  }
  return measured;
}

type Once = Pick<MeasureOptions, 'isCareful' | 'warmupMs' | 'measureMs'> & { clients: number; name: string };

async function measureOnce(row: Row, target: Target, { clients, isCareful, warmupMs, measureMs, name }: Once): Promise<Sample> {
  const { request, check, spent } = await prepare(row, target, { name, clients });
  try {
    const before = await spent();
    const sample = await runLoad({ server: target, clients, warmupMs, measureMs, request });
    const after = await spent();
    await check(sample);
    if (before && after && after.uses > before.uses) {
      const uses = after.uses - before.uses;
      sample.objectCalls = 1 + (after.calls - before.calls) / uses;
      sample.rowsWritten = (after.rows - before.rows) / uses;
    }
    if (isCareful && row.counters > 1 && row.target === 'workerd') await sleep(QUIET_AFTER_MS);
    return sample;
  } catch (error) {
    throw new Error(`${row.name.trim()}, ${clients} clients: ${error instanceof Error ? error.message : error}`);
  }
}

export function typical({ samples }: Measured): Omit<Sample, 'answered'> {
  const of = (figure: (sample: Sample) => number) => median(samples.map(figure));
  const counted = samples.every(({ rowsWritten }) => rowsWritten !== undefined)
    ? { objectCalls: of((s) => s.objectCalls!), rowsWritten: of((s) => s.rowsWritten!), rowsRead: of((s) => s.rowsRead ?? 0) }
    : {};
  const times = { perSecond: of((s) => s.perSecond), p50: of((s) => s.p50), p99: of((s) => s.p99) };
  return { ...times, cpuMicros: of((s) => s.cpuMicros), ...counted };
}

/** Returns the median over all rounds of the ratio of two rows. Returns null if a row is missing or had no answer. */
export function ratioOf(
  measured: Measured[],
  [above, below]: [above: string, below: string],
  clients: number,
  figure: (sample: Sample) => number = ({ perSecond }) => perSecond,
): number | null {
  const samplesOf = (id: string) => measured.find((one) => one.row.id === id && one.clients === clients)?.samples;
  const [a, b] = [samplesOf(above), samplesOf(below)];
  const ratio = a && b ? median(a.map((sample, round) => figure(sample) / figure(b[round]!))) : null;
  return Number.isFinite(ratio) ? ratio : null;
}
