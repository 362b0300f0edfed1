import { type Aim, isMet } from './aims.ts';
import type { CostMeasured } from './journeys/costs.ts';
import { type Measured, typical } from './load/measure.ts';
import type { Price } from './prices.ts';

const NAME_WIDTH = 38;
const CELL_WIDTH = 28;
const CPU_WIDTH = 12;
const COUNT_WIDTH = 11;

/** Limits of the measurement, printed with every table so that neither is quoted without the other. */
const LIMITS = `How to read this
  A row is the median of its rounds; p50 and p99 are milliseconds; cpu is what the server's
  processes used, PostgreSQL's among them; a ratio is the median of rounds measured
  side by side.
  Generator, workerd and PostgreSQL share the cores of one machine. One workerd is one thread for the routes and all objects,
  whereas Node and PostgreSQL are many processes: 64 objects here say nothing of 64 objects on the platform, which puts
  objects on different machines, and the routes on others again. The platform itself was not measured.
  A durable commit is here one fdatasync of a local file, for both; on the platform it is a round trip to replicas, which
  group commit saves in the same way. Between client and server there is no network.
  A consume of ours also validates against the published schema, looks for leaked secrets, counts the key's usage and writes a
  log line; the peer does not. Every sample was checked: units used in the end = units answered with 200.`;

const cell = (measured: Measured | undefined): string => {
  if (!measured) return '-'.padStart(CELL_WIDTH);
  const { perSecond, p50, p99 } = typical(measured);
  return `${perSecond.toFixed(0).padStart(9)} ${p50.toFixed(2).padStart(9)} ${p99.toFixed(1).padStart(8)}`;
};

export function tableOf(measured: Measured[], clients: number[]): string {
  const rows = [...new Set(measured.map(({ row }) => row))];
  const cpuAt = clients[clients.length >> 1]!;
  const title = clients.map((count) => `${count} client${count === 1 ? '' : 's'}`.padStart(CELL_WIDTH)).join('  ');
  const heads = clients.map(() => `${'calls/s'.padStart(9)} ${'p50'.padStart(9)} ${'p99'.padStart(8)}`).join('  ');
  const lines = rows.map((row) => {
    const cells = clients.map((count) => cell(measured.find((one) => one.row === row && one.clients === count)));
    const { cpuMicros } = typical(measured.find((one) => one.row === row && one.clients === cpuAt)!);
    return row.name.padEnd(NAME_WIDTH) + [...cells, cpuMicros.toFixed(0).padStart(CPU_WIDTH)].join('  ');
  });
  const cpuHeads = [`cpu µs/call`.padStart(CPU_WIDTH), `at ${cpuAt}`.padStart(CPU_WIDTH)] as const;
  const above = [`${title}  ${cpuHeads[0]}`, `${heads}  ${cpuHeads[1]}`];
  return [...above.map((text) => ''.padEnd(NAME_WIDTH) + text), ...lines].join('\n');
}

const shown = (ratio: number | null): string => (ratio === null ? 'not measured' : ratio.toFixed(2));

export function aimsText(aims: Aim[], others: { text: string; ratio: number | null }[]): string {
  const verdict = (aim: Aim): string => ({ true: 'met', false: 'NOT MET', null: '' })[`${isMet(aim)}`];
  const boundText = ({ bound }: Aim) => ('atLeast' in bound ? `at least ${bound.atLeast}` : `at most ${bound.atMost}`);
  const aimLines = aims.map((aim) => `  ${shown(aim.ratio).padStart(12)}  ${verdict(aim).padEnd(8)}${aim.text} (${boundText(aim)})`);
  const otherLines = others.map(({ text, ratio }) => `  ${shown(ratio).padStart(12)}  ${text}`);
  return ['Aims', ...aimLines, 'Other ratios', ...otherLines].join('\n');
}

export function costsText(costs: CostMeasured[]): string {
  const lines = costs.map(({ cost, cpuMs }) => {
    const verdict = cpuMs <= cost.aimMs ? 'met' : 'NOT MET';
    return `  ${cpuMs.toFixed(2).padStart(9)} ms  ${verdict.padEnd(8)}${cost.name} (at most ${cost.aimMs} ms)`;
  });
  return ['Processor time of one, a mean, at the worst input that is taken', ...lines].join('\n');
}

export function journeysText(journeys: Measured[]): string {
  const lines = journeys.map((one) => {
    const { perSecond, p50, p99, cpuMicros, rowsRead, rowsWritten, objectCalls } = typical(one);
    const times = [perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(0), cpuMicros.toFixed(0)];
    const counts = [rowsRead, rowsWritten, objectCalls].map((count) => (count ?? 0).toFixed(1));
    return one.row.name.padEnd(NAME_WIDTH) + [...times, ...counts].map((text) => text.padStart(COUNT_WIDTH)).join('');
  });
  const heads = ['calls/s', 'p50', 'p99', 'cpu µs', 'rows read', 'written', 'obj. calls']
    .map((text) => text.padStart(COUNT_WIDTH))
    .join('');
  const title = `The whole service: its runtime, proxy, database, queues and a local chain; ${journeys[0]!.clients} at once`;
  return [title, ''.padEnd(NAME_WIDTH) + heads, ...lines].join('\n');
}

export function pricesText(prices: Price[]): string {
  const lines = prices.map(
    ({ clients, group, rowsWritten, dollars }) =>
      `  ${`$${dollars.toFixed(2)}`.padStart(12)}  ${clients} clients: ${group.toFixed(1)} in one call of the object, ${rowsWritten.toFixed(3)} rows written each`,
  );
  return ['A million consumes with key, at the platform’s list prices', ...lines].join('\n');
}

export const limitsText = (): string => LIMITS;
