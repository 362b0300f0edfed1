import { Connection } from './client.ts';
import { cpuMsOf, type Server } from './processes.ts';

interface LoadOptions {
  server: Server;
  clients: number;
  warmupMs: number;
  measureMs: number;
  request(index: number, client: number): string;
}

export interface Counted {
  rowsRead: number;
  rowsWritten: number;
  objectCalls: number;
}

export interface Sample extends Partial<Counted> {
  perSecond: number;
  p50: number;
  p99: number;
  /** CPU time of the server's processes per answer in microseconds, the metric least affected by noise. */
  cpuMicros: number;
  answered: number;
}

const percentile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

/**
 * A closed loop: every client sends its next request when its last one is answered. Any answer but 200 and 201 ends the run, because
 * refusals are cheaper than what is measured. Resolves when nothing is under way any more.
 */
export async function runLoad({ server, clients, warmupMs, measureMs, request }: LoadOptions): Promise<Sample> {
  const connections = await Promise.all(Array.from({ length: clients }, () => Connection.open(server.port)));
  const latencies: number[] = [];
  const pids = server.pids();
  const cpuBefore = cpuMsOf(pids);
  const from = performance.now() + warmupMs;
  const until = from + measureMs;
  let sent = 0;
  let answered = 0;
  const loop = (connection: Connection, client: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const next = (): void => {
        const sentAt = performance.now();
        if (sentAt >= until) {
          resolve();
          return;
        }
        const text = request(sent++, client);
        const onStatus = (status: number): void => {
          const at = performance.now();
          if (status !== 200 && status !== 201) {
            reject(new Error(`answered ${status} to:\n${text}`));
            return;
          }
          answered++;
          if (at >= from && at < until) latencies.push(at - sentAt);
          next();
        };
        connection.send(text, onStatus, reject);
      };
      next();
    });
  try {
    await Promise.all(connections.map(loop));
  } finally {
    for (const connection of connections) connection.close();
  }
  const cpuMicros = ((cpuMsOf(pids) - cpuBefore) * 1000) / answered;
  const sorted = Float64Array.from(latencies).sort();
  const perSecond = (sorted.length * 1000) / measureMs;
  return { perSecond, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), cpuMicros, answered };
}
